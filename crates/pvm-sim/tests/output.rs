//! Output for a task of a host that hears nothing: the host stops reading it.

use pvm_core::Rules;
use pvm_core::io::Event;
use pvm_sim::random::spawn_of;
use pvm_sim::{Happening, World};
use pvm_wire::request::{Request, Role};
use pvm_wire::{HostIndex, Tid};

const MS: u64 = 1_000_000;
const FIRST: HostIndex = HostIndex(1);
const SECOND: HostIndex = HostIndex(2);
/// `PvmTaskHost`.
const TASK_HOST: i32 = 1;
const PIECE: usize = 64 << 10;

/// Two hosts, with a task on the second one that was spawned from the first.
fn spawned(seed: u64) -> (World, Tid) {
    let mut world = World::seeded("vm", seed, Rules::plain());
    let operator = world.connect(FIRST, Role::Operator).expect("a host");
    world.run_until(10 * MS);
    world.request(FIRST, operator, Request::AddLocal { count: 1 });
    world.run_until(3000 * MS);
    let parent = world.connect(FIRST, Role::Task).expect("a host");
    world.run_until(3100 * MS);
    let tid = world.nodes[&FIRST].tasks().next().expect("a task").1;
    let spawn = spawn_of("worker", 1, TASK_HOST, "vm.2", tid);
    world.request(FIRST, parent, Request::Spawn { spawn });
    world.run_until(3500 * MS);
    let child = world.nodes[&SECOND].tasks().next().expect("it was spawned").1;
    (world, child)
}

fn write(world: &mut World, tid: Tid, bytes: usize) {
    for _ in 0..bytes.div_ceil(PIECE) {
        let event = Event::Wrote { tid, stream: 1, bytes: vec![b'y'; PIECE].into() };
        world.later(0, Happening::Event(SECOND, event));
        world.run_until(world.now() + MS);
    }
}

fn is_said(world: &World, line: &str) -> bool {
    world.journal.iter().flatten().any(|said| said.starts_with(&format!("2: {line}")))
}

#[test]
fn who_writes_for_a_host_that_hears_nothing_waits_until_it_hears_again() {
    let (mut world, child) = spawned(1);
    world.journal = Some(Vec::new());
    world.cut(FIRST, SECOND, None);
    write(&mut world, child, 4 << 20);
    assert!(!is_said(&world, "read no more of"), "so much may wait");
    write(&mut world, child, PIECE);
    assert!(is_said(&world, &format!("read no more of {child}")));
    world.later(0, Happening::Heal((FIRST, SECOND)));
    world.run_until(world.now() + 1000 * MS);
    assert!(is_said(&world, &format!("read {child} again")));
}

#[test]
fn who_was_held_by_the_last_daemon_is_held_by_the_next_one() {
    let (mut world, child) = spawned(2);
    world.cut(FIRST, SECOND, None);
    write(&mut world, child, (4 << 20) + PIECE);
    world.crash(SECOND);
    world.run_until(world.now() + 200 * MS);
    world.journal = Some(Vec::new());
    write(&mut world, child, PIECE);
    assert!(is_said(&world, &format!("read no more of {child}")));
}
