//! A request to freeze a group just when it is being frozen.

use pvm_core::Rules;
use pvm_sim::World;
use pvm_wire::request::{Reply, Request, Role};
use pvm_wire::{Code, HostIndex};

const MS: u64 = 1_000_000;
const FIRST: HostIndex = HostIndex(1);

#[test]
fn who_came_while_a_group_was_being_frozen_waited_for_ever() {
    let mut world = World::seeded("vm", 1, Rules::plain());
    let operator = world.connect(FIRST, Role::Operator).expect("a host");
    world.run_until(10 * MS);
    world.request(FIRST, operator, Request::AddLocal { count: 2 });
    world.run_until(3000 * MS);
    let tasks = [0; 3].map(|_| world.connect(FIRST, Role::Task).expect("a host"));
    world.run_until(3500 * MS);
    for task in tasks {
        world.request(FIRST, task, Request::JoinGroup { group: "g".into() });
    }
    world.run_until(4000 * MS);
    // The first two are ordered among the hosts while the third one asks.
    for task in tasks {
        world.request(FIRST, task, Request::FreezeGroup { group: "g".into(), size: 2 });
    }
    world.run_until(5000 * MS);
    let told = tasks.map(|task| world.replies[&(FIRST, task)].last().cloned());
    let (frozen, late) = (Reply::Number { value: 2 }, Reply::Failed { code: Code::DupGroup });
    assert_eq!(told, [Some(frozen.clone()), Some(frozen), Some(late)]);
}
