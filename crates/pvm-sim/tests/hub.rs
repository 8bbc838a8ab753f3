//! Two hosts that do not hear each other, and a third one that hears both and is deleted.

use pvm_core::Rules;
use pvm_sim::World;
use pvm_wire::request::{Reply, Request, Role};
use pvm_wire::{Address, Envelope, HostIndex, Message, Tid};

const MS: u64 = 1_000_000;
/// A host that hears no leader ends after a minute; before that it is asked whether others hear it.
const BOUND_MS: u64 = 75_000;
/// An election each few seconds would be many.
const TERMS_MAX: u64 = 20;

/// A command on a host, and what it was answered.
fn ask(world: &mut World, host: HostIndex, request: Request, ms: u64) -> Option<Reply> {
    let operator = world.connect(host, Role::Operator)?;
    world.run_until(world.now() + 10 * MS);
    world.request(host, operator, request);
    world.run_until(world.now() + ms * MS);
    world.replies.get(&(host, operator)).and_then(|replies| replies.last()).cloned()
}

fn put() -> Request {
    let message = Message::of_ints(Envelope::new(Tid::NONE, Address::untagged(Tid::NONE)), &[1]);
    Request::PutInfo { name: "after".into(), flags: 2, message }
}

/// The first host leads, `deaf` and it do not hear each other, and `hub` hears both.
fn deleted(deaf: HostIndex, hub: HostIndex) {
    let first = HostIndex(1);
    let mut world = World::seeded("vm", 1, Rules::plain());
    ask(&mut world, first, Request::AddLocal { count: 2 }, 20_000);
    let name = world.members(first).remove(&hub).expect("a member");
    world.cut(first, deaf, None);
    let answer = ask(&mut world, first, Request::DelHosts { hosts: vec![name] }, BOUND_MS);
    assert!(matches!(answer, Some(Reply::HostResults { .. })), "{answer:?}");
    let left: Vec<_> = world.nodes.keys().copied().collect();
    assert!(left.len() == 1 && !left.contains(&hub), "{left:?} are left");
    let machine = world.nodes[&left[0]].machine.as_ref().expect("a daemon");
    let (term, _) = machine.leader().expect("a leader");
    assert!(term < TERMS_MAX, "{term} terms");
    let answer = ask(&mut world, left[0], put(), 400);
    assert!(matches!(answer, Some(Reply::Number { .. })), "{answer:?}");
    assert_eq!(world.checks.violation(), None);
}

#[test]
fn a_leader_and_a_host_that_was_to_go_gave_way_to_each_other_without_an_end() {
    deleted(HostIndex(2), HostIndex(3));
    deleted(HostIndex(3), HostIndex(2));
}
