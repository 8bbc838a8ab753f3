//! Exposed memory: this task's own, and that of others.
//!
//! Bytes are bytes: buffers are taken whatever their items are, and nothing is converted. Between
//! hosts a change of a word is a question like any other, which an interrupt withdraws; bytes go in
//! steps, with a look for signals between two of them.

use crate::failure::{Failure, OrRaise as _, caught};
use crate::machine::unexpected;
use crate::memory::{self, Region, View};
use crate::session::generation;
use crate::task::Task;
use crate::wait;
use pvm::ExposedMemory;
use pvm_wire::request::{Change, Reply, Request};
use pvm_wire::{Code, Kind, Tid};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyMemoryView, PyTuple};

/// Bytes of one step between hosts.
const STEP: usize = 1 << 20;

/// A piece of exposed memory, for what is said of it.
#[derive(Clone, Copy)]
struct Piece {
    owner: Tid,
    number: u32,
}

impl Piece {
    /// Numbers as Python has them, which may be any.
    fn of(owner: &Bound<'_, PyAny>, number: &Bound<'_, PyAny>, call: &str) -> PyResult<Self> {
        let py = owner.py();
        let refuse = |cause: &str| Failure::new(Code::BadParam, call).because(cause).raise(py);
        let tid = owner.extract::<i32>().map(Tid::from_c_int).ok().filter(|tid| tid.is_task());
        let tid = tid.ok_or_else(|| refuse(&format!("the owner, {}, is no task", shown(owner))))?;
        Ok(Self { owner: tid, number: number_of(number, call)? })
    }

    /// The exception for what went wrong, with what was to be reached and, where an argument is to
    /// blame, which.
    fn failed(
        self,
        py: Python<'_>,
        (task, call): (&Task, &str),
        code: Code,
        (offset, bytes): (u64, usize),
    ) -> PyErr {
        let Self { owner, number } = self;
        let piece = format!("memory {number} of {owner}");
        let cause = match code {
            Code::BadParam => {
                let size = self
                    .size(py, task)
                    .map_or_else(String::new, |size| format!(", which has {size}"));
                format!("{bytes} bytes from {offset} on are not all inside of {piece}{size}")
            }
            Code::Denied => format!("{piece} may only be read"),
            Code::NotFound => format!("{piece} is not exposed"),
            Code::NoTask => format!("{piece}: its owner is gone"),
            Code::HostFail => format!("{piece}: the host of its owner is gone"),
            code => format!("{piece}: {}", code.text()),
        };
        Failure::new(code, call).because(&cause).raise(py)
    }

    fn size(self, py: Python<'_>, task: &Task) -> Option<u64> {
        let Self { owner, number } = self;
        py.detach(|| caught(|| task.task.exposed(owner, number))).ok().map(|(size, _)| size)
    }
}

/// An argument in a sentence, however long its own text is.
fn shown(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string().chars().take(40).collect())
}

/// The number under which memory is exposed.
fn number_of(number: &Bound<'_, PyAny>, call: &str) -> PyResult<u32> {
    number.extract::<u32>().map_err(|_| {
        let cause = format!("{} is no number of memory: those are 0 to 4294967295", shown(number));
        Failure::new(Code::BadParam, call).because(&cause).raise(number.py())
    })
}

/// An offset or a length.
fn bytes_of(value: &Bound<'_, PyAny>, what: &str, call: &str) -> PyResult<u64> {
    value.extract::<u64>().map_err(|_| {
        let cause = format!("{what} {} is no number of bytes", shown(value));
        Failure::new(Code::BadParam, call).because(&cause).raise(value.py())
    })
}

/// A word of memory: four or eight bytes.
#[derive(Clone, Copy)]
enum WordSize {
    Four,
    Eight,
}

impl WordSize {
    fn of(py: Python<'_>, (size, offset): (u32, u64), call: &str) -> PyResult<Self> {
        let refuse = |cause: &str| Err(Failure::new(Code::BadParam, call).because(cause).raise(py));
        let word = match size {
            4 => Self::Four,
            8 => Self::Eight,
            _ => return refuse(&format!("words have 4 or 8 bytes, not {size}")),
        };
        if offset.is_multiple_of(size.into()) {
            Ok(word)
        } else {
            refuse(&format!("offset {offset} is no multiple of the word's {size} bytes"))
        }
    }

    const fn size(self) -> usize {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    /// The bits of a number that fits, with or without a sign.
    fn bits(self, value: &Bound<'_, PyAny>, call: &str) -> PyResult<u64> {
        let fits = match self {
            Self::Four => value
                .extract::<i32>()
                .map(|value| u64::from(value.cast_unsigned()))
                .or_else(|_| value.extract::<u32>().map(u64::from)),
            Self::Eight => {
                value.extract::<i64>().map(i64::cast_unsigned).or_else(|_| value.extract::<u64>())
            }
        };
        fits.map_err(|_| {
            let cause = format!("{} does not fit in {} bytes", shown(value), self.size());
            Failure::new(Code::BadParam, call).because(&cause).raise(value.py())
        })
    }

    /// With its sign.
    const fn signed(self, bits: u64) -> i64 {
        match self {
            Self::Four => (bits as u32).cast_signed() as i64,
            Self::Eight => bits.cast_signed(),
        }
    }

    const fn add(self, add: u64) -> Change {
        match self {
            Self::Four => Change::Add4 { add: add as u32 },
            Self::Eight => Change::Add8 { add },
        }
    }

    const fn exchange(self, expected: u64, wanted: u64) -> Change {
        match self {
            Self::Four => Change::Exchange4 { expected: expected as u32, wanted: wanted as u32 },
            Self::Eight => Change::Exchange8 { expected, wanted },
        }
    }
}

/// Memory that this task exposes, see `Machine.expose`. The end of a `with` withdraws it.
///
/// The memory stays valid as long as this object or a view of it exists. After it has been
/// withdrawn, only this process uses it.
#[pyclass(frozen, module = "neopvm._core", weakref)]
pub(crate) struct Exposed {
    task: &'static pvm::Task,
    number: u32,
    held: ExposedMemory,
    writable: bool,
    /// The process that exposes it, counted by forks.
    generation: u32,
}

#[pymethods]
impl Exposed {
    /// The number that this task has chosen for the memory.
    #[getter]
    const fn number(&self) -> u32 {
        self.number
    }

    /// True if other tasks may write the memory.
    #[getter]
    const fn writable(&self) -> bool {
        self.writable
    }

    /// The size of the memory.
    #[getter]
    fn nbytes(&self) -> usize {
        self.held.memory().bytes
    }

    /// The memory itself, as bytes. Other tasks may read and write it at the same time.
    ///
    /// `numpy.frombuffer` makes it an array. The child of a fork must not use it.
    #[getter]
    fn view(slf: Bound<'_, Self>) -> PyResult<Bound<'_, PyMemoryView>> {
        let (py, this) = (slf.py(), slf.get());
        if this.generation != generation() {
            let failure = Failure::new(Code::NoSuchBuf, "view");
            return Err(failure.because("the memory is that of the parent process").raise(py));
        }
        let memory = this.held.memory();
        let place = (memory.address, true);
        let what = (Kind::Byte, memory.bytes);
        let view = View::new((slf.into_any().unbind(), |_| ()), place, what);
        PyMemoryView::from(Bound::new(py, view)?.as_any())
    }

    /// Ends the exposure: other tasks get `NotFoundError`. A second call does nothing.
    fn withdraw(&self, py: Python<'_>) -> PyResult<()> {
        if self.generation != generation() || !self.task.is_alive() {
            return Ok(());
        }
        // The number may be another memory's by now, which is not this one's to end.
        let address = self.held.memory().address as usize;
        let withdraw = || match self.task.hold(self.number) {
            Ok(held) if held.memory().address as usize == address => {
                self.task.withdraw(self.number)
            }
            _ => Ok(()),
        };
        py.detach(|| caught(withdraw)).or_raise(py, "withdraw")
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.withdraw(py)
    }

    fn __len__(&self) -> usize {
        self.nbytes()
    }

    fn __repr__(&self) -> String {
        let rights = if self.writable { "writable" } else { "read-only" };
        format!("<Exposed {} {} bytes {rights}>", self.number, self.nbytes())
    }
}

impl Task {
    /// True if what it exposes lies in the memory of this host.
    fn is_near(&self, piece: Piece) -> bool {
        piece.owner.host() == self.task.tid().host()
    }

    /// Copies in one piece on this host, and in steps from or to another. `step` is given where a
    /// piece begins and ends.
    fn in_steps(
        &self,
        py: Python<'_>,
        (piece, size): (Piece, usize),
        mut step: impl FnMut(usize, usize) -> Result<(), Code> + Send,
    ) -> PyResult<Result<(), Code>> {
        let length = if self.is_near(piece) { size.max(1) } else { STEP };
        let mut from = 0;
        loop {
            let to = size.min(from + length);
            let done = py.detach(|| caught(|| step(from, to)));
            if done.is_err() || to == size {
                return Ok(done);
            }
            py.check_signals()?;
            from = to;
        }
    }

    fn get(
        &self,
        py: Python<'_>,
        (piece, offset): (Piece, u64),
        out: &mut [u8],
        call: &str,
    ) -> PyResult<()> {
        let (Piece { owner, number }, size) = (piece, out.len());
        let done = self.in_steps(py, (piece, size), |from, to| {
            let at = offset.checked_add(from as u64).ok_or(Code::BadParam)?;
            self.task.get(owner, number, at, &mut out[from..to])
        })?;
        done.map_err(|code| piece.failed(py, (self, call), code, (offset, size)))
    }

    fn change(
        &self,
        py: Python<'_>,
        (piece, offset): (Piece, u64),
        (word, change): (WordSize, Change),
        call: &str,
    ) -> PyResult<i64> {
        let before = if self.is_near(piece) {
            let Piece { owner, number } = piece;
            py.detach(|| caught(|| self.task.change(owner, number, offset, change)))
        } else {
            self.change_far(py, (piece, offset), change, call)?
        };
        let failed = |code| piece.failed(py, (self, call), code, (offset, word.size()));
        before.map(|before| word.signed(before)).map_err(failed)
    }

    /// A question to the owner's host.
    fn change_far(
        &self,
        py: Python<'_>,
        (piece, offset): (Piece, u64),
        change: Change,
        call: &str,
    ) -> PyResult<Result<u64, Code>> {
        let Piece { owner, number } = piece;
        let request = Request::ChangeMemory { owner, number, offset, change };
        let refused = |code| Ok(Some(Reply::Failed { code }));
        match wait::ask_unless(py, self.task, (&request, false), call, refused)? {
            Reply::Word { before } => Ok(Ok(before)),
            Reply::Failed { code } => Ok(Err(code)),
            _ => Err(unexpected(py, call)),
        }
    }
}

#[pymethods]
impl Task {
    /// Exposes new memory, all 0, under a number that this task chooses.
    ///
    /// All tasks of the machine may read the memory and, if it is `writable`, write it; this task
    /// makes no call for that. The exposure ends with the task. Raises `UseError` if the number is
    /// in use.
    #[pyo3(signature = (number, nbytes, *, writable=false))]
    fn expose(
        &self,
        number: &Bound<'_, PyAny>,
        nbytes: &Bound<'_, PyAny>,
        writable: bool,
    ) -> PyResult<Exposed> {
        let (py, call) = (number.py(), "expose");
        let (number, size) = (number_of(number, call)?, bytes_of(nbytes, "the size", call)?);
        let exposed = py.detach(|| {
            caught(|| self.task.expose(number, size, writable).and_then(|_| self.task.hold(number)))
        });
        let held = exposed.map_err(|code| {
            let (cause, class) = match code {
                Code::Already => (format!("this task exposes memory {number} already"), "UseError"),
                Code::BadParam => ("memory of no bytes".to_owned(), "UseError"),
                Code::NoMem => (format!("there is no memory for {size} bytes"), "FullError"),
                code => return Failure::new(code, call).raise(py),
            };
            Failure::new(code, call).because(&cause).class(class).raise(py)
        })?;
        Ok(Exposed { task: self.task, number, held, writable, generation: generation() })
    }

    /// Ends an exposure: other tasks get `NotFoundError`.
    fn withdraw(&self, number: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, number) = (number.py(), number_of(number, "withdraw")?);
        py.detach(|| caught(|| self.task.withdraw(number))).map_err(|code| {
            let piece = Piece { owner: self.task.tid(), number };
            piece.failed(py, (self, "withdraw"), code, (0, 0))
        })
    }

    /// Returns the size of the memory that a task exposes under a number, and whether other tasks
    /// may write it.
    fn exposed(
        &self,
        owner: &Bound<'_, PyAny>,
        number: &Bound<'_, PyAny>,
    ) -> PyResult<(u64, bool)> {
        let (py, piece) = (owner.py(), Piece::of(owner, number, "exposed")?);
        let Piece { owner, number } = piece;
        let found = py.detach(|| caught(|| self.task.exposed(owner, number)));
        found.map_err(|code| piece.failed(py, (self, "exposed"), code, (0, 0)))
    }

    /// Fills a buffer with bytes that a task exposes, beginning at `offset`; or returns `into`
    /// bytes.
    ///
    /// Nothing is converted. On one host, aligned words of 4 or 8 bytes are read as a whole. Raises
    /// `NotFoundError`, `NoTaskError` if the owner has ended, `HostError` if its host has left, or
    /// `UseError` if the bytes are not all inside the memory.
    #[pyo3(signature = (owner, number, offset, into))]
    fn get_memory<'py>(
        &self,
        owner: &Bound<'py, PyAny>,
        number: &Bound<'py, PyAny>,
        offset: &Bound<'py, PyAny>,
        into: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let (py, call) = (owner.py(), "get_memory");
        let (piece, offset) = (Piece::of(owner, number, call)?, bytes_of(offset, "offset", call)?);
        if into.is_instance_of::<PyInt>() {
            let size = usize::try_from(bytes_of(into, "the size", call)?).unwrap_or(usize::MAX);
            // What is not there is refused before memory is taken for it.
            if size > STEP && piece.size(py, self).is_some_and(|room| room < size as u64) {
                return Err(piece.failed(py, (self, call), Code::BadParam, (offset, size)));
            }
            let mut bytes = memory::zeros(size).or_raise(py, call)?;
            self.get(py, (piece, offset), &mut bytes, call)?;
            return Ok(Some(PyBytes::new(py, &bytes)));
        }
        let mut region = Region::writable_bytes(into, call)?;
        self.get(py, (piece, offset), region.bytes_mut(), call).map(|()| None)
    }

    /// Writes the bytes of a buffer to memory that a task exposes, beginning at `offset`.
    ///
    /// The copy is complete when the call returns. Raises the errors of `get_memory`, and
    /// `DeniedError` if the memory may only be read.
    fn put_memory(
        &self,
        owner: &Bound<'_, PyAny>,
        number: &Bound<'_, PyAny>,
        offset: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (py, call) = (owner.py(), "put_memory");
        let (piece, offset) = (Piece::of(owner, number, call)?, bytes_of(offset, "offset", call)?);
        let region = Region::of_bytes(data, call)?;
        let (Piece { owner, number }, bytes) = (piece, region.bytes());
        let done = self.in_steps(py, (piece, bytes.len()), |from, to| {
            let at = offset.checked_add(from as u64).ok_or(Code::BadParam)?;
            self.task.put(owner, number, at, &bytes[from..to])
        })?;
        done.map_err(|code| piece.failed(py, (self, call), code, (offset, bytes.len())))
    }

    /// Adds to an aligned word of `size` bytes (4 or 8) atomically, modulo 2**32 or 2**64.
    ///
    /// Returns the previous value as a signed number. The change is made once for each call that
    /// returns; after `HostError` it is unknown whether it was made.
    #[pyo3(signature = (owner, number, offset, add, *, size=8))]
    fn add_memory(
        &self,
        owner: &Bound<'_, PyAny>,
        number: &Bound<'_, PyAny>,
        offset: &Bound<'_, PyAny>,
        add: &Bound<'_, PyAny>,
        size: u32,
    ) -> PyResult<i64> {
        let (py, call) = (owner.py(), "add_memory");
        let (piece, offset) = (Piece::of(owner, number, call)?, bytes_of(offset, "offset", call)?);
        let word = WordSize::of(py, (size, offset), call)?;
        let change = word.add(word.bits(add, call)?);
        self.change(py, (piece, offset), (word, change), call)
    }

    /// Sets a word to `wanted` if it is `expected`, atomically, as `add_memory`.
    ///
    /// Returns the previous value; the word was set if that is `expected`.
    #[pyo3(signature = (owner, number, offset, expected, wanted, *, size=8))]
    fn exchange_memory(
        &self,
        owner: &Bound<'_, PyAny>,
        number: &Bound<'_, PyAny>,
        offset: &Bound<'_, PyAny>,
        expected: &Bound<'_, PyAny>,
        wanted: &Bound<'_, PyAny>,
        size: u32,
    ) -> PyResult<i64> {
        let (py, call) = (owner.py(), "exchange_memory");
        let (piece, offset) = (Piece::of(owner, number, call)?, bytes_of(offset, "offset", call)?);
        let word = WordSize::of(py, (size, offset), call)?;
        let change = word.exchange(word.bits(expected, call)?, word.bits(wanted, call)?);
        self.change(py, (piece, offset), (word, change), call)
    }
}
