//! Hosts whose links rest: what is said to them, and to all, comes there nevertheless.

use pvm_core::Rules;
use pvm_core::io::News;
use pvm_sim::{Happening, World};
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

/// The last number that follows `words` in what was said, and in a line with `besides`.
fn last_number(world: &World, words: &str, besides: &str) -> Option<u64> {
    let lines = world.journal.iter().flatten().rev();
    let mut found = lines.filter(|line| line.contains(besides)).filter_map(|line| {
        let rest = line.split_once(words)?.1;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    });
    found.next()
}

#[test]
fn a_member_that_called_others_silent_had_each_taken_out_whose_daemon_was_started_again() {
    let mut world = World::seeded("vm", 1, Rules::plain());
    world.journal = Some(Vec::new());
    let operator = world.connect(FIRST, Role::Operator).expect("a host");
    world.run_until(world.now() + 10 * MS);
    world.request(FIRST, operator, Request::AddLocal { count: 4 });
    world.run_until(world.now() + 20_000 * MS);
    let (liar, victim) = (HostIndex(2), HostIndex(4));
    let lie = |world: &mut World, after, said| {
        let sequence = last_number(world, "2 -> 1: #", "").expect("it has said something") + after;
        let news = News::Said { host: liar, message: PeerMessage::Ordered { sequence, said } };
        world.later(0, Happening::News(FIRST, news));
        world.run_until(world.now() + 5 * MS);
    };
    world.crash(victim);
    world.run_until(world.now() + 5 * MS);
    lie(&mut world, 1, Said::Silent { host: victim });
    // What it says itself has the number of its lie, and is not heard: it lies on.
    if let Some(ask) = last_number(&world, "ask ", "1 -> 2: ") {
        lie(&mut world, 1, Said::Answer { ask, reply: Reply::Heard { heard: false, unheard: 0 } });
    }
    world.run_until(world.now() + 5000 * MS);
    assert!(world.members(FIRST).contains_key(&victim), "it was away for a tenth of a second");
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
