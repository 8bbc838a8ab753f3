//! The only door to atomics: the real ones, or loom's where interleavings are explored.

#[cfg(loom)]
pub use loom::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering, fence,
};
#[cfg(not(loom))]
pub use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering, fence,
};

/// Completes all earlier writes of this thread before a signal handler of the thread can run behind
/// it.
#[inline]
pub fn interrupt_fence() {
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
}

/// Memory that one side writes while the other may look: only raw pointers come out of it.
#[cfg(not(loom))]
#[derive(Debug)]
#[repr(transparent)]
pub struct Shared<T>(std::cell::UnsafeCell<T>);

// SAFETY: nothing but raw pointers comes out; the stamp beside it decides which end may read or
// write, and when (see `lane`).
#[cfg(not(loom))]
unsafe impl<T: Send> Sync for Shared<T> {}

#[cfg(not(loom))]
impl<T> Shared<T> {
    /// For rings on the heap, in tests.
    pub const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }
    /// Reads through a raw pointer.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }
    /// Writes through a raw pointer.
    #[inline]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
    /// The address of the value.
    #[inline]
    pub(crate) const fn place(&self) -> *mut T {
        self.0.get()
    }
}

#[cfg(loom)]
pub use loom::cell::UnsafeCell as Shared;

/// `Shared::with` in place, as compilers make of a closure that is used often a function that is
/// called.
macro_rules! read_shared {
    ($shared:expr, |$place:ident| $body:expr) => {{
        #[cfg(loom)]
        let result = $shared.with(|$place| $body);
        #[cfg(not(loom))]
        let result = {
            let $place = $shared.place().cast_const();
            $body
        };
        result
    }};
}

/// `Shared::with_mut` in place.
macro_rules! write_shared {
    ($shared:expr, |$place:ident| $body:expr) => {{
        #[cfg(loom)]
        let result = $shared.with_mut(|$place| $body);
        #[cfg(not(loom))]
        let result = {
            let $place = $shared.place();
            $body
        };
        result
    }};
}
pub(crate) use {read_shared, write_shared};
