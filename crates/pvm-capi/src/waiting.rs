//! Calls that wait, and handlers of the program that run meanwhile.
//!
//! Such a call is a [`Task::until`] with a [`Patience`]: each look is inside of the library, the
//! sleep between two looks is not. At that moment no frame holds a lock or owns memory, so that
//! handlers may call the library and may leave with `longjmp`.

use std::ffi::c_int;
use std::time::Duration;

use pvm::{Awaited, Step, Task, WaitToken, Waiting, is_alone};
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Code, Tid};

use crate::guard::inside;
use crate::own::{Own, ThreadOwned as _};
use crate::selection::Selection;
use crate::session;

/// A function of the program that takes a message by its buffer number.
pub(crate) type Function = unsafe extern "C" fn(c_int) -> c_int;

/// A function of the program that is to be called outside of the library, before the next look.
#[derive(Clone, Copy)]
pub(crate) struct Errand {
    /// The code that knows how to call it.
    pub(crate) run: fn(&Self),
    /// The function.
    pub(crate) function: Function,
    /// Its argument.
    pub(crate) argument: c_int,
    /// The messages for which the program has registered it; none for the library's own.
    pub(crate) wanted: Option<Selection>,
}

impl Errand {
    /// Calls it.
    pub(crate) fn run(self) {
        (self.run)(&self);
    }
}

/// The result of one look at the messages.
pub(crate) enum Look<T> {
    /// The call is done.
    Done(T),
    /// A message for a handler of the program: run it, then look again.
    Handler(Errand),
    /// Nothing has come yet.
    Nothing,
    /// Nothing has come yet; this token, made of the look's own, says what ends the sleep.
    Sleep(WaitToken),
}

impl<T> Look<T> {
    /// The outcome that `use_it` makes of what was found.
    pub(crate) fn and_then<U>(
        self,
        use_it: impl FnOnce(T) -> Result<U, Code>,
    ) -> Result<Look<U>, Code> {
        Ok(match self {
            Self::Done(found) => Look::Done(use_it(found)?),
            Self::Handler(due) => Look::Handler(due),
            Self::Nothing => Look::Nothing,
            Self::Sleep(token) => Look::Sleep(token),
        })
    }
}

/// The time limit of a call.
pub(crate) type Limit = pvm::Deadline;

/// Looks until something is found or the limit is over (`None`). `look` runs inside the library;
/// it owns nothing, so that the frame may be left by `longjmp` during the wait. A process that
/// leaves the machine meanwhile is told `PvmSysErr`; it does not become another task by waiting.
/// `source`: the only sender whose messages can be found, if there is but one.
pub(crate) fn wait_for<T>(
    limit: Limit,
    source: Option<Tid>,
    mut look: impl FnMut(&'static Task, Awaited) -> Result<Look<T>, Code>,
) -> Result<Option<T>, Code> {
    let mut awaited = Awaited::new(limit, source);
    look_until(Patience::by(limit), |task, token| {
        Ok(match look(task, awaited)? {
            Look::Nothing => Look::Sleep(awaited.narrow(task.tid(), token)),
            found => found,
        })
    })
}

/// [`Task::until`] for the task that the process is or becomes, with each look inside the library
/// and the program's handlers run between two looks.
pub(crate) fn look_until<T>(
    patience: Patience<'_>,
    mut look: impl FnMut(&'static Task, WaitToken) -> Result<Look<T>, Code>,
) -> Result<Option<T>, Code> {
    let task = inside(session::task)?;
    task.until(patience, |token| {
        let looked = inside(|| {
            check_task(task)?;
            look(task, token)
        })?;
        Ok(match looked {
            Look::Done(value) => Step::Done(value),
            Look::Nothing => Step::Sleep(token),
            Look::Sleep(token) => Step::Sleep(token),
            Look::Handler(due) => {
                due.run();
                Step::Again
            }
        })
    })
}

/// A thread that has waited. If it was cancelled in its wait, others do not wait for it.
#[derive(Default)]
struct Waits;

impl Drop for Waits {
    fn drop(&mut self) {
        if let Some(task) = session::current() {
            task.thread_ends();
        }
    }
}

thread_local! {
    static WAITS: Own<Waits> = const { Own::new() };
}

/// The end of this thread is noticed from now on. It is noted inside the library: a handler that
/// waits itself, or leaves by `longjmp`, does not come in the middle.
#[cold]
fn notice_end() -> Result<(), Code> {
    inside(|| {
        WAITS.kept(|_| ());
        Ok(())
    })
}

/// Checks that the process is still the task that has been waiting.
pub(crate) fn check_task(waiting: &Task) -> Result<(), Code> {
    let is_same = session::current().is_some_and(|task| std::ptr::eq(task, waiting));
    if is_same { Ok(()) } else { Err(Code::SysErr) }
}

/// The wait of a call for other tasks.
#[derive(Clone, Copy)]
pub(crate) struct Patience<'a> {
    /// It waits until then.
    pub(crate) limit: Limit,
    /// True once it gives up before.
    pub(crate) enough: &'a dyn Fn() -> bool,
}

impl Patience<'_> {
    /// Without an end.
    pub(crate) const FOR_EVER: Self = Self { limit: Limit::Never, enough: &|| false };

    /// Until a time limit.
    pub(crate) fn by(limit: Limit) -> Self {
        Self { limit, ..Self::FOR_EVER }
    }

    /// The patience for the last word about a question that was given up.
    pub(crate) fn last() -> Self {
        Self::by(Limit::after(LAST_WORD))
    }
}

impl<E: From<Code>> Waiting<E> for Patience<'_> {
    fn is_over(&self) -> bool {
        self.limit.passed() || (self.enough)()
    }

    fn sleep(&mut self, task: &Task, token: WaitToken) -> Result<(), E> {
        if !is_alone() && !WAITS.is_made() {
            notice_end()?;
        }
        // The next look tells what has ended the sleep; only a lost daemon ends the wait.
        Ok(task.wait(token, self.limit).map(drop)?)
    }
}

/// A daemon that does not say within this what came of a question that was given up has failed.
const LAST_WORD: Duration = Duration::from_secs(60);

/// Asks the machine something that it may answer late: the wait is as that for a message.
pub(crate) fn ask(
    request: impl FnOnce(&'static Task) -> Result<Request, Code>,
) -> Result<Reply, Code> {
    ask_until(request, Patience::FOR_EVER)?.ok_or(Code::SysErr)
}

/// Like `ask`, for a caller that may give up: then none, unless the answer has brought something.
pub(crate) fn ask_until(
    request: impl FnOnce(&'static Task) -> Result<Request, Code>,
    patience: Patience<'_>,
) -> Result<Option<Reply>, Code> {
    let (task, id) = inside(|| {
        let task = session::task()?;
        Ok((task, task.ask(&request(task)?)?))
    })?;
    let look = |token| Ok(Step::of(inside(|| task.answer(id))?, token));
    if let Some(reply) = task.until(patience, look)? {
        return Ok(Some(reply));
    }
    inside(|| task.withdraw_question(id))?;
    match task.until(Patience::last(), look)?.ok_or(Code::SysErr)? {
        Reply::Withdrawn => Ok(None),
        reply => Ok(Some(reply)),
    }
}
