//! Enough members for the log to go along a tree: at rest no host has many links or sends much, and
//! committed entries reach all members, whichever of the relays is dead. `PVM_MANY=4095` makes them
//! more.

use pvm_core::Time;
use pvm_core::quorum::{Member, Quorum as _, QuorumInput, QuorumOutput, Voting};
use pvm_quorum::Core;
use pvm_wire::{Blob, HostIndex, Wire as _};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

const MS: u64 = 1_000_000;
const FIRST: HostIndex = HostIndex(1);
const LATENCY: u64 = MS;
/// The command that lets all others in.
const ALL_IN: u64 = 1;
/// Commands from here on take out the host of their number.
const OUT: u64 = 1 << 32;

/// A host: its core, and what it has applied.
struct Host {
    core: Core,
    applied: Vec<(u64, u64)>,
    /// The state of its tree's changes at the last look.
    changes: Option<u64>,
    near: BTreeSet<HostIndex>,
    leader: Option<HostIndex>,
    said: u64,
    /// Timeouts that were due.
    woken: u64,
}

enum Happening {
    Heard { from: HostIndex, bytes: Blob },
    Timeout,
}

struct Net {
    count: u16,
    now: u64,
    hosts: BTreeMap<HostIndex, Host>,
    queue: BinaryHeap<Reverse<(u64, u64, HostIndex)>>,
    happenings: BTreeMap<u64, Happening>,
    number: u64,
    links: BTreeSet<(HostIndex, HostIndex)>,
    /// The number of links that were made.
    made: u64,
    /// Pairs that get no link, even if a host wants one.
    cut: BTreeSet<(HostIndex, HostIndex)>,
}

fn pair(a: HostIndex, b: HostIndex) -> (HostIndex, HostIndex) {
    (a.min(b), a.max(b))
}

impl Net {
    /// `count` members, all of which have joined and are at rest.
    fn at_rest(count: u16) -> Self {
        let mut net = Self::of(count);
        net.begin();
        net
    }

    /// `count` hosts, of which none has joined.
    fn of(count: u16) -> Self {
        let hosts = (1..=count).map(|host| {
            let core = Core::new(u64::from(host));
            let (applied, near) = (Vec::new(), BTreeSet::new());
            let (changes, leader) = (None, None);
            (HostIndex(host), Host { core, applied, changes, near, leader, said: 0, woken: 0 })
        });
        Self {
            count,
            now: MS,
            hosts: hosts.collect(),
            queue: BinaryHeap::new(),
            happenings: BTreeMap::new(),
            number: 0,
            links: BTreeSet::new(),
            made: 0,
            cut: BTreeSet::new(),
        }
    }

    /// All are let in.
    fn begin(&mut self) {
        self.input(FIRST, QuorumInput::Begin { me: Member::new(1, FIRST) });
        self.propose(FIRST, ALL_IN);
        self.go(20_000);
    }

    fn later(&mut self, at: u64, host: HostIndex, happening: Happening) {
        self.number += 1;
        self.queue.push(Reverse((at, self.number, host)));
        self.happenings.insert(self.number, happening);
    }

    fn members(&self, applied: &[(u64, u64)]) -> Vec<Member> {
        let mut members = vec![Member::new(1, FIRST)];
        for &(number, command) in applied {
            if command == ALL_IN {
                members.extend((2..=self.count).map(|host| Member::new(number, HostIndex(host))));
            } else if command >= OUT {
                members.retain(|member| u64::from(member.host().0) != command - OUT);
            }
        }
        members
    }

    fn propose(&mut self, host: HostIndex, command: u64) {
        self.input(host, QuorumInput::Propose { command: Blob(command.to_bytes()), without: None });
    }

    fn input(&mut self, host: HostIndex, input: QuorumInput) {
        let now = Time(self.now);
        let Some(it) = self.hosts.get_mut(&host) else { return };
        it.core.handle(now, input);
        self.drain(host);
    }

    fn tell_members(&mut self, host: HostIndex) {
        let members = self.members(&self.hosts[&host].applied);
        self.input(host, QuorumInput::Members { members });
        self.input(host, QuorumInput::Votes(Voting::With { members: Vec::new(), lease: false }));
    }

    fn drain(&mut self, host: HostIndex) {
        while let Some(output) = self.hosts.get_mut(&host).and_then(|it| it.core.poll_output()) {
            self.follow(host, output);
        }
        self.link_near(host);
        let at = self.hosts.get(&host).and_then(|it| it.core.poll_timeout());
        if let Some(at) = at {
            self.later(at.0.max(self.now), host, Happening::Timeout);
        }
    }

    fn follow(&mut self, host: HostIndex, output: QuorumOutput) {
        let Some(it) = self.hosts.get_mut(&host) else { return };
        match output {
            QuorumOutput::Send { host: to, bytes, .. } if self.links.contains(&pair(host, to)) => {
                it.said += 1;
                self.later(self.now + LATENCY, to, Happening::Heard { from: host, bytes });
            }
            QuorumOutput::Apply { number, command } => {
                let command = u64::from_bytes(&command.0).expect("a command of ours");
                it.applied.push((number, command));
                if command == ALL_IN || command >= OUT {
                    self.tell_members(host);
                }
            }
            QuorumOutput::Adopt { state, .. } => {
                assert!(it.applied.is_empty(), "host {host} has missed what others have");
                it.applied = Vec::from_bytes(&state.0).expect("a state of ours");
                self.tell_members(host);
            }
            QuorumOutput::StateWanted { to } => {
                let number = it.applied.last().map_or(1, |last| last.0);
                let state = Blob(it.applied.to_bytes());
                self.input(host, QuorumInput::State { to, number, state });
            }
            QuorumOutput::Leader { leader, .. } => it.leader = leader.map(Member::host),
            _ => {}
        }
    }

    /// Makes the links that a host wants; a link that no host wants any more goes.
    fn link_near(&mut self, host: HostIndex) {
        let Some(it) = self.hosts.get_mut(&host) else { return };
        let Some((changes, near)) = it.core.kin() else { return };
        if it.changes.replace(changes) == Some(changes) {
            return;
        }
        let near: BTreeSet<_> = near.into_iter().collect();
        let before = std::mem::replace(&mut it.near, near.clone());
        for &other in near.difference(&before) {
            let can = self.hosts.contains_key(&other) && !self.cut.contains(&pair(host, other));
            if can {
                self.link(host, other);
            }
        }
        for &other in before.difference(&near) {
            let wanted = self.hosts.get(&other).is_some_and(|it| it.near.contains(&host));
            if !wanted && self.links.remove(&pair(host, other)) {
                self.input(host, QuorumInput::Linked { host: other, up: false });
                self.input(other, QuorumInput::Linked { host, up: false });
            }
        }
    }

    fn link(&mut self, host: HostIndex, other: HostIndex) {
        if self.links.insert(pair(host, other)) {
            self.made += 1;
            self.input(host, QuorumInput::Linked { host: other, up: true });
            self.input(other, QuorumInput::Linked { host, up: true });
        }
    }

    /// A host is no more.
    fn kill(&mut self, host: HostIndex) {
        self.hosts.remove(&host);
        let ends = |link: &(HostIndex, HostIndex)| link.0 == host || link.1 == host;
        for link in self.links.extract_if(.., ends).collect::<Vec<_>>() {
            let other = if link.0 == host { link.1 } else { link.0 };
            self.input(other, QuorumInput::Linked { host, up: false });
        }
    }

    /// Two hosts hear each other no more.
    fn cut(&mut self, a: HostIndex, b: HostIndex) {
        self.cut.insert(pair(a, b));
        if self.links.remove(&pair(a, b)) {
            self.input(a, QuorumInput::Linked { host: b, up: false });
            self.input(b, QuorumInput::Linked { host: a, up: false });
        }
    }

    /// From now on only the members below a host hear it, and it hears only them. Returns their
    /// number.
    fn keep_below(&mut self, host: HostIndex, above: &BTreeSet<HostIndex>) -> usize {
        let all: Vec<_> = self.hosts.keys().copied().filter(|other| *other != host).collect();
        let near = self.hosts[&host].near.clone();
        let stay = |other: &HostIndex| near.contains(other) && !above.contains(other);
        let (below, others): (Vec<_>, Vec<_>) = all.into_iter().partition(stay);
        others.into_iter().for_each(|other| self.cut(host, other));
        below.len()
    }

    fn go(&mut self, ms: u64) {
        let end = self.now + ms * MS;
        while let Some(&Reverse((at, number, host))) =
            self.queue.peek().filter(|next| next.0.0 <= end)
        {
            self.queue.pop();
            self.now = self.now.max(at);
            let happening = self.happenings.remove(&number).expect("it was noted");
            let Some(it) = self.hosts.get_mut(&host) else { continue };
            match happening {
                Happening::Heard { from, bytes } if self.links.contains(&pair(from, host)) => {
                    self.input(host, QuorumInput::Heard { host: from, bytes });
                }
                Happening::Heard { .. } => {}
                // Only the last one that was noted counts.
                Happening::Timeout if it.core.poll_timeout().is_some_and(|due| due.0 <= at) => {
                    it.woken += 1;
                    it.core.handle_timeout(Time(at));
                    self.drain(host);
                }
                Happening::Timeout => {}
            }
        }
        self.now = end;
    }

    fn leader(&self) -> HostIndex {
        let now = Time(self.now);
        let leads = |(host, it): (&HostIndex, &Host)| it.core.is_current(now).then_some(*host);
        self.hosts.iter().find_map(leads).expect("somebody leads")
    }

    fn voters(&self, host: HostIndex) -> BTreeSet<HostIndex> {
        self.hosts[&host].core.voters().into_iter().map(Member::host).collect()
    }

    /// The number of hosts that take this one for the leader.
    fn led_by(&self, leader: HostIndex) -> usize {
        self.hosts.values().filter(|it| it.leader == Some(leader)).count()
    }

    fn have(&self, command: u64) -> usize {
        let has = |it: &&Host| it.applied.iter().any(|(_, applied)| *applied == command);
        self.hosts.values().filter(has).count()
    }

    /// The most links of a host, and the most that any says in a second.
    fn rest(&mut self) -> (usize, u64) {
        let links = self.most_links();
        self.hosts.values_mut().for_each(|it| it.said = 0);
        self.go(5000);
        let said = self.hosts.values().map(|it| it.said).max().unwrap_or(0) / 5;
        (links, said)
    }

    /// The most links of a host.
    fn most_links(&self) -> usize {
        let mut links = BTreeMap::new();
        for host in self.links.iter().flat_map(|(a, b)| [*a, *b]) {
            *links.entry(host).or_insert(0) += 1;
        }
        links.into_values().max().unwrap_or(0)
    }
}

fn count() -> u16 {
    std::env::var("PVM_MANY").map_or(600, |text| text.parse().expect("a number"))
}

#[test]
fn nobody_of_many_has_many_links_or_says_much_at_rest() {
    let mut net = Net::at_rest(count());
    let (links, said) = net.rest();
    println!("{} members at rest: at most {links} links and {said} frames in a second", net.count);
    // Four more links watch each host, and carry two beats a second each.
    assert!(links <= 36 && said <= 92, "{links} links, {said} frames");
}

/// Most of many members have none below them. Their timers went off at each beat, whether there was
/// anybody to hand it on to or not.
#[test]
fn a_member_with_none_below_it_woke_to_hand_on_nothing() {
    let mut net = Net::at_rest(count().min(300));
    let voters = net.voters(net.leader());
    net.hosts.values_mut().for_each(|it| it.woken = 0);
    net.go(10_000);
    let others = || net.hosts.iter().filter(|(host, _)| !voters.contains(host));
    // One link of the log leads up.
    let (none_below, relays): (Vec<_>, Vec<_>) = others().partition(|(_, it)| it.near.len() == 1);
    let woken = |of: &[(&HostIndex, &Host)]| {
        let all = of.iter().map(|(_, it)| it.woken);
        (all.clone().min().unwrap_or(0), all.max().unwrap_or(0))
    };
    println!("timeouts in 10 s: none below {:?}, others {:?}", woken(&none_below), woken(&relays));
    assert!(none_below.len() > 200 && woken(&none_below).1 <= 10);
    assert!(woken(&relays).0 >= 16, "a relay hands on as often as before");
}

#[test]
fn what_is_ordered_comes_to_all_whoever_hands_it_on_is_dead() {
    let mut net = Net::at_rest(count());
    let leader = net.leader();
    net.propose(leader, 2);
    net.go(100);
    assert_eq!(net.have(2), usize::from(net.count), "a few hops, and no beat is waited for");
    // The relays with the most members below them, except the leader; one of them votes.
    let mut relays: Vec<_> = net.hosts.iter().map(|(host, it)| (it.near.len(), *host)).collect();
    relays.sort_unstable();
    let others = relays.iter().rev().map(|relay| relay.1).filter(|host| *host != leader);
    for host in others.take(3).collect::<Vec<_>>() {
        net.kill(host);
    }
    net.propose(leader, 3);
    net.go(4000);
    assert_eq!(net.have(3), net.hosts.len(), "others speak to those below the dead");
    net.kill(leader);
    net.go(4000);
    let next = net.leader();
    net.propose(next, 4);
    net.go(4000);
    assert_eq!(net.have(4), net.hosts.len());
}

/// A relay hears nothing itself any more, but the members below it hear it. Its messages named no
/// leader and brought nothing new, and these members still did not look for another relay.
#[test]
fn those_below_a_member_that_is_cut_off_from_above_lost_the_leader_with_it() {
    let mut net = Net::at_rest(count().min(300));
    let leader = net.leader();
    let voters: BTreeSet<_> = net.voters(leader);
    let near = |host: &HostIndex| (net.hosts[host].near.len(), *host);
    let relay = net.hosts.keys().filter(|host| !voters.contains(host)).map(near).max();
    let relay = relay.expect("members that do not vote").1;
    assert!(net.keep_below(relay, &voters) > 2, "some are below it");
    net.go(2000);
    net.propose(leader, 2);
    net.go(8000);
    assert_eq!(net.have(2), net.hosts.len() - 1);
    assert_eq!(net.led_by(leader), net.hosts.len() - 1);
    // The same test with the leader, which is a voter.
    assert!(net.keep_below(leader, &voters) > 2, "some are below it");
    net.go(4000);
    let next = net.leader();
    net.propose(next, 3);
    net.go(8000);
    assert_eq!(net.have(3), net.hosts.len() - 2);
    assert_eq!(net.led_by(next), net.hosts.len() - 2);
}

#[test]
fn a_log_of_many_is_cut_when_all_have_it_and_not_before() {
    let mut net = Net::at_rest(count().min(200));
    let leader = net.leader();
    for command in 2..200 {
        net.propose(leader, command);
    }
    net.go(3000);
    let everywhere = |net: &Net| net.hosts[&leader].core.everywhere();
    let last = net.hosts[&leader].applied.last().expect("198 commands").0;
    assert_eq!(everywhere(&net), last);
    let near = &net.hosts[&leader].near;
    let leaf =
        *net.hosts.keys().find(|host| !near.contains(host) && **host != leader).expect("one");
    net.kill(leaf);
    net.propose(leader, 200);
    net.go(3000);
    assert_eq!(everywhere(&net), last, "one may lack it");
    net.propose(leader, OUT + u64::from(leaf.0));
    net.go(3000);
    assert_eq!(everywhere(&net), net.hosts[&leader].applied.last().expect("200 commands").0);
}

/// All members hear from above that there is no leader, and each may ask a voter to send to it.
#[test]
fn where_nobody_leads_all_of_many_called_the_same_voter_at_once() {
    let mut net = Net::at_rest(count());
    let voters: Vec<_> = net.voters(net.leader()).into_iter().collect();
    let (dead, living) = voters.split_at(voters.len() / 2 + 1);
    dead.iter().for_each(|host| net.kill(*host));
    let before = net.made;
    let most = (0..100).map(|_| {
        net.go(100);
        net.most_links()
    });
    let most = most.max().expect("a hundred looks");
    let (made, share) = (net.made - before, usize::from(net.count) / living.len());
    println!("{} members, no leader for 10 s: {made} links made, at most {most}", net.count);
    assert!(most <= share, "{most} of one host");
    assert!(made <= 2 * u64::from(net.count), "{made} made");
}

/// A new host accepts only the members at the time of its start, and calls these. The member above
/// it by now is another one.
#[test]
fn a_new_member_that_does_not_know_whoever_is_above_it_never_got_the_state() {
    for voter in [true, false] {
        let mut net = Net::of(40);
        let last = HostIndex(40);
        net.cut.extend((1..40).map(|host| pair(HostIndex(host), last)));
        net.begin();
        assert_eq!(net.have(ALL_IN), 39);
        let voters = net.voters(net.leader());
        assert!(!net.hosts[&net.leader()].near.contains(&last), "it is below another one");
        let calls = voters.into_iter().find(|host| voter == (*host != net.leader()));
        net.link(calls.expect("nine that vote"), last);
        net.go(2000);
        assert_eq!(net.have(ALL_IN), 40, "by one that leads: {}", !voter);
    }
}
