//! ring: one ring with many producers beside a lane for each sender
//! (`doc/adr/0001-a-lane-for-each-sender.md`).
//!
//! ```text
//! ring [MESSAGES [ROUNDS]]
//! ```
//! 1 to 8 senders, each a thread, send 8 bytes with an envelope to one receiver: by the lanes and
//! the inbox word of pvm-shm, and by a ring of the same cells that all of them share. Prints
//! millions of messages a second, the median and the range of the rounds, in turns; then what the
//! receiver hears from seven senders while the eighth is stopped in the middle of a send for 50 ms.
//!
//! The ring has the duties that the lane has: a full one holds up its sender and nobody else's
//! order, a cell is readable once it is complete, a cell that was begun says by whom (or nobody
//! could judge whether that one is dead), and a sender learns whether the receiver sleeps. It does
//! not have those that it cannot have without a judge of deaths: to be passed when a cell in it is
//! never completed.
#![forbid(unsafe_code)]

use pvm_shm::inbox::{Header, LANE_BITS, Marked};
use pvm_shm::lane::{Kind, Receiver, Ring, Sender, room_for};
use pvm_wire::{Address, Context, Envelope, Tag, Tid};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

/// Cells of a lane; the ring has as many for each sender.
const CELLS: usize = 1024;
/// The words of a cell that a message of 8 bytes fills: the envelope and the bytes.
const WORDS: usize = 7;
/// The time for which a sender is stopped.
const STOP: Duration = Duration::from_millis(50);

/// A cell of 256 bytes, as a lane's.
#[repr(C, align(256))]
#[derive(Default)]
struct Cell {
    stamp: AtomicU32,
    /// The sender that has begun it.
    begun_by: AtomicU32,
    words: [AtomicU64; WORDS],
}

#[repr(align(128))]
#[derive(Default)]
struct Line<T>(T);

/// A ring that many fill.
struct Shared {
    cells: Vec<Cell>,
    /// The position of the next message.
    tail: Line<AtomicU64>,
    /// The position of the receiver.
    consumed: Line<AtomicU64>,
    /// The receiver sleeps.
    armed: Line<AtomicU32>,
}

impl Shared {
    fn new(cells: usize) -> Self {
        let cells = (0..cells).map(|_| Cell::default()).collect();
        Self { cells, tail: Line::default(), consumed: Line::default(), armed: Line::default() }
    }

    fn cell(&self, position: u64) -> &Cell {
        &self.cells[(position % self.cells.len() as u64) as usize]
    }

    /// The cell that is this sender's from now on; none while the ring is full.
    fn begin(&self, me: u32, consumed: &mut u64) -> Option<u64> {
        let mut position = self.tail.0.load(Ordering::Relaxed);
        loop {
            if position - *consumed >= self.cells.len() as u64 {
                *consumed = self.consumed.0.load(Ordering::Acquire);
                if position - *consumed >= self.cells.len() as u64 {
                    return None;
                }
            }
            let next = position + 1;
            match self.tail.0.compare_exchange_weak(
                position,
                next,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => break,
                Err(now) => position = now,
            }
        }
        self.cell(position).begun_by.store(me + 1, Ordering::Relaxed);
        Some(position)
    }

    /// True if the receiver is to be woken.
    fn complete(&self, position: u64, words: [u64; WORDS]) -> bool {
        let cell = self.cell(position);
        for (to, word) in cell.words.iter().zip(words) {
            to.store(word, Ordering::Relaxed);
        }
        cell.stamp.store((position as u32).wrapping_add(1), Ordering::Release);
        fence(Ordering::SeqCst);
        self.armed.0.load(Ordering::Relaxed) != 0
    }
}

/// Both kinds, from the two ends.
trait Queue: Send + Sync + 'static {
    /// The senders' ends.
    type End: Send + 'static;
    /// For so many senders.
    fn new(senders: u32) -> (Arc<Self>, Vec<Self::End>);
    /// Sends a message with this number; `stop` comes where a sender that is stopped does most
    /// harm.
    fn send(&self, end: &mut Self::End, number: u64, stop: impl FnOnce());
    /// The receiver: takes what there is; `took` is told each sender and number.
    fn drain(&self, state: &mut Self::State, took: &mut dyn FnMut(u32, u64));
    /// The receiver's state.
    type State;
    /// The receiver's end.
    fn receiver(&self) -> Self::State;
}

struct Lanes {
    header: Header,
    rings: Vec<Ring>,
}

impl Queue for Lanes {
    type End = (u32, Sender);
    type State = Vec<Receiver>;

    fn new(senders: u32) -> (Arc<Self>, Vec<Self::End>) {
        let rings: Vec<_> = (0..senders).map(|_| Ring::on_heap(CELLS)).collect();
        let ends = (0..).zip(&rings).map(|(n, ring)| (n, Sender::new(ring.clone()))).collect();
        (Arc::new(Self { header: Header::new(), rings }), ends)
    }

    fn send(&self, (me, sender): &mut Self::End, number: u64, stop: impl FnOnce()) {
        let mut envelope = Envelope::new(Tid(*me), Address::new(Tid(99), Tag(3), Context::FIRST));
        (envelope.sequence, envelope.data_size) = (number, 8);
        // Nothing is begun before it is complete, so this is as bad a moment as any.
        stop();
        while sender.push(Kind::Inline, &envelope, &number.to_ne_bytes()).is_err() {
            thread::yield_now();
        }
        assert_ne!(self.header.mark(*me), Marked::Closed);
    }

    fn receiver(&self) -> Self::State {
        self.rings.iter().map(|ring| Receiver::new(ring.clone())).collect()
    }

    fn drain(&self, receivers: &mut Self::State, took: &mut dyn FnMut(u32, u64)) {
        let mut bits = self.header.take();
        let mut room = room_for(0);
        while bits != 0 {
            let lane = bits.trailing_zeros() % LANE_BITS;
            bits &= bits - 1;
            while let Some(popped) = receivers[lane as usize].pop(&mut room) {
                let envelope = popped.envelope.expect("our own");
                took(envelope.src.0, envelope.sequence);
            }
        }
    }
}

impl Queue for Shared {
    type End = (u32, u64);
    type State = u64;

    fn new(senders: u32) -> (Arc<Self>, Vec<Self::End>) {
        let shared = Self::new(CELLS * senders as usize);
        (Arc::new(shared), (0..senders).map(|n| (n, 0)).collect())
    }

    fn send(&self, (me, consumed): &mut Self::End, number: u64, stop: impl FnOnce()) {
        let position = loop {
            match self.begin(*me, consumed) {
                Some(position) => break position,
                None => thread::yield_now(),
            }
        };
        stop();
        let words = [u64::from(*me), number, 99, 3, 0, 8, number];
        assert!(!self.complete(position, words), "nobody sleeps here");
    }

    fn receiver(&self) -> Self::State {
        0
    }

    fn drain(&self, position: &mut Self::State, took: &mut dyn FnMut(u32, u64)) {
        let begun = *position;
        loop {
            let cell = self.cell(*position);
            if cell.stamp.load(Ordering::Acquire) != (*position as u32).wrapping_add(1) {
                break;
            }
            let words = cell.words.each_ref().map(|word| word.load(Ordering::Relaxed));
            took(words[0] as u32, words[6]);
            *position += 1;
            if *position % (self.cells.len() as u64 / 4) == 0 {
                self.consumed.0.store(*position, Ordering::Release);
            }
        }
        if *position != begun {
            self.consumed.0.store(*position, Ordering::Release);
        }
    }
}

/// Millions of messages a second from so many senders.
fn rate<W: Queue>(senders: u32, messages: u64) -> f64 {
    let (way, ends) = W::new(senders);
    let each = messages / u64::from(senders);
    let ready = Arc::new(Barrier::new(senders as usize + 1));
    let threads: Vec<_> = ends
        .into_iter()
        .map(|mut end| {
            let (way, ready) = (Arc::clone(&way), Arc::clone(&ready));
            thread::spawn(move || {
                ready.wait();
                (0..each).for_each(|number| way.send(&mut end, number, || {}));
            })
        })
        .collect();
    let mut state = way.receiver();
    let mut next = vec![0; senders as usize];
    let mut left = each * u64::from(senders);
    ready.wait();
    let start = Instant::now();
    while left > 0 {
        let before = left;
        way.drain(&mut state, &mut |from, number| {
            assert_eq!(next[from as usize], number, "out of order");
            next[from as usize] += 1;
            left -= 1;
        });
        if left == before {
            thread::yield_now();
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    threads.into_iter().for_each(|thread| thread.join().expect("a sender"));
    (each * u64::from(senders)) as f64 / seconds / 1e6
}

/// The number of messages of the others that come while one of eight is stopped in the middle of a
/// send.
fn while_stopped<W: Queue>() -> u64 {
    let (way, mut ends) = W::new(8);
    let mut state = way.receiver();
    let (stopped, goes_on, over) =
        (AtomicBool::new(false), Barrier::new(2), AtomicBool::new(false));
    let mut first = ends.remove(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            way.send(&mut first, 0, || {
                stopped.store(true, Ordering::Release);
                goes_on.wait();
            });
        });
        while !stopped.load(Ordering::Acquire) {
            thread::yield_now();
        }
        for mut end in ends {
            let (way, over) = (&way, &over);
            // A few thousand each, which fit into either: a sender that waits for room would not
            // end.
            scope.spawn(move || {
                for number in 0..CELLS as u64 - 2 {
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                    way.send(&mut end, number, || {});
                }
            });
        }
        let (start, mut count) = (Instant::now(), 0);
        while start.elapsed() < STOP {
            way.drain(&mut state, &mut |_, _| count += 1);
            thread::yield_now();
        }
        over.store(true, Ordering::Relaxed);
        goes_on.wait();
        count
    })
}

fn median(mut figures: Vec<f64>) -> (f64, f64, f64) {
    figures.sort_by(f64::total_cmp);
    (figures[figures.len() / 2], figures[0], figures[figures.len() - 1])
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse::<u64>().expect("a number"));
    let messages = arguments.next().unwrap_or(2_000_000);
    let rounds = arguments.next().unwrap_or(7);
    println!("senders   lanes: million/s (range)     one ring: million/s (range)");
    for senders in [1, 2, 4, 8] {
        let (mut lanes, mut ring) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            lanes.push(rate::<Lanes>(senders, messages));
            ring.push(rate::<Shared>(senders, messages));
        }
        let (lanes, ring) = (median(lanes), median(ring));
        println!(
            "{senders:7}   {:5.2} ({:.2} to {:.2})          {:5.2} ({:.2} to {:.2})",
            lanes.0, lanes.1, lanes.2, ring.0, ring.1, ring.2
        );
    }
    println!(
        "one of eight stopped in the middle of a send for {} ms: {} messages of the others by \
         lanes, {} by the ring",
        STOP.as_millis(),
        while_stopped::<Lanes>(),
        while_stopped::<Shared>()
    );
}
