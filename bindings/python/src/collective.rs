//! Groups, their barriers, and data of all their members.

use crate::failure::{Failure, OrRaise as _};
use crate::memory::Region;
use crate::message::Message;
use crate::session;
use crate::task::Task;
use crate::wait;
use crate::watch;
use pvm::group::collective::{Arguments, Collective, Combination, Read};
use pvm::reduction::{self, Operation};
use pvm::{Buffer, Deadline};
use pvm_wire::{Code, Kind, Tid};
use pyo3::prelude::*;

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
    let (kind, other) = (x.kind(), y.bytes().to_vec());
    reduction::combine(operation, kind, x.bytes_mut(), &other).or_raise(py, "Reduce")
}

/// Waits for the message of a member as [`pvm::group::collective::patiently`] does, and looks for signals. What
/// Python's code raises meanwhile is left in `raised`.
fn attend(
    py: Python<'_>,
    task: &'static pvm::Task,
    call: &Collective<'_>,
    (from, message): (Tid, &mut Buffer),
    found: &mut dyn FnMut(&mut Buffer) -> Result<(), Code>,
    raised: &mut Option<PyErr>,
) -> Result<(), Code> {
    let mut vigil = call.vigil(from);
    let result = loop {
        let in_vain = match vigil.is_in_vain(task) {
            Ok(in_vain) => in_vain,
            Err(code) => break Err(code),
        };
        let token = vigil.token(task);
        match call.receive(task, from, message) {
            Ok(true) => break found(message),
            Ok(false) if in_vain => break Err(Code::NoTask),
            Ok(false) => {}
            Err(code) => break Err(code),
        }
        if let Err(error) = wait::rest(py, task, (token, Deadline::Never), "group") {
            *raised = Some(error);
            break Err(Code::SysErr);
        }
    };
    vigil.end(task);
    result
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
fn waiting<T: Send>(py: Python<'_>, call: impl FnOnce() -> T + Send) -> T {
    let done = py.detach(call);
    watch::slept();
    done
}

impl Task {
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
        let arguments = Arguments { group: group.as_bytes(), root, tag, kind, count };
        Collective::new(self.task, arguments).map_err(|code| group_failure(py, call, group, code))
    }
}

impl Task {
    fn wait_at_barrier(
        &self,
        py: Python<'_>,
        (group, count): (&str, i32),
        stop: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let (task, name) = (self.task, group.as_bytes());
        let failed = |code| group_failure(py, "barrier", group, code);
        let mut waiting = task.enter_barrier(name, count).map_err(failed)?;
        // Why it was left, if it was.
        let mut left: Option<PyResult<()>> = None;
        loop {
            let token = waiting.token(task);
            waiting = task.look_at_barrier(waiting, name, count).map_err(failed)?;
            if waiting.is_met() || waiting.is_left() {
                return left.unwrap_or(Ok(())).map(|()| waiting.is_met());
            }
            let rested = wait::rest(py, task, (token, Deadline::Never), "barrier");
            let stops = || stop.map_or(Ok(false), |stop| stop.call0()?.extract::<bool>());
            let over = match (&left, rested.and_then(|()| stops())) {
                (Some(_), _) | (None, Ok(false)) => continue,
                (None, over) => over,
            };
            // A member that does not wait any longer is not counted: what comes of it is looked for as before.
            left = Some(over.map(drop));
            waiting = task.leave_barrier(waiting).map_err(failed)?;
        }
    }
}

#[pymethods]
impl Task {
    /// Joins a group; this task's instance number in it.
    fn join(&self, py: Python<'_>, group: &str) -> PyResult<i32> {
        let joined = waiting(py, || self.task.join_group(group.as_bytes()));
        joined.map_err(|code| group_failure(py, "join", group, code))
    }

    /// Leaves a group.
    fn leave_group(&self, py: Python<'_>, group: &str) -> PyResult<()> {
        let left = waiting(py, || self.task.leave_group(group.as_bytes()));
        left.map_err(|code| group_failure(py, "leave_group", group, code))
    }

    /// The members by instance number; 0 where nobody is.
    fn members(&self, py: Python<'_>, group: &str) -> PyResult<Vec<i32>> {
        let members = waiting(py, || self.task.members(group.as_bytes()));
        let members = members.map_err(|code| group_failure(py, "members", group, code))?;
        Ok(members.tids.iter().map(|tid| tid.as_c_int()).collect())
    }

    /// Fixes the members of a group once `size` of them have asked for it; how many they are.
    #[pyo3(signature = (group, size=-1))]
    fn freeze(&self, py: Python<'_>, group: &str, size: i32) -> PyResult<i32> {
        let frozen = waiting(py, || self.task.freeze_group(group.as_bytes(), size));
        frozen.map_err(|code| group_failure(py, "freeze", group, code))
    }

    /// Waits until `count` members (-1: all) have called it.
    #[pyo3(signature = (group, count=-1))]
    fn barrier(&self, py: Python<'_>, group: &str, count: i32) -> PyResult<()> {
        self.wait_at_barrier(py, (group, count), None).map(drop)
    }

    /// The same until `stop()` is true. False: it was left, and does not count this member.
    fn _barrier_unless(
        &self,
        py: Python<'_>,
        group: &str,
        count: i32,
        stop: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        self.wait_at_barrier(py, (group, count), Some(stop))
    }

    /// Sends a message to all members but this task.
    #[pyo3(signature = (message, group, tag=0))]
    fn broadcast_message(
        &self,
        py: Python<'_>,
        message: &Message,
        group: &str,
        tag: i32,
    ) -> PyResult<()> {
        let (task, context) = (self.task, session::context());
        message.sending(py, "broadcast", |buffer| {
            task.broadcast(buffer, group.as_bytes(), tag, context)
        })
    }

    /// Combines the items of all members in the root's, by an operation's name or a function of two buffers.
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
            // The function gets both as buffers of their type and answers the result, or changes the first.
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

    /// Collects the items of all members in the root's `result`, in the order of their instances.
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
        let region = Region::of(items, "Gather")?;
        let kind = region.kind();
        let what = (kind, region.size() / kind.size());
        let call = self.collective(py, ("Gather", group), (root, tag), what)?;
        if !call.is_root() {
            let done = waiting(py, || call.hand_in(self.task, region.bytes()));
            return done.or_raise(py, "Gather");
        }
        let mut whole = whole(py, ("Gather", group), result, &call)?;
        let own = region.bytes().to_vec();
        let mut raised = None;
        let mut take = |call: &Collective<'_>, from: Tid, message: &mut Buffer, read: Read<'_>| {
            attend(py, self.task, call, (from, message), read, &mut raised)
        };
        let done = call.gather(whole.bytes_mut(), Some(&own), &mut take);
        finish(py, ("Gather", group), done, raised)
    }

    /// Gives each member its part of the root's `items`, in the order of their instances.
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
        let mut region = Region::writable(part, "Scatter")?;
        let kind = region.kind();
        let what = (kind, region.size() / kind.size());
        let call = self.collective(py, ("Scatter", group), (root, tag), what)?;
        if call.is_root() {
            let whole = whole(py, ("Scatter", group), items, &call)?;
            let own =
                waiting(py, || call.deal(self.task, whole.bytes())).or_raise(py, "Scatter")?;
            let from = whole.bytes()[own * call.bytes()..][..call.bytes()].to_vec();
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

    /// Waits for a message of a member in the context of collective calls; an error if it died before.
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
            "group '{group}' has {} members: the root's buffer must have {size} bytes of the same type, not {}",
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
    let bytes = |bytes: &[u8]| pyo3::types::PyByteArray::new(py, bytes);
    let folded: Vec<u8> = fold.call1((function, like, bytes(x), bytes(y)))?.extract()?;
    if folded.len() != x.len() {
        return Err(Failure::new(Code::Mismatch, "Reduce")
            .because("the function's result has another size than its arguments")
            .raise(py));
    }
    x.copy_from_slice(&folded);
    Ok(())
}
