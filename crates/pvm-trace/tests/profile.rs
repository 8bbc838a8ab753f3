//! The profile of a trace, compared with what is known of the run that made it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "simulated/ring.rs"]
mod ring;

use proptest::prelude::*;
use pvm_trace::clocks::{ClockSource, Clocks};
use pvm_trace::matching::{Matched, Matcher, Span, Unmatched, messages};
use pvm_trace::profile::Profile;
use pvm_trace::{
    Limits, Reader, Reason, Record, RouteKind, TaskFacts, TaskIndex, Transfer, What, Writer, calls,
};
use pvm_wire::{Encoding, Tid};
use ring::Ring;
use std::io::Cursor;

type Bytes = Cursor<Vec<u8>>;

fn written(write: impl FnOnce(&mut Writer<Bytes>)) -> Reader<Bytes> {
    let mut writer = Writer::new(Cursor::new(Vec::new()), Limits::default(), 1).unwrap();
    write(&mut writer);
    Reader::open(writer.finish().unwrap()).unwrap()
}

fn of_ring(ring: Ring) -> Reader<Bytes> {
    written(|writer| {
        ring.write(writer).unwrap();
    })
}

fn profile(reader: &mut Reader<Bytes>) -> Profile {
    let clocks = Clocks::find(reader).unwrap();
    Profile::of(reader, &clocks).unwrap()
}

#[test]
fn a_ring_is_what_it_was_made_as() {
    let mut reader = of_ring(Ring::default());
    let profile = profile(&mut reader);
    assert_eq!((profile.matched, profile.unmatched.sends, profile.unmatched.receives), (39, 1, 0));
    assert_eq!(profile.pairs.len(), 4);
    assert!(profile.pairs.values().all(|traffic| traffic.messages == 10));
    let receive = profile.functions[&calls::RECV];
    assert_eq!((receive.calls, receive.messages, receive.bytes), (39, 39, 39 * 4032));
    assert_eq!(receive.own, 39 * 500, "100 ns before and 400 behind each wait");
    let all = profile.waiting();
    assert_eq!((all.other, all.group), (0, 0));
    // Each message is on the way for 900 ns in the call that sends it, and 50 us behind it; the
    // first receives of tasks that had not begun to wait are shorter by nothing, as all wait from
    // the start.
    assert_eq!(all.on_the_way, 39 * 50_900);
    assert_eq!(all.total(), receive.waiting);
    let efficiency = profile.efficiency().unwrap();
    let product = efficiency.balance * efficiency.transfer;
    assert!((efficiency.total - product).abs() < 1e-12);
    // Nothing runs side by side in a ring: the path is the whole run.
    let path = &profile.path;
    let running: u64 = path.running.values().sum();
    assert_eq!(path.messages, 39);
    assert_eq!(running + path.on_the_way, path.length());
    assert_eq!(path.on_the_way, 39 * 50_900);
    assert!(!path.is_cut);
}

#[test]
fn clocks_that_are_off_are_found_and_no_message_arrives_before_it_was_sent() {
    let ring = Ring { rounds: 3000, offset: 7_000_000, drift: 40, ..Ring::default() };
    let mut reader = of_ring(ring);
    let early = |message: &Matched| message.received.end < message.sent.begin;
    let mut wrong = 0;
    messages(&mut reader, |_, time| time, |message| wrong += u32::from(early(message))).unwrap();
    assert!(wrong > 0, "the raw times would do");
    let clocks = Clocks::find(&mut reader).unwrap();
    let sources: Vec<_> = clocks.hosts().iter().map(|clock| clock.source).collect();
    assert_eq!(sources[0], ClockSource::Reference);
    assert!(sources[1..].iter().all(|source| *source == ClockSource::Compared));
    assert!(clocks.hosts().iter().all(|clock| clock.error.unwrap() < 3000), "{clocks:?}");
    let time = |task, raw| clocks.time(task, raw);
    messages(&mut reader, time, |message| {
        let error = clocks.error(message.from, message.to).unwrap();
        assert!(message.received.end + error >= message.sent.begin);
    })
    .unwrap();
    // What was simulated is found again.
    for time in [1_000_000u64, 100_000_000] {
        for task in 0..4 {
            let off = clocks.time(task, ring.clock(task, time)).abs_diff(ring.clock(0, time));
            assert!(off <= clocks.error(0, task).unwrap(), "task {task}: {off} ns");
        }
    }
}

#[test]
fn hosts_that_nobody_compared_are_set_by_their_messages() {
    // A token that goes to and fro, and no comparison.
    let off = 5_000_000_000u64;
    let mut reader = written(|writer| {
        for number in [1, 2] {
            let began = if number == 1 { 0 } else { off };
            writer.task(facts(number << 18 | 1, began)).unwrap();
        }
        for round in 0..20u64 {
            let at = 1_000_000 + round * 1_000_000;
            let (there, here) = (Tid(2 << 18 | 1), Tid(1 << 18 | 1));
            let number = round + 1;
            writer.record(0, &sent(there, number, at)).unwrap();
            writer.record(1, &taken(here, number, at + off + 70_000)).unwrap();
            writer.record(1, &sent(here, number, at + off + 100_000)).unwrap();
            writer.record(0, &taken(there, number, at + 100_000 + 70_000)).unwrap();
        }
    });
    let clocks = Clocks::find(&mut reader).unwrap();
    assert_eq!(clocks.hosts()[1].source, ClockSource::Messages);
    let error = clocks.hosts()[1].error.unwrap();
    assert!(error <= 72_000, "{error}");
    assert!(clocks.time(1, off + 9).abs_diff(9) <= error);
}

fn facts(tid: u32, began: u64) -> TaskFacts {
    TaskFacts { tid: Tid(tid), parent: Tid(0), process: 1, program: "x".into(), began }
}

fn transfer(peer: Tid, number: u64) -> Transfer {
    Transfer {
        peer,
        tag: 1,
        context: 0,
        number,
        bytes: 8,
        encoding: Encoding::Raw,
        route: RouteKind::Direct,
        hops: 0,
    }
}

fn sent(peer: Tid, number: u64, begin: u64) -> Record {
    let message = transfer(peer, number);
    let what = What::Send { message, wire: 8, pieces: 1 };
    Record { what, ..Record::call(calls::SEND, begin, 1000) }
}

fn taken(peer: Tid, number: u64, end: u64) -> Record {
    let message = transfer(peer, number);
    let what = What::Receive { message, any_source: false, any_tag: false };
    Record { what, ..Record::call(calls::RECV, end - 500, 500) }
}

/// Halves of messages in any order: who, with whom, the number, whether it is a send.
fn halves() -> impl Strategy<Value = Vec<(u32, u32, u64, bool)>> {
    prop::collection::vec((0..3u32, 0..4u32, 0..6u64, any::<bool>()), 0..80)
}

proptest! {
    #[test]
    fn sends_and_receives_match_as_in_a_naive_list(halves in halves()) {
        let reader = written(|writer| {
            for task in 0..3 { writer.task(facts(task + 1, 0)).unwrap(); }
        });
        let mut matcher = Matcher::new(reader.tables());
        // The naive list: what has no other half yet.
        let mut list: Vec<(u32, u32, u64, bool, u64)> = Vec::new();
        let mut expected = Unmatched::default();
        for (at, (task, peer, number, is_send)) in (0..).zip(halves) {
            // Task number 3 was not recorded.
            let record = if is_send { sent(Tid(peer + 1), number, at) } else {
                taken(Tid(peer + 1), number, at + 500)
            };
            let span = Span { begin: at, end: at };
            let found = matcher.record(task, &record, span, Vec::new);
            let (from, to) = if is_send { (task, peer) } else { (peer, task) };
            if peer == 3 || number == 0 {
                expected.apart += 1;
                prop_assert!(found.is_none());
                continue;
            }
            let other = list.iter().position(|half| (half.0, half.1, half.2) == (from, to, number));
            let half = (from, to, number, is_send, at);
            match other.map(|place| list.remove(place)) {
                None => list.push(half),
                Some(other) if other.3 == is_send => {
                    *(if is_send { &mut expected.sends } else { &mut expected.receives }) += 1;
                    list.push(half);
                }
                Some(other) => {
                    let found = found.clone().unwrap();
                    prop_assert_eq!((found.from, found.to, found.number), (from, to, number));
                    let (sent, taken) = if is_send { (at, other.4) } else { (other.4, at) };
                    prop_assert_eq!((found.sent.begin, found.received.begin), (sent, taken));
                    continue;
                }
            }
            prop_assert!(found.is_none());
        }
        expected.sends += list.iter().filter(|half| half.3).count() as u64;
        expected.receives += list.iter().filter(|half| !half.3).count() as u64;
        prop_assert_eq!(matcher.finish().0, expected);
    }

    #[test]
    fn waits_are_split_and_sum_up_exactly(
        rows in prop::collection::vec((0..2u32, 0..5u8, 1..5000u64, 0..5000u64, 1..4u64), 0..200)
    ) {
        let mut total = 0;
        let mut ends = [10_000u64; 2];
        let mut reader = written(|writer| {
            for task in 0..2 { writer.task(facts(task + 1, 0)).unwrap(); }
            for (task, kind, length, pause, number) in rows {
                let end = &mut ends[task as usize];
                let begin = *end + pause;
                *end = begin + length;
                let reason = if kind == 4 { Reason::Group } else { Reason::Message };
                let what = What::Wait { reason, processor: None };
                let wait = Record {
                    what, part: true, depth: 1, ..Record::call(calls::RECV, begin, length)
                };
                if kind > 0 {
                    writer.record(task, &wait).unwrap();
                    total += length;
                }
                let peer = Tid(2 - task);
                let call = match kind {
                    0 => sent(peer, number, begin),
                    1 | 2 => taken(peer, number, *end + 500),
                    _ => Record::call(calls::NRECV, begin, length),
                };
                *end += 1500;
                writer.record(task as TaskIndex, &call).unwrap();
            }
        });
        let profile = profile(&mut reader);
        prop_assert_eq!(profile.waiting().total(), total);
        let path = &profile.path;
        let running: u64 = path.running.values().sum();
        prop_assert_eq!(running + path.on_the_way, path.length());
    }
}
