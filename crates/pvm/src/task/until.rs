//! The loop of every call that waits: look, sleep, look again.
//!
//! Its order is what keeps a call from sleeping beside its message. The token is taken before the
//! look, so whatever comes behind the look ends the sleep. The end is asked before the look, too,
//! so one look follows the end of the wait.

use super::Task;
use crate::sys::cancellation::shielded;
use crate::wait::{Deadline, WaitToken};
use pvm_wire::Code;

/// The outcome of one look.
#[derive(Clone, Copy, Debug)]
pub enum Step<T> {
    /// The wait is over.
    Done(T),
    /// Something was done that may have changed what there is: look again, also behind the end.
    Again,
    /// There is nothing yet: sleep until something arrives behind this token, which the look was
    /// given, and may have narrowed or extended.
    Sleep(WaitToken),
}

impl<T> Step<T> {
    /// The outcome of a look that finds something or nothing.
    pub fn of(found: Option<T>, token: WaitToken) -> Self {
        found.map_or(Self::Sleep(token), Self::Done)
    }
}

/// The way in which a wait passes its time, and its end.
pub trait Waiting<E> {
    /// True when the next look is the last one.
    fn is_over(&self) -> bool;

    /// Sleeps until something has arrived behind the token, or the end is near.
    ///
    /// # Errors
    /// The error that ends the wait.
    fn sleep(&mut self, task: &Task, token: WaitToken) -> Result<(), E>;
}

/// For callers that own something, or are in the library: the thread is not cancelled meanwhile.
impl<E: From<Code>> Waiting<E> for Deadline {
    fn is_over(&self) -> bool {
        self.passed()
    }

    fn sleep(&mut self, task: &Task, token: WaitToken) -> Result<(), E> {
        // The next look tells what has ended the sleep; only a lost daemon ends the wait.
        Ok(shielded(|| task.wait(token, *self)).map(drop)?)
    }
}

impl Task {
    /// Looks until a look is done, and sleeps between two looks; none when `waiting` is over. No
    /// lock is held during a sleep, and if `waiting` and `look` own nothing, longjmp may leave it.
    ///
    /// # Errors
    /// What `look` or `waiting` says.
    pub fn until<T, E>(
        &self,
        mut waiting: impl Waiting<E>,
        mut look: impl FnMut(WaitToken) -> Result<Step<T>, E>,
    ) -> Result<Option<T>, E> {
        loop {
            let is_last = waiting.is_over();
            match look(self.token())? {
                Step::Done(found) => return Ok(Some(found)),
                Step::Again => {}
                Step::Sleep(_) if is_last => return Ok(None),
                Step::Sleep(token) => waiting.sleep(self, token)?,
            }
        }
    }
}
