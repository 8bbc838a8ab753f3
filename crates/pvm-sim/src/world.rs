//! Time, and everything that happens in it.

mod crashes;
mod daemon;
mod happening;
mod network;
mod processes;

pub use happening::Crash;
pub use happening::Happening;

use crate::agreement::Agreement;
use crate::archive::Archive;
use crate::cable::Cables;
use crate::check::Checks;
use crate::dice::Random;
use crate::host_set::HostSet;
use crate::link::Links;
use crate::node::{Node, facts};
use crate::tally::{Fault, Tally};
use crate::time::MS;
use pvm_core::io::{HostFacts, Input, News};
use pvm_core::{Machine, Rules, Time};
use pvm_quorum::Limits;
use pvm_wire::request::Reply;
use pvm_wire::{Blob, HostIndex, Message, Tid};
use std::collections::{BTreeMap, BTreeSet};

/// The first host.
pub(crate) const FIRST: HostIndex = HostIndex(1);

/// All hosts, links and processes.
#[derive(Debug, Default)]
pub struct World {
    now: u64,
    queue: BTreeMap<(u64, u64), Box<Happening>>,
    happening_count: u64,
    /// When each host wants to be called, and the same by host.
    due: BTreeSet<(u64, HostIndex)>,
    due_of: BTreeMap<HostIndex, u64>,
    /// Hosts at which something has changed since they were looked at.
    touched: BTreeSet<HostIndex>,
    /// The hosts that live.
    pub nodes: BTreeMap<HostIndex, Node>,
    /// The links.
    pub links: Links,
    /// The cables, where they have a rate.
    pub cables: Cables,
    /// The hosts that each host's shell knows.
    known: BTreeMap<HostIndex, HostSet>,
    /// The hosts to which each host has permanent links, and the links that are wanted now.
    near: BTreeMap<HostIndex, BTreeSet<HostIndex>>,
    reaching: BTreeSet<(HostIndex, HostIndex)>,
    /// Hosts that cannot be called, as behind NAT: they call others.
    pub uncallable: BTreeSet<HostIndex>,
    /// The number of messages that each host has sent to others.
    pub said: BTreeMap<HostIndex, u64>,
    /// Messages in inboxes, by task.
    pub inboxes: BTreeMap<Tid, Vec<Message>>,
    /// Answers, by host and connection.
    pub replies: BTreeMap<(HostIndex, u64), Vec<Reply>>,
    /// The journal of messages and events, if it is wanted.
    pub journal: Option<Vec<String>>,
    /// The invariants.
    pub checks: Checks,
    /// The faults so far.
    pub tally: Tally,
    /// Nanoseconds that a message takes; random runs change it.
    pub latency: u64,
    /// The next input of this host crashes its daemon.
    pub crash_next: BTreeMap<HostIndex, Crash>,
    /// Per mille of what the libraries that order say that is lost, and that comes twice.
    pub lossy: u64,
    /// Since when a host has had no link to another that it knows.
    silent: BTreeMap<(HostIndex, HostIndex), u64>,
    /// Hosts that others once had in their tables.
    ever_known: BTreeMap<HostIndex, HostSet>,
    /// The owner of each lock of the witness.
    witness: BTreeMap<(Blob, u64), HostIndex>,
    agreement: Agreement,
    archive: Archive,
    /// The progress of the two hosts of a link when it was made: that of the host that was ahead.
    met: BTreeMap<(HostIndex, HostIndex), u64>,
    calls: BTreeSet<(HostIndex, HostIndex)>,
    rules: Option<Rules>,
    random: Random,
    clocks: Random,
    /// The dice that decide which of two hosts finds the other one silent first.
    firsts: Random,
    /// By how many millionths clocks go too fast or too slow at most.
    skew: u32,
    seed: u64,
    /// The limits of all members of the order.
    limits: Limits,
    busy_at: u64,
    /// Daemons that were started and have no place yet, by their starter and the ticket.
    newcomers: BTreeMap<(HostIndex, u64), HostFacts>,
    request_count: u32,
    start_count: u32,
    name: String,
}

impl World {
    /// A world with one host of this name.
    pub fn new(name: &str) -> Self {
        Self::seeded(name, 0, Rules::plain())
    }

    /// A world with one host of this name, a seed for all that is random, and rules for two
    /// hosts.
    pub fn seeded(name: &str, seed: u64, rules: Rules) -> Self {
        Self::skewed(name, seed, rules, 0)
    }

    /// A world as [`Self::seeded`] makes it, with clocks that began at different moments and go up
    /// to `millionths` millionths too fast or too slow; with none all are right.
    pub fn skewed(name: &str, seed: u64, rules: Rules, millionths: u32) -> Self {
        Self::within(Limits::USUAL, name, seed, rules, millionths)
    }

    /// A world as [`Self::skewed`] makes it, with other bounds of the log.
    pub fn within(limits: Limits, name: &str, seed: u64, rules: Rules, millionths: u32) -> Self {
        let mut world = Self {
            limits,
            latency: MS,
            name: name.to_owned(),
            seed,
            random: Random::new(seed ^ 0x5eed),
            clocks: Random::new(seed ^ 0xc10c),
            firsts: Random::new(seed ^ 0xf125),
            skew: millionths,
            rules: Some(rules),
            ..Self::default()
        };
        world.admit(FIRST, HostFacts { computer: name.into(), ..facts(name) });
        world
    }

    /// Clocks may stand still: what a host believes of its lease proves nothing then.
    pub fn may_stop(&mut self, may: bool) {
        self.agreement.may_stop = may;
    }

    /// Two hosts may go on apart from each other.
    pub fn may_split(&mut self, may: bool) {
        self.agreement.may_split = may;
    }

    /// Nanoseconds since the beginning.
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// Notes something that will happen in `after` nanoseconds.
    pub fn later(&mut self, after: u64, happening: Happening) {
        self.happening_count += 1;
        self.queue.insert((self.now + after, self.happening_count), Box::new(happening));
    }

    fn write(&mut self, line: impl FnOnce() -> Option<String>) {
        if let Some(journal) = &mut self.journal
            && let Some(line) = line()
        {
            journal.push(line);
        }
    }

    /// Runs what happens until `until`, or until nothing more happens.
    pub fn run_until(&mut self, until: u64) {
        while self.step(until) {}
        self.now = self.now.max(until);
    }

    /// Runs until nothing happens for a while, at most a minute.
    pub fn run_until_quiet(&mut self) {
        let end = self.now + 60_000 * MS;
        self.busy_at = self.now;
        while self.now < end && self.now < self.busy_at + 1000 * MS {
            if !self.step((self.busy_at + 1000 * MS).min(end)) {
                self.now = (self.busy_at + 1000 * MS).min(end);
            }
        }
    }

    /// Notes when the hosts want to be called at which something has changed.
    fn note_timeouts(&mut self) {
        for host in std::mem::take(&mut self.touched) {
            let node = self.nodes.get(&host);
            let wanted = node.and_then(|node| {
                let at = node.machine.as_ref()?.poll_timeout()?.0;
                Some(node.clock.moment(at).max(node.paused_until))
            });
            if let Some(before) = self.due_of.remove(&host) {
                self.due.remove(&(before, host));
            }
            if let Some(at) = wanted {
                self.due_of.insert(host, at);
                self.due.insert((at, host));
            }
        }
    }

    fn next_timeout(&mut self) -> Option<(u64, HostIndex)> {
        self.note_timeouts();
        self.due.first().map(|&(at, host)| (at.max(self.now), host))
    }

    /// The next thing up to `until`; false if there is none.
    pub fn step(&mut self, until: u64) -> bool {
        let timeout = self.next_timeout();
        let happening = self.queue.keys().next().map(|key| key.0);
        let next = [happening, timeout.map(|timeout| timeout.0)].into_iter().flatten().min();
        let Some(next) = next.filter(|&next| next <= until) else { return false };
        self.now = next;
        match timeout {
            Some((time, host)) if time <= next => {
                let node = self.nodes.get_mut(&host).expect("it has a timeout");
                if let Some(machine) = &mut node.machine {
                    machine.handle_timeout(Time(node.clock.shows(time)));
                }
                self.drain(host, None);
            }
            _ => {
                if let Some((_, happening)) = self.queue.pop_first() {
                    let background = happening.is_background();
                    self.happen(*happening);
                    if !background {
                        self.busy_at = self.now;
                    }
                }
            }
        }
        self.checks.look(self.now, &self.nodes, &self.touched);
        if let Some(wrong) = self.agreement.look(self.now, &self.nodes, &self.touched) {
            self.checks.violate(format!("{}: {wrong}", self.now));
        }
        true
    }

    fn happen(&mut self, happening: Happening) {
        let stopped = happening.target().and_then(|host| self.nodes.get(&host));
        if let Some(until) = stopped.map(|node| node.paused_until).filter(|&at| at > self.now) {
            return self.later(until - self.now, happening);
        }
        if let Happening::Arrival { to, .. } = &happening
            && let Some(from) = self.nodes.get(to).map(|node| node.hears_from)
            && from > self.now
        {
            return self.later(from - self.now, happening);
        }
        match happening {
            Happening::Event(host, event) => self.event(host, event),
            Happening::News(host, news) => self.input(host, Input::News(news)),
            Happening::Arrival { from, to, made, message } => {
                if self.links.made(from, to) != Some(made) {
                    self.tally.note(Fault::BrokenOff);
                } else if self.links.is_deaf(from, to) {
                    self.tally.note(Fault::Unheard);
                } else {
                    self.input(to, Input::News(News::Said { host: from, message }));
                }
            }
            Happening::Sent(host) => self.packet_sent(host),
            Happening::Connected(pair) => self.connected(pair),
            Happening::Disconnected(pair) => self.break_links(vec![pair]),
            Happening::Heal(pair) => {
                let deaf = self.links.is_cut(pair);
                self.links.heal(pair);
                if deaf {
                    // A message lost meanwhile breaks the connection.
                    self.break_links(vec![pair]);
                }
                self.connect_some(pair.0, &[pair.1]);
            }
            Happening::Restart(host) => self.restart(host),
            Happening::Enrol(host, tid) => self.enrol(host, tid),
            Happening::Silence { at, of, since } => {
                if self.silent.get(&(at, of)) == Some(&since) && self.knows(at, of) {
                    self.tally.note(Fault::Silence);
                    self.input(at, Input::News(News::HostDead { host: of }));
                }
            }
            Happening::Call(from, to) => self.call(from, to),
            Happening::Stalled(pair) => {
                if self.links.is_cut(pair) {
                    self.break_links(vec![pair]);
                }
            }
            Happening::Evidence(host) => self.evidence(host),
            Happening::Hastened(pair) => self.links.hasten(pair),
            Happening::Idle(pair, made) => self.rest(pair, made),
        }
    }

    /// True once no host has a dead one in its table.
    pub fn is_digested(&self) -> bool {
        let mut machines = self.nodes.values().filter_map(|node| node.machine.as_ref());
        machines.all(|machine| machine.members().hosts().all(|host| self.nodes.contains_key(&host)))
    }

    /// The hosts that a host knows of, with their names.
    pub fn members(&self, at: HostIndex) -> BTreeMap<HostIndex, Blob> {
        let machine = self.nodes.get(&at).and_then(|node| node.machine.as_ref());
        let members = machine.map(Machine::members).unwrap_or_default();
        members.iter().map(|(host, facts)| (host, facts.name.clone())).collect()
    }

    /// The fewest hosts that any host knows of.
    pub fn fewest_members(&self) -> usize {
        let machines = self.nodes.values().filter_map(|node| node.machine.as_ref());
        machines.map(|machine| machine.members().len()).min().unwrap_or(0)
    }
}
