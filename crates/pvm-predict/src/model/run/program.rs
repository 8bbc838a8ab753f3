//! The program of a run and its watcher, which the parts of a run share.

use crate::action::{Action, TaskNumber};
use crate::error::Error;
use crate::program::Source;
use crate::report::{Event, Watcher};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A program and its watcher, which parts use one after the other.
pub(super) struct Shared<'a>(Mutex<(&'a mut dyn Source, &'a mut dyn Watcher)>);

impl<'a> Shared<'a> {
    pub(super) fn new(source: &'a mut dyn Source, watcher: &'a mut dyn Watcher) -> Self {
        Self(Mutex::new((source, watcher)))
    }

    fn lock(&self) -> MutexGuard<'_, (&'a mut dyn Source, &'a mut dyn Watcher)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The calls of parts to the program and the watcher.
pub(super) trait Program: Sync {
    fn is_started(&self, task: TaskNumber) -> bool;
    fn next(&self, task: TaskNumber) -> Result<Option<Action>, Error>;
    fn event(&self, event: Event<'_>) -> Result<(), Error>;
    fn goes_on(&self, actions: u64) -> bool;
}

impl Program for Shared<'_> {
    fn is_started(&self, task: TaskNumber) -> bool {
        self.lock().0.is_started(task)
    }

    fn next(&self, task: TaskNumber) -> Result<Option<Action>, Error> {
        self.lock().0.next(task)
    }

    fn event(&self, event: Event<'_>) -> Result<(), Error> {
        self.lock().1.event(event)
    }

    fn goes_on(&self, actions: u64) -> bool {
        self.lock().1.goes_on(actions)
    }
}
