//! Memory across the border: buffers of Python's objects for messages, and messages as buffers for
//! Python.
//!
//! A [`Region`] holds the object's export for as long as it lives, so the memory neither moves nor
//! goes. Another thread of Python may write there at the same time, as with any buffer: then it is
//! not defined which bytes are sent or kept, and nothing else is harmed, as nothing here decides by
//! what it has read.

use crate::failure::{Failure, OrRaise as _};
use crate::kind;
use pvm::ProgramMemory;
use pvm_wire::{Code, Kind};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_int;
use std::ptr;

/// Copies from here on let other threads of Python run meanwhile, and may wait for a message that
/// is still being written: such have 32 KiB at least.
pub(crate) const LONG: usize = 16 << 10;

/// Memory of that many bytes, all 0.
pub(crate) fn zeros(size: usize) -> Result<Vec<u8>, Code> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| Code::NoMem)?;
    bytes.resize(size, 0);
    Ok(bytes)
}

/// A copy.
pub(crate) fn copied(py: Python<'_>, bytes: &[u8], call: &str) -> PyResult<Vec<u8>> {
    let mut copy = zeros(bytes.len()).or_raise(py, call)?;
    copy.copy_from_slice(bytes);
    Ok(copy)
}

/// Whether there is room for so many bytes now: asked before the library makes a copy that it
/// cannot be without.
pub(crate) fn check_room(size: usize) -> Result<(), Code> {
    let mut room: Vec<u8> = Vec::new();
    room.try_reserve_exact(size).map_err(|_| Code::NoMem)?;
    // Not to be left out as useless.
    std::hint::black_box(&mut room);
    Ok(())
}

/// A text of these bytes; what is not UTF-8 in it is kept as `os.fsdecode` does.
pub(crate) fn text<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let size = bytes.len().cast_signed();
    // SAFETY: the interpreter copies so many bytes, and gives a new reference or raises.
    unsafe {
        let text =
            ffi::PyUnicode_DecodeUTF8(bytes.as_ptr().cast(), size, c"surrogateescape".as_ptr());
        Bound::from_owned_ptr_or_err(py, text)
    }
}

/// The memory that an object shows, until this is dropped.
struct Export(Box<ffi::Py_buffer>);

impl Export {
    fn get(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut view = Box::new(ffi::Py_buffer::new());
        // SAFETY: the interpreter fills the view, which stays where it is until it is released
        // below. What has no dimension may leave out its shape, and what is contiguous its strides:
        // neither is read here.
        let got =
            unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &raw mut *view, ffi::PyBUF_FULL_RO) };
        if got == -1 { Err(PyErr::fetch(object.py())) } else { Ok(Self(view)) }
    }

    fn is_contiguous(&self) -> bool {
        // SAFETY: a view that the interpreter has filled.
        unsafe { ffi::PyBuffer_IsContiguous(&raw const *self.0, b'C'.cast_signed()) == 1 }
    }

    fn format(&self) -> &[u8] {
        if self.0.format.is_null() {
            return b"";
        }
        // SAFETY: a text of the exporter's that lives as long as the view.
        unsafe { std::ffi::CStr::from_ptr(self.0.format) }.to_bytes()
    }

    fn item_size(&self) -> usize {
        self.0.itemsize.cast_unsigned()
    }

    fn len_bytes(&self) -> usize {
        self.0.len.cast_unsigned()
    }

    const fn buf_ptr(&self) -> *mut std::ffi::c_void {
        self.0.buf
    }

    const fn readonly(&self) -> bool {
        self.0.readonly != 0
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        // SAFETY: with the interpreter in hand, once for each view that was got.
        Python::attach(|_| unsafe { ffi::PyBuffer_Release(&raw mut *self.0) });
    }
}

/// Contiguous memory of a Python object.
pub(crate) struct Region {
    export: Export,
    kind: Kind,
}

// SAFETY: the export may be looked at and given back by any thread that has the interpreter, which
// dropping it takes; its memory is plain bytes.
unsafe impl Send for Region {}
// SAFETY: as above; nothing here changes by being looked at.
unsafe impl Sync for Region {}

impl Region {
    /// The memory of `object`, whose items must be of a type of PVM's and lie one behind the other.
    pub(crate) fn of(object: &Bound<'_, PyAny>, call: &str) -> PyResult<Self> {
        let Self { export, .. } = Self::of_bytes(object, call)?;
        let Some(kind) = kind::of_format(export.format(), export.item_size()) else {
            let format = String::from_utf8_lossy(export.format()).into_owned();
            let cause = format!("items of format '{format}' have no type in PVM");
            return Err(wrong(object.py(), call, &cause));
        };
        Ok(Self { export, kind })
    }

    /// The memory as bytes, whatever the items are.
    pub(crate) fn of_bytes(object: &Bound<'_, PyAny>, call: &str) -> PyResult<Self> {
        let py = object.py();
        let export = Export::get(object).map_err(|error| wrong(py, call, &error.to_string()))?;
        if !export.is_contiguous() {
            let cause = "the items do not lie one behind the other; make a contiguous copy";
            return Err(wrong(py, call, cause));
        }
        Ok(Self { export, kind: Kind::Byte })
    }

    /// The bytes of `object`, to be written.
    pub(crate) fn writable(object: &Bound<'_, PyAny>, call: &str) -> PyResult<Self> {
        Self::of(object, call)?.checked_writable(object.py(), call)
    }

    /// As bytes, to be written.
    pub(crate) fn writable_bytes(object: &Bound<'_, PyAny>, call: &str) -> PyResult<Self> {
        Self::of_bytes(object, call)?.checked_writable(object.py(), call)
    }

    fn checked_writable(self, py: Python<'_>, call: &str) -> PyResult<Self> {
        if self.export.readonly() {
            return Err(wrong(py, call, "the buffer is read-only"));
        }
        Ok(self)
    }

    /// The type of its items.
    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    /// Its size in bytes.
    pub(crate) fn size(&self) -> usize {
        self.export.len_bytes()
    }

    /// The bytes, to be read now.
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.size() == 0 {
            return &[];
        }
        // SAFETY: the export holds so many bytes in place while `self` lives. Another thread of
        // Python that writes there changes what is read and nothing else, see above.
        unsafe { std::slice::from_raw_parts(self.export.buf_ptr().cast(), self.size()) }
    }

    /// The bytes of `object`, to be written. Only for what [`Region::writable`] and its like gave.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        if self.size() == 0 || self.export.readonly() {
            return &mut [];
        }
        // SAFETY: as in `bytes`; the export says that it may be written.
        unsafe { std::slice::from_raw_parts_mut(self.export.buf_ptr().cast(), self.size()) }
    }

    /// For a message that is read at its sending. The region must outlive the message.
    pub(crate) fn in_place(&self) -> ProgramMemory {
        // SAFETY: who packs it keeps the region until the message is sent and dropped (`task.rs`).
        unsafe { ProgramMemory::new(self.export.buf_ptr().cast_const().cast(), self.size()) }
    }
}

/// The error for an object whose memory cannot be sent.
fn wrong(py: Python<'_>, call: &str, cause: &str) -> PyErr {
    Failure::new(Code::BadParam, call).because(cause).class("WrongTypeError").raise(py)
}

#[cfg(target_env = "gnu")]
unsafe extern "C" {
    /// A variable of the C library since 2.32: not 0 as long as the process has had one thread
    /// only.
    static __libc_single_threaded: u8;
}

/// From now on locks cost nothing while this process has one thread.
pub(crate) fn trust_single_thread() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the C library keeps it for ever, and says in it what `trust_alone` asks for.
    unsafe {
        pvm::trust_alone(&raw const __libc_single_threaded);
    }
}

/// Part of a message's data, for Python's buffers; the message cannot be closed while this lives.
/// Or memory that this task exposes.
#[pyclass(frozen, module = "neopvm._core")]
pub(crate) struct View {
    message: Py<PyAny>,
    /// Told to the message when this is gone.
    end: fn(&Bound<'_, PyAny>),
    address: *mut u8,
    count: usize,
    kind: Kind,
    writable: bool,
}

// SAFETY: the address is of memory that the message holds, and may be read from any thread.
unsafe impl Send for View {}
// SAFETY: as above.
unsafe impl Sync for View {}

impl View {
    /// A view of `count` items at `address`, which stay there until the message is closed or
    /// dropped. The message has counted this view already.
    pub(crate) fn new(
        (message, end): (Py<PyAny>, fn(&Bound<'_, PyAny>)),
        (address, writable): (*mut u8, bool),
        (kind, count): (Kind, usize),
    ) -> Self {
        Self { message, end, address, count, kind, writable }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        Python::attach(|py| (self.end)(self.message.bind(py)));
    }
}

#[pymethods]
impl View {
    /// # Safety
    /// The interpreter calls this with a place for the answer.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let this = slf.get();
        if view.is_null() {
            return Err(PyBufferError::new_err("no place for the view"));
        }
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE && !this.writable {
            return Err(PyBufferError::new_err("a received message cannot be written"));
        }
        let kept =
            Box::into_raw(Box::new([this.count.cast_signed(), this.kind.size().cast_signed()]));
        let wants = |flag: c_int| flags & flag == flag;
        let bytes = this.count * this.kind.size();
        let format = if wants(ffi::PyBUF_FORMAT) {
            kind::format(this.kind).as_ptr().cast_mut()
        } else {
            ptr::null_mut()
        };
        let filled = ffi::Py_buffer {
            buf: this.address.cast(),
            obj: slf.clone().into_any().into_ptr(),
            len: bytes.cast_signed(),
            itemsize: this.kind.size().cast_signed(),
            readonly: c_int::from(!this.writable),
            ndim: 1,
            format,
            shape: if wants(ffi::PyBUF_ND) { kept.cast() } else { ptr::null_mut() },
            strides: if wants(ffi::PyBUF_STRIDES) {
                kept.cast::<ffi::Py_ssize_t>().wrapping_add(1)
            } else {
                ptr::null_mut()
            },
            suboffsets: ptr::null_mut(),
            internal: kept.cast(),
        };
        // SAFETY: the interpreter passes memory for a view, and reads it when this returns 0.
        unsafe { view.write(filled) };
        Ok(())
    }

    /// # Safety
    /// The interpreter calls this once for each view that `__getbuffer__` filled.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        if view.is_null() {
            return;
        }
        // SAFETY: `view` was filled above.
        let kept = unsafe { (*view).internal }.cast::<[isize; 2]>();
        if !kept.is_null() {
            // SAFETY: it is the box that `__getbuffer__` made for this view.
            drop(unsafe { Box::from_raw(kept) });
        }
    }
}
