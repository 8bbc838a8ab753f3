//! Messages to other hosts, and daemons that take over from one another.

#![cfg(not(loom))]

mod keepers {
    pub(super) mod lacking;
}

use keepers::lacking::Lacking;
use pvm_shm::credit::Limits;
use pvm_shm::inbox::Inbox;
use pvm_shm::lane;
use pvm_shm::segment::Mapping;
use pvm_shm::slab::Descriptor;
use pvm_shm::transit::{LaneNumber, Parcel};
use pvm_shm::{Body, Keeper, Outbox, Pushed, Sent, Transit};
use pvm_wire::spread::Receiver;
use pvm_wire::{Address, Bytes as _, Code, Context, Encoding, Envelope, HostIndex, Tag, Tid};
use std::sync::Arc;

const A: Tid = Tid(0x40001);
const B: Tid = Tid(0x40002);
const THERE: HostIndex = HostIndex(2);
const ELSEWHERE: HostIndex = HostIndex(3);

fn daemon() -> Tid {
    Tid::daemon(HostIndex(1))
}

fn keeper() -> Keeper {
    let mut keeper = Keeper::new(1 << 30).expect("memory");
    for tid in [A, B, daemon()] {
        keeper.create_inbox(tid, "".into()).expect("memory");
    }
    keeper
}

fn transit(keeper: &mut Keeper) -> Transit {
    let (_, fd) = keeper.create_inbox(daemon(), "".into()).expect("memory");
    let mapping = Mapping::new(fd, Inbox::SIZE, true).expect("mapped");
    Transit::new(Inbox::new(Arc::new(mapping)))
}

fn send(keeper: &mut Keeper, out: &mut Outbox, (from, host): (Tid, HostIndex), n: u64) {
    let size = size_of_message(n);
    let mut envelope =
        Envelope::new(from, Address::new(Tid::task(host, 9), Tag(n as i32), Context::FIRST));
    envelope.encoding = Encoding::Raw;
    envelope.data_size = size as u64;
    envelope.sequence = n;
    let body = vec![n as u8; size];
    let sent =
        out.send(&mut keeper.broker(from), Tid::host_id(host), &envelope, Body::Bytes(&[&body]));
    assert_eq!(sent, Ok(Sent::Delivered));
}

fn lanes(keeper: &mut Keeper, transit: &mut Transit) -> Vec<(LaneNumber, HostIndex)> {
    let mut lanes = Vec::new();
    transit.poll(&mut keeper.broker(daemon()), &mut lanes);
    lanes
}

fn check(parcel: &Parcel, n: u64, size: usize) {
    assert_eq!((parcel.envelope.sequence, parcel.payload.size()), (n, size));
    let mut body = vec![0; size];
    parcel.payload.copy_to(0, &mut body);
    assert!(body.iter().all(|byte| *byte == n as u8), "the data of message {n} are there");
}

const fn size_of_message(n: u64) -> usize {
    [3, 192, 193, 70_000][n as usize % 4]
}

#[test]
fn each_sender_has_a_lane_for_each_host() {
    let mut keeper = keeper();
    let mut transit = transit(&mut keeper);
    for (from, host) in [(A, THERE), (A, ELSEWHERE), (B, THERE)] {
        let mut out = Outbox::new(&mut keeper.broker(from)).expect("memory");
        send(&mut keeper, &mut out, (from, host), 1);
    }
    let mut hosts: Vec<_> = lanes(&mut keeper, &mut transit).iter().map(|(_, h)| *h).collect();
    hosts.sort_unstable();
    assert_eq!(hosts, [THERE, THERE, ELSEWHERE]);
    let broker = &mut keeper.broker(daemon());
    assert_eq!(transit.lanes_of(broker, A, THERE).map(|lanes| lanes.len()), Some(1));
    assert_eq!(transit.lanes_of(broker, B, ELSEWHERE), Some(vec![]));
}

#[test]
fn a_daemon_that_takes_over_gets_everything_that_was_not_confirmed_data_included() {
    let mut keeper = keeper();
    let mut out = Outbox::new(&mut keeper.broker(A)).expect("memory");
    let (mut sent, mut confirmed) = (0, 0);
    for round in 0..60 {
        // The next daemon. The one before it was killed: it let go of nothing.
        let mut transit = transit(&mut keeper);
        for _ in 0..round * 7 % 50 {
            sent += 1;
            send(&mut keeper, &mut out, (A, THERE), sent);
        }
        let mut ahead = Vec::new();
        if let Some((lane, _)) = lanes(&mut keeper, &mut transit).first().copied() {
            while let Some(parcel) = transit.next(&mut keeper.broker(daemon()), lane) {
                ahead.push(parcel);
            }
            let numbers: Vec<u64> = ahead.iter().map(|p| p.envelope.sequence).collect();
            assert_eq!(numbers, (confirmed + 1..=sent).collect::<Vec<_>>());
            for parcel in ahead.drain(..(ahead.len() * (round % 4) / 3).min(ahead.len())) {
                confirmed += 1;
                check(&parcel, confirmed, size_of_message(confirmed));
                drop(parcel);
                transit.confirm(&mut keeper.broker(daemon()), lane);
            }
        }
        keeper.remove_sender(daemon());
        std::mem::forget(ahead);
        std::mem::forget(transit);
    }
    // The sender dies; what it has sent is still there.
    drop(out);
    keeper.remove_task(A);
    let mut transit = transit(&mut keeper);
    let lane = transit.lanes_of(&mut keeper.broker(daemon()), A, THERE).expect("known")[0];
    while let Some(parcel) = transit.next(&mut keeper.broker(daemon()), lane) {
        confirmed += 1;
        check(&parcel, confirmed, size_of_message(confirmed));
        drop(parcel);
        transit.confirm(&mut keeper.broker(daemon()), lane);
    }
    assert_eq!(confirmed, sent);
    assert!(transit.is_confirmed(lane) && transit.dropped() == 0);
    assert!(!keeper.sweep(), "no slab is held for ever");
}

#[test]
fn what_goes_to_a_host_that_is_gone_holds_nothing() {
    let mut keeper = keeper();
    let mut transit = transit(&mut keeper);
    let mut out = Outbox::new(&mut keeper.broker(A)).expect("memory");
    for n in 1..200 {
        send(&mut keeper, &mut out, (A, THERE), n);
    }
    let (lane, _) = lanes(&mut keeper, &mut transit)[0];
    let first = transit.next(&mut keeper.broker(daemon()), lane).expect("sent");
    check(&first, 1, size_of_message(1));
    drop(first);
    transit.discard(&mut keeper.broker(daemon()), lane);
    assert_eq!(out.slabs_in_flight(), 0);
    assert!(transit.next(&mut keeper.broker(daemon()), lane).is_none());
}

#[test]
fn a_message_to_many_lies_in_the_lane_once_with_the_list_of_its_receivers() {
    let mut keeper = keeper();
    let mut transit = transit(&mut keeper);
    let mut out = Outbox::new(&mut keeper.broker(A)).expect("memory");
    let mut expected = Vec::new();
    for (size, count) in [(0, 2), (8, 15), (8, 40), (150, 3), (193, 14), (193, 15), (90_000, 500)] {
        let receivers: Vec<_> = (1..=count)
            .map(|n| Receiver { tid: Tid::task(THERE, n), sequence: 1000 + u64::from(n) })
            .collect();
        let mut envelope = Envelope::new(A, Address::untagged(Tid::NONE));
        envelope.encoding = Encoding::Raw;
        envelope.data_size = size as u64;
        let bytes = vec![7; size];
        let host = Tid::host_id(THERE);
        let sent = if size > 192 {
            let mut slab = out.slab(&mut keeper.broker(A), size).expect("memory");
            slab.write(0, &bytes);
            let body = Body::Slab(&mut slab);
            out.send_spread(&mut keeper.broker(A), host, &envelope, (body, &receivers))
        } else {
            let body = Body::Bytes(&[&bytes, &[]]);
            out.send_spread(&mut keeper.broker(A), host, &envelope, (body, &receivers))
        };
        assert_eq!(sent, Ok(Sent::Delivered));
        expected.push((size, receivers));
    }
    let (lane, _) = lanes(&mut keeper, &mut transit)[0];
    for (size, receivers) in expected {
        let parcel = transit.next(&mut keeper.broker(daemon()), lane).expect("sent");
        assert!(parcel.envelope.is_spread() && parcel.envelope.dst == Tid::host_id(THERE));
        assert_eq!((parcel.payload.size(), &parcel.receivers), (size, &receivers));
        let mut body = vec![0; size];
        parcel.payload.copy_to(0, &mut body);
        assert_eq!(body, vec![7; size]);
        drop(parcel);
        transit.confirm(&mut keeper.broker(daemon()), lane);
    }
    assert_eq!(out.slabs_in_flight(), 0);
}

#[test]
fn the_lane_of_a_direct_route_is_the_senders_until_it_is_released() {
    let to = Tid::task(THERE, 9);
    let envelope = |n: u64| {
        let mut envelope = Envelope::new(A, Address::new(to, Tag(n as i32), Context::FIRST));
        envelope.encoding = Encoding::Raw;
        envelope.data_size = size_of_message(n) as u64;
        envelope.sequence = n;
        envelope
    };
    // Each of the three that may release it: the sender, the daemon, or the keeper at the sender's
    // death.
    for way in 0..3 {
        let mut keeper = keeper();
        let mut transit = transit(&mut keeper);
        let mut out = Outbox::new(&mut keeper.broker(A)).expect("memory");
        let mut pair = out.open_pair(&mut keeper.broker(A), to).expect("memory");
        let push = |keeper: &mut Keeper, out: &mut Outbox, n: u64, pair: &mut _| {
            let body = vec![n as u8; size_of_message(n)];
            let mut slab = out.slab(&mut keeper.broker(A), body.len()).expect("memory");
            slab.write(0, &body);
            let parts = [&body[..]];
            let kept = if body.len() > 192 { Body::Slab(&mut slab) } else { Body::Bytes(&parts) };
            out.push_pair(&mut keeper.broker(A), pair, &envelope(n), kept).expect("memory")
        };
        for n in 1..=40 {
            assert_eq!(push(&mut keeper, &mut out, n, &mut pair), Pushed::Kept);
            assert_eq!(pair.confirm(n.saturating_sub(10)), n > 10);
        }
        assert!(lanes(&mut keeper, &mut transit).is_empty(), "the daemon leaves it alone");
        match way {
            0 => out.release_pair(&pair),
            1 => {
                assert_eq!(transit.release(&mut keeper.broker(daemon()), A, Some(to)).len(), 1);
                assert_eq!(push(&mut keeper, &mut out, 41, &mut pair), Pushed::Released);
                assert!(!pair.confirm(40), "it is no longer the sender's");
            }
            _ => keeper.remove_task(A),
        }
        if way < 2 {
            // A new route has a new lane.
            let mut next = out.open_pair(&mut keeper.broker(A), to).expect("memory");
            assert_eq!(push(&mut keeper, &mut out, 41, &mut next), Pushed::Kept);
        }
        drop((pair, out));
        // The next daemon finds it as well.
        let mut transit = self::transit(&mut keeper);
        let released = self::lanes(&mut keeper, &mut transit);
        let lane = released.first().expect("released for good").0;
        for n in 31..=40 {
            let parcel = transit.next(&mut keeper.broker(daemon()), lane).expect("unconfirmed");
            check(&parcel, n, size_of_message(n));
            drop(parcel);
            transit.confirm(&mut keeper.broker(daemon()), lane);
        }
        assert!(transit.next(&mut keeper.broker(daemon()), lane).is_none());
    }
}

#[test]
fn a_lane_that_could_not_be_learnt_of_once_is_read_by_the_next_look() {
    for lacks in [[1, 0], [0, 1], [2, 3]] {
        let mut keeper = keeper();
        let mut transit = transit(&mut keeper);
        let mut out = Outbox::new(&mut keeper.broker(A)).expect("memory");
        send(&mut keeper, &mut out, (A, THERE), 1);
        let mut asked = keeper.broker(daemon());
        let mut broker = Lacking(&mut asked, lacks, Code::NoMem);
        let mut found = Vec::new();
        for looks in 0.. {
            assert!(looks < 10 && transit.inbox().header().has_pending(), "{lacks:?}: forgotten");
            transit.poll(&mut broker, &mut found);
            if !found.is_empty() {
                break;
            }
        }
        assert!(!transit.inbox().header().has_pending(), "{lacks:?}: for ever");
        assert!(transit.next(&mut broker, found[0].0).is_some());
    }
}

#[test]
fn a_message_that_could_not_be_mapped_once_goes_by_the_next_look() {
    for code in [Code::NoMem, Code::OutOfRes] {
        let mut keeper = keeper();
        let mut transit = transit(&mut keeper);
        let mut out = Outbox::new(&mut keeper.broker(A)).expect("memory");
        // These lie in slabs.
        for number in [3, 7, 11] {
            send(&mut keeper, &mut out, (A, THERE), number);
        }
        let mut asked = keeper.broker(daemon());
        let mut found = Vec::new();
        transit.poll(&mut asked, &mut found);
        let lane = found[0].0;
        // It is tried twice, the second time without what nobody reads.
        let mut broker = Lacking(&mut asked, [0, 4], code);
        let mut tags = Vec::new();
        for looks in 0.. {
            assert!(looks < 10, "{tags:?}");
            if let Some(parcel) = transit.next(&mut broker, lane) {
                check(&parcel, [3, 7, 11][tags.len()], size_of_message(3));
                tags.push(parcel.envelope.tag);
            } else if tags.len() < 3 {
                assert!(transit.inbox().header().has_pending(), "forgotten");
                assert!(transit.take_lack() && !transit.take_lack(), "it looks all the time");
                assert!(!transit.is_within_reach(lane), "it counts as read to its end");
                transit.poll(&mut broker, &mut found);
            } else {
                break;
            }
        }
        assert_eq!(tags, [3, 7, 11]);
        assert!(transit.is_all_within_reach() && !transit.take_lack());
    }
}

/// A sender that writes into its lane what it likes takes no more of the daemon's memory than its
/// file is long.
#[test]
fn a_length_that_lies_about_a_file_ends_no_daemon() {
    let mut keeper = keeper();
    keeper.limit(Limits::default(), vec![std::env::temp_dir()]);
    let mut transit = transit(&mut keeper);
    let file = keeper.open_spill(A, 4096).expect("a disk").0.id;
    let (segment, fd) = keeper.open_lane(A, Tid::host_id(THERE), 31).expect("memory");
    let mapping = Mapping::new(fd, segment.size as usize, true).expect("mapped");
    let mut sender = lane::Sender::new(lane::Ring::Shared(Arc::new(mapping)));
    let descriptor = Descriptor { segment: file, holder: 1 << 31, offset: 0 };
    // A list of receivers, a list that is not, a body.
    let lies = [(true, 1 << 40, 8), (true, 1 << 10, 0), (false, 1, 1 << 40), (false, 1, 4097)];
    for (spread, sequence, data_size) in lies {
        let mut envelope =
            Envelope::new(A, Address::new(Tid::task(THERE, 9), Tag(1), Context::FIRST));
        (envelope.sequence, envelope.data_size) = (sequence, data_size);
        envelope.flags = if spread { Envelope::SPREAD } else { Envelope::NO_FLAGS };
        sender.push(lane::Kind::Slab, &envelope, &descriptor.to_array()).expect("room");
    }
    let broker = &mut keeper.broker(daemon());
    let lane = transit.lanes_of(broker, A, THERE).expect("known")[0];
    assert!(transit.next(broker, lane).is_none());
    assert_eq!(transit.dropped(), lies.len() as u64);
}

#[test]
fn the_lanes_of_a_task_are_not_told_before_all_are_known() {
    let mut keeper = keeper();
    let mut transit = transit(&mut keeper);
    let mut out = Outbox::new(&mut keeper.broker(A)).expect("memory");
    send(&mut keeper, &mut out, (A, THERE), 1);
    for lacks in [[1, 0], [0, 1]] {
        let mut asked = keeper.broker(daemon());
        let mut broker = Lacking(&mut asked, lacks, Code::OutOfRes);
        assert_eq!(transit.lanes_of(&mut broker, A, THERE), None);
        assert!(!transit.is_all_within_reach());
    }
    let known = transit.lanes_of(&mut keeper.broker(daemon()), A, THERE);
    assert_eq!(known.map(|lanes| lanes.len()), Some(1));
    assert!(transit.is_all_within_reach());
}

/// Messages that their sender has sent by a direct route that broke are read, though the daemon
/// could not learn of the lane then.
#[test]
fn a_lane_that_was_released_unseen_is_read_when_it_is_known() {
    for lacks in [[1, 0], [0, 1]] {
        let mut keeper = keeper();
        let mut transit = transit(&mut keeper);
        let to = Tid::task(THERE, 9);
        let mut out = Outbox::new(&mut keeper.broker(A)).expect("memory");
        let mut pair = out.open_pair(&mut keeper.broker(A), to).expect("memory");
        let mut envelope = Envelope::new(A, Address::new(to, Tag(5), Context::FIRST));
        (envelope.encoding, envelope.data_size) = (Encoding::Raw, 3);
        let body = Body::Bytes(&[b"abc"]);
        let kept = out.push_pair(&mut keeper.broker(A), &mut pair, &envelope, body);
        assert_eq!(kept, Ok(Pushed::Kept));
        transit.inbox().header().take();
        let mut asked = keeper.broker(daemon());
        let mut broker = Lacking(&mut asked, lacks, Code::NoMem);
        assert_eq!(transit.release(&mut broker, A, Some(to)), []);
        let mut found = Vec::new();
        for _ in 0..3 {
            transit.poll(&mut broker, &mut found);
        }
        let (lane, host) = *found.first().expect("the lane is told of");
        assert_eq!(host, THERE);
        let parcel = transit.next(&mut broker, lane).expect("its message");
        assert_eq!(parcel.envelope.tag, 5);
    }
}
