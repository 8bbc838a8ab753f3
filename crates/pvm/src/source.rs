//! The source of buffers' slabs: the current task, which buffers do not know.

use pvm_shm::Slab;
use std::sync::OnceLock;

static SOURCE: OnceLock<fn(usize) -> Option<Slab>> = OnceLock::new();

/// From now on slabs come from here.
pub(crate) fn set(source: fn(usize) -> Option<Slab>) {
    // The same function every time: only the task behind it changes.
    let _ = SOURCE.set(source);
}

/// A slab for `size` bytes, if the process is a task and the host has memory.
pub(crate) fn slab(size: usize) -> Option<Slab> {
    SOURCE.get().and_then(|source| source(size))
}
