//! The network of the random runs, the hosts on it, and what must be true of them at any time.

use pvm_core::Time;
use pvm_core::quorum::{Member, Quorum as _, QuorumInput, QuorumOutput, Voting};
use pvm_quorum::{Core, Limits};
use pvm_wire::{Blob, HostIndex, Wire as _};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const FIRST: HostIndex = HostIndex(1);
/// Commands below this let the host of their number in, commands below the next bound take one out;
/// others are counted.
pub(crate) const JOIN_MAX: u64 = 100;
pub(crate) const LEAVE_MAX: u64 = 200;
pub(crate) const SMALL: Limits = Limits {
    window_bytes: 300,
    piece_bytes: 96,
    cut_count: 3,
    cut_bytes: 400,
    lag_bytes: 1200,
    ..Limits::USUAL
};
/// Few members are many: from six on the log goes along a tree of one or two below each.
pub(crate) const TREE: Limits = Limits { star_count: 5, tree_width: 1, failures_max: 1, ..SMALL };
/// There is no machine to say which members one of two needs.
pub(crate) const NOBODY_NEEDED: QuorumInput =
    QuorumInput::Votes(Voting::With { members: Vec::new(), lease: false });

pub(crate) type Applied = Vec<(u64, u64)>;
pub(crate) type Direction = (HostIndex, HostIndex);

/// A host: its core, what it must not forget, and what it has applied.
pub(crate) struct Host {
    pub(crate) core: Core,
    pub(crate) records: BTreeMap<Blob, Blob>,
    pub(crate) applied: Applied,
    /// By how much its clock is behind, as it stood still.
    pub(crate) behind: u64,
    pub(crate) stands_until: u64,
    /// It was taken out, and knows.
    pub(crate) gone: bool,
    pub(crate) leader: Option<Member>,
    /// The hosts to which it wants a link.
    pub(crate) near: BTreeSet<HostIndex>,
}

/// A message under way, and the link over which it goes.
pub(crate) struct Letter {
    way: Direction,
    bytes: Blob,
    made: u64,
}

#[derive(Default)]
pub(crate) struct Net {
    pub(crate) limits: Limits,
    pub(crate) now: u64,
    pub(crate) hosts: BTreeMap<HostIndex, Host>,
    pub(crate) queue: BTreeMap<(u64, u64), Letter>,
    pub(crate) sent: u64,
    pub(crate) leaders: BTreeMap<u64, Member>,
    /// The command with each number, wherever it was applied first.
    pub(crate) ordered: BTreeMap<u64, u64>,
    /// Ways on which nothing is heard.
    pub(crate) deaf: BTreeSet<Direction>,
    /// Milliseconds that a way takes besides.
    pub(crate) slow: BTreeMap<Direction, u64>,
    /// Links are made when a host wants them, and go when no host does any more.
    pub(crate) on_demand: bool,
    pub(crate) links: BTreeSet<Direction>,
    /// The number of times that each link was made, and the moment at which the last message of
    /// each direction arrives.
    pub(crate) made: BTreeMap<Direction, u64>,
    pub(crate) arrived: BTreeMap<(Direction, bool), u64>,
    /// Per mille of messages that are lost; where none are, none overtakes another.
    pub(crate) loss: u64,
    pub(crate) latency: u64,
    /// Clocks of hosts that stand still do so, too.
    pub(crate) clocks_stop: bool,
    /// Reads: the host, and the last command that any host had applied then.
    pub(crate) questions: BTreeMap<u64, (HostIndex, u64)>,
    pub(crate) question_count: u64,
    pub(crate) command: u64,
    pub(crate) random: u64,
    pub(crate) counts: Counts,
}

/// Counts of events.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counts {
    pub(crate) adopted: u64,
    pub(crate) answered: u64,
}

pub(crate) fn place(host: u64) -> HostIndex {
    HostIndex(u16::try_from(host).expect("a small number"))
}

pub(crate) fn ordered_pair((a, b): Direction) -> Direction {
    (a.min(b), a.max(b))
}

pub(crate) fn members(applied: &Applied) -> Vec<Member> {
    let mut members = vec![Member::new(1, FIRST)];
    for &(number, command) in applied {
        if command < JOIN_MAX {
            members.push(Member::new(number, place(command)));
        } else if command < LEAVE_MAX {
            members.retain(|member| member.host() != place(command - JOIN_MAX));
        }
    }
    members
}

impl Net {
    pub(crate) fn new(seed: u64, limits: Limits, on_demand: bool) -> Self {
        let mut net = Self {
            limits,
            on_demand,
            now: MS,
            latency: 20,
            random: seed,
            command: LEAVE_MAX,
            ..Self::default()
        };
        net.host(FIRST);
        net.input(FIRST, QuorumInput::Begin { me: Member::new(1, FIRST) });
        net
    }

    /// A number below `n`, from the seed (SplitMix64).
    pub(crate) fn draw(&mut self, n: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    pub(crate) fn get(&mut self, host: HostIndex) -> &mut Host {
        self.hosts.get_mut(&host).expect("a host")
    }

    pub(crate) fn host(&mut self, host: HostIndex) {
        let core = Core::within(self.limits, self.draw(1 << 40));
        let (records, applied) = (BTreeMap::new(), Vec::new());
        let new = Host {
            core,
            records,
            applied,
            behind: 0,
            stands_until: 0,
            gone: false,
            leader: None,
            near: BTreeSet::new(),
        };
        self.hosts.insert(host, new);
        self.link_all(host, true);
    }

    pub(crate) fn link_all(&mut self, host: HostIndex, up: bool) {
        let others: Vec<_> = self.hosts.keys().copied().filter(|other| *other != host).collect();
        others.into_iter().for_each(|other| self.link((host, other), up));
    }

    pub(crate) fn link(&mut self, way: Direction, up: bool) {
        let pair = ordered_pair(way);
        let wanted = !self.on_demand || self.wants(way) || self.wants((way.1, way.0));
        if (up && !wanted) || (!up && self.on_demand && !self.links.contains(&pair)) {
            return;
        }
        *self.made.entry(pair).or_default() += 1;
        if up {
            self.links.insert(pair)
        } else {
            self.links.remove(&pair)
        };
        self.input(way.0, QuorumInput::Linked { host: way.1, up });
        self.input(way.1, QuorumInput::Linked { host: way.0, up });
    }

    fn wants(&self, way: Direction) -> bool {
        self.hosts[&way.0].near.contains(&way.1)
    }

    /// A host may want other links than before.
    fn link_near(&mut self, host: HostIndex) {
        let it = &self.hosts[&host];
        let near: BTreeSet<_> = match it.core.kin() {
            Some((_, near)) => near.into_iter().collect(),
            None if it.core.is_current(self.clock(host)) => {
                members(&it.applied).into_iter().map(Member::host).collect()
            }
            None => it.core.voters().into_iter().chain(it.leader).map(Member::host).collect(),
        };
        let before = std::mem::replace(&mut self.get(host).near, near.clone());
        for &other in near.difference(&before) {
            let is_new = !self.links.contains(&ordered_pair((host, other)));
            if other != host && is_new && self.hosts.contains_key(&other) {
                self.link((host, other), true);
            }
        }
        for &other in before.difference(&near) {
            if self.hosts.contains_key(&other) && !self.wants((other, host)) {
                self.link((host, other), false);
            }
        }
    }

    /// The link breaks and comes back; what was under way is lost.
    pub(crate) fn relink(&mut self, way: Direction) {
        self.link(way, false);
        self.link(way, true);
    }

    /// The process of a host is replaced by one that has its records only.
    pub(crate) fn restart(&mut self, host: HostIndex) {
        if self.hosts[&host].gone {
            return;
        }
        self.link_all(host, false);
        let mut core = Core::within(self.limits, self.draw(1 << 40));
        for (key, value) in &self.hosts[&host].records {
            assert!(core.restore(&key.0, &value.0), "a record of its own");
        }
        self.get(host).core = core;
        self.questions.retain(|_, question| question.0 != host);
        if host == FIRST || !self.hosts[&host].applied.is_empty() {
            self.tell_members(host);
        }
        self.link_all(host, true);
    }

    pub(crate) fn clock(&self, host: HostIndex) -> Time {
        let it = &self.hosts[&host];
        // A clock that stands shows what it will when it goes on.
        let stands = if self.clocks_stop { it.stands_until } else { 0 };
        Time(self.now.max(stands) - it.behind)
    }

    pub(crate) fn input(&mut self, host: HostIndex, input: QuorumInput) {
        let now = self.clock(host);
        if !self.hosts[&host].gone {
            self.get(host).core.handle(now, input);
            self.drain(host);
        }
    }

    pub(crate) fn drain(&mut self, host: HostIndex) {
        while let Some(output) = self.get(host).core.poll_output() {
            self.follow(host, output);
        }
        if self.on_demand && !self.hosts[&host].gone {
            self.link_near(host);
        }
    }

    pub(crate) fn follow(&mut self, host: HostIndex, output: QuorumOutput) {
        match output {
            QuorumOutput::Send { host: to, bytes, hasty } => self.send((host, to), bytes, hasty),
            QuorumOutput::Save { key, value: Some(value) } => {
                self.get(host).records.insert(key, value);
            }
            QuorumOutput::Save { key, value: None } => {
                self.get(host).records.remove(&key);
            }
            QuorumOutput::Apply { number, command } => self.apply(host, number, &command.0),
            QuorumOutput::Adopt { state, number } => self.adopt(host, number, &state.0),
            QuorumOutput::StateWanted { to } => self.give_state(host, to),
            QuorumOutput::Leader { term, leader: Some(leader) } => {
                self.get(host).leader = Some(leader);
                let known = *self.leaders.entry(term).or_insert(leader);
                assert_eq!(known, leader, "term {term} has two leaders");
            }
            QuorumOutput::Passed { .. } => {}
            QuorumOutput::Leader { leader: None, .. } => self.get(host).leader = None,
            QuorumOutput::Confirmed { mark } => self.confirmed(host, mark),
            QuorumOutput::Overtaken => panic!("nobody has gone on alone"),
        }
    }

    pub(crate) fn send(&mut self, way: Direction, bytes: Blob, hasty: bool) {
        let slow = self.slow.get(&way).copied().unwrap_or(0) * if hasty { 1 } else { 4 };
        let mut at = self.now + (1 + self.draw(self.latency) + slow) * MS;
        let lost = self.draw(1000) < self.loss || self.deaf.contains(&way);
        let linked = !self.on_demand || self.links.contains(&ordered_pair(way));
        if lost || !linked || !self.hosts.contains_key(&way.1) {
            return;
        }
        if self.loss == 0 {
            let last = self.arrived.entry((way, hasty)).or_default();
            at = at.max(*last);
            *last = at;
        }
        self.sent += 1;
        let made = self.made[&ordered_pair(way)];
        self.queue.insert((at, self.sent), Letter { way, bytes, made });
    }

    pub(crate) fn last(&self, host: HostIndex) -> u64 {
        self.hosts[&host].applied.last().map_or(0, |last| last.0)
    }

    pub(crate) fn all(&self) -> Applied {
        self.ordered.iter().map(|(&number, &command)| (number, command)).collect()
    }

    pub(crate) fn apply(&mut self, host: HostIndex, number: u64, bytes: &[u8]) {
        let command = u64::from_bytes(&bytes[..8]).expect("a command of ours");
        assert!(self.last(host) < number, "{host} applies {number} late");
        self.get(host).applied.push((number, command));
        let known = *self.ordered.entry(number).or_insert(command);
        assert_eq!(known, command, "command {number} at {host}");
        self.know(host, number);
    }

    pub(crate) fn adopt(&mut self, host: HostIndex, number: u64, state: &[u8]) {
        let before = self.last(host);
        assert!(before <= number, "{host} gets {number}, and has {before}");
        self.counts.adopted += u64::from(before > 0);
        self.get(host).applied = Applied::from_bytes(state).expect("a state of ours");
        self.know(host, number);
    }

    /// A host has all commands up to this number.
    pub(crate) fn know(&mut self, host: HostIndex, number: u64) {
        let all = self.ordered.range(..=number).map(|(number, command)| (*number, *command));
        assert_eq!(self.hosts[&host].applied, all.collect::<Vec<_>>(), "{host} at {number}");
        self.tell_members(host);
    }

    pub(crate) fn tell_members(&mut self, host: HostIndex) {
        let (now, members) = (self.clock(host), members(&self.hosts[&host].applied));
        let it = self.get(host);
        it.gone = !members.iter().any(|member| member.host() == host);
        it.core.handle(now, QuorumInput::Members { members });
        it.core.handle(now, NOBODY_NEEDED);
    }

    pub(crate) fn give_state(&mut self, host: HostIndex, to: Member) {
        let (now, number) = (self.clock(host), self.last(host).max(1));
        let state = Blob(self.hosts[&host].applied.to_bytes());
        self.get(host).core.handle(now, QuorumInput::State { to, number, state });
    }

    pub(crate) fn ask(&mut self) {
        let hosts: Vec<_> = self.hosts.keys().copied().collect();
        for host in hosts {
            if self.hosts[&host].stands_until <= self.now && self.draw(2) == 0 {
                self.question_count += 1;
                let (mark, last) = (self.question_count, self.ordered.keys().next_back().copied());
                self.questions.insert(mark, (host, last.unwrap_or(0)));
                self.input(host, QuorumInput::Confirm { mark });
            }
        }
    }

    pub(crate) fn confirmed(&mut self, host: HostIndex, mark: u64) {
        let applied = self.last(host);
        let due = |at: &u64, question: &mut (HostIndex, u64)| *at <= mark && question.0 == host;
        for (_, (_, known)) in self.questions.extract_if(.., due) {
            assert!(known <= applied, "{host} answers from {applied}, {known} was applied before");
            self.counts.answered += 1;
        }
    }

    /// Time passes.
    pub(crate) fn go(&mut self, ms: u64) {
        let end = self.now + ms * MS;
        loop {
            let wanted = |(host, it): (&HostIndex, &Host)| {
                let at = it.core.poll_timeout()?.0 + it.behind;
                (!it.gone).then_some((at.max(it.stands_until), *host))
            };
            let timeout = self.hosts.iter().filter_map(wanted).min();
            let letter = self.queue.first_key_value().map(|(key, _)| key.0);
            let next = timeout.map(|at| at.0).into_iter().chain(letter).min().unwrap_or(end + 1);
            if next > end {
                return self.now = end;
            }
            self.now = self.now.max(next);
            match timeout {
                Some((at, host)) if at <= next => {
                    let now = self.clock(host);
                    self.get(host).core.handle_timeout(now);
                    self.drain(host);
                }
                _ => self.arrive(),
            }
        }
    }

    pub(crate) fn arrive(&mut self) {
        let Some(((_, number), letter)) = self.queue.pop_first() else { return };
        let (host, to) = letter.way;
        let until = self.hosts[&to].stands_until;
        if until > self.now {
            self.queue.insert((until, number), letter);
        } else if self.made[&ordered_pair(letter.way)] == letter.made {
            self.input(to, QuorumInput::Heard { host, bytes: letter.bytes });
        }
    }
}
