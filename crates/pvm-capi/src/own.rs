//! What each thread owns until its end.
//!
//! Rust's thread-local values with a destructor are gone when the destructors of pthread keys run,
//! and a program may call PVM there. So these values are never destroyed, but emptied, by a pthread
//! key of this library: the C library calls such destructors again for what was made meanwhile.

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::LocalKey;

/// A value of each thread, in a `thread_local!`.
pub(crate) struct Own<T: 'static> {
    value: ManuallyDrop<RefCell<T>>,
    is_listed: Cell<bool>,
    next: Cell<Option<Listed>>,
}

/// A value that is to be emptied.
type Listed = NonNull<dyn Empty>;

trait Empty {
    /// Drops what the value holds, and takes it off the list; returns the next one there.
    fn empty(&self) -> Option<Listed>;
}

thread_local! {
    /// The values of this thread that hold something.
    static LIST: Cell<Option<Listed>> = const { Cell::new(None) };
}

impl<T: Default> Own<T> {
    pub(crate) const fn new(value: T) -> Self {
        let value = ManuallyDrop::new(RefCell::new(value));
        Self { value, is_listed: Cell::new(false), next: Cell::new(None) }
    }
}

/// What is in a `thread_local!`, and nothing else, can be used.
pub(crate) trait Kept<T> {
    /// The value of this thread, which is emptied when the thread ends.
    fn kept<R>(&'static self, work: impl FnOnce(&RefCell<T>) -> R) -> R;
}

impl<T: Default> Kept<T> for LocalKey<Own<T>> {
    fn kept<R>(&'static self, work: impl FnOnce(&RefCell<T>) -> R) -> R {
        self.with(|own| {
            if !own.is_listed.replace(true) {
                own.next.set(LIST.replace(Some(NonNull::from_ref(own as &dyn Empty))));
                notice_end();
            }
            work(&own.value)
        })
    }
}

impl<T: Default> Empty for Own<T> {
    fn empty(&self) -> Option<Listed> {
        self.is_listed.set(false);
        let next = self.next.take();
        drop(self.value.take());
        next
    }
}

unsafe extern "C" {
    fn pthread_key_create(
        key: *mut c_uint,
        destructor: Option<extern "C" fn(*mut c_void)>,
    ) -> c_int;
    safe fn pthread_key_delete(key: c_uint) -> c_int;
    safe fn pthread_setspecific(key: c_uint, value: *const c_void) -> c_int;
}

/// No key yet. The C library has 1024, from 0 on.
const NONE: u32 = u32::MAX;
static KEY: AtomicU32 = AtomicU32::new(NONE);

/// The key; without one, if the program has used all of them, nothing is emptied.
fn key() -> Option<c_uint> {
    let known = KEY.load(Ordering::Acquire);
    if known != NONE {
        return Some(known);
    }
    let mut made = NONE;
    // SAFETY: `made` can be written. The destructor belongs to a library that is never unloaded.
    if unsafe { pthread_key_create(&raw mut made, Some(end)) } != 0 {
        return None;
    }
    // No lock: a signal handler may have interrupted this very function.
    match KEY.compare_exchange(NONE, made, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Some(made),
        Err(first) => {
            pthread_key_delete(made);
            Some(first)
        }
    }
}

/// The destructor runs for threads whose value of the key is not null.
fn notice_end() {
    if let Some(key) = key() {
        pthread_setspecific(key, (&raw const KEY).cast());
    }
}

/// This thread ends, or has made something since.
extern "C" fn end(_: *mut c_void) {
    let mut first = LIST.take();
    while let Some(listed) = first {
        // SAFETY: the value is thread-local memory of this thread, which outlives the destructors
        // of keys, and it has no destructor of its own.
        first = unsafe { listed.as_ref() }.empty();
    }
}
