//! The fast paths of sending and receiving a small message within the host.

use std::ffi::c_int;

use pvm::{Biased, Buffer, FEW, Form, Glance, Head, Key, Owner, Task, WaitToken};
use pvm_wire::record::calls;
use pvm_wire::{Address, Context, Encoding, Tag};

use crate::guard::{Done, Fast, fast};
use crate::selection::{Partner, Selection, address};
use crate::slot::{Mode, Role, Slot};
use crate::thread::Thread;
use crate::trace::noting::{self, Begun};
use crate::waiting::Limit;
use crate::{aside, buffer, probe, session};

/// True once there was such a function.
#[inline]
pub(super) fn custom_is_possible() -> bool {
    aside::has(aside::MATCHES)
}

/// `pvm_send` of a small buffer to the receiver of the last send, by the thread that the process is
/// biased to.
#[inline]
pub(super) fn send_few(
    thread: &Thread,
    owner: Biased,
    tid: c_int,
    tag: c_int,
) -> Option<Done<&'static Task>> {
    if tag < 0 {
        return None;
    }
    let mut place = thread.sending.place().enter_biased(owner)?;
    if place.content.buffer.data_size() > FEW {
        return None;
    }
    let task = session::current()?;
    let form = match place.mode.form() {
        Mode::PACKS_RAW => Form::Raw,
        Mode::PACKS_DEFAULT => Form::Default,
        Mode::PACKS_IN_PLACE => Form::InPlace,
        _ => return None,
    };
    let to = address(tid, tag, session::context());
    let is_seen = task.send_few(owner, (form, &mut place.content.buffer), to)?;
    Some(if is_seen { Done::All(0) } else { Done::But(task) })
}

/// The fast path of `pvm_send` in all other cases; none if it did nothing.
#[inline]
pub(super) fn send(tid: c_int, tag: c_int) -> Option<()> {
    if probe::is_on() {
        return send_noted(tid, tag);
    }
    send_then(tid, tag, |_, _| ())
}

#[inline(never)]
fn send_noted(tid: c_int, tag: c_int) -> Option<()> {
    let begun = Begun::now()?;
    let to = address(tid, tag, session::context());
    send_then(tid, tag, |number, buffer| begun.sent_buffer(calls::SEND, to, (number, buffer)))
}

#[inline]
fn send_then(tid: c_int, tag: c_int, then: impl FnOnce(u64, &Buffer)) -> Option<()> {
    if tag < 0 {
        return None;
    }
    let to = address(tid, tag, session::context());
    fast!(fast => send_by(&fast, fast.thread.sending.slot()?, to, then), else None)
}

/// The fast path of sending a buffer to a task under a tag that is not below 0, in a context.
/// `then` sees the sent message.
#[inline]
pub(crate) fn send_by(
    fast: &Fast<impl Owner>,
    slot: &Slot,
    to: Address,
    then: impl FnOnce(u64, &Buffer),
) -> Option<()> {
    let task = session::current()?;
    let mut place = slot.try_enter(fast.owner)?;
    let buffer = &mut place.content.buffer;
    let number = task.fast_send(fast.owner, buffer, to)?;
    then(number, buffer);
    Some(())
}

/// Sends a message of `data`, which one run describes or nothing (0), under a tag that is not below
/// 0, in a context; it never has a number.
// Inlined: pvm_psend of 8 bytes takes 36 instructions less.
#[inline(always)]
pub(crate) fn send_items(
    encoding: Encoding,
    (run, data): (u64, &[u8]),
    to: Address,
) -> Option<u64> {
    let task = session::current()?;
    let mut head = Head::NEW;
    head.describe(encoding, data.len(), run);
    fast!(fast => task.send_small(fast.owner, to, &mut head, data), else None)
}

/// [`send_items`] of a call, noted if that is to be.
// Inlined: neopvm_send_items of 8 bytes takes 30 instructions less.
#[inline(always)]
pub(crate) fn send_items_of(
    call: u16,
    encoding: Encoding,
    items: (u64, &[u8]),
    to: Address,
) -> Option<()> {
    if probe::is_on() {
        return send_items_noted(call, encoding, items, to);
    }
    send_items(encoding, items, to).map(drop)
}

#[inline(never)]
fn send_items_noted(call: u16, encoding: Encoding, items: (u64, &[u8]), to: Address) -> Option<()> {
    let begun = Begun::now()?;
    let number = send_items(encoding, items, to)?;
    begun.sent(call, to, (number, items.1.len(), encoding));
    Some(())
}

/// Receives a small message of the current context, raw if `raw` says so, into memory of the
/// program's. `but`: bits of [`aside`](crate::aside) that it ignores.
// Inlined: pvm_precv of 8 bytes takes 71 instructions less, with what it calls.
#[inline(always)]
pub(crate) fn receive_items(
    wanted: Selection,
    (raw, but): (bool, u32),
    about: &mut Head,
    room: &mut [u8],
) -> Glance<usize> {
    if !is_plain(wanted.tag, but) {
        return Glance::More;
    }
    let Some(task) = session::current() else { return Glance::More };
    let wanted = Selection { context: session::or_current(wanted.context), ..wanted }.pattern();
    let key = Key::new(Context(wanted.context), wanted.tag.map(Tag));
    let key = if raw { key.raw() } else { key };
    fast!(fast => task.take_small(fast.owner, (&wanted, key), about, room), else Glance::More)
}

/// True if a receive of this tag has no more to look for than its message. `but`: bits of
/// [`aside`](crate::aside) that it ignores.
#[inline]
fn is_plain(tag: c_int, but: u32) -> bool {
    tag >= -1 && !aside::has(!but)
}

/// `pvm_recv` of a few bytes that lie next in the lane that gave the last message, by the thread
/// that the process is biased to.
// Inlined: see `Receiver::take_few`.
#[inline(always)]
pub(super) fn take_few(thread: &Thread, owner: Biased, tid: c_int, tag: c_int) -> Option<c_int> {
    if !is_plain(tag, 0) {
        return None;
    }
    let mut place = thread.receiving.place().enter_biased(owner)?;
    // After a longer message most likely comes another of its kind.
    if place.mode == Mode::OTHER || place.content.buffer.data_size() > FEW {
        return None;
    }
    let task = session::current()?;
    let wanted = Partner { tid, tag }.pattern();
    let form = task.take_few(owner, &wanted, &mut place.content.buffer)?;
    (place.content.reading, place.mode) = (true, Mode::of(form, true));
    Some(thread.receiving.id())
}

/// The fast path of a receive into the receive buffer, for a small message that lies next in a busy
/// lane. It changes nothing if it gives none.
#[inline]
pub(super) fn receive(tid: c_int, tag: c_int) -> Glance<c_int> {
    receive_then(tid, tag, |_, _| ())
}

/// Like `receive`, for a call that is noted.
#[inline(never)]
pub(super) fn receive_noted(tid: c_int, tag: c_int) -> Glance<c_int> {
    let Some(begun) = Begun::now() else { return Glance::More };
    receive_then(tid, tag, |id, buffer| begun.taken(calls::RECV, id, buffer, Partner { tid, tag }))
}

/// Like `receive_noted`, within a call that goes its long way.
#[inline]
pub(super) fn receive_within(tid: c_int, tag: c_int) -> Glance<c_int> {
    receive_then(tid, tag, |_, buffer| noting::taken_within(buffer, tid, tag))
}

#[inline]
fn receive_then(tid: c_int, tag: c_int, then: impl FnOnce(c_int, &Buffer)) -> Glance<c_int> {
    if !is_plain(tag, 0) {
        return Glance::More;
    }
    // The long way tells what is wrong.
    fast!(fast => receive_by(&fast, tid, tag, then), else Glance::More)
}

#[inline]
fn receive_by(
    fast: &Fast<impl Owner>,
    tid: c_int,
    tag: c_int,
    then: impl FnOnce(c_int, &Buffer),
) -> Glance<c_int> {
    let (Some(task), Some(slot)) = (session::current(), fast.thread.receiving.slot()) else {
        return Glance::More;
    };
    let Some(mut place) = slot.try_enter(fast.owner) else { return Glance::More };
    let wanted = Partner { tid, tag }.pattern();
    match task.fast_take(fast.owner, &wanted, &mut place.content.buffer) {
        Glance::Taken(()) => {
            (place.content.reading, place.content.role) = (true, Role::Own);
            place.settle();
            let id = fast.thread.receiving.id();
            then(id, &place.content.buffer);
            Glance::Taken(id)
        }
        Glance::Nothing => Glance::Nothing,
        Glance::More => Glance::More,
    }
}

/// Like `receive_by`, for a receive that gives each message a buffer of its own, and knows no
/// matching of the program's. `context` -1 is the current one.
// Inlined: neopvm_receive_items of 1000 bytes takes 14 instructions less.
#[inline(always)]
pub(crate) fn receive_new(wanted: Selection, then: impl FnOnce(&Buffer)) -> Glance<c_int> {
    if !is_plain(wanted.tag, aside::MATCHES) {
        return Glance::More;
    }
    fast!(fast => receive_new_by(&fast, wanted, then), else Glance::More)
}

// Inlined: see `receive_new`.
#[inline(always)]
fn receive_new_by(
    fast: &Fast<impl Owner>,
    wanted: Selection,
    then: impl FnOnce(&Buffer),
) -> Glance<c_int> {
    let Some(task) = session::current() else { return Glance::More };
    let wanted = Selection { context: session::or_current(wanted.context), ..wanted }.pattern();
    buffer::fast::receive_by(fast, |buffer| {
        let taken = task.fast_take(fast.owner, &wanted, buffer);
        if let Glance::Taken(()) = taken {
            then(buffer);
        }
        taken
    })
}

/// A look, and a token of what had arrived before it: a later arrival ends a wait.
pub(crate) struct FirstLook<T = c_int> {
    waiting: Option<(&'static Task, WaitToken)>,
    /// The result of the look.
    pub(crate) seen: Glance<T>,
}

impl<T: Copy + PartialEq> FirstLook<T> {
    #[inline]
    pub(crate) fn now(look: impl Fn() -> Glance<T>) -> Self {
        Self { waiting: session::current().map(|task| (task, task.token())), seen: look() }
    }

    /// Waits a little without sleeping if there was nothing, and looks once more: a receive tries
    /// this before it goes the long way. Nothing is owned meanwhile: longjmp may leave it.
    #[inline]
    pub(crate) fn linger(self, limit: Limit, look: impl Fn() -> Glance<T>) -> Glance<T> {
        match self.waiting {
            Some((task, token))
                if self.seen == Glance::Nothing
                    && limit != Limit::Now
                    && task.linger(token, limit) =>
            {
                look()
            }
            _ => self.seen,
        }
    }
}
