//! Sleeps in which a thread can be cancelled (`pthread_cancel`), as in PVM, whose waits are calls
//! of the C library: no frame holds a lock or a value with a destructor there. A sleep of a caller
//! that holds something is [`shielded`]. Signals that come just before a sleep can be held until it
//! has begun.
//!
//! The C library ends the thread with its own copy of the unwinder (libgcc_s), but the frames of
//! this library use a copy that is linked with it (`pvm-capi/link.sh`). Both copies meet at a frame
//! with a landing pad, also one that does nothing, as in a build without optimisation. The second
//! one aborts the process if it has never been used, because its tables are empty, so [`prepare`]
//! uses it once before the first sleep.

use rustix::io::Errno;
use std::ffi::{c_int, c_long, c_short, c_ulong, c_void};
use std::os::fd::RawFd;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// `POLLIN`
const READABLE: c_short = 1;

/// A descriptor that is waited for: the C library's `struct pollfd`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Descriptor {
    number: c_int,
    wanted: c_short,
    found: c_short,
}

impl Descriptor {
    /// Waits until it can be read, or has come to its end.
    pub(crate) const fn new(number: RawFd) -> Self {
        Self { number, wanted: READABLE, found: 0 }
    }

    /// True if it is ready.
    pub(crate) const fn is_ready(self) -> bool {
        self.found != 0
    }
}

/// The C library's `struct timespec`.
#[repr(C)]
struct Span {
    seconds: c_long,
    nanoseconds: c_long,
}

/// The C library's `sigset_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct SignalSet([u64; 16]);

/// `SIG_SETMASK`
const SET_MASK: c_int = if cfg!(any(target_arch = "mips", target_arch = "mips64")) { 3 } else { 2 };

/// All signals. The C library leaves those out that it needs itself.
static ALL_SIGNALS: SignalSet = SignalSet([u64::MAX; 16]);

/// `PTHREAD_CANCEL_DISABLE`
const NOT_NOW: c_int = 1;

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
    fn pthread_sigmask(how: c_int, new: *const SignalSet, old: *mut SignalSet) -> c_int;
}

unsafe extern "C-unwind" {
    fn ppoll(
        list: *mut Descriptor,
        count: c_ulong,
        timeout: *const Span,
        mask: *const SignalSet,
    ) -> c_int;
    safe fn pthread_testcancel();
    fn _Unwind_Backtrace(
        each: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
}

/// `_URC_END_OF_STACK`: a walk through the stack goes no further.
const GO_NO_FURTHER: c_int = 5;

unsafe extern "C" fn go_no_further(_frame: *mut c_void, _argument: *mut c_void) -> c_int {
    GO_NO_FURTHER
}

/// Makes the unwinder that is linked with this library ready, once in a process: its first walk
/// through a stack fills its tables. It has the loader's lock meanwhile, so no handler that leaves
/// by `longjmp` comes in between.
pub(crate) fn prepare() {
    static IS_READY: AtomicBool = AtomicBool::new(false);
    if !IS_READY.load(Ordering::Relaxed) {
        let held = hold_signals();
        // SAFETY: the function is called with frames of this thread, and looks at none.
        unsafe { _Unwind_Backtrace(go_no_further, ptr::null_mut()) };
        IS_READY.store(true, Ordering::Relaxed);
        held.restore();
    }
}

/// Runs `body`, in which this thread is not cancelled: that waits for the thread's next sleep
/// behind it.
pub fn shielded<T>(body: impl FnOnce() -> T) -> T {
    let mut before = 0;
    // SAFETY: the old state lives until the call is over.
    unsafe { pthread_setcancelstate(NOT_NOW, &raw mut before) };
    let result = body();
    // SAFETY: it is the state before, and that of now is not asked for.
    unsafe { pthread_setcancelstate(before, ptr::null_mut()) };
    result
}

/// The signals that this thread held before [`hold_signals`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldBefore(SignalSet);

/// Signals wait until [`HeldBefore::restore`], or until a sleep of this thread: no handler runs
/// between a word that says that this thread sleeps and the sleep. A handler that receives there
/// would take that word back.
pub(crate) fn hold_signals() -> HeldBefore {
    let mut before = SignalSet([0; 16]);
    // SAFETY: both sets live until the call is over.
    unsafe { pthread_sigmask(SET_MASK, &raw const ALL_SIGNALS, &raw mut before) };
    HeldBefore(before)
}

impl HeldBefore {
    /// Signals come as before.
    pub(crate) fn restore(self) {
        // SAFETY: the set lives until the call is over, and the old one is not asked for.
        unsafe { pthread_sigmask(SET_MASK, &raw const self.0, ptr::null_mut()) };
    }
}

/// Sleeps until one of the descriptors is ready; how many are. Signals end the sleep, also those
/// that were held before it.
pub(crate) fn sleep_until_ready(
    list: &mut [Descriptor],
    timeout: Option<Duration>,
    held: &HeldBefore,
) -> Result<c_int, Errno> {
    let timeout = timeout.map(|time| Span {
        seconds: c_long::try_from(time.as_secs()).unwrap_or(c_long::MAX),
        // Less than 10^9.
        nanoseconds: time.subsec_nanos() as c_long,
    });
    let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
    let mask = &raw const held.0;
    // SAFETY: the list has as many entries, the timeout is null or lives until the call is over,
    // and so does the mask. If the thread is cancelled, no frame here has anything to do.
    let ready = unsafe { ppoll(list.as_mut_ptr(), list.len() as c_ulong, timeout, mask) };
    if ready >= 0 {
        return Ok(ready);
    }
    let error = std::io::Error::last_os_error().raw_os_error();
    Err(error.map_or(Errno::INVAL, Errno::from_raw_os_error))
}

/// The thread ends here if it was cancelled.
pub(crate) fn may_end_here() {
    pthread_testcancel();
}
