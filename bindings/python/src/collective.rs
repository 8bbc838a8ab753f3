//! Groups, their barriers, and data of all their members.

use crate::calls::Call;
use crate::failure::{Failure, OrRaise as _, caught};
use crate::interpreter;
use crate::machine::unexpected;
use crate::memory::{Region, copied};
use crate::message::Message;
use crate::session;
use crate::task::Task;
use crate::wait;
use crate::watch;
use pvm::group::barrier::BarrierWait;
use pvm::group::collective::{Arguments, Collective, Combination, Read};
use pvm::reduction::{self, Operation};
use pvm::{Buffer, Deadline, Members, Step, WaitToken, Waiting};
use pvm_wire::record::calls;
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Blob, Code, Context, Kind, Tag, Tid};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use std::ops::ControlFlow;
use std::sync::Arc;

fn operation(py: Python<'_>, name: &str) -> PyResult<Operation> {
    Ok(match name {
        "max" => Operation::Max,
        "min" => Operation::Min,
        "sum" => Operation::Sum,
        "prod" => Operation::Product,
        _ => {
            let cause = format!("'{name}' is no operation; there are max, min, sum and prod");
            return Err(Failure::new(Code::BadParam, "Reduce").because(&cause).raise(py));
        }
    })
}

/// Makes the first buffer the result of both, element by element.
#[pyfunction]
pub(crate) fn combine(
    name: &str,
    into: &Bound<'_, PyAny>,
    other: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let py = into.py();
    let operation = operation(py, name)?;
    let (mut x, y) = (Region::writable(into, "Reduce")?, Region::of(other, "Reduce")?);
    if x.kind() != y.kind() || x.size() != y.size() {
        return Err(Failure::new(Code::Mismatch, "Reduce").raise(py));
    }
    let (kind, other) = (x.kind(), copied(py, y.bytes(), "Reduce")?);
    reduction::combine(operation, kind, x.bytes_mut(), &other).or_raise(py, "Reduce")
}

/// Waits for the message of a member as [`pvm::group::collective::patiently`] does, and looks for
/// signals. What Python's code raises meanwhile is left in `raised`.
fn attend(
    py: Python<'_>,
    task: &'static pvm::Task,
    call: &Collective<'_>,
    (from, message): (Tid, &mut Buffer),
    found: &mut dyn FnMut(&mut Buffer) -> Result<(), Code>,
    raised: &mut Option<PyErr>,
) -> Result<(), Code> {
    let mut vigil = call.vigil(from);
    let result = task.until(Raising(py, raised), |token| {
        let in_vain = vigil.is_in_vain(task)?;
        let token = vigil.narrow(task, token);
        if call.receive(task, &vigil, message)? {
            return found(message).map(Step::Done);
        }
        if in_vain { Err(Code::NoTask) } else { Ok(Step::Sleep(token)) }
    });
    vigil.end(task);
    result.map(drop)
}

/// A wait without an end that leaves the exception that has ended it here.
struct Raising<'py, 'a>(Python<'py>, &'a mut Option<PyErr>);

impl Waiting<Code> for Raising<'_, '_> {
    fn is_over(&self) -> bool {
        false
    }

    fn sleep(&mut self, task: &pvm::Task, token: WaitToken) -> Result<(), Code> {
        wait::rest(self.0, task, (token, Deadline::Never), "group").map_err(|error| {
            *self.1 = Some(error);
            Code::SysErr
        })
    }
}

/// The end of a collective call: what was raised counts first.
fn finish(
    py: Python<'_>,
    (call, group): (&str, &str),
    result: Result<(), Code>,
    raised: Option<PyErr>,
) -> PyResult<()> {
    match (raised, result) {
        (Some(error), _) => Err(error),
        (None, Ok(())) => Ok(()),
        (None, Err(Code::NoTask)) => {
            let cause = format!("a member of group '{group}' died before it did its part");
            Err(Failure::new(Code::NoTask, call).because(&cause).raise(py))
        }
        (None, Err(Code::NoData)) => {
            let cause = format!("a member of group '{group}' sent fewer items than asked for");
            Err(Failure::new(Code::NoData, call).because(&cause).raise(py))
        }
        (None, Err(code)) => Err(group_failure(py, call, group, code)),
    }
}

fn group_failure(py: Python<'_>, call: &str, group: &str, code: Code) -> PyErr {
    let cause = format!("group '{group}': {}", code.text());
    Failure::new(code, call).because(&cause).raise(py)
}

/// Does what may wait, without the interpreter.
fn waiting<T: Send>(
    py: Python<'_>,
    call: impl FnOnce() -> Result<T, Code> + Send,
) -> Result<T, Code> {
    let done = py.detach(|| caught(call));
    watch::slept();
    done
}

/// An answer for the one who knows what was asked of which group.
#[allow(clippy::unnecessary_wraps, reason = "it stands where others refuse")]
const fn told(code: Code) -> Result<Option<Reply>, Code> {
    Ok(Some(Reply::Failed { code }))
}

/// The number of an answer; what is just done is 0.
fn number(py: Python<'_>, reply: &Reply, call: &str) -> PyResult<i32> {
    match reply {
        Reply::Number { value } => Ok(*value),
        Reply::Done => Ok(0),
        _ => Err(unexpected(py, call)),
    }
}

impl Task {
    /// Asks the machine something about a group: its answer, and what was raised when it was too
    /// late to call the question back. `patient`: it may take long by its nature.
    fn heard(
        &self,
        py: Python<'_>,
        (call, group): (&str, &str),
        (request, patient): (&Request, bool),
    ) -> PyResult<(Reply, PyResult<()>)> {
        let failed = |code| group_failure(py, call, group, code);
        let id = caught(|| self.task.ask(request)).map_err(failed)?;
        let (answer, raised) = wait::hear(py, self.task, (id, wait::patience(patient), call), told);
        match answer {
            Some(Reply::Failed { code }) => raised.and(Err(failed(code))),
            Some(reply) => Ok((reply, raised)),
            None => raised.and_then(|()| Err(failed(Code::SysErr))),
        }
    }

    /// Has the machine do something with a group. An interrupt that came when it was done already
    /// is raised behind the call.
    fn asked(
        &self,
        py: Python<'_>,
        names: (&str, &str),
        request: (&Request, bool),
    ) -> PyResult<Reply> {
        let (reply, raised) = self.heard(py, names, request)?;
        interpreter::raise_later(raised).map(|()| reply)
    }

    /// The members. The host's page says who they are; until that is here, the daemon is asked in a
    /// way that an interrupt ends.
    fn present(&self, py: Python<'_>, (call, group): (&str, &str)) -> PyResult<Arc<Members>> {
        let (task, name) = (self.task, group.as_bytes());
        let failed = |code| group_failure(py, call, group, code);
        if let Some(members) = task.members_at_hand(name).map_err(failed)? {
            return Ok(members);
        }
        let request = Request::GroupMembers { group: Blob(name.to_vec()) };
        let (reply, raised) = self.heard(py, (call, group), (&request, false))?;
        // Nothing was done, and the call may wait from here on.
        raised?;
        let Reply::Members { tids, frozen } = reply else { return Err(unexpected(py, call)) };
        let listed = waiting(py, || task.listed_members(name)).map_err(failed)?;
        Ok(listed.unwrap_or_else(|| Arc::new(Members { tids, frozen })))
    }

    fn collective<'a>(
        &self,
        py: Python<'_>,
        (call, group): (&str, &'a str),
        (root, tag): (i32, i32),
        (kind, count): (Kind, usize),
    ) -> PyResult<Collective<'a>> {
        let refuse = |cause| Failure::new(Code::BadParam, call).because(cause).raise(py);
        if count == 0 {
            return Err(refuse(
                "there are no items; collective calls take one at least, as PVM's do",
            ));
        }
        if matches!(kind, Kind::Ushort | Kind::Uint | Kind::Ulong) {
            return Err(refuse("items of collective calls are signed, as PVM's are"));
        }
        let members = self.present(py, (call, group))?;
        let arguments = Arguments { group: group.as_bytes(), root, tag, kind, count };
        let made = Collective::among(self.task, arguments, || Ok(members));
        made.map_err(|code| group_failure(py, call, group, code))
    }

    fn wait_at_barrier(
        &self,
        py: Python<'_>,
        (group, count): (&str, i32),
        stop: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let (task, name) = (self.task, group.as_bytes());
        let failed = |code| group_failure(py, "barrier", group, code);
        self.present(py, ("barrier", group))?;
        let mut waiting = task.enter_barrier(name, count).map_err(failed)?;
        let mut left = None;
        loop {
            let token = task.token();
            let looked = task.look_at_barrier(waiting, name, count);
            waiting = match after_look(looked, &mut left) {
                ControlFlow::Continue(waiting) => waiting,
                ControlFlow::Break(over) => return over.map_err(|over| over.raise(failed)),
            };
            let Step::Sleep(token) = waiting.step(token) else { continue };
            let limit = left.as_ref().map_or(Deadline::Never, |left| left.limit);
            let rested = wait::rest(py, task, (token, limit), "barrier");
            if let Some(left) = &left {
                // A second interrupt: it is not waited for a daemon that does not answer.
                rested.map_err(|again| left.first(py).unwrap_or(again))?;
                continue;
            }
            let stops = || stop.map_or(Ok(false), |stop| stop.call0()?.extract::<bool>());
            let raised = match rested.and_then(|()| stops()) {
                Ok(false) => continue,
                over => over.map(drop),
            };
            // A member that does not wait any longer is not counted: what comes of it is looked for
            // as before.
            left = Some(Left { raised, limit: wait::patience(false) });
            waiting = task.leave_barrier(waiting).map_err(failed)?;
        }
    }
}

/// The reason why a member waits no longer, and the moment until which the machine may report the
/// outcome.
struct Left {
    raised: PyResult<()>,
    limit: Deadline,
}

impl Left {
    /// The exception that was raised first.
    fn first(&self, py: Python<'_>) -> Option<PyErr> {
        self.raised.as_ref().err().map(|error| error.clone_ref(py))
    }
}

/// The reason why a wait at a barrier has no result.
enum Unmet {
    Raised(PyErr),
    Failed(Code),
}

impl Unmet {
    fn raise(self, failed: impl FnOnce(Code) -> PyErr) -> PyErr {
        match self {
            Self::Raised(error) => error,
            Self::Failed(code) => failed(code),
        }
    }
}

/// Whether the wait goes on after a look; if not, whether the barrier was met. An interrupt that
/// came too late to leave it is raised behind the call.
fn after_look(
    looked: Result<BarrierWait, Code>,
    left: &mut Option<Left>,
) -> ControlFlow<Result<bool, Unmet>, BarrierWait> {
    let is_late = left.as_ref().is_some_and(|left| left.limit.passed());
    let is_met = match looked {
        Ok(waiting) if waiting.is_met() => Ok(true),
        Ok(waiting) if waiting.is_left() => Ok(false),
        Ok(waiting) if !is_late => return ControlFlow::Continue(waiting),
        Ok(_) => Err(Code::SysErr),
        Err(code) => Err(code),
    };
    let raised = left.take().map_or(Ok(()), |left| left.raised);
    ControlFlow::Break(match is_met {
        Ok(true) => interpreter::raise_later(raised).map(|()| true).map_err(Unmet::Raised),
        Ok(false) => raised.map(|()| false).map_err(Unmet::Raised),
        Err(code) => raised.map_err(Unmet::Raised).and(Err(Unmet::Failed(code))),
    })
}

#[pymethods]
impl Task {
    /// Joins a group and returns this task's instance number.
    fn join(&self, py: Python<'_>, group: &str) -> PyResult<i32> {
        let _call = Call::begin(self.task, calls::PYTHON_JOIN);
        let request = self.task.joining(group.as_bytes());
        let request = request.map_err(|code| group_failure(py, "join", group, code))?;
        number(py, &self.asked(py, ("join", group), (&request, false))?, "join")
    }

    /// Leaves a group.
    fn leave_group(&self, py: Python<'_>, group: &str) -> PyResult<()> {
        let _call = Call::begin(self.task, calls::PYTHON_LEAVE_GROUP);
        let request = self.task.leaving(group.as_bytes());
        let request = request.map_err(|code| group_failure(py, "leave_group", group, code))?;
        self.asked(py, ("leave_group", group), (&request, false)).map(drop)
    }

    /// Returns the ids of the members in the order of instance numbers, with 0 for a number that no
    /// member has.
    fn members(&self, py: Python<'_>, group: &str) -> PyResult<Vec<i32>> {
        let members = self.present(py, ("members", group))?;
        Ok(members.tids.iter().map(|tid| tid.as_c_int()).collect())
    }

    /// Waits until `size` members (-1: all) have called it, and returns the number of members.
    ///
    /// From then on no task can join the group.
    #[pyo3(signature = (group, size=-1))]
    fn freeze(&self, py: Python<'_>, group: &str, size: i32) -> PyResult<i32> {
        let request = Request::FreezeGroup { group: Blob(group.as_bytes().to_vec()), size };
        number(py, &self.asked(py, ("freeze", group), (&request, true))?, "freeze")?;
        let kept = waiting(py, || self.task.keep_frozen(group.as_bytes()));
        kept.map_err(|code| group_failure(py, "freeze", group, code))
    }

    /// Waits until `count` members (-1: all) have called it. Raises `NoTaskError` if one of them
    /// died.
    ///
    /// An interrupted call leaves the barrier, which does not count it. If the barrier was met
    /// already, the call returns, and the interrupt is raised after it.
    #[pyo3(signature = (group, count=-1))]
    fn barrier(&self, py: Python<'_>, group: &str, count: i32) -> PyResult<()> {
        let _call = Call::begin(self.task, calls::PYTHON_BARRIER);
        self.wait_at_barrier(py, (group, count), None).map(drop)
    }

    /// Waits in the barrier until `stop()` is true. False: it was left, and does not count this
    /// member.
    fn _barrier_unless(
        &self,
        py: Python<'_>,
        group: &str,
        count: i32,
        stop: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        self.wait_at_barrier(py, (group, count), Some(stop))
    }

    /// Sends a message to all members except this task.
    #[pyo3(signature = (message, group, tag=0))]
    fn broadcast_message(
        &self,
        py: Python<'_>,
        message: &Message,
        group: &str,
        tag: i32,
    ) -> PyResult<()> {
        let _call = Call::begin(self.task, calls::PYTHON_BROADCAST);
        let (task, context) = (self.task, session::context());
        self.present(py, ("broadcast", group))?;
        message.sending(py, "broadcast", |buffer| {
            task.broadcast(buffer, group.as_bytes(), Tag(tag), Context(context))
        })
    }

    /// Combines the items of all members in the root's buffer.
    ///
    /// `op` is 'max', 'min', 'sum', 'prod', or a function of two arrays that returns the result or
    /// changes the first.
    #[pyo3(name = "Reduce", signature = (op, items, group, root=0, tag=0))]
    fn reduce(
        &self,
        op: &Bound<'_, PyAny>,
        items: &Bound<'_, PyAny>,
        group: &str,
        root: i32,
        tag: i32,
    ) -> PyResult<()> {
        let py = items.py();
        let _call = Call::begin(self.task, calls::PYTHON_REDUCE);
        let mut region = Region::writable(items, "Reduce")?;
        let kind = region.kind();
        let what = (kind, region.size() / kind.size());
        let call = self.collective(py, ("Reduce", group), (root, tag), what)?;
        if !call.is_root() {
            let done = waiting(py, || call.hand_in(self.task, region.bytes()));
            return done.or_raise(py, "Reduce");
        }
        let mut raised = None;
        let mut function_raised = None;
        let name = op.extract::<String>().ok();
        let mut fold = |x: &mut [u8], y: &mut [u8]| -> Result<(), Code> {
            // The function gets both as buffers of their type and answers the result, or changes
            // the first.
            let folded = fold_by(op, items, (x, y));
            folded.map_err(|error| {
                function_raised = Some(error);
                Code::SysErr
            })
        };
        let mut how = match &name {
            Some(name) => Combination::Known(operation(py, name)?),
            None => Combination::Function(&mut fold),
        };
        let mut take = |call: &Collective<'_>, from: Tid, message: &mut Buffer, read: Read<'_>| {
            attend(py, self.task, call, (from, message), read, &mut raised)
        };
        let result = call.combine(region.bytes_mut(), &mut how, &mut take);
        finish(py, ("Reduce", group), result, function_raised.or(raised))
    }

    /// Collects the items of all members in the root's `result`, in the order of instance numbers.
    #[pyo3(name = "Gather", signature = (items, result, group, root=0, tag=0))]
    fn gather_items(
        &self,
        items: &Bound<'_, PyAny>,
        result: Option<&Bound<'_, PyAny>>,
        group: &str,
        root: i32,
        tag: i32,
    ) -> PyResult<()> {
        let py = items.py();
        let _call = Call::begin(self.task, calls::PYTHON_GATHER);
        let region = Region::of(items, "Gather")?;
        let kind = region.kind();
        let what = (kind, region.size() / kind.size());
        let call = self.collective(py, ("Gather", group), (root, tag), what)?;
        if !call.is_root() {
            let done = waiting(py, || call.hand_in(self.task, region.bytes()));
            return done.or_raise(py, "Gather");
        }
        let mut whole = whole(py, ("Gather", group), result, &call)?;
        let own = copied(py, region.bytes(), "Gather")?;
        let mut raised = None;
        let mut take = |call: &Collective<'_>, from: Tid, message: &mut Buffer, read: Read<'_>| {
            attend(py, self.task, call, (from, message), read, &mut raised)
        };
        let done = call.gather(whole.bytes_mut(), Some(&own), &mut take);
        finish(py, ("Gather", group), done, raised)
    }

    /// Stores in each member's `part` its part of the root's `items`.
    #[pyo3(name = "Scatter", signature = (items, part, group, root=0, tag=0))]
    fn scatter_items(
        &self,
        items: Option<&Bound<'_, PyAny>>,
        part: &Bound<'_, PyAny>,
        group: &str,
        root: i32,
        tag: i32,
    ) -> PyResult<()> {
        let py = part.py();
        let _call = Call::begin(self.task, calls::PYTHON_SCATTER);
        let mut region = Region::writable(part, "Scatter")?;
        let kind = region.kind();
        let what = (kind, region.size() / kind.size());
        let call = self.collective(py, ("Scatter", group), (root, tag), what)?;
        if call.is_root() {
            let whole = whole(py, ("Scatter", group), items, &call)?;
            let own =
                waiting(py, || call.deal(self.task, whole.bytes())).or_raise(py, "Scatter")?;
            let from = &whole.bytes()[own * call.bytes()..][..call.bytes()];
            let from = copied(py, from, "Scatter")?;
            region.bytes_mut().copy_from_slice(&from);
            return Ok(());
        }
        let mut raised = None;
        let mut take = |call: &Collective<'_>, from: Tid, message: &mut Buffer, read: Read<'_>| {
            attend(py, self.task, call, (from, message), read, &mut raised)
        };
        let done = call.receive_part(region.bytes_mut(), &mut take);
        finish(py, ("Scatter", group), done, raised)
    }

    /// Waits for a message of a member in the context of collective calls; an error if it died
    /// before.
    fn _from_member(
        &self,
        py: Python<'_>,
        group: &str,
        from: i32,
        root: i32,
        tag: i32,
    ) -> PyResult<Message> {
        let call = self.collective(py, ("collective", group), (root, tag), (Kind::Byte, 1))?;
        let (mut message, mut raised) = (Buffer::vacant(), None);
        let awaited = (Tid::from_c_int(from), &mut message);
        let done = attend(py, self.task, &call, awaited, &mut |_| Ok(()), &mut raised);
        finish(py, ("collective", group), done, raised)?;
        Ok(Message::received(message))
    }
}

/// The root's buffer, which has the items of all members.
fn whole(
    py: Python<'_>,
    (name, group): (&str, &str),
    buffer: Option<&Bound<'_, PyAny>>,
    call: &Collective<'_>,
) -> PyResult<Region> {
    let wrong = |cause: &str| {
        Failure::new(Code::BadParam, name).because(cause).class("WrongTypeError").raise(py)
    };
    let Some(buffer) = buffer else {
        return Err(wrong("the root needs a buffer for the items of all members"));
    };
    let region = match name {
        "Gather" => Region::writable(buffer, name)?,
        _ => Region::of(buffer, name)?,
    };
    let size = call.bytes().saturating_mul(call.size());
    if region.kind() != call.arguments.kind || region.size() != size {
        let cause = format!(
            "group '{group}' has {} members: the root's buffer must have {size} bytes of the same \
             type, not {}",
            call.size(),
            region.size()
        );
        return Err(wrong(&cause));
    }
    Ok(region)
}

/// Calls a function of Python's with two buffers; its result becomes the first.
fn fold_by(
    function: &Bound<'_, PyAny>,
    like: &Bound<'_, PyAny>,
    (x, y): (&mut [u8], &mut [u8]),
) -> PyResult<()> {
    let py = function.py();
    let fold = py.import("neopvm.collective")?.getattr("fold")?;
    let bytes = |bytes: &[u8]| {
        PyByteArray::new_with(py, bytes.len(), |room| {
            room.copy_from_slice(bytes);
            Ok(())
        })
    };
    let folded = fold.call1((function, like, bytes(x)?, bytes(y)?))?;
    let folded = Region::of_bytes(&folded, "Reduce")?;
    if folded.size() != x.len() {
        return Err(Failure::new(Code::Mismatch, "Reduce")
            .because("the function's result has another size than its arguments")
            .raise(py));
    }
    x.copy_from_slice(folded.bytes());
    Ok(())
}
