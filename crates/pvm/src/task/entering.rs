//! The lock on a task's state: how a thread enters it, and what others are told when it leaves.

use super::Task;
use crate::state::State;
use crate::sys::gate::{self, GateGuard};
use pvm_wire::Code;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;

impl Task {
    /// Enters the gate; messages that are put aside inside are announced to other threads on
    /// leaving.
    #[inline]
    pub(crate) fn enter(&self) -> Result<Inside<'_>, Code> {
        let state = self.state.enter()?;
        // It may be over since this call began.
        if state.is_none() {
            return Err(Code::SysErr);
        }
        Ok(Inside { state, task: self })
    }

    /// Takes all that has arrived out of the lanes, so that a wait for something else may sleep.
    pub(crate) fn pull(&self) -> Result<(), Code> {
        let mut state = self.enter()?;
        let alone = state.is_alone();
        state.pull(alone);
        Ok(())
    }

    /// From now on rosters stay mapped, as this thread looks at one. A wait that longjmp leaves
    /// never ends, which costs no more than the memory of groups that are gone.
    pub(crate) fn begin_group_wait(&self) {
        self.group_waits.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn end_group_wait(&self) {
        self.group_waits.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn has_group_waits(&self) -> bool {
        self.group_waits.load(Ordering::Relaxed) != 0
    }
}

/// The state, while this thread has the gate and there is one.
pub(crate) struct Inside<'a> {
    state: GateGuard<'a, Option<State>>,
    task: &'a Task,
}

impl Inside<'_> {
    /// True if an arrival has to wake nobody: neither another thread, which would lie down only
    /// after this one has left, nor the program on its descriptor.
    pub(crate) fn is_alone(&self) -> bool {
        !self.state.has_sleeper() && !self.task.waiter.watched.load(Ordering::Relaxed)
    }
}

impl Deref for Inside<'_> {
    type Target = State;
    #[inline]
    fn deref(&self) -> &State {
        self.state.as_ref().expect(ENTERED)
    }
}

impl DerefMut for Inside<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut State {
        self.state.as_mut().expect(ENTERED)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let task = self.task;
        let state = &mut **self;
        let answers = state.connection.take_news();
        // A thread that has found nothing and does not sleep yet must look again for messages of
        // which neither a lane nor the inbox tells.
        let hidden = !gate::is_alone() && state.holds_more();
        task.aside.follow(state.stands_aside());
        if std::mem::take(&mut state.news) | answers | hidden
            && task.waiter.announce(&task.generation)
        {
            // It sleeps on the doorbell, and the message or answer that it waits for came to us.
            task.ring(state);
        }
    }
}

const ENTERED: &str = "who enters looks whether it is there, and nobody takes it away meanwhile";
