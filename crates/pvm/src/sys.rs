//! The kernel, the C library and the program's own memory: the only unsafe code of this crate.

pub(crate) mod cancellation;
pub(crate) mod gate;
pub(crate) mod memory;
pub(crate) mod undumped;

use pvm_shm::lock_word::Number;
use pvm_wire::congestion::UnderWay;
use rustix::thread::{MembarrierCommand, futex, membarrier};
use rustix::time::Timespec;
use std::cell::Cell;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd, RawFd};
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Within this time each store of another thread is seen.
const STORES: Duration = Duration::from_millis(1);

/// Between two looks at what another thread is about to do, which mostly takes less.
const PAUSE: Duration = Duration::from_micros(20);

static THREADS: AtomicU32 = AtomicU32::new(0);
thread_local! {
    static NUMBER: Cell<Option<Number>> = const { Cell::new(None) };
}

/// A number of this thread's own.
pub fn thread_number() -> Number {
    NUMBER.get().unwrap_or_else(|| {
        let number = Number::nth(THREADS.fetch_add(1, Ordering::Relaxed));
        NUMBER.set(Some(number));
        number
    })
}

/// True if this process has no other thread, whether that has called this library or not. It asks
/// the kernel.
pub(crate) fn has_one_thread() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.take(2).count() == 1)
}

/// True if the kernel makes fences for [`fence_all_threads`], from now on.
pub fn may_fence_all_threads() -> bool {
    membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
}

/// A full fence in each thread of the process. So a store that another thread has in front of a
/// load is seen here, or that load sees what this thread stored before the call: the other thread
/// needs no fence between the two.
pub fn fence_all_threads() {
    if membarrier(MembarrierCommand::PrivateExpedited).is_err() {
        // A filter that the program has set since forbids the call. No processor keeps a store back
        // for this long.
        std::thread::sleep(STORES);
    }
}

/// Sleeps for a moment before the next look at what another thread or process is about to do. A
/// yield would not let one of lower priority have this core.
pub fn pause() {
    // A signal that ends it early does no harm: the caller looks again.
    let _ = rustix::thread::nanosleep(&timespec(PAUSE));
}

/// Sleeps while `word` is `value`, until a wake-up, a signal or the moment.
pub(crate) fn futex_wait(word: &AtomicU32, value: u32, until: Option<Instant>) {
    let timeout = until.map(|until| timespec(until.saturating_duration_since(Instant::now())));
    // Errors are a changed value, a signal and the timeout: the caller looks again anyway.
    let _ = futex::wait(word, futex::Flags::PRIVATE, value, timeout.as_ref());
}

/// Wakes all threads that sleep on `word`.
pub(crate) fn futex_wake(word: &AtomicU32) {
    let _ = futex::wake(word, futex::Flags::PRIVATE, i32::MAX as u32);
}

/// Sleeps while a word that the host's tasks share is `value`, until a wake-up, a signal or the
/// moment.
pub(crate) fn futex_wait_of_host(word: &AtomicU32, value: u32, until: Instant) {
    let timeout = timespec(until.saturating_duration_since(Instant::now()));
    let _ = futex::wait(word, futex::Flags::empty(), value, Some(&timeout));
}

/// Wakes the first of the threads that sleep there.
pub(crate) fn futex_wake_one_of_host(word: &AtomicU32) {
    let _ = futex::wake(word, futex::Flags::empty(), 1);
}

/// Processor time of this thread, in nanoseconds. It costs 0.2 to 0.65 us.
pub(crate) fn processor_time() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}

/// The time since the computer's start, the same for all tasks of the host.
pub(crate) fn clock() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}

/// The monotonic clock, for words that threads share.
pub(crate) fn clock_ms() -> u64 {
    u64::try_from(clock().as_millis()).unwrap_or(u64::MAX)
}

/// A duration as the kernel takes it.
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
    // SAFETY: only `Task::close` and `State::close_routes` call this, once for each descriptor,
    // whose owner is leaked.
    unsafe { rustix::io::close(fd) }
}

/// A place for a leaked value, or for none.
#[derive(Debug)]
pub(crate) struct Leaked<T: 'static>(AtomicPtr<T>);

impl<T: Sync> Leaked<T> {
    pub(crate) const fn none() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// The value that is here.
    pub(crate) fn get(&self) -> Option<&'static T> {
        // SAFETY: only `set` stores pointers here, of references that live for ever.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    pub(crate) fn set(&self, value: &'static T) {
        self.0.store(std::ptr::from_ref(value).cast_mut(), Ordering::Release);
    }

    /// Takes it away, if it is this one.
    pub(crate) fn clear(&self, value: &T) {
        let value = std::ptr::from_ref(value).cast_mut();
        let none = std::ptr::null_mut();
        let _ = self.0.compare_exchange(value, none, Ordering::AcqRel, Ordering::Relaxed);
    }
}

unsafe extern "C" {
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> i32;
    fn getsockopt(socket: i32, level: i32, name: i32, value: *mut u32, length: *mut u32) -> i32;
    fn ioctl(socket: i32, what: u64, value: *mut u32) -> i32;
}

/// `IPPROTO_TCP`, `TCP_INFO` and `TIOCOUTQ`
const TCP: i32 = 6;
const TCP_INFO: i32 = 11;
const UNCONFIRMED: u64 = 0x5411;
/// Positions in `struct tcp_info`, counted in numbers of 32 bits. The first two are of 32 bits:
/// segments that are sent and not confirmed, and the shortest time until some were confirmed (in
/// microseconds). The last two are of 64 bits: the bytes that are confirmed, and the whole time for
/// which the other side had no room.
const TCP_INFO_AT: [usize; 4] = [6, 37, 30, 44];

/// The bytes of a TCP connection that the kernel has taken and the other side has not confirmed;
/// none if the kernel does not say.
pub(crate) fn under_way(socket: &OwnedFd) -> Option<UnderWay> {
    let (mut info, mut bytes) = ([0_u32; 64], 0);
    let mut length = size_of_val(&info) as u32;
    let place = info.as_mut_ptr();
    // SAFETY: the descriptor is open while it is borrowed, and the kernel writes at most `length`
    // bytes to the place.
    let told = unsafe { getsockopt(socket.as_raw_fd(), TCP, TCP_INFO, place, &raw mut length) };
    // SAFETY: the descriptor is open while it is borrowed, and the kernel writes one number.
    let counted = unsafe { ioctl(socket.as_raw_fd(), UNCONFIRMED, &raw mut bytes) };
    let [segments, least, confirmed, without_room] = TCP_INFO_AT;
    let long = |at: usize| u64::from(info[at]) | u64::from(info[at + 1]) << 32;
    (told == 0 && counted == 0).then(|| UnderWay {
        bytes: u64::from(bytes),
        sent: info[segments] > 0,
        confirmed: long(confirmed),
        least: Duration::from_micros(info[least].into()),
        without_room: Duration::from_micros(long(without_room)),
    })
}

/// Has `child` called in the child of every fork.
pub(crate) fn watch_forks(child: extern "C" fn()) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: a plain registration; the handler only closes descriptors and stores atomics.
        unsafe { pthread_atfork(None, None, Some(child)) };
    });
}

/// A place in shared memory that stays mapped while a thread waits for it to change: as a value
/// without a lifetime, so that longjmp may leave the frame.
#[derive(Debug)]
pub(crate) struct Pinned<T: 'static>(*const T);

// SAFETY: it is used as a shared reference to `T` is.
unsafe impl<T: Sync> Send for Pinned<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Pinned<T> {}

impl<T> Clone for Pinned<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Pinned<T> {}

impl<T: Sync> Pinned<T> {
    /// A place in a roster, between `Task::begin_group_wait` and `Task::end_group_wait`.
    pub(crate) const fn new(place: &T) -> Self {
        Self(std::ptr::from_ref(place))
    }

    /// The place.
    pub(crate) fn get(self) -> &'static T {
        // SAFETY: `Rosters::find` unmaps nothing while a group wait goes on, and tasks are never
        // freed.
        unsafe { &*self.0 }
    }
}
