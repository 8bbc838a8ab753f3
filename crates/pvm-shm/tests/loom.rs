//! All interleavings of a sender and its receiver, within the bounds of the model.

#![cfg(loom)]

#[path = "loom/sleeper.rs"]
mod sleeper;

use loom::sync::{Arc, Mutex};
use loom::thread;
use pvm_shm::barrier::{Arrival, Outcome, Word};
use pvm_shm::bias::Bias;
use pvm_shm::clock::settle;
use pvm_shm::inbox::{Armed, Header, Marked};
use pvm_shm::lane::{Head, Key, Kind, Popped, Receiver, Ring, Sender, room_for};
use pvm_shm::lock_word::{LockWord, Number};
use pvm_shm::recorder::{Drained, Reader, Recorder};
use pvm_shm::roster::{Listed, Read, Table};
use pvm_shm::stream::{Filled, Words};
use pvm_shm::sync::{AtomicU32, Ordering, Shared, fence};
use pvm_shm::watch::Watch;
use pvm_wire::record::{DecodedRecords, Record};
use pvm_wire::{Address, Context, Encoding, Envelope, Tag, Tid};

/// Takes the sender's next message under a tag as the fast path does; returns its number and its
/// size.
fn take(receiver: &mut Receiver, tag: i32, room: &mut [u8]) -> Option<(u64, usize)> {
    let mut about = Head::NONE;
    let size = receiver.take((Tid(1), &Key::new(Context(0), Some(Tag(tag)))), &mut about, room)?;
    Some((about.sequence(), size))
}

fn envelope(sequence: u64) -> Envelope {
    let mut envelope = Envelope::new(Tid(1), Address::untagged(Tid(2)));
    envelope.sequence = sequence;
    envelope
}

/// The receiver gets the messages that were sent, in order, however the two sides interleave, and a
/// full ring always has the cell that says where the lane goes on.
#[test]
fn loom_lane_hands_over_in_order() {
    loom::model(|| {
        let ring = Ring::on_heap(3);
        let mut sender = Sender::new(ring.clone());
        let mut receiver = Receiver::new(ring);
        let sending = thread::spawn(move || {
            let mut sent = 0;
            for i in 0..3 {
                if sender.push(Kind::Inline, &envelope(i), &[i as u8]).is_err() {
                    sender.push_moved(9);
                    break;
                }
                sent = i + 1;
            }
            sent
        });
        let mut received = 0;
        let mut moved = false;
        let mut look = |receiver: &mut Receiver| {
            let mut room = room_for(0);
            while let Some(popped) = receiver.pop(&mut room) {
                assert!(!moved, "nothing follows the end of a ring");
                if popped.kind == Kind::Moved as u8 {
                    moved = true;
                    continue;
                }
                let found = popped.envelope.expect("whole");
                assert_eq!(found.sequence, received);
                assert_eq!(room[..popped.size], [received as u8]);
                received += 1;
            }
        };
        look(&mut receiver);
        let sent = sending.join().expect("no panic");
        look(&mut receiver);
        assert_eq!(received, sent);
        assert_eq!(moved, sent < 3);
    });
}

/// A message in several cells is whole for a receiver that sees the first one, also where it lies
/// around the end of the ring.
#[test]
fn loom_a_message_in_several_cells_is_whole_when_it_is_seen() {
    loom::model(|| {
        let ring = Ring::on_heap(4);
        let mut sender = Sender::new(ring.clone());
        let mut receiver = Receiver::new(ring);
        // So that the second of the two begins in the last cell.
        sender.push(Kind::Inline, &envelope(0), &[]).expect("room");
        let mut room = room_for(300);
        assert!(receiver.pop(&mut room).is_some() && receiver.pop(&mut room).is_none());
        let sending = thread::spawn(move || {
            let mut spanning = envelope(0);
            (spanning.encoding, spanning.data_size) = (Encoding::Raw, 300);
            let body = |i: u64| [i as u8; 300];
            (1..3)
                .take_while(|i| {
                    spanning.sequence = *i;
                    sender.push(Kind::Spanning, &spanning, &body(*i)).is_ok()
                })
                .count() as u64
        });
        let mut received = 0;
        let mut look = |receiver: &mut Receiver| {
            let mut room = room_for(300);
            let found = if received == 0 {
                take(receiver, 0, &mut room)
            } else {
                let whole =
                    |popped: Popped| (popped.envelope.expect("whole").sequence, popped.size);
                receiver.pop(&mut room).map(whole)
            };
            let Some((sequence, size)) = found else { return };
            received += 1;
            assert_eq!((sequence, size), (received, 300));
            assert!(room[..size].iter().all(|byte| *byte == received as u8));
        };
        look(&mut receiver);
        look(&mut receiver);
        let sent = sending.join().expect("no panic");
        look(&mut receiver);
        look(&mut receiver);
        assert_eq!(received, sent);
    });
}

/// A receiver that goes to sleep is woken for every message that it has not seen: each sender that
/// finds it armed rings.
#[test]
fn loom_inbox_loses_no_wake_up() {
    loom::model(|| {
        let header = Arc::new(Header::new());
        let published = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let rings = Arc::new(AtomicU32::new(0));
        let senders: Vec<_> = (0..2u32)
            .map(|lane| {
                let (header, published, rings) = (header.clone(), published.clone(), rings.clone());
                thread::spawn(move || {
                    published[lane as usize].store(1, Ordering::Release);
                    if header.mark(lane) == Marked::Wake {
                        rings.fetch_add(1, Ordering::AcqRel);
                    }
                })
            })
            .collect();
        let look = |seen: &mut [bool; 2]| {
            let bits = header.take();
            for lane in 0..2 {
                if bits & 1 << lane != 0 {
                    assert_eq!(published[lane].load(Ordering::Acquire), 1, "a bit without a cell");
                    seen[lane] = true;
                }
            }
        };
        let mut seen = [false; 2];
        look(&mut seen);
        let armed = header.arm();
        let unseen = seen.iter().filter(|seen| !**seen).count() as u32;
        for sender in senders {
            sender.join().expect("no panic");
        }
        header.disarm();
        look(&mut seen);
        assert_eq!(seen, [true; 2]);
        let rung = rings.load(Ordering::Acquire);
        match armed {
            Armed::Now => assert_eq!(rung, unseen, "each of them once"),
            Armed::Not => assert!(rung <= 1),
            Armed::Before => unreachable!("it was not armed before"),
        }
    });
}

/// The place at which a waker stops for good: killed there, or in the hands of a debugger.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
enum Stop {
    Published,
    Marked,
    Never,
}

/// The steps of a sender on its lane, up to the place where it stops; true if it has rung.
fn tell(header: &Header, published: &AtomicU32, lane: u32, stop: Stop) -> bool {
    published.store(1, Ordering::Release);
    stop > Stop::Published && header.mark(lane) == Marked::Wake && stop > Stop::Marked
}

/// Two senders, of which the first one stops for good after any step, and a receiver that looks,
/// sleeps, and looks again when it is woken: it is not left asleep beside what the other one has
/// sent.
fn one_waker_stops(lanes: [u32; 2], ready: impl Fn(&Header) + Copy + Send + Sync + 'static) {
    for stop in [Stop::Published, Stop::Marked] {
        loom::model(move || {
            let header = Arc::new(Header::new());
            ready(&header);
            let published = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
            let sending = |n: usize, stop| {
                let (header, published) = (header.clone(), published.clone());
                thread::spawn(move || tell(&header, &published[n], lanes[n], stop))
            };
            let senders = [sending(0, stop), sending(1, Stop::Never)];
            header.take();
            let mut seen = published[1].load(Ordering::Acquire) == 1;
            let asleep = header.arm() == Armed::Now;
            let rung = senders.map(|sender| sender.join().expect("no panic"));
            seen |= !asleep && header.has_pending() || rung[1];
            assert!(seen, "asleep beside a message: the first one has stopped at {stop:?}");
        });
    }
}

/// A sender that is killed or stopped between its mark and its ring takes nobody else's ring with
/// it.
#[test]
fn loom_a_waker_that_stops_for_good_silences_nobody() {
    one_waker_stops([0, 1], |_| ());
}

/// Senders that share a bit: one of them may have set it and stand still.
#[test]
fn loom_a_waker_that_stops_for_good_does_not_silence_who_shares_its_bit() {
    one_waker_stops([1, 63], Header::share_bits);
}

/// A sender is killed anywhere on its way, and the keeper comes behind it: its receiver does not
/// sleep beside what it has published.
#[test]
fn loom_the_keeper_rings_for_who_was_killed() {
    for stop in [Stop::Published, Stop::Marked] {
        loom::model(move || {
            let header = Arc::new(Header::new());
            let published = Arc::new(AtomicU32::new(0));
            let dying = {
                let (header, published) = (header.clone(), published.clone());
                thread::spawn(move || {
                    tell(&header, &published, 1, stop);
                    header.remind(1)
                })
            };
            header.take();
            let seen = published.load(Ordering::Acquire) == 1;
            let asleep = header.arm() == Armed::Now;
            let rung = dying.join().expect("no panic");
            assert!(seen || rung || !asleep && header.has_pending(), "stopped at {stop:?}");
        });
    }
}

/// A waker of a barrier or a roster stops for good: every other waker rings as well.
#[test]
fn loom_who_wakes_without_a_message_and_stops_silences_nobody() {
    loom::model(|| {
        let header = Arc::new(Header::new());
        let changed = Arc::new(AtomicU32::new(0));
        let waking = {
            let (header, changed) = (header.clone(), changed.clone());
            // It stops before it rings.
            thread::spawn(move || {
                changed.fetch_add(1, Ordering::SeqCst);
                header.wake();
            })
        };
        let other = {
            let (header, changed) = (header.clone(), changed.clone());
            thread::spawn(move || {
                changed.fetch_add(2, Ordering::SeqCst);
                header.wake()
            })
        };
        let armed = header.arm() == Armed::Now;
        Header::look_again();
        let asleep = armed && changed.load(Ordering::SeqCst) & 2 == 0;
        waking.join().expect("no panic");
        let rung = other.join().expect("no panic");
        assert!(!asleep || rung, "asleep behind a change");
    });
}

/// The keeper lets a lane go only when its receiver has read everything.
#[test]
fn loom_a_drained_lane_is_really_drained() {
    loom::model(|| {
        let ring = Ring::on_heap(3);
        let mut sender = Sender::new(ring.clone());
        sender.push(Kind::Inline, &envelope(0), &[]).expect("room");
        let mut receiver = Receiver::new(ring.clone());
        let reading = thread::spawn(move || {
            let mut room = room_for(0);
            let first = receiver.pop(&mut room).is_some();
            // Finding it empty reports how far it has read.
            let second = receiver.pop(&mut room).is_some();
            (first, second)
        });
        let drained_early = ring.is_drained();
        let read = reading.join().expect("no panic");
        assert_eq!(read, (true, false));
        assert!(ring.is_drained());
        let _ = drained_early;
    });
}

/// A sender that finds the ring watched tells nobody; a receiver that ends its watch and then
/// arms has seen the message, or is woken for it.
#[test]
fn loom_a_watch_that_ends_misses_nothing() {
    loom::model(|| {
        let header = Arc::new(Header::new());
        let ring = Ring::on_heap(3);
        let mut sender = Sender::new(ring.clone());
        let receiver = Receiver::new(ring);
        receiver.watch();
        let sending = {
            let header = header.clone();
            thread::spawn(move || {
                sender.push(Kind::Inline, &envelope(0), &[]).expect("room");
                !sender.is_watched() && header.mark(1) == Marked::Wake
            })
        };
        let seen = receiver.unwatch();
        let armed = header.arm();
        let woke = sending.join().expect("no panic");
        assert!(seen || armed == Armed::Not || woke, "asleep beside a message");
    });
}

/// A receiver that has left a message of one sender in its lane goes to sleep until another one
/// sends, whose lane is watched, too, or marks the inbox: it has seen that message, or is woken for
/// it. The message that it has left does not keep it awake.
#[test]
fn loom_a_wait_for_one_sender_misses_nothing_beside_what_others_left() {
    const AWAITED: Tid = Tid(0x40001);
    const OTHER: Tid = Tid(0x40002);
    for is_watched in [false, true] {
        loom::model(move || {
            let header = Arc::new(Header::new());
            let ring = Ring::on_heap(3);
            let mut sender = Sender::new(ring.clone());
            let receiver = Receiver::new(ring);
            let watch = Watch::new();
            let left = Ring::on_heap(3);
            if is_watched {
                receiver.watch();
                watch.set_sender(0, AWAITED);
                watch.set(0, &receiver);
            } else {
                Sender::new(left.clone()).push(Kind::Inline, &envelope(0), &[]).expect("room");
                watch.set_sender(0, OTHER);
                watch.set(0, &Receiver::new(left.clone()));
            }
            let sending = {
                let header = header.clone();
                thread::spawn(move || {
                    sender.push(Kind::Inline, &envelope(0), &[]).expect("room");
                    !sender.is_watched() && header.mark(1) == Marked::Wake
                })
            };
            let has_come = watch.rest(Some(AWAITED));
            let asleep = !has_come && header.arm() == Armed::Now;
            let woke = sending.join().expect("no panic");
            assert!(!asleep || woke, "asleep beside a message");
            assert!(is_watched || !has_come, "kept awake");
        });
    }
}

/// One task sends to the receiver, then lets another one know, which sends because of it. However
/// the receiver's looks at the two lanes fall in between, it has the cause first: by the inbox
/// (`marks`), or in lanes that it watches.
fn a_cause_comes_first(marks: bool) {
    loom::model(move || {
        let header = Arc::new(Header::new());
        let told = Arc::new(AtomicU32::new(0));
        let rings = [Ring::on_heap(3), Ring::on_heap(3)];
        let receivers = rings.clone().map(Receiver::new);
        let sending: Vec<_> = rings
            .into_iter()
            .enumerate()
            .map(|(n, ring)| {
                let (header, told) = (header.clone(), told.clone());
                thread::spawn(move || {
                    if told.load(Ordering::Acquire) != n as u32 {
                        return;
                    }
                    Sender::new(ring).push(Kind::Inline, &envelope(0), &[]).expect("room");
                    if marks {
                        header.mark(n as u32);
                    }
                    told.store(n as u32 + 1, Ordering::Release);
                })
            })
            .collect();
        let mut bits = if marks { 0 } else { 0b11 };
        let first = settle(8, || {
            bits |= header.take();
            (0..2).find(|n| bits & 1 << n != 0 && receivers[*n].is_ready())
        });
        assert_ne!(first, Some(1), "the effect, and its cause lies there");
        sending.into_iter().for_each(|thread| thread.join().expect("no panic"));
    });
}

#[test]
fn loom_a_cause_is_found_before_its_effect_by_the_inbox() {
    a_cause_comes_first(true);
}

#[test]
fn loom_a_cause_is_found_before_its_effect_in_watched_lanes() {
    a_cause_comes_first(false);
}

/// A value that one thread at a time reaches, which loom checks.
struct Guarded<T>(Shared<T>);
// SAFETY: for `LockWord` to prove.
unsafe impl<T: Send> Send for Guarded<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    fn with_mut<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: it is this thread's turn.
        self.0.with_mut(|value| body(unsafe { &mut *value }))
    }
}

/// State that two threads of a task share: the lane behind its lock, and the words that are read
/// without it.
struct Threads {
    word: LockWord,
    receiver: Guarded<Receiver>,
    watch: Watch,
    header: Header,
    generation: AtomicU32,
}

impl Threads {
    fn with_watched(ring: Ring) -> Self {
        let (receiver, watch) = (Receiver::new(ring), Watch::new());
        receiver.watch();
        watch.set(0, &receiver);
        let (word, header, generation) = (LockWord::new(), Header::new(), AtomicU32::new(0));
        Self { word, receiver: Guarded(Shared::new(receiver)), watch, header, generation }
    }

    /// A thread takes one message and goes on watching, or ends the watch for a sleeper. True if it
    /// rings.
    fn look(&self, me: Number) -> bool {
        let asleep = self.word.take(me).expect("the other one sleeps without it");
        let rings = self.receiver.with_mut(|receiver| {
            if asleep {
                self.watch.clear(0);
                return receiver.unwatch();
            }
            let mut room = room_for(0);
            if receiver.pop(&mut room).is_some() {
                self.watch.set(0, receiver);
            }
            false
        });
        if rings {
            self.generation.fetch_add(1, Ordering::SeqCst);
        }
        self.word.give_back(asleep);
        rings
    }

    /// A thread that has found nothing before: true if it sleeps.
    fn sleeps(&self) -> bool {
        if !self.word.lie_down() || self.watch.rest(None) || self.header.arm() != Armed::Now {
            return false;
        }
        Header::look_again();
        self.generation.load(Ordering::SeqCst) == 0
    }
}

/// One thread of a task takes messages the fast path, out of a ring that it watches, while another
/// one goes to sleep: that one sees what is left for it, or is woken.
#[test]
fn loom_a_thread_sleeps_beside_another_that_watches_and_misses_nothing() {
    loom::model(|| {
        let ring = Ring::on_heap(4);
        let mut sender = Sender::new(ring.clone());
        let threads = Arc::new(Threads::with_watched(ring));
        // For the other thread, which finds it or is late.
        sender.push(Kind::Inline, &envelope(0), &[]).expect("room");
        let sending = {
            let threads = threads.clone();
            thread::spawn(move || {
                sender.push(Kind::Inline, &envelope(1), &[]).expect("room");
                !sender.is_watched() && threads.header.mark(1) == Marked::Wake
            })
        };
        let other = {
            let threads = threads.clone();
            thread::spawn(move || threads.look(Number::nth(1)))
        };
        let asleep = threads.sleeps();
        let rung = other.join().expect("no panic") | sending.join().expect("no panic");
        // The other thread takes one of the two at most.
        assert!(!asleep || rung, "asleep beside a message");
    });
}

/// The lock is one thread's at a time, by whichever way it was taken.
#[test]
fn loom_a_turn_is_one_threads() {
    loom::model(|| {
        let word = Arc::new(LockWord::new());
        let value = Arc::new(Guarded(Shared::new(0)));
        let taken: Vec<_> = (0..2)
            .map(|n| {
                let (word, value) = (word.clone(), value.clone());
                thread::spawn(move || {
                    let me = Number::nth(n);
                    let taken = match n {
                        0 => word.try_take(me).then_some(false),
                        _ => word.take(me).ok(),
                    };
                    if let Some(asleep) = taken {
                        value.with_mut(|value| *value += 1);
                        word.give_back(asleep);
                    }
                    u32::from(taken.is_some())
                })
            })
            .collect();
        if word.lie_down() {
            word.get_up();
        }
        let taken: u32 = taken.into_iter().map(|thread| thread.join().expect("no panic")).sum();
        assert_eq!(word.take(Number::nth(2)), Ok(false));
        assert_eq!(value.with_mut(|value| *value), taken);
    });
}

/// Two members meet: one of them is the last, and the other one, if it went to sleep, is woken.
#[test]
fn loom_a_barrier_leaves_nobody_asleep() {
    loom::model(|| {
        let word = Arc::new(Word::new());
        let headers = Arc::new([Header::new(), Header::new()]);
        let meet = |me: usize, word: Arc<Word>, headers: Arc<[Header; 2]>| {
            // True if it sleeps, and whether it has rung the other one.
            match word.arrive(me as u32, 2) {
                Arrival::Waits(ticket) => {
                    let armed = headers[me].arm();
                    Header::look_again();
                    (armed == Armed::Now && word.outcome(ticket) == Outcome::Waits, false)
                }
                Arrival::Last(others) => {
                    assert_eq!(others, 1 << (1 - me));
                    (false, headers[1 - me].wake())
                }
                other => panic!("{other:?}"),
            }
        };
        let other = {
            let (word, headers) = (word.clone(), headers.clone());
            thread::spawn(move || meet(1, word, headers))
        };
        let (asleep, rang) = meet(0, word.clone(), headers.clone());
        let (other_asleep, other_rang) = other.join().expect("no panic");
        assert!(!(asleep && other_asleep), "both wait");
        assert!(!asleep || other_rang, "asleep behind a barrier that was met");
        assert!(!other_asleep || rang, "asleep behind a barrier that was met");
        assert_eq!(word.waiting(), 0);
    });
}

/// A member dies while another one arrives. The one that arrives is told by the daemon, or sees
/// behind its arrival that the list has changed.
#[test]
fn loom_a_death_is_told_to_who_arrives() {
    loom::model(|| {
        let word = Arc::new(Word::new());
        let table: Arc<Table<1>> = Arc::new(Table::new());
        let listed = |lost| Listed { members: vec![Tid(0x40001)], lost, ..Listed::default() };
        table.write(Some(&listed(0)));
        let arriving = {
            let (word, table) = (word.clone(), table.clone());
            thread::spawn(move || {
                if table.version() != 2 {
                    return None;
                }
                let Arrival::Waits(ticket) = word.arrive(0, 2) else { panic!("alone") };
                Some((ticket, table.has_changed(2)))
            })
        };
        table.write(Some(&listed(1)));
        word.strike_out(1 << 1);
        let woken = word.break_above(1);
        if let Some((ticket, warned)) = arriving.join().expect("no panic") {
            assert!(woken == 1 || warned, "waits in vain");
            assert_eq!(woken == 1, word.outcome(ticket) == Outcome::Broken);
        }
    });
}

/// Readers of a group see it as it was at one moment.
#[test]
fn loom_a_roster_is_read_as_a_whole() {
    loom::model(|| {
        let table: Arc<Table<2>> = Arc::new(Table::new());
        let listed = |low: u32| {
            let members = vec![Tid(0x40000 | low), Tid(0x80000 | low)];
            Listed { members, lost: low, ..Listed::default() }
        };
        table.write(Some(&listed(1)));
        let writing = {
            let table = table.clone();
            thread::spawn(move || table.write(Some(&listed(2))))
        };
        match table.read() {
            Read::Group(2, group) => assert_eq!(group, listed(1)),
            Read::Group(4, group) => assert_eq!(group, listed(2)),
            Read::Unfinished(_) => {}
            other => panic!("{other:?}"),
        }
        writing.join().expect("no panic");
        assert_eq!(table.read(), Read::Group(4, listed(2)));
    });
}

/// The fast path: what is taken out of a cell is whole, each message once and in order, and
/// one that is not wanted is found by the long way.
#[test]
fn loom_what_is_wanted_is_taken_whole() {
    loom::model(|| {
        let ring = Ring::on_heap(3);
        let (mut sender, mut receiver) = (Sender::new(ring.clone()), Receiver::new(ring));
        let sending = thread::spawn(move || {
            for tag in 0..2 {
                let mut head = Head::NEW;
                head.describe(Encoding::Raw, 4, 0);
                head.address(Address { to: Tid(2), tag: Tag(tag), context: Context(0) });
                assert!(sender.push_small(&head, (Tid(1), 0), &tag.to_ne_bytes()));
            }
        });
        let mut room = room_for(0);
        let mut wanted = 0;
        for _ in 0..2 {
            if let Some((sequence, size)) = take(&mut receiver, wanted, &mut room) {
                assert_eq!((sequence, &room[..size]), (0, &wanted.to_ne_bytes()[..]));
                wanted += 1;
            }
        }
        sending.join().expect("no panic");
        assert!(take(&mut receiver, 2, &mut room).is_none());
        while let Some(popped) = receiver.pop(&mut room) {
            assert_eq!(popped.envelope.expect("whole").tag, wanted);
            wanted += 1;
        }
        assert_eq!(wanted, 2);
    });
}

/// A receiver that follows a body that is being written sees all that it is told of; and once its
/// owner has left, the last word is the owner's last.
#[test]
fn loom_a_follower_sees_what_it_is_told_of() {
    loom::model(|| {
        let words = Arc::new(Words::new());
        let data = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let writing = {
            let (words, data) = (words.clone(), data.clone());
            thread::spawn(move || {
                for (i, datum) in data.iter().enumerate() {
                    datum.store(1, Ordering::Relaxed);
                    words.publish(i as u64 + 1);
                }
                // The owner has died here, and the keeper comes behind it.
                words.leave();
            })
        };
        let (filled, left) = match words.filled() {
            Filled::Bytes(bytes) => (bytes, false),
            Filled::Left(bytes) => (bytes, true),
        };
        assert!(!left || filled == 2, "what was written before it left is not seen");
        for datum in &data[..filled as usize] {
            assert_eq!(datum.load(Ordering::Relaxed), 1);
        }
        writing.join().expect("no panic");
        assert_eq!(words.filled(), Filled::Left(2));
    });
}

/// A body that is not whole hides its cell; the word that it is whole reaches a receiver that
/// sleeps.
#[test]
fn loom_a_body_that_becomes_whole_wakes_who_has_seen_it_half() {
    loom::model(|| {
        let (words, header) = (Arc::new(Words::new()), Arc::new(Header::new()));
        let writing = {
            let (words, header) = (words.clone(), header.clone());
            thread::spawn(move || {
                words.publish(1);
                header.mark(1) == Marked::Wake
            })
        };
        header.take();
        let whole = words.filled() == Filled::Bytes(1);
        let armed = header.arm();
        let woke = writing.join().expect("no panic");
        assert!(whole || armed == Armed::Not || woke, "asleep beside a whole message");
    });
}

fn noted(thread: u16, number: u64) -> Record {
    Record { thread, ..Record::call(0, number, 0) }
}

/// Takes records out, and checks that those of each thread are in order.
fn look(reader: &mut Reader, records: usize, last: &mut [u64; 2]) -> Drained {
    let mut cells = Vec::new();
    let drained = reader.drain((records, usize::MAX), false, &mut cells);
    let mut taken = 0;
    for record in DecodedRecords::new(&cells) {
        let record = record.expect("whole");
        let last = &mut last[usize::from(record.thread)];
        assert!(record.begin > *last);
        *last = record.begin;
        taken += 1;
    }
    assert_eq!(taken, drained.taken);
    drained
}

/// Two threads that note at once, in a ring that grows, and a reader: every record is read once and
/// whole or counted as lost, those of a thread in order.
#[test]
fn loom_a_recorder_that_grows_loses_only_what_it_counts() {
    loom::model(|| {
        let recorder = Arc::new(Recorder::on_heap(1, 2));
        let mut reader = recorder.reader();
        let writing = {
            let recorder = recorder.clone();
            thread::spawn(move || {
                recorder.put(&noted(1, 1));
                recorder.put(&noted(1, 2));
            })
        };
        recorder.put(&noted(0, 1));
        let mut last = [0; 2];
        let mut taken = look(&mut reader, usize::MAX, &mut last).taken;
        writing.join().expect("no panic");
        let rest = look(&mut reader, usize::MAX, &mut last);
        taken += rest.taken;
        assert_eq!(taken as u64 + rest.lost, 3);
    });
}

/// A reader that is killed between two records and the one that replaces it: nothing is read twice,
/// and nothing is lost that was not taken.
#[test]
fn loom_a_reader_that_is_replaced_goes_on_where_the_first_one_was() {
    loom::model(|| {
        let recorder = Arc::new(Recorder::on_heap(1, 2));
        let writing = {
            let recorder = recorder.clone();
            thread::spawn(move || (1..3).for_each(|number| recorder.put(&noted(0, number))))
        };
        let mut last = [0; 2];
        let mut taken = 0;
        for records in [1, usize::MAX] {
            taken += look(&mut recorder.reader(), records, &mut last).taken;
        }
        writing.join().expect("no panic");
        let mut third = recorder.reader();
        let rest = look(&mut third, usize::MAX, &mut last);
        taken += rest.taken;
        assert_eq!(taken as u64 + rest.lost, 2);
        assert_eq!(third.counts().0, taken as u64);
    });
}

/// Two threads whose first calls meet. Where the bias began in one byte and was trusted by another,
/// the end could come between the two, and both threads went without locks for ever.
#[test]
fn loom_first_calls_that_meet_leave_one_thread_without_locks_at_most() {
    loom::model(|| {
        let process = Arc::new((Bias::new(), AtomicU32::new(0), Mutex::new(()), Shared::new(0)));
        let call = |process: &(Bias, AtomicU32, Mutex<()>, Shared<u32>)| {
            let (bias, mark, lock, value) = process;
            // SAFETY: what is shown here, as loom sees each access.
            let write = || value.with_mut(|value| unsafe { *value += 1 });
            if bias.begin() {
                mark.store(1, Ordering::Relaxed);
                // This fence, and the one below, are made by the kernel.
                fence(Ordering::SeqCst);
                if bias.is_on() {
                    write();
                    mark.store(0, Ordering::Release);
                    return;
                }
                mark.store(0, Ordering::Release);
            } else {
                bias.end();
                fence(Ordering::SeqCst);
                assert!(!bias.is_on(), "it is over for good");
                while mark.load(Ordering::Acquire) == 1 {
                    thread::yield_now();
                }
            }
            let _locked = lock.lock().expect("no panic");
            write();
        };
        let other = {
            let process = process.clone();
            thread::spawn(move || call(&process))
        };
        call(&process);
        other.join().expect("no panic");
        // SAFETY: the other thread has ended.
        assert_eq!(process.3.with(|value| unsafe { *value }), 2);
    });
}
