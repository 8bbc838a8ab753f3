//! A lock that knows its owner.
//!
//! A signal handler may call the library while the interrupted thread is inside of it. A plain
//! lock would wait for ever for its own thread; this one says [`Code::Already`].

use super::{futex_wait, futex_wake, thread_number};
use pvm_wire::Code;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, Ordering};

/// Open.
const FREE: u32 = 0;
/// Added to the owner's number when others wait.
const CONTENDED: u32 = 1 << 31;

/// Stands for the only thread of the process, whichever it is.
const ONLY: u32 = 1 << 30;

/// Says no for ever.
static NEVER: AtomicU8 = AtomicU8::new(0);
/// Where it stands whether this process has one thread only.
static ALONE: AtomicPtr<AtomicU8> = AtomicPtr::new((&raw const NEVER).cast_mut());

/// From now on gates cost nothing while the byte at `flag` is not 0.
///
/// # Safety
/// It is valid for ever, and not 0 only while the process has no second thread: the C library's
/// `__libc_single_threaded`.
pub unsafe fn trust_alone(flag: *const u8) {
    ALONE.store(flag.cast_mut().cast(), Ordering::Relaxed);
}

/// True while this process has one thread only, as far as is known.
#[inline(always)]
pub(crate) fn is_alone() -> bool {
    // SAFETY: `NEVER`, or what the caller of `trust_alone` promised.
    unsafe { &*ALONE.load(Ordering::Relaxed) }.load(Ordering::Relaxed) != 0
}

/// The proof that this process had one thread a moment ago: for calls that end before it can have another.
#[derive(Clone, Copy, Debug)]
pub struct Alone(());

impl Alone {
    /// None if there may be other threads.
    #[inline(always)]
    pub fn now() -> Option<Self> {
        is_alone().then_some(Self(()))
    }
}

/// A value behind such a lock.
#[derive(Debug)]
pub struct Gate<T> {
    owner: AtomicU32,
    value: UnsafeCell<T>,
}
// SAFETY: only the thread whose number stands in `owner` reaches the value.
unsafe impl<T: Send> Sync for Gate<T> {}

/// The value, while the gate is ours.
#[derive(Debug)]
pub struct GateGuard<'a, T> {
    gate: &'a Gate<T>,
    /// A guard stays on its thread.
    _thread: std::marker::PhantomData<*const ()>,
}

/// The value, while the gate is the only thread's.
#[derive(Debug)]
pub struct AloneGuard<'a, T> {
    gate: &'a Gate<T>,
    /// A guard stays on its thread.
    _thread: std::marker::PhantomData<*const ()>,
}

impl<T> Gate<T> {
    /// An open gate.
    pub const fn new(value: T) -> Self {
        Self { owner: AtomicU32::new(FREE), value: UnsafeCell::new(value) }
    }

    /// Waits for other threads.
    ///
    /// # Errors
    /// [`Code::Already`] if this thread has the gate: a signal handler interrupted the library.
    #[inline(always)]
    pub fn enter(&self) -> Result<GateGuard<'_, T>, Code> {
        // Nobody can come between the two steps but a signal handler, which leaves before.
        if is_alone() && self.owner.load(Ordering::Relaxed) == FREE {
            self.owner.store(ONLY, Ordering::Relaxed);
            return Ok(GateGuard { gate: self, _thread: std::marker::PhantomData });
        }
        self.enter_among_threads()
    }

    /// [`Gate::enter`] for the only thread, which looks once for many gates. None if it has this one already.
    #[inline(always)]
    pub fn enter_alone(&self, _alone: Alone) -> Option<AloneGuard<'_, T>> {
        if self.owner.load(Ordering::Relaxed) != FREE {
            return None;
        }
        self.owner.store(ONLY, Ordering::Relaxed);
        Some(AloneGuard { gate: self, _thread: std::marker::PhantomData })
    }

    /// The value, if nobody has the gate.
    pub fn enter_if_free(&self) -> Option<GateGuard<'_, T>> {
        self.owner
            .compare_exchange(FREE, thread_number(), Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
            .then_some(GateGuard { gate: self, _thread: std::marker::PhantomData })
    }

    #[cold]
    fn enter_among_threads(&self) -> Result<GateGuard<'_, T>, Code> {
        let me = thread_number();
        loop {
            match self.owner.compare_exchange(FREE, me, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Ok(GateGuard { gate: self, _thread: std::marker::PhantomData }),
                Err(owner) if owner & !CONTENDED == me => return Err(Code::Already),
                Err(ONLY) if is_alone() => return Err(Code::Already),
                Err(owner) => self.wait(owner),
            }
        }
    }

    #[cold]
    fn wait(&self, owner: u32) {
        let contended = owner | CONTENDED;
        if owner == contended
            || self
                .owner
                .compare_exchange(owner, contended, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        {
            futex_wait(&self.owner, contended, None);
        }
    }

    /// Only in the child of a fork: opens a gate that a thread of the parent held.
    pub fn reset_after_fork(&self) {
        self.owner.store(FREE, Ordering::Release);
    }
}

impl<T> Deref for GateGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the guard is the proof that this thread owns the gate.
        unsafe { &*self.gate.value.get() }
    }
}

impl<T> DerefMut for GateGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed exclusively.
        unsafe { &mut *self.gate.value.get() }
    }
}

impl<T> Drop for GateGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if is_alone() {
            self.gate.owner.store(FREE, Ordering::Release);
        } else if self.gate.owner.swap(FREE, Ordering::Release) & CONTENDED != 0 {
            futex_wake(&self.gate.owner);
        }
    }
}

impl<T> Deref for AloneGuard<'_, T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the guard is the proof that this thread owns the gate.
        unsafe { &*self.gate.value.get() }
    }
}

impl<T> DerefMut for AloneGuard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed exclusively.
        unsafe { &mut *self.gate.value.get() }
    }
}

impl<T> Drop for AloneGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        // There was no other thread when it was entered, so nobody waits.
        self.gate.owner.store(FREE, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_thread_enters_once_and_leaves() {
        let gate = Gate::new(0);
        *gate.enter_alone(Alone(())).expect("free") = 7;
        let guard = gate.enter_alone(Alone(())).expect("free again");
        assert!(gate.enter_alone(Alone(())).is_none());
        assert_eq!(*guard, 7);
        assert!(Alone::now().is_none(), "nobody has promised anything");
    }

    #[test]
    fn threads_take_turns_and_a_second_entry_is_refused() {
        let gate = Gate::new(0u64);
        {
            let _guard = gate.enter().expect("free");
            assert_eq!(gate.enter().err(), Some(Code::Already));
        }
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..20_000).for_each(|_| *gate.enter().expect("a turn") += 1));
            }
        });
        assert_eq!(*gate.enter().expect("free"), 80_000);
    }
}
