//! Whether calls are noted or traced: one word to look at, which lies in the task's inbox.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// The word that a process looks at while it is no task.
static OFF: AtomicU32 = AtomicU32::new(0);
static WORD: AtomicPtr<AtomicU32> = AtomicPtr::new(ptr::from_ref(&OFF).cast_mut());

/// From now on this word counts; without one nothing is noted.
pub(crate) fn follow(word: Option<&'static AtomicU32>) {
    WORD.store(ptr::from_ref(word.unwrap_or(&OFF)).cast_mut(), Ordering::Release);
}

/// True if a call has something to tell. Nearly always false.
#[inline]
pub(crate) fn is_on() -> bool {
    // SAFETY: `OFF`, or the word of a task, which is never freed.
    unsafe { &*WORD.load(Ordering::Relaxed) }.load(Ordering::Relaxed) != 0
}
