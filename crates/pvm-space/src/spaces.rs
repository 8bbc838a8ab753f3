//! A task's side: its open spaces, and its requests.

mod inner;
mod making;
mod plan;
mod requests;

use crate::carry::Post;
use crate::{Error, registry};
use inner::{Inner, Open};
use pvm::{Deadline, Task, WaitToken};
use pvm_tuples::client::{Client, End};
use pvm_tuples::frames::{Ask, Entry, Seen};
use pvm_tuples::{Find, Op, Outcome, Tuple};
use pvm_wire::{Blob, Code};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub use inner::Ticket;
pub use plan::{Plan, directory};

/// The time limit of a call.
pub type Limit = Deadline;

const LOOK: Duration = Duration::from_millis(2);

/// The number of the last request. All requests of this process share one count, whatever their
/// space, because a server tells them apart by it.
static NUMBER: AtomicU64 = AtomicU64::new(1);

/// The function by which calls without a limit of their own wait: until a message has come since
/// the token, until the deadline, or with [`Error::Interrupted`].
pub type Rest = fn(&'static Task, WaitToken, Deadline) -> Result<(), Error>;

/// All open spaces of a task.
pub struct Spaces {
    task: &'static Task,
    rest: Rest,
    begun: Instant,
    inner: Mutex<Inner>,
}

/// An open space: its number in [`Spaces`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Space(u64);

/// A tuple that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The tuple.
    pub tuple: Tuple,
    /// The claim's number, if it was claimed.
    pub claim: Option<NonZeroU64>,
    /// The number of times that it came back from earlier claims.
    pub tries: u32,
}

impl Spaces {
    /// Makes the spaces of a task.
    pub fn new(task: &'static Task) -> Self {
        Self::resting(task, |task, token, until| Ok(task.wait(token, until).map(drop)?))
    }

    /// Makes the spaces of a task whose calls wait by `rest`.
    pub fn resting(task: &'static Task, rest: Rest) -> Self {
        let inner = Inner {
            post: Post::new(task),
            open: BTreeMap::new(),
            watched: BTreeSet::new(),
            asked: BTreeSet::new(),
            created: BTreeMap::new(),
            spaces: BTreeMap::new(),
        };
        Self { task, rest, begun: Instant::now(), inner: Mutex::new(inner) }
    }

    /// The task.
    pub const fn task(&self) -> &'static Task {
        self.task
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A thread that panicked has left a change half done at worst; the other threads go on.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Opens an existing space.
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::Machine`].
    pub fn open(&self, name: &Blob) -> Result<Space, Error> {
        let entry = registry::latest(self.task, name)?;
        let entry = entry.map(|(_, entry)| entry).filter(|entry| !entry.deleted);
        Ok(self.add(name, &entry.ok_or(Error::NoSpace)?))
    }

    fn add(&self, name: &Blob, entry: &Entry) -> Space {
        let mut inner = self.lock();
        let new = || Open { name: name.clone(), client: Client::new(entry), users: 0 };
        inner.open.entry(entry.space).or_insert_with(new).users += 1;
        Space(entry.space)
    }

    fn next(&self) -> u64 {
        NUMBER.fetch_add(1, Ordering::Relaxed)
    }

    /// Closes a space, once for each time that it was opened. Calls that wait in it end with
    /// [`Error::NoSpace`].
    pub fn close(&self, space: Space) {
        let now = self.now();
        let mut inner = self.lock();
        if inner.close(now, space.0) {
            // What is not sent now is sent again: the space is kept until nothing is left to say.
            let _ = self.carry_out(&mut inner, space.0);
            inner.forget_closed();
            drop(inner);
            // Other threads may wait for a request in it.
            self.task.nudge();
        }
    }

    /// The name of an open space.
    pub fn name(&self, space: Space) -> Option<Blob> {
        self.lock().open_space(space.0).map(|open| open.name.clone())
    }

    /// Carries out an operation and waits for its end.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn perform(&self, space: Space, op: Op, limit: Limit) -> Result<Outcome, Error> {
        outcome(self.finish(|| self.begin(space, op, limit))?)
    }

    /// Puts tuples in one step; false if there was no room before the limit.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn put(&self, space: Space, tuples: Vec<Tuple>, limit: Limit) -> Result<bool, Error> {
        let wait = limit != Deadline::Now;
        Ok(self.perform(space, Op::Put { tuples, wait }, limit)? == Outcome::Done)
    }

    /// Finds a tuple; none if none fitted before the limit.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn find(
        &self,
        space: Space,
        template: Tuple,
        how: Find,
        limit: Limit,
    ) -> Result<Option<Found>, Error> {
        let wait = limit != Deadline::Now;
        found(self.perform(space, Op::Find { template, how, wait, limit_ms: None }, limit)?)
    }

    /// The content of a space.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn seen(&self, space: Space, tuples: u64) -> Result<Seen, Error> {
        self.look_by(space, |number| Ask::Look { number, space: space.0, tuples })
    }

    /// One page of the tuples of a space by age, claimed tuples included. `behind` is none for
    /// the first page and then [`Seen::last`] of the page before, which is none at the end.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn page(&self, space: Space, behind: Option<NonZeroU64>) -> Result<Seen, Error> {
        self.look_by(space, |number| Ask::Page { number, space: space.0, behind })
    }

    fn look_by(&self, space: Space, ask: impl FnOnce(u64) -> Ask) -> Result<Seen, Error> {
        let begin =
            || self.begin_with(space, |client, now, number| client.begin(now, ask(number), None));
        match self.finish(begin)? {
            End::Seen(seen) => Ok(seen),
            other => Err(outcome(other).err().unwrap_or(Error::Machine(Code::DSysErr))),
        }
    }

    /// Deletes a space, also one whose servers have died.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn delete(&self, name: &Blob) -> Result<(), Error> {
        let directory = registry::latest(self.task, name)?.map(|(_, entry)| entry.directory);
        let space = self.open(name)?;
        let ended = self.finish(|| {
            self.begin_with(space, |client, now, number| {
                client.begin(now, Ask::Delete { number, space: space.0 }, None);
            })
        });
        self.close(space);
        match outcome(ended?) {
            Err(Error::Lost) => registry::forget_lost(self.task, name),
            Err(Error::Disk(_)) => Err(Error::FilesLeft(directory.unwrap_or_default().to_text())),
            other => other.map(drop),
        }
    }
}

/// The outcome of a request.
///
/// # Errors
/// The reason why it failed.
pub(crate) fn outcome(end: End) -> Result<Outcome, Error> {
    match end {
        End::Answered(Outcome::Failed { reason }) => Err(reason.into()),
        End::Answered(outcome) => Ok(outcome),
        End::Seen(_) => Err(Error::Machine(Code::DSysErr)),
        End::Lost => Err(Error::Lost),
        End::Unanswered => Err(Error::Unanswered),
    }
}

/// The tuple in an outcome.
pub(crate) fn found(outcome: Outcome) -> Result<Option<Found>, Error> {
    match outcome {
        Outcome::Found { tuple, claim, tries } => Ok(Some(Found { tuple, claim, tries })),
        Outcome::Nothing => Ok(None),
        _ => Err(Error::Machine(Code::DSysErr)),
    }
}
