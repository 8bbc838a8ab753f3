//! A message that is packed or read.
//!
//! One thread at a time looks into it; two that do it at the same time take turns. A message that
//! is closed, or whose memory a forked child does not have, answers every call with `ClosedError`.
//! While a view of it is open it cannot be closed, so no view ever shows memory that is gone.

use crate::calls::Call;
use crate::failure::{Failure, OrRaise as _, caught, closed, explain};
use crate::kind::{held, named};
use crate::memory::{self, LONG, Region, View};
use crate::number::{not_of, one, value};
use crate::session::{self, generation};
use crate::target::Target;
use crate::unread::{check_left, check_type, next_run};
use crate::watch;
use pvm::Buffer;
use pvm_wire::record::calls;
use pvm_wire::{Code, Encoding, Envelope, Kind};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyMemoryView, PyString};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// A message: a sequence of items of PVM's types.
///
/// Packing methods return the message itself, so that calls can be chained. A received message can
/// only be read. A message cannot be closed while a view of it is open. Closing it twice does
/// nothing; any other use of a closed message raises `ClosedError`.
#[pyclass(frozen, module = "neopvm", weakref)]
pub(crate) struct Message {
    /// None once it is closed.
    content: Mutex<Option<Buffer>>,
    /// Came from another task, so it is only read.
    received: bool,
    /// The process that made it, counted by forks.
    generation: u32,
    views: AtomicU32,
}

impl Message {
    /// A message that came.
    pub(crate) fn received(buffer: Buffer) -> Self {
        Self::of(buffer, true)
    }

    fn of(buffer: Buffer, received: bool) -> Self {
        Self {
            content: Mutex::new(Some(buffer)),
            received,
            generation: generation(),
            views: AtomicU32::new(0),
        }
    }

    /// From now on it cannot be closed; called with the message in hand.
    fn begin_view(&self) {
        self.views.fetch_add(1, Ordering::AcqRel);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Buffer>> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `body` on the message, with the interpreter in hand.
    fn with<T>(
        &self,
        py: Python<'_>,
        call: &str,
        body: impl FnOnce(&mut Buffer) -> Result<T, Code>,
    ) -> PyResult<T> {
        self.check_process(py, call)?;
        let mut content = loop {
            match self.content.try_lock() {
                Ok(content) => break content,
                Err(TryLockError::Poisoned(content)) => break content.into_inner(),
                // Another thread is at it, perhaps for long: others may run while this one waits.
                Err(TryLockError::WouldBlock) => py.detach(|| drop(self.lock())),
            }
        };
        let Some(buffer) = content.as_mut() else { return Err(closed(py, call)) };
        caught(|| body(buffer)).map_err(|code| explain(py, call, code, buffer))
    }

    /// Does with the message what may take long: other threads of Python run meanwhile.
    fn with_long<T: Send>(
        &self,
        py: Python<'_>,
        call: &str,
        body: impl FnOnce(&mut Buffer) -> Result<T, Code> + Send,
    ) -> PyResult<T> {
        self.check_process(py, call)?;
        let done = py.detach(|| self.lock().as_mut().map(|buffer| caught(|| body(buffer))));
        match done {
            Some(Ok(value)) => Ok(value),
            Some(Err(code)) => self.with(py, call, |_| Err(code)),
            None => Err(closed(py, call)),
        }
    }

    fn with_size<T: Send>(
        &self,
        py: Python<'_>,
        (call, size): (&str, usize),
        body: impl FnOnce(&mut Buffer) -> Result<T, Code> + Send,
    ) -> PyResult<T> {
        if size < LONG { self.with(py, call, body) } else { self.with_long(py, call, body) }
    }

    /// The child of a fork has none of its parent's shared memory.
    fn check_process(&self, py: Python<'_>, call: &str) -> PyResult<()> {
        if self.generation == generation() {
            return Ok(());
        }
        let failure = Failure::new(Code::NoSuchBuf, call).class("ClosedError");
        Err(failure.because("the message belongs to the process that forked this one").raise(py))
    }

    /// Whether it may be packed now; asked with the message in hand.
    fn check_own(&self) -> Result<(), Code> {
        match self.received || self.views.load(Ordering::Acquire) > 0 {
            // Nothing of the library's own says this in these calls.
            true => Err(Code::Already),
            false => Ok(()),
        }
    }

    fn pack_bytes(&self, py: Python<'_>, call: &str, kind: Kind, bytes: &[u8]) -> PyResult<()> {
        self.with_size(py, (call, bytes.len()), |buffer| {
            self.check_own()?;
            buffer.pack(kind, bytes)
        })
    }

    fn pack_values(&self, kind: Kind, values: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = values.py();
        if let Some((bytes, size)) = one(kind, values)? {
            return self.pack_bytes(py, "pack", kind, &bytes[..size]);
        }
        if let Ok(region) = Region::of(values, "pack")
            && region.kind() == kind
        {
            return self.pack_bytes(py, "pack", kind, region.bytes());
        }
        let mut bytes = Vec::new();
        for value in values.try_iter()? {
            let value = value?;
            let Some((item, size)) = one(kind, &value)? else {
                return Err(not_of(py, kind, &value));
            };
            bytes.try_reserve(size).map_err(|_| Failure::new(Code::NoMem, "pack").raise(py))?;
            bytes.extend_from_slice(&item[..size]);
        }
        self.pack_bytes(py, "pack", kind, &bytes)
    }

    /// The next items as Python's objects: one, or a list.
    fn read_values(
        &self,
        py: Python<'_>,
        (kind, convert): (Kind, bool),
        count: Option<usize>,
    ) -> PyResult<Py<PyAny>> {
        let Some(count) = count else {
            let mut item = [0; 16];
            self.with(py, "unpack", |buffer| {
                check_type(buffer, kind, convert)?;
                check_left(buffer, kind, 1)?;
                buffer.unpack(kind, &mut item[..kind.size()])
            })?;
            return value(py, kind, &item[..kind.size()]);
        };
        let bytes = self.with_long(py, "unpack", |buffer| {
            check_type(buffer, kind, convert)?;
            check_left(buffer, kind, count)?;
            let mut bytes = memory::zeros(count.checked_mul(kind.size()).ok_or(Code::NoMem)?)?;
            buffer.unpack(kind, &mut bytes).map(|()| bytes)
        })?;
        // It grows as it is filled: where there is no memory for all that is told, and ends nobody.
        let list = PyList::empty(py);
        bytes.chunks_exact(kind.size()).try_for_each(|item| list.append(value(py, kind, item)?))?;
        Ok(list.into_any().unbind())
    }

    /// Has it sent by `body`, which may wait.
    pub(crate) fn sending(
        &self,
        py: Python<'_>,
        call: &str,
        body: impl FnOnce(&mut Buffer) -> Result<(), Code> + Send,
    ) -> PyResult<()> {
        let sent = self.with_long(py, call, body);
        watch::slept();
        sent
    }

    /// A copy of the whole, for named messages.
    pub(crate) fn copy(&self, py: Python<'_>, call: &str) -> PyResult<pvm_wire::Message> {
        self.with(py, call, |buffer| {
            // One is the copy, the other the frame that it travels in.
            memory::check_room(buffer.data_size().saturating_mul(2))?;
            buffer.to_message()
        })
    }

    fn envelope(&self, py: Python<'_>) -> PyResult<Envelope> {
        self.with(py, "message", |buffer| Ok(buffer.envelope()))
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        if self.generation != generation() {
            let content = self.content.get_mut().unwrap_or_else(PoisonError::into_inner);
            // Its memory is not here: nothing may be given back.
            if let Some(buffer) = content.take().filter(|buffer| !buffer.is_private()) {
                std::mem::forget(buffer);
            }
        }
    }
}

/// The type of this name, or the exception that says which names there are.
fn type_named(py: Python<'_>, name: &str) -> PyResult<Kind> {
    named(name).ok_or_else(|| {
        let cause =
            format!("'{name}' names no type; there are i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 c16");
        Failure::new(Code::BadParam, "message").because(&cause).class("WrongTypeError").raise(py)
    })
}

/// One method for each type: packs a number or a sequence of numbers.
macro_rules! pack_as {
    ($slf:ident, $kind:ident, $values:ident) => {{
        $slf.get().pack_values(Kind::$kind, $values)?;
        Ok($slf)
    }};
}

type Packed<'py> = PyResult<Bound<'py, Message>>;
type Values<'a, 'py> = &'a Bound<'py, PyAny>;

#[pymethods]
impl Message {
    #[new]
    #[pyo3(signature = (encoding=0))]
    fn new(py: Python<'_>, encoding: i32) -> PyResult<Self> {
        match Encoding::from_number(encoding) {
            Some(known @ (Encoding::Default | Encoding::Raw)) => {
                Ok(Self::of(Buffer::new(known), false))
            }
            _ => Err(Failure::new(Code::BadParam, "message")
                .because("the encoding is DEFAULT or RAW")
                .raise(py)),
        }
    }

    /// Packs a number, a sequence of numbers, or a buffer, as items of a type.
    fn pack<'py>(slf: Bound<'py, Self>, kind: &str, values: Values<'_, 'py>) -> Packed<'py> {
        let kind = type_named(slf.py(), kind)?;
        slf.get().pack_values(kind, values)?;
        Ok(slf)
    }

    /// Packs the items of a buffer. The format of the buffer determines their type.
    #[pyo3(name = "Pack")]
    fn pack_buffer<'py>(slf: Bound<'py, Self>, items: Values<'_, 'py>) -> Packed<'py> {
        let region = Region::of(items, "Pack")?;
        slf.get().pack_bytes(slf.py(), "Pack", region.kind(), region.bytes())?;
        Ok(slf)
    }

    /// Packs a string, as `pvm_pkstr` does.
    fn str<'py>(slf: Bound<'py, Self>, text: &Bound<'py, PyString>) -> Packed<'py> {
        let py = slf.py();
        let encoded;
        let text = match text.to_str() {
            Ok(text) => text.as_bytes(),
            Err(_) => {
                encoded = text.call_method1("encode", ("utf-8", "surrogateescape"))?;
                encoded.cast::<PyBytes>()?.as_bytes()
            }
        };
        if text.contains(&0) {
            let failure = Failure::new(Code::BadParam, "str").because("a text holds no 0");
            return Err(failure.raise(py));
        }
        let mut bytes = memory::zeros(text.len() + 1).or_raise(py, "str")?;
        bytes[..text.len()].copy_from_slice(text);
        slf.get().with(py, "str", |buffer| {
            slf.get().check_own()?;
            buffer.pack_str(&bytes)
        })?;
        Ok(slf)
    }

    /// Packs 8-bit integers.
    fn i8<'py>(slf: Bound<'py, Self>, values: Values<'_, 'py>) -> Packed<'py> {
        pack_as!(slf, Byte, values)
    }
    /// Packs 16-bit integers.
    fn i16<'py>(slf: Bound<'py, Self>, values: Values<'_, 'py>) -> Packed<'py> {
        pack_as!(slf, Short, values)
    }
    /// Packs 32-bit integers.
    fn i32<'py>(slf: Bound<'py, Self>, values: Values<'_, 'py>) -> Packed<'py> {
        pack_as!(slf, Int, values)
    }
    /// Packs 64-bit integers.
    fn i64<'py>(slf: Bound<'py, Self>, values: Values<'_, 'py>) -> Packed<'py> {
        pack_as!(slf, Long, values)
    }
    /// Packs unsigned 16-bit integers.
    fn u16<'py>(slf: Bound<'py, Self>, values: Values<'_, 'py>) -> Packed<'py> {
        pack_as!(slf, Ushort, values)
    }
    /// Packs unsigned 32-bit integers.
    fn u32<'py>(slf: Bound<'py, Self>, values: Values<'_, 'py>) -> Packed<'py> {
        pack_as!(slf, Uint, values)
    }
    /// Packs unsigned 64-bit integers.
    fn u64<'py>(slf: Bound<'py, Self>, values: Values<'_, 'py>) -> Packed<'py> {
        pack_as!(slf, Ulong, values)
    }
    /// Packs 32-bit floats.
    fn f32<'py>(slf: Bound<'py, Self>, values: Values<'_, 'py>) -> Packed<'py> {
        pack_as!(slf, Float, values)
    }
    /// Packs 64-bit floats.
    fn f64<'py>(slf: Bound<'py, Self>, values: Values<'_, 'py>) -> Packed<'py> {
        pack_as!(slf, Double, values)
    }
    /// Packs complex numbers of two 32-bit floats.
    fn c64<'py>(slf: Bound<'py, Self>, values: Values<'_, 'py>) -> Packed<'py> {
        pack_as!(slf, Cplx, values)
    }
    /// Packs complex numbers of two 64-bit floats.
    fn c128<'py>(slf: Bound<'py, Self>, values: Values<'_, 'py>) -> Packed<'py> {
        pack_as!(slf, Dcplx, values)
    }

    /// Packs `count` items and returns their memory, which the program fills before it sends the
    /// message.
    ///
    /// The items are sent without a copy to other tasks of this host. Release the memory before
    /// more is packed.
    fn allocate<'py>(
        slf: Bound<'py, Self>,
        kind: &str,
        count: usize,
    ) -> PyResult<Bound<'py, PyMemoryView>> {
        let py = slf.py();
        let (this, kind) = (slf.get(), type_named(py, kind)?);
        let address = this.with(py, "allocate", |buffer| {
            this.check_own()?;
            let address = buffer.allocate(kind, count)?;
            this.begin_view();
            Ok(address)
        })?;
        show(slf, (address, true), (kind, count))
    }

    /// Returns the next item, or the next `count` items as a list.
    ///
    /// Items must be read as the type they were packed as; with `convert` they are converted as PVM
    /// does. Raises `WrongTypeError` or `ShortError`.
    #[pyo3(signature = (kind, count=None, *, convert=false))]
    fn unpack(
        &self,
        py: Python<'_>,
        kind: &str,
        count: Option<usize>,
        convert: bool,
    ) -> PyResult<Py<PyAny>> {
        self.read_values(py, (type_named(py, kind)?, convert), count)
    }

    /// Reads items until the buffer is full.
    #[pyo3(name = "Unpack", signature = (into, *, convert=false))]
    fn unpack_buffer(&self, into: &Bound<'_, PyAny>, convert: bool) -> PyResult<()> {
        let py = into.py();
        let mut region = Region::writable(into, "Unpack")?;
        let (kind, size) = (region.kind(), region.size());
        self.with_size(py, ("Unpack", size), |buffer| {
            check_type(buffer, kind, convert)?;
            check_left(buffer, kind, size / kind.size())?;
            buffer.unpack(kind, region.bytes_mut())
        })
    }

    /// Reads a string.
    fn unpack_str<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes = self.with(py, "unpack_str", |buffer| {
            if buffer.may_be_text() { buffer.unpack_str() } else { Err(Code::Mismatch) }
        })?;
        memory::text(py, &bytes)
    }

    /// Returns a read-only view of the data without a copy.
    ///
    /// Without a `kind` it shows all bytes; else the next `count` items of this type, or all that
    /// follow.
    #[pyo3(signature = (kind=None, count=None))]
    fn view<'py>(
        slf: Bound<'py, Self>,
        kind: Option<&str>,
        count: Option<usize>,
    ) -> PyResult<Bound<'py, PyMemoryView>> {
        let py = slf.py();
        let this = slf.get();
        let Some(kind) = kind else {
            let address = this.with_long(py, "view", |buffer| {
                if buffer.encoding().has_runs() && buffer.runs().len() > 1 {
                    return Err(Code::NotImpl);
                }
                let (address, size) = buffer.view()?;
                this.begin_view();
                Ok((address as usize, size))
            });
            let (address, size) = address?;
            return show(slf, (address as *mut u8, false), (Kind::Byte, size));
        };
        let kind = type_named(py, kind)?;
        let found = this.with_long(py, "view", |buffer| {
            let count = match (count, next_run(buffer)) {
                (Some(count), _) => count,
                (None, Some(run)) => run.count / kind.shape().1,
                (None, None) => buffer.data_size().saturating_sub(buffer.read_size()) / kind.size(),
            };
            check_type(buffer, kind, false)?;
            let address = buffer.view_items(kind, count)?;
            this.begin_view();
            Ok((address as usize, count))
        });
        let (address, count) = found?;
        show(slf, (address as *mut u8, false), (kind, count))
    }

    /// The type of the next item, as C's word; None at the end and for raw data.
    #[getter]
    fn next_type(&self, py: Python<'_>) -> PyResult<Option<&'static str>> {
        let run = self.with(py, "next_type", |buffer| Ok(next_run(buffer)))?;
        Ok(run.map(|run| held(run.shape)))
    }

    /// Moves the read position back to the first item.
    fn rewind(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, "rewind", |buffer| {
            buffer.rewind();
            Ok(())
        })
    }

    /// Sends the message to a task, or to several. It can be sent again.
    #[pyo3(signature = (dest, tag=0, *, context=None))]
    fn send(&self, dest: &Bound<'_, PyAny>, tag: i32, context: Option<i32>) -> PyResult<()> {
        let py = dest.py();
        let target = Target::new(dest, tag, "send")?;
        let Some(sender) = session::current() else {
            return Err(Failure::new(Code::SysErr, "send").raise(py));
        };
        let _call = Call::begin(sender, calls::PYTHON_SEND);
        let context = context.unwrap_or_else(session::context);
        self.sending(py, "send", |buffer| {
            target.check_room(sender.tid(), buffer.data_size())?;
            target.send(sender, buffer, context)
        })
    }

    /// True while a receiver reads what was sent.
    ///
    /// The program must not change allocated memory meanwhile.
    #[getter]
    fn is_being_read(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, "is_being_read", |buffer| Ok(buffer.is_being_read()))
    }

    /// The id of the sender; 0 for a message of this task's own.
    #[getter]
    fn source(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.envelope(py)?.src.as_c_int())
    }

    #[getter]
    fn tag(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.envelope(py)?.tag)
    }

    #[getter]
    fn context(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.envelope(py)?.context)
    }

    /// `DEFAULT` or `RAW`.
    #[getter]
    fn encoding(&self, py: Python<'_>) -> PyResult<i32> {
        self.with(py, "message", |buffer| Ok(buffer.encoding() as i32))
    }

    /// The number of bytes of data.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, "message", |buffer| Ok(buffer.data_size()))
    }

    #[getter]
    fn closed(&self) -> bool {
        self.generation != generation() || self.lock().is_none()
    }

    /// Frees the memory of the message. Raises `ViewOpenError` while a view of it is open.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.generation != generation() {
            return Ok(());
        }
        let taken = py.detach(|| {
            let mut content = self.lock();
            if self.views.load(Ordering::Acquire) > 0 { Err(()) } else { Ok(content.take()) }
        });
        taken.map(drop).map_err(|()| {
            let failure = Failure::new(Code::Already, "close").class("ViewOpenError");
            failure.because("a view of the message is still open").raise(py)
        })
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(
        &self,
        py: Python<'_>,
        _exception: &Bound<'_, pyo3::types::PyTuple>,
    ) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        if self.closed() {
            return "<Message closed>".to_owned();
        }
        let about = self.with(py, "message", |buffer| Ok((buffer.envelope(), buffer.data_size())));
        match about {
            Ok((envelope, size)) if self.received => {
                format!("<Message from {} tag {} {size} bytes>", envelope.src, envelope.tag)
            }
            Ok((_, size)) => format!("<Message {size} bytes>"),
            Err(_) => "<Message closed>".to_owned(),
        }
    }
}

/// An exception with the message that it is about, so that the message is not lost with it.
pub(crate) fn with_message(py: Python<'_>, error: PyErr, message: Message) -> PyErr {
    let message = Py::new(py, message);
    let kept = message.and_then(|message| error.value(py).setattr("message", message));
    kept.err().unwrap_or(error)
}

/// A memoryview of part of a message, which has counted it.
fn show<'py>(
    message: Bound<'py, Message>,
    place: (*mut u8, bool),
    what: (Kind, usize),
) -> PyResult<Bound<'py, PyMemoryView>> {
    let py = message.py();
    let view = View::new((message.into_any().unbind(), end_view), place, what);
    PyMemoryView::from(Bound::new(py, view)?.as_any())
}

/// A view of a message is gone.
fn end_view(message: &Bound<'_, PyAny>) {
    if let Ok(message) = message.cast::<Message>() {
        message.get().views.fetch_sub(1, Ordering::AcqRel);
    }
}
