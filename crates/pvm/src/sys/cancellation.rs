//! Sleeps in which a thread can be cancelled (`pthread_cancel`), as in PVM, whose waits are calls
//! of the C library: no frame holds a lock or a value with a destructor there. Signals that come
//! just before such a sleep can be held until it has begun.
//!
//! No frame of a wait may have anything to clean up. The C library ends the thread with its own
//! copy of the unwinder (libgcc_s), but these frames' personality is linked with another copy
//! (`pvm-capi/link.sh`), whose tables are not ready then: it aborts the process at the first
//! landing pad. An optimised build has none here. One without optimisation has some that do
//! nothing, and `cancelled.c` ends with SIGABRT there.

use rustix::io::Errno;
use std::ffi::{c_int, c_long, c_short, c_ulong};
use std::os::fd::RawFd;
use std::ptr;
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

unsafe extern "C" {
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
