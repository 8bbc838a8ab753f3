//! A count of arrivals, for a program that waits elsewhere than in this library.

use crate::task::Task;
use pvm_wire::Code;
use std::sync::atomic::Ordering;

impl Task {
    /// A count that grows, and wraps, with what this task has taken in: messages and answers.
    pub fn arrivals(&self) -> u32 {
        self.generation.load(Ordering::Acquire)
    }

    /// The count of arrivals at the last look that found nothing that it wanted;
    /// [`Task::descriptor`] does not report these arrivals again. A program that waits there for
    /// something else looks again when this number has changed.
    pub fn passed_by(&self) -> u64 {
        self.looked.load(Ordering::Acquire)
    }

    /// Takes in all that has arrived and leaves it for others to find.
    ///
    /// # Errors
    /// [`Code::SysErr`] if the daemon is gone.
    pub fn take_in(&self) -> Result<(), Code> {
        let mut state = self.live()?.enter()?;
        self.follow_routes(&mut state);
        let alone = state.is_alone();
        state.pull(alone);
        self.rewatch(&mut state, false);
        Ok(())
    }
}
