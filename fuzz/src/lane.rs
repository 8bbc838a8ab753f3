//! A neighbour that scribbles over everything it can reach: lane, inbox word and slab of a
//! receiver, who reads on.

use pvm_shm::inbox::Inbox;
use pvm_shm::lane::{Head, Key};
use pvm_shm::segment::Mapping;
use pvm_shm::{Body, Glance, Inlet, Keeper, Outbox};
use pvm_wire::{Address, Bytes, Context, Envelope, Tag, Tid};
use std::collections::VecDeque;
use std::sync::Arc;

const SENDER: Tid = Tid(0x40001);
const RECEIVER: Tid = Tid(0x40002);

pub(crate) fn run(bytes: &[u8]) {
    let mut keeper = Keeper::new(1 << 24).expect("memory");
    keeper.create_inbox(SENDER, "".into()).expect("memory");
    let (_, fd) = keeper.create_inbox(RECEIVER, "".into()).expect("memory");
    let word = Arc::new(Mapping::new(fd, Inbox::SIZE, true).expect("mapped"));
    let mut inlet = Inlet::new(RECEIVER, Inbox::new(word.clone()), keeper.activity().clone());
    let mut outbox = Outbox::new(&mut keeper.broker(SENDER)).expect("memory");
    // A lane and a slab to scribble on: the first segments after activity and inboxes.
    for size in [8, 1000] {
        let mut envelope = Envelope::new(SENDER, Address::new(RECEIVER, Tag(1), Context::FIRST));
        envelope.encoding = pvm_wire::Encoding::Raw;
        envelope.data_size = size;
        let body = vec![1; size as usize];
        let body = Body::Bytes(&[&body]);
        outbox.send(&mut keeper.broker(SENDER), RECEIVER, &envelope, body).expect("memory");
    }
    let reachable: Vec<_> = (1..8)
        .filter_map(|id| {
            let (segment, fd) = keeper.map(SENDER, id).ok()?;
            Mapping::new(fd, segment.size as usize, false).ok()
        })
        .collect();
    let mut arrived = VecDeque::new();
    // Seven bytes are a stroke: which segment, where, what.
    for stroke in bytes.chunks_exact(7) {
        let [which, a, b, value @ ..] = stroke else { continue };
        let mapping = &reachable[usize::from(*which) % reachable.len()];
        let at = usize::from(u16::from_le_bytes([*a, *b])) % (mapping.size() - value.len());
        mapping.write(at, value);
        if which & 0x80 != 0 {
            // Who receives alone watches the lane from then on, and takes what is plain by the fast
            // path.
            word.write(0, &[0xff; 7]);
            arrived.extend(inlet.next(&mut keeper.broker(RECEIVER), true));
            take_small(&mut inlet, (a & 1 == 0).then_some(SENDER));
        }
        if which & 0x40 != 0 {
            word.write(0, &[0xff; 7]);
            inlet.poll(&mut keeper.broker(RECEIVER), &mut arrived);
        }
    }
    word.write(0, &[0xff; 7]);
    inlet.poll(&mut keeper.broker(RECEIVER), &mut arrived);
    for (envelope, payload) in arrived.drain(..) {
        assert_eq!(envelope.body_size(), payload.size() as u64);
        assert!(envelope.src == SENDER, "nobody speaks in another's name");
        let mut out = vec![0; payload.size().min(1 << 16)];
        payload.copy_to(0, &mut out);
    }
}

/// Checks that a message that the fast path takes is whole, is the sender's own, and is as its run
/// says.
fn take_small(inlet: &mut Inlet, source: Option<Tid>) {
    let (mut about, mut room) = (Head::NONE, [0; 1024]);
    let any = Key::new(Context(0), None);
    loop {
        let few = inlet.take_few(source, &any, &mut about, &mut room);
        let taken = match few {
            Some((size, _)) => Glance::Taken(size),
            None => inlet.take_small(source, &any, &mut about, &mut room),
        };
        let Glance::Taken(size) = taken else { return };
        assert!(few.is_none_or(|(_, is_untyped)| !is_untyped || about.run().is_none()));
        assert!(size <= room.len());
        assert!(about.source() == SENDER, "nobody speaks in another's name");
        assert_eq!(about.destination(), RECEIVER);
        assert!(about.run().is_none_or(|run| run.size() == size));
    }
}
