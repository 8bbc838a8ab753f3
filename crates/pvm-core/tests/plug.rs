//! Tasks that do a part of the daemon's work: what they are told, and what their answers do. The
//! messages are those of PVM 3.4.6 (conformance/facts.md).

#[path = "support/config.rs"]
mod config;

use config::{config, setup};
use pvm_core::io::{Act, Effect, Event, HostFacts, Input, News, Output};
use pvm_core::{Config, Machine, Time};
use pvm_wire::request::{
    Failure, Inherited, Reply, Request, Role, SpawnRequest, Target, TraceOptions,
};
use pvm_wire::{
    Address, Blob, Body, Code, Context, Cursor, Encoding, Envelope, HostIndex, Kind, Message,
    RunList, Tag, Tid, plug,
};
use std::collections::BTreeMap;

const ME: Tid = Tid(0x40001);
const ASKER: Tid = Tid(0x40002);
const DAEMON: Tid = Tid::NOTICE_SOURCE;
/// The connections of the two.
const MINE: u64 = 1;
const ASKERS: u64 = 2;

struct Host {
    machine: Machine,
    now: u64,
    acts: Vec<Act>,
    /// The records that the parent keeps.
    records: BTreeMap<Blob, Blob>,
}

fn one_host() -> Config {
    let facts = HostFacts { name: "h1".into(), arch: "A".into(), ..HostFacts::default() };
    config(HostIndex(1), facts)
}

/// An item of a message.
#[derive(Debug, PartialEq, Eq, Clone)]
enum Item {
    Int(i32),
    Text(Blob),
}

fn int(value: i32) -> Item {
    Item::Int(value)
}

fn text(value: &str) -> Item {
    Item::Text(value.into())
}

fn message(tag: i32, wait_id: i32, items: &[Item]) -> Message {
    let (mut body, mut runs) = (Vec::new(), RunList::new());
    for item in items {
        let number = match item {
            Item::Int(value) => *value,
            Item::Text(text) => i32::try_from(text.0.len() + 1).expect("short"),
        };
        body.extend(number.to_ne_bytes());
        runs.push(Kind::Int, 1);
        if let Item::Text(text) = item {
            body.extend_from_slice(&text.0);
            body.push(0);
            runs.push(Kind::Byte, text.0.len() + 1);
        }
    }
    let mut envelope = Envelope::new(Tid::NONE, Address::new(Tid::NONE, Tag(tag), Context::FIRST));
    envelope.wait_id = wait_id;
    envelope.describe(Encoding::Default, body.len(), &runs);
    if runs.len() > 1 {
        body.extend(runs.iter().flat_map(|run| run.to_word().to_le_bytes()));
    }
    Message { envelope, body: Blob(body) }
}

/// The items of a message: `i` an int, `s` a text.
fn items(message: &Message, form: &str) -> Vec<Item> {
    assert!(message.is_sound());
    let size = usize::try_from(message.envelope.data_size).expect("small");
    let (data, list) = message.body.0.split_at(size);
    let runs = message.envelope.runs(list).expect("sound");
    let data = data.to_vec();
    let body = Body { data: &data, runs: &runs, encoding: message.envelope.encoding };
    let mut cursor = Cursor::new();
    let read = |cursor: &mut Cursor| {
        let mut bytes = [0; 4];
        cursor.read(body, Kind::Int, &mut bytes).expect("an int is there");
        i32::from_ne_bytes(bytes)
    };
    let all = form.chars().map(|kind| {
        let number = read(&mut cursor);
        if kind == 'i' {
            return Item::Int(number);
        }
        let mut text = vec![0; usize::try_from(number).expect("a length")];
        cursor.read(body, Kind::Byte, &mut text).expect("a text is there");
        assert_eq!(text.pop(), Some(0));
        Item::Text(Blob(text))
    });
    let all = all.collect();
    assert_eq!(cursor.done(), body.reported_size(), "the message holds more");
    all
}

impl Host {
    /// One host with two tasks.
    fn new() -> Self {
        let machine = Machine::new(one_host(), setup());
        let records = BTreeMap::new();
        let mut host = Self { machine, now: 1_000_000, acts: Vec::new(), records };
        host.outputs();
        host.hello(MINE, None);
        host.hello(ASKERS, None);
        host
    }

    /// The daemon is killed, and another takes its place.
    fn restart(&mut self) {
        let records: Vec<_> = self.records.clone().into_iter().collect();
        self.machine = Machine::restore(one_host(), setup(), &records);
        // It leads again before anything else happens.
        for _ in 0..2 {
            self.machine.handle_timeout(Time(self.now));
            self.now += 50_000_000;
        }
        self.outputs();
        self.acts.clear();
    }

    fn input(&mut self, input: Input) -> Vec<Effect> {
        self.machine.handle(Time(self.now), input);
        self.outputs()
    }

    fn outputs(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        while let Some(output) = self.machine.poll_output() {
            match output {
                Output::Effect(Effect::Save { key, value: Some(value) }) => {
                    self.records.insert(key, value);
                }
                Output::Effect(Effect::Save { key, value: None }) => {
                    self.records.remove(&key);
                }
                Output::Effect(Effect::Log { .. }) => {}
                Output::Effect(effect) => effects.push(effect),
                Output::Act(act) => self.acts.push(act),
            }
        }
        effects
    }

    fn give(&mut self, event: Event) -> Vec<Effect> {
        self.input(Input::Event(event))
    }

    fn hello(&mut self, connection: u64, launched: Option<Tid>) -> Vec<Effect> {
        let pid = 1000 + u32::try_from(connection).expect("small");
        let (program, role) = ("p".into(), Role::Task);
        self.give(Event::Hello { connection, id: 1, role, program, reset: true, pid, launched })
    }

    fn ask(&mut self, connection: u64, request: Request) -> Vec<Effect> {
        self.give(Event::Asked { connection, id: 2, request })
    }

    fn register(&mut self, connection: u64, service: i32) -> Option<Reply> {
        let effects = self.ask(connection, Request::Register { service, trace: None, on: true });
        replies(&effects).pop()
    }

    fn post(&mut self, connection: u64, to: Tid, message: Message) -> Vec<Effect> {
        self.ask(connection, Request::Post { to, message })
    }

    /// A task ends.
    fn end(&mut self, connection: u64, tid: Tid) -> Vec<Effect> {
        let mut effects = self.give(Event::Closed { connection });
        effects.extend(self.give(Event::Exited { tid, status: 0 }));
        effects
    }

    fn invite(&mut self, ticket: u64, name: &str) -> Vec<Effect> {
        self.input(Input::News(News::Invited {
            ticket,
            login: name.into(),
            options: "pw".into(),
            command: "run".into(),
            vmid: Blob::default(),
        }))
    }

    /// The tickets of the invitations that the shell was asked for.
    fn invitations(&mut self) -> Vec<u64> {
        let acts = std::mem::take(&mut self.acts);
        let ticket = |act| match act {
            Act::Invite { ticket, .. } => Some(ticket),
            _ => None,
        };
        acts.into_iter().filter_map(ticket).collect()
    }
}

fn replies(effects: &[Effect]) -> Vec<Reply> {
    let reply = |effect: &Effect| match effect {
        Effect::Reply { reply, .. } => Some(reply.clone()),
        _ => None,
    };
    effects.iter().filter_map(reply).collect()
}

/// The messages to a task, with a tag.
fn told(effects: &[Effect], whom: Tid, tag: i32) -> Vec<Message> {
    let message = |effect: &Effect| match effect {
        Effect::Deliver { to, message } if *to == whom && message.envelope.tag == tag => {
            Some(message.clone())
        }
        _ => None,
    };
    effects.iter().filter_map(message).collect()
}

fn outcomes(reply: &Reply) -> Vec<i32> {
    match reply {
        Reply::HostResults { results } => results.iter().map(|result| result.outcome).collect(),
        Reply::Spawned { outcomes, .. } => outcomes.clone(),
        other => panic!("{other:?}"),
    }
}

fn spawn(count: i32) -> Request {
    let nobody = Target { tid: Tid::NONE, context: 0, tag: 0 };
    let trace = TraceOptions { target: nobody.clone(), buffer: 0, options: 0, mask: "@".into() };
    Request::Spawn {
        spawn: SpawnRequest {
            file: "prog".into(),
            args: vec!["a".into()],
            flags: 4,
            place: Blob::default(),
            count,
            environment: vec!["X=y".into()],
            whole_environment: false,
            directory: Blob::default(),
            inherited: Inherited { context: 0x66, output: nobody, trace },
        },
    }
}

fn add(names: &[&str]) -> Request {
    Request::AddHosts { hosts: names.iter().map(|&name| name.into()).collect() }
}

/// Two hosts have been asked for, and the hoster knows; what it was told.
fn hosting(host: &mut Host) -> Message {
    assert_eq!(host.register(MINE, 2), Some(Reply::Number { value: 0 }));
    assert_eq!(host.ask(ASKERS, add(&["h2", "h3"])), []);
    let tickets = host.invitations();
    assert_eq!(host.invite(tickets[0], "h2"), []);
    let effects = host.invite(tickets[1], "me@h3");
    told(&effects, ME, plug::START_HOST).pop().expect("the hoster is told")
}

#[test]
fn a_hoster_is_told_all_hosts_of_a_request_together() {
    let host = &mut Host::new();
    let asked = hosting(host);
    assert_eq!(asked.envelope.src, DAEMON);
    let told = [
        vec![int(2)],
        vec![int(0x80000), text("pw"), text("h2"), text("run"), text(""), text("")],
        vec![int(0xc0000), text("pw"), text("me@h3"), text("run"), text(""), text("")],
    ];
    assert_eq!(items(&asked, "iisssssisssss"), told.concat());
}

#[test]
fn the_answer_of_a_hoster_counts_for_each_host() {
    let host = &mut Host::new();
    let wait = hosting(host).envelope.wait_id;
    let answer = [int(2), int(0xc0000), text("PvmDupHost"), int(0x80000), text("its line")];
    let effects = host.post(MINE, DAEMON, message(plug::START_HOST_ACK, wait, &answer));
    assert_eq!(replies(&effects), [Reply::Done]);
    let said = host.acts.pop();
    let Some(Act::HosterSaid { ticket, answer }) = said else { panic!("{said:?}") };
    assert_eq!(answer, "its line".into());
    let (code, failure) = (Code::BadVersion, Failure::default());
    let effects = host.input(Input::News(News::HostFailed { ticket, code, failure }));
    let codes = replies(&effects).iter().map(outcomes).collect::<Vec<_>>();
    assert_eq!(codes, [[code.number(), Code::DupHost.number()]]);
}

#[test]
fn a_hoster_that_answers_nonsense_fails_the_request() {
    let wrong: [&[Item]; 4] = [
        &[int(2), int(0x80000), text("x")],
        &[int(1), int(0x999_0000), text("x")],
        &[int(0x80000), text("x"), int(0xc0000), text("x")],
        &[],
    ];
    for answer in wrong {
        let host = &mut Host::new();
        let wait = hosting(host).envelope.wait_id;
        let effects = host.post(MINE, DAEMON, message(plug::START_HOST_ACK, wait, answer));
        let failed = Reply::Failed { code: Code::DSysErr };
        assert_eq!(replies(&effects), [Reply::Done, failed], "{answer:?}");
        // The next request is served.
        assert_eq!(host.ask(ASKERS, add(&["h4"])), []);
        assert_eq!(host.invitations().len(), 1);
    }
}

#[test]
fn an_answer_in_another_encoding_is_nonsense() {
    let host = &mut Host::new();
    let wait = hosting(host).envelope.wait_id;
    let mut answer = message(plug::START_HOST_ACK, wait, &[int(0)]);
    answer.envelope.encoding = Encoding::Raw;
    answer.envelope.run_count = 0;
    let effects = host.post(MINE, DAEMON, answer);
    assert_eq!(replies(&effects), [Reply::Done, Reply::Failed { code: Code::DSysErr }]);
}

#[test]
fn a_host_that_the_hoster_leaves_out_is_not_started() {
    let host = &mut Host::new();
    let wait = hosting(host).envelope.wait_id;
    let answer = message(plug::START_HOST_ACK, wait, &[int(0)]);
    let effects = host.post(MINE, DAEMON, answer.clone());
    let code = Code::CantStart.number();
    assert_eq!(outcomes(&replies(&effects)[1]), [code, code]);
    // A second answer is for no one.
    assert_eq!(replies(&host.post(MINE, DAEMON, answer)), [Reply::Done]);
}

#[test]
fn a_hoster_that_ends_fails_what_it_was_asked_and_nothing_after() {
    let host = &mut Host::new();
    hosting(host);
    let effects = host.end(MINE, ME);
    assert_eq!(replies(&effects), [Reply::Failed { code: Code::DSysErr }]);
    host.acts.clear();
    host.ask(ASKERS, add(&["h2"]));
    assert!(matches!(host.acts[..], [Act::StartHost { .. }]), "{:?}", host.acts);
}

#[test]
fn a_hoster_that_does_not_answer_is_not_waited_for_for_ever() {
    let host = &mut Host::new();
    let wait = hosting(host).envelope.wait_id;
    let at = host.machine.poll_timeout().expect("there is a limit");
    host.now = at.0;
    host.machine.handle_timeout(at);
    let effects = host.outputs();
    let code = Code::CantStart.number();
    assert_eq!(replies(&effects).iter().map(outcomes).collect::<Vec<_>>(), [[code, code]]);
    host.acts.clear();
    let late = [int(2), int(0x80000), text("x"), int(0xc0000), text("x")];
    let effects = host.post(MINE, DAEMON, message(plug::START_HOST_ACK, wait, &late));
    assert_eq!((replies(&effects), &host.acts[..]), (vec![Reply::Done], &[][..]));
}

#[test]
fn a_host_that_cannot_be_invited_does_not_hold_up_the_others() {
    let host = &mut Host::new();
    host.register(MINE, 2);
    host.ask(ASKERS, add(&["h2", "h3"]));
    let tickets = host.invitations();
    host.invite(tickets[1], "h3");
    let (code, failure) = (Code::NoHost, Failure::default());
    let failed = News::HostFailed { ticket: tickets[0], code, failure };
    let effects = host.input(Input::News(failed));
    let asked = told(&effects, ME, plug::START_HOST).pop().expect("asked for the other");
    assert_eq!(items(&asked, "iisssss")[..2], [int(1), int(0xc0000)]);
}

#[test]
fn an_answer_of_one_who_is_no_hoster_is_dropped() {
    let host = &mut Host::new();
    let wait = hosting(host).envelope.wait_id;
    let answer = [int(2), int(0x80000), text("x"), int(0xc0000), text("x")];
    let effects = host.post(ASKERS, DAEMON, message(plug::START_HOST_ACK, wait, &answer));
    assert_eq!(replies(&effects), [Reply::Done]);
    assert_eq!(host.acts, []);
}

#[test]
fn there_is_one_hoster_and_one_tasker_of_a_host_and_a_second_call_takes_it_back() {
    let host = &mut Host::new();
    for service in [2, 3] {
        assert_eq!(host.register(MINE, service), Some(Reply::Number { value: 0 }));
        let already = Reply::Failed { code: Code::Already };
        assert_eq!(host.register(ASKERS, service), Some(already));
        assert_eq!(host.register(MINE, service), Some(Reply::Done));
        assert_eq!(host.register(ASKERS, service), Some(Reply::Number { value: 0 }));
    }
}

/// A task was given to the tasker; what it was told.
fn given(host: &mut Host) -> (Tid, Message) {
    assert_eq!(host.register(MINE, 3), Some(Reply::Number { value: 0 }));
    let effects = host.ask(ASKERS, spawn(1));
    let [Effect::Launch { launch }] = &effects[..] else { panic!("{effects:?}") };
    assert_ne!(launch.cookie, 0);
    let tid = launch.tid;
    let effects = host.give(Event::Found { tid, path: "/bin/prog".into() });
    assert_eq!(outcomes(&replies(&effects)[0]), [tid.as_c_int()]);
    (tid, told(&effects, ME, plug::START_TASK).pop().expect("the tasker is told"))
}

fn flags(host: &mut Host, tid: Tid) -> Vec<i32> {
    let effects = host.ask(ASKERS, Request::Tasks { place: tid });
    match &replies(&effects)[..] {
        [Reply::Tasks { tasks }] => tasks.iter().map(|task| task.flags).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_tasker_is_told_path_arguments_and_environment() {
    let host = &mut Host::new();
    let (tid, told) = given(host);
    let expected = [
        vec![int(tid.as_c_int()), int(4), text("/bin/prog")],
        vec![int(2), text("/bin/prog"), text("a")],
        vec![int(6), text("PVMEPID=10000000"), text("PVMTMASK=@"), text("PVMTRCBUF=0")],
        vec![text("PVMTRCOPT=0"), text("PVMCTX=0x66"), text("X=y"), int(0), int(1), int(1)],
    ];
    assert_eq!(items(&told, "iisississssssiii"), expected.concat());
    assert_eq!((flags(host, tid), flags(host, ME)), (vec![0], vec![0x404]));
}

#[test]
fn a_tasks_end_is_told_by_its_tasker() {
    let host = &mut Host::new();
    let (tid, _) = given(host);
    let watch =
        Request::Notify { kind: 1, cancel: false, context: 0, tag: 7, count: 0, tids: vec![tid] };
    host.ask(ASKERS, watch);
    let end = message(plug::TASK_END, 0, &[int(tid.as_c_int()), int(256)]);
    // Another task may not give orders.
    assert_eq!(told(&host.post(ASKERS, DAEMON, end.clone()), ASKER, 7), []);
    let effects = host.post(MINE, DAEMON, end);
    assert_eq!(told(&effects, ASKER, 7).len(), 1);
    assert_eq!(flags(host, tid), []);
}

#[test]
fn an_enrolled_task_ends_with_its_process_and_has_the_status_that_the_tasker_tells() {
    let host = &mut Host::new();
    let (tid, _) = given(host);
    let effects = host.hello(3, Some(tid));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Enrol { .. })), "{effects:?}");
    assert_eq!(flags(host, tid), [4]);
    host.register(ASKERS, 1);
    let end = message(plug::TASK_END, 0, &[int(tid.as_c_int()), int(256)]);
    assert_eq!(told(&host.post(MINE, DAEMON, end), ASKER, plug::TASK_END), []);
    let effects = host.end(3, tid);
    let ends = told(&effects, ASKER, plug::TASK_END);
    let expected = [int(tid.as_c_int()), int(256), int(0), int(0), int(0), int(0)];
    assert_eq!(items(&ends[0], "iiiiii"), expected);
}

#[test]
fn the_tasks_that_a_tasker_has_not_brought_to_life_end_with_it() {
    let host = &mut Host::new();
    let (tid, _) = given(host);
    let effects = host.ask(ASKERS, spawn(1));
    let [Effect::Launch { launch }] = &effects[..] else { panic!("{effects:?}") };
    let unfound = launch.tid;
    host.end(MINE, ME);
    assert_eq!(flags(host, tid), []);
    // One whose program is found too late is told to have failed.
    let effects = host.give(Event::Found { tid: unfound, path: "/bin/prog".into() });
    assert_eq!(outcomes(&replies(&effects)[0]), [Code::DSysErr.number()]);
    let effects = host.ask(ASKERS, spawn(1));
    assert!(matches!(&effects[..], [Effect::Launch { launch }] if launch.cookie == 0));
}

#[test]
fn what_tasks_ask_goes_to_the_manager_and_its_answer_back() {
    let host = &mut Host::new();
    host.register(MINE, 1);
    let effects = host.ask(ASKERS, Request::Config);
    let [asked] = &told(&effects, ME, plug::CONFIG)[..] else { panic!("{effects:?}") };
    assert_eq!((asked.envelope.src, items(asked, "")), (ASKER, Vec::new()));
    assert_eq!(replies(&effects), []);
    let answer = [int(1), int(1), int(0x40000), text("fake"), text("B"), int(7), int(8)];
    let answer = message(plug::CONFIG, asked.envelope.wait_id, &answer);
    let effects = host.post(MINE, ASKER, answer);
    let Some(Reply::Hosts { hosts }) = replies(&effects).pop() else { panic!("{effects:?}") };
    assert_eq!((hosts.len(), hosts[0].name.clone(), hosts[0].speed), (1, "fake".into(), 7));
    // Its own questions are the daemon's.
    let effects = host.ask(MINE, Request::Config);
    assert!(matches!(&replies(&effects)[..], [Reply::Hosts { .. }]), "{effects:?}");
}

#[test]
fn a_manager_that_answers_too_much_or_too_little_harms_nobody() {
    let host = &mut Host::new();
    host.register(MINE, 1);
    let lost = Code::DSysErr.number();
    let cases: [(&[Item], Vec<i32>); 2] = [
        (&[int(3), int(0x40009), int(0x4000a), int(0x4000b)], vec![0x40009, 0x4000a]),
        (&[int(1), int(0x40009)], vec![0x40009, lost]),
    ];
    for (answer, expected) in cases {
        let effects = host.ask(ASKERS, spawn(2));
        let asked = told(&effects, ME, plug::SPAWN).pop().expect("asked");
        let answer = message(plug::SPAWN, asked.envelope.wait_id, answer);
        let reply = replies(&host.post(MINE, ASKER, answer)).pop().expect("answered");
        assert_eq!(outcomes(&reply), expected);
    }
    let effects = host.ask(ASKERS, Request::Config);
    let asked = told(&effects, ME, plug::CONFIG).pop().expect("asked");
    let nonsense = message(plug::CONFIG, asked.envelope.wait_id, &[int(i32::MAX), int(1)]);
    let effects = host.post(MINE, ASKER, nonsense);
    assert!(replies(&effects).contains(&Reply::Failed { code: Code::DSysErr }), "{effects:?}");
}

#[test]
fn a_manager_orders_tasks_and_hears_of_them() {
    let host = &mut Host::new();
    host.register(MINE, 1);
    let order = [
        vec![int(ASKER.as_c_int()), text("/bin/x"), int(1), int(2), int(1), text("a")],
        vec![int(0); 6],
        vec![int(2), text("PVMCTX=0x66"), text("X=y"), int(0), int(2)],
    ];
    let effects = host.post(MINE, DAEMON, message(plug::EXEC, 9, &order.concat()));
    let launches: Vec<_> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Launch { launch } => Some(launch.clone()),
            _ => None,
        })
        .collect();
    assert_eq!((launches.len(), &launches[0].environment[..]), (2, &["X=y".into()][..]));
    host.give(Event::Launched { tid: launches[0].tid, pid: 50 });
    let effects = host.give(Event::Launched { tid: launches[1].tid, pid: 51 });
    let done = told(&effects, ME, plug::EXEC_ACK).pop().expect("answered");
    assert_eq!(done.envelope.wait_id, 9);
    let tids = [int(launches[0].tid.as_c_int()), int(launches[1].tid.as_c_int())];
    assert_eq!(items(&done, "iii"), [vec![int(2)], tids.to_vec()].concat());
    let welcome =
        host.hello(5, Some(launches[0].tid)).into_iter().find_map(|effect| match effect {
            Effect::Enrol { welcome, .. } => Some(welcome),
            _ => None,
        });
    let welcome = welcome.expect("enrolled");
    assert_eq!((welcome.parent, welcome.inherited.context), (ASKER.as_c_int(), 0x66));
    let effects = host.give(Event::Exited { tid: launches[1].tid, status: 256 });
    let ended = told(&effects, ME, plug::TASK_END).pop().expect("told");
    assert_eq!(items(&ended, "iiiiii")[..2], [tids[1].clone(), int(256)]);
}

#[test]
fn orders_of_one_who_is_no_manager_are_dropped() {
    let host = &mut Host::new();
    let add = message(plug::ADD, 9, &[int(1), text("h2")]);
    assert_eq!(replies(&host.post(ASKERS, DAEMON, add)), [Reply::Done]);
    assert_eq!(host.acts.iter().filter(|act| matches!(act, Act::StartHost { .. })).count(), 0);
}

#[test]
fn who_waits_for_a_manager_that_ends_is_served_by_the_daemon() {
    let host = &mut Host::new();
    host.register(MINE, 1);
    assert_eq!(replies(&host.ask(ASKERS, Request::Config)), []);
    let effects = host.end(MINE, ME);
    assert!(matches!(&replies(&effects)[..], [Reply::Hosts { hosts }] if hosts.len() == 1));
}

#[test]
fn a_manager_that_does_not_answer_is_not_waited_for_for_ever() {
    let host = &mut Host::new();
    host.register(MINE, 1);
    host.ask(ASKERS, Request::Config);
    let at = host.machine.poll_timeout().expect("there is a limit");
    assert!(at.0 <= host.now + 60_000_000_000);
    host.now = at.0;
    host.machine.handle_timeout(at);
    let effects = host.outputs();
    assert_eq!(replies(&effects), [Reply::Failed { code: Code::DSysErr }]);
}

#[test]
fn a_second_manager_is_let_in_by_the_first() {
    let host = &mut Host::new();
    host.register(MINE, 1);
    let mut ask = |answer: i32| {
        let register = Request::Register { service: 1, trace: None, on: true };
        let effects = host.ask(ASKERS, register);
        let asked = told(&effects, ME, plug::SCHED).pop().expect("asked");
        let answer = message(plug::SCHED, asked.envelope.wait_id, &[int(answer)]);
        replies(&host.post(MINE, ASKER, answer))
    };
    assert!(ask(Code::Denied.number()).contains(&Reply::Failed { code: Code::Denied }));
    assert!(ask(0).contains(&Reply::Number { value: 1 }));
    // It takes over when the first ends.
    host.hello(6, None);
    host.end(MINE, ME);
    let effects = host.ask(6, Request::Config);
    assert_eq!(told(&effects, ASKER, plug::CONFIG).len(), 1);
}

#[test]
fn a_new_daemon_goes_on_where_the_old_one_was() {
    let host = &mut Host::new();
    let wait = hosting(host).envelope.wait_id;
    host.restart();
    let answer = [int(2), int(0xc0000), text("PvmNoHost"), int(0x80000), text("PvmDSysErr")];
    let effects = host.post(MINE, DAEMON, message(plug::START_HOST_ACK, wait, &answer));
    let codes = [Code::DSysErr.number(), Code::NoHost.number()];
    assert_eq!(outcomes(&replies(&effects)[1]), codes);
    let (tid, _) = given(host);
    host.register(MINE, 1);
    let asked = told(&host.ask(ASKERS, Request::Config), ME, plug::CONFIG).pop().expect("asked");
    host.restart();
    let effects =
        host.post(MINE, ASKER, message(plug::CONFIG, asked.envelope.wait_id, &[int(0), int(0)]));
    assert!(replies(&effects).contains(&Reply::Hosts { hosts: Vec::new() }), "{effects:?}");
    host.post(MINE, DAEMON, message(plug::TASK_END, 0, &[int(tid.as_c_int())]));
    // The manager would be asked for the list.
    assert!(!host.records.keys().any(|key| key.0.first() == Some(&b'0')));
}
