//! In which order a receiver takes what several senders have sent it.

#![cfg(not(loom))]

use proptest::prelude::*;
use pvm_shm::inbox::Inbox;
use pvm_shm::lane::{Head, Key, room_for};
use pvm_shm::segment::Mapping;
use pvm_shm::{Body, Glance, Inlet, Keeper, Outbox, Sent};
use pvm_wire::{Address, Context, Encoding, Envelope, Tag, Tid};
use std::sync::Arc;

const TASKS: usize = 4;
/// In a cell, in several, in a slab, and one that is read while it is written.
const SIZES: [usize; 4] = [8, 1000, 6000, 40_000];

/// A context whose messages concern everybody.
const URGENT: i32 = 0x7_ffff;

const fn tid(task: usize) -> Tid {
    Tid(0x40001 + task as u32)
}

/// The past of a message: the number of earlier messages of each task.
type Past = [usize; TASKS];

struct Task {
    inlet: Inlet,
    out: Outbox,
    knows: Past,
    /// Messages that were sent to the task and not yet received: sender, number among the sender's
    /// messages, and past.
    waits: Vec<(usize, usize, Past)>,
}

struct Host {
    keeper: Keeper,
    tasks: Vec<Task>,
}

impl Host {
    fn new() -> Self {
        let mut keeper = Keeper::new(1 << 30).expect("memory");
        let mut tasks = Vec::new();
        for task in 0..TASKS {
            let (_, fd) = keeper.create_inbox(tid(task), "".into()).expect("memory");
            let mapping = Mapping::new(fd, Inbox::SIZE, true).expect("mapped");
            let inbox = Inbox::new(Arc::new(mapping));
            let inlet = Inlet::new(tid(task), inbox, keeper.activity().clone());
            let out = Outbox::new(&mut keeper.broker(tid(task))).expect("memory");
            tasks.push(Task { inlet, out, knows: Past::default(), waits: Vec::new() });
        }
        Self { keeper, tasks }
    }

    fn send(&mut self, from: usize, to: usize, size: usize) {
        let (keeper, task) = (&mut self.keeper, &mut self.tasks[from]);
        task.knows[from] += 1;
        let number = task.knows[from];
        let mut envelope =
            Envelope::new(tid(from), Address::new(tid(to), Tag(number as i32), Context::FIRST));
        (envelope.encoding, envelope.data_size) = (Encoding::Raw, size as u64);
        task.out.follow(task.inlet.seen());
        let mut broker = keeper.broker(tid(from));
        let mut slab = task.out.slab(&mut broker, size).expect("memory");
        let streams =
            size == SIZES[3] && task.out.begin_stream(tid(to), &envelope, &mut slab).is_some();
        let sent = if streams {
            slab.fill_stream(size);
            task.out.end_stream(tid(to))
        } else {
            let body = vec![0; size];
            task.out.send(&mut broker, tid(to), &envelope, Body::Bytes(&[&body])).expect("memory")
        };
        assert_eq!(sent, Sent::Delivered);
        let past = task.knows;
        self.tasks[to].waits.push((from, number, past));
    }

    /// A receive from anybody, or from one task, by the fast path or the long way.
    fn receive(&mut self, me: usize, from: Option<usize>, alone: bool) -> bool {
        let mut room = room_for(5000);
        let (any, mut about) = (Key::new(Context(0), None), Head::NONE);
        match self.tasks[me].inlet.take_small(from.map(tid), &any, &mut about, &mut room) {
            Glance::Taken(_) => self.received(me, from, about.envelope()),
            _ => self.receive_properly(me, from, alone),
        }
    }

    fn receive_properly(&mut self, me: usize, from: Option<usize>, alone: bool) -> bool {
        let (keeper, task) = (&mut self.keeper, &mut self.tasks[me]);
        let taken = match from {
            Some(from) if alone => match self.receive_alone(me, from) {
                Glance::Taken(envelope) => Some(envelope),
                Glance::Nothing | Glance::More => None,
            },
            Some(from) => {
                let taken = task.inlet.next_of(&mut keeper.broker(tid(me)), tid(from), |_| true);
                taken.map(|(envelope, _)| envelope)
            }
            None => {
                let taken = task.inlet.next(&mut keeper.broker(tid(me)), alone);
                taken.map(|(envelope, _)| envelope)
            }
        };
        self.received(me, from, taken)
    }

    /// A look for the messages of one sender, which leaves those of others.
    fn receive_alone(&mut self, me: usize, from: usize) -> Glance<Envelope> {
        let (keeper, task) = (&mut self.keeper, &mut self.tasks[me]);
        let broker = &mut keeper.broker(tid(me));
        match task.inlet.next_from(broker, (tid(from), URGENT), |_| true) {
            Glance::Taken((envelope, _)) => Glance::Taken(envelope),
            Glance::Nothing => {
                let left = task.waits.iter().filter(|(sender, ..)| *sender == from).count();
                assert_eq!(left, 0, "nothing of {from} for {me}, who would wait");
                assert!(!self.ends_wait(me, from), "a wait would end at once");
                Glance::Nothing
            }
            Glance::More => Glance::More,
        }
    }

    /// True if a task that waits for the messages of one sender looks again.
    fn ends_wait(&self, me: usize, from: usize) -> bool {
        let inlet = &self.tasks[me].inlet;
        inlet.watch().look(Some(tid(from)), |has_come| has_come())
            || inlet.inbox().header().has_pending()
    }

    fn received(&mut self, me: usize, from: Option<usize>, taken: Option<Envelope>) -> bool {
        let task = &mut self.tasks[me];
        let Some(envelope) = taken else {
            assert!(from.is_some() || task.waits.is_empty(), "{:?} wait", task.waits);
            return false;
        };
        assert_eq!(envelope.dst, tid(me));
        let (sender, number) = ((envelope.src.0 - tid(0).0) as usize, envelope.tag as usize);
        let at = task.waits.iter().position(|(s, n, _)| (*s, *n) == (sender, number));
        let (.., past) = task.waits.remove(at.expect("sent, and not taken before"));
        for (other, earlier, _) in &task.waits {
            let caused = past[*other] >= *earlier;
            let passed_over = from.is_some_and(|from| from != *other);
            assert!(
                !caused || passed_over,
                "task {me} has {sender}'s message {number} before {other}'s message {earlier}, its \
                 cause"
            );
        }
        for (known, sent) in task.knows.iter_mut().zip(past) {
            *known = sent.max(*known);
        }
        true
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Send(usize, usize, usize),
    /// More than a first ring holds, so the lane moves.
    Burst(usize, usize),
    Receive(usize, Option<usize>, bool),
}

fn step() -> impl Strategy<Value = Step> {
    let task = 0..TASKS;
    prop_oneof![
        3 => (task.clone(), 1..TASKS, 0..100usize).prop_map(|(from, by, size)| {
            let size = SIZES[[0, 0, 1, 2, 3][size % 5]];
            Step::Send(from, (from + by) % TASKS, size)
        }),
        1 => (task.clone(), 1..TASKS).prop_map(|(from, by)| Step::Burst(from, (from + by) % TASKS)),
        3 => (task.clone(), any::<bool>()).prop_map(|(me, alone)| Step::Receive(me, None, alone)),
        2 => (task, 1..TASKS, any::<bool>())
            .prop_map(|(me, by, alone)| Step::Receive(me, Some((me + by) % TASKS), alone)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { 64 }))]

    /// A receiver never has a message before another one that it was sent because of, from whatever
    /// senders the two come, however large they are and by which way they are taken.
    #[test]
    fn no_effect_is_received_before_its_cause(steps in prop::collection::vec(step(), 1..200)) {
        let mut host = Host::new();
        for step in steps {
            match step {
                Step::Send(from, to, size) => host.send(from, to, size),
                Step::Burst(from, to) => (0..40).for_each(|_| host.send(from, to, SIZES[0])),
                Step::Receive(me, from, alone) => drop(host.receive(me, from, alone)),
            }
        }
        for me in 0..TASKS {
            while host.receive(me, None, true) {}
        }
    }
}

/// One sender keeps a backlog; another one sends a single message, which is read behind what lay
/// there and little more.
fn waits_for(size: usize, backlog: usize, heard: usize) -> usize {
    let mut host = Host::new();
    let (reader, busy, other, friend) = (0, 1, 2, 3);
    // What it has heard sets its clock ahead of the busy one's, which hears of nothing.
    for _ in 0..heard {
        for (from, to) in [(friend, other), (other, friend)] {
            host.send(from, to, 8);
            assert!(host.receive(to, None, true));
        }
    }
    (0..backlog).for_each(|_| host.send(busy, reader, size));
    host.send(other, reader, size);
    for read in 1..backlog * 3 {
        host.receive(reader, None, true);
        if host.tasks[reader].waits.iter().all(|(from, ..)| *from == busy) {
            return read;
        }
        host.send(busy, reader, size);
    }
    panic!("never read")
}

/// Lanes that are watched and grow meanwhile go on in rings that nobody watches yet.
#[test]
fn what_lies_behind_the_end_of_a_watched_ring_is_found() {
    for short in [false, true] {
        let mut host = Host::new();
        for n in [2, 100, 700] {
            for _ in 0..n {
                (1..TASKS).for_each(|from| host.send(from, 0, 8));
            }
            let read = |host: &mut Host| match short {
                true => host.receive(0, None, true),
                false => host.receive_properly(0, None, true),
            };
            while read(&mut host) {}
            let left = host.tasks[0].waits.len();
            assert!(left == 0, "{left} are left of {n}");
        }
    }
}

#[test]
fn a_sender_with_a_backlog_does_not_starve_another_one() {
    for size in [SIZES[0], SIZES[1], SIZES[2]] {
        assert!(waits_for(size, 100, 0) <= 4);
        assert!(waits_for(size, 100, 5000) <= 200, "{size}");
    }
}

/// A task that has looked for one sender's messages, and left those of others in their lanes, waits
/// for that sender: others do not end the wait, or once only, and that one does.
#[test]
fn a_wait_for_one_sender_ends_with_its_message_and_not_with_those_that_others_left() {
    let (me, awaited) = (0, 1);
    for [is_known, is_watched, rests] in (0..8).map(|n| [n & 1, n & 2, n & 4].map(|bit| bit != 0)) {
        let mut host = Host::new();
        // Lanes from which a message was taken are watched.
        (2..TASKS).for_each(|from| host.send(from, me, 8));
        if is_known {
            host.send(awaited, me, 8);
        }
        while host.receive(me, None, is_watched) {}
        for round in 0..3 {
            (2..TASKS).for_each(|from| host.send(from, me, 8));
            assert_eq!(host.receive_alone(me, awaited), Glance::Nothing);
            if rests {
                let watch = host.tasks[me].inlet.watch().clone();
                assert!(!watch.rest(Some(tid(awaited))), "a sleep would end at once");
                // Each lane marks the inbox from now on, until the next look has taken the mark.
                (2..TASKS).for_each(|from| host.send(from, me, 8));
                assert_eq!(host.receive_alone(me, awaited), Glance::Nothing);
            }
            host.send(awaited, me, 8);
            assert!(host.ends_wait(me, awaited), "{is_known} {is_watched} {rests} {round}");
            assert!(host.receive(me, Some(awaited), true));
        }
        while host.receive(me, None, true) {}
        assert!(host.tasks[me].waits.is_empty(), "{:?} are lost", host.tasks[me].waits);
    }
}

/// A look for one sender's messages looks at all where another one has something urgent.
#[test]
fn a_look_for_one_sender_leaves_nothing_urgent() {
    let mut host = Host::new();
    host.send(1, 0, 8);
    assert_eq!(host.receive_alone(0, 2), Glance::Nothing);
    let envelope = Envelope::new(tid(3), Address::new(tid(0), Tag(1), Context(URGENT)));
    let Host { keeper, tasks } = &mut host;
    let broker = &mut keeper.broker(tid(3));
    let sent = tasks[3].out.send(broker, tid(0), &envelope, Body::Bytes(&[]));
    assert_eq!(sent, Ok(Sent::Delivered));
    assert_eq!(host.receive_alone(0, 2), Glance::More);
}

/// A look that takes all that has come ends, though a sender goes on meanwhile.
#[test]
fn what_is_sent_behind_a_line_is_for_the_next_look() {
    let mut host = Host::new();
    (1..TASKS).for_each(|from| host.send(from, 0, 8));
    host.tasks[0].inlet.draw_line();
    (1..TASKS).for_each(|from| host.send(from, 0, 8));
    let mut taken = 0;
    loop {
        let (keeper, task) = (&mut host.keeper, &mut host.tasks[0]);
        let Some((envelope, _)) = task.inlet.next(&mut keeper.broker(tid(0)), true) else { break };
        assert!(host.received(0, None, Some(envelope)));
        taken += 1;
    }
    assert_eq!((taken, host.tasks[0].waits.len()), (TASKS - 1, TASKS - 1));
    let inlet = &mut host.tasks[0].inlet;
    let is_seen = inlet.holds_more() || inlet.watch().look(None, |has_come| has_come());
    assert!(is_seen, "a wait would sleep over them");
    inlet.erase_line();
    while host.receive(0, None, true) {}
}
