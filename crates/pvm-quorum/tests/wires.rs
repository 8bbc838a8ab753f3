//! Cores that talk over wires with a rate: long messages do not stop the log, and nothing goes over
//! a wire twice.

use pvm_core::Time;
use pvm_core::quorum::{Member, Quorum as _, QuorumInput, QuorumOutput, Voting};
use pvm_quorum::Core;
use pvm_wire::{Blob, HostIndex, Wire as _};
use std::collections::{BTreeMap, VecDeque};

const MS: u64 = 1_000_000;
/// Bytes in a second: 10 Mb/s.
const RATE: u64 = 1_250_000;
const LATENCY: u64 = MS;
const FIRST: HostIndex = HostIndex(1);
const ALL: [HostIndex; 3] = [FIRST, HostIndex(2), HostIndex(3)];
/// One of many parts of something long.
const PART_BYTES: usize = 30 << 10;
/// Commands from here on let a host in.
const JOIN: u64 = 1 << 32;

/// A link carries longer messages in pieces.
const PIECE_BYTES: usize = 64 << 10;

/// One direction between two hosts: urgent messages go before others, once the wire is free.
#[derive(Default)]
struct Line {
    hasty: VecDeque<Blob>,
    bulk: VecDeque<Blob>,
    /// Bytes of the first of them that have gone.
    gone: usize,
    free_at: u64,
    bytes: usize,
    most_waiting: usize,
}

impl Line {
    /// The size of what goes next, and the message that is whole with it.
    fn next_piece(&mut self) -> Option<(usize, Option<Blob>)> {
        if let Some(bytes) = self.hasty.pop_front() {
            return Some((bytes.0.len(), Some(bytes)));
        }
        let left = self.bulk.front()?.0.len() - self.gone;
        let size = left.min(PIECE_BYTES);
        self.gone += size;
        if size < left {
            return Some((size, None));
        }
        self.gone = 0;
        Some((size, self.bulk.pop_front()))
    }
}

struct Net {
    now: u64,
    cores: BTreeMap<HostIndex, Core>,
    records: BTreeMap<HostIndex, BTreeMap<Blob, Blob>>,
    applied: BTreeMap<HostIndex, Vec<(u64, u64)>>,
    lines: BTreeMap<(HostIndex, HostIndex), Line>,
    arrivals: BTreeMap<(u64, u64), (HostIndex, HostIndex, Blob)>,
    count: u64,
    leaders: Vec<(u64, Member)>,
}

fn members(applied: &[(u64, u64)]) -> Vec<Member> {
    let joined = applied.iter().filter(|(_, command)| *command >= JOIN);
    let others =
        joined.map(|&(number, command)| Member::new(number, HostIndex((command - JOIN) as u16)));
    std::iter::once(Member::new(1, FIRST)).chain(others).collect()
}

/// A command of `bytes` bytes that begins with its number.
fn command(number: u64, bytes: usize) -> Blob {
    let mut command = number.to_bytes();
    command.resize(bytes.max(8), 7);
    Blob(command)
}

impl Net {
    /// Three members, of which the first one leads.
    fn new() -> Self {
        let mut net = Self {
            now: 0,
            cores: BTreeMap::new(),
            records: BTreeMap::new(),
            applied: BTreeMap::new(),
            lines: BTreeMap::new(),
            arrivals: BTreeMap::new(),
            count: 0,
            leaders: Vec::new(),
        };
        for host in ALL {
            net.cores.insert(host, Core::new(u64::from(host.0)));
            if host == FIRST {
                net.input(host, QuorumInput::Begin { me: Member::new(1, FIRST) });
                continue;
            }
            for other in ALL.into_iter().filter(|other| *other < host) {
                net.input(host, QuorumInput::Linked { host: other, up: true });
                net.input(other, QuorumInput::Linked { host, up: true });
            }
            net.propose(command(JOIN + u64::from(host.0), 8));
            net.go(2000);
        }
        net
    }

    fn propose(&mut self, command: Blob) {
        self.input(FIRST, QuorumInput::Propose { command, without: None });
    }

    fn input(&mut self, host: HostIndex, input: QuorumInput) {
        let now = Time(self.now);
        self.cores.get_mut(&host).expect("a host").handle(now, input);
        self.drain(host);
    }

    fn drain(&mut self, host: HostIndex) {
        while let Some(output) = self.cores.get_mut(&host).expect("a host").poll_output() {
            self.follow(host, output);
        }
    }

    fn follow(&mut self, host: HostIndex, output: QuorumOutput) {
        let records = self.records.entry(host).or_default();
        let input = match output {
            QuorumOutput::Send { host: to, bytes, hasty } => {
                return self.say(host, to, bytes, hasty);
            }
            QuorumOutput::Save { key, value: Some(value) } => {
                records.insert(key, value);
                return;
            }
            QuorumOutput::Save { key, value: None } => {
                records.remove(&key);
                return;
            }
            QuorumOutput::Apply { number, command } => {
                let applied = self.applied.entry(host).or_default();
                let command = u64::from_bytes(&command.0[..8]).expect("a command of ours");
                applied.push((number, command));
                QuorumInput::Members { members: members(applied) }
            }
            QuorumOutput::Adopt { state, .. } => {
                let applied = Vec::from_bytes(&state.0).expect("a state of ours");
                let members = members(&applied);
                self.applied.insert(host, applied);
                QuorumInput::Members { members }
            }
            QuorumOutput::StateWanted { to } => {
                let applied = self.applied.entry(host).or_default();
                let number = applied.last().map_or(1, |last| last.0);
                QuorumInput::State { to, number, state: Blob(applied.to_bytes()) }
            }
            QuorumOutput::Leader { term, leader: Some(leader) } if host == leader.host() => {
                return self.leaders.push((term, leader));
            }
            QuorumOutput::Leader { .. }
            | QuorumOutput::Passed { .. }
            | QuorumOutput::Confirmed { .. }
            | QuorumOutput::Overtaken => return,
        };
        let now = Time(self.now);
        let told_members = matches!(input, QuorumInput::Members { .. });
        let core = self.cores.get_mut(&host).expect("a host");
        core.handle(now, input);
        if told_members {
            // There is no machine to say which members one of two needs.
            core.handle(
                now,
                QuorumInput::Votes(Voting::With { members: Vec::new(), lease: false }),
            );
        }
    }

    fn say(&mut self, from: HostIndex, to: HostIndex, bytes: Blob, hasty: bool) {
        let line = self.lines.entry((from, to)).or_default();
        line.bytes += bytes.0.len();
        if hasty { &mut line.hasty } else { &mut line.bulk }.push_back(bytes);
        let waiting = line.bulk.iter().map(|bytes| bytes.0.len()).sum();
        line.most_waiting = line.most_waiting.max(waiting);
        self.carry();
    }

    /// Free wires take the next waiting messages.
    fn carry(&mut self) {
        for (&(from, to), line) in &mut self.lines {
            while line.free_at <= self.now
                && let Some((size, whole)) = line.next_piece()
            {
                line.free_at = self.now + (size as u64 + 60) * 1_000_000_000 / RATE;
                if let Some(bytes) = whole {
                    self.count += 1;
                    self.arrivals.insert((line.free_at + LATENCY, self.count), (from, to, bytes));
                }
            }
        }
    }

    fn go(&mut self, ms: u64) {
        let end = self.now + ms * MS;
        loop {
            let timeouts =
                self.cores.iter().filter_map(|(host, core)| Some((core.poll_timeout()?.0, *host)));
            let timeout = timeouts.min();
            let arrival = self.arrivals.first_key_value().map(|(key, _)| key.0);
            let waits = |line: &&Line| !(line.hasty.is_empty() && line.bulk.is_empty());
            let free = self.lines.values().filter(waits).map(|line| line.free_at).min();
            let timed = timeout.map(|timeout| timeout.0);
            let next = [timed, arrival, free].into_iter().flatten().min().unwrap_or(u64::MAX);
            if next > end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            self.carry();
            if arrival == Some(next)
                && let Some((_, (from, to, bytes))) = self.arrivals.pop_first()
            {
                self.input(to, QuorumInput::Heard { host: from, bytes });
            } else if let Some((at, host)) = timeout
                && at <= next
            {
                let now = Time(self.now);
                self.cores.get_mut(&host).expect("a host").handle_timeout(now);
                self.drain(host);
            }
        }
    }

    /// Milliseconds until the first host has applied a command.
    fn until(&mut self, number: u64, most: u64) -> u64 {
        let begin = self.now;
        while self.applied[&FIRST].last().is_none_or(|last| last.1 != number) {
            self.go(10);
            assert!((self.now - begin) / MS < most, "not ordered within {most} ms");
        }
        (self.now - begin) / MS
    }

    fn said(&self) -> usize {
        self.lines.values().map(|line| line.bytes).sum()
    }

    fn kept(&self, host: HostIndex) -> usize {
        self.records[&host].iter().map(|(key, value)| key.0.len() + value.0.len()).sum()
    }
}

#[test]
fn four_megabytes_go_over_a_slow_wire_once_and_nobody_else_is_elected() {
    let mut net = Net::new();
    let (leaders, said) = (net.leaders.len(), net.said());
    let count = (4 << 20) / PART_BYTES as u64;
    for part in 1..=count {
        net.propose(command(part, PART_BYTES));
    }
    let bytes = count as usize * PART_BYTES;
    let time = net.until(count, 60_000);
    assert!(time < bytes as u64 * 1300 / RATE, "{time} ms");
    assert_eq!(net.leaders.len(), leaders, "{:?}", net.leaders);
    net.go(1000);
    assert!(net.said() - said < 2 * bytes * 11 / 10, "{} bytes", net.said() - said);
    for ((from, to), line) in &net.lines {
        assert!(line.most_waiting <= 320 << 10, "{from} to {to}: {}", line.most_waiting);
    }
}

#[test]
fn an_entry_of_any_size_is_said_once_and_nobody_else_is_elected() {
    for bytes in [1 << 20, 4 << 20] {
        let mut net = Net::new();
        let (leaders, said) = (net.leaders.len(), net.said());
        net.propose(command(1, bytes));
        net.until(1, 60_000);
        net.go(1000);
        assert!(net.said() - said < 2 * bytes * 11 / 10, "{} bytes", net.said() - said);
        assert_eq!(net.leaders.len(), leaders, "{:?}", net.leaders);
    }
}

#[test]
fn a_log_of_much_is_cut_as_soon_as_all_have_it() {
    let mut net = Net::new();
    for number in 1..=30 {
        net.propose(command(number, 1 << 20));
        net.until(number, 60_000);
    }
    net.go(3000);
    for host in ALL {
        assert!(net.kept(host) < 1 << 20, "host {host} keeps {} bytes", net.kept(host));
    }
}
