//! No request, whatever is in its fields, makes a machine panic.

#[path = "support/config.rs"]
mod config;

use config::{config, setup};
use proptest::prelude::*;
use pvm_core::io::{Event, HostFacts, Input, News};
use pvm_core::{Machine, Time};
use pvm_wire::peer::{Operator, PeerMessage, Said};
use pvm_wire::request::{Inherited, Request, Role, SpawnRequest, Target, TraceOptions};
use pvm_wire::{Address, Blob, Code, Context, Envelope, HostIndex, Message, Tag, Tid, Wire};

const SECOND_NS: u64 = 1_000_000_000;

/// A machine of two hosts, seen from the first.
fn machine() -> Machine {
    let facts = |name: &str| HostFacts {
        name: name.into(),
        arch: "LINUX64".into(),
        signature: 1,
        cores: 2,
        speed: 1000,
        search: vec!["/bin".into()],
        ..HostFacts::default()
    };
    let mut machine = Machine::new(config(HostIndex(1), facts("vm")), setup());
    let hello = hello(9, Role::Operator, None);
    let add = Event::Asked { connection: 9, id: 2, request: Request::AddLocal { count: 1 } };
    let ready = News::HostReady { ticket: 2, facts: facts("vm") };
    let up = News::LinkUp { host: HostIndex(2) };
    let inputs = [Input::Event(hello), Input::Event(add), Input::News(ready), Input::News(up)];
    for input in inputs {
        machine.handle(Time(1), input);
    }
    while machine.poll_output().is_some() {}
    assert_eq!(machine.members().len(), 2);
    machine
}

fn hello(connection: u64, role: Role, launched: Option<Tid>) -> Event {
    let (program, pid) = ("p".into(), 7);
    Event::Hello { connection, id: 1, role, program, reset: true, pid, launched }
}

fn int() -> impl Strategy<Value = i32> {
    prop_oneof![
        4 => -2..6i32,
        1 => any::<i32>(),
        1 => prop_oneof![Just(i32::MIN), Just(i32::MAX), Just(1 << 14), Just(0x40001)],
    ]
}

/// A task that may be there, or anything.
fn tid() -> BoxedStrategy<Tid> {
    prop_oneof![
        6 => (1..4u16, 1..12u32).prop_map(|(host, local)| Tid::task(HostIndex(host), local)),
        1 => (0..4096u16).prop_map(|host| Tid::host_id(HostIndex(host))),
        2 => any::<u32>().prop_map(Tid),
        1 => prop_oneof![Just(Tid::NONE), Just(Tid(u32::MAX)), Just(Tid::NOTICE_SOURCE)],
    ]
    .boxed()
}

fn blob() -> BoxedStrategy<Blob> {
    prop_oneof![
        3 => prop_oneof![Just("a"), Just("b"), Just(""), Just("."), Just("vm"), Just("vm.2"),
            Just("* sp=5"), Just("h5 ep=/x")]
            .prop_map(Blob::from),
        1 => prop::collection::vec(any::<u8>(), 0..40).prop_map(Blob),
    ]
    .boxed()
}

fn blobs() -> impl Strategy<Value = Vec<Blob>> {
    prop::collection::vec(blob(), 0..4)
}

fn target() -> impl Strategy<Value = Target> {
    (tid(), int(), int()).prop_map(|(tid, context, tag)| Target { tid, context, tag })
}

fn trace() -> BoxedStrategy<TraceOptions> {
    (target(), int(), int(), blob())
        .prop_map(|(target, buffer, options, mask)| TraceOptions { target, buffer, options, mask })
        .boxed()
}

fn spawn() -> BoxedStrategy<SpawnRequest> {
    let program = (blob(), blobs(), int(), blob(), int());
    let around = (blobs(), any::<bool>(), blob(), int(), target(), trace());
    (program, around)
        .prop_map(|((file, args, flags, place, count), around)| {
            let (environment, whole_environment, directory, context, output, trace) = around;
            let inherited = Inherited { context, output, trace };
            SpawnRequest {
                file,
                args,
                flags,
                place,
                count,
                environment,
                whole_environment,
                directory,
                inherited,
            }
        })
        .boxed()
}

/// A message with whatever in its head, as a peer could send it.
fn message() -> BoxedStrategy<Message> {
    (tid(), int(), prop::collection::vec(any::<u8>(), 0..40), any::<u32>())
        .prop_map(|(tid, tag, body, size)| {
            let mut envelope = Envelope::new(tid, Address::new(tid, Tag(tag), Context::FIRST));
            envelope.data_size = size.into();
            Message { envelope, body: Blob(body) }
        })
        .boxed()
}

fn request() -> BoxedStrategy<Request> {
    let of_tasks = prop_oneof![
        Just(Request::Leave),
        Just(Request::Config),
        tid().prop_map(|place| Request::Tasks { place }),
        spawn().prop_map(|spawn| Request::Spawn { spawn }),
        spawn().prop_map(|spawn| Request::Run { spawn }),
        (tid(), blob()).prop_map(|(tid, bytes)| Request::Feed { tid, bytes }),
        (tid(), int()).prop_map(|(tid, signal)| Request::Signal { tid, signal }),
        tid().prop_map(|tid| Request::TaskStatus { tid }),
        target().prop_map(|output| Request::SetOutput { output }),
        (tid(), trace()).prop_map(|(tid, trace)| Request::SetTrace { tid, trace }),
        any::<bool>().prop_map(|reset| Request::SetReset { reset }),
        any::<bool>().prop_map(|kill| Request::Reset { kill }),
        (int(), proptest::option::of(trace()), any::<bool>())
            .prop_map(|(service, trace, on)| Request::Register { service, trace, on }),
        (int(), target(), trace()).prop_map(|(context, output, trace)| {
            Request::RegisterTracer { given: Inherited { context, output, trace } }
        }),
        (int(), any::<bool>(), int(), int(), int(), prop::collection::vec(tid(), 0..4)).prop_map(
            |(kind, cancel, context, tag, count, tids)| {
                Request::Notify { kind, cancel, context, tag, count, tids }
            },
        ),
    ];
    let of_names = prop_oneof![
        (blob(), int(), message()).prop_map(|(name, flags, message)| Request::PutInfo {
            name,
            flags,
            message
        }),
        (blob(), int(), int(), int()).prop_map(|(name, index, flags, context)| {
            Request::RecvInfo { name, index, flags, context }
        }),
        (blob(), int(), int()).prop_map(|(name, index, flags)| Request::DelInfo {
            name,
            index,
            flags
        }),
        blob().prop_map(|pattern| Request::MailboxInfo { pattern }),
        blob().prop_map(|group| Request::JoinGroup { group }),
        blob().prop_map(|group| Request::LeaveGroup { group }),
        blob().prop_map(|group| Request::GroupMembers { group }),
        (blob(), int()).prop_map(|(group, count)| Request::Barrier { group, count }),
        (blob(), int()).prop_map(|(group, size)| Request::FreezeGroup { group, size }),
        Just(Request::Groups),
    ];
    let of_hosts = prop_oneof![
        blob().prop_map(|name| Request::HostStatus { name }),
        blobs().prop_map(|hosts| Request::AddHosts { hosts }),
        blobs().prop_map(|hosts| Request::DelHosts { hosts }),
        blobs().prop_map(|hosts| Request::DrainHosts { hosts }),
        blobs().prop_map(|lines| Request::KnowHosts { lines }),
        Just(Request::Load),
        any::<u64>().prop_map(|epoch| Request::Settled { epoch }),
        any::<u32>().prop_map(|count| Request::AddLocal { count }),
        Just(Request::NewContext),
        int().prop_map(|context| Request::FreeContext { context }),
        tid().prop_map(|host| Request::HostClock { host }),
        Just(Request::DaemonStatus),
    ];
    // What the parent answers by itself comes to a machine only from a peer that lies.
    let of_others = prop_oneof![
        (tid(), any::<u32>()).prop_map(|(to, cells)| Request::OpenLane { to, cells }),
        any::<u64>().prop_map(|bytes| Request::OpenSlab { bytes }),
        any::<u32>().prop_map(|id| Request::MapSegment { id }),
        any::<u32>().prop_map(|after| Request::ListLanes { after }),
    ];
    prop_oneof![5 => of_tasks, 4 => of_names, 2 => of_hosts, 1 => of_others].boxed()
}

/// A request whose bytes were changed on their way, if it still is one.
fn garbled() -> BoxedStrategy<Request> {
    (request(), prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6))
        .prop_map(|(request, changes)| {
            let mut bytes = request.to_bytes();
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            Request::from_bytes(&bytes).unwrap_or(request)
        })
        .boxed()
}

#[derive(Clone, Debug)]
enum Step {
    Event(Event),
    Said(Said),
    /// Time passes, in nanoseconds.
    Time(u64),
}

fn step() -> BoxedStrategy<Step> {
    let connection = 1..8u64;
    let role = prop_oneof![3 => Just(Role::Task), 1 => Just(Role::Operator)];
    let any_request = prop_oneof![request(), garbled()];
    let operator = (1..4u16, 1..10u64, 0..4u32).prop_map(|(host, connection, id)| Operator {
        host: HostIndex(host),
        connection,
        id,
    });
    let event = prop_oneof![
        4 => (connection.clone(), role, proptest::option::of(tid()))
            .prop_map(|(connection, role, launched)| hello(connection, role, launched)),
        20 => (1..10u64, 2..5u32, any_request)
            .prop_map(|(connection, id, request)| Event::Asked { connection, id, request }),
        1 => connection.prop_map(|connection| Event::Closed { connection }),
        4 => tid().prop_map(|tid| Event::Launched { tid, pid: 11 }),
        1 => tid().prop_map(|tid| {
            Event::LaunchFailed { tid, code: Code::NoFile, tried: Vec::new() }
        }),
        2 => (tid(), int()).prop_map(|(tid, status)| Event::Exited { tid, status }),
        2 => tid().prop_map(|tid| Event::OutputEnded { tid }),
        2 => (tid(), any::<u8>(), blob())
            .prop_map(|(tid, stream, bytes)| Event::Wrote { tid, stream, bytes }),
    ];
    let said = prop_oneof![
        4 => (0..40u64, tid(), request())
            .prop_map(|(ask, asker, request)| Said::Ask { ask, asker, request }),
        1 => (any::<u64>(), spawn(), int(), proptest::option::of(operator.clone())).prop_map(
            |(ask, spawn, parent, operator)| {
                Said::Launch { ask, spawn, parent, operator, fed: true }
            }
        ),
        1 => operator.clone().prop_map(|operator| Said::RunSpawning { operator }),
        1 => (operator, prop::collection::vec(tid(), 0..4))
            .prop_map(|(operator, tids)| Said::RunSpawned { operator, tids }),
    ];
    prop_oneof![
        20 => event.prop_map(Step::Event),
        4 => said.prop_map(Step::Said),
        1 => (0..40 * SECOND_NS).prop_map(Step::Time),
    ]
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_request_makes_a_machine_panic(steps in prop::collection::vec(step(), 1..60)) {
        let mut machine = machine();
        let mut now = Time(SECOND_NS);
        let mut sequence = 0;
        for step in steps {
            match step {
                Step::Event(event) => machine.handle(now, Input::Event(event)),
                Step::Said(said) => {
                    sequence += 1;
                    let message = PeerMessage::Ordered { sequence, said };
                    let host = HostIndex(2);
                    machine.handle(now, Input::News(News::Said { host, message }));
                }
                Step::Time(nanoseconds) => {
                    now = now.after(nanoseconds);
                    machine.handle_timeout(now);
                }
            }
            while machine.poll_output().is_some() {}
        }
    }
}
