//! Event loops that are told when a call has looked past what they wait for.
//!
//! The task's descriptor tells of a message until somebody has looked and wanted another one. Then
//! it is silent, and each loop is told through a socket of its own: no code of Python's runs for
//! that, so nothing can be raised beside a message that was just taken.

use pvm::Task;
use pyo3::prelude::*;
use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

static ARMED: RwLock<Vec<Arc<UnixStream>>> = RwLock::new(Vec::new());
/// The number of those: calls look at it before they wake anybody.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Up to where they were told.
static TOLD: AtomicU64 = AtomicU64::new(u64::MAX);

/// The socket that an event loop watches besides the task's descriptor.
#[pyclass(frozen, module = "neopvm._core")]
pub(crate) struct Watch {
    reader: UnixStream,
    writer: Arc<UnixStream>,
}

#[pymethods]
impl Watch {
    #[new]
    fn new() -> PyResult<Self> {
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        Ok(Self { reader, writer: Arc::new(writer) })
    }

    /// Readable when there was something to tell.
    fn fileno(&self) -> i32 {
        self.reader.as_raw_fd()
    }

    /// From now on it is told.
    fn arm(&self) {
        let mut armed = ARMED.write().unwrap_or_else(PoisonError::into_inner);
        armed.push(self.writer.clone());
        COUNT.store(armed.len(), Ordering::SeqCst);
    }

    /// From now on it is not.
    fn disarm(&self) {
        let mut armed = ARMED.write().unwrap_or_else(PoisonError::into_inner);
        armed.retain(|other| !Arc::ptr_eq(other, &self.writer));
        COUNT.store(armed.len(), Ordering::SeqCst);
    }

    /// Forgets what it was told.
    fn drain(&self) {
        let mut room = [0; 256];
        while matches!((&self.reader).read(&mut room), Ok(count) if count == room.len()) {}
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.disarm();
    }
}

/// Somebody may have looked past what coroutines wait for: their loops look again. All but `by`,
/// who sees to it.
pub(crate) fn looked(task: &Task, by: Option<&Watch>) {
    if COUNT.load(Ordering::SeqCst) == 0 {
        return;
    }
    let until = task.passed_by();
    if TOLD.swap(until, Ordering::AcqRel) == until {
        return;
    }
    tell(by);
}

/// A call may have slept: the one who sleeps takes what the descriptor tells of, and it tells of
/// nothing more until somebody has looked.
pub(crate) fn slept() {
    if COUNT.load(Ordering::SeqCst) > 0 {
        tell(None);
    }
}

fn tell(by: Option<&Watch>) {
    for other in ARMED.read().unwrap_or_else(PoisonError::into_inner).iter() {
        if by.is_none_or(|by| !Arc::ptr_eq(other, &by.writer)) {
            // One that is full is readable already.
            let _ = other.as_ref().write(b"!");
        }
    }
}

/// A new task counts anew.
pub(crate) fn begin() {
    TOLD.store(u64::MAX, Ordering::Release);
}

/// In the child of a fork nobody waits.
pub(crate) fn forget_all() {
    if let Ok(mut armed) = ARMED.try_write() {
        armed.clear();
    }
    COUNT.store(0, Ordering::SeqCst);
}
