//! A receiver without memory for a message. The limit is the process's, so this is a program of its
//! own. The limit is the process's: a program of its own.

#![cfg(not(loom))]

use pvm_shm::inbox::Inbox;
use pvm_shm::segment::Mapping;
use pvm_shm::{Body, Inlet, Keeper, Outbox, Sent};
use pvm_wire::{Address, Context, Encoding, Envelope, Tag, Tid};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::Arc;

const A: Tid = Tid(0x40001);
const B: Tid = Tid(0x40002);
/// It spans cells, and needs a block of its own to be received.
const SIZE: usize = 3000;

/// All memory that the allocator has for blocks of `of` bytes.
fn all_blocks(of: usize, kept: &mut Vec<Vec<u8>>) {
    for size in [1 << 20, 1 << 16, 1 << 13, of] {
        while kept.len() < kept.capacity() {
            let mut block = Vec::new();
            if block.try_reserve_exact(size).is_err() {
                break;
            }
            kept.push(block);
        }
    }
}

#[test]
fn a_receiver_without_memory_for_a_spanning_message_leaves_it_in_its_lane() {
    let mut keeper = Keeper::new(1 << 30).expect("memory");
    keeper.create_inbox(A, "".into()).expect("memory");
    let (_, fd) = keeper.create_inbox(B, "".into()).expect("memory");
    let inbox = Inbox::new(Arc::new(Mapping::new(fd, Inbox::SIZE, true).expect("mapped")));
    let mut inlet = Inlet::new(B, inbox, keeper.activity().clone());
    let mut out = Outbox::new(&mut keeper.broker(A)).expect("memory");
    let mut send = |keeper: &mut Keeper, size: usize| {
        let mut envelope = Envelope::new(A, Address::new(B, Tag(1), Context::FIRST));
        (envelope.encoding, envelope.data_size) = (Encoding::Raw, size as u64);
        let body = vec![7; size];
        let sent = out.send(&mut keeper.broker(A), B, &envelope, Body::Bytes(&[&body]));
        assert_eq!(sent, Ok(Sent::Delivered));
    };
    send(&mut keeper, 8);
    assert!(inlet.next(&mut keeper.broker(B), true).is_some());
    send(&mut keeper, SIZE);
    let mut kept = Vec::with_capacity(1 << 16);
    let usual = getrlimit(Resource::Data);
    setrlimit(Resource::Data, Rlimit { current: Some(4096), ..usual }).expect("its own");
    all_blocks(SIZE.next_power_of_two(), &mut kept);
    for _ in 0..2 {
        assert!(inlet.next(&mut keeper.broker(B), true).is_none());
        assert!(inlet.watch().take_lack(), "nobody would look again");
    }
    setrlimit(Resource::Data, usual).expect("its own");
    drop(kept);
    let (envelope, payload) = inlet.next(&mut keeper.broker(B), true).expect("it is still there");
    assert_eq!((envelope.data_size, payload.size()), (SIZE as u64, SIZE));
}
