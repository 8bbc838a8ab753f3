//! The C library and the program's own memory: the only unsafe code of this crate, beside the
//! lock in `gate`.

use crate::Task;
use rustix::thread::futex;
use rustix::time::Timespec;
use std::cell::Cell;
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::time::{Duration, Instant};

static THREADS: AtomicU32 = AtomicU32::new(1);
thread_local! {
    static NUMBER: Cell<u32> = const { Cell::new(0) };
}

/// A number of this thread's own, not 0.
pub fn thread_number() -> u32 {
    NUMBER.with(|number| {
        if number.get() == 0 {
            number.set(THREADS.fetch_add(1, Ordering::Relaxed));
        }
        number.get()
    })
}

/// Sleeps while `word` is `value`, until a wake-up, a signal or the moment.
pub(crate) fn futex_wait(word: &AtomicU32, value: u32, until: Option<Instant>) {
    let timeout = until.map(|until| timespec(until.saturating_duration_since(Instant::now())));
    // Errors are a changed value, a signal and the timeout: the caller looks again anyway.
    let _ = futex::wait(word, futex::Flags::PRIVATE, value, timeout.as_ref());
}

/// Wakes all who sleep on `word`.
pub(crate) fn futex_wake(word: &AtomicU32) {
    let _ = futex::wake(word, futex::Flags::PRIVATE, i32::MAX as u32);
}

/// For the kernel.
pub(crate) fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: duration.subsec_nanos().into(),
    }
}

/// A descriptor that its owner keeps open, as a value that a blocking wait may hold: it has no
/// destructor and no lifetime, so longjmp may leave the frame.
pub(crate) fn borrow(fd: RawFd) -> BorrowedFd<'static> {
    // SAFETY: used for descriptors of a `Task`, which is never freed; `after_fork` and `leave`
    // close them, after which the kernel answers EBADF (or a stranger's event, which makes the
    // caller look again) and no memory is touched.
    unsafe { BorrowedFd::borrow_raw(fd) }
}

/// Closes a descriptor of a task that is gone.
pub(crate) fn close(fd: RawFd) {
    // SAFETY: only `after_fork` calls this, once, for descriptors whose owner is leaked.
    unsafe { rustix::io::close(fd) }
}

/// The task in this place: tasks are never freed.
pub(crate) fn task(place: &AtomicPtr<Task>) -> Option<&'static Task> {
    // SAFETY: only `Task::enrol` stores pointers here, of leaked boxes.
    unsafe { place.load(Ordering::Acquire).as_ref() }
}

unsafe extern "C" {
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> i32;
}

/// Sees to it that the child of a fork is no task.
pub(crate) fn watch_forks() {
    extern "C" fn child() {
        crate::after_fork();
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: a plain registration; the handler only closes descriptors and stores atomics.
        unsafe { pthread_atfork(None, None, Some(child)) };
    });
}

/// A pointer into the program's memory, noted by an in-place pack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Foreign {
    address: *const u8,
    size: usize,
}

// SAFETY: the program promised (`Buffer::pack_in_place`) that the memory may be read at each
// send; which thread sends is its own affair, as with any C buffer.
unsafe impl Send for Foreign {}
// SAFETY: as above.
unsafe impl Sync for Foreign {}

impl Foreign {
    /// Notes `size` bytes.
    ///
    /// # Safety
    /// They must be readable whenever [`Foreign::bytes`] is called.
    pub(crate) const unsafe fn new(address: *const u8, size: usize) -> Self {
        Self { address, size }
    }

    pub(crate) const fn size(self) -> usize {
        self.size
    }

    /// The bytes as they are now.
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.size == 0 {
            return &[];
        }
        // SAFETY: promised at `new`.
        unsafe { std::slice::from_raw_parts(self.address, self.size) }
    }
}

/// The bytes at an address inside a slab that this process alone owns and has sent to nobody.
///
/// # Safety
/// Nobody else may write there while the result is in use.
pub(crate) const unsafe fn bytes_mut<'a>(address: *mut u8, size: usize) -> &'a mut [u8] {
    // SAFETY: promised by the caller.
    unsafe { std::slice::from_raw_parts_mut(address, size) }
}
