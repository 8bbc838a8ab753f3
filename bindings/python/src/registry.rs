//! Named messages, and contexts.

use crate::failure::{Failure, OrRaise as _};
use crate::machine::unexpected;
use crate::message::{Message, with_message};
use crate::session;
use crate::task::Task;
use crate::wait;
use pvm::Buffer;
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Blob, Code};
use pyo3::prelude::*;

/// `PvmMboxWaitForInfo`
const WAIT: i32 = 32;

fn name_of(py: Python<'_>, name: &str, call: &str) -> PyResult<Blob> {
    if name.is_empty() {
        return Err(Failure::new(Code::BadParam, call).because("a name is not empty").raise(py));
    }
    Ok(Blob(name.as_bytes().to_vec()))
}

/// A name and its entries: index, owner, flags.
type Row = (String, Vec<(i32, i32, i32)>);

/// The answer for a name: the message and its index, or none.
fn named(py: Python<'_>, answer: Reply) -> PyResult<Option<(Message, i32)>> {
    match answer {
        Reply::Info { message, index } => {
            let buffer = Buffer::from_message(message).or_raise(py, "get")?;
            Ok(Some((Message::received(buffer), index)))
        }
        Reply::Done => Ok(None),
        _ => Err(unexpected(py, "get")),
    }
}

/// Adds to an exception the message that an interrupt came too late for: it was taken, and nobody
/// else has it.
fn with_late(py: Python<'_>, error: PyErr, late: Reply) -> PyErr {
    match named(py, late) {
        Ok(Some((message, _))) => with_message(py, error, message),
        _ => error,
    }
}

#[pymethods]
impl Task {
    /// Puts a message under a name; its index.
    fn _put(&self, py: Python<'_>, name: &str, message: &Message, flags: i32) -> PyResult<i32> {
        let name = name_of(py, name, "put")?;
        let mut message = message.copy(py, "put")?;
        message.envelope.src = self.task.tid();
        message.envelope.tag = 0;
        self.number(py, &Request::PutInfo { name, flags, message }, "put")
    }

    /// The message under a name and its index; none if there is none (in time).
    fn _get(
        &self,
        py: Python<'_>,
        name: &str,
        index: i32,
        flags: i32,
        timeout: Option<f64>,
    ) -> PyResult<Option<(Message, i32)>> {
        let name = name_of(py, name, "get")?;
        if index < 0 {
            return Err(Failure::new(Code::BadParam, "get").raise(py));
        }
        let context = session::context();
        let request = Request::RecvInfo { name, index, flags, context };
        let limit = if flags & WAIT == 0 { None } else { timeout };
        let limit = wait::deadline(py, limit, "get")?;
        let id = wait::question(py, self.task, &request, "get")?;
        // When it is over nothing is taken for who does not wait any longer. What was taken already
        // is his.
        let refused = |code| match code {
            Code::NotFound => Ok(Some(Reply::Done)),
            code => Err(code),
        };
        let (answer, raised) = wait::hear(py, self.task, (id, limit, "get"), refused);
        match (answer, raised) {
            (answer, Ok(())) => answer.map_or(Ok(None), |answer| named(py, answer)),
            (Some(late), Err(error)) => Err(with_late(py, error, late)),
            (None, Err(error)) => Err(error),
        }
    }

    fn _delete(&self, py: Python<'_>, name: &str, index: i32) -> PyResult<()> {
        let name = name_of(py, name, "delete")?;
        self.done(py, &Request::DelInfo { name, index, flags: 0 }, "delete")
    }

    /// The names that fit a pattern.
    fn _names(&self, py: Python<'_>, pattern: &str) -> PyResult<Vec<Row>> {
        let request = Request::MailboxInfo { pattern: Blob(pattern.as_bytes().to_vec()) };
        let Reply::Mailboxes { mailboxes } = wait::ask(py, self.task, (&request, false), "names")?
        else {
            return Err(unexpected(py, "names"));
        };
        let rows = mailboxes.iter().map(|class| {
            let entry = |entry: &pvm_wire::request::MailboxEntry| {
                (entry.index, entry.owner.as_c_int(), entry.flags)
            };
            (class.name.to_text(), class.entries.iter().map(entry).collect())
        });
        Ok(rows.collect())
    }

    /// Makes a context that no other task has.
    ///
    /// A receive does not match messages of another context.
    fn new_context(&self, py: Python<'_>) -> PyResult<i32> {
        self.number(py, &Request::NewContext, "new_context")
    }

    /// Gives a context back.
    fn free_context(&self, py: Python<'_>, context: i32) -> PyResult<()> {
        self.done(py, &Request::FreeContext { context }, "free_context")
    }
}
