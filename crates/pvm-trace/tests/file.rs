//! The file: what is written is read, whole, in part, cut off, overwritten, or damaged.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "simulated/ring.rs"]
mod ring;

use proptest::prelude::*;
use pvm_trace::{
    Class, ClockPair, Ended, Error, Gap, HostFacts, Limits, Loss, Processor, Reader, Reason,
    Record, RouteKind, RouteStep, Summary, TaskFacts, TaskIndex, Transfer, What, Writer,
};
use pvm_wire::{Encoding, HostIndex, Tid};
use ring::Ring;
use std::io::Cursor;

/// Numbers out of a seed, small and large ones alike often.
struct Dice(u64);

impl Dice {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mixed = (self.0 ^ self.0 >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 32
    }

    fn any(&mut self) -> u64 {
        let shift = self.number() % 64;
        self.number() >> shift
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.number() as usize % all.len()]
    }

    fn transfer(&mut self) -> Transfer {
        Transfer {
            peer: Tid(self.any() as u32),
            tag: self.any() as i32,
            context: self.any() as i32,
            number: self.any(),
            bytes: self.any(),
            encoding: self.of(&[Encoding::Default, Encoding::Raw, Encoding::InPlace]),
            route: self.of(RouteKind::ALL),
            hops: self.any() as u8,
        }
    }

    fn what(&mut self) -> What {
        match self.number() % 15 {
            0 => What::Call { bytes: self.any() },
            1 => What::Copy { bytes: self.any() },
            2 => What::Wait { reason: self.of(Reason::ALL), processor: None },
            3 => {
                let processor = Some(Processor { begin: self.any(), end: self.any() });
                What::Wait { reason: self.of(Reason::ALL), processor }
            }
            4 => {
                What::Send { message: self.transfer(), wire: self.any(), pieces: self.any() as u32 }
            }
            5 => What::Receive {
                message: self.transfer(),
                any_source: self.number().is_multiple_of(2),
                any_tag: self.number().is_multiple_of(2),
            },
            6 => What::Chunk { message: self.transfer() },
            7 => What::Poll {
                source: Tid(self.any() as u32),
                tag: self.any() as i32,
                context: self.any() as i32,
            },
            8 => What::Group {
                name: self.any() as u32,
                members: self.any() as u32,
                instance: self.any() as u32,
                root: self.any() as i32,
                tag: self.any() as i32,
                count: self.any(),
            },
            9 => What::Spawn {
                children: (0..self.number() % 9).map(|_| self.any() as i32).collect(),
            },
            10 => What::Mark { name: self.any() as u32, value: self.any() as i64 },
            11 => What::Progress { name: self.any() as u32, done: self.any(), total: self.any() },
            12 => What::Route { peer: Tid(self.any() as u32), step: self.of(RouteStep::ALL) },
            13 => What::Begin {
                parent: Tid(self.any() as u32),
                process: self.any() as u32,
                name: self.any() as u32,
            },
            _ => What::End { status: self.any() as i32, noted: self.any(), lost: self.any() },
        }
    }

    fn record(&mut self, now: &mut u64) -> Record {
        *now = now.wrapping_add(self.any() % 1_000_000) % (1 << 62);
        let length = self.any() % (*now + 1);
        Record {
            begin: *now - length,
            length,
            thread: self.any() as u16,
            depth: (self.number() % 16) as u8,
            call: self.any() as u16,
            result: self.any() as i32,
            part: self.number().is_multiple_of(2),
            what: self.what(),
        }
    }
}

fn task(tid: u32) -> TaskFacts {
    TaskFacts { tid: Tid(tid), parent: Tid(0), process: 1, program: "x".into(), began: 5 }
}

fn host(index: u16) -> HostFacts {
    HostFacts {
        host: HostIndex(index),
        name: "h".into(),
        architecture: "LINUX64".into(),
        version: "0.1".into(),
        cores: 2,
        probe_cost_ps: 1,
        congestion: "reno".into(),
        mtu: 1500,
        began: 7,
    }
}

type Records = Vec<Vec<Record>>;

/// Records of some tasks, and the file that has them.
fn written(seed: u64, tasks: u32, count: usize) -> (Records, Vec<u8>) {
    let mut dice = Dice(seed);
    let mut writer = Writer::new(Cursor::new(Vec::new()), Limits::default(), seed).unwrap();
    writer.host(host(1)).unwrap();
    let mut records = Records::new();
    for number in 0..tasks {
        assert_eq!(writer.task(task(0x40001 + number)).unwrap(), number);
        records.push(Vec::new());
    }
    let mut now = vec![1 << 40; tasks as usize];
    for _ in 0..count {
        let task = dice.number() as usize % tasks as usize;
        let record = dice.record(&mut now[task]);
        writer.record(task as TaskIndex, &record).unwrap();
        records[task].push(record);
        if dice.number().is_multiple_of(100) {
            writer.flush().unwrap();
        }
    }
    (records, writer.finish().unwrap().into_inner())
}

fn open(bytes: &[u8]) -> Result<Reader<Cursor<&[u8]>>, Error> {
    Reader::open(Cursor::new(bytes))
}

fn read(reader: &mut Reader<Cursor<&[u8]>>) -> Records {
    let mut records = vec![Vec::new(); reader.tables().tasks.len()];
    for place in reader.places().to_vec() {
        reader.records_of(&place, |record| records[place.task as usize].push(record)).unwrap();
    }
    records
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_written_is_read(seed: u64, tasks in 1..5u32, count in 0..9000usize) {
        let (records, bytes) = written(seed, tasks, count);
        let mut reader = open(&bytes).unwrap();
        prop_assert_eq!(reader.cut(), None);
        prop_assert_eq!(read(&mut reader), records);
        prop_assert_eq!(reader.tables().hosts.len(), 1);
    }

    #[test]
    fn any_prefix_reads_as_a_prefix(seed: u64, count in 0..600usize, cut in 0.0..1.0f64) {
        let (records, bytes) = written(seed, 2, count);
        let cut = (bytes.len() as f64 * cut) as usize;
        let mut reader = match open(&bytes[..cut]) {
            Ok(reader) => reader,
            Err(error) => {
                prop_assert!(cut < 40 && matches!(error, Error::NoTrace), "{error} at {cut}");
                return Ok(());
            }
        };
        prop_assert!(reader.cut().is_some_and(|at| at <= cut as u64));
        for (some, all) in read(&mut reader).iter().zip(&records) {
            prop_assert!(all.starts_with(some));
        }
    }

    #[test]
    fn each_level_sums_to_the_records(seed: u64, count in 0..9000usize) {
        let (records, bytes) = written(seed, 2, count);
        let mut reader = open(&bytes).unwrap();
        let mut expected = Summary::default();
        records.iter().flatten().for_each(|record| expected.count(record));
        prop_assert_eq!(reader.summary(), expected);
        let mut fine = Summary::default();
        for place in reader.places().to_vec() {
            let mut block = Summary::default();
            for part in reader.summaries_of(&place).unwrap() {
                prop_assert!(part.records <= 64);
                block.add(&part);
            }
            prop_assert_eq!(block, place.summary);
            fine.add(&block);
        }
        prop_assert_eq!(fine, expected);
    }

    #[test]
    fn a_window_has_what_touches_it(seed: u64, count in 0..3000usize, at in 0.0..1.0f64) {
        let (records, bytes) = written(seed, 2, count);
        let mut reader = open(&bytes).unwrap();
        let all = reader.summary();
        let length = all.last.saturating_sub(all.first);
        let from = all.first.saturating_add((length as f64 * at) as u64);
        let to = from.saturating_add(20_000_000);
        let mut found = vec![Vec::new(); 2];
        reader.window((from, to), |task, record| found[task as usize].push(record)).unwrap();
        for (found, all) in found.iter().zip(&records) {
            let touching = all.iter().filter(|record| record.begin <= to && record.end() >= from);
            prop_assert!(touching.eq(found));
        }
    }

    #[test]
    fn damage_has_a_place_and_never_gives_what_was_not_written(
        seed: u64, at in 0.0..1.0f64, flip in 1..=255u8,
    ) {
        let (records, mut bytes) = written(seed, 2, 500);
        let at = (bytes.len() as f64 * at) as usize;
        bytes[at] ^= flip;
        let Ok(mut reader) = open(&bytes) else { return Ok(()) };
        for place in reader.places().to_vec() {
            let mut read = Vec::new();
            match reader.records_of(&place, |record| read.push(record)) {
                Ok(()) => {
                    let all = &records[place.task as usize];
                    let found = all.windows(read.len().max(1)).any(|some| some == read);
                    prop_assert!(read.is_empty() || found);
                }
                Err(Error::Damaged { at, .. }) => prop_assert!(at <= bytes.len() as u64),
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }

    #[test]
    fn bytes_that_nobody_wrote_are_named(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(matches!(open(&bytes), Err(Error::NoTrace)));
        let (_, mut begun) = written(1, 1, 0);
        begun.truncate(40);
        begun.extend_from_slice(&bytes);
        prop_assert_eq!(open(&begun).unwrap().cut(), Some(40));
    }
}

#[test]
fn a_merged_trace_is_in_order_and_complete() {
    let mut writer = Writer::new(Cursor::new(Vec::new()), Limits::default(), 1).unwrap();
    let ring = Ring { rounds: 2000, ..Ring::default() };
    let (count, _) = ring.write(&mut writer).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    let mut reader = open(&bytes).unwrap();
    let merged: Vec<_> = reader.merged(|_, time| time).map(Result::unwrap).collect();
    assert_eq!(merged.len() as u64, count);
    assert!(merged.is_sorted_by_key(|(_, record)| record.end()));
}

#[test]
fn a_file_that_may_not_grow_keeps_the_newest_and_counts_the_rest() {
    let limit = 4 << 20;
    let limits = Limits { bytes: Some(limit) };
    let mut writer = Writer::new(Cursor::new(Vec::new()), limits, 9).unwrap();
    let ring = Ring { rounds: 40_000, ..Ring::default() };
    let (count, _) = ring.write(&mut writer).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    assert!(bytes.len() as u64 <= limit, "{} bytes", bytes.len());
    let mut reader = open(&bytes).unwrap();
    assert_eq!((reader.cut(), reader.tables().tasks.len()), (None, 4));
    let kept: u64 = reader.places().iter().map(|place| place.summary.records).sum();
    let [gap] = reader.tables().gaps[..] else { panic!("{:?}", reader.tables().gaps) };
    assert_eq!((gap.reason, gap.lost + kept), (Loss::Size, count));
    assert!(kept * 12 > limit / 2, "only {kept} records were kept");
    let last = reader.places().iter().map(|place| place.summary.last).max();
    let mut seen = 0;
    for (number, entry) in reader.merged(|_, time| time).enumerate() {
        let (_, record) = entry.unwrap();
        assert!(number > 0 || record.begin >= gap.from);
        seen = seen.max(record.end());
    }
    assert_eq!(Some(seen), last);
}

#[test]
fn a_file_that_wraps_and_is_cut_reads_what_is_sound() {
    let mut writer =
        Writer::new(Cursor::new(Vec::new()), Limits { bytes: Some(4 << 20) }, 9).unwrap();
    Ring { rounds: 40_000, ..Ring::default() }.write(&mut writer).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    for part in 1..16 {
        let mut reader = open(&bytes[..bytes.len() * part / 16]).unwrap();
        let count: usize = read(&mut reader).iter().map(Vec::len).sum();
        assert!(count > 0, "part {part}");
    }
}

#[test]
fn tables_come_back() {
    let mut writer = Writer::new(Cursor::new(Vec::new()), Limits::default(), 1).unwrap();
    writer.in_turns().unwrap();
    writer.host(host(3)).unwrap();
    let index = writer.task(task(0xc0001)).unwrap();
    let pair = ClockPair { other: HostIndex(1), at: 9, offset: -4, error: 2 };
    writer.clock(HostIndex(3), pair.clone()).unwrap();
    let gap = Gap {
        host: Some(HostIndex(3)),
        task: Some(index),
        from: 3,
        to: 8,
        lost: 77,
        reason: Loss::Full,
    };
    writer.gap(gap).unwrap();
    let name = What::Name { class: Class::Group, number: 5, text: b"<b>ring</b>".to_vec() };
    writer.record(index, &Record { what: name, ..Record::call(0, 0, 0) }).unwrap();
    let lost = What::Gap { reason: Loss::Recorder, lost: 3 };
    writer.record(index, &Record { what: lost, ..Record::call(0, 10, 5) }).unwrap();
    let expected = writer.tables().clone();
    assert_eq!((expected.gaps.len(), expected.gaps[1].to), (2, 15));
    assert!(expected.in_turns);
    let bytes = writer.finish().unwrap().into_inner();
    for end in [bytes.len(), bytes.len() - 1] {
        let reader = open(&bytes[..end]).unwrap();
        assert_eq!(reader.tables(), &expected);
        let name = reader.tables().names.get(index, Class::Group, 5);
        assert_eq!(name.as_deref(), Some("<b>ring</b>"));
    }
}

#[test]
fn each_section_of_a_bounded_file_added_up_all_tables() {
    const TASKS: u32 = 20_000;
    let write = |bytes| {
        let begun = std::time::Instant::now();
        let mut writer = Writer::new(Cursor::new(Vec::new()), Limits { bytes }, 3).unwrap();
        for number in 0..TASKS {
            let index = writer.task(task(0x40001 + number)).unwrap();
            for at in 0..3 {
                writer.record(index, &Record::call(1, u64::from(number) * 10 + at, 1)).unwrap();
            }
            let ended = Ended { at: 5, status: 0, noted: 3, lost: 0 };
            writer.ended(index, ended).unwrap();
        }
        (writer.finish().unwrap().into_inner(), begun.elapsed())
    };
    let (_, mut free) = write(None);
    let (bytes, mut bounded) = write(Some(256 << 20));
    // It took five times as long. Others' work makes one or the other longer, so the shortest of
    // each count.
    for _ in 0..20 {
        if bounded < 3 * free {
            break;
        }
        (free, bounded) = (free.min(write(None).1), bounded.min(write(Some(256 << 20)).1));
    }
    assert!(bounded < 3 * free, "{bounded:?} beside {free:?}");
    let mut reader = open(&bytes).unwrap();
    assert_eq!((reader.cut(), reader.tables().tasks.len()), (None, TASKS as usize));
    assert!(reader.tables().tasks.iter().all(|task| task.ended.is_some()));
    assert_eq!(read(&mut reader).iter().map(Vec::len).sum::<usize>(), 3 * TASKS as usize);
}

#[test]
fn four_thousand_tasks_of_one_trace_are_read_drawn_from_and_merged() {
    let mut writer = Writer::new(Cursor::new(Vec::new()), Limits::default(), 3).unwrap();
    let mut now = 1000;
    for number in 0..4096 {
        writer.task(task(0x40001 + number)).unwrap();
    }
    for round in 0..20u32 {
        for number in 0..4096 {
            now += 10;
            writer.record((number * 31 + round) % 4096, &Record::call(1, now, 7)).unwrap();
        }
    }
    let bytes = writer.finish().unwrap().into_inner();
    let mut reader = open(&bytes).unwrap();
    let merged: Vec<_> = reader.merged(|_, time| time).map(Result::unwrap).collect();
    assert_eq!(merged.len(), 20 * 4096);
    assert!(merged.is_sorted_by_key(|(_, record)| record.end()));
    let mut count = 0;
    reader.window((now - 991, now), |_, _| count += 1).unwrap();
    assert_eq!(count, 100);
}

#[test]
fn names_without_end_filled_memory_and_disk() {
    let mut writer = Writer::new(Cursor::new(Vec::new()), Limits::default(), 3).unwrap();
    let index = writer.task(task(0x40001)).unwrap();
    let markup = "</text><script>".repeat(65_536 / 15 + 1);
    for number in 0..30_000u32 {
        // New ones, and one that is called another thing each time.
        let text = format!("{number}{markup}").into_bytes();
        for number in [number, 1 << 30] {
            let what = What::Name { class: Class::Mark, number, text: text.clone() };
            writer.record(index, &Record { what, ..Record::call(0, 0, 0) }).unwrap();
        }
    }
    let held: usize = writer.tables().names.iter().map(|(.., text)| text.len()).sum();
    assert!((8 << 20..=16 << 20).contains(&held), "{held}");
    let bytes = writer.finish().unwrap().into_inner();
    assert!(bytes.len() < 100 << 20, "{}", bytes.len());
    let reader = open(&bytes).unwrap();
    let first = reader.tables().names.get(index, Class::Mark, 7).unwrap();
    assert!(first.starts_with("7</text><script>") && first.len() == 4096, "{}", first.len());
    let held: usize = reader.tables().names.iter().map(|(.., text)| text.len()).sum();
    assert!(held <= 16 << 20, "{held}");
}

#[test]
fn a_later_version_is_named() {
    let (_, mut bytes) = written(1, 1, 3);
    bytes[8] = 9;
    let error = open(&bytes).unwrap_err();
    assert!(matches!(error, Error::Version { found: 9, known: 1 }), "{error}");
}

#[test]
fn a_tid_that_is_used_twice_is_two_tasks() {
    let mut writer = Writer::new(Cursor::new(Vec::new()), Limits::default(), 1).unwrap();
    writer.task(TaskFacts { began: 10, ..task(0x40001) }).unwrap();
    writer.task(TaskFacts { began: 500, ..task(0x40001) }).unwrap();
    let tables = writer.tables();
    let found = [5, 10, 499, 500, 900].map(|at| tables.task_at(Tid(0x40001), at));
    assert_eq!(found, [Some(0), Some(0), Some(0), Some(1), Some(1)]);
    assert_eq!(tables.task_at(Tid(0x40002), 5), None);
}

#[test]
fn a_record_on_disk_takes_less_than_twelve_bytes() {
    let mut writer = Writer::new(Cursor::new(Vec::new()), Limits::default(), 1).unwrap();
    let ring = Ring { rounds: 5000, offset: 1_000_000, drift: 20, ..Ring::default() };
    let (count, _) = ring.write(&mut writer).unwrap();
    let size = writer.finish().unwrap().into_inner().len() as u64;
    assert!(size < 12 * count, "{size} bytes for {count} records");
}

/// Files of version 1 that were written once and stay: later versions must read them.
#[test]
fn the_samples_are_read() {
    let sample = include_bytes!("samples/ring-1.trace");
    let mut reader = open(sample).unwrap();
    let all = reader.summary();
    assert_eq!((reader.cut(), all.records, all.sent, all.received), (None, 237, 40, 39));
    assert_eq!((all.sent_bytes, all.calls), (40 * 4032, 198));
    assert_eq!(reader.tables().hosts.len(), 4);
    let again = read(&mut reader);
    assert_eq!(again.iter().map(Vec::len).sum::<usize>(), 237);
}
