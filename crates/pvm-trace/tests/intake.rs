//! Frames of recorders, into a trace.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use pvm_trace::intake::Intake;
use pvm_trace::{Counts, Error, Limits, Loss, Reader, Record, TaskFacts, Writer, calls};
use pvm_wire::record::frames::{Cells, Frame, HostFacts};
use pvm_wire::record::{Cell, Moment, RECORD_VERSION};
use pvm_wire::{HostIndex, Tid};
use std::io::Cursor;

const HOST: HostIndex = HostIndex(1);
const TID: Tid = Tid(0x40001);

fn task(process: u32) -> Frame {
    let task = TaskFacts { tid: TID, parent: Tid(0), process, program: "ring".into(), began: 900 };
    Frame::Task { task }
}

/// A block of one record with this number.
fn block(first: u64, begin: u64, damage: bool) -> Frame {
    let mut cells = Cells::default();
    Record::call(calls::RECV, begin, 30).encode(|cell| cells.0.push(cell));
    if damage {
        cells.0.push(Cell([u64::MAX; 4]));
    }
    // Three ticks are a nanosecond.
    let moment = |ticks| Moment { ticks, nanoseconds: 1000 + ticks / 3 };
    Frame::Block { tid: TID, first, from: moment(0), to: moment(3000), cells }
}

fn intake() -> Intake<Cursor<Vec<u8>>> {
    Intake::new(Writer::new(Cursor::new(Vec::new()), Limits::default(), 1).unwrap())
}

#[test]
fn what_recorders_say_becomes_a_trace() {
    let mut intake = intake();
    let host = HostFacts {
        host: HOST,
        name: "a".into(),
        architecture: "LINUX64".into(),
        version: "0.1".into(),
        cores: 2,
        probe_cost_ps: 0,
        congestion: "bbr".into(),
        mtu: 1500,
        began: 900,
    };
    let counts = Counts { noted: 4, lost: 1 };
    let gap = Frame::Gap { tid: TID, first: 0, from: 1200, to: 1300, lost: 1, reason: Loss::Full };
    for frame in [
        Frame::Head { version: RECORD_VERSION, host },
        task(5),
        block(0, 300, false),
        block(1, 600, true),
        gap,
        // Another recorder took over and tells of the task anew.
        task(5),
        block(3, 900, false),
        Frame::Ended { tid: TID, at: 2000, status: 0, read: 4 },
    ] {
        assert!(!intake.take(HOST, frame).unwrap());
    }
    // The recorder is asked once more: no other task.
    intake.take(HOST, task(5)).unwrap();
    // The tid is used again.
    intake.take(HOST, task(6)).unwrap();
    intake.take(HOST, block(0, 1200, false)).unwrap();
    assert!(intake.take(HOST, Frame::End { at: 3000, counts }).unwrap());
    intake.broken(HostIndex(2), 1500).unwrap();
    let mut reader = Reader::open(intake.finish().unwrap()).unwrap();
    let tables = reader.tables();
    assert_eq!((tables.tasks.len(), tables.hosts.len()), (2, 1));
    let ended = tables.tasks[0].ended.unwrap();
    assert_eq!((ended.noted, ended.lost), (5, 2));
    let reasons: Vec<_> = tables.gaps.iter().map(|gap| gap.reason).collect();
    assert_eq!(reasons, [Loss::Damaged, Loss::Full, Loss::Link]);
    let all: Vec<_> = reader.merged(|_, time| time).map(Result::unwrap).collect();
    let begins: Vec<_> =
        all.iter().map(|(task, record)| (*task, record.begin, record.length)).collect();
    assert_eq!(begins, [(0, 1100, 10), (0, 1200, 10), (0, 1300, 10), (1, 1400, 10)]);
}

fn head(version: u16, began: u64) -> Frame {
    let host = HostFacts {
        host: HOST,
        name: "a".into(),
        architecture: "x".into(),
        version: "9".into(),
        cores: 1,
        probe_cost_ps: 0,
        congestion: "".into(),
        mtu: 0,
        began,
    };
    Frame::Head { version, host }
}

#[test]
fn a_recorder_of_another_version_is_named() {
    let error = intake().take(HOST, head(77, 0)).unwrap_err();
    assert!(matches!(error, Error::Version { found: 77, .. }), "{error}");
}

#[test]
fn a_call_that_began_long_before_was_told_to_begin_elsewhere() {
    let mut intake = intake();
    intake.take(HOST, task(5)).unwrap();
    let mut told = |record: Record, [from, to]: [(u64, u64); 2]| {
        let mut cells = Cells::default();
        record.encode(|cell| cells.0.push(cell));
        let [from, to] = [from, to].map(|(ticks, nanoseconds)| Moment { ticks, nanoseconds });
        intake.take(HOST, Frame::Block { tid: TID, first: 0, from, to, cells }).unwrap();
    };
    // Two ticks are a nanosecond. The second block's moments are a millisecond apart, and off by
    // 0.1 us: so its line is off by a millisecond ten seconds before.
    told(Record::call(calls::SEND, 1000, 1000), [(0, 0), (4000, 2000)]);
    let late = 20_000_000_000;
    let wait = Record::call(calls::RECV, 2000, late - 1000);
    told(wait, [(late, late / 2), (late + 2_000_000, late / 2 + 1_000_100)]);
    let mut reader = Reader::open(intake.finish().unwrap()).unwrap();
    let all: Vec<_> = reader.merged(|_, time| time).map(|entry| entry.unwrap().1).collect();
    assert_eq!((all[0].begin, all[0].end()), (500, 1000));
    assert_eq!(all[1].begin, 1000, "it began where the call before it ended");
}

#[test]
fn what_a_dead_host_had_noted_was_missing_only_from_the_moment_at_which_its_death_was_known() {
    let mut intake = intake();
    intake.take(HOST, task(5)).unwrap();
    let mut cells = Cells::default();
    Record::call(calls::SEND, 9300, 300).encode(|cell| cells.0.push(cell));
    let [from, to] = [9000, 12_000].map(|ticks| Moment { ticks, nanoseconds: 1000 + ticks / 3 });
    intake.take(HOST, Frame::Block { tid: TID, first: 0, from, to, cells }).unwrap();
    intake.broken(HOST, 900_000).unwrap();
    let reader = Reader::open(intake.finish().unwrap()).unwrap();
    let gap = reader.tables().gaps[0];
    assert_eq!((gap.from, gap.to, gap.reason), (4000, 900_000, Loss::Link));
}

/// A block of so many records, the number of the first one, and when the ring was looked at.
fn blocks(first: u64, count: u64) -> Frame {
    let mut cells = Cells::default();
    let moment = |number| Moment { ticks: 10 * number, nanoseconds: 1000 + 10 * number };
    for number in first..first + count {
        Record::call(calls::SEND, 10 * number, 5).encode(|cell| cells.0.push(cell));
    }
    Frame::Block { tid: TID, first, from: moment(first), to: moment(first + count), cells }
}

fn gap(first: u64, lost: u64, reason: Loss) -> Frame {
    Frame::Gap { tid: TID, first, from: 1000, to: 9000, lost, reason }
}

fn end(read: u64) -> Frame {
    Frame::Ended { tid: TID, at: 9000, status: 0, read }
}

/// The trace of these frames: records in it, the counts that the task noted and lost, gaps.
fn told(frames: impl IntoIterator<Item = Frame>) -> (u64, (u64, u64), Vec<(u64, Loss)>) {
    let mut intake = intake();
    for frame in frames {
        intake.take(HOST, frame).unwrap();
    }
    let counts = intake.counts();
    let reader = Reader::open(intake.finish().unwrap()).unwrap();
    let ended = reader.tables().tasks[0].ended.unwrap();
    let gaps: Vec<_> = reader.tables().gaps.iter().map(|gap| (gap.lost, gap.reason)).collect();
    let records = reader.summary().records;
    assert_eq!(counts, (records, gaps.iter().map(|gap| gap.0).sum()));
    (records, (ended.noted, ended.lost), gaps)
}

#[test]
fn what_a_recorder_had_sent_before_it_was_killed_was_told_to_be_lost_as_well() {
    // It had marked in the ring that ten records were sent.
    let frames = [task(5), blocks(0, 10), blocks(10, 20), task(5), gap(10, 25, Loss::Recorder)];
    let all = told(frames.into_iter().chain([blocks(35, 5), end(40)]));
    assert_eq!(all, (35, (40, 5), vec![(5, Loss::Recorder)]));
    let frames = [task(5), blocks(0, 30), task(5), gap(10, 20, Loss::Recorder), end(30)];
    assert_eq!(told(frames), (30, (30, 0), vec![]));
}

/// A recording stood still; the task began, its recorder was killed with the task's first records,
/// and the next recorder tells of the task first.
#[test]
fn the_first_records_of_a_task_that_began_behind_the_recording_were_missing_without_a_gap() {
    let later = |began| {
        let program = "ring".into();
        let task = TaskFacts { tid: TID, parent: Tid(0), process: 5, program, began };
        Frame::Task { task }
    };
    let all = |began, frames: [Frame; 2]| {
        told([head(RECORD_VERSION, 1000), later(began)].into_iter().chain(frames))
    };
    let behind = 1_000_000_000;
    let first_missing = all(behind, [blocks(30, 10), end(40)]);
    assert_eq!(first_missing, (10, (40, 30), vec![(30, Loss::Recorder)]));
    assert_eq!(all(behind, [blocks(0, 10), end(10)]), (10, (10, 0), vec![]));
    let without_room = all(behind, [gap(3, 4, Loss::Full), end(0)]);
    assert_eq!(without_room, (0, (7, 7), vec![(7, Loss::Full)]));
    // The recording wants only what this one notes from now on.
    assert_eq!(all(500, [blocks(30, 10), end(40)]), (10, (10, 0), vec![]));
}

#[test]
fn what_waited_for_a_recording_when_its_recorder_was_killed_was_lost_without_a_gap() {
    let frames = [task(5), blocks(0, 10), task(5), blocks(30, 10), end(45)];
    assert_eq!(told(frames), (20, (45, 25), [20, 5].map(|lost| (lost, Loss::Recorder)).to_vec()));
}

#[test]
fn records_without_room_were_told_once_more_by_the_recorder_that_came_later() {
    let frames = [task(5), blocks(0, 10), gap(0, 7, Loss::Full), task(5), gap(0, 9, Loss::Full)];
    let all = told(frames.into_iter().chain([end(10)]));
    assert_eq!(all, (10, (19, 9), [7, 2].map(|lost| (lost, Loss::Full)).to_vec()));
}

#[test]
fn an_end_that_was_told_twice_took_a_tasks_counts_away() {
    let frames = [task(5), blocks(0, 10), end(12), task(5), end(12)];
    assert_eq!(told(frames), (10, (12, 2), vec![(2, Loss::Recorder)]));
}
