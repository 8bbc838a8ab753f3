//! Named messages (`pvm_putinfo` and its kin), the integers of PVM 3.3, and contexts.

use std::ffi::{CString, c_char, c_int};

use pvm::Buffer;
use pvm_wire::request::{MailboxInfo, Reply, Request, inserted_tag};
use pvm_wire::{Address, Code, Context, Encoding, Envelope, Kind, Tag, Tid};

use crate::buffer;
use crate::guard::{call, inside};
use crate::own::{Own, ThreadOwned as _};
use crate::session::unexpected;
use crate::trace::{text_at, traced};
use crate::waiting::{self, Patience};
use crate::{pointer, session};

const MULTI_INSTANCE: c_int = 2;
const PERSISTENT: c_int = 1;
const FIRST_AVAILABLE: c_int = 8;

fn name_of(name: &[u8]) -> Result<pvm_wire::Blob, Code> {
    if name.is_empty() { Err(Code::BadParam) } else { Ok(name.to_vec().into()) }
}

fn number(reply: &Reply) -> Result<c_int, Code> {
    match reply {
        Reply::Number { value } => Ok(*value),
        Reply::Done => Ok(0),
        _ => Err(unexpected()),
    }
}

/// Puts a buffer's message under a name and returns its index.
pub(crate) fn put(name: &[u8], buffer: &mut Buffer, flags: c_int) -> Result<c_int, Code> {
    put_as(name, buffer, flags, 0)
}

/// [`put`] with a tag, which says at which index an integer is.
fn put_as(name: &[u8], buffer: &mut Buffer, flags: c_int, tag: c_int) -> Result<c_int, Code> {
    let name = name_of(name)?;
    let task = session::task()?;
    let mut message = buffer.to_message()?;
    message.envelope.src = task.tid();
    message.envelope.tag = tag;
    number(&task.request(&Request::PutInfo { name, flags, message })?)
}

/// The message under a name, waiting for it if a flag says so. Called outside of the library.
pub(crate) fn receive<'a>(
    name: impl FnOnce() -> Result<&'a [u8], Code>,
    index: c_int,
    flags: c_int,
) -> Result<(Buffer, c_int), Code> {
    receive_until(name, (index, flags), Patience::FOR_EVER)?.ok_or(Code::SysErr)
}

/// [`receive`] for a caller that may give up: none if it did.
pub(crate) fn receive_until<'a>(
    name: impl FnOnce() -> Result<&'a [u8], Code>,
    (index, flags): (c_int, c_int),
    patience: Patience<'_>,
) -> Result<Option<(Buffer, c_int)>, Code> {
    let request = |_| {
        let name = name_of(name()?)?;
        if index < 0 {
            return Err(Code::BadParam);
        }
        Ok(Request::RecvInfo { name, index, flags, context: session::context() })
    };
    let Some(reply) = waiting::ask_until(request, patience)? else { return Ok(None) };
    inside(|| match reply {
        Reply::Info { message, index } => Ok(Some((Buffer::from_message(message)?, index))),
        _ => Err(unexpected()),
    })
}

/// Removes an entry.
pub(crate) fn delete(name: &[u8], index: c_int, flags: c_int) -> Result<c_int, Code> {
    let name = name_of(name)?;
    if index < 0 {
        return Err(Code::BadParam);
    }
    number(&session::task()?.request(&Request::DelInfo { name, index, flags })?)
}

/// The names that fit a pattern, with their entries.
pub(crate) fn list(pattern: &[u8]) -> Result<Vec<MailboxInfo>, Code> {
    let pattern = if pattern.is_empty() { b"*" } else { pattern };
    let request = Request::MailboxInfo { pattern: pattern.to_vec().into() };
    match session::task()?.request(&request)? {
        Reply::Mailboxes { mailboxes } => Ok(mailboxes),
        _ => Err(unexpected()),
    }
}

/// Puts a message under a name.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_putinfo(name: *const c_char, id: c_int, flags: c_int) -> c_int {
    traced!(
        unsafe PUTINFO,
        pvm_putinfo(name, id, flags),
        [CN: text_at(name), CI: -1, CF: flags, CD: id],
        |r| [CC: r]
    );
    call("pvm_putinfo", || {
        // SAFETY: `name` is null or ends with 0, by the call's contract.
        let name = unsafe { pointer::text(name) }?;
        name_of(name)?;
        buffer::get(id)?.with(|buffer| put(name, buffer, flags))?
    })
}

/// The answer of a daemon of PVM to a task that asks for a message that is not there, as far as a
/// program sees it: nothing is left to be read.
fn refusal(code: Code) -> Result<Buffer, Code> {
    const CONTEXT: c_int = 0x7_fffe;
    const TAG: c_int = 0x8001_0010_u32.cast_signed();
    let mut answer = Buffer::new(Encoding::Default);
    let mut number = code.number().to_ne_bytes();
    answer.pack(Kind::Int, &number)?;
    answer.unpack(Kind::Int, &mut number)?;
    let own = session::task()?.tid();
    answer.edit(|about| {
        *about = Envelope::new(
            Tid::from_c_int(c_int::MIN),
            Address::new(own, Tag(TAG), Context(CONTEXT)),
        )
    });
    Ok(answer)
}

/// Receives the message under a name.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_recvinfo(
    name: *const c_char,
    index: c_int,
    flags: c_int,
) -> c_int {
    traced!(
        unsafe GETINFO,
        pvm_recvinfo(name, index, flags),
        [CN: text_at(name), CI: index, CF: flags],
        |r| [CC: r.min(0), CR: r]
    );
    // SAFETY: `name` is null or ends with 0, by the call's contract.
    let received = receive(|| unsafe { pointer::text(name) }, index, flags);
    call("pvm_recvinfo", || match received {
        Err(code @ (Code::NotFound | Code::Denied)) => {
            // As in PVM the daemon's answer becomes the receive buffer then, so that the old one is
            // not taken for the message.
            buffer::receive_into(refusal(code)?)?;
            Err(code)
        }
        received => buffer::receive_into(received?.0),
    })
}

/// Removes an entry.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_delinfo(
    name: *const c_char,
    index: c_int,
    flags: c_int,
) -> c_int {
    traced!(
        unsafe DELINFO,
        pvm_delinfo(name, index, flags),
        [CN: text_at(name), CI: index, CF: flags],
        |r| [CC: r]
    );
    // As in PVM an entry is deleted at exactly its index, whatever the flags say.
    let flags = flags & !FIRST_AVAILABLE;
    // SAFETY: `name` is null or ends with 0, by the call's contract.
    call("pvm_delinfo", || delete(unsafe { pointer::text(name) }?, index, flags))
}

/// `struct pvmmboxinfo`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassEntry {
    name: *const c_char,
    number: c_int,
    indices: *const c_int,
    owners: *const c_int,
    flags: *const c_int,
}

/// Names for C, and what they point to.
#[derive(Default)]
struct Classes {
    entries: Vec<ClassEntry>,
    names: Vec<CString>,
    columns: Vec<[Vec<c_int>; 3]>,
}

impl Classes {
    fn push(&mut self, class: &MailboxInfo) {
        let name = CString::new(class.name.0.clone()).unwrap_or_default();
        let of = |field: fn(&pvm_wire::request::MailboxEntry) -> c_int| {
            class.entries.iter().map(field).collect::<Vec<_>>()
        };
        let columns = [of(|e| e.index), of(|e| e.owner.as_c_int()), of(|e| e.flags)];
        self.entries.push(ClassEntry {
            name: name.as_ptr(),
            number: c_int::try_from(class.entries.len()).unwrap_or(c_int::MAX),
            indices: columns[0].as_ptr(),
            owners: columns[1].as_ptr(),
            flags: columns[2].as_ptr(),
        });
        self.names.push(name);
        self.columns.push(columns);
    }
}

thread_local! {
    /// The table that the last `pvm_getmboxinfo` of this thread returned.
    static CLASSES: Own<Classes> = const { Own::new() };
}

/// The names that fit a pattern, in memory that stays until the next call.
///
/// # Safety
/// `pattern` is null or ends with 0; each pointer is null or points to its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_getmboxinfo(
    pattern: *const c_char,
    number: *mut c_int,
    classes: *mut *const ClassEntry,
) -> c_int {
    traced!(
        unsafe GETMBOXINFO,
        pvm_getmboxinfo(pattern, number, classes),
        [CN: text_at(pattern)],
        |r| [CC: r]
    );
    call("pvm_getmboxinfo", || {
        // SAFETY: `pattern` is null or ends with 0, by the call's contract.
        let found = list(unsafe { pointer::text_or_none(pattern) }.unwrap_or_default())?;
        let mut filled = Classes::default();
        for class in &found {
            filled.push(class);
        }
        let entries = CLASSES.kept(|kept| {
            *kept.borrow_mut() = filled;
            kept.borrow().entries.as_ptr()
        });
        let count = c_int::try_from(found.len()).map_err(|_| Code::Overflow)?;
        // SAFETY: `number` is null or has room for the answer, by the call's contract.
        unsafe { pointer::store(number, count) };
        // SAFETY: `classes` is null or has room for the answer, by the call's contract.
        unsafe { pointer::store(classes, entries) };
        Ok(0)
    })
}

/// Keeps an integer under a name; index -1 means the first free one.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_insert(name: *const c_char, index: c_int, data: c_int) -> c_int {
    traced!(
        unsafe INSERT,
        pvm_insert(name, index, data),
        [CN: text_at(name), CI: index, CD: data],
        |r| [CC: r]
    );
    call("pvm_insert", || {
        // SAFETY: `name` is null or ends with 0, by the call's contract.
        let name = unsafe { pointer::text(name) }?;
        if index < -1 {
            return Err(Code::BadParam);
        }
        let mut buffer = Buffer::new(Encoding::Default);
        buffer.pack(Kind::Int, &data.to_ne_bytes())?;
        let tag = if index == -1 { 0 } else { inserted_tag(index) };
        put_as(name, &mut buffer, PERSISTENT | MULTI_INSTANCE, tag)
    })
}

/// Looks up an integer; index -1 means the first there is. Returns the index.
///
/// # Safety
/// `name` is null or ends with 0; `data` is null or points to an int.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_lookup(name: *const c_char, index: c_int, data: *mut c_int) -> c_int {
    traced!(
        unsafe LOOKUP,
        pvm_lookup(name, index, data),
        [CN: text_at(name), CI: index],
        |r| [CC: r]
    );
    let flags = if index == -1 { FIRST_AVAILABLE } else { 0 };
    let place = if index == -1 { 0 } else { index };
    // SAFETY: `name` is null or ends with 0, by the call's contract.
    let received = receive(|| unsafe { pointer::text(name) }, place, flags);
    call("pvm_lookup", || {
        let (mut message, found) = received?;
        let mut value = [0; 4];
        // Another program may have put a message without an int there; it counts as found
        // nevertheless.
        if message.unpack(Kind::Int, &mut value).is_ok() {
            // SAFETY: `data` is null or has room for the answer, by the call's contract.
            unsafe { pointer::store(data, c_int::from_ne_bytes(value)) };
        }
        Ok(found)
    })
}

/// Removes an integer and returns its index.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_delete(name: *const c_char, index: c_int) -> c_int {
    traced!(unsafe DELETE, pvm_delete(name, index), [CN: text_at(name), CI: index], |r| [CC: r]);
    // SAFETY: `name` is null or ends with 0, by the call's contract.
    call("pvm_delete", || delete(unsafe { pointer::text(name) }?, index, 0))
}

/// A new context, which no other task of the machine has.
pub(crate) fn new_context() -> Result<c_int, Code> {
    number(&session::task()?.request(&Request::NewContext)?)
}

/// Gives a context back. No task owns 0, and as in PVM a task that gives that back gets a new one.
pub(crate) fn free_context(context: c_int) -> Result<c_int, Code> {
    if context == 0 {
        return new_context();
    }
    number(&session::task()?.request(&Request::FreeContext { context })?)
}

/// A context that nobody else in the machine has.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_newcontext() -> c_int {
    traced!(NEWCONTEXT, pvm_newcontext(), [], |r| [CXN: r]);
    call("pvm_newcontext", new_context)
}

/// Gives a context back.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_freecontext(context: c_int) -> c_int {
    traced!(FREECONTEXT, pvm_freecontext(context), [CXF: context], |r| [CC: r]);
    call("pvm_freecontext", || free_context(context))
}
