//! A question that is given up is answered at once, and has no effect later.

#[path = "support/config.rs"]
mod config;

use config::{config, setup};
use pvm_core::io::{Effect, Event, HostFacts, Input, Output};
use pvm_core::{Config, Machine, Time};
use pvm_wire::request::{Inherited, Reply, Request, Role, SpawnRequest, Target, TraceOptions};
use pvm_wire::{Address, Blob, Code, Envelope, HostIndex, Message, Tid};
use std::collections::BTreeMap;

const WAIT: i32 = 32;
const TAKE: i32 = 16;

/// A machine of one host, with what its parent keeps.
struct Host {
    machine: Machine,
    records: BTreeMap<Blob, Blob>,
}

fn one_host() -> Config {
    let facts = HostFacts { name: "vm".into(), cores: 2, speed: 1000, ..HostFacts::default() };
    config(HostIndex(1), facts)
}

impl Host {
    /// With a task on each connection from 1 to `tasks`, all in the group `g`.
    fn new(tasks: u64) -> Self {
        let machine = Machine::new(one_host(), setup());
        let mut host = Self { machine, records: BTreeMap::new() };
        host.drain();
        for connection in 1..=tasks {
            let program = "p".into();
            let (role, pid, launched) = (Role::Task, 10, None);
            let hello =
                Event::Hello { connection, id: 1, role, program, reset: true, pid, launched };
            host.give(hello);
            host.ask(connection, 2, Request::JoinGroup { group: "g".into() });
        }
        host
    }

    fn drain(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        while let Some(output) = self.machine.poll_output() {
            match output {
                Output::Effect(Effect::Save { key, value: Some(value) }) => {
                    self.records.insert(key, value);
                }
                Output::Effect(Effect::Save { key, value: None }) => {
                    self.records.remove(&key);
                }
                Output::Effect(effect) => effects.push(effect),
                Output::Act(_) => {}
            }
        }
        effects
    }

    fn give(&mut self, event: Event) -> Vec<Effect> {
        self.machine.handle(Time(1_000_000), Input::Event(event));
        self.drain()
    }

    /// Asks; the answers that came at once, by connection and number.
    fn ask(&mut self, connection: u64, id: u32, request: Request) -> Vec<(u64, u32, Reply)> {
        let effects = self.give(Event::Asked { connection, id, request });
        let answers = effects.into_iter().filter_map(|effect| match effect {
            Effect::Reply { connection, id, reply } => Some((connection, id, reply)),
            _ => None,
        });
        answers.collect()
    }

    /// Gives up question 3 of a connection; what that question is answered.
    fn give_up(&mut self, connection: u64) -> Option<Reply> {
        let answers = self.ask(connection, 4, Request::GiveUp { question: 3 });
        assert_eq!(answers.last(), Some(&(connection, 4, Reply::Done)), "{answers:?}");
        answers.into_iter().find(|(_, id, _)| *id == 3).map(|(_, _, reply)| reply)
    }

    /// The daemon dies and is made again from its records.
    fn restart(&mut self) {
        let records: Vec<_> = self.records.clone().into_iter().collect();
        self.machine = Machine::restore(one_host(), setup(), &records);
        for at in [Time(1_000_000), Time(51_000_000)] {
            self.machine.handle_timeout(at);
        }
        assert!(self.machine.leader().is_some());
        self.drain();
    }

    fn put(&mut self, connection: u64) -> Vec<(u64, u32, Reply)> {
        let message = Message::of_ints(Envelope::new(Tid(1), Address::untagged(Tid(1))), &[7]);
        self.ask(connection, 9, Request::PutInfo { name: "x".into(), flags: 4, message })
    }
}

fn get(flags: i32) -> Request {
    Request::RecvInfo { name: "x".into(), index: 0, flags, context: 0 }
}

fn barrier(count: i32) -> Request {
    Request::Barrier { group: "g".into(), count }
}

#[test]
fn a_take_that_was_given_up_takes_nothing_that_is_put_later() {
    for flags in [WAIT, WAIT | TAKE] {
        let mut host = Host::new(2);
        assert_eq!(host.ask(1, 3, get(flags)), []);
        assert_eq!(host.give_up(1), Some(Reply::Withdrawn));
        let put = host.put(2);
        assert_eq!(put, [(2, 9, Reply::Number { value: 0 })], "nobody else is told");
        let there = host.ask(2, 10, get(0));
        assert!(matches!(there[..], [(2, 10, Reply::Info { .. })]), "{there:?}");
    }
}

#[test]
fn polls_that_were_given_up_leave_nothing_behind() {
    let mut host = Host::new(1);
    let before = host.records.len();
    for _ in 0..150 {
        assert_eq!(host.ask(1, 3, get(WAIT)), []);
        assert_eq!(host.give_up(1), Some(Reply::Withdrawn));
    }
    assert_eq!(host.records.len(), before);
}

#[test]
fn what_was_answered_before_it_was_given_up_is_not_answered_again() {
    let mut host = Host::new(2);
    assert_eq!(host.ask(1, 3, get(WAIT | TAKE)), []);
    let put = host.put(2);
    assert!(put.iter().any(|(connection, id, _)| (*connection, *id) == (1, 3)), "{put:?}");
    assert_eq!(host.give_up(1), None);
    assert_eq!(host.give_up(2), None, "never asked");
}

#[test]
fn a_barrier_that_was_given_up_does_not_count() {
    let mut host = Host::new(2);
    assert_eq!(host.ask(1, 3, barrier(2)), []);
    assert_eq!(host.give_up(1), Some(Reply::Withdrawn));
    assert_eq!(host.ask(2, 3, barrier(2)), [], "it is not met");
    let met = host.ask(1, 5, barrier(2));
    assert_eq!(met, [(2, 3, Reply::Done), (1, 5, Reply::Done)]);
}

#[test]
fn a_freeze_that_was_given_up_does_not_count() {
    let mut host = Host::new(2);
    let freeze = || Request::FreezeGroup { group: "g".into(), size: 2 };
    assert_eq!(host.ask(1, 3, freeze()), []);
    assert_eq!(host.give_up(1), Some(Reply::Withdrawn));
    assert_eq!(host.ask(2, 3, freeze()), [], "it waits");
}

#[test]
fn a_daemon_that_died_between_question_and_withdrawal_makes_no_difference() {
    for request in [get(WAIT), get(WAIT | TAKE), barrier(2)] {
        let mut host = Host::new(2);
        assert_eq!(host.ask(1, 3, request.clone()), []);
        host.restart();
        assert_eq!(host.give_up(1), Some(Reply::Withdrawn), "{request:?}");
        host.restart();
        assert_eq!(host.put(2), [(2, 9, Reply::Number { value: 0 })]);
        assert_eq!(host.ask(2, 3, barrier(2)), [], "it is not met");
    }
}

fn spawn(count: i32) -> Request {
    let nobody = || Target { tid: Tid::NONE, context: 0, tag: 0 };
    let trace = TraceOptions { target: nobody(), buffer: 0, options: 0, mask: Blob::default() };
    Request::Spawn {
        spawn: SpawnRequest {
            file: "/bin/x".into(),
            args: Vec::new(),
            flags: 0,
            place: Blob::default(),
            count,
            environment: Vec::new(),
            whole_environment: false,
            directory: Blob::default(),
            inherited: Inherited { context: 0, output: nobody(), trace },
        },
    }
}

/// The ids of the tasks that a spawn call has begun to start.
fn launching(host: &mut Host, count: i32) -> Vec<Tid> {
    let request = spawn(count);
    let effects = host.give(Event::Asked { connection: 1, id: 3, request });
    let launches = effects.into_iter().filter_map(|effect| match effect {
        Effect::Launch { launch } => Some(launch.tid),
        _ => None,
    });
    launches.collect()
}

fn is_killed(effects: &[Effect], of: Tid) -> bool {
    effects.iter().any(|e| matches!(e, Effect::Signal { tid, signal: 9 } if *tid == of))
}

#[test]
fn a_spawn_that_was_given_up_leaves_no_task_that_nobody_knows() {
    let mut host = Host::new(1);
    let tids = launching(&mut host, 2);
    assert_eq!(tids.len(), 2);
    assert_eq!(host.give_up(1), Some(Reply::Withdrawn));
    for tid in tids {
        let effects = host.give(Event::Launched { tid, pid: 20 });
        assert!(is_killed(&effects, tid), "{effects:?}");
    }
}

#[test]
fn a_spawn_that_was_given_up_half_way_tells_of_what_runs() {
    let mut host = Host::new(1);
    let tids = launching(&mut host, 2);
    host.give(Event::Launched { tid: tids[0], pid: 20 });
    let outcomes = vec![tids[0].as_c_int(), Code::DSysErr.number()];
    assert_eq!(host.give_up(1), Some(Reply::Spawned { outcomes, tried: Vec::new() }));
    let effects = host.give(Event::Launched { tid: tids[1], pid: 21 });
    assert!(is_killed(&effects, tids[1]), "{effects:?}");
}
