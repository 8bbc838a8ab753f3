//! This process as a task: which one, in which context, and in which child of which fork.

use crate::watch;
use pvm::Task;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock};

static CURRENT: RwLock<Option<&'static Task>> = RwLock::new(None);
static CONTEXT: AtomicI32 = AtomicI32::new(0);
/// Forks between the process that loaded this module and this one.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// The task, once it is one, until it leaves.
pub(crate) fn current() -> Option<&'static Task> {
    *CURRENT.read().unwrap_or_else(PoisonError::into_inner)
}

/// From now on this process is that task, or none.
pub(crate) fn set_current(task: Option<&'static Task>) {
    *CURRENT.write().unwrap_or_else(PoisonError::into_inner) = task;
}

/// The context of calls that name none.
pub(crate) fn context() -> i32 {
    CONTEXT.load(Ordering::Relaxed)
}

/// Changes it.
pub(crate) fn set_context(context: i32) {
    CONTEXT.store(context, Ordering::Relaxed);
}

/// The number of this process, counted by forks.
pub(crate) fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// Called by Python in the child of a fork, which is no task.
#[pyfunction]
pub(crate) fn forked() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    // Nobody else runs here; a thread of the parent may have held the lock.
    if let Ok(mut current) = CURRENT.try_write() {
        *current = None;
    }
    CONTEXT.store(0, Ordering::Relaxed);
    watch::forget_all();
}
