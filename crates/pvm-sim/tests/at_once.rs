//! Several hosts that are killed at the same moment: the larger part goes on, and a part that
//! cannot go on says so.

use pvm_core::Rules;
use pvm_sim::World;
use pvm_sim::random::Random;
use pvm_wire::request::{Reply, Request, Role};
use pvm_wire::{Address, Envelope, HostIndex, Message, Tid};

const MS: u64 = 1_000_000;
const FIRST: HostIndex = HostIndex(1);
/// A silent host is given up after 5 s here; what follows from that takes less than one more.
const TOLD_MS: u64 = 6000;

/// A machine of `count` hosts, with as many voters as there should be.
fn machine(count: u32, seed: u64) -> World {
    let mut world = World::seeded("vm", seed, Rules::plain());
    let operator = world.connect(FIRST, Role::Operator).expect("a host");
    world.run_until(10 * MS);
    world.request(FIRST, operator, Request::AddLocal { count: count - 1 });
    world.run_until(20_000 * MS);
    let answered = world.replies.get(&(FIRST, operator)).and_then(|replies| replies.last());
    assert!(matches!(answered, Some(Reply::HostResults { .. })), "{answered:?}");
    world
}

fn hosts(world: &World) -> Vec<HostIndex> {
    world.nodes.keys().copied().collect()
}

/// Kills `count` random hosts at once.
fn kill(world: &mut World, count: usize, random: &mut Random) {
    for _ in 0..count {
        let host = random.pick(&hosts(world)).expect("a host");
        world.kill(host);
    }
}

/// A command on each host asks; true where all were answered with what is wanted.
fn all_answer(world: &mut World, request: &Request, ms: u64, is: fn(&Reply) -> bool) -> bool {
    let all = hosts(world);
    let mut asked = Vec::new();
    for host in all {
        let operator = world.connect(host, Role::Operator).expect("a host");
        world.run_until(world.now() + 10 * MS);
        world.request(host, operator, request.clone());
        asked.push((host, operator));
    }
    world.run_until(world.now() + ms * MS);
    let answer = |key| world.replies.get(key).and_then(|replies| replies.last());
    asked.iter().all(|key| answer(key).is_some_and(is))
}

fn put(name: &str) -> Request {
    let message = Message::of_ints(Envelope::new(Tid::NONE, Address::untagged(Tid::NONE)), &[1]);
    // Each has an entry of its own.
    Request::PutInfo { name: name.into(), flags: 2, message }
}

fn outlives(count: u32, deaths: usize, seeds: u64) {
    for seed in 0..seeds {
        let mut world = machine(count, seed);
        kill(&mut world, deaths, &mut Random::new(seed ^ 0xdead));
        world.run_until(world.now() + TOLD_MS * MS);
        let left = hosts(&world);
        for &host in &left {
            let known: Vec<_> = world.members(host).into_keys().collect();
            assert_eq!(known, left, "{count} hosts, seed {seed}: host {host} after {TOLD_MS} ms");
        }
        let is_put = |reply: &Reply| matches!(reply, Reply::Number { .. });
        assert!(
            all_answer(&mut world, &put("after"), 500, is_put),
            "{count} hosts, seed {seed}: nothing is put"
        );
        assert_eq!(world.checks.violation(), None);
    }
}

#[test]
fn any_two_of_five_to_eight_hosts_may_die_at_once() {
    for count in 5..=8 {
        outlives(count, 2, 12);
    }
}

#[test]
fn any_four_of_thirteen_and_more_hosts_may_die_at_once() {
    outlives(13, 4, 6);
    outlives(15, 4, 12);
}

#[test]
fn a_part_that_cannot_go_on_says_so_within_six_seconds() {
    for seed in 0..6 {
        let mut world = machine(7, seed);
        world.journal = Some(Vec::new());
        kill(&mut world, 5, &mut Random::new(seed ^ 0xdead));
        world.run_until(world.now() + TOLD_MS * MS);
        let left = hosts(&world);
        let journal = world.journal.take().unwrap_or_default();
        for host in left {
            let said = format!("{host}: log: no leader: of the 5 hosts that vote");
            assert!(journal.iter().any(|line| line.starts_with(&said)), "seed {seed}: {host}");
        }
        let shown = |reply: &Reply| matches!(reply, Reply::Hosts { hosts } if hosts.len() == 7);
        assert!(all_answer(&mut world, &Request::Config, 50, shown), "seed {seed}: no list");
        let told =
            |reply: &Reply| matches!(reply, Reply::Status { status } if !status.order.is_empty());
        assert!(all_answer(&mut world, &Request::DaemonStatus, 50, told), "seed {seed}");
    }
}

/// Two of three hosts were to be taken out, and each led in turn: it handed the lead to the other
/// one before that one's command had come, for ever.
#[test]
fn two_hosts_that_left_at_once_handed_the_lead_to_each_other_for_ever() {
    for seed in 0..20 {
        let mut world = machine(3, seed);
        let both = [FIRST, HostIndex(2)];
        let operators = both.map(|host| world.connect(host, Role::Operator).expect("a host"));
        world.run_until(world.now() + 10 * MS);
        for (host, operator) in both.into_iter().zip(operators) {
            world.request(host, operator, Request::DelHosts { hosts: vec![".".into()] });
        }
        world.run_until(world.now() + 20_000 * MS);
        assert_eq!(hosts(&world), [HostIndex(3)], "seed {seed}");
    }
}
