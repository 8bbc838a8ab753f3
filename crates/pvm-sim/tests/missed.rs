//! A host that has missed much begins anew with the leader's state: what waits there for what it
//! has missed, and what it knew that is true no more.

use pvm_core::Rules;
use pvm_core::io::News;
use pvm_sim::{Happening, World};
use pvm_wire::request::{Reply, Request, Role};
use pvm_wire::{Address, Blob, Code, Encoding, Envelope, HostIndex, Message, RunList, Tid};

const MS: u64 = 1_000_000;
const FIRST: HostIndex = HostIndex(1);
const SECOND: HostIndex = HostIndex(2);
const LAGS: HostIndex = HostIndex(3);
/// Three times as much is more than anybody keeps for a host that lags behind.
const PUT_BYTES: usize = 2 << 20;

/// A machine of `count` hosts, and the connection of a task on each.
fn machine(seed: u64, witness: &str, count: u32) -> (World, Vec<u64>) {
    let rules = Rules { witness: witness.into(), ..Rules::plain() };
    let mut world = World::seeded("vm", seed, rules);
    ask(&mut world, FIRST, Request::AddLocal { count: count - 1 });
    go(&mut world, 3000);
    let hosts: Vec<_> = world.nodes.keys().copied().collect();
    let tasks = hosts.into_iter().map(|host| world.connect(host, Role::Task).expect("a host"));
    let tasks = tasks.collect();
    go(&mut world, 500);
    (world, tasks)
}

/// A command of the user on a host.
fn ask(world: &mut World, host: HostIndex, request: Request) {
    let operator = world.connect(host, Role::Operator).expect("a host");
    go(world, 10);
    world.request(host, operator, request);
}

fn go(world: &mut World, ms: u64) {
    world.run_until(world.now() + ms * MS);
}

fn replies(world: &World, host: HostIndex, connection: u64) -> Vec<Reply> {
    world.replies.get(&(host, connection)).cloned().unwrap_or_default()
}

fn leader(world: &World, at: HostIndex) -> Option<HostIndex> {
    let machine = world.nodes.get(&at).and_then(|node| node.machine.as_ref());
    machine.and_then(|machine| machine.leader()).map(|(_, host)| host)
}

/// A host hears nothing from here on.
fn cut(world: &mut World, host: HostIndex) {
    let others: Vec<_> = world.nodes.keys().copied().filter(|other| *other != host).collect();
    others.into_iter().for_each(|other| world.cut(other, host, None));
}

/// It hears the others again.
fn heal(world: &mut World, host: HostIndex) {
    let others: Vec<_> = world.nodes.keys().copied().filter(|other| *other != host).collect();
    for other in others {
        world.later(0, Happening::Heal((other.min(host), other.max(host))));
    }
}

fn put(name: &str, bytes: usize) -> Request {
    let mut envelope = Envelope::new(Tid(0), Address::untagged(Tid(0)));
    envelope.describe(Encoding::Raw, bytes, &RunList::new());
    let message = Message { envelope, body: Blob(vec![7; bytes]) };
    Request::PutInfo { name: name.into(), flags: 0, message }
}

/// A task of a host puts more than is kept for the one that hears nothing, and then that hears the
/// others again.
fn miss(world: &mut World, (host, task): (HostIndex, u64), lags: HostIndex) {
    for count in 0..3 {
        world.request(host, task, put(&format!("long {count}"), PUT_BYTES));
        go(world, 500);
    }
    world.journal = Some(Vec::new());
    heal(world, lags);
    go(world, 5000);
    let said = world.journal.take().expect("it is written");
    assert!(said.iter().any(|line| line.contains("has missed much")), "{said:?}");
}

#[test]
fn who_has_frozen_a_group_on_a_host_that_missed_it_waited_for_ever() {
    let (mut world, tasks) = machine(1, "", 3);
    let all: Vec<_> = world.nodes.keys().copied().zip(tasks).collect();
    for (host, task) in &all {
        world.request(*host, *task, Request::JoinGroup { group: "g".into() });
    }
    go(&mut world, 500);
    let freeze = || Request::FreezeGroup { group: "g".into(), size: 3 };
    world.request(LAGS, all[2].1, freeze());
    go(&mut world, 500);
    cut(&mut world, LAGS);
    for (host, task) in &all[..2] {
        world.request(*host, *task, freeze());
    }
    go(&mut world, 300);
    let frozen = Some(Reply::Number { value: 3 });
    assert_eq!(replies(&world, FIRST, all[0].1).last().cloned(), frozen);
    let before = replies(&world, LAGS, all[2].1);
    miss(&mut world, all[0], LAGS);
    let told = replies(&world, LAGS, all[2].1);
    assert_eq!((told.len(), told.last().cloned()), (before.len() + 1, frozen));
}

/// A host's own join, put and leave were ordered and it heard no more of that: the tasks were told
/// that their host had failed.
#[test]
fn what_came_of_a_host_s_own_commands_was_not_told_to_who_missed_it() {
    let (mut world, tasks) = machine(5, "", 3);
    let joins = world.connect(LAGS, Role::Task).expect("a host");
    let puts = world.connect(LAGS, Role::Task).expect("a host");
    go(&mut world, 500);
    world.request(LAGS, tasks[2], Request::JoinGroup { group: "left".into() });
    go(&mut world, 500);
    assert_eq!(leader(&world, LAGS), Some(FIRST));
    for other in [FIRST, SECOND] {
        world.deafen(other, LAGS, 60_000 * MS);
    }
    world.request(LAGS, tasks[2], Request::LeaveGroup { group: "left".into() });
    world.request(LAGS, joins, Request::JoinGroup { group: "g".into() });
    world.request(LAGS, puts, put("mine", 8));
    go(&mut world, 300);
    cut(&mut world, LAGS);
    let before = [tasks[2], joins, puts].map(|task| replies(&world, LAGS, task).len());
    miss(&mut world, (FIRST, tasks[0]), LAGS);
    let told = [tasks[2], joins, puts].map(|task| replies(&world, LAGS, task));
    assert_eq!(told.each_ref().map(Vec::len), before.map(|count| count + 1));
    let number = || Some(Reply::Number { value: 0 });
    assert_eq!(told.map(|told| told.last().cloned()), [Some(Reply::Done), number(), number()]);
}

/// Nobody led when a task took a message; it was told that this failed, and the next leader had it
/// taken.
#[test]
fn what_a_task_took_in_vain_was_taken_later() {
    let (mut world, tasks) = machine(6, "", 3);
    world.request(LAGS, tasks[2], put("kept", 8));
    go(&mut world, 500);
    [FIRST, SECOND].into_iter().for_each(|host| cut(&mut world, host));
    go(&mut world, 4000);
    assert_eq!(leader(&world, LAGS), None);
    let take = Request::RecvInfo { name: "kept".into(), index: 0, flags: 16, context: 0 };
    world.request(LAGS, tasks[2], take);
    go(&mut world, 31_000);
    let failed = Reply::Failed { code: Code::HostFail };
    assert_eq!(replies(&world, LAGS, tasks[2]).last().cloned(), Some(failed));
    [FIRST, SECOND].into_iter().for_each(|host| heal(&mut world, host));
    go(&mut world, 8000);
    let read = Request::RecvInfo { name: "kept".into(), index: 0, flags: 0, context: 0 };
    world.request(FIRST, tasks[0], read);
    go(&mut world, 1000);
    let last = replies(&world, FIRST, tasks[0]).last().cloned();
    assert!(matches!(last, Some(Reply::Info { .. })), "{last:?}");
}

#[test]
fn a_drained_host_that_missed_that_it_was_taken_back_took_no_task_any_more() {
    let (mut world, tasks) = machine(2, "", 3);
    ask(&mut world, FIRST, Request::DrainHosts { hosts: vec!["vm.3".into()] });
    go(&mut world, 500);
    cut(&mut world, LAGS);
    let pid = world.nodes[&LAGS].connections[&tasks[2]];
    world.end_process(LAGS, pid, 0);
    go(&mut world, 200);
    ask(&mut world, FIRST, Request::AddHosts { hosts: vec!["vm.3".into()] });
    go(&mut world, 200);
    miss(&mut world, (FIRST, tasks[0]), LAGS);
    assert!(world.nodes.contains_key(&LAGS), "it stays");
    let task = world.connect(LAGS, Role::Task).expect("it lives");
    go(&mut world, 1000);
    assert_eq!(replies(&world, LAGS, task), [], "it is refused");
    assert!(world.nodes[&LAGS].tasks().any(|(connection, _)| connection == task));
}

/// The second host takes the first one for dead and asks the witness, and hears it again `ms`
/// milliseconds later: neither goes on alone, and the lock is the second one's.
fn doubt(world: &mut World, ms: u64) {
    world.later(0, Happening::News(SECOND, News::HostDead { host: FIRST }));
    go(world, ms);
    world.cut(FIRST, SECOND, Some(MS));
    go(world, 10);
}

/// Another host leads, by an election, until it is this one.
fn elect(world: &mut World, wanted: HostIndex) {
    for _ in 0..20 {
        match leader(world, wanted) {
            Some(host) if host == wanted => return,
            Some(host) => world.pause(host, 2500 * MS),
            None => {}
        }
        go(world, 6000);
    }
    panic!("host {wanted} is never elected");
}

/// The third one of three hosts goes, and the second one leads. Cut off from the first one it
/// orders nothing, as that one may have the lock of the present witness.
fn assert_waits_for_the_witness(world: &mut World) {
    elect(world, SECOND);
    ask(world, SECOND, Request::DelHosts { hosts: vec!["vm.3".into()] });
    go(world, 4000);
    assert_eq!(leader(world, FIRST), Some(SECOND));
    let task = world.connect(SECOND, Role::Task).expect("a host");
    go(world, 500);
    world.request(SECOND, task, put("short", 8));
    go(world, 500);
    assert_eq!(replies(world, SECOND, task).len(), 1, "both are there");
    cut(world, SECOND);
    world.request(SECOND, task, put("shorter", 4));
    go(world, 4000);
    assert_eq!(replies(world, SECOND, task).len(), 1, "it asks nobody");
}

#[test]
fn the_lock_of_an_earlier_witness_counted_where_its_change_was_missed() {
    let (mut world, tasks) = machine(3, "one", 2);
    doubt(&mut world, 150);
    go(&mut world, 3000);
    ask(&mut world, FIRST, Request::AddLocal { count: 1 });
    go(&mut world, 4000);
    cut(&mut world, SECOND);
    go(&mut world, 3000);
    ask(&mut world, FIRST, Request::KnowHosts { lines: vec!["* witness=two".into()] });
    go(&mut world, 300);
    miss(&mut world, (FIRST, tasks[0]), SECOND);
    assert_waits_for_the_witness(&mut world);
}

#[test]
fn what_an_earlier_witness_answered_late_counted_for_the_present_one() {
    let (mut world, _) = machine(4, "one", 2);
    doubt(&mut world, 1);
    ask(&mut world, FIRST, Request::KnowHosts { lines: vec!["* witness=two".into()] });
    go(&mut world, 3000);
    ask(&mut world, FIRST, Request::AddLocal { count: 1 });
    go(&mut world, 4000);
    assert_waits_for_the_witness(&mut world);
}

/// The leader joined while this host heard nothing, so this host neither knows nor hears it. The
/// leader, which does not hear this host, learns from others that they do, and gives way to one of
/// them.
#[test]
fn a_host_that_does_not_know_the_leader_finds_back() {
    let mut met = 0;
    for seed in 0..8 {
        let (mut world, _) = machine(100 + seed, "", 3);
        cut(&mut world, LAGS);
        ask(&mut world, SECOND, Request::AddLocal { count: 1 });
        go(&mut world, 2200);
        world.kill(leader(&world, SECOND).expect("somebody leads"));
        go(&mut world, 1200);
        heal(&mut world, LAGS);
        met += u32::from(leader(&world, SECOND) == Some(HostIndex(4)));
        go(&mut world, 20_000);
        let known = leader(&world, LAGS);
        assert!(known.is_some() && known == leader(&world, SECOND), "seed {seed}: {known:?}");
        assert_eq!(world.members(LAGS), world.members(SECOND), "seed {seed}");
    }
    assert!(met > 1, "the one that was let in led {met} times");
}

/// The state that a host begins anew with stood behind the first entry of a term, so its number was
/// larger than that of the last command. When that host led, it answered with that number, and the
/// others, which had no command to come there by, kept each question until the next command.
#[test]
fn a_leader_that_came_with_the_state_left_questions_of_other_hosts_unanswered() {
    let (mut world, tasks) = machine(7, "", 4);
    assert_eq!(leader(&world, LAGS), Some(FIRST));
    cut(&mut world, LAGS);
    for count in 0..3 {
        world.request(FIRST, tasks[0], put(&format!("long {count}"), PUT_BYTES));
        go(&mut world, 300);
    }
    world.pause(FIRST, 2000 * MS);
    go(&mut world, 2200);
    assert_ne!(leader(&world, SECOND), Some(FIRST));
    heal(&mut world, LAGS);
    go(&mut world, 9000);
    while leader(&world, FIRST) != Some(LAGS) {
        let leads = leader(&world, FIRST).expect("somebody leads");
        world.pause(leads, 2500 * MS);
        go(&mut world, 9000);
    }
    for host in [1, 2, 4].map(HostIndex) {
        let operator = world.connect(host, Role::Operator).expect("a host");
        go(&mut world, 100);
        world.request(host, operator, Request::Config);
        go(&mut world, 3000);
        let last = replies(&world, host, operator).pop();
        assert!(matches!(last, Some(Reply::Hosts { .. })), "{last:?} at host {host}");
    }
    assert_eq!(world.checks.violation(), None);
}
