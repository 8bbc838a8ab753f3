//! All interleavings of the threads of one task that wait: one sleeps on the doorbell, the others
//! beside it.
//!
//! Left out: the gates that the threads enter (a mutex stands for them), the spin before a sleep,
//! and the limits of sleeps (100 ms beside the sleeper, 10 s on the doorbell), by which a thread
//! looks again where this model says that it would sleep for ever.

use loom::sync::{Arc, Mutex};
use loom::thread;
use pvm_shm::inbox::{Armed, Header, Marked};
use pvm_shm::lock_word::Number;
use pvm_shm::sleeper::Sleeper;
use pvm_shm::sync::{AtomicU32, Ordering};

/// The kernel's sleep on a word: it compares and lies down in one step.
struct Futex(Mutex<bool>);

impl Futex {
    fn wait(&self, word: &AtomicU32, value: u32) {
        let mut sleeps = self.0.lock().expect("no panic");
        *sleeps = word.load(Ordering::SeqCst) == value;
    }

    fn wake(&self) {
        *self.0.lock().expect("no panic") = false;
    }

    fn sleeps(&self) -> bool {
        *self.0.lock().expect("no panic")
    }
}

/// The words of a task whose threads wait.
struct Threads {
    sleeper: Sleeper,
    generation: AtomicU32,
    header: Header,
    /// The messages that were put aside, a bit for each.
    aside: Mutex<u32>,
    futex: Futex,
}

/// The state of a thread that wanted to sleep on the doorbell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fell {
    Asleep,
    Awake,
    /// Another thread is the sleeper.
    Beside,
}

impl Threads {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            sleeper: Sleeper::new(),
            generation: AtomicU32::new(0),
            header: Header::new(),
            aside: Mutex::new(0),
            futex: Futex(Mutex::new(false)),
        })
    }

    fn token(&self) -> u32 {
        self.generation.load(Ordering::SeqCst)
    }

    fn look(&self) -> u32 {
        *self.aside.lock().expect("no panic")
    }

    fn put_aside(&self, bit: u32) {
        *self.aside.lock().expect("no panic") |= bit;
    }

    /// The steps of a thread that has found nothing behind its token.
    fn fall_asleep(&self, me: Number, token: u32) -> Fell {
        if !self.sleeper.take(me) {
            return Fell::Beside;
        }
        if self.header.arm() == Armed::Not {
            self.wake_up(me);
            return Fell::Awake;
        }
        Header::look_again();
        if self.generation.load(Ordering::SeqCst) != token {
            self.wake_up(me);
            return Fell::Awake;
        }
        Fell::Asleep
    }

    /// The steps of a thread whose sleep on the doorbell is over.
    fn wake_up(&self, me: Number) {
        if !self.sleeper.is(me) {
            return;
        }
        self.header.disarm();
        if self.sleeper.give_back(&self.generation) {
            self.futex.wake();
        }
    }
}

/// The place at which a thread that has put something aside stops for good.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
enum Stop {
    PutAside,
    Announced,
    Never,
}

/// A thread puts a message aside for another one. True if it rings the doorbell.
fn announce(threads: &Threads, me: Number, bit: u32, stop: Stop) -> bool {
    threads.put_aside(bit);
    if stop == Stop::PutAside {
        return false;
    }
    let told = threads.sleeper.announce(&threads.generation, me);
    if stop == Stop::Announced {
        return false;
    }
    if told.others {
        threads.futex.wake();
    }
    told.sleeper
}

/// Two threads put messages aside for a third one, which goes to sleep on the doorbell. The first
/// one stops for good after any step: the second one wakes the sleeper all the same. At most three
/// times a thread is interrupted that could go on; all runs of three threads would take minutes.
#[test]
fn loom_a_sleeper_is_rung_for_what_another_thread_puts_aside() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    for stop in [Stop::PutAside, Stop::Announced] {
        model.check(move || {
            let threads = Threads::new();
            let putting = |n: u32, stop| {
                let threads = threads.clone();
                thread::spawn(move || announce(&threads, Number::nth(n), 1 << n, stop))
            };
            let others = [putting(1, stop), putting(2, Stop::Never)];
            let token = threads.token();
            let seen = threads.look() & 1 << 2 != 0;
            let fell = threads.fall_asleep(Number::nth(0), token);
            let rung = others.map(|other| other.join().expect("no panic"));
            assert!(seen || rung[1] || fell == Fell::Awake, "asleep: one has stopped at {stop:?}");
        });
    }
}

/// A thread puts a message aside for one that goes to sleep beside the sleeper.
#[test]
fn loom_who_sleeps_beside_the_sleeper_is_woken_for_what_is_put_aside() {
    loom::model(|| {
        let threads = Threads::new();
        assert!(threads.sleeper.take(Number::nth(0)));
        let other = {
            let threads = threads.clone();
            thread::spawn(move || announce(&threads, Number::nth(1), 1, Stop::Never))
        };
        let token = threads.token();
        let seen = threads.look() != 0;
        threads.sleeper.begin_beside();
        if threads.sleeper.is_taken() {
            threads.futex.wait(&threads.generation, token);
        }
        assert!(other.join().expect("no panic"), "the sleeper is rung, too");
        assert!(seen || !threads.futex.sleeps(), "asleep beside its message");
    });
}

/// The sleeper's sleep is over while another thread goes to sleep beside it: one of the two sees
/// the other, so that not all threads sleep where nobody rings.
#[test]
fn loom_a_sleeper_that_goes_wakes_who_waits_beside_it() {
    loom::model(|| {
        let threads = Threads::new();
        assert_eq!(threads.fall_asleep(Number::nth(0), 0), Fell::Asleep);
        let beside = {
            let threads = threads.clone();
            thread::spawn(move || {
                let token = threads.token();
                threads.sleeper.begin_beside();
                if threads.sleeper.is_taken() {
                    threads.futex.wait(&threads.generation, token);
                }
            })
        };
        threads.wake_up(Number::nth(0));
        beside.join().expect("no panic");
        assert!(!threads.futex.sleeps(), "asleep beside nobody");
    });
}

/// A handler of the sleeper's signals waits itself, and gives the place back; another thread may
/// take it before the handler returns. The sleep that the handler has interrupted ends behind it,
/// and takes nothing from that thread.
#[test]
fn loom_a_sleep_that_a_handler_has_interrupted_takes_nothing_from_the_next_sleeper() {
    loom::model(|| {
        let (first, second) = (Number::nth(0), Number::nth(1));
        let threads = Threads::new();
        assert_eq!(threads.fall_asleep(first, 0), Fell::Asleep);
        let other = {
            let threads = threads.clone();
            thread::spawn(move || {
                let token = threads.token();
                threads.fall_asleep(second, token)
            })
        };
        // The handler: its own sleep, and the end of it.
        let token = threads.token();
        if threads.fall_asleep(first, token) == Fell::Asleep {
            threads.wake_up(first);
        }
        // The interrupted call.
        threads.wake_up(first);
        if other.join().expect("no panic") == Fell::Asleep {
            assert!(threads.sleeper.is(second), "nobody rings for what is put aside");
            assert_eq!(threads.header.mark(1), Marked::Wake, "no sender rings");
        }
    });
}

/// A handler that runs behind the last look of its thread puts a message aside for that thread,
/// which does not sleep then; a sender that stops for good before its ring changes nothing.
#[test]
fn loom_what_a_handler_puts_aside_behind_the_look_ends_the_sleep() {
    loom::model(|| {
        let me = Number::nth(0);
        let threads = Threads::new();
        let sending = {
            let threads = threads.clone();
            // It stops before it rings.
            thread::spawn(move || threads.header.mark(1))
        };
        let token = threads.token();
        let seen = threads.look() != 0;
        // The handler takes what lies in the lanes, for whom it may concern.
        threads.header.take();
        assert!(!announce(&threads, me, 1, Stop::Never), "it is this thread that sleeps");
        let fell = threads.fall_asleep(me, token);
        sending.join().expect("no panic");
        assert!(!seen && fell == Fell::Awake, "asleep beside what the handler has put aside");
    });
}
