//! The data of one thread, in one place, so that one look finds them.
//!
//! There is no destructor here, so a signal handler may look as well: a thread that is in the
//! library has looked before, and nothing is made for it then.

pub(crate) mod parcels;

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering, compiler_fence};

use crate::slot::Slot;
use parcels::Parcels;
use pvm::{Bias, Number};

/// The place of a current buffer that does not exist: it stays empty.
static NOWHERE: Slot = Slot::new();

/// A current buffer: its number, 0 for none, and where it is.
pub(crate) struct Current {
    id: Cell<c_int>,
    slot: Cell<&'static Slot>,
}

impl Current {
    const fn none() -> Self {
        Self { id: Cell::new(0), slot: Cell::new(&NOWHERE) }
    }

    /// Its number.
    #[inline]
    pub(crate) fn id(&self) -> c_int {
        self.id.get()
    }

    /// Its place; another thread may have freed it.
    #[inline]
    pub(crate) fn slot(&self) -> Option<&'static Slot> {
        Some(self.slot.get()).filter(|&slot| !ptr::eq(slot, &raw const NOWHERE))
    }

    /// Like `slot`, with an empty place where there is none.
    #[inline]
    pub(crate) fn place(&self) -> &'static Slot {
        self.slot.get()
    }

    /// Makes another one the current one, and returns the number of the old.
    pub(crate) fn set(&self, id: c_int, slot: Option<&'static Slot>) -> c_int {
        self.slot.set(slot.unwrap_or(&NOWHERE));
        self.id.replace(id)
    }

    /// Clears it, and returns its number.
    pub(crate) fn clear(&self) -> c_int {
        self.set(0, None)
    }
}

/// Whether a thread is in the library. Only the thread itself changes it; handlers of its signals
/// look, and a thread that ends the [bias](is_biased).
pub(crate) struct Mark(AtomicU8);

/// The thread is not in the library.
const OUTSIDE: u8 = 0;
/// The thread is in the library, and takes locks.
const LONG: u8 = 1;
/// The thread is on a fast path, perhaps as the one that the process is biased to, which takes no
/// locks.
const FAST: u8 = 2;

impl Mark {
    /// True while the thread is in the library.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) != OUTSIDE
    }

    /// The thread comes in; false if it is in already, and a handler has interrupted it.
    #[inline]
    fn set(&self, mark: u8) -> bool {
        let may = !self.is_set();
        if may {
            self.0.store(mark, Ordering::Relaxed);
            // A handler of this thread must see the mark before anything is touched.
            // PAIRS WITH: `end_bias`, which makes the processor's fence behind this store.
            compiler_fence(Ordering::SeqCst);
        }
        may
    }

    /// [`Mark::set`] for a call that takes locks, and may take long.
    #[inline]
    pub(crate) fn set_long(&self) -> bool {
        self.set(LONG)
    }

    /// [`Mark::set`] for a call that waits for nobody, before it asks whether [the process is
    /// biased](is_biased).
    #[inline]
    pub(crate) fn set_fast(&self) -> bool {
        self.set(FAST)
    }

    /// The thread takes locks from now on, so others need not wait until it goes out.
    #[inline]
    pub(crate) fn take_locks(&self) {
        self.0.store(LONG, Ordering::Relaxed);
    }

    /// The thread goes out.
    #[inline]
    pub(crate) fn clear(&self) {
        compiler_fence(Ordering::SeqCst);
        // PAIRS WITH: `wait`, whose thread sees all that was done under the mark.
        self.0.store(OUTSIDE, Ordering::Release);
        compiler_fence(Ordering::SeqCst);
    }

    fn is_fast(&self) -> bool {
        // PAIRS WITH: `clear`.
        self.0.load(Ordering::Acquire) == FAST
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
    /// The buffer that its last `pvm_probe` gave out.
    pub(crate) probed: Current,
    /// True once the end of the thread is watched, to free its buffers.
    pub(crate) watched: Cell<bool>,
    /// The sends that signal handlers have asked for.
    pub(crate) parcels: Parcels,
    /// The place on the stack of the call that is told of, 0 for none: calls below it are the
    /// library's own. A call that was left by longjmp stays here; those that come later are not
    /// below it.
    pub(crate) telling: Cell<usize>,
    /// The place on the stack of a program's function that a call has called, 0 for none.
    pub(crate) program: Cell<usize>,
    /// Calls of the program around those that it makes now.
    pub(crate) depth: Cell<u8>,
}

impl Thread {
    const fn new(mark: u8) -> Self {
        Self {
            number: Cell::new(None),
            inside: Mark(AtomicU8::new(mark)),
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
    static THREAD: Thread = const { Thread::new(OUTSIDE) };
}

/// The first thread that calls. It is kept here, as others look at its mark, and memory of its own
/// would be gone with it.
struct First(Thread);

// SAFETY: only the thread that has set `BIAS` uses the one, and no thread changes the other; other
// threads read the mark, which is atomic.
unsafe impl Sync for First {}

static FIRST: First = First(Thread::new(OUTSIDE));

/// Any thread before its first call: it is never outside, so that a [brief](crate::guard::brief)
/// call leaves all to the rest.
#[unsafe(no_mangle)]
static _neopvm_nobody: First = First(Thread::new(LONG));

/// Whether the process is biased to its first thread: then that one takes no locks on its fast
/// paths. The first call of a second thread ends that for good.
static BIAS: Bias = Bias::new();

/// True if this thread may go without locks, asked behind [`Mark::set_fast`]. No other thread has
/// the answer true: its first call has made it false.
#[inline]
pub(crate) fn is_biased() -> bool {
    // PAIRS WITH: `end_bias`.
    BIAS.is_on()
}

unsafe extern "C" {
    /// In `shim/threads.c`: what `_neopvm_set_here` was given in this thread, else
    /// `_neopvm_nobody`.
    #[allow(dead_code, reason = "where the word is not read in place")]
    safe fn _neopvm_here() -> *const c_void;
    safe fn _neopvm_set_here(thread: *const c_void);
}

/// This thread.
#[inline]
pub(crate) fn here<T>(body: impl FnOnce(&Thread) -> T) -> T {
    // SAFETY: it stays as long as this thread does, and has no destructor.
    body(unsafe { &*address() })
}

/// The address of this thread's data, as long as it lives.
#[inline]
pub(crate) fn address() -> *const Thread {
    let known = word().cast::<Thread>();
    if is_nobody(known) { first_look() } else { known }
}

fn is_nobody(thread: *const Thread) -> bool {
    ptr::eq(thread, &raw const _neopvm_nobody.0)
}

/// This thread, if it has been looked at before.
#[inline]
pub(crate) fn known() -> Option<&'static Thread> {
    Some(known_or_nobody()).filter(|&thread| !is_nobody(thread))
}

/// Like `known`, with a thread whose mark is always set where there is none.
#[inline]
pub(crate) fn known_or_nobody() -> &'static Thread {
    // SAFETY: `_neopvm_nobody`, or what stays as long as this thread does and has no destructor; it
    // is not handed on.
    unsafe { &*word().cast::<Thread>() }
}

/// The word of the shim: read in place where a call for it would cost more than the look.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", target_os = "linux", not(miri)))]
#[inline]
fn word() -> *const c_void {
    let word: *const c_void;
    // SAFETY: reads a word of this thread's static memory, whose place the loader fills in (the
    // ABI's model "initial exec", as the shim declares it).
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
    let is_first = begin_bias();
    let own = if is_first {
        &raw const FIRST.0
    } else {
        end_bias();
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

/// True for the one thread that the process is biased to from now on. Without a kernel that can end
/// the bias there is no such thread.
fn begin_bias() -> bool {
    let begun = BIAS.is_unused() && pvm::may_fence_all_threads() && BIAS.begin();
    if begun {
        trust();
    }
    begun
}

fn trust() {
    // SAFETY: it is biased to this thread until `end_bias`, which each other thread has behind it
    // before it does anything else here.
    unsafe { pvm::trust_alone(BIAS.flag()) };
}

/// This is another thread than the first one, which may be anywhere, perhaps in the middle of a
/// call that a handler of signals has interrupted to begin this one. When this returns the first
/// one takes locks as all do.
fn end_bias() {
    BIAS.end();
    // PAIRS WITH: `Mark::set_fast` and `is_biased` behind it, between which the first thread has no
    // fence: its mark is seen here, or it sees the end.
    pvm::fence_all_threads();
    while FIRST.0.inside.is_fast() {
        // A yield would not let a first thread of lower priority have this core.
        pvm::sys::pause();
    }
}

/// In the child of a fork, whose only thread is the forking one. True if the thread that the parent
/// was biased to was another one, and in the middle of a fast path: locks do not say what it was
/// changing.
pub(crate) fn reset_after_fork() -> bool {
    if word() == (&raw const FIRST.0).cast() {
        if pvm::may_fence_all_threads() {
            BIAS.begin_again();
            trust();
        }
        return false;
    }
    if BIAS.is_unused() {
        return false;
    }
    let is_torn = BIAS.is_on() && FIRST.0.inside.is_fast();
    BIAS.end();
    // The call that the first thread was in the middle of is over.
    FIRST.0.inside.clear();
    is_torn
}
