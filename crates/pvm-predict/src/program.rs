//! A program as a stream: the next action of each of its tasks.

use crate::action::{Action, Matching, TaskNumber};
use crate::error::Error;

/// The tasks of a program, and what each of them does next.
///
/// What a task does next depends on no other task's reading, so several threads may take turns.
pub trait Source: Send {
    /// The number of tasks.
    fn tasks(&self) -> TaskNumber;

    /// The rule by which a receive takes messages.
    fn matching(&self) -> Matching;

    /// True for a task that another task starts; it does nothing before that.
    fn is_started(&self, _task: TaskNumber) -> bool {
        false
    }

    /// The name of a section of the program.
    fn section(&self, _number: u32) -> Option<&str> {
        None
    }

    /// The next action of a task; none at its end.
    fn next(&mut self, task: TaskNumber) -> Result<Option<Action>, Error>;
}
