//! Failures as Python's exceptions. The classes are written in Python (`neopvm.errors`), which
//! knows the hints.

use crate::kind::held;
use crate::unread::next_run;
use pvm::Buffer;
use pvm_wire::{Code, Envelope};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::panic::{AssertUnwindSafe, catch_unwind};

static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// A failure: its code, its call, and the message that it is about.
#[derive(Debug)]
pub(crate) struct Failure<'a> {
    code: Code,
    call: &'a str,
    task: Option<i32>,
    tag: Option<i32>,
    /// In one sentence, where the code does not say it.
    cause: Option<&'a str>,
    /// A class of `neopvm.errors` other than the code's own.
    class: Option<&'a str>,
}

impl<'a> Failure<'a> {
    pub(crate) const fn new(code: Code, call: &'a str) -> Self {
        Self { code, call, task: None, tag: None, cause: None, class: None }
    }

    pub(crate) const fn of(self, task: i32, tag: i32) -> Self {
        Self { task: Some(task), tag: Some(tag), ..self }
    }

    /// Adds the task and tag of a message that was received, or sent already.
    pub(crate) const fn with(self, envelope: &Envelope) -> Self {
        if envelope.src.0 == 0 {
            return self;
        }
        self.of(envelope.src.as_c_int(), envelope.tag)
    }

    pub(crate) const fn because(self, cause: &'a str) -> Self {
        Self { cause: Some(cause), ..self }
    }

    pub(crate) const fn class(self, class: &'a str) -> Self {
        Self { class: Some(class), ..self }
    }

    /// The exception.
    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        let make = MAKE.get_or_try_init(py, || {
            let made = py.import("neopvm.errors")?.getattr("make")?;
            Ok::<_, PyErr>(made.unbind())
        });
        let Self { code, call, task, tag, cause, class } = self;
        let made = make
            .and_then(|make| make.bind(py).call1((code.number(), call, task, tag, cause, class)));
        made.map_or_else(|error| error, PyErr::from_value)
    }
}

/// The codes of the machine: number, name and text of each.
#[pyfunction]
pub(crate) fn codes() -> Vec<(i32, String, &'static str)> {
    Code::ALL.iter().map(|code| (code.number(), format!("{code:?}"), code.text())).collect()
}

/// A call on a message that is closed.
pub(crate) fn closed(py: Python<'_>, call: &str) -> PyErr {
    Failure::new(Code::NoSuchBuf, call)
        .class("ClosedError")
        .because("the message is closed")
        .raise(py)
}

/// A failure of a message, with whose it is and why.
pub(crate) fn explain(py: Python<'_>, call: &str, code: Code, buffer: &Buffer) -> PyErr {
    let failure = Failure::new(code, call).with(&buffer.envelope());
    let left = buffer.reported_size().saturating_sub(buffer.read_size());
    let text;
    let failure = match code {
        Code::NoData if buffer.view().is_err() => {
            failure.because("its sender died before it was whole").class("BrokenError")
        }
        Code::NoData => {
            text = format!("{left} bytes of it are unread, fewer than asked for");
            failure.because(&text)
        }
        Code::Mismatch => {
            let next = next_run(buffer).map_or("nothing", |run| held(run.shape));
            text = format!("the next items are {next}");
            failure.because(&text).class("WrongTypeError")
        }
        Code::NotImpl => failure
            .because("its items would have to be converted or joined; unpack them")
            .class("WrongTypeError"),
        Code::BadMsg => failure.because(
            "its sender lays out such items otherwise; it must pack in the default encoding",
        ),
        Code::Already => failure
            .because("it was received and is only read, or memory of it is still open")
            .class("UseError"),
        _ => failure,
    };
    failure.raise(py)
}

/// Runs work of the library, whose faults are failures, too: a panic is printed on standard error,
/// and its code is returned.
pub(crate) fn caught<T>(body: impl FnOnce() -> Result<T, Code>) -> Result<T, Code> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(Code::DSysErr))
}

/// Results of the library, in a call that has a name.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception for what went wrong in `call`.
    fn or_raise(self, py: Python<'_>, call: &str) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, Code> {
    fn or_raise(self, py: Python<'_>, call: &str) -> PyResult<T> {
        self.map_err(|code| Failure::new(code, call).raise(py))
    }
}
