//! Messages that are few items of one type, in one call each: other languages would need three or
//! four.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use pvm::{Buffer, Glance, Head};
use pvm_wire::record::calls;
use pvm_wire::{Address, Code, Encoding, Kind, Run};

use super::buffers::neopvm_free;
use super::fast::few;
use super::info::Info;
use super::messages::long_receive;
use super::{limit, status};
use crate::guard::{self, inside};
use crate::message::fast::{FirstLook, receive_items, receive_new, send_items_of};
use crate::pack::items::{Items, pack};
use crate::pointer::store;
use crate::selection::{self, Selection};
use crate::trace::noted;
use crate::trace::noting::{Begun, items_within};
use crate::{aside, buffer, message, probe, session};

/// Most bytes of items that a [`Received`] holds.
const ITEMS_MAX: usize = 64;

/// `struct neopvm_received`
#[repr(C)]
pub(crate) struct Received {
    buffer: i32,
    kind: i32,
    count: u64,
    info: Info,
    items: [u8; ITEMS_MAX],
}

/// Sends a message of items that lie behind one another.
///
/// # Safety
/// As for [`neopvm_pack`].
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_send_items(
    encoding: i32,
    kind: i32,
    items: *const c_void,
    count: u64,
    tid: i32,
    tag: i32,
    context: i32,
) -> i32 {
    if guard::is_inside() {
        // A handler could not give the buffer back.
        return Code::Already.number();
    }
    let to = selection::address(tid, tag, session::or_current(context));
    // SAFETY: the items can be read until this call returns; null is checked there.
    if unsafe { fast_send(encoding, (kind, items, count), to) }.is_some() {
        return 0;
    }
    noted!(
        unsafe NEOPVM_SEND_ITEMS,
        neopvm_send_items(encoding, kind, items, count, tid, tag, context)
    );
    // SAFETY: the items can be read until this call returns, and `send` keeps no pointer to them.
    status(inside(|| unsafe { send(encoding, (kind, items, count), (tid, tag), context) }))
}

/// The long way: a buffer that has no number. Raw data are copied once, to the place where their
/// receiver reads them.
///
/// # Safety
/// As for [`neopvm_send_items`].
unsafe fn send(
    encoding: i32,
    (kind, items, count): (i32, *const c_void, u64),
    (tid, tag): (i32, i32),
    context: i32,
) -> Result<(), Code> {
    let encoding = match buffer::encoding(encoding)? {
        Encoding::Raw => Encoding::InPlace,
        other => other,
    };
    let items = Items::of_any_count(items.cast_mut(), super::size(count)?, 1)?;
    let mut buffer = Buffer::new(encoding);
    // SAFETY: the items can be read until this call returns, and the buffer that may refer to them
    // ends before.
    unsafe { pack(&mut buffer, super::kind(kind)?, items) }?;
    message::sending::send_buffer(&mut buffer, tid, tag, super::context(context)?)
}

/// The fast path; none if it did nothing.
///
/// # Safety
/// As for [`neopvm_send_items`].
#[inline]
unsafe fn fast_send(
    encoding: i32,
    (kind, items, count): (i32, *const c_void, u64),
    to: Address,
) -> Option<()> {
    if to.tag.0 < 0 {
        return None;
    }
    let (kind, first, bytes) = few(kind, items.cast_mut(), count, 1)?;
    // SAFETY: not null, and the program's items, which can be read, are `bytes` long.
    let data = unsafe { std::slice::from_raw_parts(first, bytes) };
    const CALL: u16 = calls::NEOPVM_SEND_ITEMS;
    match Encoding::from_number(encoding)? {
        Encoding::Default => {
            let items = (kind.run_of(bytes).to_word(), data);
            send_items_of(CALL, Encoding::Default, items, to)
        }
        // Data that are read in place are raw once they are sent.
        Encoding::Raw | Encoding::InPlace => send_items_of(CALL, Encoding::Raw, (0, data), to),
        Encoding::Trace => None,
    }
}

/// The result of a receive of few items.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ItemsResult {
    /// A message that has a number, which the program has not got yet.
    Whole(i32),
    /// The program has its items, or its number.
    Told,
}

/// Receives, and takes the items out of a small message.
///
/// # Safety
/// `received` points to its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_receive_items(
    source: i32,
    tag: i32,
    context: i32,
    limit_ns: i64,
    received: *mut Received,
) -> i32 {
    if received.is_null() {
        return Code::BadParam.number();
    }
    let wanted = Selection { source, tag, context };
    if probe::is_on()
        // SAFETY: `received` points to its type, by the call's contract.
        && let Glance::Taken(taken) = unsafe { receive_noted(wanted, received) }
    {
        // SAFETY: `received` points to its type, by the call's contract.
        return unsafe { give(received, Ok(Some(taken))) };
    }
    noted!(
        unsafe NEOPVM_RECEIVE_ITEMS,
        neopvm_receive_items(source, tag, context, limit_ns, received)
    );
    let note = |message: (&Head, usize)| items_within(message, source, tag);
    // SAFETY: `received` points to its type, and the look ends before this call returns.
    let look = || unsafe { fast_receive(wanted, received, note) };
    let looked = FirstLook::now(look);
    let taken = match looked.seen {
        Glance::Taken(taken) => Ok(Some(taken)),
        Glance::Nothing | Glance::More => {
            // The clock is asked behind the first look only.
            let limit = limit(limit_ns);
            match looked.linger(limit, look) {
                Glance::Taken(taken) => Ok(Some(taken)),
                seen => long_receive(wanted, limit, seen == Glance::More)
                    .map(|handle| handle.map(ItemsResult::Whole)),
            }
        }
    };
    // SAFETY: `received` points to its type, by the call's contract.
    unsafe { give(received, taken) }
}

/// Tells the program of the received message.
///
/// # Safety
/// `received` points to its type.
unsafe fn give(received: *mut Received, taken: Result<Option<ItemsResult>, Code>) -> i32 {
    let handle = match taken {
        Ok(Some(ItemsResult::Told)) => return 0,
        Ok(Some(ItemsResult::Whole(handle))) => Ok(handle),
        Ok(None) => Ok(0),
        Err(code) => Err(code),
    };
    // SAFETY: `received` points to its type: this function asks its callers for it, too.
    status(handle.and_then(|handle| unsafe { put_head(received, handle) }))
}

/// The fast path of a call that is noted.
///
/// # Safety
/// `received` points to its type.
#[inline(never)]
unsafe fn receive_noted(wanted: Selection, received: *mut Received) -> Glance<ItemsResult> {
    let Some(begun) = Begun::now() else { return Glance::More };
    let note = |message: (&Head, usize)| {
        begun.taken_items(calls::NEOPVM_RECEIVE_ITEMS, 0, message, wanted.partner());
    };
    // SAFETY: `received` points to its type: this function asks its callers for it, too.
    unsafe { fast_receive(wanted, received, note) }
}

/// True where the last message did not find room in a [`Received`]: the next one most likely will
/// not either.
static LONGER: AtomicBool = AtomicBool::new(false);

/// The fast path: it takes a message straight out of the lane, into `received` if it finds room
/// there, else into a buffer. `note` sees the message.
///
/// # Safety
/// `received` points to its type.
#[inline]
unsafe fn fast_receive(
    wanted: Selection,
    received: *mut Received,
    note: impl Fn((&Head, usize)),
) -> Glance<ItemsResult> {
    if LONGER.load(Ordering::Relaxed)
        // SAFETY: `received` points to its type: this function asks its callers for it, too.
        && let Glance::Taken(taken) = unsafe { take_whole(wanted, received, &note) }
    {
        return Glance::Taken(taken);
    }
    let mut about = Head::NONE;
    // SAFETY: `received` points to its type, of which only this call knows. It is only written to.
    let room = unsafe { &mut (*received).items };
    match receive_items(wanted, (false, aside::MATCHES), &mut about, room) {
        Glance::Taken(size) => {
            note((&about, size));
            // SAFETY: `received` points to its type, and the reference to its items is not used any
            // more.
            unsafe { put_taken(received, &about, size) };
            Glance::Taken(ItemsResult::Told)
        }
        Glance::Nothing => Glance::Nothing,
        Glance::More => {
            // SAFETY: `received` points to its type: this function asks its callers for it, too.
            let taken = unsafe { take_whole(wanted, received, &note) };
            if let Glance::Taken(_) = taken {
                LONGER.store(true, Ordering::Relaxed);
            }
            taken
        }
    }
}

/// Takes a small message of any length into a buffer. A message that is too long for a [`Received`]
/// is told at once, while its head is known.
///
/// # Safety
/// `received` points to its type.
// Inlined: neopvm_receive_items of 1000 bytes takes 44 instructions less, with what it calls.
#[inline(always)]
unsafe fn take_whole(
    wanted: Selection,
    received: *mut Received,
    note: &impl Fn((&Head, usize)),
) -> Glance<ItemsResult> {
    let told = Cell::new(false);
    let taken = receive_new(wanted, |buffer| {
        let size = buffer.sent_size();
        note((buffer.head(), size));
        told.set(size > ITEMS_MAX);
        if told.get() {
            let info = Info::of_head(buffer.head(), buffer.reported_size());
            // SAFETY: `received` points to its type, so its field can be written.
            unsafe { store(&raw mut (*received).info, info) };
        }
    });
    match taken {
        Glance::Taken(handle) if told.get() => {
            // SAFETY: `received` points to its type: this function asks its callers for it, too.
            unsafe { put_number(received, handle) };
            Glance::Taken(ItemsResult::Told)
        }
        Glance::Taken(handle) => Glance::Taken(ItemsResult::Whole(handle)),
        Glance::Nothing => Glance::Nothing,
        Glance::More => Glance::More,
    }
}

/// Tells of a message by its number; 0 for none.
///
/// # Safety
/// `received` points to its type.
unsafe fn put_number(received: *mut Received, handle: i32) {
    // SAFETY: `received` points to its type, so its fields can be written.
    unsafe {
        store(&raw mut (*received).buffer, handle);
        store(&raw mut (*received).kind, 0);
    }
}

/// Tells of a message whose items were taken out.
///
/// # Safety
/// `received` points to its type.
#[inline]
unsafe fn put_taken(received: *mut Received, about: &Head, size: usize) {
    let run = about.run().filter(|_| about.encoding() == Encoding::Default);
    let kind = run.and_then(|run| Kind::of_shape(run.shape)).unwrap_or(Kind::Byte);
    let bytes = run.map_or(size, Run::xdr_size);
    // SAFETY: `received` points to its type, so its fields can be written.
    unsafe {
        store(&raw mut (*received).buffer, 0);
        store(&raw mut (*received).kind, i32::from(kind as u8));
        store(&raw mut (*received).count, (size / kind.size()) as u64);
        store(&raw mut (*received).info, Info::of_head(about, bytes));
    }
}

/// Takes the items out of a message if they are few and of one type.
///
/// # Safety
/// `received` points to its type.
unsafe fn put_items(received: *mut Received, buffer: &Buffer) -> bool {
    let Some((kind, items)) = buffer.only_items().filter(|(_, items)| items.len() <= ITEMS_MAX)
    else {
        return false;
    };
    let bytes = buffer.reported_size();
    let info = Info::new(&buffer.envelope(), buffer.encoding(), bytes, bytes);
    // SAFETY: `received` points to its type, and its array has room for the items that were counted
    // above.
    unsafe {
        store(&raw mut (*received).buffer, 0);
        store(&raw mut (*received).kind, i32::from(kind as u8));
        store(&raw mut (*received).count, (items.len() / kind.size()) as u64);
        store(&raw mut (*received).info, info);
        let to = (&raw mut (*received).items).cast::<u8>();
        to.copy_from_nonoverlapping(items.as_ptr(), items.len());
    }
    true
}

/// Tells of a message that has a number, or of none; takes its items out if that is to be done.
///
/// # Safety
/// `received` points to its type.
unsafe fn put_head(received: *mut Received, handle: i32) -> Result<(), Code> {
    // SAFETY: `received` points to its type: this function asks its callers for it, too.
    unsafe { put_number(received, handle) };
    if handle == 0 {
        return Ok(());
    }
    let out = inside(|| {
        buffer::get(handle)?.content(|content| {
            // SAFETY: `received` points to its type, so its fields can be written.
            unsafe {
                store(&raw mut (*received).info, Info::of(content));
                put_items(received, &content.buffer)
            }
        })
    })?;
    if out {
        LONGER.store(false, Ordering::Relaxed);
        neopvm_free(handle);
    }
    Ok(())
}
