//! What belongs to one thread, in one place, so that one look finds it.
//!
//! There is no destructor here, so a signal handler may look as well: a thread that is in the library
//! has looked before, and nothing is made for it then.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering, compiler_fence};

use pvm::Number;
use pvm_wire::Code;

use crate::slot::Slot;

/// A current buffer: its number, 0 for none, and where it is.
pub(crate) struct Current {
    id: Cell<c_int>,
    slot: Cell<Option<&'static Slot>>,
}

impl Current {
    const fn none() -> Self {
        Self { id: Cell::new(0), slot: Cell::new(None) }
    }

    /// Its number.
    #[inline]
    pub(crate) fn id(&self) -> c_int {
        self.id.get()
    }

    /// Where it is; another thread may have freed it.
    #[inline]
    pub(crate) fn slot(&self) -> Option<&'static Slot> {
        self.slot.get()
    }

    /// Makes another one the current one, and returns the number of the old.
    pub(crate) fn set(&self, id: c_int, slot: Option<&'static Slot>) -> c_int {
        self.slot.set(slot);
        self.id.replace(id)
    }

    /// There is none any more; its number is returned.
    pub(crate) fn clear(&self) -> c_int {
        self.set(0, None)
    }
}

/// A send that a signal handler asked for while this thread was in the library.
#[derive(Clone, Copy)]
pub(crate) struct Parcel {
    /// Who knows how to send it.
    pub(crate) send: fn(Self) -> Result<(), Code>,
    /// The buffer, 0 where nothing is to be sent.
    pub(crate) buffer: c_int,
    /// The receiver.
    pub(crate) tid: c_int,
    /// The tag.
    pub(crate) tag: c_int,
    /// The context.
    pub(crate) context: c_int,
}

impl Parcel {
    const NONE: Self = Self { send: |_| Ok(()), buffer: 0, tid: 0, tag: 0, context: 0 };
}

/// Sends that wait at most; a handler that asks for more is told `PvmAlready`.
pub(crate) const PARCELS: usize = 32;

/// Sends that wait until the interrupted call leaves. A handler may be interrupted by another one,
/// so places are taken in one step; whoever leaves the library comes after all of them.
pub(crate) struct Parcels {
    taken: AtomicUsize,
    places: [Cell<Parcel>; PARCELS],
}

impl Parcels {
    const fn none() -> Self {
        Self { taken: AtomicUsize::new(0), places: [const { Cell::new(Parcel::NONE) }; PARCELS] }
    }

    /// True if none waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.taken.load(Ordering::Relaxed) == 0
    }

    /// Takes as many places as there are parcels, or none.
    pub(crate) fn add(&self, count: usize, parcel: impl Fn(usize) -> Parcel) -> Result<(), Code> {
        let more = |taken: usize| Some(taken + count).filter(|&sum| sum <= PARCELS);
        let first = self
            .taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .map_err(|_| Code::Already)?;
        for (i, place) in self.places[first..first + count].iter().enumerate() {
            place.set(parcel(i));
        }
        Ok(())
    }

    /// Sends all, also those that are added meanwhile, and returns the last failure.
    #[cold]
    pub(crate) fn send_all(&self) -> Option<Code> {
        let mut failure = None;
        let mut next = 0;
        loop {
            let taken = self.taken.load(Ordering::Relaxed);
            if next == taken {
                let emptied =
                    self.taken.compare_exchange(taken, 0, Ordering::Relaxed, Ordering::Relaxed);
                if emptied.is_ok() {
                    return failure;
                }
                continue;
            }
            // Left empty: a handler that longjmp ends between taking a place and filling it must not
            // repeat what was here before.
            let parcel = self.places[next].replace(Parcel::NONE);
            next += 1;
            if parcel.buffer != 0 {
                failure = (parcel.send)(parcel).err().or(failure);
            }
        }
    }
}

/// Whether a thread is in the library. Only the thread itself changes it; handlers of its signals look, and a thread that
/// begins meanwhile.
pub(crate) struct Mark(AtomicU8);

/// It is not.
const OUTSIDE: u8 = 0;
/// It is, and takes locks as one of several threads.
const AMONG: u8 = 1;
/// It is, and its locks may not say that they are taken.
const ALONE: u8 = 2;

impl Mark {
    /// True while it is.
    #[inline(always)]
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) != OUTSIDE
    }

    /// The thread comes in, perhaps as the only one; false if it is in already, and a handler has interrupted it.
    #[inline(always)]
    pub(crate) fn set(&self) -> bool {
        let may = !self.is_set();
        if may {
            self.0.store(ALONE, Ordering::Relaxed);
            // A handler of this thread must see the mark before anything is touched, or it is asked who else there is.
            compiler_fence(Ordering::SeqCst);
        }
        may
    }

    /// It has found that it is not the only one: nobody need wait until it goes out.
    #[inline(always)]
    pub(crate) fn let_others(&self) {
        self.0.store(AMONG, Ordering::Relaxed);
    }

    /// It goes out.
    #[inline(always)]
    pub(crate) fn clear(&self) {
        compiler_fence(Ordering::SeqCst);
        // PAIRS WITH: `wait`, whose thread sees all that was done under the mark.
        self.0.store(OUTSIDE, Ordering::Release);
        compiler_fence(Ordering::SeqCst);
    }

    /// Another thread waits until locks say that they are taken.
    fn wait(&self) {
        // PAIRS WITH: `clear`.
        while self.0.load(Ordering::Acquire) == ALONE {
            std::thread::yield_now();
        }
    }
}

/// One thread.
pub(crate) struct Thread {
    /// Its number, known from its first call on.
    pub(crate) number: Cell<Option<Number>>,
    /// True while it is in the library.
    pub(crate) inside: Mark,
    /// Its send buffer.
    pub(crate) sending: Current,
    /// Its receive buffer.
    pub(crate) receiving: Current,
    /// What its last `pvm_probe` gave out.
    pub(crate) probed: Current,
    /// True once the end of the thread is watched, to free its buffers.
    pub(crate) watched: Cell<bool>,
    /// What signal handlers want to be sent.
    pub(crate) parcels: Parcels,
    /// Where on the stack the call is that is told of, 0 for none: calls below it are the library's
    /// own. A call that was left by longjmp stays here; those that come later are not below it.
    pub(crate) telling: Cell<usize>,
    /// Where on the stack a function of the program is that a call has called, 0 for none.
    pub(crate) program: Cell<usize>,
    /// Calls of the program around those that it makes now.
    pub(crate) depth: Cell<u8>,
}

impl Thread {
    const fn new() -> Self {
        Self {
            number: Cell::new(None),
            inside: Mark(AtomicU8::new(OUTSIDE)),
            sending: Current::none(),
            receiving: Current::none(),
            probed: Current::none(),
            watched: Cell::new(false),
            parcels: Parcels::none(),
            telling: Cell::new(0),
            program: Cell::new(0),
            depth: Cell::new(0),
        }
    }
}

thread_local! {
    static THREAD: Thread = const { Thread::new() };
}

/// The thread that found itself the only one of its process: the one thread whose gates cost nothing. It is kept here, as
/// others look at its mark, and memory of its own would be gone with it.
struct First {
    thread: Thread,
    given: AtomicBool,
}

// SAFETY: `thread` is used by the thread that it was given to; others look at its mark, which is atomic.
unsafe impl Sync for First {}

static FIRST: First = First { thread: Thread::new(), given: AtomicBool::new(false) };

unsafe extern "C" {
    /// In `shim/threads.c`: what `_neopvm_set_here` was given in this thread, else null.
    #[allow(dead_code, reason = "where the word is not read in place")]
    safe fn _neopvm_here() -> *const c_void;
    safe fn _neopvm_set_here(thread: *const c_void);
    /// Where a byte is that is not 0 while the process has one thread only.
    safe fn _neopvm_alone() -> *const u8;
}

/// This thread.
#[inline]
pub(crate) fn here<T>(body: impl FnOnce(&Thread) -> T) -> T {
    // SAFETY: it stays as long as this thread does, and has no destructor.
    body(unsafe { &*address() })
}

/// Where this thread's data are, as long as it lives.
#[inline(always)]
pub(crate) fn address() -> *const Thread {
    let known = word().cast::<Thread>();
    if known.is_null() { first_look() } else { known }
}

/// This thread, if it has been looked at before.
#[inline(always)]
pub(crate) fn known() -> Option<&'static Thread> {
    // SAFETY: null, or what stays as long as this thread does and has no destructor; it is not handed on.
    unsafe { word().cast::<Thread>().as_ref() }
}

/// The word of the shim: read in place where a call for it would cost more than the look.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", target_os = "linux", not(miri)))]
#[inline(always)]
fn word() -> *const c_void {
    let word: *const c_void;
    // SAFETY: reads a word of this thread's static memory, whose place the loader fills in (the ABI's model
    // "initial exec", as the shim declares it).
    unsafe {
        std::arch::asm!(
            "mov {word}, qword ptr [rip + _neopvm_here_word@GOTTPOFF]",
            "mov {word}, qword ptr fs:[{word}]",
            word = out(reg) word,
            options(nostack, preserves_flags, readonly),
        );
    }
    word
}

#[cfg(not(all(
    target_arch = "x86_64",
    target_pointer_width = "64",
    target_os = "linux",
    not(miri)
)))]
fn word() -> *const c_void {
    _neopvm_here()
}

#[cold]
fn first_look() -> *const Thread {
    let flag = _neopvm_alone();
    // SAFETY: a byte of the C library's, or one of the shim's, for ever; it changes as this thread itself begins another.
    let is_alone = unsafe { flag.read_volatile() } != 0;
    let is_first = is_alone && !FIRST.given.swap(true, Ordering::Relaxed);
    let own = if is_first {
        trust_alone(flag);
        &raw const FIRST.thread
    } else {
        wait_for_first();
        THREAD.with(ptr::from_ref)
    };
    // SAFETY: it is this thread's, for as long as it lives.
    unsafe { &*own }.number.set(Some(pvm::sys::thread_number()));
    _neopvm_set_here(own.cast());
    if !is_first {
        pvm::nudge_current();
    }
    own
}

fn trust_alone(flag: *const u8) {
    // SAFETY: the flag is valid for ever, and not 0 only while there is no second thread. One that begins in the middle of
    // a call of the first one's enters no gate before that call is over: it has `wait_for_first` behind it by then.
    unsafe { pvm::trust_alone(flag) };
}

/// There is another thread than the first one. It may have begun in the middle of a call of the first one's, whose gates
/// do not say that they are taken: a handler of signals has begun it. Nobody takes gates in that way any more.
fn wait_for_first() {
    pvm::trust_nobody_alone();
    FIRST.thread.inside.wait();
}

/// In the child of a fork, whose only thread is the forking one.
pub(crate) fn reset_after_fork() {
    if word() == (&raw const FIRST.thread).cast() {
        trust_alone(_neopvm_alone());
    } else if FIRST.given.load(Ordering::Relaxed) {
        // What the first one was in the middle of is over.
        FIRST.thread.inside.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static SENT: Cell<c_int> = const { Cell::new(0) };
    }

    fn parcel(tag: c_int) -> Parcel {
        let send = |parcel: Parcel| {
            SENT.set(SENT.get().wrapping_mul(10).wrapping_add(parcel.tag));
            // A handler that runs while this is being sent.
            if parcel.tag == 1 {
                here(|thread| thread.parcels.add(1, |_| self::parcel(3)))?;
            }
            if parcel.tag == 2 { Err(Code::NoSuchBuf) } else { Ok(()) }
        };
        Parcel { send, buffer: 1, tid: 2, tag, context: 0 }
    }

    #[test]
    fn parcels_are_sent_once_in_order_and_their_failure_is_told() {
        here(|thread| {
            thread.parcels.add(2, |i| parcel([1, 2][i])).expect("room");
            assert_eq!(thread.parcels.send_all(), Some(Code::NoSuchBuf));
            assert_eq!(SENT.get(), 123);
            assert!(thread.parcels.is_empty());
            assert_eq!(thread.parcels.send_all(), None);
        });
    }

    #[test]
    fn parcels_that_do_not_fit_are_refused_together() {
        here(|thread| {
            thread.parcels.add(PARCELS - 1, |_| parcel(4)).expect("room");
            assert_eq!(thread.parcels.add(2, |_| parcel(5)), Err(Code::Already));
            thread.parcels.add(1, |_| parcel(4)).expect("room for one");
            thread.parcels.send_all();
        });
    }
}
