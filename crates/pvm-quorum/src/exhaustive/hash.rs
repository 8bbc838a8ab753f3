//! The hash of a state. Two states are equal if no core can tell them apart.
//!
//! A core uses a moment of its clock in two ways. It compares the time since then, or until then,
//! with a limit; so the hash has that time in steps, up to the longest limit. And it asks whether
//! an answer is newer than a question, a round or a probe; so the hash has how many of these came
//! before the moment.

use super::host::Host;
use super::world::{STEP_NS, World};
use crate::core::{Core, NEVER};
use crate::flow::{Flow, Peer};
use crate::frame::{Frame, Word};
use pvm_wire::Wire as _;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Every time limit is over after this many steps.
const STEPS_MAX: u64 = 2;
/// Longer waits count as this long: a leader's attempt to hand over, and its wait before it stands
/// for election again.
const WAIT_STEPS_MAX: u64 = 64;

/// A hasher that keeps its input as it is.
struct Bytes(Vec<u8>);

impl Hasher for Bytes {
    fn finish(&self) -> u64 {
        0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

/// A number for a state.
pub(super) fn of(world: &World) -> u128 {
    let mut bytes = Bytes(Vec::with_capacity(2048));
    put(world, &mut bytes);
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, &bytes.0).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(1) << 64 | half(2)
}

/// A host's clock, and the moments that others are compared with.
struct Clock {
    now: u64,
    marks: Vec<u64>,
}

/// The age of a moment, and the number of marks that it has reached.
type Moment = (u64, usize);

impl Clock {
    fn of(host: &Host) -> Self {
        let core = &host.core;
        // A read needs the answer to a later message, all else the answer to one of that moment or
        // later.
        let mut marks: Vec<_> = core.reads.iter().map(|read| read.1 + 1).collect();
        marks.push(core.round);
        if core.is_leader() {
            marks.extend(core.peers.values().filter_map(asked_at));
        }
        marks.sort_unstable();
        marks.dedup();
        Self { now: host.clock, marks }
    }

    /// A frame that is sent at a moment of the clock is some nanoseconds younger than that moment.
    fn age(&self, at: u64) -> u64 {
        self.now.saturating_sub(at).div_ceil(STEP_NS).min(STEPS_MAX)
    }

    fn moment(&self, at: u64) -> Moment {
        (self.age(at), self.marks.partition_point(|mark| *mark <= at))
    }

    /// The number of steps until that moment.
    fn until(&self, at: u64) -> u64 {
        at.saturating_sub(self.now).div_ceil(STEP_NS).min(WAIT_STEPS_MAX)
    }
}

fn asked_at(peer: &Peer) -> Option<u64> {
    match peer.flow {
        Flow::Probe { asked: Some((at, _)), .. } => Some(at),
        _ => None,
    }
}

fn stamp(frame: &Frame) -> Option<u64> {
    match frame.word {
        Word::Append { stamp, .. }
        | Word::Beat { stamp, .. }
        | Word::Agree { stamp, .. }
        | Word::Alive { stamp, .. }
        | Word::Differ { stamp, .. } => Some(stamp),
        _ => None,
    }
}

/// The host whose clock gave a frame its stamp: an answer brings back the stamp of its question.
const fn clock_of((from, to): (u8, u8), frame: &Frame) -> u8 {
    match frame.word {
        Word::Append { .. } | Word::Beat { .. } => from,
        _ => to,
    }
}

fn put(world: &World, to: &mut Bytes) {
    (world.left, world.owner, &world.links, &world.committed, &world.leaders).hash(to);
    let clocks: Vec<_> = world.hosts.iter().map(|host| Clock::of(host)).collect();
    for (way, wire) in &world.wires {
        // The sequence of frames does not count, and a frame that is there twice counts twice.
        let mut frames: Vec<_> = wire
            .iter()
            .map(|frame| bytes_of(frame, &clocks[usize::from(clock_of(*way, frame))]))
            .collect();
        frames.sort_unstable();
        (way, frames).hash(to);
    }
    for (host, clock) in world.hosts.iter().zip(&clocks) {
        put_host(world, host, clock, to);
    }
}

fn bytes_of(frame: &Frame, clock: &Clock) -> (Vec<u8>, Option<Moment>) {
    let moment = stamp(frame).map(|at| clock.moment(at));
    let mut frame = frame.clone();
    if let Word::Append { stamp, .. }
    | Word::Beat { stamp, .. }
    | Word::Agree { stamp, .. }
    | Word::Alive { stamp, .. }
    | Word::Differ { stamp, .. } = &mut frame.word
    {
        *stamp = 0;
    }
    (frame.to_bytes(), moment)
}

/// The parent's records repeat the data of the core, so only the core counts.
fn put_host(world: &World, host: &Host, clock: &Clock, to: &mut Bytes) {
    host.ended.hash(to);
    if host.ended {
        return;
    }
    (&host.applied, host.joined, &host.up, host.met, host.suspects, host.lock).hash(to);
    (host.fresh, host.granted, &host.needed, host.asked).hash(to);
    put_core(&host.core, clock, to);
    if host.core.is_leader() {
        for (member, peer) in &host.core.peers {
            // Silence matters only for voters, and for members that may become voters.
            let silence = world.hosts.len() > 2
                || world.left.resigns > 0
                || host.core.resigning.is_some()
                || host.core.voters().len() > 1
                || host.core.voters().contains(member);
            member.hash(to);
            put_peer(&host.core, peer, silence, clock, to);
        }
    }
}

fn put_core(core: &Core, clock: &Clock, to: &mut Bytes) {
    (core.me, core.ballot.to_bytes(), core.commit, core.role as u8, core.leader).hash(to);
    (core.log.start.to_bytes(), core.log.last(), &core.votes, &*core.members).hash(to);
    for number in core.log.start.number + 1..=core.log.last() {
        core.log.get(number).map(pvm_wire::Wire::to_bytes).hash(to);
    }
    core.need.as_ref().map(|need| (&need.members, need.lease)).hash(to);
    (core.view.term, core.view.verified, core.view.commit).hash(to);
    (core.up(), core.everywhere, core.answer_count).hash(to);
    core.arriving.as_ref().map(|it| (it.start.to_bytes(), &it.state)).hash(to);
    clock.age(core.heard_at).min(1).hash(to);
    ((core.next_at == NEVER).then_some(0), clock.until(core.next_at)).hash(to);
    (core.resigning.map(|at| clock.until(at)), core.heir, clock.until(core.unwell_until)).hash(to);
    // The next frame, or the next question, is younger than this clock or not.
    (clock.age(core.stamp).min(1), clock.moment(core.round).1).hash(to);
    (core.removal.saturating_sub(core.commit), core.is_behind).hash(to);
    core.reads.iter().for_each(|read| clock.moment(read.1 + 1).1.hash(to));
}

fn put_peer(core: &Core, peer: &Peer, silence: bool, clock: &Clock, to: &mut Bytes) {
    let (sent, progress_at, patience) = peer.under_way();
    // A peer counts as silent from the begin of this leadership at the earliest, or from the moment
    // at which it became needed, if that is later.
    let since = core.need.as_ref().map_or(0, |need| need.since).max(core.leads_since);
    (peer.matched, peer.next, clock.moment(peer.heard), clock.age(peer.heard.max(since))).hash(to);
    if silence {
        (clock.age(peer.seen), clock.age(peer.seen.max(core.leads_since))).hash(to);
    }
    let waits = !matches!(peer.flow, Flow::Replicate) || !sent.is_empty();
    (sent, waits.then(|| clock.age(progress_at)), patience).hash(to);
    match &peer.flow {
        Flow::Probe { asked, again } => {
            again.hash(to);
            (0_u8, asked.map(|(at, before)| (clock.moment(at).1, before))).hash(to);
        }
        Flow::Replicate => 1_u8.hash(to),
        Flow::State(sending) => {
            let sending = sending.as_ref();
            (2_u8, sending.map(|it| (it.start.to_bytes(), it.sent, it.confirmed))).hash(to);
            sending.map(|it| &it.state).hash(to);
        }
    }
}
