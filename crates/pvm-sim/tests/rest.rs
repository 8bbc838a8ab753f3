//! Hosts whose links rest: what is said to them, and to all, comes there nevertheless.

use pvm_core::Rules;
use pvm_core::io::News;
use pvm_quorum::Limits;
use pvm_sim::{Crash, Happening, World};
use pvm_wire::HostIndex;
use pvm_wire::peer::{PeerMessage, Said};
use pvm_wire::request::{Reply, Request, Role};

const MS: u64 = 1_000_000;
const FIRST: HostIndex = HostIndex(1);

/// Hosts at rest, and two of them that have no link: neither leads.
fn at_rest(count: u32) -> (World, (HostIndex, HostIndex)) {
    let mut world = World::seeded("vm", 1, Rules::plain());
    let operator = world.connect(FIRST, Role::Operator).expect("a host");
    world.run_until(world.now() + 10 * MS);
    world.request(FIRST, operator, Request::AddLocal { count: count - 1 });
    world.run_until(world.now() + 60_000 * MS);
    assert_eq!(world.fewest_members(), count as usize);
    let hosts: Vec<_> = world.nodes.keys().copied().collect();
    let leader = world.nodes[&FIRST].machine.as_ref().and_then(|m| m.leader()).expect("a leader").1;
    let apart = |a: &HostIndex, b: &HostIndex| {
        a != b && *a != leader && *b != leader && world.links.made(*a, *b).is_none()
    };
    let pairs = hosts.iter().flat_map(|a| hosts.iter().map(move |b| (*a, *b)));
    let pair = pairs.rev().find(|(a, b)| apart(a, b)).expect("two that rest");
    (world, pair)
}

#[test]
fn a_halt_was_not_told_to_hosts_whose_links_rest() {
    let (mut world, (asked, _)) = at_rest(16);
    let operator = world.connect(asked, Role::Operator).expect("a host");
    world.run_until(world.now() + 10 * MS);
    world.request(asked, operator, Request::Halt);
    world.run_until(world.now() + 2000 * MS);
    let left: Vec<_> = world.nodes.keys().copied().collect();
    assert!(left.is_empty(), "{left:?} run on");
    assert_eq!(world.checks.violation(), None);
}

/// Hosts of which the first is asked to halt the machine, when `before` has happened to it; those
/// that are left after the time in which links are made again.
fn left_after_a_halt(count: u32, before: impl Fn(&mut World)) -> Vec<HostIndex> {
    let mut world = World::seeded("vm", 1, Rules::plain());
    gather(&mut world, count);
    let operator = world.connect(FIRST, Role::Operator).expect("a host");
    world.run_until(world.now() + 10 * MS);
    before(&mut world);
    world.request(FIRST, operator, Request::Halt);
    world.run_until(world.now() + 6000 * MS);
    assert_eq!(world.checks.violation(), None);
    world.nodes.keys().copied().collect()
}

#[test]
fn a_host_whose_daemon_was_just_started_again_told_nobody_of_the_halt() {
    for count in [2, 3, 5, 16] {
        assert_eq!(left_after_a_halt(count, |world| world.crash(FIRST)), [], "of {count} hosts");
    }
}

#[test]
fn a_halt_that_was_answered_was_forgotten_when_the_daemon_crashed() {
    for crash in [Crash::BeforeEffects, Crash::BeforeActs] {
        let left = left_after_a_halt(3, |world| {
            world.crash_next.insert(FIRST, crash);
        });
        assert_eq!(left, [], "{crash:?}");
    }
}

#[test]
fn hosts_whose_links_had_just_broken_were_not_told_of_the_halt() {
    let cut = |world: &mut World| {
        for other in [2, 3] {
            world.cut(FIRST, HostIndex(other), Some(500 * MS));
        }
        world.run_until(world.now() + 100 * MS);
    };
    assert_eq!(left_after_a_halt(3, cut), []);
}

#[test]
fn a_dead_host_holds_up_no_halt() {
    let left = left_after_a_halt(3, |world| {
        world.kill(HostIndex(3));
        world.run_until(world.now() + 100 * MS);
    });
    assert_eq!(left, []);
}

#[test]
fn what_two_hosts_say_whose_link_rests_arrives() {
    let (world, pair) = at_rest(16);
    said(world, pair);
}

#[test]
fn a_host_that_nobody_can_call_is_asked_to_call() {
    let (mut world, (asked, other)) = at_rest(16);
    world.uncallable.insert(other);
    said(world, (asked, other));
}

#[test]
fn where_the_leader_has_no_link_to_it_a_host_that_nobody_can_call_is_asked_to_call() {
    let (mut world, (asked, other)) = at_rest(40);
    world.uncallable.insert(other);
    said(world, (asked, other));
}

/// Gathers `count` hosts at rest, and writes their messages down.
fn gather(world: &mut World, count: u32) {
    world.journal = Some(Vec::new());
    let operator = world.connect(FIRST, Role::Operator).expect("a host");
    world.run_until(world.now() + 10 * MS);
    world.request(FIRST, operator, Request::AddLocal { count: count - 1 });
    world.run_until(world.now() + 20_000 * MS);
    assert_eq!(world.fewest_members(), count as usize);
}

/// The last number that follows `words` in what was said, and in a line with `besides`.
fn last_number(world: &World, words: &str, besides: &str) -> Option<u64> {
    let lines = world.journal.iter().flatten().rev();
    let mut found = lines.filter(|line| line.contains(besides)).filter_map(|line| {
        let rest = line.split_once(words)?.1;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    });
    found.next()
}

/// Lets a lying member send its next message, as the leader hears it.
fn lie(world: &mut World, liar: HostIndex, after: u64, said: Said) {
    let spoken = format!("{liar} -> 1: #");
    let sequence = last_number(world, &spoken, "").expect("it has said something") + after;
    let news = News::Said { host: liar, message: PeerMessage::Ordered { sequence, said } };
    world.later(0, Happening::News(FIRST, news));
    world.run_until(world.now() + 5 * MS);
}

/// The daemon of a host is started again, and another one calls it silent just then. It is in
/// still?
fn outlives(world: &mut World, victim: HostIndex, liar: HostIndex) -> bool {
    world.crash(victim);
    world.run_until(world.now() + 5 * MS);
    lie(world, liar, 1, Said::Silent { host: victim });
    // What it says itself has the number of its lie, and is not heard: it lies on.
    if let Some(ask) = last_number(world, "ask ", &format!("1 -> {liar}: ")) {
        lie(world, liar, 1, Said::Answer { ask, reply: Reply::Heard { heard: false, unheard: 0 } });
    }
    world.run_until(world.now() + 5000 * MS);
    world.members(FIRST).contains_key(&victim)
}

#[test]
fn a_member_that_called_others_silent_had_each_taken_out_whose_daemon_was_started_again() {
    let mut world = World::seeded("vm", 1, Rules::plain());
    gather(&mut world, 5);
    assert!(
        outlives(&mut world, HostIndex(4), HostIndex(2)),
        "it was away for a tenth of a second"
    );
}

/// The leader has no link to the host, and all that it asks have just lost theirs.
#[test]
fn along_a_tree_such_a_member_had_each_taken_out_that_is_not_near_to_the_leader() {
    let limits = Limits { star_count: 3, tree_width: 1, failures_max: 1, ..Limits::USUAL };
    let mut met = 0;
    for (count, victim, liar) in lies() {
        let mut world = World::within(limits, "vm", 1, Rules::plain(), 0);
        gather(&mut world, count);
        let near = world.links.made(FIRST, victim).is_some();
        if !near && last_number(&world, &format!("{liar} -> 1: #"), "").is_some() {
            met += 1;
            assert!(outlives(&mut world, victim, liar), "of {count} hosts {victim}, by {liar}");
        }
    }
    assert!(met > 20, "{met} times");
}

/// Along a tree the leader hears of it from the hosts that watch this one, calls it, and asks
/// others. All of that has to be done between the silence that is noticed (here after 5 s, in a
/// daemon after 3.75 s) and five seconds.
#[test]
fn along_a_tree_a_silent_host_is_told_of_in_time() {
    let mut slowest = 0;
    for (seed, count) in (1..7).map(|seed| (seed, 33 + 3 * u32::try_from(seed).unwrap_or(0))) {
        let mut world = World::seeded("vm", seed, Rules::plain());
        gather(&mut world, count);
        let rests =
            |host: &&HostIndex| **host != FIRST && world.links.made(FIRST, **host).is_none();
        let victim = *world.nodes.keys().rev().find(rests).expect("one that rests");
        world.kill(victim);
        let silent_at = world.now() + 5000 * MS;
        while world.nodes.keys().any(|host| world.members(*host).contains_key(&victim)) {
            world.run_until(world.now() + 10 * MS);
            assert!(world.now() < silent_at + 10_000 * MS, "seed {seed}: {victim} is never missed");
        }
        slowest = slowest.max(world.now().saturating_sub(silent_at) / MS);
    }
    println!("taken out {slowest} ms after it was found silent");
    assert!(slowest <= 1250, "{slowest} ms");
}

/// Sizes of machines, each with a host that is away for a moment and another one that lies.
fn lies() -> impl Iterator<Item = (u32, HostIndex, HostIndex)> {
    let pairs = |count: u32| {
        let hosts = move || (2..=u16::try_from(count).unwrap_or(2)).map(HostIndex);
        hosts().flat_map(move |victim| hosts().map(move |liar| (count, victim, liar)))
    };
    (8..12).flat_map(pairs).filter(|(_, victim, liar)| victim != liar)
}

/// A command on one of them asks about a task on the other one.
fn said(mut world: World, (asked, other): (HostIndex, HostIndex)) {
    let task = world.connect(other, Role::Task).expect("a host");
    world.run_until(world.now() + 100 * MS);
    let (_, tid) = world.nodes[&other].tasks().find(|(c, _)| *c == task).expect("enrolled");
    assert!(world.links.made(asked, other).is_none(), "it rests");
    let operator = world.connect(asked, Role::Operator).expect("a host");
    world.run_until(world.now() + 10 * MS);
    world.request(asked, operator, Request::TaskStatus { tid });
    world.run_until(world.now() + 1000 * MS);
    let answer = world.replies.get(&(asked, operator)).and_then(|all| all.last()).cloned();
    assert!(matches!(answer, Some(Reply::Done)), "{answer:?}");
    assert!(world.links.made(asked, other).is_some());
    world.run_until(world.now() + 10_000 * MS);
    assert!(world.links.made(asked, other).is_none(), "it rests again");
    assert_eq!(world.checks.violation(), None);
}
