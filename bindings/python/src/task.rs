//! This process as a task: coming and going, sending and receiving.

use crate::calls::Call;
use crate::failure::{Failure, OrRaise as _, caught};
use crate::memory::{LONG, Region};
use crate::message::{Message, with_message};
use crate::session;
use crate::space;
use crate::target::Target;
use crate::wait;
use crate::watch::{self, Watch};
use pvm::{Awaited, Buffer, Deadline, Pattern};
use pvm_wire::record::{Class, What, calls};
use pvm_wire::{Code, Encoding, Envelope, Tid};
use pyo3::prelude::*;

/// In-place messages from here on may be read by their receiver while they are written.
const IN_PLACE_MIN: usize = 32 << 10;

/// This process as a task. Timeouts are in seconds; a source or tag of -1 matches any.
#[pyclass(frozen, subclass, module = "neopvm._core", weakref)]
pub(crate) struct Task {
    pub(crate) task: &'static pvm::Task,
}

/// Becomes a task of the machine that the environment names; an error if none runs.
#[pyfunction]
pub(crate) fn enrol(py: Python<'_>, program: &str) -> PyResult<()> {
    let task = py.detach(|| pvm::Task::enrol(program.as_bytes(), true)).or_raise(py, "connect")?;
    session::set_context(task.welcome().inherited.context);
    session::set_current(Some(task));
    watch::begin();
    Ok(())
}

fn tid(number: i32) -> Option<Tid> {
    (number != -1).then(|| Tid::from_c_int(number))
}

/// The task and the tag that a receive asks for; -1 for any.
#[derive(Clone, Copy)]
pub(crate) struct Partner {
    source: i32,
    tag: i32,
}

impl Task {
    pub(crate) fn pattern(
        py: Python<'_>,
        Partner { source, tag }: Partner,
        context: Option<i32>,
        call: &str,
    ) -> PyResult<Pattern> {
        let source = tid(source);
        let nobody = source.is_some_and(|source| !source.is_task() && !source.is_daemon());
        if nobody || tag < -1 {
            let cause = if nobody { "the source is no task" } else { "tags are not negative" };
            return Err(Failure::new(Code::BadParam, call).because(cause).raise(py));
        }
        let context = context.unwrap_or_else(session::context);
        Ok(Pattern { context, source, tag: (tag >= 0).then_some(tag) })
    }

    /// The first message that fits, if one comes in time.
    fn receive_buffer(
        &self,
        py: Python<'_>,
        (pattern, deadline): (&Pattern, Deadline),
        call: &str,
    ) -> PyResult<Option<Buffer>> {
        let task = self.task;
        if deadline == Deadline::Now {
            let found = caught(|| task.receive(pattern)).or_raise(py, call);
            watch::looked(task, None);
            return found;
        }
        let is_endless = deadline == Deadline::Never;
        if is_endless {
            task.await_message(Some(pattern));
        }
        let mut buffer = Buffer::vacant();
        // The wait is for the messages of all senders: they would end it at once where they stay in
        // their lanes.
        let awaited = Awaited::new(deadline, None);
        let found = wait::until(py, task, (deadline, call), || {
            let found = task.receive_awaited(pattern, awaited, &mut buffer);
            found.map(|found| found.then_some(()))
        });
        if is_endless {
            task.await_message(None);
        }
        watch::looked(task, None);
        Ok(found?.map(|()| buffer))
    }

    /// Notes what the program says of itself.
    fn tell(&self, call: u16, (class, text): (Class, &str), what: impl FnOnce(u32) -> What) {
        let mut call = Call::begin(self.task, call);
        if call.is_noted() {
            let named = !text.is_empty();
            let name = if named { self.task.number_of(class, text.as_bytes()) } else { 0 };
            call.did(what(name));
        }
    }

    fn late(py: Python<'_>, Partner { source, tag }: Partner, call: &str) -> PyErr {
        let failure = Failure::new(Code::NoData, call).class("Timeout");
        failure.of(source, tag).because("no matching message has arrived in time").raise(py)
    }

    fn send_buffer(
        &self,
        py: Python<'_>,
        (buffer, target): (&mut Buffer, &Target),
        context: Option<i32>,
        call: &str,
    ) -> PyResult<()> {
        let context = context.unwrap_or_else(session::context);
        let (task, size) = (self.task, buffer.data_size());
        let sent = py.detach(|| {
            caught(|| {
                target.check_room(task.tid(), size)?;
                target.send(task, buffer, context)
            })
        });
        watch::slept();
        sent.or_raise(py, call)
    }
}

/// Reads a whole message into a buffer of Python's.
fn read_into(
    py: Python<'_>,
    (buffer, region): (&mut Buffer, &mut Region),
    call: &str,
) -> PyResult<Envelope> {
    let (kind, size) = (region.kind(), region.size());
    let envelope = buffer.envelope();
    let holds = buffer.data_size();
    if holds != size {
        let cause = format!("it holds {holds} bytes and the buffer has room for {size}");
        let class = if holds < size { "ShortError" } else { "TooLongError" };
        let failure = Failure::new(Code::NoData, call).with(&envelope).because(&cause);
        return Err(failure.class(class).raise(py));
    }
    let other = |run: pvm_wire::Run| !run.shape.same_bits(kind.shape().0);
    if buffer.encoding().has_runs() && buffer.runs().iter().any(other) {
        let failure = Failure::new(Code::Mismatch, call).with(&envelope).class("WrongTypeError");
        return Err(failure.because("its items are of another type than the buffer's").raise(py));
    }
    let mut unpack = || caught(|| buffer.unpack(kind, region.bytes_mut()));
    let read = if size < LONG { unpack() } else { py.detach(unpack) };
    match read {
        Ok(()) => Ok(envelope),
        Err(Code::NoData) => {
            let failure = Failure::new(Code::NoData, call).with(&envelope).class("BrokenError");
            Err(failure.because("its sender died before it was whole").raise(py))
        }
        Err(code) => Err(Failure::new(code, call).with(&envelope).raise(py)),
    }
}

#[pymethods]
impl Task {
    /// The task that this process has become.
    #[new]
    fn new(py: Python<'_>) -> PyResult<Self> {
        let task = session::current().ok_or(Code::SysErr).or_raise(py, "connect")?;
        Ok(Self { task })
    }

    /// The id of this task.
    #[getter]
    const fn tid(&self) -> i32 {
        self.task.tid().as_c_int()
    }

    /// The task that spawned this one; None if it was not spawned.
    #[getter]
    fn parent(&self) -> Option<i32> {
        let parent = self.task.welcome().parent;
        (parent > 0).then_some(parent)
    }

    /// The tasks that were spawned by the same call, including this one.
    #[getter]
    fn siblings(&self) -> Vec<i32> {
        let listed = &self.task.welcome().siblings;
        if listed.is_empty() {
            return vec![self.tid()];
        }
        listed.iter().map(|tid| tid.as_c_int()).collect()
    }

    /// False after this task has left, in the child of a fork, and when the daemon has ended.
    #[getter]
    fn is_connected(&self) -> bool {
        self.task.is_alive()
    }

    /// The context of calls that do not name one.
    #[getter]
    fn get_context(&self) -> i32 {
        session::context()
    }

    #[setter]
    fn set_context(&self, context: i32) {
        session::set_context(context);
    }

    /// Leaves the machine. A second call does nothing.
    fn leave(&self, py: Python<'_>) -> PyResult<()> {
        if !self.task.is_alive() {
            return Ok(());
        }
        session::set_current(None);
        py.detach(|| {
            space::farewell(self.task);
            self.task.leave()
        })
        .or_raise(py, "close")
    }

    /// Waits for a message and takes it. Raises `Timeout` when the timeout expires.
    #[pyo3(signature = (source=-1, tag=-1, timeout=None, *, context=None))]
    fn receive(
        &self,
        py: Python<'_>,
        source: i32,
        tag: i32,
        timeout: Option<f64>,
        context: Option<i32>,
    ) -> PyResult<Message> {
        let _call = Call::begin(self.task, calls::PYTHON_RECEIVE);
        let pattern = Self::pattern(py, Partner { source, tag }, context, "receive")?;
        let limit = wait::deadline(py, timeout, "receive")?;
        let found = self.receive_buffer(py, (&pattern, limit), "receive")?;
        found
            .map(Message::received)
            .ok_or_else(|| Self::late(py, Partner { source, tag }, "receive"))
    }

    /// Takes a message that has arrived already. Returns None if there is none.
    #[pyo3(signature = (source=-1, tag=-1, *, context=None))]
    fn try_receive(
        &self,
        py: Python<'_>,
        source: i32,
        tag: i32,
        context: Option<i32>,
    ) -> PyResult<Option<Message>> {
        let _call = Call::begin(self.task, calls::PYTHON_TRY_RECEIVE);
        let pattern = Self::pattern(py, Partner { source, tag }, context, "try_receive")?;
        let found = self.receive_buffer(py, (&pattern, Deadline::Now), "try_receive")?;
        Ok(found.map(Message::received))
    }

    /// A receive for coroutines of the loop that has this watch, and that sees to its others
    /// itself.
    fn _look(
        &self,
        py: Python<'_>,
        wanted: (i32, i32, i32),
        watch: &Watch,
    ) -> PyResult<Option<Message>> {
        let (source, tag, context) = wanted;
        let pattern = Self::pattern(py, Partner { source, tag }, Some(context), "receive")?;
        let found = self.task.receive(&pattern).or_raise(py, "receive")?;
        watch::looked(self.task, Some(watch));
        Ok(found.map(Message::received))
    }

    /// Whether such a message is there, for such a loop.
    fn _peek(&self, py: Python<'_>, wanted: (i32, i32, i32), watch: &Watch) -> PyResult<bool> {
        let (source, tag, context) = wanted;
        let pattern = Self::pattern(py, Partner { source, tag }, Some(context), "receive")?;
        let found = self.task.probe(&pattern).or_raise(py, "receive")?;
        watch::looked(self.task, Some(watch));
        Ok(found.is_some())
    }

    /// Changes when somebody has looked past what others wait for.
    #[getter]
    fn _passed_by(&self) -> u64 {
        self.task.passed_by()
    }

    /// Returns source, tag and size of the first message that matches, without taking it; None if
    /// there is none.
    #[pyo3(signature = (source=-1, tag=-1, *, context=None))]
    fn probe(
        &self,
        py: Python<'_>,
        source: i32,
        tag: i32,
        context: Option<i32>,
    ) -> PyResult<Option<(i32, i32, usize)>> {
        let _call = Call::begin(self.task, calls::PYTHON_PROBE);
        let pattern = Self::pattern(py, Partner { source, tag }, context, "probe")?;
        let found = self.task.probe(&pattern).or_raise(py, "probe")?;
        watch::looked(self.task, None);
        Ok(found.map(|(envelope, size)| (envelope.src.as_c_int(), envelope.tag, size)))
    }

    /// Waits for a message whose items fill the buffer, and returns its source and tag.
    ///
    /// If the message does not fit the buffer, raises `ShortError`, `TooLongError` or
    /// `WrongTypeError` with the message as its `message`.
    #[pyo3(name = "Recv", signature = (into, source=-1, tag=-1, timeout=None, *, context=None))]
    fn receive_into(
        &self,
        into: &Bound<'_, PyAny>,
        source: i32,
        tag: i32,
        timeout: Option<f64>,
        context: Option<i32>,
    ) -> PyResult<(i32, i32)> {
        let py = into.py();
        let _call = Call::begin(self.task, calls::PYTHON_RECV_ITEMS);
        let mut region = Region::writable(into, "Recv")?;
        let pattern = Self::pattern(py, Partner { source, tag }, context, "Recv")?;
        let limit = wait::deadline(py, timeout, "Recv")?;
        let Some(mut buffer) = self.receive_buffer(py, (&pattern, limit), "Recv")? else {
            return Err(Self::late(py, Partner { source, tag }, "Recv"));
        };
        match read_into(py, (&mut buffer, &mut region), "Recv") {
            Ok(envelope) => Ok((envelope.src.as_c_int(), envelope.tag)),
            Err(error) => {
                buffer.rewind();
                Err(with_message(py, error, Message::received(buffer)))
            }
        }
    }

    /// Sends the items of a buffer to a task, or to several.
    ///
    /// The buffer may be changed when the call returns.
    #[pyo3(name = "Send", signature = (items, dest, tag=0, *, context=None))]
    fn send_items(
        &self,
        items: &Bound<'_, PyAny>,
        dest: &Bound<'_, PyAny>,
        tag: i32,
        context: Option<i32>,
    ) -> PyResult<()> {
        let py = items.py();
        let _call = Call::begin(self.task, calls::PYTHON_SEND_ITEMS);
        let region = Region::of(items, "Send")?;
        let target = Target::new(dest, tag, "Send")?;
        // Between hosts the types must go along, as another may lay them out otherwise.
        if region.size() >= IN_PLACE_MIN && target.is_on_host_of(self.task.tid()) {
            let mut buffer = Buffer::new(Encoding::InPlace);
            buffer.pack_in_place(region.kind(), region.in_place()).or_raise(py, "Send")?;
            return self.send_buffer(py, (&mut buffer, &target), context, "Send");
        }
        let mut buffer = Buffer::new(Encoding::Default);
        let kind = region.kind();
        if region.size() < LONG {
            buffer.pack(kind, region.bytes()).or_raise(py, "Send")?;
        } else {
            py.detach(|| buffer.pack(kind, region.bytes())).or_raise(py, "Send")?;
        }
        self.send_buffer(py, (&mut buffer, &target), context, "Send")
    }

    /// Sends the bytes of several buffers as one raw message.
    #[pyo3(signature = (pieces, dest, tag, *, context=None))]
    fn send_pieces(
        &self,
        py: Python<'_>,
        pieces: Vec<Bound<'_, PyAny>>,
        dest: &Bound<'_, PyAny>,
        tag: i32,
        context: Option<i32>,
    ) -> PyResult<()> {
        let _call = Call::begin(self.task, calls::PYTHON_SEND);
        let target = Target::new(dest, tag, "send")?;
        let regions: PyResult<Vec<Region>> =
            pieces.iter().map(|piece| Region::of_bytes(piece, "send")).collect();
        let regions = regions?;
        let size: usize = regions.iter().map(Region::size).sum();
        // To this task itself it is copied anyway, and here it is told where there is no memory for
        // that.
        let long = size >= IN_PLACE_MIN && !target.is_for(self.task.tid());
        let mut buffer = Buffer::new(if long { Encoding::InPlace } else { Encoding::Raw });
        for region in &regions {
            let kind = region.kind();
            let packed = match long {
                true => buffer.pack_in_place(kind, region.in_place()),
                false => buffer.pack(kind, region.bytes()),
            };
            packed.or_raise(py, "send")?;
        }
        self.send_buffer(py, (&mut buffer, &target), context, "send")
    }

    /// Puts a mark with a value into the trace. It has no effect while nobody records.
    #[pyo3(signature = (name, value=0))]
    fn mark(&self, name: &str, value: i64) {
        self.tell(calls::PYTHON_MARK, (Class::Mark, name), |name| What::Mark { name, value });
    }

    /// Says in the trace what the program does from now on; None for nothing more.
    #[pyo3(signature = (name=None))]
    fn state(&self, name: Option<&str>) {
        let name = name.unwrap_or_default();
        self.tell(calls::PYTHON_STATE, (Class::State, name), |name| What::State { name });
    }

    /// Says in the trace how far the program is.
    fn progress(&self, text: &str, done: u64, total: u64) {
        let what = |name| What::Progress { name, done, total };
        self.tell(calls::PYTHON_PROGRESS, (Class::Progress, text), what);
    }

    /// Returns a descriptor that is readable when a message has arrived that no receive or probe
    /// has examined.
    fn fileno(&self, py: Python<'_>) -> PyResult<i32> {
        self.task.descriptor().or_raise(py, "fileno")
    }
}
