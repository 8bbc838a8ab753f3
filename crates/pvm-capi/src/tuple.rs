//! Tuple spaces, `neotuple.h`.
//!
//! A tuple or a template is built here by its fields; the operations are [`pvm_space`]'s. Waits
//! pass the door of [`crate::guard`] for each look, as all waits do.

mod fields;
mod native;
mod opening;
mod operations;
mod table;

use std::ffi::{CStr, c_char};

use pvm::{Deadline, Forked, Gate, Task, Waiting};
use pvm_space::{Error, Space, Spaces, Ticket};
use pvm_tuples::client::End;
use pvm_wire::{Blob, Code};

use crate::globals;
use crate::guard::inside;
use crate::session;
use crate::waiting::{Limit, Patience};
use table::Table;

/// `NEOTUPLE_INTERFACE`
const INTERFACE: i32 = 4;

static TABLE: Gate<Table> = Gate::new(Table::new());

/// Spaces of the current task, and the task's number among those that this process was.
static SPACES: Gate<Option<&'static Spaces>> = Gate::new(None);

/// The child of a fork has none of its parent's spaces. Tuples are memory and stay.
pub(crate) fn reset_after_fork(forked: &Forked) {
    SPACES.reset_after_fork(forked, || None);
    TABLE.reset_after_fork(forked, Table::new);
    if let Ok(mut spaces) = SPACES.enter() {
        *spaces = None;
    }
    if let Ok(mut table) = TABLE.enter() {
        table.forget_spaces();
    }
}

/// The task leaves.
pub(crate) fn farewell(task: &Task) {
    let known = SPACES.enter().ok().and_then(|spaces| *spaces);
    if let Some(spaces) = known.filter(|known| std::ptr::eq(known.task(), task)) {
        spaces.farewell();
    }
}

/// The status of an error.
fn code_of(error: &Error) -> i32 {
    match error {
        Error::NoSpace => Code::NotFound,
        Error::Exists => Code::Exists,
        Error::Lost | Error::OnDisk(_) => Code::HostFail,
        Error::Full => Code::OutOfRes,
        Error::TooLarge => Code::Overflow,
        Error::ClaimOver => Code::NoTask,
        Error::Formal => Code::BadParam,
        Error::NoServer(_) => Code::NoFile,
        Error::Unsteady => Code::Denied,
        Error::Disk(_) | Error::FilesLeft(_) => Code::NoBuf,
        Error::Machine(code) => *code,
        _ => Code::DSysErr,
    }
    .number()
}

fn status(result: Result<(), Error>) -> i32 {
    result.map_or_else(|error| code_of(&error), |()| 0)
}

/// The spaces of the task that this process is or becomes.
fn spaces() -> Result<&'static Spaces, Code> {
    let task = session::task()?;
    let mut spaces = SPACES.enter()?;
    match *spaces {
        Some(known) if std::ptr::eq(known.task(), task) => Ok(known),
        // Tasks are never freed, either: a waiting call must not lose what it waits for.
        _ => Ok(*spaces.insert(Box::leak(Box::new(Spaces::new(task))))),
    }
}

fn space(handle: i32) -> Result<(&'static Spaces, Space), Error> {
    let spaces = spaces()?;
    let space = TABLE.enter()?.space(handle, spaces.task().tid()).ok_or(Code::BadParam)?;
    Ok((spaces, space))
}

/// Runs `body` inside of the library.
fn within<T>(body: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    inside(|| Ok(body())).map_err(Error::from)?
}

/// Begins a request and waits for its end.
fn finish(begin: impl FnOnce() -> Result<(&'static Spaces, Ticket), Error>) -> Result<End, Error> {
    let (spaces, ticket, mut token, mut wait) = within(|| {
        let token = spaces()?.task().token();
        let (spaces, ticket) = begin()?;
        Ok((spaces, ticket, token, spaces.first_wait(ticket)))
    })?;
    let task: &'static Task = spaces.task();
    loop {
        if let Some(until) = wait {
            Waiting::<Error>::sleep(&mut Patience::by(until), task, token)?;
        }
        token = task.token();
        match within(|| spaces.look(ticket))? {
            Ok(end) => return Ok(end),
            Err(until) => wait = Some(until),
        }
    }
}

fn limit(nanoseconds: i64) -> Limit {
    match u64::try_from(nanoseconds) {
        Err(_) => Deadline::Never,
        Ok(0) => Deadline::Now,
        Ok(n) => Deadline::after(std::time::Duration::from_nanos(n)),
    }
}

/// A space's name.
///
/// # Safety
/// `name` is null or ends with 0.
unsafe fn name(name: *const c_char) -> Result<Blob, Error> {
    // SAFETY: `name` is null, which `text` refuses, or ends with 0.
    let text = unsafe { crate::pointer::text(name) }?;
    if text.is_empty() || text.len() > pvm_space::registry::NAME_BYTES_MAX {
        return Err(Code::BadParam.into());
    }
    Ok(Blob(text.to_vec()))
}

/// The version of the interface.
#[unsafe(no_mangle)]
extern "C" fn neotuple_interface() -> i32 {
    INTERFACE
}

/// The text of a status.
#[unsafe(no_mangle)]
extern "C" fn neotuple_text(status: i32) -> *const c_char {
    let text: &CStr = match Code::from_number(status) {
        _ if status >= 0 => c"Success",
        Some(Code::HostFail) => c"The servers that held the space have died: its tuples are lost",
        Some(Code::OutOfRes) => c"The space is full",
        Some(Code::NoTask) => c"The claim is over",
        Some(Code::NotFound) => c"There is no such space",
        Some(Code::Exists) => c"A space of this name exists",
        Some(Code::DSysErr) => c"The space's server does not answer: it is stopped, or cut off",
        Some(Code::NoBuf) => c"The disk under the space is full, or fails",
        Some(Code::Denied) => c"Others make and delete the space again and again",
        Some(Code::NoFile) => c"The program pvmtuples was not found",
        _ => globals::error_text(status),
    };
    text.as_ptr()
}
