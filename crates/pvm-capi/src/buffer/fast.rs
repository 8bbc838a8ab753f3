//! The fast paths of making, beginning and freeing buffers of small messages.

use std::ffi::c_int;

use pvm::{Biased, Buffer, Form, Glance, Owner};
use pvm_wire::Encoding;
use pvm_wire::record::calls;

use super::table::{PLACES, TABLE};
use crate::guard::{Fast, fast};
use crate::probe;
use crate::slot::{Mode, Role, Slot};
use crate::thread::Thread;
use crate::trace::noting::Begun;

/// The slot of a number that a program gave.
#[inline]
pub(crate) fn find(id: c_int) -> Option<&'static Slot> {
    PLACES.at(id)
}

const DEFAULT: c_int = Encoding::Default as c_int;
const RAW: c_int = Encoding::Raw as c_int;
const IN_PLACE: c_int = Encoding::InPlace as c_int;

/// `pvm_initsend` of a thread that the process is biased to, where the send buffer is a small one.
#[inline]
pub(super) fn begin(thread: &Thread, owner: Biased, number: c_int) -> Option<c_int> {
    let (encoding, form) = match number {
        RAW => (Encoding::Raw, Form::Raw),
        DEFAULT => (Encoding::Default, Form::Default),
        IN_PLACE => (Encoding::InPlace, Form::InPlace),
        _ => return None,
    };
    let mut place = thread.sending.place().enter_biased(owner)?;
    if place.mode == Mode::OTHER || !place.content.buffer.fast_begin(encoding) {
        return None;
    }
    (place.content.reading, place.mode) = (false, Mode::of(form, false));
    Some(thread.sending.id())
}

/// The fast path of `pvm_initsend` in all other cases; none if it did nothing.
#[inline]
pub(super) fn begin_any(number: c_int) -> Option<c_int> {
    if probe::is_on() { begin_noted(number) } else { begin_unseen(number) }
}

#[inline(never)]
fn begin_noted(number: c_int) -> Option<c_int> {
    let begun = Begun::now()?;
    let id = begin_unseen(number)?;
    begun.end(calls::INITSEND, id, 0);
    Some(id)
}

#[inline]
fn begin_unseen(number: c_int) -> Option<c_int> {
    let encoding = Encoding::from_number(number)?;
    fast!(fast => begin_by(&fast, encoding), else None)
}

#[inline]
fn begin_by(fast: &Fast<impl Owner>, encoding: Encoding) -> Option<c_int> {
    let mut place = fast.thread.sending.slot()?.try_enter(fast.owner)?;
    if !place.content.buffer.fast_begin(encoding) {
        return None;
    }
    (place.content.reading, place.content.role) = (false, Role::Own);
    place.settle();
    Some(fast.thread.sending.id())
}

/// Fills the place of the number that is given out next, and gives it out; none if there is no such
/// place with the memory of a small message, or if `fill` says no. Then nothing has changed but
/// what `fill` did.
#[inline]
fn fill_next<O: Owner, T>(
    fast: &Fast<O>,
    reading: bool,
    fill: impl FnOnce(&mut Buffer) -> Result<(), T>,
) -> Option<Result<c_int, T>> {
    let mut table = TABLE.try_enter(fast.owner)?;
    let id = *table.free.last()?;
    let mut place = PLACES.at(id)?.try_enter_vacant(fast.owner)?;
    if let Err(no) = fill(&mut place.content.buffer) {
        return Some(Err(no));
    }
    (place.content.reading, place.content.role) = (reading, Role::Own);
    place.take();
    table.free.pop();
    Some(Ok(id))
}

/// A number for a new buffer.
#[inline]
pub(crate) fn make_by(fast: &Fast<impl Owner>, encoding: Encoding) -> Option<c_int> {
    let begin = |buffer: &mut Buffer| if buffer.fast_begin(encoding) { Ok(()) } else { Err(()) };
    fill_next(fast, false, begin)?.ok()
}

/// A number for a message that `take` puts into a buffer.
#[inline]
pub(crate) fn receive_by(
    fast: &Fast<impl Owner>,
    take: impl FnOnce(&mut Buffer) -> Glance<()>,
) -> Glance<c_int> {
    let taken = fill_next(fast, true, |buffer| match take(buffer) {
        Glance::Taken(()) => Ok(()),
        Glance::Nothing => Err(Glance::Nothing),
        Glance::More => Err(Glance::More),
    });
    match taken {
        Some(Ok(id)) => Glance::Taken(id),
        Some(Err(none)) => none,
        None => Glance::More,
    }
}

/// Frees a number that is nobody's current buffer in this thread; none if it did nothing.
#[inline]
pub(crate) fn free_by(fast: &Fast<impl Owner>, id: c_int) -> Option<()> {
    let thread = fast.thread;
    if [&thread.sending, &thread.receiving, &thread.probed].iter().any(|own| own.id() == id) {
        return None;
    }
    let mut table = TABLE.try_enter(fast.owner)?;
    if table.free.len() == table.free.capacity() {
        return None;
    }
    let mut place = PLACES.at(id)?.try_enter(fast.owner)?;
    if !place.content.buffer.is_plain() {
        return None;
    }
    // It leaves nothing that would have to be dropped.
    place.vacate();
    table.free.push(id);
    Some(())
}
