//! Small traces, made by the writer of traces, and the actions that are read from them.

use super::*;
use crate::error::Awaited;
use crate::model;
use crate::platform::{Host, Line, Platform};
use crate::report::{Report, Unwatched};
use pvm_trace::{
    Class, Counts, Encoding, Ended, HostFacts, Limits, Processor, Reason, Record, RouteKind,
    TaskFacts, Tid, Transfer, What, Writer, calls,
};
use std::io::Cursor;

const BEGAN: u64 = 1_767_225_600_000_000_000;

/// A trace of tasks on one computer, written by hand.
struct HandTrace(Writer<Cursor<Vec<u8>>>);

fn tid(task: u32) -> Tid {
    Tid(1 << 18 | (task + 1))
}

fn transfer(peer: u32, number: u64, bytes: u64) -> Transfer {
    let (tag, context, hops) = (5, 0, 0);
    let (encoding, route) = (Encoding::Raw, RouteKind::Memory);
    Transfer { peer: tid(peer), tag, context, number, bytes, encoding, route, hops }
}

impl HandTrace {
    fn new(tasks: u32) -> Self {
        let mut writer =
            Writer::new(Cursor::new(Vec::new()), Limits::default(), 1).expect("memory");
        let host = tid(0).host();
        let facts = HostFacts {
            host,
            name: "one".into(),
            architecture: "LINUX64".into(),
            version: "0.1.0".into(),
            cores: 2,
            probe_cost_ps: 10_000,
            congestion: "bbr".into(),
            mtu: 1500,
            began: BEGAN,
        };
        writer.host(facts).expect("memory");
        for task in 0..tasks {
            let (parent, program, began) = (Tid(0), "made".into(), BEGAN);
            let facts = TaskFacts { tid: tid(task), parent, process: task, program, began };
            writer.task(facts).expect("memory");
        }
        Self(writer)
    }

    /// Adds a call that begins at this moment, in microseconds since the begin.
    fn call(&mut self, task: u32, (begin, length): (u64, u64), call: u16, what: What) -> &mut Self {
        let record = Record { what, ..Record::call(call, BEGAN + begin * 1000, length * 1000) };
        self.0.record(task, &record).expect("memory");
        self
    }

    /// Adds a part of the next call.
    fn part(&mut self, task: u32, (begin, length): (u64, u64), call: u16, what: What) -> &mut Self {
        let whole = Record::call(call, BEGAN + begin * 1000, length * 1000);
        self.0.record(task, &Record { what, part: true, depth: 1, ..whole }).expect("memory");
        self
    }

    fn send(&mut self, task: u32, at: (u64, u64), to: u32, number: u64) -> &mut Self {
        let message = transfer(to, number, 1000);
        self.call(task, at, calls::SEND, What::Send { message, wire: 1000, pieces: 1 })
    }

    fn receive(&mut self, task: u32, at: (u64, u64), from: u32, number: u64) -> &mut Self {
        let (message, any_source, any_tag) = (transfer(from, number, 1000), true, false);
        self.call(task, at, calls::RECV, What::Receive { message, any_source, any_tag })
    }

    fn begin(&mut self, task: u32, at: u64) -> &mut Self {
        let what = What::Begin { parent: Tid(0), process: task, name: 0 };
        self.call(task, (at, 0), calls::NONE, what)
    }

    fn end(&mut self, task: u32, at: u64) -> &mut Self {
        let counts = Counts { noted: 1, lost: 0 };
        self.0.ended(task, Ended::from((BEGAN + at * 1000, 0, counts))).expect("memory");
        self
    }

    fn source(self, wish: Wish) -> Recorded<Cursor<Vec<u8>>> {
        let bytes = self.0.finish().expect("memory");
        let mut reader = Reader::open(bytes).expect("a trace");
        let survey = Arc::new(Survey::of(&mut reader));
        Recorded::new(reader, &survey, wish).expect("tasks")
    }
}

const AS_TOLD: Wish = Wish { by_processor: false, without_probes: false };

fn actions(source: &mut dyn Source, task: TaskNumber) -> Vec<Action> {
    std::iter::from_fn(|| source.next(task).expect("it is sound")).collect()
}

fn on_line(source: &mut dyn Source, latency: u64) -> Result<Report, Error> {
    let line = Line::new(Time::microseconds(latency), 0.0);
    model::line::run(source, line, Host::default(), &mut Unwatched)
}

const fn micro(count: u64) -> Time {
    Time::microseconds(count)
}

#[test]
fn a_task_is_read_from_its_begin_to_its_end_and_waits_are_made_anew() {
    let mut made = HandTrace::new(2);
    made.begin(0, 0).send(0, (100, 10), 1, 1).receive(0, (150, 5), 1, 1).end(0, 200);
    let wait = What::Wait { reason: Reason::Message, processor: None };
    made.begin(1, 0).part(1, (20, 85), calls::RECV, wait);
    made.receive(1, (20, 90), 0, 1).send(1, (120, 20), 0, 1).end(1, 150);
    let mut source = made.source(AS_TOLD);
    let send = |time, to| Action::Send { time, bytes: 1000, to, tag: 1 };
    let receive = |time, from| Action::Receive { time, bytes: 1000, from, tag: 1 };
    assert_eq!(
        actions(&mut source, 0),
        [
            Action::Compute(micro(100)),
            send(micro(10), 1),
            Action::Compute(micro(40)),
            receive(micro(5), 1),
            Action::Compute(micro(45)),
        ]
    );
    assert_eq!(
        actions(&mut source, 1),
        [
            Action::Compute(micro(20)),
            receive(micro(5), 0),
            Action::Compute(micro(10)),
            send(micro(20), 0),
            Action::Compute(micro(10)),
        ]
    );
    assert_eq!(source.survey.lacks().any_source, 2);
}

#[test]
fn messages_are_matched_by_number_whatever_their_tags() {
    let mut made = HandTrace::new(2);
    made.begin(0, 0).send(0, (10, 10), 1, 1).send(0, (30, 10), 1, 2).end(0, 50);
    // The second message was taken first.
    made.begin(1, 0).receive(1, (60, 10), 0, 2).receive(1, (80, 10), 0, 1).end(1, 100);
    let report = on_line(&mut made.source(AS_TOLD), 100).expect("it runs");
    // Computing for 60, waiting until 40 + 100, then 10, 10, 10 and 10 more.
    assert_eq!(report.stations[1].execution, micro(180));
    assert_eq!(report.stations[1].total(), micro(180));
}

#[test]
fn a_barrier_waits_for_all_and_the_times_sum_up() {
    let mut made = HandTrace::new(3);
    for task in 0..3 {
        let (class, number) = (Class::Group, 3 + task);
        let name = What::Name { class, number, text: b"g".to_vec() };
        made.call(task, (0, 0), calls::NONE, name);
        let at = u64::from(task) * 100;
        let (root, tag, instance) = (-1, 0, task);
        let what = What::Group { name: 3 + task, members: 3, instance, root, tag, count: 3 };
        let wait = What::Wait { reason: Reason::Group, processor: None };
        made.begin(task, 0).part(task, (at, 300 - at), calls::BARRIER, wait);
        made.call(task, (at, 310 - at), calls::BARRIER, what).end(task, 400);
    }
    let report = on_line(&mut made.source(AS_TOLD), 20).expect("it runs");
    for station in &report.stations {
        // The last message arrives at 200. A round trip takes 40, the call 10, the rest 90.
        assert_eq!(station.execution, micro(340));
        assert_eq!(station.total(), station.execution);
        assert_eq!(station.calls, micro(10));
    }
    assert_eq!(report.path.total(), micro(340));
}

#[test]
fn a_barrier_that_one_never_reaches_is_a_standstill() {
    let mut made = HandTrace::new(2);
    let what = What::Group { name: 0, members: 2, instance: 0, root: -1, tag: 0, count: 2 };
    made.begin(0, 0).call(0, (5, 10), calls::BARRIER, what).end(0, 20).begin(1, 0).end(1, 20);
    match on_line(&mut made.source(AS_TOLD), 20) {
        Err(Error::Standstill(told)) => {
            let expected = Awaited::Meeting { point: 0, there: 1, count: 2 };
            assert_eq!((told.count, told.first[0].what), (1, expected));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_child_begins_when_its_parent_starts_it() {
    let mut made = HandTrace::new(2);
    let what = What::Spawn { children: vec![tid(1).as_c_int(), -7] };
    let wait = What::Wait { reason: Reason::Answer, processor: None };
    made.begin(0, 0).part(0, (50, 30), calls::SPAWN, wait);
    made.call(0, (50, 40), calls::SPAWN, what).receive(0, (100, 50), 1, 1).end(0, 160);
    made.begin(1, 75).send(1, (95, 5), 0, 1).end(1, 100);
    let mut source = made.source(AS_TOLD);
    assert!(source.is_started(1) && !source.is_started(0));
    let report = on_line(&mut source, 10).expect("it runs");
    // The parent computes for 50. 25 later the child begins, computes for 20 and sends for 5.
    assert_eq!(report.stations[1].execution, micro(100));
    // It waits until 110, receives for 50, and computes for 10.
    assert_eq!(report.stations[0].execution, micro(170));
    assert!(report.stations.iter().all(|station| station.total() == station.execution));
}

#[test]
fn what_the_trace_lacks_is_told_and_left_out() {
    let mut made = HandTrace::new(2);
    made.begin(0, 0).receive(0, (10, 10), 1, 7).receive(0, (30, 10), 9, 1).end(0, 50);
    made.begin(1, 0).send(1, (10, 10), 0, 1);
    let mut source = made.source(AS_TOLD);
    let lacks = source.survey.lacks().clone();
    assert_eq!((lacks.halves, lacks.apart, lacks.unended), (2, 1, 1));
    let told = lacks.sentences().join("\n");
    assert!(told.contains("2 messages of which the trace has one end only"), "{told}");
    assert!(on_line(&mut source, 10).is_ok());
}

#[test]
fn what_probes_cost_and_what_others_took_is_taken_off() {
    let mut made = HandTrace::new(1);
    let slept = |begin: u64, end: u64| What::Wait {
        reason: Reason::Answer,
        processor: Some(Processor { begin: begin * 1000, end: end * 1000 }),
    };
    let other = What::Call { bytes: 0 };
    made.begin(0, 0).part(0, (10, 90), calls::CONFIG, slept(10, 12));
    made.call(0, (10, 90), calls::CONFIG, other.clone());
    // 1000 us by the wall clock, with a processor for 250 of them.
    made.part(0, (1100, 100), calls::CONFIG, slept(262, 270));
    made.call(0, (1100, 110), calls::CONFIG, other).end(0, 1300);
    let mut source = made.source(Wish::default());
    let idle = Action::Idle(micro(90));
    let all = actions(&mut source, 0);
    assert_eq!(all[..2], [Action::Compute(micro(10)), idle]);
    // The record of the call before has cost 10 ns.
    assert_eq!(all[2], Action::Compute(Time((1_000_000_000 - 10_000) / 4)));
    assert_eq!(all[3], Action::Idle(micro(100)));
    // Ten microseconds of the call come after its sleep, and are returned with the actions before
    // it.
    assert_eq!(all[4], Action::Call(Time((10_000_000 - 10_000) / 4)));
}

#[test]
fn turns_of_others_are_no_time_of_a_task_and_its_first_and_last_stretch_are_held_to_its_processor()
{
    let mut made = HandTrace::new(1);
    let turn = |begin: u64, end: u64| What::Wait {
        reason: Reason::Turn,
        processor: Some(Processor { begin: begin * 1000, end: end * 1000 }),
    };
    let other = What::Call { bytes: 0 };
    made.begin(0, 0).part(0, (10, 990), calls::NONE, turn(10, 11));
    // 1000 us by the wall clock, with a processor for 500 of them; then a turn within a call.
    made.part(0, (2000, 600), calls::CONFIG, turn(511, 512));
    made.call(0, (2000, 600), calls::CONFIG, other);
    // 800 us until it leaves, with a processor for 200 of them.
    made.part(0, (3400, 1), calls::NONE, turn(712, 713)).end(0, 3401);
    let mut source = made.source(Wish::default());
    let times: Vec<u64> = actions(&mut source, 0)
        .iter()
        .map(|action| match action {
            Action::Compute(time) => time.0 / 1_000_000,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(times, [10, 500, 199], "without what the records cost");
}

/// Task 0 looks in vain, sends if `sends_in_vain`, finds the message of task 1, and sends once
/// more.
fn looking(sends_in_vain: bool) -> HandTrace {
    let poll = What::Poll { source: tid(1), tag: 5, context: 0 };
    let mut made = HandTrace::new(2);
    made.begin(0, 0).call(0, (10, 10), calls::PROBE, poll);
    if sends_in_vain {
        made.send(0, (20, 10), 1, 1);
    }
    let found = Record { result: 2, ..Record::call(calls::PROBE, BEGAN + 30_000, 10_000) };
    made.0.record(0, &found).expect("memory");
    made.receive(0, (40, 10), 1, 1).send(0, (50, 10), 1, 2).end(0, 60);
    made.begin(1, 0).send(1, (10, 10), 0, 1);
    made.receive(1, (20, 20), 0, 1).receive(1, (40, 30), 0, 2).end(1, 70);
    made
}

#[test]
fn a_receive_behind_a_look_is_put_off_where_the_program_goes_on_without() {
    let marks = |made: HandTrace| {
        let all = actions(&mut made.source(AS_TOLD), 0);
        let places = |wanted: Action| all.iter().position(|action| *action == wanted);
        let is_receive = |action: &Action| matches!(action, Action::Receive { .. });
        (places(Action::Look), all.iter().position(is_receive), places(Action::CatchUp))
    };
    let (look, receive, catch_up) = marks(looking(true));
    assert_eq!(look.map(|place| place + 1), receive);
    assert!(catch_up > receive, "at its end: it sends such messages before");
    let (look, _, catch_up) = marks(looking(false));
    assert_eq!((look, catch_up), (None, None), "it has looked until the message came");
}

#[test]
fn how_many_looks_would_find_nothing_depends_on_the_network() {
    let on = |rate: &str| {
        let text = format!(
            "[network]\nkind = \"switch\"\nrate = \"{rate}\"\n[transport]\nkind = \"tcp\"\n"
        );
        let platform = Platform::parse(&text).expect("it is sound");
        let mut source = looking(true).source(AS_TOLD);
        let report = model::packet::run(&mut source, &platform, 1, &mut Unwatched);
        let report = report.expect("all is received");
        assert!(report.stations.iter().all(|station| station.total() == station.execution));
        report.put_off
    };
    assert_eq!((on("10 Mb/s"), on("1000 Gb/s")), (1, 0));
}

#[test]
fn a_trace_without_tasks_and_a_message_without_end_are_refused() {
    let writer = Writer::new(Cursor::new(Vec::new()), Limits::default(), 1).expect("memory");
    let empty = Reader::open(writer.finish().expect("memory")).expect("a trace");
    assert!(Recorded::new(empty, &Arc::default(), Wish::default()).is_err());
    let mut made = HandTrace::new(2);
    let what = |peer| What::Send { message: transfer(peer, 1, u64::MAX), wire: 0, pieces: 1 };
    made.begin(0, 0).call(0, (1, 1), calls::SEND, what(1)).end(0, 9);
    made.begin(1, 0).receive(1, (1, 1), 0, 1).end(1, 9);
    let told = on_line(&mut made.source(AS_TOLD), 1).expect_err("no such message").to_string();
    assert!(told.contains("task 0: a message of 18446744073709551615 bytes"), "{told}");
}
