//! The network between hosts: its links, and the messages that arrive or are lost.

use super::World;
use super::happening::Happening;
use crate::cable::Sent;
use crate::link::{Pair, pair};
use crate::node::Node;
use crate::show;
use crate::tally::Fault;
use crate::time::MS;
use pvm_core::io::{Input, News};
use pvm_wire::peer::PeerMessage;
use pvm_wire::{Address, Blob, Context, Envelope, HostIndex, Message, Tag, Tid};

const CONNECT_NS: u64 = 2 * MS;
/// After which silence a host counts as dead.
const SILENCE_NS: u64 = 5000 * MS;
/// After which a link counts as broken on which nothing arrives.
const STALL_NS: u64 = 3000 * MS;
/// A message that takes as long is a slow one: ten times as long as usual.
const SLOW_NS: u64 = 10 * MS;
/// The bytes that a task sends at a time.
const BULK_BYTES: usize = 256 << 10;
/// A link that is not used for this long is closed, unless it is to stand.
const REST_NS: u64 = 2_000 * MS;
/// The interval at which a host calls another one that does not let it in.
pub(super) const CALL_NS: u64 = 1000 * MS;

impl World {
    /// A link is to stand there, or something waits for it.
    pub(super) fn wants(&self, a: HostIndex, b: HostIndex) -> bool {
        let near = |a, b| self.near.get(&a).is_some_and(|near| near.contains(&b));
        let one_way = |a, b| near(a, b) || self.reaching.contains(&(a, b));
        one_way(a, b) || one_way(b, a)
    }

    /// A host has something to say to another: there is to be a link.
    pub(super) fn reach(&mut self, from: HostIndex, to: HostIndex) {
        if self.links.made(from, to).is_none() {
            if self.uncallable.contains(&to) && !self.wants(from, to) {
                return self
                    .later(CALL_NS / 2, Happening::News(from, News::Unreached { host: to }));
            }
            self.reaching.insert((from, to));
            self.connect_some(from, &[to]);
            self.note_silence(from, to);
        }
    }

    /// A link that was not used for a while and need not stand is closed by both sides.
    pub(super) fn rest(&mut self, pair: Pair, made: u64) {
        if self.links.made(pair.0, pair.1) != Some(made) {
            return;
        }
        let unused = self.links.last_use(pair) + REST_NS <= self.now;
        let stopped = |host| self.nodes.get(&host).is_some_and(|n| n.paused_until > self.now);
        if !unused || self.wants(pair.0, pair.1) || stopped(pair.0) || stopped(pair.1) {
            return self.later(REST_NS, Happening::Idle(pair, made));
        }
        self.tally.note(Fault::Rest);
        self.links.break_off(pair);
        let (first, second) = self.either_first(pair);
        for (at, of) in [first, second] {
            self.later(0, Happening::News(at, News::LinkRests { host: of }));
        }
    }

    /// A host begins to wait for a link to another.
    pub(super) fn note_silence(&mut self, at: HostIndex, of: HostIndex) {
        let waits = self.silent.contains_key(&(at, of));
        if at != of && !waits && self.wants(at, of) && self.links.made(at, of).is_none() {
            let since = self.now;
            self.silent.insert((at, of), since);
            self.later(SILENCE_NS, Happening::Silence { at, of, since });
        }
    }

    /// A host is called by one that it has taken out: it tells it so.
    pub(super) fn call(&mut self, from: HostIndex, to: HostIndex) {
        let lives = |host| self.nodes.get(&host).is_some_and(|node| node.machine.is_some());
        if !self.nodes.contains_key(&from) || self.knows(to, from) {
            return;
        }
        let era = self.nodes.get(&to).and_then(|node| Some(node.machine.as_ref()?.era()));
        match era {
            Some(era) if lives(from) && !self.links.is_cut(pair(from, to)) => {
                self.tally.note(Fault::Fence);
                self.input(from, Input::News(News::Fenced { era }));
            }
            _ => {}
        }
        self.later(CALL_NS, Happening::Call(from, to));
    }

    pub(super) fn send(&mut self, from: HostIndex, to: HostIndex, message: PeerMessage) {
        let Some(made) = self.links.made(from, to) else { return };
        *self.said.entry(from).or_default() += 1;
        self.write(|| show::peer(&message).map(|line| format!("{from} -> {to}: {line}")));
        if self.cables.rate > 0 {
            if let Some(after) = self.cables.say((from, to, made), message) {
                self.later(after, Happening::Sent(from));
            }
            return;
        }
        if let PeerMessage::Quorum { .. } | PeerMessage::Hasty { .. } = &message {
            return self.send_loosely((from, to), made, message);
        }
        let latency = self.latency_between(from, to);
        let at = self.links.arrival(from, to, self.now + latency);
        self.later(at - self.now, Happening::Arrival { from, to, made, message });
    }

    /// Tasks of one host send so much to another one that `bytes` bytes always wait on the link.
    pub fn send_bulk(&mut self, from: HostIndex, to: HostIndex, bytes: usize) {
        while self.cables.bulk(from, to) < bytes && self.links.made(from, to).is_some() {
            let envelope = Envelope::new(
                Tid::host_id(from),
                Address::new(Tid::host_id(to), Tag(1), Context::FIRST),
            );
            let message = Message { envelope, body: Blob(vec![7; BULK_BYTES]) };
            self.send(from, to, PeerMessage::Forward { message });
        }
    }

    /// A packet has left a host: with the last one of a message that arrives a moment later.
    pub(super) fn packet_sent(&mut self, from: HostIndex) {
        let Sent { whole, next } = self.cables.sent(from);
        if let Some((to, made, message)) = whole {
            let latency = self.latency_between(from, to);
            let at = self.links.arrival(from, to, self.now + latency);
            self.later(at - self.now, Happening::Arrival { from, to, made, message });
        }
        if let Some(after) = next {
            self.later(after, Happening::Sent(from));
        }
    }

    /// Nanoseconds that a message between two hosts takes now.
    fn latency_between(&mut self, from: HostIndex, to: HostIndex) -> u64 {
        let latency = self.latency.max(self.links.slowness(from, to));
        if latency >= SLOW_NS {
            self.tally.note(Fault::Slow);
        }
        latency
    }

    /// Sends a message that may be lost, repeated and overtaken.
    fn send_loosely(
        &mut self,
        (from, to): (HostIndex, HostIndex),
        made: u64,
        message: PeerMessage,
    ) {
        let latency = self.latency_between(from, to);
        if self.lossy == 0 {
            return self.later(latency, Happening::Arrival { from, to, made, message });
        }
        let copies = match self.random.below(1000) {
            draw if draw < self.lossy => 0,
            draw if draw < 2 * self.lossy => 2,
            _ => 1,
        };
        let delay = latency + self.random.below(3 * latency);
        match copies {
            0 => self.tally.note(Fault::Lost),
            2 => self.tally.note(Fault::Repeated),
            _ => {}
        }
        if copies > 0 && self.links.overtakes(from, to, self.now + delay) {
            self.tally.note(Fault::Overtaken);
        }
        for copy in 0..copies {
            let message = message.clone();
            let after = delay * (1 + copy);
            self.later(after, Happening::Arrival { from, to, made, message });
        }
    }

    /// Messages between two hosts take `latency` for a while.
    pub fn slow_down(&mut self, a: HostIndex, b: HostIndex, latency: u64, hasten_after: u64) {
        let pair = pair(a, b);
        self.links.slow_down(pair, latency);
        self.later(hasten_after, Happening::Hastened(pair));
    }

    pub(super) fn knows(&self, a: HostIndex, b: HostIndex) -> bool {
        self.known.get(&a).is_some_and(|known| known.contains(b))
    }

    /// Connects a host with all others that live where they know one another and are not connected.
    pub(super) fn connect_of(&mut self, host: HostIndex) {
        let others: Vec<_> = self.nodes.keys().copied().filter(|&other| other != host).collect();
        self.connect_some(host, &others);
    }

    /// Like `connect_of`, with some others.
    pub(super) fn connect_some(&mut self, host: HostIndex, others: &[HostIndex]) {
        let lives = |host| self.nodes.get(&host).is_some_and(|node: &Node| node.machine.is_some());
        if !lives(host) {
            return;
        }
        let others: Vec<_> = others.iter().copied().filter(|&other| lives(other)).collect();
        for other in others {
            let (a, b) = pair(host, other);
            // A joining host knows no other one yet; hosts that know it connect.
            let wanted = match (self.known.contains_key(&a), self.known.contains_key(&b)) {
                (true, true) => self.knows(a, b) && self.knows(b, a),
                _ => self.knows(a, b) || self.knows(b, a),
            };
            if wanted && self.wants(a, b) && self.links.connect((a, b)) {
                self.later(CONNECT_NS, Happening::Connected((a, b)));
            }
            for (a, b) in [(a, b), (b, a)] {
                let was = self.ever_known.get(&b).is_some_and(|known| known.contains(a));
                if self.knows(a, b) && !self.knows(b, a) && was && self.calls.insert((a, b)) {
                    self.later(CALL_NS, Happening::Call(a, b));
                }
            }
        }
    }

    pub(super) fn connected(&mut self, pair: Pair) {
        let stopped = |host| self.nodes.get(&host).is_some_and(|n| n.paused_until > self.now);
        if stopped(pair.0) || stopped(pair.1) {
            return self.later(CALL_NS / 5, Happening::Connected(pair));
        }
        let lives = |host| self.nodes.get(&host).is_some_and(|node| node.machine.is_some());
        if !lives(pair.0) || !lives(pair.1) {
            self.links.break_off(pair);
        } else if self.links.connected(pair) {
            for way in [pair, (pair.1, pair.0)] {
                self.silent.remove(&way);
                self.reaching.remove(&way);
            }
            if let Some(made) = self.links.made(pair.0, pair.1) {
                self.later(REST_NS, Happening::Idle(pair, made));
            }
            self.input(pair.0, Input::News(News::LinkUp { host: pair.1 }));
            self.input(pair.1, Input::News(News::LinkUp { host: pair.0 }));
            let applied = self.applied_by(pair.0).max(self.applied_by(pair.1));
            self.met.insert(pair, applied);
        }
    }

    fn applied_by(&self, host: HostIndex) -> u64 {
        let machine = self.nodes.get(&host).and_then(|node| node.machine.as_ref());
        machine.map_or(0, pvm_core::Machine::applied)
    }

    /// True while a host may lack what another one had applied when their link was made last.
    pub(crate) fn lags(&self, host: HostIndex, other: HostIndex) -> bool {
        let met = self.met.get(&pair(host, other)).copied().unwrap_or(0);
        self.applied_by(host) < met
    }

    /// Both directions of a pair, in an order from the seed.
    fn either_first(&mut self, pair: Pair) -> (Pair, Pair) {
        let back = (pair.1, pair.0);
        if self.firsts.below(2) == 0 { (pair, back) } else { (back, pair) }
    }

    pub(super) fn break_links(&mut self, pairs: Vec<Pair>) {
        for pair in pairs {
            if self.links.break_off(pair) {
                // Either may be the first to find the other one silent, and to ask the witness.
                let (first, second) = self.either_first(pair);
                for (at, of) in [first, second] {
                    // The link is made again, whichever side wanted it.
                    self.reaching.insert((at, of));
                    self.note_silence(at, of);
                    self.later(0, Happening::News(at, News::LinkDown { host: of }));
                }
            }
        }
    }

    /// Nothing passes between two hosts for a while.
    pub fn cut(&mut self, a: HostIndex, b: HostIndex, heal_after: Option<u64>) {
        let pair = pair(a, b);
        self.tally.note(Fault::Cut);
        self.links.cut(pair);
        self.break_links(vec![pair]);
        if let Some(after) = heal_after {
            self.later(after, Happening::Heal(pair));
        }
    }

    /// The messages of one host do not arrive at another for a while.
    pub fn deafen(&mut self, from: HostIndex, to: HostIndex, heal_after: u64) {
        self.tally.note(Fault::CutOneWay);
        self.links.deafen(from, to);
        let pair = pair(from, to);
        self.later(STALL_NS, Happening::Stalled(pair));
        self.later(heal_after, Happening::Heal(pair));
    }
}
