//! The numbers of buffers: given out, looked up, given back.

use std::ffi::c_int;

use pvm::{Buffer, Forked};
use pvm_wire::{Code, Tid};

use super::table::{PLACES, TABLE, Table};
use crate::slot::{Content, Role, Slot};

/// In the child of a fork no other thread is left that could hold the table, and messages in shared
/// memory are not there: their numbers are void.
pub(crate) fn reset_after_fork(forked: &Forked) {
    TABLE.reset_fast_after_fork(forked, || Table::behind(PLACES.last()));
    for slot in (1..=PLACES.last()).filter_map(|id| PLACES.at(id)) {
        // A void number is not given out again, because a part of the program may still use it.
        slot.reset_after_fork(forked);
    }
}

/// The task leaves: the messages that it has packed stay its own in another life.
pub(crate) fn sign_all(tid: Tid) {
    for slot in (1..=PLACES.last()).filter_map(|id| PLACES.at(id)) {
        // An empty place, or one that another thread is looking at and will send from, has nothing
        // to be signed.
        let _ = slot.with(|buffer| {
            buffer.edit(|about| about.src = if about.src == Tid::NONE { tid } else { about.src });
        });
    }
}

/// A number for a buffer that is packed.
pub(crate) fn insert_packed(buffer: Buffer) -> Result<c_int, Code> {
    Ok(insert(Content { buffer, reading: false, role: Role::Own })?.0)
}

/// A number for a buffer that is read.
pub(crate) fn insert_received(buffer: Buffer) -> Result<c_int, Code> {
    Ok(insert(Content { buffer, reading: true, role: Role::Own })?.0)
}

/// A number for a message that a matching function is shown.
pub(crate) fn insert_held(buffer: Buffer, place: u64) -> Result<c_int, Code> {
    Ok(insert(Content { buffer, reading: true, role: Role::Held(place) })?.0)
}

pub(super) fn insert(content: Content) -> Result<(c_int, &'static Slot), Code> {
    let (id, slot) = reserve()?;
    slot.put(content)?;
    Ok((id, slot))
}

pub(super) fn reserve() -> Result<(c_int, &'static Slot), Code> {
    TABLE.enter()?.reserve()
}

/// The place of a number that a program gave. It may be empty, which its use tells.
pub(crate) fn get(id: c_int) -> Result<&'static Slot, Code> {
    if id <= 0 {
        return Err(Code::BadParam);
    }
    PLACES.at(id).ok_or(Code::NoSuchBuf)
}

/// Like `get`, if there is a buffer.
pub(crate) fn occupied(id: c_int) -> Result<&'static Slot, Code> {
    let slot = get(id)?;
    slot.content(|_| ()).map(|()| slot)
}

/// A current buffer that another thread has freed is none.
pub(crate) fn not_current(code: Code) -> Code {
    if code == Code::NoSuchBuf { Code::NoBuf } else { code }
}

/// Frees a number that may be none.
pub(super) fn free(id: c_int) {
    let Some(slot) = PLACES.at(id) else { return };
    // The remains are dropped when no thread waits for the slot or the table any more.
    if let Ok((true, _remains)) = slot.free() {
        let _ = give_back(id);
    }
}

/// The number of an empty place is free.
pub(super) fn give_back(id: c_int) -> Result<(), Code> {
    TABLE.enter()?.free.push(id);
    Ok(())
}

/// Takes a buffer of this role out of its place; none if none is there. Its number is free.
pub(crate) fn withdraw(id: c_int, role: Role) -> Result<Option<Buffer>, Code> {
    let Some(mut buffer) = get(id)?.take(role)? else { return Ok(None) };
    give_back(id)?;
    buffer.rewind();
    Ok(Some(buffer))
}
