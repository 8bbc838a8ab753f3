//! Tuple spaces: what a program has open, and what it asks of them. Values become fields in
//! [`row`].

use crate::failure::{Failure, caught};
use crate::interpreter;
use crate::session;
use crate::wait;
use crate::watch;
use pvm::{Deadline, Task, WaitToken};
use pvm_space::{Error, Plan, Spaces, Ticket};
use pvm_tuples::client::End;
use pvm_tuples::frames::{Full, Options};
use pvm_tuples::{Find, Op, Outcome, Tuple};
use pvm_wire::{Blob, Code};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use row::{row, tuple};
use std::cell::Cell;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

mod row;

/// Values, names of their types, the claim (0 for none), and how often it came back.
type Looked<'py> = (Bound<'py, PyTuple>, Bound<'py, PyTuple>, u64, u32);

/// The limit of a space whose options give none.
const LIMIT_BYTES: u64 = 1 << 30;

/// Those of the current task. They are never freed: a waiting call must not lose what it waits for.
static SPACES: Mutex<Option<&'static Spaces>> = Mutex::new(None);

/// The spaces of the task that this process is.
fn spaces(py: Python<'_>, call: &str) -> PyResult<&'static Spaces> {
    let Some(task) = session::current() else {
        let cause = "this process is in no machine";
        return Err(Failure::new(Code::SysErr, call).because(cause).raise(py));
    };
    let mut kept = SPACES.lock().unwrap_or_else(PoisonError::into_inner);
    match *kept {
        Some(known) if std::ptr::eq(known.task(), task) => Ok(known),
        _ => Ok(*kept.insert(Box::leak(Box::new(Spaces::resting(task, rest))))),
    }
}

/// The task leaves.
pub(crate) fn farewell(task: &Task) {
    let known = *SPACES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(spaces) = known.filter(|known| std::ptr::eq(known.task(), task)) {
        spaces.farewell();
    }
}

thread_local! {
    /// The exception that a signal's handler has raised in a wait of this thread.
    static RAISED: Cell<Option<PyErr>> = const { Cell::new(None) };
}

/// Waits as [`wait::rest`] does, where the interpreter is given away.
fn rest(task: &'static Task, token: WaitToken, until: Deadline) -> Result<(), Error> {
    let waited = task.wait(token, wait::slice(until));
    watch::slept();
    Python::attach(|py| py.check_signals()).map_err(|raised| {
        RAISED.set(Some(raised));
        Error::Interrupted
    })?;
    Ok(waited.map(drop)?)
}

/// The exception for what went wrong.
fn raise(py: Python<'_>, error: &Error, call: &str) -> PyErr {
    let text = error.to_string();
    let failure = |code| Failure::new(code, call).because(&text);
    if let (Error::Interrupted, Some(raised)) = (error, RAISED.take()) {
        return raised;
    }
    match error {
        Error::NoSpace => failure(Code::NotFound),
        Error::Exists => failure(Code::Exists),
        Error::Lost | Error::OnDisk(_) => failure(Code::HostFail).class("SpaceLostError"),
        Error::Full => failure(Code::OutOfRes),
        Error::TooLarge => failure(Code::Overflow).class("TooLongError"),
        Error::ClaimOver => failure(Code::NoTask).class("ClaimOverError"),
        Error::Formal => failure(Code::BadParam),
        Error::NoServer(_) => failure(Code::NoFile),
        Error::Disk(_) | Error::FilesLeft(_) => failure(Code::NoBuf),
        Error::Unanswered => failure(Code::DSysErr).class("Timeout"),
        Error::Machine(code) => Failure::new(*code, call),
        _ => failure(Code::DSysErr),
    }
    .raise(py)
}

/// A panic in the library is an error as well.
fn guarded<T>(body: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    caught(|| Ok(body())).map_err(Error::from)?
}

fn limit(seconds: Option<f64>) -> Deadline {
    match seconds {
        None => Deadline::Never,
        Some(seconds) if seconds > 0.0 => {
            Duration::try_from_secs_f64(seconds).map_or(Deadline::Never, Deadline::after)
        }
        Some(_) => Deadline::Now,
    }
}

/// Ends waits of other threads.
#[pyclass(frozen, module = "neopvm._core")]
#[derive(Default)]
pub(crate) struct Stop(AtomicBool);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// The wait ends soon, with what it has come to until then.
    fn set(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// An open tuple space.
#[pyclass(frozen, module = "neopvm._core")]
pub(crate) struct Space {
    spaces: &'static Spaces,
    space: pvm_space::Space,
    generation: u32,
}

/// The options of a new space, which `neopvm.space.plan` has checked: copies, limit, the effect of
/// a put in a full space (0 waits, 1 fails, 2 spills), its directory on disk or nothing, its loss
/// window in seconds, whether it is this task's own, and whether there must be none.
type OptionsOfPython = (u8, u64, u8, Vec<u8>, f64, bool, bool);

/// Opens a space, or makes it unless `made` is none. Also returns the note of its server.
#[pyfunction]
pub(crate) fn open_space(
    py: Python<'_>,
    name: &str,
    made: Option<OptionsOfPython>,
) -> PyResult<(Space, String)> {
    const CALL: &str = "space";
    let spaces = spaces(py, CALL)?;
    let refuse = |cause: &str| Failure::new(Code::BadParam, CALL).because(cause).raise(py);
    if name.is_empty() || name.len() > pvm_space::registry::NAME_BYTES_MAX {
        return Err(refuse("a name has 1 to 128 bytes"));
    }
    let made = made.map(|made| plan(made).ok_or_else(|| refuse("the working directory is gone")));
    let plan = made.transpose()?;
    let name = Blob::from(name);
    let opened = py.detach(|| {
        guarded(|| match &plan {
            Some((plan, is_new)) => spaces.open_or_create(&name, plan, *is_new),
            None => Ok((spaces.open(&name)?, Blob::default())),
        })
    });
    watch::slept();
    let (space, note) = opened.map_err(|error| raise(py, &error, CALL))?;
    Ok((Space { spaces, space, generation: session::generation() }, note.to_text()))
}

/// The plan of a space, and whether there must be no such space.
fn plan(made: OptionsOfPython) -> Option<(Plan, bool)> {
    let (copies, limit, full, directory, window, owned, new) = made;
    let options = Options {
        copies,
        limit_bytes: if limit == 0 { LIMIT_BYTES } else { limit },
        when_full: match full {
            0 => Full::Wait,
            1 => Full::Fail,
            _ => Full::Spill,
        },
        loss_ms: milliseconds(window)
            .map_or(0, |window_ms| u32::try_from(window_ms.get()).unwrap_or(u32::MAX)),
    };
    let directory = match &*directory {
        [] => Blob::default(),
        path => pvm_space::directory(path)?,
    };
    Some((Plan { options, owned, directory }, new))
}

/// Deletes a space.
#[pyfunction]
pub(crate) fn delete_space(py: Python<'_>, name: &str) -> PyResult<()> {
    const CALL: &str = "delete_space";
    let spaces = spaces(py, CALL)?;
    let deleted = py.detach(|| guarded(|| spaces.delete(&Blob::from(name))));
    watch::slept();
    deleted.map_err(|error| raise(py, &error, CALL))
}

impl Space {
    fn check(&self, py: Python<'_>, call: &str) -> PyResult<()> {
        let is_own = session::current().is_some_and(|task| std::ptr::eq(task, self.spaces.task()));
        if is_own && self.generation == session::generation() {
            return Ok(());
        }
        let cause = "the space was opened by another process, or this one has left the machine";
        Err(Failure::new(Code::SysErr, call).because(cause).class("ClosedError").raise(py))
    }

    /// Begins an operation and waits for its end. A signal's exception, or `stop`, withdraws it.
    /// A put that is done by then stands, and the exception is raised behind the call; a tuple that
    /// was taken goes back to its place.
    fn perform(
        &self,
        py: Python<'_>,
        (op, deadline): (Op, Deadline),
        stop: Option<&Stop>,
        call: &str,
    ) -> PyResult<Outcome> {
        self.check(py, call)?;
        let task = self.spaces.task();
        let failed = |error: &Error| raise(py, error, call);
        let mut token = task.token();
        let is_look = matches!(op, Op::Find { .. } | Op::Gather { .. });
        let begun = guarded(|| self.spaces.begin(self.space, op, deadline));
        let ticket = begun.map_err(|error| failed(&error))?;
        let mut until = self.spaces.first_wait(ticket);
        loop {
            if let Some(until) = until
                && let Err(raised) = wait::rest(py, task, (token, until), call)
            {
                if !is_look {
                    return self.withdraw(py, ticket, raised, call);
                }
                // What it finds is in the space again: an exception leaves nobody to take it.
                drop(guarded(|| self.spaces.leave(ticket)));
                return Err(raised);
            }
            if stop.is_some_and(|stop| stop.0.load(Ordering::Acquire)) {
                self.cancel(py, ticket, call)?;
            }
            token = task.token();
            match guarded(|| self.spaces.look(ticket)).map_err(|error| failed(&error))? {
                Ok(end) => return ended(end).map_err(|error| failed(&error)),
                Err(next) => until = Some(next),
            }
        }
    }

    fn cancel(&self, py: Python<'_>, ticket: Ticket, call: &str) -> PyResult<()> {
        guarded(|| self.spaces.cancel(ticket)).map_err(|error| raise(py, &error, call))
    }

    fn withdraw(
        &self,
        py: Python<'_>,
        ticket: Ticket,
        raised: PyErr,
        call: &str,
    ) -> PyResult<Outcome> {
        self.cancel(py, ticket, call)?;
        let ended_at = py.detach(|| guarded(|| self.spaces.await_end(ticket)));
        match ended_at.and_then(ended) {
            Ok(Outcome::Nothing) | Err(_) => Err(raised),
            Ok(done) => interpreter::raise_later(Err(raised)).map(|()| done),
        }
    }
}

/// The outcome of an operation that has ended.
fn ended(end: End) -> Result<Outcome, Error> {
    match end {
        End::Answered(Outcome::Failed { reason }) => Err(reason.into()),
        End::Answered(outcome) => Ok(outcome),
        End::Lost => Err(Error::Lost),
        End::Unanswered => Err(Error::Unanswered),
        End::Seen(_) => Err(Code::DSysErr.into()),
    }
}

fn unexpected(py: Python<'_>, call: &str) -> PyErr {
    raise(py, &Error::Machine(Code::DSysErr), call)
}

fn tuples(rows: &Bound<'_, PyList>, call: &str) -> PyResult<Vec<Tuple>> {
    rows.iter().map(|row| tuple(row.cast::<PyTuple>()?, call)).collect()
}

#[pymethods]
impl Space {
    /// Puts rows in one step; false if there was no room in time.
    fn put(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyList>,
        timeout: Option<f64>,
    ) -> PyResult<bool> {
        let deadline = limit(timeout);
        let op = Op::Put { tuples: tuples(rows, "out")?, wait: deadline != Deadline::Now };
        Ok(self.perform(py, (op, deadline), None, "out")? == Outcome::Done)
    }

    /// Looks for a row: its values, its types, the claim and the tries; none if there was none in
    /// time. `how` is 0 for a copy, 1 to take it, 2 to claim it for so many seconds (0: without an
    /// end).
    fn find<'py>(
        &self,
        py: Python<'py>,
        template: &Bound<'py, PyTuple>,
        how: (i32, f64),
        timeout: Option<f64>,
        stop: Option<&Bound<'py, Stop>>,
    ) -> PyResult<Option<Looked<'py>>> {
        let (how, lease) = how;
        let call = ["read", "take"].get(how.unsigned_abs() as usize).unwrap_or(&"claim");
        let how = match how {
            0 => Find::Copy,
            1 => Find::Take,
            _ => Find::Claim { lease_ms: milliseconds(lease) },
        };
        let deadline = limit(timeout);
        let wait = deadline != Deadline::Now;
        let op = Op::Find { template: tuple(template, call)?, how, wait, limit_ms: None };
        match self.perform(py, (op, deadline), stop.map(Bound::get), call)? {
            Outcome::Found { tuple, claim, tries } => {
                let (values, types) = row(py, &tuple)?;
                Ok(Some((values, types, claim.map_or(0, NonZeroU64::get), tries)))
            }
            Outcome::Nothing => Ok(None),
            _ => Err(unexpected(py, call)),
        }
    }

    /// The number of rows that fit.
    fn count(&self, py: Python<'_>, template: &Bound<'_, PyTuple>) -> PyResult<u64> {
        let op = Op::Count { template: tuple(template, "count")? };
        match self.perform(py, (op, Deadline::Never), None, "count")? {
            Outcome::Counted { count } => Ok(count),
            _ => Err(unexpected(py, "count")),
        }
    }

    /// Takes or copies all rows that fit, at most `room`: values and types of each.
    fn gather<'py>(
        &self,
        py: Python<'py>,
        template: &Bound<'py, PyTuple>,
        take: bool,
        room: u64,
    ) -> PyResult<Vec<(Bound<'py, PyTuple>, Bound<'py, PyTuple>)>> {
        let call = if take { "collect" } else { "copy" };
        let op = Op::Gather { template: tuple(template, call)?, take, room };
        match self.perform(py, (op, Deadline::Never), None, call)? {
            Outcome::Gathered { tuples } => tuples.iter().map(|tuple| row(py, tuple)).collect(),
            _ => Err(unexpected(py, call)),
        }
    }

    /// Ends a claim and puts rows in the same step.
    fn done(&self, py: Python<'_>, claim: u64, rows: &Bound<'_, PyList>) -> PyResult<()> {
        let op = Op::Done { claim, tuples: tuples(rows, "done")? };
        self.perform(py, (op, Deadline::Never), None, "done").map(drop)
    }

    /// Ends a claim; its row is in the space again.
    fn give_back(&self, py: Python<'_>, claim: u64) -> PyResult<()> {
        let op = Op::GiveBack { claim };
        self.perform(py, (op, Deadline::Never), None, "give_back").map(drop)
    }

    /// The lease of a claim begins anew.
    fn renew(&self, py: Python<'_>, claim: u64, lease: f64) -> PyResult<()> {
        let op = Op::Renew { claim, lease_ms: milliseconds(lease) };
        self.perform(py, (op, Deadline::Never), None, "renew").map(drop)
    }

    /// Closes it.
    fn close(&self) {
        if self.generation == session::generation() {
            self.spaces.close(self.space);
        }
    }
}

/// A time in whole milliseconds, at least one; none for 0 seconds.
fn milliseconds(seconds: f64) -> Option<NonZeroU64> {
    if seconds <= 0.0 {
        return None;
    }
    let lease = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    NonZeroU64::new(u64::try_from(lease.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX))
}
