//! The values that each thread owns until its end.
//!
//! Rust's thread-local values with a destructor are gone when the destructors of pthread keys run,
//! and a program may call PVM there. So these values are freed by a pthread key of this library:
//! the C library calls such destructors again for what was made meanwhile. They lie on the heap,
//! and thread-local memory has a pointer only: a library that is loaded by `dlopen` finds 1664
//! bytes of it at most (slang's interpreter loads this one so).

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::LocalKey;

/// A value of each thread, in a `thread_local!`.
pub(crate) struct Own<T: 'static>(Cell<Option<NonNull<Node<T>>>>);

/// A value on the heap.
struct Node<T: 'static> {
    value: RefCell<T>,
    next: Option<Listed>,
    /// The thread-local pointer to this.
    own: NonNull<Own<T>>,
}

/// A value that is to be freed.
type Listed = NonNull<dyn Freed>;

trait Freed {
    /// Takes the value from its thread; returns the next one of the list.
    fn leave(&self) -> Option<Listed>;
}

thread_local! {
    /// The values of this thread.
    static LIST: Cell<Option<Listed>> = const { Cell::new(None) };
}

impl<T: Default> Own<T> {
    /// Made at its first use.
    pub(crate) const fn new() -> Self {
        Self(Cell::new(None))
    }

    #[cold]
    fn make(&self) -> NonNull<Node<T>> {
        let (value, next) = (RefCell::new(T::default()), LIST.take());
        let node =
            NonNull::from(Box::leak(Box::new(Node { value, next, own: NonNull::from_ref(self) })));
        self.0.set(Some(node));
        LIST.set(Some(node));
        notice_end();
        node
    }
}

/// Use of a value in a `thread_local!`, and of nothing else.
pub(crate) trait ThreadOwned<T> {
    /// The value of this thread, which is freed when the thread ends.
    fn kept<R>(&'static self, work: impl FnOnce(&RefCell<T>) -> R) -> R;

    /// True if this thread has used it already.
    fn is_made(&'static self) -> bool;
}

impl<T: Default> ThreadOwned<T> for LocalKey<Own<T>> {
    fn kept<R>(&'static self, work: impl FnOnce(&RefCell<T>) -> R) -> R {
        self.with(|own| {
            let node = own.0.get().unwrap_or_else(|| own.make());
            // SAFETY: only `end` frees it, at the end of this thread, and not from within `work`.
            work(&unsafe { node.as_ref() }.value)
        })
    }

    fn is_made(&'static self) -> bool {
        self.with(|own| own.0.get().is_some())
    }
}

impl<T> Freed for Node<T> {
    fn leave(&self) -> Option<Listed> {
        // SAFETY: it lies in thread-local memory of this thread, which outlives the destructors of
        // keys, and has no destructor of its own.
        unsafe { self.own.as_ref() }.0.set(None);
        self.next
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
        // SAFETY: `make` has leaked it, and what is taken from the list is here only.
        let node = unsafe { Box::from_raw(listed.as_ptr()) };
        first = node.leave();
    }
}
