//! Messages that are read while they are written.

#![cfg(not(loom))]

use pvm_shm::inbox::Inbox;
use pvm_shm::segment::Mapping;
use pvm_shm::{Body, Inlet, Keeper, Outbox, Payload, Sent, Slab};
use pvm_wire::{Address, Bytes, Context, Encoding, Envelope, Tag, Tid};
use std::sync::Arc;

const A: Tid = Tid(0x40001);
const B: Tid = Tid(0x40002);
const TAG: i32 = 5;
const SIZE: usize = 100_000;

struct Pair {
    keeper: Keeper,
    out: Outbox,
    inlet: Inlet,
}

impl Pair {
    /// A sends to B, which watches the lane.
    fn new() -> Self {
        let mut keeper = Keeper::new(1 << 30).expect("memory");
        keeper.create_inbox(A, "".into()).expect("memory");
        let (_, fd) = keeper.create_inbox(B, "".into()).expect("memory");
        let mapping = Mapping::new(fd, Inbox::SIZE, true).expect("mapped");
        let inlet = Inlet::new(B, Inbox::new(Arc::new(mapping)), keeper.activity().clone());
        let out = Outbox::new(&mut keeper.broker(A)).expect("memory");
        let mut pair = Self { keeper, out, inlet };
        // The first look is at everything, the second at what is told of.
        for _ in 0..2 {
            let body = Body::Bytes(&[]);
            pair.out.send(&mut pair.keeper.broker(A), B, &envelope(1, 0), body).expect("memory");
            pair.next().expect("sent");
        }
        pair
    }

    fn next(&mut self) -> Option<(Envelope, Payload)> {
        self.inlet.next(&mut self.keeper.broker(B), true)
    }

    fn next_stream(&mut self, tag: i32) -> Option<Payload> {
        let taken = self.inlet.take_stream(&mut self.keeper.broker(B), None, |e| e.tag == tag)?;
        Some(taken.1)
    }

    /// A begins; `filled` bytes are written.
    fn begin(&mut self, filled: usize) -> Slab {
        let mut slab = self.out.slab(&mut self.keeper.broker(A), SIZE).expect("memory");
        self.out.begin_stream(B, &envelope(TAG, SIZE), &mut slab).expect("a lane stands");
        slab.write(0, &body()[..filled]);
        slab.fill_stream(filled);
        slab
    }
}

fn envelope(tag: i32, size: usize) -> Envelope {
    let mut envelope = Envelope::new(A, Address::new(B, Tag(tag), Context::FIRST));
    envelope.encoding = Encoding::Raw;
    envelope.data_size = size as u64;
    envelope
}

fn body() -> Vec<u8> {
    (0..SIZE).map(|i| (i % 251) as u8).collect()
}

fn bytes(payload: &Payload) -> Vec<u8> {
    let mut out = vec![0; payload.size()];
    payload.copy_to(0, &mut out);
    out
}

fn is_broken(payload: &Payload) -> bool {
    matches!(payload, Payload::Slab(view) if view.is_broken())
}

#[test]
fn only_a_receiver_that_waits_for_just_this_message_is_told_of_it_early() {
    let mut pair = Pair::new();
    let wish = pair.inlet.inbox().clone();
    let wanted = envelope(TAG, SIZE);
    assert!(!pair.out.is_awaited(B, &wanted), "it does not wait");
    for (wish_for, fits) in [
        ((0, None, None), true),
        ((0, Some(A), Some(TAG)), true),
        ((1, Some(A), Some(TAG)), false),
        ((0, Some(B), None), false),
        ((0, Some(A), Some(TAG + 1)), false),
        ((0, None, Some(-2)), false),
    ] {
        wish.wish().set(Some(wish_for));
        assert_eq!(pair.out.is_awaited(B, &wanted), fits, "{wish_for:?}");
    }
    wish.wish().set(None);
    assert!(!pair.out.is_awaited(B, &wanted));
}

#[test]
fn who_waits_reads_while_it_is_written() {
    let mut pair = Pair::new();
    let slab = pair.begin(SIZE / 2);
    assert!(pair.next_stream(TAG + 1).is_none(), "another one is wanted");
    let payload = pair.next_stream(TAG).expect("it is being written");
    let mut half = vec![0; SIZE / 2];
    payload.copy_to(0, &mut half);
    assert_eq!(half, body()[..SIZE / 2]);
    let all = std::thread::scope(|scope| {
        let reading = scope.spawn(|| bytes(&payload));
        for at in (SIZE / 2..SIZE).step_by(1000) {
            slab.write(at, &body()[at..at + 1000]);
            slab.fill_stream(at + 1000);
        }
        reading.join().expect("no panic")
    });
    assert_eq!(all, body());
    assert!(!is_broken(&payload));
    assert_eq!(pair.out.end_stream(B), Sent::Delivered);
    assert!(pair.next().is_none(), "it was received");
    drop((slab, payload));
    assert_eq!(pair.out.slabs_in_flight(), 0);
}

#[test]
fn who_does_not_wait_sees_it_when_it_is_whole() {
    let mut pair = Pair::new();
    let slab = pair.begin(SIZE - 1);
    for _ in 0..100 {
        assert!(pair.next().is_none(), "half a message");
    }
    assert!(!pair.inlet.inbox().header().has_pending(), "nothing keeps the receiver from sleeping");
    slab.write(0, &body());
    slab.fill_stream(SIZE);
    assert_eq!(pair.out.end_stream(B), Sent::Delivered);
    let (envelope, payload) = pair.next().expect("whole");
    assert_eq!((envelope.tag, bytes(&payload)), (TAG, body()));
}

#[test]
fn what_was_sent_behind_it_waits_for_it() {
    let mut pair = Pair::new();
    let slab = pair.begin(SIZE);
    slab.fill_stream(10);
    slab.write(0, &body());
    let behind = envelope(TAG + 1, 0);
    pair.out.send(&mut pair.keeper.broker(A), B, &behind, Body::Bytes(&[])).expect("memory");
    assert!(pair.next().is_none(), "an earlier one is not whole yet");
    slab.fill_stream(SIZE);
    pair.out.end_stream(B);
    let tags: Vec<i32> = std::iter::from_fn(|| pair.next()).map(|(e, _)| e.tag).collect();
    assert_eq!(tags, [TAG, TAG + 1]);
}

#[test]
fn a_message_that_is_being_written_does_not_overtake_what_was_gathered_for_a_notice() {
    let mut pair = Pair::new();
    let mut host = Outbox::new(&mut pair.keeper.broker(Tid::NONE)).expect("memory");
    let notice = Envelope { src: Tid::NONE, ..envelope(TAG + 1, 0) };
    // A busy lane goes before the host's words in most turns, so that not every turn gathers.
    for _ in 0..100 {
        for _ in 0..2 {
            let (broker, body) = (&mut pair.keeper.broker(A), Body::Bytes(&[]));
            pair.out.send(broker, B, &envelope(TAG, 0), body).expect("memory");
        }
        let broker = &mut pair.keeper.broker(Tid::NONE);
        host.send(broker, B, &notice, Body::Bytes(&[])).expect("memory");
        assert_eq!(pair.next().expect("sent").0.data_size, 0);
        let slab = pair.begin(SIZE);
        assert!(pair.next_stream(TAG).is_none(), "an earlier one waits");
        slab.fill_stream(SIZE);
        pair.out.end_stream(B);
        let sizes = std::iter::from_fn(|| pair.next()).filter(|(e, _)| e.tag == TAG);
        assert_eq!(sizes.map(|(e, _)| e.data_size).collect::<Vec<_>>(), [0, SIZE as u64]);
    }
}

#[test]
fn a_message_whose_sender_dies_in_the_middle_is_never_a_whole_one() {
    // The receiver has begun to read it.
    let mut pair = Pair::new();
    let slab = pair.begin(SIZE / 2);
    let payload = pair.next_stream(TAG).expect("it is being written");
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| bytes(&payload).len());
        pair.keeper.remove_task(A);
        assert_eq!(reading.join().expect("it does not hang"), SIZE);
    });
    assert!(is_broken(&payload));
    assert!(pair.keeper.sweep(), "it is still held");
    drop((slab, payload));
    assert!(!pair.keeper.sweep(), "nothing stays");
    // Nobody has begun to read it: it was never sent.
    let mut pair = Pair::new();
    let slab = pair.begin(SIZE / 2);
    assert!(pair.next().is_none());
    pair.keeper.remove_task(A);
    assert!(pair.next().is_none());
    assert_eq!(pair.inlet.dropped(), 1);
    drop(slab);
    assert!(!pair.keeper.sweep(), "nothing stays");
    // It was whole just before.
    let mut pair = Pair::new();
    let _slab = pair.begin(SIZE);
    pair.keeper.remove_task(A);
    let (_, payload) = pair.next().expect("whole");
    assert_eq!(bytes(&payload), body());
    assert!(!is_broken(&payload));
}

#[test]
fn a_cell_that_names_a_slot_that_is_none_is_dropped() {
    let mut pair = Pair::new();
    let mut slab = pair.out.slab(&mut pair.keeper.broker(A), SIZE).expect("memory");
    let mut foreign = envelope(TAG, SIZE);
    foreign.src = B;
    pair.out.begin_stream(B, &foreign, &mut slab).expect("a lane stands");
    slab.fill_stream(SIZE);
    assert!(pair.next_stream(TAG).is_none(), "nobody speaks in another's name");
    assert!(pair.next().is_none());
    assert_eq!(pair.inlet.dropped(), 1);
}
