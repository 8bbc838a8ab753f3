//! Sleeps in which a thread can be cancelled (`pthread_cancel`), as in PVM, whose waits are calls
//! of the C library: no frame holds a lock or a value with a destructor there.

use rustix::io::Errno;
use std::ffi::{c_int, c_long, c_short, c_ulong, c_void};
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

unsafe extern "C-unwind" {
    fn ppoll(
        list: *mut Descriptor,
        count: c_ulong,
        timeout: *const Span,
        mask: *const c_void,
    ) -> c_int;
    safe fn pthread_testcancel();
}

/// Sleeps until one of the descriptors is ready; how many are.
pub(crate) fn sleep_until_ready(
    list: &mut [Descriptor],
    timeout: Option<Duration>,
) -> Result<c_int, Errno> {
    let timeout = timeout.map(|time| Span {
        seconds: c_long::try_from(time.as_secs()).unwrap_or(c_long::MAX),
        // Less than 10^9.
        nanoseconds: time.subsec_nanos() as c_long,
    });
    let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: the list has as many entries, the timeout is null or lives until the call is over,
    // and no signals are named. If the thread is cancelled, no frame here has anything to do.
    let ready = unsafe { ppoll(list.as_mut_ptr(), list.len() as c_ulong, timeout, ptr::null()) };
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
