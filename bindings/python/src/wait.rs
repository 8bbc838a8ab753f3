//! Waits that let other threads of Python run and that Ctrl-C ends.
//!
//! Between two looks the interpreter is given away. A signal of the program ends the sleep; one
//! that came just before it is seen at the end of a slice.

use crate::failure::{Failure, OrRaise as _, caught};
use crate::interpreter;
use crate::watch;
use pvm::{Deadline, Step, Task, WaitToken, Waiting};
use pvm_wire::Code;
use pvm_wire::request::{Reply, Request};
use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// A signal that came between the look for signals and the sleep waits no longer than this.
const SLICE: Duration = Duration::from_millis(100);
/// A daemon that does not answer within this has failed.
pub(crate) const ANSWER: Duration = Duration::from_secs(60);

/// The error for a request that is too long for a frame to the daemon.
const TOO_LONG: &str =
    "what is asked for has 32 MiB or more, which the daemon does not take; messages may have that";

/// Waits until something has come since `token`, or a slice is over. Then runs what signals have
/// asked for.
pub(crate) fn rest(
    py: Python<'_>,
    task: &Task,
    (token, deadline): (WaitToken, Deadline),
    call: &str,
) -> PyResult<()> {
    let waited = py.detach(|| task.wait(token, slice(deadline)));
    watch::slept();
    py.check_signals()?;
    waited.map(drop).or_raise(py, call)
}

/// The end of a wait, or of its first slice.
pub(crate) fn slice(deadline: Deadline) -> Deadline {
    let slice = Instant::now() + SLICE;
    match deadline {
        Deadline::At(end) if end < slice => Deadline::At(end),
        Deadline::Now => Deadline::Now,
        Deadline::At(_) | Deadline::Never => Deadline::At(slice),
    }
}

/// Looks until `look` finds something or the deadline is over. Nothing is held while it waits.
pub(crate) fn until<T>(
    py: Python<'_>,
    task: &'static Task,
    (deadline, call): (Deadline, &str),
    mut look: impl FnMut() -> Result<Option<T>, Code>,
) -> PyResult<Option<T>> {
    task.until(Slices { py, deadline, call }, |token| {
        Ok(Step::of(caught(&mut look).or_raise(py, call)?, token))
    })
}

/// A wait in slices.
pub(crate) struct Slices<'py, 'a> {
    /// The interpreter.
    pub(crate) py: Python<'py>,
    /// The end of the wait.
    pub(crate) deadline: Deadline,
    /// The call whose errors are raised.
    pub(crate) call: &'a str,
}

impl Waiting<PyErr> for Slices<'_, '_> {
    fn is_over(&self) -> bool {
        self.deadline.passed()
    }

    fn sleep(&mut self, task: &Task, token: WaitToken) -> PyResult<()> {
        rest(self.py, task, (token, self.deadline), self.call)
    }
}

/// Asks the machine without waiting.
pub(crate) fn question(
    py: Python<'_>,
    task: &'static Task,
    request: &Request,
    call: &str,
) -> PyResult<u32> {
    caught(|| task.ask(request)).map_err(|code| match code {
        Code::OutOfRes => Failure::new(code, call).because(TOO_LONG).raise(py),
        code => Failure::new(code, call).raise(py),
    })
}

/// Asks the machine. Requests that take long by their nature wait for ever. An interrupt that came
/// too late to have nothing come of it is raised behind the call.
pub(crate) fn ask(
    py: Python<'_>,
    task: &'static Task,
    (request, patient): (&Request, bool),
    call: &str,
) -> PyResult<Reply> {
    ask_unless(py, task, (request, patient), call, Err)
}

/// Asks the machine; `refused` says which refusals are answers.
pub(crate) fn ask_unless(
    py: Python<'_>,
    task: &'static Task,
    (request, patient): (&Request, bool),
    call: &str,
    refused: fn(Code) -> Result<Option<Reply>, Code>,
) -> PyResult<Reply> {
    let id = question(py, task, request, call)?;
    let (answer, raised) = hear(py, task, (id, patience(patient), call), refused);
    match answer {
        Some(answer) => interpreter::raise_later(raised).map(|()| answer),
        None => raised.and(Err(Code::SysErr).or_raise(py, call)),
    }
}

/// The time for which an answer is waited for.
pub(crate) fn patience(patient: bool) -> Deadline {
    if patient { Deadline::Never } else { Deadline::after(ANSWER) }
}

/// Waits for the machine's answer to a question, and returns it with the exception that was raised
/// meanwhile. When the time is over or an interrupt comes, the question is withdrawn: then there is
/// an answer only if something has come of it all the same. `refused` says which refusals are
/// answers.
pub(crate) fn hear(
    py: Python<'_>,
    task: &'static Task,
    (id, deadline, call): (u32, Deadline, &str),
    refused: fn(Code) -> Result<Option<Reply>, Code>,
) -> (Option<Reply>, PyResult<()>) {
    let mut is_open = true;
    let heard = until(py, task, (deadline, call), || {
        let answer = task.answer(id).or_else(refused);
        is_open = matches!(answer, Ok(None));
        answer
    });
    match heard {
        Ok(None) => withdraw(py, task, (id, call), Ok(())),
        Ok(answer) => (answer, Ok(())),
        Err(error) if is_open => withdraw(py, task, (id, call), Err(error)),
        // A refusal, or the machine has gone.
        Err(error) => (None, Err(error)),
    }
}

/// Gives up a question: what has come of it all the same, or none, and then nothing will. The
/// daemon says that at once, unless it is stopped: the second interrupt waits for nothing any more,
/// and what comes of the question is dropped.
fn withdraw(
    py: Python<'_>,
    task: &'static Task,
    (id, call): (u32, &str),
    mut raised: PyResult<()>,
) -> (Option<Reply>, PyResult<()>) {
    let limit = Deadline::after(ANSWER);
    if task.withdraw_question(id).is_err() {
        return (None, raised);
    }
    loop {
        let mut is_open = true;
        let heard = until(py, task, (limit, call), || {
            let answer = task.answer(id);
            is_open = matches!(answer, Ok(None));
            answer
        });
        match heard {
            Ok(Some(Reply::Withdrawn)) => return (None, raised),
            Ok(Some(answer)) => return (Some(answer), raised),
            Err(error) if is_open && raised.is_ok() => raised = Err(error),
            // Refused: nothing has come of it. Or nobody says.
            Ok(None) | Err(_) => {
                let _ = task.forget(id);
                return (None, raised);
            }
        }
    }
}

/// A limit in seconds as Python gives it: none is for ever, 0 and less not at all.
pub(crate) fn deadline(py: Python<'_>, seconds: Option<f64>, call: &str) -> PyResult<Deadline> {
    match seconds {
        None => Ok(Deadline::Never),
        Some(seconds) if seconds.is_nan() => {
            let failure = Failure::new(Code::BadParam, call);
            Err(failure.because("the timeout is not a number").raise(py))
        }
        Some(seconds) if seconds > 0.0 => {
            let limit = Duration::try_from_secs_f64(seconds);
            Ok(limit.map_or(Deadline::Never, Deadline::after))
        }
        Some(_) => Ok(Deadline::Now),
    }
}
