//! A machine that is made again from its records goes on as if nothing had happened.

use proptest::prelude::*;
use pvm_core::io::{Act, Effect, Event, HostFacts, Input, News, Output};
use pvm_core::{Config, Machine, Time};
use pvm_wire::peer::{Command, Operator, OutputNews, PeerMessage, Said};
use pvm_wire::request::{
    Failure, HostLoad, Inherited, LEAST_LOADED, Reply, Request, Role, SpawnRequest, Target,
    TraceOptions,
};
use pvm_wire::{Blob, Code, Envelope, HostIndex, Message, Tid};
use std::collections::BTreeMap;

const SECOND_NS: u64 = 1_000_000_000;

fn facts(name: &str) -> HostFacts {
    HostFacts {
        name: name.into(),
        arch: "LINUX64".into(),
        signature: 1,
        cores: 2,
        speed: 1000,
        search: vec!["/bin".into()],
        ..HostFacts::default()
    }
}

fn config(host: HostIndex) -> Config {
    Config {
        host,
        first: HostIndex(1),
        facts: facts("vm"),
        version: String::new(),
        parent_pid: 1,
        daemon_pid: 2,
        restarts: 0,
        debugger: Blob::default(),
    }
}

/// One machine with what its parent keeps, and what its peers have said.
struct Host {
    machine: Machine,
    config: Config,
    records: BTreeMap<Blob, Blob>,
    said: BTreeMap<HostIndex, u64>,
    up: Vec<HostIndex>,
}

impl Host {
    fn new(config: Config) -> Self {
        let machine = Machine::new(config.clone());
        let (records, said) = (BTreeMap::new(), BTreeMap::new());
        let mut host = Self { machine, config, records, said, up: Vec::new() };
        host.drain();
        host
    }

    fn drain(&mut self) -> Vec<Output> {
        let outputs: Vec<_> = std::iter::from_fn(|| self.machine.poll_output()).collect();
        for output in &outputs {
            match output {
                Output::Effect(Effect::Save { key, value: Some(value) }) => {
                    self.records.insert(key.clone(), value.clone());
                }
                Output::Effect(Effect::Save { key, value: None }) => {
                    self.records.remove(key);
                }
                _ => {}
            }
        }
        outputs
    }

    fn give(&mut self, now: Time, step: &Step) -> Vec<Output> {
        match step {
            Step::Event(event) => self.machine.handle(now, Input::Event(event.clone())),
            Step::Said(host, said) => {
                let sequence = self.said.entry(*host).or_default();
                *sequence += 1;
                let message = PeerMessage::Ordered { sequence: *sequence, said: said.clone() };
                self.machine.handle(now, Input::News(News::Said { host: *host, message }));
            }
            Step::News(news) => {
                if let News::LinkUp { host } = news {
                    self.up.push(*host);
                }
                self.machine.handle(now, Input::News(news.clone()));
            }
            Step::Time => self.machine.handle_timeout(now),
        }
        self.drain()
    }

    /// The daemon dies and is made again from its records.
    fn restart(&mut self, now: Time) {
        let records: Vec<_> = self.records.clone().into_iter().collect();
        self.machine = Machine::restore(self.config.clone(), &records);
        for &host in &self.up {
            self.machine.handle(now, Input::News(News::LinkUp { host }));
        }
        let again = self.drain();
        let only_old = |output: &Output| {
            let said = matches!(
                output,
                Output::Act(
                    Act::Say { .. }
                        | Act::Hosts { .. }
                        | Act::Flush
                        | Act::Drain { .. }
                        | Act::Group { .. }
                )
            );
            said || matches!(output, Output::Effect(Effect::Log { .. }))
        };
        assert!(again.iter().all(only_old), "{again:?}");
    }
}

#[derive(Clone, Debug)]
enum Step {
    Event(Event),
    Said(HostIndex, Said),
    News(News),
    Time,
}

fn spawn(file: &str, count: i32, output: Tid) -> SpawnRequest {
    let nobody = Target { tid: Tid::NONE, context: 0, tag: 0 };
    let trace = TraceOptions { target: nobody, buffer: 0, options: 0, mask: Blob::default() };
    let output = Target { tid: output, context: 0, tag: 3 };
    SpawnRequest {
        file: file.into(),
        args: Vec::new(),
        flags: 0,
        place: Blob::default(),
        count,
        environment: Vec::new(),
        whole_environment: false,
        directory: Blob::default(),
        inherited: Inherited { context: 0, output, trace },
    }
}

/// A request of one of a few connections about a few tasks, groups and names.
fn request() -> impl Strategy<Value = Request> {
    let tid = (1..4u16, 1..9u32).prop_map(|(host, local)| Tid::task(HostIndex(host), local));
    let name = prop_oneof![Just(Blob::from("a")), Just(Blob::from("b"))];
    let flags = prop_oneof![Just(0), Just(1), Just(2), Just(4), Just(16), Just(32), Just(48)];
    let message = Message::of_ints(Envelope::new(Tid(1), Tid(1), 0, 0), &[7]);
    prop_oneof![
        1 => Just(Request::Leave),
        1 => Just(Request::Config),
        1 => Just(Request::Tasks { place: Tid::NONE }),
        1 => (1..4i32, tid.clone())
            .prop_map(|(count, output)| Request::Spawn { spawn: spawn("x", count, output) }),
        1 => (1..4i32).prop_map(|count| Request::Run { spawn: spawn("x", count, Tid::NONE) }),
        1 => tid.clone().prop_map(|tid| Request::Signal { tid, signal: 15 }),
        1 => tid.clone().prop_map(|tid| Request::TaskStatus { tid }),
        1 => (tid.clone(), any::<bool>()).prop_map(|(tid, cancel)| {
            let tids = vec![tid];
            Request::Notify { kind: 1, cancel, context: 0, tag: 5, count: 0, tids }
        }),
        1 => (name.clone(), flags.clone()).prop_map(move |(name, flags)| {
            Request::PutInfo { name, flags, message: message.clone() }
        }),
        1 => (name.clone(), flags.clone())
            .prop_map(|(name, flags)| Request::RecvInfo { name, index: 0, flags, context: 0 }),
        1 => (name.clone(), flags).prop_map(|(name, flags)| Request::DelInfo { name, index: 0, flags }),
        3 => name.clone().prop_map(|group| Request::JoinGroup { group }),
        1 => name.clone().prop_map(|group| Request::LeaveGroup { group }),
        5 => (name.clone(), 2..4i32).prop_map(|(group, count)| Request::Barrier { group, count }),
        1 => name.prop_map(|group| Request::FreezeGroup { group, size: -1 }),
        1 => Just(Request::NewContext),
        1 => tid.prop_map(|tid| Request::SetOutput { output: Target { tid, context: 0, tag: 1 } }),
        1 => Just(Request::AddLocal { count: 1 }),
        1 => Just(Request::AddHosts { hosts: vec!["h5 sp=7".into(), "vm.2".into(), "h5".into()] }),
        1 => (1..5u16).prop_map(|host| {
            Request::DrainHosts { hosts: vec![format!("vm.{host}").into()] }
        }),
        1 => Just(Request::DelHosts { hosts: vec!["h5".into(), "vm.3".into()] }),
        1 => Just(Request::KnowHosts { lines: vec!["&h5 wd=/usr".into(), "* sp=9".into()] }),
        2 => Just(Request::Spawn {
            spawn: SpawnRequest { flags: LEAST_LOADED, ..spawn("x", 3, Tid::NONE) }
        }),
        1 => any::<bool>().prop_map(|reset| Request::SetReset { reset }),
        1 => Just(Request::Register { service: 3, trace: None, on: true }),
    ]
}

fn step(me: u16) -> impl Strategy<Value = Step> {
    let connection = 1..6u64;
    let tid = (1..9u32).prop_map(move |local| Tid::task(HostIndex(me), local));
    let peer = (1..4u16).prop_filter("another host", move |&host| host != me).prop_map(HostIndex);
    let hello = (connection.clone(), proptest::option::of(tid.clone())).prop_map(
        |(connection, launched)| Event::Hello {
            connection,
            id: 1,
            role: if connection == 5 { Role::Operator } else { Role::Task },
            program: "p".into(),
            reset: connection != 4,
            pid: 10,
            launched,
        },
    );
    let event = prop_oneof![
        3 => hello,
        10 => (connection.clone(), request())
            .prop_map(|(connection, request)| Event::Asked { connection, id: 2, request }),
        1 => connection.prop_map(|connection| Event::Closed { connection }),
        3 => tid.clone().prop_map(|tid| Event::Launched { tid, pid: 11 }),
        1 => tid.clone().prop_map(|tid| {
            Event::LaunchFailed { tid, code: Code::NoFile, tried: vec!["/bin".into()] }
        }),
        1 => tid.clone().prop_map(|tid| Event::Exited { tid, status: 0 }),
        1 => tid.clone().prop_map(|tid| Event::OutputEnded { tid }),
        2 => tid.clone().prop_map(|tid| {
            Event::Wrote { tid, stream: 1, bytes: "line\npart".into() }
        }),
    ];
    let operator =
        (1..4u16).prop_map(|host| Operator { host: HostIndex(host), connection: 5, id: 2 });
    let said = prop_oneof![
        (0..40u64).prop_map(|ask| Said::Answer { ask, reply: Reply::Done }),
        (0..40u64)
            .prop_map(|ask| Said::Answer { ask, reply: Reply::Failed { code: Code::NotFound } }),
        (0..40u64).prop_map(|ask| {
            Said::Answer { ask, reply: Reply::Spawned { outcomes: vec![-7], tried: Vec::new() } }
        }),
        (1..40u64, request()).prop_map(|(ask, request)| {
            Said::Ask { ask, asker: Tid::task(HostIndex(2), 1), request }
        }),
        (1..9u64, tid.clone()).prop_map(|(watch, tid)| Said::Watch { watch, tid }),
        (1..9u64).prop_map(|watch| Said::Gone { watch }),
        (1..9u64).prop_map(|ask| {
            let spawn = spawn("y", 2, Tid::NONE);
            let operator = (ask % 2 == 0).then_some(Operator {
                host: HostIndex(if ask % 4 == 0 { 2 } else { 3 }),
                connection: 5,
                id: 2,
            });
            Said::Launch { ask, spawn, parent: -23, operator, fed: false }
        }),
        tid.clone().prop_map(|tid| Said::Siblings { tids: vec![tid] }),
        operator.clone().prop_map(|operator| Said::RunSpawning { operator }),
        (operator.clone(), tid.clone())
            .prop_map(|(operator, tid)| Said::RunSpawned { operator, tids: vec![tid] }),
        (operator, tid.clone()).prop_map(|(operator, tid)| Said::RunExited {
            operator,
            tid,
            status: 0
        }),
        (tid.clone(), tid).prop_map(|(to, tid)| {
            let target = Target { tid: to, context: 0, tag: 2 };
            Said::Output { target, tid, news: OutputNews::End }
        }),
        (1..9u64).prop_map(|ticket| {
            let command = Command::JoinGroup { group: "a".into(), tid: Tid::task(HostIndex(3), 1) };
            Said::Propose { ticket, command }
        }),
        (1..9u64).prop_map(|ticket| {
            let command = Command::AddHost { facts: facts("h5"), again: false };
            Said::Propose { ticket, command }
        }),
        (1..9u64, any::<bool>()).prop_map(|(ticket, on)| {
            let command = Command::DrainHost { host: HostIndex(3), on };
            Said::Propose { ticket, command }
        }),
        (4..9u64, any::<bool>()).prop_map(|(number, on)| {
            let command = Command::DrainHost { host: HostIndex(2), on };
            Said::Commit { number, proposer: HostIndex(1), ticket: 0, command }
        }),
        (1..40u64, 1..6u64).prop_map(|(ask, epoch)| {
            let request = Request::Settled { epoch };
            Said::Ask { ask, asker: Tid::NONE, request }
        }),
        (1..40u64).prop_map(|ask| {
            let load = HostLoad { host: HostIndex(3), tasks: 1, cores: 2, speed: 500 };
            Said::Answer { ask, reply: Reply::Load { load } }
        }),
        (2..9u64).prop_map(|number| {
            let command = Command::RemoveHost { host: HostIndex(3), dead: true };
            Said::Commit { number, proposer: HostIndex(3), ticket: 0, command }
        }),
    ];
    let news = prop_oneof![
        (1..9u64).prop_map(|ticket| News::HostReady { ticket, facts: facts("vm") }),
        (1..9u64).prop_map(|ticket| News::HostReady { ticket, facts: facts("h5") }),
        Just(News::Flushed),
        Just(News::Addresses { addresses: vec!["10.0.0.1:7".to_owned()] }),
        (1..9u64).prop_map(|ticket| {
            News::HostFailed { ticket, code: Code::CantStart, failure: Failure::default() }
        }),
    ];
    prop_oneof![
        20 => event.prop_map(Step::Event),
        8 => (peer, said).prop_map(|(host, said)| Step::Said(host, said)),
        1 => news.prop_map(Step::News),
        1 => Just(Step::Time),
    ]
}

/// What brings a machine of three hosts about, seen from `me`.
fn opening(me: u16) -> Vec<Step> {
    if me == 1 {
        // Two hosts are added by an operator.
        let hello = Event::Hello {
            connection: 9,
            id: 1,
            role: Role::Operator,
            program: "pvm".into(),
            reset: true,
            pid: 9,
            launched: None,
        };
        let request = Request::AddLocal { count: 2 };
        let asked = Event::Asked { connection: 9, id: 2, request };
        let ready = |ticket| Step::News(News::HostReady { ticket, facts: facts("vm") });
        let up = |host| Step::News(News::LinkUp { host: HostIndex(host) });
        return vec![Step::Event(hello), Step::Event(asked), ready(2), ready(3), up(2), up(3)];
    }
    // Host 2 is told of host 1 and of itself, then of host 3.
    let mut first = Machine::new(config(HostIndex(1)));
    let now = Time(1);
    for step in opening(1) {
        match step {
            Step::Event(event) => first.handle(now, Input::Event(event)),
            Step::News(news) => first.handle(now, Input::News(news)),
            Step::Said(..) | Step::Time => {}
        }
    }
    let outputs = std::iter::from_fn(|| first.poll_output());
    let said = outputs.filter_map(|output| match output {
        Output::Act(Act::Say {
            host: HostIndex(2),
            message: PeerMessage::Ordered { said, .. },
        }) => Some(Step::Said(HostIndex(1), said)),
        _ => None,
    });
    let up = |host| Step::News(News::LinkUp { host: HostIndex(host) });
    [up(1)].into_iter().chain(said).chain([up(3)]).collect()
}

/// Three tasks of a group, each on a connection of its own.
fn members() -> Vec<Step> {
    let hello = |connection| Event::Hello {
        connection,
        id: 1,
        role: Role::Task,
        program: "p".into(),
        reset: true,
        pid: 10,
        launched: None,
    };
    let join = |connection| {
        let request = Request::JoinGroup { group: "a".into() };
        Event::Asked { connection, id: 2, request }
    };
    let both = |connection| [Step::Event(hello(connection)), Step::Event(join(connection))];
    [1, 2, 3].into_iter().flat_map(both).collect()
}

fn goes_on(me: u16, steps: &[(Step, bool)]) {
    let mut kept = Host::new(config(HostIndex(me)));
    let mut killed = Host::new(config(HostIndex(me)));
    let opening: Vec<_> =
        opening(me).into_iter().chain(members()).map(|step| (step, true)).collect();
    for (at, (step, kill)) in opening.iter().chain(steps).enumerate() {
        let mut now = Time(at as u64 * SECOND_NS / 10);
        if matches!(step, Step::Time) {
            now = kept.machine.poll_timeout().unwrap_or(now);
        }
        assert_eq!(kept.machine.poll_timeout(), killed.machine.poll_timeout(), "before {step:?}");
        let (wanted, got) = (kept.give(now, step), killed.give(now, step));
        assert_eq!(wanted, got, "after {step:?}");
        if wanted.last() == Some(&Output::Effect(Effect::End)) {
            return;
        }
        if *kill {
            killed.restart(now);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn the_first_host_goes_on(steps in prop::collection::vec((step(1), any::<bool>()), 1..60)) {
        goes_on(1, &steps);
    }

    #[test]
    fn another_host_goes_on(steps in prop::collection::vec((step(2), any::<bool>()), 1..60)) {
        goes_on(2, &steps);
    }
}
