//! Waits that let other threads of Python run and that Ctrl-C ends.
//!
//! Between two looks the interpreter is given away. A signal of the program ends the sleep; one that came just
//! before it is seen at the end of a slice.

use crate::failure::OrRaise as _;
use crate::session;
use pvm::{Deadline, Task, WaitToken};
use pvm_wire::Code;
use pvm_wire::request::{Reply, Request};
use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// A signal that came between the look for signals and the sleep waits no longer than this.
const SLICE: Duration = Duration::from_millis(100);
/// A daemon that does not answer within this has failed.
const ANSWER: Duration = Duration::from_secs(60);

/// Waits until something has come since `token`, or a slice is over. Then runs what signals have asked for.
pub(crate) fn rest(
    py: Python<'_>,
    task: &'static Task,
    (token, deadline): (WaitToken, Deadline),
    call: &str,
) -> PyResult<()> {
    let slice = Instant::now() + SLICE;
    let until = match deadline {
        Deadline::At(end) if end < slice => Deadline::At(end),
        Deadline::Now => Deadline::Now,
        Deadline::At(_) | Deadline::Never => Deadline::At(slice),
    };
    let waited = py.detach(|| task.wait(token, until));
    session::looked(py)?;
    py.check_signals()?;
    waited.map(drop).or_raise(py, call)
}

/// Looks until `look` finds something or the deadline is over. Nothing is held while it waits.
pub(crate) fn until<T>(
    py: Python<'_>,
    task: &'static Task,
    (deadline, call): (Deadline, &str),
    mut look: impl FnMut() -> Result<Option<T>, Code>,
) -> PyResult<Option<T>> {
    loop {
        // Asked before the look: what comes after it is seen by the last one.
        let over = deadline.passed();
        let token = task.token();
        if let Some(found) = look().or_raise(py, call)? {
            return Ok(Some(found));
        }
        if over {
            return Ok(None);
        }
        rest(py, task, (token, deadline), call)?;
    }
}

/// Asks the machine. Requests that take long by their nature wait for ever.
pub(crate) fn ask(
    py: Python<'_>,
    task: &'static Task,
    (request, patient): (&Request, bool),
    call: &str,
) -> PyResult<Reply> {
    let deadline = if patient { Deadline::Never } else { Deadline::after(ANSWER) };
    let id = task.ask(request).or_raise(py, call)?;
    let answer = until(py, task, (deadline, call), || task.answer(id))?;
    answer.ok_or(Code::SysErr).or_raise(py, call)
}

/// A limit in seconds as Python gives it: none is for ever, 0 and less not at all.
pub(crate) fn deadline(seconds: Option<f64>) -> Deadline {
    match seconds {
        None => Deadline::Never,
        Some(seconds) if seconds > 0.0 => {
            Duration::try_from_secs_f64(seconds).map_or(Deadline::Never, Deadline::after)
        }
        Some(seconds) if seconds.is_nan() => Deadline::Never,
        Some(_) => Deadline::Now,
    }
}
