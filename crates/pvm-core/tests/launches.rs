//! Tasks that take long to start.

#[path = "support/first_host.rs"]
mod support;

use pvm_core::io::{Act, Effect, Event, Input, News, Output};
use pvm_core::{Machine, Time};
use pvm_wire::peer::{PeerMessage, Said};
use pvm_wire::request::{Inherited, Reply, Request, Role, SpawnRequest, Target, TraceOptions};
use pvm_wire::{Blob, Code, HostIndex, Tid};
use support::{facts, first_host};

const SECOND: u64 = 1_000_000_000;
const OTHER: HostIndex = HostIndex(2);
/// The connection of the task that spawns.
const SPAWNER: u64 = 2;

/// A host with one task.
struct Host {
    machine: Machine,
    now: u64,
    outputs: Vec<Output>,
}

fn spawn(count: i32, place: &str) -> Request {
    let target = Target { tid: Tid::NONE, context: 0, tag: 0 };
    let trace =
        TraceOptions { target: target.clone(), buffer: 0, options: 0, mask: Blob::default() };
    let spawn = SpawnRequest {
        file: "worker".into(),
        args: Vec::new(),
        flags: i32::from(!place.is_empty()),
        place: place.into(),
        count,
        environment: Vec::new(),
        whole_environment: false,
        directory: Blob::default(),
        inherited: Inherited { context: 0, output: target, trace },
    };
    Request::Spawn { spawn }
}

impl Host {
    fn new() -> Self {
        let mut host = Self { machine: first_host(), now: SECOND, outputs: Vec::new() };
        host.hello(1, Role::Operator);
        host.hello(SPAWNER, Role::Task);
        host
    }

    /// Another host is let in.
    fn add_another(&mut self) {
        self.ask(1, Request::AddLocal { count: 1 });
        let ticket = self.outputs.iter().find_map(|output| match output {
            Output::Act(Act::StartHost { ticket, .. }) => Some(*ticket),
            _ => None,
        });
        let ticket = ticket.expect("a host is started");
        self.give(Input::News(News::HostReady { ticket, facts: facts("b") }));
        self.give(Input::News(News::LinkUp { host: OTHER }));
    }

    fn hello(&mut self, connection: u64, role: Role) {
        let (program, pid) = ("p".into(), 9);
        let hello =
            Event::Hello { connection, id: 1, role, program, reset: false, pid, launched: None };
        self.give(Input::Event(hello));
    }

    fn ask(&mut self, connection: u64, request: Request) {
        self.give(Input::Event(Event::Asked { connection, id: 2, request }));
    }

    fn give(&mut self, input: Input) {
        self.machine.handle(Time(self.now), input);
        self.outputs.extend(std::iter::from_fn(|| self.machine.poll_output()));
    }

    /// Time passes, and each timeout is handled when it is due.
    fn pass(&mut self, seconds: u64) {
        let end = self.now + seconds * SECOND;
        while let Some(Time(at)) = self.machine.poll_timeout().filter(|at| at.0 <= end) {
            self.now = self.now.max(at);
            self.machine.handle_timeout(Time(self.now));
            self.outputs.extend(std::iter::from_fn(|| self.machine.poll_output()));
        }
        self.now = end;
    }

    fn launches(&self) -> Vec<Tid> {
        let launches = self.outputs.iter().filter_map(|output| match output {
            Output::Effect(Effect::Launch { launch }) => Some(launch.tid),
            _ => None,
        });
        launches.collect()
    }

    fn start(&mut self, tid: Tid) {
        self.give(Input::Event(Event::Launched { tid, pid: tid.0 }));
    }

    /// The answer to the spawn call, if there is one.
    fn outcomes(&self) -> Option<Vec<i32>> {
        self.outputs.iter().find_map(|output| match output {
            Output::Effect(Effect::Reply {
                connection: SPAWNER,
                reply: Reply::Spawned { outcomes, .. },
                ..
            }) => Some(outcomes.clone()),
            _ => None,
        })
    }
}

#[test]
fn tasks_that_started_one_after_the_other_failed_together_after_25_s() {
    let mut host = Host::new();
    host.ask(SPAWNER, spawn(4, ""));
    let tids = host.launches();
    for tid in &tids[..3] {
        host.pass(20);
        host.start(*tid);
    }
    assert_eq!(host.outcomes(), None, "one is still to start");
    host.pass(26);
    let mut outcomes: Vec<_> = tids.iter().map(|tid| tid.as_c_int()).collect();
    outcomes[3] = Code::DSysErr.number();
    assert_eq!(host.outcomes(), Some(outcomes), "nothing has started for 25 s");
}

#[test]
fn a_host_that_starts_many_tasks_was_given_up_after_25_s() {
    let mut host = Host::new();
    host.add_another();
    host.ask(SPAWNER, spawn(2, "b"));
    let asked = host.outputs.iter().find_map(|output| match output {
        Output::Act(Act::Say {
            host: OTHER,
            message: PeerMessage::Ordered { said: Said::Launch { ask, .. }, .. },
        }) => Some(*ask),
        _ => None,
    });
    // The other host answers as soon as none of its tasks starts for 25 s.
    host.pass(70);
    assert_eq!(host.outcomes(), None);
    let outcomes = vec![0x80001, 0x80002];
    let reply = Reply::Spawned { outcomes: outcomes.clone(), tried: Vec::new() };
    let said = Said::Answer { ask: asked.expect("the other host is asked"), reply };
    let message = PeerMessage::Ordered { sequence: 1, said };
    host.give(Input::News(News::Said { host: OTHER, message }));
    assert_eq!(host.outcomes(), Some(outcomes));
}

#[test]
fn a_call_for_more_tasks_than_a_host_has_ids_starts_none_and_names_the_error() {
    let mut host = Host::new();
    host.ask(SPAWNER, spawn(Tid::LOCAL_MAX.cast_signed() + 1, ""));
    let refused = |output: &Output| {
        let failed = Reply::Failed { code: Code::OutOfRes };
        matches!(output, Output::Effect(Effect::Reply { connection: SPAWNER, reply, .. })
            if *reply == failed)
    };
    assert!(host.outputs.iter().any(refused));
    assert_eq!(host.launches(), []);
}

/// The tasks of a call were one frame of effects, so no more than 16 384 could be spawned by it,
/// and only as many as had room with their arguments.
#[test]
fn a_call_for_more_tasks_than_a_frame_holds_was_refused() {
    const COUNT: usize = 40_000;
    let mut host = Host::new();
    host.ask(SPAWNER, spawn(COUNT as i32, ""));
    let mut tids: Vec<Tid> = Vec::new();
    while host.outcomes().is_none() {
        let begun = host.launches().split_off(tids.len());
        assert!(!begun.is_empty() && begun.len() <= 1 << 14, "{} at once", begun.len());
        begun.iter().for_each(|tid| host.start(*tid));
        tids.extend(begun);
    }
    let outcomes: Vec<i32> = tids.iter().map(|tid| tid.as_c_int()).collect();
    assert_eq!((host.outcomes(), tids.len()), (Some(outcomes), COUNT));
}

#[test]
fn tasks_with_long_arguments_are_begun_a_few_at_a_time() {
    let mut host = Host::new();
    let Request::Spawn { mut spawn } = spawn(5, "") else { unreachable!() };
    spawn.args = vec![Blob(vec![b'x'; 7 << 20])];
    host.ask(SPAWNER, Request::Spawn { spawn });
    let mut counts = Vec::new();
    let mut done = 0;
    while host.outcomes().is_none() {
        let begun = host.launches().split_off(done);
        counts.push(begun.len());
        done += begun.len();
        // One of them is not found; the others go on all the same.
        for (at, tid) in begun.into_iter().enumerate() {
            match at {
                0 => host.start(tid),
                _ => {
                    let (code, tried) = (Code::NoFile, Vec::new());
                    host.give(Input::Event(Event::LaunchFailed { tid, code, tried }));
                }
            }
        }
    }
    assert_eq!(counts, [2, 2, 1]);
    let outcomes = host.outcomes().expect("it is answered");
    let failed = outcomes.iter().filter(|outcome| **outcome == Code::NoFile.number()).count();
    assert_eq!((outcomes.len(), failed), (5, 2));
}

#[test]
fn a_call_that_was_given_up_starts_no_more_tasks() {
    let mut host = Host::new();
    host.ask(SPAWNER, spawn(20_000, ""));
    let begun = host.launches();
    // Nothing has started for too long: the call is answered.
    host.pass(26);
    assert!(host.outcomes().is_some_and(|all| all.iter().all(|outcome| *outcome < 0)));
    begun.iter().for_each(|tid| host.start(*tid));
    assert_eq!(host.launches().len(), begun.len());
}
