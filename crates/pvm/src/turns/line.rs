//! The line of threads that want the host's baton.
//!
//! It never depends on the holder's good will. A thread in line looks at the holder now and then,
//! and takes the baton from a holder that is dead, stopped, or neither runs nor has used a
//! processor for a while (it waits for something that this library does not know).

use crate::sys;
use pvm_shm::baton::{Baton, Holder, Reach};
use rustix::thread::gettid;
use std::cell::Cell;
use std::fs::read_to_string;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A thread in line looks at the holder after the first of these pauses, and then after twice as
/// long each time, up to the second one.
const LOOKS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(80));
/// A holder that sleeps and uses no processor for this long is passed over.
const IDLE: Duration = Duration::from_millis(50);
/// A thread that lets others go first waits this long for the first of them.
const GIVEN: Duration = Duration::from_millis(1);

/// This thread.
fn me() -> Holder {
    thread_local! {
        static ME: Cell<Option<Holder>> = const { Cell::new(None) };
    }
    let thread = gettid().as_raw_nonzero().get().cast_unsigned();
    // The child of a fork has its parent's.
    if let Some(me) = ME.get().filter(|me| me.thread == thread) {
        return me;
    }
    // Without /proc a holder cannot be told from one that is gone: then no thread waits for
    // another.
    let began = Seen::of("thread-self").map_or(0, |seen| seen.began);
    let me = Holder { thread, began };
    ME.set(Some(me));
    me
}

/// Passes the baton on, if this thread has it.
pub(super) fn pass(baton: &Baton) -> bool {
    let passed = baton.pass(me());
    if passed {
        sys::futex_wake_one_of_host(baton.passes());
    }
    passed
}

/// Lets those in line compute before this thread goes on.
pub(super) fn let_others(baton: &Baton) {
    if !baton.is_wanted() || !pass(baton) {
        return;
    }
    let begin = Instant::now();
    while !baton.is_held() && begin.elapsed() < GIVEN {
        rustix::thread::sched_yield();
    }
}

/// Stands in line until the baton is this thread's.
pub(super) fn take(baton: &Baton) {
    let me = me();
    if baton.reach(me) != Reach::Taken {
        baton.line_up();
        stand_in_line(baton, me);
        baton.step_out();
    }
}

fn stand_in_line(baton: &Baton, me: Holder) {
    let mut pause = LOOKS.0;
    let mut watched: Option<Watched> = None;
    loop {
        let passes = baton.passes().load(Ordering::Acquire);
        let Reach::Held(holder) = baton.reach(me) else { return };
        let end = Instant::now() + pause;
        sys::futex_wait_of_host(baton.passes(), passes, end);
        if Instant::now() < end {
            // Passed on, or a signal came.
            continue;
        }
        pause = (2 * pause).min(LOOKS.1);
        let same = watched.filter(|watched| watched.holder == holder);
        let now = same.unwrap_or_else(|| Watched::new(holder));
        match now.look(Seen::of(&holder.thread.to_string())) {
            Some(still) => watched = Some(still),
            None if baton.take_from(holder, me) => return,
            None => watched = None,
        }
    }
}

/// A holder, and since when it has done nothing.
#[derive(Clone, Copy, Debug)]
struct Watched {
    holder: Holder,
    ticks: u64,
    since: Instant,
}

impl Watched {
    fn new(holder: Holder) -> Self {
        Self { holder, ticks: u64::MAX, since: Instant::now() }
    }

    /// The state of the holder after a look; none if nobody need wait for it.
    fn look(self, seen: Option<Seen>) -> Option<Self> {
        let seen = seen.filter(|seen| seen.began == self.holder.began)?;
        match seen.state {
            // Stopped, by a signal or a debugger; dead, and perhaps not waited for yet.
            b'T' | b't' | b'Z' | b'X' => None,
            b'S' if seen.ticks == self.ticks && self.since.elapsed() >= IDLE => None,
            b'S' if seen.ticks == self.ticks => Some(self),
            _ => Some(Self { ticks: seen.ticks, since: Instant::now(), ..self }),
        }
    }
}

/// The kernel's report about a thread.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// `R` runs, `S` sleeps, `T` is stopped ...
    state: u8,
    /// Processor time of its whole process, also of threads that it waits for.
    ticks: u64,
    began: u32,
}

impl Seen {
    fn of(thread: &str) -> Option<Self> {
        Self::read(&read_to_string(format!("/proc/{thread}/stat")).ok()?)
    }

    /// Reads proc_pid_stat(5): the name, in parentheses, may have spaces and parentheses itself.
    fn read(text: &str) -> Option<Self> {
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        let state = *fields.first()?.as_bytes().first()?;
        let ticks = number(11)?.saturating_add(number(12)?);
        Some(Self { state, ticks, began: number(19)? as u32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc;
    use std::thread;

    const STAT: &str = "4711 (a ) S 1) R 1 2 3 4 5 6 7 8 9 10 100 20 0 0 20 0 1 0 4444 1 1";

    fn seen(state: u8, ticks: u64) -> Option<Seen> {
        Some(Seen { state, ticks, began: 3 })
    }

    fn watched(since: Duration) -> Watched {
        let holder = Holder { thread: 1, began: 3 };
        Watched { holder, ticks: 5, since: Instant::now().checked_sub(since).expect("a moment") }
    }

    #[test]
    fn a_program_with_parentheses_in_its_name_is_read() {
        let seen = Seen::read(STAT).expect("a line of /proc");
        assert_eq!((seen.state, seen.ticks, seen.began), (b'R', 120, 4444));
        assert!(Seen::read("4711 (a) R 1 2").is_none() && Seen::read("").is_none());
        assert!(me().began > 0, "and our own is there");
    }

    #[test]
    fn whoever_computes_is_waited_for_and_whoever_does_not_is_not() {
        let long = watched(2 * IDLE);
        assert!(long.look(seen(b'R', 5)).is_some(), "it waits for a processor");
        assert!(long.look(seen(b'D', 5)).is_some(), "it waits for a disk");
        assert!(long.look(seen(b'S', 6)).is_some(), "its threads compute");
        assert!(watched(Duration::ZERO).look(seen(b'S', 5)).is_some(), "not for long");
        assert!(long.look(seen(b'S', 5)).is_none());
        for gone in [seen(b'T', 6), seen(b't', 6), seen(b'Z', 6), None] {
            assert!(watched(Duration::ZERO).look(gone).is_none(), "{gone:?}");
        }
        let other = Some(Seen { began: 4, ..seen(b'R', 6).expect("one") });
        assert!(long.look(other).is_none(), "another thread with its number");
    }

    #[test]
    fn threads_that_take_turns_never_meet() {
        let (baton, inside) = (Arc::new(Baton::default()), Arc::new(AtomicBool::new(false)));
        let taking = |_| {
            let (baton, inside) = (baton.clone(), inside.clone());
            thread::spawn(move || {
                for _ in 0..200 {
                    take(&baton);
                    assert!(!inside.swap(true, Ordering::SeqCst), "two at once");
                    thread::yield_now();
                    inside.store(false, Ordering::SeqCst);
                    assert!(pass(&baton));
                }
            })
        };
        let all: Vec<_> = (0..4).map(taking).collect();
        all.into_iter().for_each(|one| one.join().expect("no two at once"));
        assert!(!baton.is_held() && !baton.is_wanted());
    }

    #[test]
    fn a_holder_that_ends_or_sleeps_elsewhere_holds_up_nobody() {
        let baton = Arc::new(Baton::default());
        let theirs = baton.clone();
        thread::spawn(move || take(&theirs)).join().expect("it ends with the baton");
        take(&baton);
        assert!(pass(&baton), "the dead one's");
        let theirs = baton.clone();
        let (tell, told) = mpsc::channel();
        let sleeper = thread::spawn(move || {
            take(&theirs);
            told.recv().expect("it is woken");
            pass(&theirs)
        });
        while !baton.is_held() {
            thread::yield_now();
        }
        let begin = Instant::now();
        take(&baton);
        assert!(pass(&baton) && begin.elapsed() >= IDLE);
        tell.send(()).expect("it sleeps");
        assert!(!sleeper.join().expect("it goes on"), "it was passed over");
    }
}
