//! One host answers as PVM 3.4.6 does, odd requests included.

#[path = "support/config.rs"]
mod config;

use config::{config, setup};
use pvm_core::io::{Act, Effect, Event, HostFacts, Input, Output};
use pvm_core::{Config, Machine, Time};
use pvm_wire::request::{
    Inherited, Reply, Request, Role, SpawnRequest, Target, TraceOptions, Welcome,
};
use pvm_wire::{
    Address, Blob, Code, Context, Envelope, FRAME_BYTES_MAX, HostIndex, Message, Tag, Tid, Wire,
};

const ME: Tid = Tid(0x40001);
const HERE: Tid = Tid(0x40000);
const NO_HOST: Tid = Tid(0x80000);

struct Host(Machine);

impl Host {
    /// A machine of one host, with one task on connection 1.
    fn with_task() -> Self {
        let facts = HostFacts {
            name: "vm".into(),
            arch: "LINUX64".into(),
            signature: 0x408c41,
            cores: 2,
            speed: 1000,
            search: vec!["/usr/bin".into()],
            ..HostFacts::default()
        };
        let mut host = Self(Machine::new(
            Config { debugger: "/debugger".into(), ..config(HostIndex(1), facts) },
            setup(),
        ));
        assert_eq!(host.enrol(1, None).tid, ME);
        host
    }

    fn give(&mut self, event: Event) -> Vec<Effect> {
        self.0.handle(Time(1_000_000), Input::Event(event));
        let outputs = std::iter::from_fn(|| self.0.poll_output());
        let effects = outputs.filter_map(|output| match output {
            Output::Effect(Effect::Save { .. }) | Output::Act(_) => None,
            Output::Effect(effect) => Some(effect),
        });
        effects.collect()
    }

    fn hello(&mut self, connection: u64, role: Role, launched: Option<Tid>) -> Vec<Effect> {
        let program = "p".into();
        let pid = 1000 + u32::try_from(connection).expect("small");
        self.give(Event::Hello { connection, id: 1, role, program, reset: true, pid, launched })
    }

    fn enrol(&mut self, connection: u64, launched: Option<Tid>) -> Welcome {
        let effects = self.hello(connection, Role::Task, launched);
        let welcome = effects.into_iter().find_map(|effect| match effect {
            Effect::Enrol { welcome, .. } => Some(welcome),
            _ => None,
        });
        welcome.expect("a task is welcome")
    }

    fn ask(&mut self, connection: u64, request: Request) -> Vec<Effect> {
        self.give(Event::Asked { connection, id: 2, request })
    }

    fn reply(&mut self, request: Request) -> Option<Reply> {
        reply_in(&self.ask(1, request))
    }
}

fn reply_in(effects: &[Effect]) -> Option<Reply> {
    effects.iter().find_map(|effect| match effect {
        Effect::Reply { reply, .. } => Some(reply.clone()),
        _ => None,
    })
}

fn failed(code: Code) -> Option<Reply> {
    Some(Reply::Failed { code })
}

fn spawn(file: &str, count: i32, flags: i32, place: &str) -> SpawnRequest {
    let nobody = Target { tid: Tid::NONE, context: 0, tag: 0 };
    let output = Target { tid: ME, context: 5, tag: 77 };
    let trace = TraceOptions { target: nobody, buffer: 0, options: 0, mask: Blob::default() };
    SpawnRequest {
        file: file.into(),
        args: Vec::new(),
        flags,
        place: place.into(),
        count,
        environment: Vec::new(),
        whole_environment: false,
        directory: Blob::default(),
        inherited: Inherited { context: 3, output, trace },
    }
}

fn notify(kind: i32, tag: i32, tids: Vec<Tid>) -> Request {
    Request::Notify { kind, cancel: false, context: 0, tag, count: -1, tids }
}

#[test]
fn odd_requests_get_the_codes_of_pvm() {
    let host = &mut Host::with_task();
    let group = || Blob::from("none");
    let table = [
        (Request::Spawn { spawn: spawn("x", 0, 0, "") }, failed(Code::BadParam)),
        (Request::Spawn { spawn: spawn("x", -1, 0, "") }, failed(Code::BadParam)),
        (Request::Signal { tid: HERE, signal: 9 }, failed(Code::BadParam)),
        (Request::Signal { tid: Tid::from_c_int(-1), signal: 9 }, failed(Code::BadParam)),
        (Request::Signal { tid: Tid(0x40099), signal: 9 }, Some(Reply::Done)),
        (Request::TaskStatus { tid: Tid(0x40099) }, failed(Code::NoTask)),
        (Request::TaskStatus { tid: Tid(0x80001) }, failed(Code::NoTask)),
        (Request::TaskStatus { tid: HERE }, failed(Code::BadParam)),
        (Request::TaskStatus { tid: ME }, Some(Reply::Done)),
        (Request::HostStatus { name: "nohost".into() }, failed(Code::NoHost)),
        (Request::HostStatus { name: ".".into() }, Some(Reply::Done)),
        (Request::Tasks { place: NO_HOST }, failed(Code::NoHost)),
        (Request::Tasks { place: Tid::from_c_int(-1) }, failed(Code::NoHost)),
        (Request::Tasks { place: Tid(0x40099) }, Some(Reply::Tasks { tasks: Vec::new() })),
        (Request::AddHosts { hosts: Vec::new() }, failed(Code::BadParam)),
        (Request::HostClock { host: NO_HOST }, failed(Code::NoHost)),
        (notify(99, 1, vec![ME]), failed(Code::BadParam)),
        (notify(1, -1, vec![ME]), Some(Reply::Done)),
        (notify(1, 1, Vec::new()), failed(Code::BadParam)),
        (notify(1, 1, vec![ME, Tid::NONE]), failed(Code::BadParam)),
        (notify(1, 1, vec![HERE]), failed(Code::BadParam)),
        (notify(3, 1, Vec::new()), Some(Reply::Done)),
        (Request::FreeContext { context: 0x40009 }, failed(Code::NotFound)),
        (Request::NewContext, Some(Reply::Number { value: 0x40001 })),
        (Request::NewContext, Some(Reply::Number { value: 0x40002 })),
        (Request::FreeContext { context: 0x40001 }, Some(Reply::Done)),
        (Request::FreeContext { context: 0x40001 }, failed(Code::NotFound)),
        (Request::NewContext, Some(Reply::Number { value: 0x40003 })),
        (Request::GroupMembers { group: group() }, failed(Code::NoGroup)),
        (Request::LeaveGroup { group: group() }, failed(Code::NoGroup)),
        (Request::Barrier { group: group(), count: 1 }, failed(Code::NoGroup)),
        (Request::JoinGroup { group: Blob::default() }, failed(Code::NullGroup)),
        (Request::JoinGroup { group: "g".into() }, Some(Reply::Number { value: 0 })),
        (Request::JoinGroup { group: "g".into() }, failed(Code::DupGroup)),
        (Request::Barrier { group: "g".into(), count: -1 }, Some(Reply::Done)),
        (Request::FreezeGroup { group: "g".into(), size: 1 }, Some(Reply::Number { value: 1 })),
        (Request::FreezeGroup { group: "g".into(), size: 1 }, failed(Code::DupGroup)),
        (Request::LeaveGroup { group: "g".into() }, Some(Reply::Done)),
        (Request::GroupMembers { group: "g".into() }, failed(Code::NoGroup)),
        (Request::Register { service: 3, trace: None, on: true }, Some(Reply::Number { value: 0 })),
        (Request::Register { service: 3, trace: None, on: true }, Some(Reply::Done)),
        (Request::Leave, Some(Reply::Done)),
        (Request::Leave, Some(Reply::Done)),
    ];
    for (request, wanted) in table {
        assert_eq!(host.reply(request.clone()), wanted, "{request:?}");
    }
}

/// The request lay in the socket when its task was killed, so it came after the end of the task: it
/// was taken for a command's, and its message had no owner with whom it would go.
#[test]
fn a_put_that_is_read_behind_the_end_of_its_task_leaves_nothing() {
    let host = &mut Host::with_task();
    host.give(Event::Exited { tid: ME, status: 9 });
    let put = || {
        let message = Message::of_ints(Envelope::new(ME, Address::untagged(ME)), &[7]);
        Request::PutInfo { name: "x".into(), flags: 0, message }
    };
    assert_eq!(host.reply(put()), failed(Code::SysErr));
    host.hello(2, Role::Operator, None);
    let all =
        |host: &mut Host| reply_in(&host.ask(2, Request::MailboxInfo { pattern: Blob::default() }));
    assert_eq!(all(host), Some(Reply::Mailboxes { mailboxes: Vec::new() }));
    // A command has no task and owns nothing, and its messages stay until they are deleted.
    assert_eq!(reply_in(&host.ask(2, put())), Some(Reply::Number { value: 0 }));
    assert!(matches!(all(host), Some(Reply::Mailboxes { mailboxes }) if mailboxes.len() == 1));
    // A task that enrols again is a task like others.
    host.enrol(1, None);
    let again = Request::PutInfo {
        name: "y".into(),
        flags: 0,
        message: Message::of_ints(Envelope::new(ME, Address::untagged(ME)), &[8]),
    };
    assert_eq!(host.reply(again), Some(Reply::Number { value: 0 }));
}

#[test]
fn hosts_are_added_and_deleted_by_name_with_a_code_for_each() {
    let host = &mut Host::with_task();
    let outcomes = |reply| -> Vec<i32> {
        match reply {
            Some(Reply::HostResults { results }) => {
                results.into_iter().map(|result| result.outcome).collect()
            }
            other => panic!("{other:?}"),
        }
    };
    let hosts = vec!["vm".into(), Blob::default()];
    assert_eq!(outcomes(host.reply(Request::AddHosts { hosts })), [-28, -2]);
    let hosts = vec!["nohost".into(), "vm".into()];
    assert_eq!(outcomes(host.reply(Request::DelHosts { hosts })), [-6, -2]);
}

#[test]
fn a_spawn_call_is_answered_when_all_are_started_and_children_know_their_siblings() {
    let host = &mut Host::with_task();
    let effects = host.ask(1, Request::Spawn { spawn: spawn("x", 2, 4, "") });
    let launches: Vec<_> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Launch { launch } => Some(launch.clone()),
            _ => None,
        })
        .collect();
    let [a, b] = [Tid(0x40002), Tid(0x40003)];
    assert_eq!([launches[0].tid, launches[1].tid], [a, b]);
    assert_eq!(launches[0].search, ["/usr/bin".into()]);
    assert_eq!(launches[0].debugger, "/debugger".into());

    // Its output opens with two messages; its hello waits for the other one.
    let effects = host.give(Event::Launched { tid: a, pid: 50 });
    let delivered = effects.iter().filter(|e| matches!(e, Effect::Deliver { to: ME, .. })).count();
    assert_eq!((delivered, effects.len()), (2, 2));
    assert_eq!(host.hello(2, Role::Task, Some(a)), []);
    let failure = Event::LaunchFailed { tid: b, code: Code::NoFile, tried: vec!["/x".into()] };
    let effects = host.give(failure);
    let welcome = effects.iter().find_map(|effect| match effect {
        Effect::Enrol { connection: 2, welcome, .. } => Some(welcome.clone()),
        _ => None,
    });
    let welcome = welcome.expect("all siblings are known now");
    assert_eq!((welcome.parent, welcome.siblings), (ME.as_c_int(), vec![a]));
    assert_eq!(welcome.inherited.context, 3);
    let outcomes = vec![a.as_c_int(), -7];
    assert_eq!(reply_in(&effects), Some(Reply::Spawned { outcomes, tried: vec!["/x".into()] }));

    let reply = host.reply(Request::Spawn { spawn: spawn("x", 2, 1, "nohost") });
    assert_eq!(reply, Some(Reply::Spawned { outcomes: vec![-6, -6], tried: Vec::new() }));
    let effects = host.give(Event::Exited { tid: a, status: 0 });
    assert_eq!(effects, [Effect::Forget { tid: a }]);
}

#[test]
fn notices_come_once_and_at_once_for_what_is_gone() {
    let host = &mut Host::with_task();
    let two = host.enrol(2, None).tid;
    let notices = |effects: Vec<Effect>| -> Vec<(i32, Message)> {
        let delivered = effects.into_iter().filter_map(|effect| match effect {
            Effect::Deliver { to: ME, message } => Some((message.envelope.tag, message)),
            _ => None,
        });
        delivered.collect()
    };
    let of = |tag, int: Tid| {
        let envelope =
            Envelope::new(Tid::NOTICE_SOURCE, Address::new(ME, Tag(tag), Context::FIRST));
        (tag, Message::of_ints(envelope, &[int.as_c_int()]))
    };
    assert_eq!(notices(host.ask(1, notify(1, 50, vec![two, two]))), []);
    assert_eq!(notices(host.ask(1, notify(1, 51, vec![two]))), []);
    let cancel =
        Request::Notify { kind: 1, cancel: true, context: 0, tag: 51, count: 0, tids: vec![two] };
    assert_eq!(notices(host.ask(1, cancel.clone())), [of(51, two)]);
    assert_eq!(notices(host.ask(1, cancel)), []);
    let exited = Event::Exited { tid: two, status: 0 };
    assert_eq!(notices(host.give(exited.clone())), [of(50, two), of(50, two)]);
    assert_eq!(notices(host.give(exited)), []);
    assert_eq!(notices(host.ask(1, notify(1, 52, vec![two]))), [of(52, two)]);
    assert_eq!(notices(host.ask(1, notify(2, 53, vec![NO_HOST]))), [of(53, NO_HOST)]);
    assert_eq!(notices(host.ask(1, notify(2, 54, vec![ME]))), []);
}

/// [`Effect::Forget`] marks the lanes of a dead task, which may have published a message without
/// saying so. A watcher that had the notice first took that message behind it.
#[test]
fn a_notice_came_before_the_lanes_of_the_dead_task_were_marked() {
    let host = &mut Host::with_task();
    let two = host.enrol(2, None).tid;
    host.ask(1, notify(1, 50, vec![two]));
    let effects = host.give(Event::Exited { tid: two, status: 9 });
    let is_notice = |effect: &Effect| matches!(effect, Effect::Deliver { to: ME, .. });
    let notice = effects.iter().position(is_notice).expect("a notice");
    let forgotten = effects.iter().position(|effect| *effect == Effect::Forget { tid: two });
    assert!(forgotten.expect("forgotten") < notice, "{effects:?}");
}

#[test]
fn output_without_a_receiver_goes_to_the_log_line_by_line() {
    let host = &mut Host::with_task();
    let tid = Tid(0x40002);
    let mut silent = spawn("/x", 1, 0, "");
    silent.inherited.output.tid = Tid::NONE;
    host.ask(1, Request::Spawn { spawn: silent });
    host.give(Event::Launched { tid, pid: 50 });
    let wrote = |bytes: &str| Event::Wrote { tid, stream: 1, bytes: bytes.into() };
    let log = |text: &str| Effect::Log { text: format!("[t40002] {text}") };
    assert_eq!(host.give(wrote("one\ntw")), [log("one")]);
    assert_eq!(host.give(wrote("o\nrest")), [log("two")]);
    assert_eq!(host.give(Event::OutputEnded { tid }), [log("rest")]);
    assert_eq!(host.give(wrote("x\n")), [log("x")]);
}

#[test]
fn a_process_that_leaves_gets_the_next_id_and_a_closed_one_is_gone_after_a_while() {
    let host = &mut Host::with_task();
    assert_eq!(host.ask(1, Request::Leave)[0], Effect::Forget { tid: ME });
    assert_eq!(host.enrol(1, None).tid, Tid(0x40002));
    assert_eq!(host.give(Event::Closed { connection: 1 }), []);
    let at = host.0.poll_timeout().expect("it is not waited for for ever");
    host.0.handle_timeout(at);
    let outputs: Vec<_> = std::iter::from_fn(|| host.0.poll_output()).collect();
    assert_eq!(outputs[0], Output::Effect(Effect::Forget { tid: Tid(0x40002) }));
    assert_eq!(host.0.poll_timeout(), None);
}

#[test]
fn a_command_gets_the_output_and_the_ends_of_its_tasks() {
    let host = &mut Host::with_task();
    let ready = host.hello(2, Role::Operator, None);
    assert_eq!(reply_in(&ready), Some(Reply::Ready { host: HostIndex(1) }));
    let effects = host.ask(2, Request::Run { spawn: spawn("x", 1, 0, "") });
    let tid = Tid(0x40002);
    let launched = effects.iter().any(
        |effect| matches!(effect, Effect::Launch { launch } if launch.fed && launch.split_output),
    );
    assert!(launched);
    // It may write before the command was told that it runs; the command hears of it after that.
    assert_eq!(host.give(Event::Wrote { tid, stream: 2, bytes: "e".into() }), []);
    let effects = host.give(Event::Launched { tid, pid: 50 });
    let outcomes = vec![tid.as_c_int()];
    assert_eq!(reply_in(&effects), Some(Reply::Spawned { outcomes, tried: Vec::new() }));
    let output = Reply::Output { tid, bytes: "e".into(), stream: 2 };
    assert_eq!(effects[1], Effect::Reply { connection: 2, id: 2, reply: output });
    host.ask(2, Request::Feed { tid, bytes: "in".into() });
    assert_eq!(host.enrol(3, Some(tid)).parent, Code::NoParent.number());
    assert_eq!(host.give(Event::Exited { tid, status: 256 }), [Effect::Forget { tid }]);
    let effects = host.give(Event::OutputEnded { tid });
    let reply = |reply| Effect::Reply { connection: 2, id: 2, reply };
    assert_eq!(effects, [reply(Reply::Exited { tid, status: 256 }), reply(Reply::Finished)]);
}

/// A command on connection 2 whose task is on connection 3.
fn command_with_task(host: &mut Host) -> Tid {
    host.hello(2, Role::Operator, None);
    host.ask(2, Request::Run { spawn: spawn("x", 1, 0, "") });
    let tid = Tid(0x40002);
    host.give(Event::Launched { tid, pid: 50 });
    assert_eq!(host.enrol(3, Some(tid)).tid, tid);
    tid
}

fn told(effects: &[Effect]) -> Vec<Reply> {
    let to_command = |effect: &Effect| match effect {
        Effect::Reply { connection: 2, id: 2, reply } => Some(reply.clone()),
        _ => None,
    };
    effects.iter().filter_map(to_command).collect()
}

#[test]
fn what_a_commands_task_spawns_belongs_to_the_command() {
    let host = &mut Host::with_task();
    let master = command_with_task(host);
    let mut quiet = spawn("y", 1, 0, "");
    quiet.inherited.output.tid = Tid::NONE;
    host.ask(3, Request::Spawn { spawn: quiet.clone() });
    let child = Tid(0x40003);
    let joined = |tid| vec![Reply::Joined { tids: vec![tid] }];
    assert_eq!(told(&host.give(Event::Launched { tid: child, pid: 51 })), joined(child));
    // The process leaves and enrols again: under another number, but it is the same program.
    let connection = 4;
    let program = "p".into();
    host.ask(3, Request::Leave);
    host.give(Event::Hello {
        connection,
        id: 1,
        role: Role::Task,
        program,
        reset: true,
        pid: 1003,
        launched: None,
    });
    let mut caught = quiet;
    caught.inherited.output.tid = ME;
    host.ask(connection, Request::Spawn { spawn: caught });
    let other = Tid(0x40005);
    assert_eq!(told(&host.give(Event::Launched { tid: other, pid: 52 })), joined(other));

    let wrote = |tid| Event::Wrote { tid, stream: 2, bytes: "e\n".into() };
    let output = |tid| vec![Reply::Output { tid, bytes: "e\n".into(), stream: 2 }];
    assert_eq!(told(&host.give(wrote(child))), output(child));
    let caught = host.give(wrote(other));
    assert!(matches!(caught[..], [Effect::Deliver { to: ME, .. }]), "{caught:?}");
    let nobody = Target { tid: Tid::NONE, context: 0, tag: 0 };
    assert_eq!(host.ask(3, Request::SetOutput { output: nobody }).len(), 1);

    let mut end = |tid| {
        host.give(Event::OutputEnded { tid });
        told(&host.give(Event::Exited { tid, status: 256 }))
    };
    let exited = |tid| Reply::Exited { tid, status: 256 };
    assert_eq!(end(master), [exited(master)]);
    assert_eq!(end(child), [exited(child)]);
    assert_eq!(end(other), [exited(other), Reply::Finished]);
}

#[test]
fn a_command_that_goes_away_takes_along_what_is_being_spawned() {
    let host = &mut Host::with_task();
    let master = command_with_task(host);
    host.ask(3, Request::Spawn { spawn: spawn("y", 1, 0, "") });
    let killed = |tid| Effect::Signal { tid, signal: 9 };
    assert_eq!(host.give(Event::Closed { connection: 2 }), [killed(master)]);
    let effects = host.give(Event::Launched { tid: Tid(0x40003), pid: 51 });
    assert!(effects.contains(&killed(Tid(0x40003))), "{effects:?}");
}

#[test]
fn tracing_that_somebody_else_sets_is_handed_on_to_what_is_spawned_then() {
    let host = &mut Host::with_task();
    let options = |buffer| {
        let target = Target { tid: Tid(0x40009), context: 0, tag: 1 };
        TraceOptions { target, buffer, options: 0, mask: "m".into() }
    };
    host.hello(2, Role::Operator, None);
    let first = |host: &mut Host, setter, buffer, tid, connection| {
        let set = Request::SetTrace { tid: ME, trace: options(buffer) };
        assert_eq!(reply_in(&host.ask(setter, set)), Some(Reply::Done));
        host.ask(1, Request::Spawn { spawn: spawn("y", 1, 0, "") });
        host.give(Event::Launched { tid, pid: 51 });
        host.enrol(connection, Some(tid)).inherited.trace
    };
    assert_eq!(first(host, 2, 7, Tid(0x40002), 3), options(7));
    // Its own word counts from then on: it says in each spawn call what is inherited.
    assert_eq!(first(host, 1, 8, Tid(0x40003), 4), spawn("y", 1, 0, "").inherited.trace);
}

/// The first int of each message to `whom` under the tag, and the event's number behind it.
fn traced(effects: &[Effect], whom: Tid) -> Vec<[i32; 2]> {
    let message = |effect: &Effect| match effect {
        Effect::Deliver { to, message } if *to == whom && message.envelope.tag == 66 => {
            assert!(message.is_sound());
            assert_eq!(message.envelope.context, 9);
            let int = |at| i32::from_ne_bytes(message.body.0[at..at + 4].try_into().expect("four"));
            Some([int(0), int(4)])
        }
        _ => None,
    };
    effects.iter().filter_map(message).collect()
}

/// Table of data, then events: described, and again.
const TABLE: [i32; 2] = [-3, 0];
const DESCRIBED: i32 = -5;
const AGAIN: i32 = -7;

#[test]
fn a_tracer_saw_no_task_come_or_go() {
    let host = &mut Host::with_task();
    let mut wanted = spawn("y", 1, 0, "");
    wanted.inherited.trace.target = Target { tid: ME, context: 9, tag: 66 };
    let mut seen = Vec::new();
    let (first, second) = (Tid(0x40002), Tid(0x40003));
    for (tid, connection) in [(first, 2), (second, 3)] {
        seen.extend(traced(&host.ask(1, Request::Spawn { spawn: wanted.clone() }), ME));
        seen.extend(traced(&host.give(Event::Launched { tid, pid: 51 }), ME));
        seen.extend(traced(&host.hello(connection, Role::Task, Some(tid)), ME));
    }
    let begun = |mark| [[mark, 75], [mark, 77]];
    assert_eq!(seen, [&[TABLE][..], &begun(DESCRIBED), &begun(AGAIN)].concat());
    // What a task has written comes before its end.
    assert!(traced(&host.give(Event::Exited { tid: first, status: 256 }), ME).is_empty());
    let ended = traced(&host.give(Event::OutputEnded { tid: first }), ME);
    assert_eq!(ended, [[DESCRIBED, 76]]);
    assert!(traced(&host.give(Event::OutputEnded { tid: second }), ME).is_empty());
    let ended = traced(&host.give(Event::Exited { tid: second, status: 9 }), ME);
    assert_eq!(ended, [[AGAIN, 76]]);
}

#[test]
fn a_tracer_hears_nothing_of_what_could_not_be_started() {
    let host = &mut Host::with_task();
    let mut wanted = spawn("y", 1, 0, "");
    wanted.inherited.trace.target = Target { tid: ME, context: 9, tag: 66 };
    let mut effects = host.ask(1, Request::Spawn { spawn: wanted });
    let (tid, code) = (Tid(0x40002), Code::NoFile);
    effects.extend(host.give(Event::LaunchFailed { tid, code, tried: Vec::new() }));
    assert!(traced(&effects, ME).is_empty());
}

#[test]
fn context_and_tag_of_a_registered_tracer_were_thrown_away() {
    let host = &mut Host::with_task();
    let target = Target { tid: ME, context: 9, tag: 66 };
    let trace = TraceOptions { target, buffer: 7, options: 1, mask: "@".into() };
    let output = Target { tid: ME, context: 8, tag: 67 };
    let given = Inherited { context: 0, output, trace };
    host.ask(1, Request::RegisterTracer { given: given.clone() });
    // A task that was not spawned, as PVM tells of it, and to its end.
    let effects = host.hello(2, Role::Task, None);
    assert_eq!(traced(&effects, ME), [TABLE, [DESCRIBED, 75]]);
    let welcome = effects.into_iter().find_map(|effect| match effect {
        Effect::Enrol { welcome, .. } => Some(welcome.inherited),
        _ => None,
    });
    assert_eq!(welcome, Some(given.clone()));
    assert_eq!(traced(&host.ask(2, Request::Leave), ME), [[DESCRIBED, 76]]);
    // A task whose parent has no tracer: its output goes there, too.
    let mut wanted = spawn("y", 1, 0, "");
    wanted.inherited.output.tid = Tid::NONE;
    host.ask(1, Request::Spawn { spawn: wanted });
    let tid = Tid(0x40003);
    assert!(traced(&host.give(Event::Launched { tid, pid: 51 }), ME).is_empty());
    assert_eq!(host.enrol(3, Some(tid)).inherited.output, given.output);
    let wrote = host.give(Event::Wrote { tid, stream: 1, bytes: "hello".into() });
    assert!(
        matches!(&wrote[..], [Effect::Deliver { message, .. }] if message.envelope.tag == 67),
        "{wrote:?}"
    );
}

#[test]
fn thousands_of_tasks_are_started_in_one_call_and_no_frame_grows_beyond_its_bound() {
    let host = &mut Host::with_task();
    let count = 4000;
    let mut quiet = spawn("/x", count, 0, "");
    quiet.inherited.output.tid = Tid::NONE;
    host.ask(1, Request::Spawn { spawn: quiet });
    let tids: Vec<_> = (2..).take(4000).map(|local| Tid::task(HostIndex(1), local)).collect();
    // All but the last have said hello before it is started.
    for (connection, &tid) in (10..).zip(&tids) {
        host.hello(connection, Role::Task, Some(tid));
    }
    let mut welcomed = 0;
    let mut largest = 0;
    let mut count_in = |effects: Vec<Effect>| {
        welcomed += effects.iter().filter(|e| matches!(e, Effect::Enrol { .. })).count();
        let size: usize = effects.iter().map(|effect| effect.to_bytes().len()).sum();
        largest = largest.max(size);
    };
    for &tid in &tids {
        count_in(host.give(Event::Launched { tid, pid: 1 }));
    }
    while let Some(at) = host.0.poll_timeout() {
        host.0.handle_timeout(at);
        let outputs = std::iter::from_fn(|| host.0.poll_output());
        count_in(
            outputs
                .filter_map(|output| match output {
                    Output::Effect(effect) => Some(effect),
                    Output::Act(_) => None,
                })
                .collect(),
        );
    }
    assert_eq!(welcomed, 4000);
    assert!(largest < FRAME_BYTES_MAX / 2, "{largest}");

    // The arguments of one task have a bound, not those of all together.
    let mut large = spawn("/x", 4000, 0, "");
    large.args = vec![Blob(vec![b'x'; 100_000]); 200];
    assert_eq!(host.reply(Request::Spawn { spawn: large }), failed(Code::OutOfRes));
}

#[test]
fn what_is_asked_about_a_tasks_memory_is_asked_of_the_parent_and_answered_once() {
    let host = &mut Host::with_task();
    let get = |owner, bytes| Request::GetMemory { owner, number: 7, offset: 8, bytes };
    let effects = host.ask(1, get(ME, 4));
    let asked = effects.iter().find_map(|effect| match effect {
        Effect::Ask { ticket, request } => Some((*ticket, request.clone())),
        _ => None,
    });
    let (ticket, request) = asked.expect("a question");
    assert_eq!((request, reply_in(&effects)), (get(ME, 4), None));
    let reply = Reply::Memory { bytes: Blob(vec![1, 2, 3, 4]) };
    let answered = |host: &mut Host| host.give(Event::Answered { ticket, reply: reply.clone() });
    assert_eq!(reply_in(&answered(host)), Some(reply.clone()));
    assert_eq!(reply_in(&answered(host)), None);
    // Too much for one piece, a task that is not there, a host that is not there.
    assert_eq!(host.reply(get(ME, u32::MAX)), failed(Code::BadParam));
    assert_eq!(host.reply(get(Tid(0x40999), 4)), failed(Code::NoTask));
    assert_eq!(host.reply(get(Tid(0x80001), 4)), failed(Code::NoTask));
    assert_eq!(host.reply(get(Tid::NONE, 4)), failed(Code::BadParam));
}

#[test]
fn contexts_of_a_task_that_is_gone_are_free() {
    let host = &mut Host::with_task();
    host.enrol(2, None);
    let made = reply_in(&host.ask(2, Request::NewContext));
    let Some(Reply::Number { value: context }) = made else { panic!("no context: {made:?}") };
    assert!(matches!(host.reply(Request::NewContext), Some(Reply::Number { .. })));
    host.ask(2, Request::Leave);
    assert_eq!(host.reply(Request::FreeContext { context }), failed(Code::NotFound));
    let own = host.reply(Request::FreeContext { context: context + 1 });
    assert_eq!(own, Some(Reply::Done), "that of another task stays");
}

/// The number of daemons that a request for `count` hosts starts, and its answers at once.
fn started(count: u32) -> (usize, Vec<Reply>) {
    let mut host = Host::with_task();
    host.hello(2, Role::Operator, None);
    let request = Request::AddLocal { count };
    let asked = Event::Asked { connection: 2, id: 5, request };
    host.0.handle(Time(1_000_000), Input::Event(asked));
    let (mut starts, mut replies) = (0, Vec::new());
    while let Some(output) = host.0.poll_output() {
        match output {
            Output::Act(Act::StartHost { .. }) => starts += 1,
            Output::Effect(Effect::Reply { reply, .. }) => replies.push(reply),
            _ => {}
        }
    }
    (starts, replies)
}

#[test]
fn a_request_for_more_than_256_hosts_was_refused() {
    assert_eq!(started(257), (257, vec![]));
    assert_eq!(started(4095), (4095, vec![]));
    assert_eq!(started(4096), (0, vec![Reply::Failed { code: Code::OutOfRes }]));
}
