//! Cores that talk over a network that loses and delays, and that are started again from their
//! records: a term has one leader, all apply the same commands in the same order, and what was
//! applied anywhere stays.

use pvm_core::Time;
use pvm_core::quorum::{Member, Quorum as _, QuorumInput, QuorumOutput, Voting};
use pvm_quorum::Core;
use pvm_wire::{Blob, HostIndex, Wire as _};
use std::collections::{BTreeMap, BTreeSet};

const MS: u64 = 1_000_000;
const FIRST: HostIndex = HostIndex(1);
/// Commands with numbers below this let the host of that number in; others are just counted.
const JOIN_MAX: u64 = 100;

/// There is no machine to say which members one of two needs.
const NOBODY_NEEDED: QuorumInput =
    QuorumInput::Votes(Voting::With { members: Vec::new(), lease: false });

type Applied = Vec<(u64, u64)>;

/// A host: its core, what it must not forget, and what it has applied.
struct Host {
    core: Core,
    records: BTreeMap<Blob, Blob>,
    applied: Applied,
    lives: u64,
}

struct Net {
    now: u64,
    hosts: BTreeMap<HostIndex, Host>,
    /// The messages on their way, by arrival.
    queue: BTreeMap<(u64, u64), (HostIndex, HostIndex, Blob)>,
    sent: u64,
    leaders: BTreeMap<u64, Member>,
    /// The command with each number, wherever it was applied first.
    ordered: BTreeMap<u64, u64>,
    /// Per cent of messages that are lost.
    loss: u64,
    cut: BTreeSet<HostIndex>,
    random: u64,
}

fn place(host: u64) -> HostIndex {
    HostIndex(u16::try_from(host).expect("a small number"))
}

fn members(applied: &Applied) -> Vec<Member> {
    let joined = applied.iter().filter(|(_, command)| *command < JOIN_MAX);
    let rest = joined.map(|&(number, host)| Member::new(number, place(host)));
    std::iter::once(Member::new(1, FIRST)).chain(rest).collect()
}

impl Net {
    fn new(seed: u64) -> Self {
        let mut net = Self {
            now: 0,
            hosts: BTreeMap::new(),
            queue: BTreeMap::new(),
            sent: 0,
            leaders: BTreeMap::new(),
            ordered: BTreeMap::new(),
            loss: 0,
            cut: BTreeSet::new(),
            random: seed,
        };
        net.host(FIRST);
        net.input(FIRST, QuorumInput::Begin { me: Member::new(1, FIRST) });
        net
    }

    fn draw(&mut self, n: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 33) % n
    }

    fn host(&mut self, host: HostIndex) {
        let core = Core::new(self.random ^ u64::from(host.0));
        let new = Host { core, records: BTreeMap::new(), applied: Vec::new(), lives: 1 };
        self.hosts.insert(host, new);
        self.link(host, true);
    }

    fn link(&mut self, host: HostIndex, up: bool) {
        let others: Vec<_> = self.hosts.keys().copied().filter(|other| *other != host).collect();
        for other in others {
            self.input(host, QuorumInput::Linked { host: other, up });
            self.input(other, QuorumInput::Linked { host, up });
        }
    }

    /// The process of a host is replaced by one that has its records only.
    fn restart(&mut self, host: HostIndex) {
        self.link(host, false);
        let seed = self.draw(1 << 30);
        let it = self.hosts.get_mut(&host).expect("a host");
        it.core = Core::new(seed);
        it.lives += 1;
        for (key, value) in &it.records {
            assert!(it.core.restore(&key.0, &value.0), "a record of its own");
        }
        let members = members(&it.applied);
        self.input(host, QuorumInput::Members { members });
        self.input(host, NOBODY_NEEDED);
        self.link(host, true);
    }

    fn input(&mut self, host: HostIndex, input: QuorumInput) {
        let now = Time(self.now);
        self.hosts.get_mut(&host).expect("a host").core.handle(now, input);
        self.drain(host);
    }

    fn drain(&mut self, host: HostIndex) {
        while let Some(output) = self.hosts.get_mut(&host).expect("a host").core.poll_output() {
            self.follow(host, output);
        }
    }

    fn follow(&mut self, host: HostIndex, output: QuorumOutput) {
        let now = Time(self.now);
        let late = 1 + self.draw(20);
        let lost = self.draw(100) < self.loss;
        let it = self.hosts.get_mut(&host).expect("a host");
        match output {
            QuorumOutput::Send { host: to, bytes, .. } => {
                self.sent += 1;
                if !lost && !self.cut.contains(&host) && !self.cut.contains(&to) {
                    self.queue.insert((self.now + late * MS, self.sent), (host, to, bytes));
                }
            }
            QuorumOutput::Save { key, value: Some(value) } => {
                it.records.insert(key, value);
            }
            QuorumOutput::Save { key, value: None } => {
                it.records.remove(&key);
            }
            QuorumOutput::Apply { number, command } => {
                let command = u64::from_bytes(&command.0).expect("a command of ours");
                assert!(it.applied.last().is_none_or(|last| last.0 < number));
                it.applied.push((number, command));
                let known = *self.ordered.entry(number).or_insert(command);
                assert_eq!(known, command, "command {number} at {host}");
                let members = members(&it.applied);
                it.core.handle(now, QuorumInput::Members { members });
                it.core.handle(now, NOBODY_NEEDED);
            }
            QuorumOutput::Adopt { state, .. } => {
                it.applied = Applied::from_bytes(&state.0).expect("a state of ours");
                let members = members(&it.applied);
                it.core.handle(now, QuorumInput::Members { members });
                it.core.handle(now, NOBODY_NEEDED);
            }
            QuorumOutput::StateWanted { to } => {
                let number = it.applied.last().map_or(1, |last| last.0);
                let state = Blob(it.applied.to_bytes());
                it.core.handle(now, QuorumInput::State { to, number, state });
            }
            QuorumOutput::Leader { term, leader: Some(leader) } => {
                let known = *self.leaders.entry(term).or_insert(leader);
                assert_eq!(known, leader, "term {term} has two leaders");
            }
            QuorumOutput::Leader { leader: None, .. } | QuorumOutput::Passed { .. } => {}
            QuorumOutput::Confirmed { .. } => panic!("nobody has asked"),
            QuorumOutput::Overtaken => panic!("nobody has gone on alone"),
        }
    }

    /// Time passes.
    fn go(&mut self, ms: u64) {
        let end = self.now + ms * MS;
        loop {
            let timeout =
                |(host, it): (&HostIndex, &Host)| Some((it.core.poll_timeout()?.0, *host));
            let timeout = self.hosts.iter().filter_map(timeout).min();
            let message = self.queue.first_key_value().map(|(key, _)| key.0);
            let next = timeout.map(|t| t.0).into_iter().chain(message).min().unwrap_or(u64::MAX);
            if next > end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            match timeout {
                Some((at, host)) if at <= next => {
                    let now = Time(self.now);
                    self.hosts.get_mut(&host).expect("a host").core.handle_timeout(now);
                    self.drain(host);
                }
                _ => {
                    let (_, (from, to, bytes)) = self.queue.pop_first().expect("a message");
                    self.input(to, QuorumInput::Heard { host: from, bytes });
                }
            }
        }
    }

    fn current(&self) -> Vec<HostIndex> {
        let now = Time(self.now);
        let leads = self.hosts.iter().filter(|(_, it)| it.core.is_current(now));
        leads.map(|(host, _)| *host).collect()
    }

    /// Gives a command to the leader, if there is one.
    fn propose(&mut self, command: u64) {
        let current = self.current();
        assert!(current.len() < 2, "{current:?} both take themselves for the leader");
        if let Some(&leader) = current.first() {
            let command = Blob(command.to_bytes());
            self.input(leader, QuorumInput::Propose { command, without: None });
        }
    }

    fn grow(&mut self, count: u16) {
        for host in (2..=count).map(HostIndex) {
            self.host(host);
            self.propose(u64::from(host.0));
            self.go(1000);
        }
    }

    /// All hosts have all commands of the log.
    fn assert_whole(&self) {
        let all: Applied =
            self.ordered.iter().map(|(&number, &command)| (number, command)).collect();
        for (host, it) in &self.hosts {
            assert_eq!(it.applied, all, "host {host}");
        }
    }
}

#[test]
fn a_single_member_orders_by_itself() {
    let mut net = Net::new(1);
    net.propose(JOIN_MAX);
    assert_eq!(net.hosts[&FIRST].applied.len(), 1);
    assert_eq!(net.current(), [FIRST]);
}

#[test]
fn members_that_join_get_what_was_ordered_before_and_after() {
    let mut net = Net::new(2);
    for command in 0..5 {
        net.propose(JOIN_MAX + command);
    }
    net.grow(5);
    net.propose(JOIN_MAX + 5);
    net.go(1000);
    assert_eq!(net.ordered.len(), 10);
    net.assert_whole();
}

#[test]
fn another_member_leads_when_the_leader_is_cut_off_and_the_old_one_knows() {
    let mut net = Net::new(3);
    net.grow(5);
    net.cut.insert(FIRST);
    net.go(4000);
    let current = net.current();
    assert!(current.len() == 1 && current != [FIRST], "{current:?}");
    net.propose(JOIN_MAX);
    net.go(1000);
    net.cut.clear();
    net.go(4000);
    assert_eq!(net.current(), current);
    net.assert_whole();
}

#[test]
fn whatever_is_lost_and_whoever_is_started_again_all_apply_the_same() {
    let mut restarts = 0;
    for seed in 0..40 {
        let mut net = Net::new(seed);
        let count = 3 + net.draw(4);
        net.grow(place(count).0);
        net.loss = net.draw(30);
        let mut command = JOIN_MAX;
        for _ in 0..30 {
            let host = place(1 + net.draw(count));
            match net.draw(6) {
                0 => net.restart(host),
                1 => drop(net.cut.insert(host)),
                2 | 3 => net.cut.clear(),
                _ => {}
            }
            command += 1;
            net.propose(command);
            let pause = net.draw(1500);
            net.go(pause);
        }
        net.loss = 0;
        net.cut.clear();
        net.go(5000);
        assert_eq!(net.current().len(), 1, "seed {seed}");
        net.propose(command + 1);
        net.go(3000);
        assert!(net.ordered.values().any(|last| *last == command + 1), "seed {seed}");
        net.assert_whole();
        restarts += net.hosts.values().map(|it| it.lives - 1).sum::<u64>();
    }
    assert!(restarts > 40, "{restarts} were started again");
}
