//! The two fast paths of a receive: [`Inlet::take_few`] takes what [`Inlet::take_small`] takes, or
//! leaves it to that, also out of a lane over which a neighbour scribbles.

#![cfg(not(any(loom, miri)))]

use proptest::prelude::*;
use pvm_shm::bytes::FEW;
use pvm_shm::inbox::Inbox;
use pvm_shm::lane::{Head, Key, room_for};
use pvm_shm::segment::Mapping;
use pvm_shm::{Body, Glance, Inlet, Keeper, Outbox};
use pvm_wire::{Address, Context, Encoding, Envelope, Kind, Run, Tag, Tid};
use std::sync::Arc;

const SENDER: Tid = Tid(0x40001);
const RECEIVER: Tid = Tid(0x40002);
/// In one cell: nothing, and up to and beyond what a brief call takes; in several cells.
const SIZES: [usize; 9] = [0, 4, 8, 16, 64, FEW - 4, FEW, FEW + 4, 1000];

/// A sender and a receiver, and all memory that a neighbour could reach.
struct World {
    keeper: Keeper,
    inlet: Inlet,
    outbox: Outbox,
    reachable: Vec<Mapping>,
}

impl World {
    fn new() -> Self {
        let mut keeper = Keeper::new(1 << 24).expect("memory");
        keeper.create_inbox(SENDER, "".into()).expect("memory");
        let (_, fd) = keeper.create_inbox(RECEIVER, "".into()).expect("memory");
        let word = Arc::new(Mapping::new(fd, Inbox::SIZE, true).expect("mapped"));
        let mut inlet = Inlet::new(RECEIVER, Inbox::new(word), keeper.activity().clone());
        let mut outbox = Outbox::new(&mut keeper.broker(SENDER)).expect("memory");
        // Opens the lane, and has the receiver watch it.
        let envelope = Envelope::new(SENDER, Address::new(RECEIVER, Tag(1), Context::FIRST));
        let body = Body::Bytes(&[&[]]);
        outbox.send(&mut keeper.broker(SENDER), RECEIVER, &envelope, body).expect("memory");
        assert!(inlet.next(&mut keeper.broker(RECEIVER), true).is_some());
        let reachable = (1..8)
            .filter_map(|id| {
                let (segment, fd) = keeper.map(SENDER, id).ok()?;
                Mapping::new(fd, segment.size as usize, false).ok()
            })
            .collect();
        Self { keeper, inlet, outbox, reachable }
    }

    fn send(&mut self, size: usize, tag: i32, typed: bool) {
        let mut envelope = Envelope::new(SENDER, Address::new(RECEIVER, Tag(tag), Context::FIRST));
        (envelope.encoding, envelope.data_size) = (Encoding::Raw, size as u64);
        if typed && size > 0 {
            let run = Run { shape: Kind::Int.shape().0, count: size / 4 };
            envelope.first_run = run.to_word();
        }
        let data: Vec<u8> = (0..size).map(|i| (i as i32 + tag) as u8).collect();
        // A lane over which somebody has scribbled may refuse it.
        let body = Body::Bytes(&[&data]);
        let _ = self.outbox.send(&mut self.keeper.broker(SENDER), RECEIVER, &envelope, body);
    }

    fn scribble(&self, which: usize, at: usize, value: [u8; 4]) {
        let mapping = &self.reachable[which % self.reachable.len()];
        mapping.write(at % (mapping.size() - value.len()), &value);
    }

    /// The next message by a fast path, and whether [`Inlet::take_few`] took it.
    fn take(&mut self, wanted: (bool, Option<i32>), may_few: bool) -> (Option<Taken>, bool) {
        let (mut about, mut room) = (Head::NONE, room_for(1024));
        let source = wanted.0.then_some(SENDER);
        let key = Key::new(Context(0), wanted.1.map(Tag));
        let few =
            if may_few { self.inlet.take_few(source, &key, &mut about, &mut room) } else { None };
        let taken = match few {
            Some((size, is_untyped)) => {
                assert!(size <= FEW && (!is_untyped || about.run().is_none()));
                Glance::Taken(size)
            }
            None => self.inlet.take_small(source, &key, &mut about, &mut room),
        };
        let Glance::Taken(size) = taken else { return (None, false) };
        (Some((size, about.envelope(), room[..size].to_vec())), few.is_some())
    }
}

type Taken = (usize, Option<Envelope>, Vec<u8>);

#[derive(Clone, Debug)]
enum Step {
    Send {
        size: usize,
        tag: i32,
        typed: bool,
    },
    Scribble {
        which: usize,
        at: usize,
        value: [u8; 4],
    },
    Take {
        of_sender: bool,
        tag: Option<i32>,
    },
    /// The long way takes what the fast paths have left.
    Next,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let send = (proptest::sample::select(SIZES.as_slice()), 0..3, any::<bool>());
    let send = send.prop_map(|(size, tag, typed)| Step::Send { size, tag, typed });
    // Most strokes hit the heads of the first cells of a lane.
    let head = (0..6usize, 0..12usize).prop_map(|(cell, word)| 256 * (1 + cell) + 4 * word);
    let at = prop_oneof![4 => head, 1 => 0..8192usize];
    let scribble = (any::<usize>(), at, any::<[u8; 4]>())
        .prop_map(|(which, at, value)| Step::Scribble { which, at, value });
    let take = (any::<bool>(), proptest::option::of(0..3))
        .prop_map(|(of_sender, tag)| Step::Take { of_sender, tag });
    proptest::collection::vec(
        prop_oneof![6 => send, 4 => scribble, 6 => take, 1 => Just(Step::Next)],
        1..60,
    )
}

fn run(steps: Vec<Step>, scribbles: bool) -> usize {
    let mut worlds = [World::new(), World::new()];
    let mut by_few = 0;
    for step in steps {
        match step {
            Step::Send { size, tag, typed } => {
                worlds.iter_mut().for_each(|world| world.send(size, tag, typed));
            }
            Step::Scribble { which, at, value } if scribbles => {
                worlds.iter().for_each(|world| world.scribble(which, at, value));
            }
            Step::Scribble { .. } => {}
            Step::Take { of_sender, tag } => {
                let [few, small] = &mut worlds;
                let (found, is_few) = few.take((of_sender, tag), true);
                by_few += usize::from(is_few);
                assert_eq!(found, small.take((of_sender, tag), false).0, "{of_sender} {tag:?}");
            }
            Step::Next => {
                let [few, small] = worlds.each_mut().map(|world| {
                    let found = world.inlet.next(&mut world.keeper.broker(RECEIVER), true);
                    found.map(|(envelope, payload)| (envelope, payload.size()))
                });
                assert_eq!(few, small);
            }
        }
    }
    by_few
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_brief_receive_takes_what_the_other_fast_path_takes(steps in steps()) {
        run(steps, false);
    }

    #[test]
    fn so_it_does_where_a_neighbour_scribbles(steps in steps()) {
        run(steps, true);
    }
}

#[test]
fn a_brief_receive_takes_what_fits_it() {
    let one = |size| {
        vec![Step::Send { size, tag: 1, typed: true }, Step::Take { of_sender: true, tag: Some(1) }]
    };
    for size in SIZES {
        assert_eq!(run(one(size), false), usize::from(size <= FEW), "{size} bytes");
    }
}
