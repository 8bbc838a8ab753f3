//! Unread messages have limits, go to disk, and are given back.

#![cfg(not(loom))]

mod keepers {
    pub(super) mod lacking;
}

use keepers::lacking::Lacking;
use proptest::prelude::*;
use pvm_shm::credit::{DESCRIPTORS_MAX, Limits};
use pvm_shm::inbox::Inbox;
use pvm_shm::segment::Mapping;
use pvm_shm::{Body, Inlet, Keeper, Outbox, Payload, Sent};
use pvm_wire::{Address, Bytes, Code, Context, Encoding, Envelope, Tag, Tid};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

const A: Tid = Tid(0x40001);
const B: Tid = Tid(0x40002);
const C: Tid = Tid(0x40003);
const MIB: usize = 1 << 20;

/// A keeper with three tasks and little memory for each.
fn keeper(folders: Vec<PathBuf>, file_bytes: usize) -> Keeper {
    let mut keeper = Keeper::new(1 << 30).expect("memory");
    let limits = Limits {
        host_bytes: 12 << 20,
        sender_bytes: 8 << 20,
        spill_bytes: file_bytes as u64,
        descriptors: 512,
    };
    keeper.limit(limits, folders);
    for tid in [A, B, C] {
        keeper.create_inbox(tid, "".into()).expect("memory");
    }
    keeper
}

fn on_disk() -> Vec<PathBuf> {
    vec![std::env::temp_dir()]
}

fn inlet(keeper: &mut Keeper, me: Tid) -> Inlet {
    let (_, fd) = keeper.create_inbox(me, "".into()).expect("memory");
    let mapping = Mapping::new(fd, Inbox::SIZE, true).expect("mapped");
    Inlet::new(me, Inbox::new(Arc::new(mapping)), keeper.activity().clone())
}

fn outbox(keeper: &mut Keeper, me: Tid) -> Outbox {
    Outbox::new(&mut keeper.broker(me)).expect("memory")
}

fn pattern(tag: i32, size: usize) -> Vec<u8> {
    (0..size).map(|i| (i as u32).wrapping_mul(0x9e37_79b9).wrapping_add(tag as u32) as u8).collect()
}

fn send(
    keeper: &mut Keeper,
    out: &mut Outbox,
    (src, dst): (Tid, Tid),
    (tag, size): (i32, usize),
) -> Result<Sent, Code> {
    let mut envelope = Envelope::new(src, Address::new(dst, Tag(tag), Context::FIRST));
    envelope.encoding = Encoding::Raw;
    envelope.data_size = size as u64;
    let body = pattern(tag, size);
    out.send(&mut keeper.broker(src), dst, &envelope, Body::Bytes(&[&body]))
}

/// Takes all that has come, and compares every byte.
fn read_all(keeper: &mut Keeper, inlet: &mut Inlet, me: Tid) -> Vec<i32> {
    let mut arrived = VecDeque::new();
    let mut tags = Vec::new();
    inlet.poll(&mut keeper.broker(me), &mut arrived);
    for (envelope, payload) in arrived {
        let bytes = match &payload {
            Payload::Spilled(view) => {
                inlet.load(&mut keeper.broker(me), view, None).expect("on the disk")
            }
            other => {
                let mut bytes = vec![0; other.size()];
                other.copy_to(0, &mut bytes);
                bytes
            }
        };
        assert!(bytes == pattern(envelope.tag, bytes.len()), "message {} spoilt", envelope.tag);
        tags.push(envelope.tag);
    }
    tags
}

#[test]
fn what_finds_no_credit_in_memory_goes_to_disk_and_arrives_in_order() {
    let mut keeper = keeper(on_disk(), 256 * MIB);
    let mut out = outbox(&mut keeper, A);
    let mut inlet = inlet(&mut keeper, B);
    let sizes = [MIB, 3000, 100, 70_000];
    for tag in 0..200 {
        let sent = send(&mut keeper, &mut out, (A, B), (tag, sizes[tag as usize % 4]));
        assert_eq!(sent, Ok(Sent::Delivered));
    }
    let (slabs, files, _) = keeper.taken();
    assert!(slabs <= 8 << 20, "{slabs} bytes of memory");
    assert!(files >= 40 << 20, "{files} bytes of files");
    assert_eq!(read_all(&mut keeper, &mut inlet, B), (0..200).collect::<Vec<_>>());
    out.shrink(&mut keeper.broker(A));
    assert_eq!(keeper.taken().1, 0, "the files are given back when they are read");
}

#[test]
fn a_sender_that_is_gone_leaves_its_files_to_their_readers() {
    let mut keeper = keeper(on_disk(), 256 * MIB);
    let mut out = outbox(&mut keeper, A);
    let mut inlet = inlet(&mut keeper, B);
    for tag in 0..30 {
        send(&mut keeper, &mut out, (A, B), (tag, MIB)).expect("room");
    }
    drop(out);
    keeper.remove_task(A);
    assert!(keeper.taken().1 > 0);
    assert_eq!(read_all(&mut keeper, &mut inlet, B).len(), 30);
    keeper.sweep();
    let (slabs, files, _) = keeper.taken();
    assert_eq!((slabs, files), (0, 0));
}

#[test]
fn a_reader_that_dies_gives_all_back() {
    let mut keeper = keeper(on_disk(), 256 * MIB);
    let mut out = outbox(&mut keeper, A);
    for tag in 0..30 {
        send(&mut keeper, &mut out, (A, B), (tag, MIB)).expect("room");
    }
    keeper.remove_task(B);
    out.shrink(&mut keeper.broker(A));
    assert_eq!(keeper.taken().1, 0);
    assert_eq!(send(&mut keeper, &mut out, (A, B), (1, MIB)), Ok(Sent::Gone));
}

#[test]
fn without_any_credit_nothing_is_sent_until_somebody_reads() {
    for (folders, file_bytes) in [(Vec::new(), 256 * MIB), (on_disk(), 16 * MIB)] {
        let mut keeper = keeper(folders, file_bytes);
        let mut out = outbox(&mut keeper, A);
        let mut inlet = inlet(&mut keeper, B);
        let mut sent = 0;
        while send(&mut keeper, &mut out, (A, B), (sent, MIB)) == Ok(Sent::Delivered) {
            sent += 1;
            assert!(sent < 100, "no limit");
        }
        assert_eq!(send(&mut keeper, &mut out, (A, B), (sent, MIB)), Ok(Sent::Full));
        assert!(!out.lacks_cells());
        // Small ones need no credit.
        assert_eq!(send(&mut keeper, &mut out, (A, B), (sent, 200)), Ok(Sent::Delivered));
        // A sender that has no part in it goes on.
        let mut other = outbox(&mut keeper, C);
        assert_eq!(send(&mut keeper, &mut other, (C, A), (1, MIB)), Ok(Sent::Delivered));
        assert_eq!(read_all(&mut keeper, &mut inlet, B), (0..=sent).collect::<Vec<_>>());
        assert_eq!(send(&mut keeper, &mut out, (A, B), (sent, MIB)), Ok(Sent::Delivered));
    }
}

#[test]
fn a_message_larger_than_all_credit_is_possible() {
    let mut keeper = keeper(Vec::new(), 0);
    let mut out = outbox(&mut keeper, A);
    let mut inlet = inlet(&mut keeper, B);
    for tag in 0..3 {
        assert_eq!(send(&mut keeper, &mut out, (A, B), (tag, 20 * MIB)), Ok(Sent::Delivered));
        assert_eq!(send(&mut keeper, &mut out, (A, B), (tag, 20 * MIB)), Ok(Sent::Full));
        assert_eq!(read_all(&mut keeper, &mut inlet, B), [tag]);
    }
}

#[test]
fn a_receiver_has_a_million_unread_messages_and_no_more() {
    let mut keeper = keeper(Vec::new(), 0);
    let mut out = outbox(&mut keeper, A);
    let mut inlet = inlet(&mut keeper, B);
    let mut sent = 0u64;
    while send(&mut keeper, &mut out, (A, B), (0, 8)) == Ok(Sent::Delivered) {
        sent += 1;
        assert!(sent <= DESCRIPTORS_MAX, "no limit");
    }
    assert!(out.lacks_cells());
    assert!(sent > DESCRIPTORS_MAX * 8 / 10, "{sent}");
    assert_eq!(send(&mut keeper, &mut out, (A, C), (0, 8)), Ok(Sent::Delivered));
    // What the receiver has taken out of its lanes and not used still counts.
    assert_eq!(read_all(&mut keeper, &mut inlet, B).len() as u64, sent);
    inlet.inbox().tell_unmatched(sent as u32);
    let mut more = 0;
    while send(&mut keeper, &mut out, (A, B), (0, 8)) == Ok(Sent::Delivered) {
        more += 1;
        assert!(more < 1 << 17, "no limit");
    }
    inlet.inbox().tell_unmatched(0);
    assert_eq!(send(&mut keeper, &mut out, (A, B), (0, 8)), Ok(Sent::Delivered));
}

#[test]
fn a_lane_is_small_again_after_a_burst() {
    let mut keeper = keeper(Vec::new(), 0);
    let mut out = outbox(&mut keeper, A);
    let mut inlet = inlet(&mut keeper, B);
    assert_eq!(send(&mut keeper, &mut out, (A, B), (0, 8)), Ok(Sent::Delivered));
    let before = (keeper.bytes(), keeper.taken());
    for tag in 1..100_000 {
        assert_eq!(send(&mut keeper, &mut out, (A, B), (tag, 8)), Ok(Sent::Delivered));
    }
    assert!(keeper.bytes() > before.0 + (16 << 20));
    out.shrink(&mut keeper.broker(A));
    assert!(keeper.bytes() > before.0 + (16 << 20), "nothing of it was read");
    assert_eq!(read_all(&mut keeper, &mut inlet, B), (0..100_000).collect::<Vec<_>>());
    out.shrink(&mut keeper.broker(A));
    send(&mut keeper, &mut out, (A, B), (7, 8)).expect("room");
    assert_eq!(read_all(&mut keeper, &mut inlet, B), [7]);
    assert_eq!((keeper.bytes(), keeper.taken()), before);
    assert!(!out.is_large());
}

/// No address space for the holders of a file, or no number for its descriptor, is no reason to
/// lose what lies there.
#[test]
fn a_message_on_disk_that_is_out_of_reach_stays_there() {
    for code in [Code::NoMem, Code::OutOfRes] {
        let mut keeper = keeper(on_disk(), 256 * MIB);
        let mut out = outbox(&mut keeper, A);
        let mut inlet = inlet(&mut keeper, B);
        assert_eq!(send(&mut keeper, &mut out, (A, B), (0, 8)), Ok(Sent::Delivered));
        assert_eq!(read_all(&mut keeper, &mut inlet, B), [0]);
        for tag in 1..30 {
            assert_eq!(send(&mut keeper, &mut out, (A, B), (tag, MIB)), Ok(Sent::Delivered));
        }
        let mut arrived = VecDeque::new();
        inlet.poll(&mut Lacking(&mut keeper.broker(B), [0, 1000], code), &mut arrived);
        let tags: Vec<i32> = arrived.iter().map(|(envelope, _)| envelope.tag).collect();
        assert_eq!(tags, (1..30).collect::<Vec<_>>());
        let (mut on_disk, mut refused) = (0, 0);
        for (envelope, payload) in arrived {
            let Payload::Unmapped(body) = &payload else { panic!("{payload:?}") };
            let mut asked = keeper.broker(B);
            // A segment that another message lies in is mapped by now.
            let near = match inlet.map_now(&mut Lacking(&mut asked, [0, 2], code), body) {
                Err(lacks) => {
                    assert_eq!(lacks, Code::NoMem);
                    refused += 1;
                    inlet.map_now(&mut asked, body).expect("there is room now")
                }
                Ok(near) => near,
            };
            let mut bytes = vec![0; near.size()];
            match near {
                Payload::Spilled(view) => {
                    on_disk += 1;
                    // The file that was read last is open still.
                    let lacks = inlet.load(&mut Lacking(&mut asked, [0, 1], code), &view, None);
                    refused += usize::from(lacks.is_err_and(|lacks| lacks == Code::NoMem));
                    bytes = inlet.load(&mut asked, &view, None).expect("on the disk");
                }
                near => near.copy_to(0, &mut bytes),
            }
            assert!(bytes == pattern(envelope.tag, MIB), "message {} spoilt", envelope.tag);
        }
        assert!(on_disk > 10 && refused > 3, "{on_disk} {refused}");
        out.shrink(&mut keeper.broker(A));
        assert_eq!(keeper.taken().1, 0, "the files are given back when they are read");
    }
}

#[test]
fn a_file_is_written_by_its_owner_only() {
    let mut keeper = keeper(on_disk(), 256 * MIB);
    let (segment, _) = keeper.open_spill(A, 1 << 20).expect("a disk");
    let (_, reader) = keeper.map_spill(B, segment.id).expect("for all to read");
    assert!(rustix::io::pwrite(reader, b"x", 0).is_err());
    assert!(rustix::fs::ftruncate(reader, 0).is_err(), "who reads cannot shorten it");
    let (_, writer) = keeper.map_spill(A, segment.id).expect("its own");
    rustix::io::pwrite(writer, b"x", 0).expect("written");
    let slab = keeper.open_slab(A, 1 << 20).expect("memory").0.id;
    assert_eq!(keeper.map_spill(B, slab).err(), Some(Code::NotFound));
}

#[test]
fn a_receiver_that_sleeps_has_no_more_than_its_share_of_a_senders_memory() {
    let mut keeper = Keeper::new(1 << 30).expect("memory");
    keeper.limit(Limits::default(), on_disk());
    for tid in [A, B, C] {
        keeper.create_inbox(tid, "".into()).expect("memory");
    }
    let mut out = outbox(&mut keeper, A);
    for tag in 0..120 {
        assert_eq!(send(&mut keeper, &mut out, (A, B), (tag, MIB)), Ok(Sent::Delivered));
    }
    let (slabs, files, _) = keeper.taken();
    assert!(slabs < 80 << 20, "{slabs}");
    assert!(files >= 50 << 20, "{files}");
    // So there is memory for the others.
    send(&mut keeper, &mut out, (A, C), (0, MIB)).expect("room");
    let mut other = inlet(&mut keeper, C);
    let mut arrived = VecDeque::new();
    other.poll(&mut keeper.broker(C), &mut arrived);
    assert!(matches!(arrived[0].1, Payload::Slab(_)), "{:?}", arrived[0]);
}

#[derive(Clone, Debug)]
enum Step {
    Send(usize, usize, usize),
    Read(usize),
    Kill(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![Just(8), Just(300), Just(5000), Just(600_000), Just(3 << 20)];
    prop_oneof![
        6 => (0..3usize, 0..3usize, size).prop_map(|(a, b, s)| Step::Send(a, b, s)),
        2 => (0..3usize).prop_map(Step::Read),
        1 => (0..3usize).prop_map(Step::Kill),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// Whichever tasks die, and whenever, all that was taken is given back in the end, to the last
    /// byte.
    #[test]
    fn after_any_deaths_all_credit_is_back(steps in prop::collection::vec(step(), 1..60)) {
        let mut keeper = keeper(on_disk(), 64 * MIB);
        let tids = [A, B, C];
        let mut tasks: Vec<_> =
            tids.iter().map(|&tid| (outbox(&mut keeper, tid), inlet(&mut keeper, tid))).collect();
        for step in steps {
            match step {
                Step::Send(from, to, size) if from != to => {
                    let what = (size as i32, size);
                    send(&mut keeper, &mut tasks[from].0, (tids[from], tids[to]), what)
                        .expect("sent, or no credit");
                }
                Step::Send(..) => {}
                Step::Read(who) => {
                    read_all(&mut keeper, &mut tasks[who].1, tids[who]);
                }
                Step::Kill(who) => {
                    keeper.remove_task(tids[who]);
                    // Its memory goes as it lies: nothing is struck out.
                    keeper.create_inbox(tids[who], "".into()).expect("memory");
                    let next = (outbox(&mut keeper, tids[who]), inlet(&mut keeper, tids[who]));
                    std::mem::forget(std::mem::replace(&mut tasks[who], next));
                }
            }
        }
        for (at, tid) in tids.iter().enumerate() {
            read_all(&mut keeper, &mut tasks[at].1, *tid);
        }
        for tid in tids {
            keeper.remove_task(tid);
        }
        prop_assert!(!keeper.sweep(), "nobody reads any more");
        prop_assert_eq!(keeper.taken(), (0, 0, 0));
        prop_assert_eq!(keeper.segments(), 1);
    }
}
