//! A program as a stream: what each of its tasks does next.

use crate::action::{Action, Matching, TaskNumber};
use crate::error::Error;

/// The tasks of a program, and what each of them does next.
pub trait Source {
    /// How many tasks there are.
    fn tasks(&self) -> TaskNumber;

    /// What a receive takes.
    fn matching(&self) -> Matching;

    /// What a task does next; nothing at its end.
    fn next(&mut self, task: TaskNumber) -> Result<Option<Action>, Error>;
}
