//! Tasks of one host exchange messages through a keeper's segments.

#![cfg(not(loom))]

mod keepers {
    pub(super) mod lacking;
}

use keepers::lacking::Lacking;
use pvm_shm::inbox::{Inbox, Marked};
use pvm_shm::lane::{Head, Key, room_for};
use pvm_shm::segment::Mapping;
use pvm_shm::{Body, Broker, Glance, Inlet, Keeper, Outbox, Payload, Sent};
use pvm_wire::request::{Segment, SegmentId};
use pvm_wire::{Address, Bytes, Code, Context, Encoding, Envelope, Tag, Tid};
use rustix::fd::OwnedFd;
use std::collections::VecDeque;
use std::sync::Arc;

const A: Tid = Tid(0x40001);
const B: Tid = Tid(0x40002);

fn keeper() -> Keeper {
    let mut keeper = Keeper::new(1 << 30).expect("memory");
    for tid in [A, B] {
        keeper.create_inbox(tid, "".into()).expect("memory");
    }
    keeper
}

fn inlet(keeper: &mut Keeper, me: Tid) -> Inlet {
    let (_, fd) = keeper.create_inbox(me, "".into()).expect("memory");
    let mapping = Mapping::new(fd, Inbox::SIZE, true).expect("mapped");
    Inlet::new(me, Inbox::new(Arc::new(mapping)), keeper.activity().clone())
}

fn outbox(keeper: &mut Keeper, me: Tid) -> Outbox {
    Outbox::new(&mut keeper.broker(me)).expect("memory")
}

fn envelope(src: Tid, tag: i32, body: &[u8]) -> Envelope {
    let mut envelope = Envelope::new(src, Address::new(B, Tag(tag), Context::FIRST));
    envelope.encoding = Encoding::Raw;
    envelope.data_size = body.len() as u64;
    envelope
}

fn send(keeper: &mut Keeper, out: &mut Outbox, src: Tid, tag: i32, body: &[u8]) -> Sent {
    let envelope = envelope(src, tag, body);
    let mut broker = keeper.broker(src);
    out.send(&mut broker, B, &envelope, Body::Bytes(&[body])).expect("memory")
}

fn bytes(payload: &Payload) -> Vec<u8> {
    let mut out = vec![0; payload.size()];
    payload.copy_to(0, &mut out);
    out
}

#[cfg(not(miri))]
#[test]
fn a_sender_that_is_killed_before_it_rings_is_rung_for() {
    let path = std::env::temp_dir().join(format!("doorbell{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let bell = std::os::unix::net::UnixDatagram::bind(&path).expect("bound");
    bell.set_nonblocking(true).expect("set");
    let mut keeper = Keeper::new(1 << 30).expect("memory");
    keeper.create_inbox(A, "".into()).expect("memory");
    keeper.create_inbox(B, path.to_str().expect("text").into()).expect("memory");
    let (mut inlet, mut out) = (inlet(&mut keeper, B), outbox(&mut keeper, A));
    send(&mut keeper, &mut out, A, 1, b"one");
    assert_eq!(receive_all(&mut keeper, &mut inlet).len(), 1);
    let inbox = inlet.inbox();
    inbox.start(out.activity());
    assert!(inbox.arm(out.activity()));
    // After its mark, before its ring.
    assert_eq!(inbox.header().mark(1), Marked::Wake);
    assert!(bell.recv(&mut [0]).is_err());
    keeper.remove_task(A);
    let rung = bell.recv(&mut [0]);
    let _ = std::fs::remove_file(&path);
    assert!(rung.is_ok(), "nobody has rung");
    assert_eq!(out.activity().count(), 1);
}

fn receive_all(keeper: &mut Keeper, inlet: &mut Inlet) -> Vec<(i32, Vec<u8>)> {
    let mut arrived = VecDeque::new();
    loop {
        let before = arrived.len();
        inlet.poll(&mut keeper.broker(B), &mut arrived);
        if arrived.len() == before {
            return arrived.iter().map(|(e, p)| (e.tag, bytes(p))).collect();
        }
    }
}

#[test]
fn messages_of_all_sizes_keep_their_order_far_beyond_the_first_ring() {
    let mut keeper = keeper();
    let (mut out, mut inlet) = (outbox(&mut keeper, A), inlet(&mut keeper, B));
    for tag in 0..5000 {
        let body = vec![tag as u8; [3, 192, 193, 5000][tag as usize % 4]];
        assert_eq!(send(&mut keeper, &mut out, A, tag, &body), Sent::Delivered);
    }
    let arrived = receive_all(&mut keeper, &mut inlet);
    assert_eq!(arrived.len(), 5000);
    for (i, (tag, body)) in arrived.iter().enumerate() {
        assert_eq!(*tag, i as i32);
        assert!(body.iter().all(|byte| *byte == i as u8));
    }
}

#[test]
fn what_was_sent_is_read_after_the_sender_is_gone_and_nothing_stays() {
    let mut keeper = keeper();
    let mut inlet = inlet(&mut keeper, B);
    let before = (keeper.segments(), keeper.bytes());
    let mut out = outbox(&mut keeper, A);
    for tag in 0..1000 {
        send(&mut keeper, &mut out, A, tag, &vec![7; 1 + tag as usize * 10]);
    }
    drop(out);
    keeper.remove_task(A);
    let mut arrived = VecDeque::new();
    while arrived.len() < 1000 {
        inlet.poll(&mut keeper.broker(B), &mut arrived);
    }
    assert!(arrived.iter().all(|(e, p)| bytes(p) == vec![7; 1 + e.tag as usize * 10]));
    drop(arrived);
    assert!(!keeper.sweep(), "every slab is read");
    keeper.remove_task(B);
    // The inboxes of A and B are gone as well.
    assert_eq!(keeper.segments(), before.0 - 2);
}

#[test]
fn a_notice_comes_behind_the_last_message_of_the_dead() {
    let mut keeper = keeper();
    let mut inlet = inlet(&mut keeper, B);
    let mut host = outbox(&mut keeper, Tid::NONE);
    let mut out = outbox(&mut keeper, A);
    for round in 0..100 {
        for _ in 0..round % 5 {
            send(&mut keeper, &mut out, A, 1, b"work");
        }
        send(&mut keeper, &mut host, Tid::NONE, 2, b"notice");
        let arrived = receive_all(&mut keeper, &mut inlet);
        assert_eq!(arrived.last().map(|(tag, _)| *tag), Some(2));
        assert_eq!(arrived.len(), 1 + round % 5);
    }
}

#[test]
fn a_thousand_notices_at_once_all_arrive() {
    let mut keeper = keeper();
    let mut inlet = inlet(&mut keeper, B);
    let mut host = outbox(&mut keeper, Tid::NONE);
    for tag in 0..1000 {
        send(&mut keeper, &mut host, Tid::NONE, tag, b"notice");
    }
    let tags: Vec<_> = receive_all(&mut keeper, &mut inlet).iter().map(|(tag, _)| *tag).collect();
    assert_eq!(tags, (0..1000).collect::<Vec<_>>());
}

#[test]
fn a_message_to_a_task_that_is_gone_vanishes_and_leaves_no_slab_held() {
    let mut keeper = keeper();
    let mut out = outbox(&mut keeper, A);
    assert_eq!(send(&mut keeper, &mut out, A, 1, &[1; 10_000]), Sent::Delivered);
    assert_eq!(out.slabs_in_flight(), 1);
    keeper.remove_task(B);
    assert_eq!(out.slabs_in_flight(), 0);
    assert_eq!(send(&mut keeper, &mut out, A, 1, &[1; 10_000]), Sent::Gone);
    assert_eq!(send(&mut keeper, &mut out, A, 1, &[1; 10]), Sent::Gone);
    assert_eq!(out.slabs_in_flight(), 0);
}

#[test]
fn the_first_message_to_a_task_with_a_number_that_was_anothers_arrives() {
    for size in [10, 1000, 10_000] {
        let mut keeper = keeper();
        let mut out = outbox(&mut keeper, A);
        assert_eq!(send(&mut keeper, &mut out, A, 1, &vec![1; size]), Sent::Delivered);
        keeper.remove_task(B);
        let mut next = inlet(&mut keeper, B);
        // By the fast path as by the long way: what finds the old lane looks for the new one.
        let body = vec![2; size];
        let mut head = Head::NEW;
        head.describe(Encoding::Raw, size, 0);
        let to = Address { to: B, tag: Tag(2), context: Context(0) };
        let few = out.send_few((A, 0), to, || Some((&mut head, &body)));
        // What is published and not seen by itself is told of, which finds that nobody is there.
        let is_gone = few.is_some_and(|is_seen| !is_seen && !out.tell_of_few(B));
        assert!(few.is_none() || is_gone);
        if out.send_small(A, to, &mut head, &body).is_none() {
            assert_eq!(send(&mut keeper, &mut out, A, 2, &body), Sent::Delivered);
        }
        assert_eq!(send(&mut keeper, &mut out, A, 3, &body), Sent::Delivered);
        let tags: Vec<_> =
            receive_all(&mut keeper, &mut next).iter().map(|(tag, _)| *tag).collect();
        assert_eq!(tags, [2, 3], "{size}");
    }
}

#[test]
fn a_sender_keeps_no_lanes_to_tasks_that_are_gone() {
    let mut keeper = keeper();
    let mut out = outbox(&mut keeper, A);
    let mappings = || {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("of this process");
        maps.lines().filter(|line| line.contains("memfd:neopvm")).count()
    };
    let before = mappings();
    for local in 0..2000 {
        let to = Tid(0x40010 + local);
        keeper.create_inbox(to, "".into()).expect("memory");
        let mut broker = keeper.broker(A);
        let sent = out.send(&mut broker, to, &envelope(A, 1, b"x"), Body::Bytes(&[b"x"]));
        assert_eq!(sent, Ok(Sent::Delivered));
        keeper.remove_task(to);
        // Tests of this file run side by side in one process, so others' mappings come and go.
        if local % 100 == 99 {
            assert!(mappings() < before + 1000, "{local}: {} before, {} now", before, mappings());
        }
    }
}

/// A broker whose next segments cannot be mapped, as where a process has used up its descriptors.
struct Failing<'a> {
    broker: &'a mut dyn Broker,
    failures: u32,
}

impl Broker for Failing<'_> {
    fn open_lane(&mut self, to: Tid, cells: u32) -> Result<(Segment, OwnedFd), Code> {
        self.broker.open_lane(to, cells)
    }
    fn open_slab(&mut self, bytes: u64) -> Result<(Segment, OwnedFd), Code> {
        self.broker.open_slab(bytes)
    }
    fn open_spill(&mut self, bytes: u64) -> Result<(Segment, OwnedFd), Code> {
        self.broker.open_spill(bytes)
    }
    fn map_spill(&mut self, id: SegmentId) -> Result<(Segment, OwnedFd), Code> {
        self.broker.map_spill(id)
    }
    fn map(&mut self, id: SegmentId) -> Result<(Segment, OwnedFd), Code> {
        match self.failures.checked_sub(1) {
            Some(left) => {
                self.failures = left;
                Err(Code::NoMem)
            }
            None => self.broker.map(id),
        }
    }
    fn list_lanes(&mut self, after: u32) -> Result<Vec<Segment>, Code> {
        self.broker.list_lanes(after)
    }
    fn drop_segment(&mut self, id: SegmentId) {
        self.broker.drop_segment(id);
    }
}

#[test]
fn a_lane_that_was_opened_in_vain_leads_no_receiver_astray() {
    for receiver_looks_between in [false, true] {
        let mut keeper = keeper();
        let (mut out, mut inlet) = (outbox(&mut keeper, A), inlet(&mut keeper, B));
        let segments = keeper.segments();
        for tag in 0..3 {
            let mut broker = keeper.broker(A);
            let mut failing = Failing { broker: &mut broker, failures: 1 };
            let message = envelope(A, tag, b"x");
            let sent = out.send(&mut failing, B, &message, Body::Bytes(&[b"x"]));
            assert_eq!(sent, Err(Code::NoMem));
            if receiver_looks_between {
                assert!(receive_all(&mut keeper, &mut inlet).is_empty());
            }
        }
        assert_eq!(keeper.segments(), segments, "what was opened is given back");
        assert_eq!(send(&mut keeper, &mut out, A, 7, b"y"), Sent::Delivered);
        assert_eq!(receive_all(&mut keeper, &mut inlet), [(7, b"y".to_vec())]);
    }
}

#[test]
fn nobody_speaks_in_anothers_name() {
    let mut keeper = keeper();
    let (mut out, mut inlet) = (outbox(&mut keeper, A), inlet(&mut keeper, B));
    let forged = envelope(Tid::NOTICE_SOURCE, 1, b"x");
    let mut broker = keeper.broker(A);
    out.send(&mut broker, B, &forged, Body::Bytes(&[b"x"])).expect("memory");
    send(&mut keeper, &mut out, A, 2, b"y");
    assert_eq!(receive_all(&mut keeper, &mut inlet), [(2, b"y".to_vec())]);
    assert_eq!(inlet.dropped(), 1);
}

#[test]
fn a_receiver_with_many_passing_senders_does_not_collect_their_lanes() {
    let mut keeper = keeper();
    let mut inlet = inlet(&mut keeper, B);
    for i in 0..300 {
        let src = Tid(0x40100 + i);
        keeper.create_inbox(src, "".into()).expect("memory");
        let mut out = outbox(&mut keeper, src);
        send(&mut keeper, &mut out, src, i as i32, b"hello");
        keeper.remove_task(src);
        assert_eq!(receive_all(&mut keeper, &mut inlet), [(i as i32, b"hello".to_vec())]);
    }
    assert!(keeper.segments() < 40, "{} segments", keeper.segments());
}

#[test]
fn a_sender_that_starts_anew_again_and_again_is_heard() {
    let mut keeper = keeper();
    let mut inlet = inlet(&mut keeper, B);
    for i in 0..40 {
        let mut out = outbox(&mut keeper, A);
        send(&mut keeper, &mut out, A, i, b"hello");
        keeper.remove_sender(A);
        assert_eq!(receive_all(&mut keeper, &mut inlet), [(i, b"hello".to_vec())]);
    }
}

#[test]
fn what_a_killed_reader_had_seen_but_not_read_is_read_by_the_next() {
    let mut keeper = keeper();
    let first = inlet(&mut keeper, B);
    let mut out = outbox(&mut keeper, A);
    send(&mut keeper, &mut out, A, 7, b"hello");
    first.inbox().header().take();
    drop(first);
    let mut second = inlet(&mut keeper, B);
    assert_eq!(receive_all(&mut keeper, &mut second), [(7, b"hello".to_vec())]);
}

#[test]
fn one_slab_serves_many_receivers_and_is_copied_for_more() {
    let mut keeper = keeper();
    let mut out = outbox(&mut keeper, A);
    let mut slab = out.slab(&mut keeper.broker(A), 1000).expect("memory");
    slab.write(0, &[9; 1000]);
    let mut inlets: Vec<_> = (0..100)
        .map(|i| {
            let to = Tid(0x40100 + i);
            let inlet = inlet(&mut keeper, to);
            let envelope = envelope(A, 1, &[9; 1000]);
            let body = Body::Slab(&mut slab);
            let sent = out.send(&mut keeper.broker(A), to, &envelope, body);
            assert_eq!(sent, Ok(Sent::Delivered));
            (to, inlet)
        })
        .collect();
    drop(slab);
    for (to, inlet) in &mut inlets {
        let mut arrived = VecDeque::new();
        inlet.poll(&mut keeper.broker(*to), &mut arrived);
        assert_eq!(arrived.iter().map(|(_, p)| bytes(p)).collect::<Vec<_>>(), [vec![9; 1000]]);
    }
    assert_eq!(out.slabs_in_flight(), 0);
}

#[test]
fn memory_is_bounded_with_an_error() {
    let mut keeper = Keeper::new(1 << 20).expect("memory");
    keeper.create_inbox(A, "".into()).expect("memory");
    assert_eq!(keeper.open_slab(A, 2 << 20).err(), Some(Code::NoMem));
    assert_eq!(keeper.open_slab(A, u64::MAX).err(), Some(Code::NoMem));
    assert!(keeper.open_slab(A, 1 << 19).is_ok());
}

#[test]
fn who_wants_a_message_of_one_sender_leaves_those_of_others_where_they_are() {
    const C: Tid = Tid(0x40003);
    let mut keeper = keeper();
    keeper.create_inbox(C, "".into()).expect("memory");
    let mut inlet = inlet(&mut keeper, B);
    let (mut of_a, mut of_c) = (outbox(&mut keeper, A), outbox(&mut keeper, C));
    let mut room = room_for(0);
    // A receiver that is alone watches the lanes that have given something, from the second look
    // on: the first one takes in what a reader before it may have left.
    for _ in 0..2 {
        for (out, src) in [(&mut of_a, A), (&mut of_c, C)] {
            send(&mut keeper, out, src, 1, b"first");
            assert!(inlet.next(&mut keeper.broker(B), true).is_some());
        }
    }
    for tag in [7, 8, 7] {
        send(&mut keeper, &mut of_c, C, tag, b"of C");
    }
    let wanted = |inlet: &mut Inlet, source, tag, room: &mut [u8]| {
        let mut about = Head::NONE;
        match inlet.take_small(source, &Key::new(Context(0), Some(Tag(tag))), &mut about, room) {
            Glance::Taken(size) => Glance::Taken((about.source(), size)),
            Glance::Nothing => Glance::Nothing,
            Glance::More => Glance::More,
        }
    };
    // Nothing of A, whatever C has sent; and what waits behind another one needs a proper look.
    assert_eq!(wanted(&mut inlet, Some(A), 7, &mut room), Glance::Nothing);
    assert_eq!(wanted(&mut inlet, Some(C), 8, &mut room), Glance::More);
    assert_eq!(wanted(&mut inlet, Some(C), 7, &mut room), Glance::Taken((C, 4)));
    assert!(inlet.next_of(&mut keeper.broker(B), A, |_| true).is_none());
    send(&mut keeper, &mut of_a, A, 7, b"A");
    assert_eq!(wanted(&mut inlet, Some(A), 7, &mut room), Glance::Taken((A, 1)));
    let next = inlet.next_of(&mut keeper.broker(B), C, |_| true).expect("the next of C");
    assert_eq!((next.0.tag, bytes(&next.1)), (8, b"of C".to_vec()));
    // From anybody it is the last of C.
    assert_eq!(wanted(&mut inlet, None, 7, &mut room), Glance::Taken((C, 4)));
    assert!(inlet.next(&mut keeper.broker(B), true).is_none());
    assert_eq!(wanted(&mut inlet, None, 7, &mut room), Glance::Nothing);
}

#[test]
fn messages_that_span_cells_go_into_slabs_once_their_lane_has_grown_for_nobody() {
    let mut keeper = keeper();
    let mut inlet = inlet(&mut keeper, B);
    let mut out = outbox(&mut keeper, A);
    let body = |tag: i32| vec![tag as u8; 300 + tag as usize % 3700];
    let mut sent = 0;
    while out.slabs_in_flight() == 0 {
        assert_eq!(send(&mut keeper, &mut out, A, sent, &body(sent)), Sent::Delivered);
        sent += 1;
        assert!(sent < 10_000, "more than a ring of a mebibyte holds");
    }
    for _ in 0..100 {
        assert_eq!(send(&mut keeper, &mut out, A, sent, &body(sent)), Sent::Delivered);
        sent += 1;
    }
    let arrived = receive_all(&mut keeper, &mut inlet);
    assert_eq!(arrived.len(), sent as usize);
    for (i, (tag, bytes)) in arrived.iter().enumerate() {
        assert_eq!((*tag as usize, bytes), (i, &body(*tag)));
    }
    drop(arrived);
    assert_eq!(out.slabs_in_flight(), 0);
}

#[test]
fn a_small_message_that_waits_keeps_no_room_of_a_larger_one() {
    let mut keeper = keeper();
    let mut inlet = inlet(&mut keeper, B);
    let mut out = outbox(&mut keeper, A);
    inlet.give_back(room_for(4000));
    for size in [8, 3000, 100] {
        send(&mut keeper, &mut out, A, 1, &vec![7; size]);
        let arrival = inlet.next(&mut keeper.broker(B), true).expect("sent");
        let Payload::Inline { bytes, size: told } = arrival.1 else {
            panic!("it rides in its lane")
        };
        assert_eq!(told, size);
        assert!(bytes.len() < 2 * size.max(209), "{size} in {}", bytes.len());
        assert!(bytes[..size].iter().all(|byte| *byte == 7));
    }
}

#[test]
fn a_lane_whose_larger_ring_could_not_be_mapped_once_goes_on_there() {
    const COUNT: i32 = 5000;
    for lacks in [1, 2, 200] {
        let mut keeper = keeper();
        let (mut out, mut inlet) = (outbox(&mut keeper, A), inlet(&mut keeper, B));
        let mut arrived = VecDeque::new();
        send(&mut keeper, &mut out, A, 0, b"the lane is known");
        inlet.poll(&mut keeper.broker(B), &mut arrived);
        for tag in 1..COUNT {
            send(&mut keeper, &mut out, A, tag, b"more than a ring holds");
        }
        let mut asked = keeper.broker(B);
        let mut broker = Lacking(&mut asked, [0, lacks], Code::NoMem);
        for looks in 0..1000 {
            assert!(looks < 500, "{lacks}: {} of {COUNT} messages", arrived.len());
            inlet.poll(&mut broker, &mut arrived);
            if arrived.len() == COUNT as usize {
                break;
            }
        }
        let tags: Vec<i32> = arrived.iter().map(|(envelope, _)| envelope.tag).collect();
        assert!(tags.into_iter().eq(0..COUNT), "{lacks}: another order");
    }
}

#[test]
fn a_slab_that_could_not_be_mapped_is_mapped_by_who_reads_it() {
    let mut keeper = keeper();
    let (mut out, mut inlet) = (outbox(&mut keeper, A), inlet(&mut keeper, B));
    let mut arrived = VecDeque::new();
    send(&mut keeper, &mut out, A, 1, b"the lane is known");
    inlet.poll(&mut keeper.broker(B), &mut arrived);
    send(&mut keeper, &mut out, A, 2, &[7; 100_000]);
    send(&mut keeper, &mut out, A, 3, b"behind it");
    let mut asked = keeper.broker(B);
    // It is tried twice, the second time without what nobody reads.
    let mut broker = Lacking(&mut asked, [0, 3], Code::NoMem);
    inlet.poll(&mut broker, &mut arrived);
    let tags: Vec<i32> = arrived.iter().map(|(envelope, _)| envelope.tag).collect();
    assert_eq!(tags, [1, 2, 3]);
    let Payload::Unmapped(slab) = &arrived[1].1 else { panic!("{:?}", arrived[1].1) };
    assert_eq!(slab.size(), 100_000);
    assert_eq!(
        inlet.map_now(&mut Lacking(broker.0, [0, 2], Code::NoMem), slab).err(),
        Some(Code::NoMem)
    );
    let payload = inlet.map_now(broker.0, slab).expect("there is room now");
    assert_eq!(bytes(&payload), vec![7; 100_000]);
}

#[test]
fn a_lane_that_could_not_be_learnt_of_once_is_not_forgotten() {
    for lacks in [[1, 0], [0, 1], [2, 3], [200, 200]] {
        let mut keeper = keeper();
        let (mut out, mut inlet) = (outbox(&mut keeper, A), inlet(&mut keeper, B));
        send(&mut keeper, &mut out, A, 7, b"seven");
        let mut arrived = VecDeque::new();
        let mut asked = keeper.broker(B);
        let mut broker = Lacking(&mut asked, lacks, Code::NoMem);
        let mut looks = 0;
        while arrived.is_empty() {
            looks += 1;
            assert!(looks < 1000 && inlet.inbox().header().has_pending(), "{lacks:?}: forgotten");
            inlet.poll(&mut broker, &mut arrived);
        }
        assert_eq!(arrived.len(), 1, "{lacks:?}");
        assert!(!inlet.inbox().header().has_pending(), "{lacks:?}: for ever");
    }
}
