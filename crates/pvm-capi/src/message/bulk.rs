//! Items that are packed and sent, or received and unpacked, in one call.

use std::ffi::{c_int, c_void};

use pvm::{Awaited, Buffer, Glance, Head, Task};
use pvm_wire::record::calls;
use pvm_wire::{Address, Code, Context, Encoding, Kind, Tag, Tid};

use super::fast::{FirstLook, receive_items, send_items_of};
use super::matching::{self, Stop};
use super::{check_address, is_nobody, never_comes};
use crate::guard::{call, failed, inside};
use crate::pack::fast::few;
use crate::pack::items::{Items, pack, unpack_what_fits};
use crate::selection::{Partner, Selection, address, source};
use crate::slot::Role;
use crate::trace::noting::{Begun, items_within};
use crate::trace::{int_at, traced};
use crate::waiting::{Limit, Look, wait_for};
use crate::{buffer, handler, held, pointer, probe, session};

/// The type of `pvm_psend` and `pvm_precv`.
fn bulk_kind(number: c_int) -> Result<Kind, Code> {
    if number == 0 {
        return Err(Code::NotImpl);
    }
    Kind::from_number(number).ok_or(Code::BadParam)
}

/// Packs and sends items in one call.
///
/// # Safety
/// The items can be read.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_psend(
    tid: c_int,
    tag: c_int,
    items: *const c_void,
    count: c_int,
    kind: c_int,
) -> c_int {
    // SAFETY: the items can be read until this call returns; null is checked there.
    match unsafe { fast_send(Partner { tid, tag }, items, count, kind) } {
        Some(()) => 0,
        // SAFETY: as above.
        None => unsafe { send(tid, tag, items, count, kind) },
    }
}

/// The fast path, for a small message: straight from the program's memory into the lane. None if it
/// did nothing.
///
/// # Safety
/// The items can be read.
#[inline]
unsafe fn fast_send(
    Partner { tid, tag }: Partner,
    items: *const c_void,
    count: c_int,
    kind: c_int,
) -> Option<()> {
    if tag < 0 {
        return None;
    }
    let kind = Kind::from_number(kind)?;
    let (first, bytes) = few(kind, items.cast_mut(), usize::try_from(count).ok()?, 1)?;
    // SAFETY: not null, and the program's items, which can be read, are `bytes` long.
    let data = unsafe { std::slice::from_raw_parts(first, bytes) };
    let to = address(tid, tag, session::context());
    // The type of raw data goes with them, so that a computer of another layout can read them.
    send_items_of(calls::PSEND, Encoding::Raw, (kind.run_of(bytes).to_word(), data), to)
}

/// The long way: as an in-place message, which is copied once, to the place where its receiver
/// reads it.
///
/// # Safety
/// The items can be read.
#[inline(never)]
unsafe fn send(tid: c_int, tag: c_int, items: *const c_void, count: c_int, kind: c_int) -> c_int {
    traced!(
        unsafe PSEND,
        pvm_psend(tid, tag, items, count, kind),
        [DST: tid, MC: tag, MCX: session::context(), PDA: items, PC: count, PDT: kind],
        |r| [CC: r]
    );
    call("pvm_psend", || {
        let kind = bulk_kind(kind)?;
        let tid = Tid::from_c_int(tid);
        check_address(tid, tag)?;
        if count < 0 {
            // PVM tells of it and sends an empty message.
            failed("pvm_pkbyte", Code::BadParam);
        }
        let items = Items::new(items.cast_mut(), count.max(0), 1)?;
        let mut buffer = Buffer::new(Encoding::InPlace);
        // SAFETY: the items can be read until this call returns, and the buffer that may refer to
        // them ends before.
        unsafe { pack(&mut buffer, kind, items) }?;
        buffer.say_kind(kind);
        let task = session::task()?;
        if is_nobody(tid) {
            return Ok(0);
        }
        task.send(
            &mut buffer,
            Address { to: tid, tag: Tag(tag), context: Context(session::context()) },
        )?;
        Ok(0)
    })
}

/// The places into which `pvm_precv` puts its answers.
#[derive(Clone, Copy)]
struct Answers {
    tid: *mut c_int,
    tag: *mut c_int,
    length: *mut c_int,
}

impl Answers {
    /// Tells of a message.
    ///
    /// # Safety
    /// The answers can be written.
    #[inline]
    unsafe fn give(self, source: Tid, tag: c_int, bytes: usize) {
        let bytes = c_int::try_from(bytes).unwrap_or(c_int::MAX);
        // SAFETY: each answer is null, which `store` skips, or points to an int of the program's.
        unsafe {
            pointer::store(self.tid, source.as_c_int());
            pointer::store(self.tag, tag);
            pointer::store(self.length, bytes);
        }
    }
}

/// Unpacks a whole message into an array; items that do not fit are dropped.
///
/// # Safety
/// The items and the answers can be written.
unsafe fn unpack_bulk(
    mut message: Buffer,
    kind: Kind,
    items: Items,
    answers: Answers,
) -> Result<(), Code> {
    let length = message.reported_size();
    // SAFETY: the items can be written: this function asks its callers for it, too.
    unsafe { unpack_what_fits(&mut message, kind, items) }?;
    // SAFETY: as above.
    unsafe { answers.give(message.source(), message.tag(), length) };
    Ok(())
}

/// Receives and unpacks items in one call.
///
/// # Safety
/// The items can be written; each answer is null or points to an int.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_precv(
    tid: c_int,
    tag: c_int,
    items: *mut c_void,
    count: c_int,
    kind: c_int,
    from_tid: *mut c_int,
    from_tag: *mut c_int,
    length: *mut c_int,
) -> c_int {
    let answers = Answers { tid: from_tid, tag: from_tag, length };
    let taken = if probe::is_on() {
        // SAFETY: the items can be written, and each answer is null or points to an int.
        unsafe { receive_noted(Partner { tid, tag }, (items, count, kind), answers) }
    } else {
        // SAFETY: as above.
        unsafe { fast_receive(Partner { tid, tag }, (items, count, kind), answers, |_| ()) }
    };
    match taken {
        Glance::Taken(()) => 0,
        // SAFETY: as above.
        _ => unsafe { receive(Partner { tid, tag }, (items, count, kind), answers) },
    }
}

/// The fast path, for a small message of raw data: straight out of its lane into the program's
/// memory.
///
/// # Safety
/// The items and the answers can be written.
#[inline]
unsafe fn fast_receive(
    Partner { tid, tag }: Partner,
    (items, count, kind): (*mut c_void, c_int, c_int),
    answers: Answers,
    note: impl FnOnce((&Head, usize)),
) -> Glance<()> {
    let size = Kind::from_number(kind).map(Kind::size);
    let (Some(size), Ok(count)) = (size, usize::try_from(count)) else { return Glance::More };
    let Some(bytes) = count.checked_mul(size).filter(|bytes| *bytes <= isize::MAX as usize) else {
        return Glance::More;
    };
    if items.is_null() {
        return Glance::More;
    }
    // SAFETY: not null, and the program's items are `bytes` long. They may be uninitialised: they
    // are only written to.
    let room = unsafe { std::slice::from_raw_parts_mut(items.cast(), bytes) };
    let mut about = Head::NONE;
    let wanted = Selection { source: tid, tag, context: session::context() };
    match receive_items(wanted, (true, 0), &mut about, room) {
        Glance::Taken(size) => {
            note((&about, size));
            // SAFETY: each answer is null or points to an int: this function asks its callers for
            // it, too.
            unsafe { answers.give(about.source(), about.tag(), size) };
            Glance::Taken(())
        }
        Glance::Nothing => Glance::Nothing,
        Glance::More => Glance::More,
    }
}

/// The fast path of a call that is noted.
///
/// # Safety
/// As for [`fast_receive`].
#[inline(never)]
unsafe fn receive_noted(
    from: Partner,
    items: (*mut c_void, c_int, c_int),
    answers: Answers,
) -> Glance<()> {
    let Some(begun) = Begun::now() else { return Glance::More };
    let note = |message: (&Head, usize)| begun.taken_items(calls::PRECV, 0, message, from);
    // SAFETY: the items and the answers can be written: this function asks its callers for it, too.
    unsafe { fast_receive(from, items, answers, note) }
}

/// The long way, which begins with a little wait for a message that the fast path takes.
///
/// # Safety
/// The items and the answers can be written.
#[inline(never)]
unsafe fn receive(
    Partner { tid, tag }: Partner,
    (items, count, kind): (*mut c_void, c_int, c_int),
    answers: Answers,
) -> c_int {
    let Answers { tid: from_tid, tag: from_tag, length } = answers;
    traced!(
        unsafe PRECV,
        pvm_precv(tid, tag, items, count, kind, from_tid, from_tag, length),
        [RST: tid, RMC: tag, RCX: session::context(), PDA: items, PC: count, PDT: kind],
        |r| [
            CC: r,
            MNB: int_at(length),
            MC: int_at(from_tag),
            MCX: session::context(),
            SRC: int_at(from_tid),
        ]
    );
    // SAFETY: the items and the answers can be written, and the look ends before this call returns.
    let look = || unsafe {
        let note = |message: (&Head, usize)| items_within(message, tid, tag);
        fast_receive(Partner { tid, tag }, (items, count, kind), answers, note)
    };
    let looked = FirstLook::now(look);
    if looked.seen == Glance::Taken(()) {
        return 0;
    }
    let task = session::current();
    if let Some(task) = task {
        task.await_message(Some(&Partner { tid, tag }.pattern()));
    }
    let received = match looked.linger(Limit::Never, look) {
        Glance::Taken(()) => Ok(()),
        Glance::Nothing | Glance::More => inside(|| check_bulk(kind, items, count))
            .map_err(Stop::from)
            // SAFETY: the items and the answers can be written until this call returns.
            .and_then(|(kind, items)| unsafe {
                receive_bulk(Partner { tid, tag }, kind, items, answers)
            }),
    };
    if let Some(task) = task {
        task.await_message(None);
    }
    if received.is_ok() && count < 0 {
        // As with `pvm_psend`.
        failed("pvm_upkbyte", Code::BadParam);
    }
    received.map_or_else(|stop| stop.report("pvm_precv"), |()| 0)
}

/// The result of one look at the queue. The caller stays until there is something.
fn take(
    task: &Task,
    awaited: Awaited,
    Partner { tid, tag }: Partner,
) -> Result<Look<Buffer>, Code> {
    if let Some(due) = handler::arrivals(task)? {
        return Ok(Look::Handler(due));
    }
    let wanted = Partner { tid, tag }.pattern();
    if !held::is_possible() {
        let mut message = Buffer::vacant();
        let found = task.receive_awaited(&wanted, awaited, &mut message)?;
        if found || !held::is_possible() {
            return Ok(if found { Look::Done(message) } else { Look::Nothing });
        }
        // Another thread has shown messages meanwhile, and took them out of the queue.
    }
    Ok(held::receive(task, &wanted)?.map_or(Look::Nothing, Look::Done))
}

/// The arguments of `pvm_precv` that say where the items go.
fn check_bulk(kind: c_int, items: *mut c_void, count: c_int) -> Result<(Kind, Items), Code> {
    Ok((bulk_kind(kind)?, Items::new(items, count.max(0), 1)?))
}

/// Waits for a message, which the program's own matching chooses if there is one, and unpacks it.
/// The receive buffer stays.
///
/// # Safety
/// The items and the answers can be written.
unsafe fn receive_bulk(
    Partner { tid, tag }: Partner,
    kind: Kind,
    items: Items,
    answers: Answers,
) -> Result<(), Stop> {
    if let Some(function) = inside(matching::custom)? {
        let Some(id) = matching::receive(function, Partner { tid, tag }, Limit::Never)? else {
            return Ok(());
        };
        return inside(|| {
            let message = buffer::withdraw(id, Role::Own)?.ok_or(Code::NoSuchBuf)?;
            // SAFETY: the items and the answers can be written: this function asks its callers for
            // it, too.
            unsafe { unpack_bulk(message, kind, items, answers) }
        })
        .map_err(Stop::from);
    }
    inside(|| if never_comes(tid, tag) { Err(Code::BadParam) } else { Ok(()) })?;
    wait_for(Limit::Never, source(tid), |task, awaited| {
        take(task, awaited, Partner { tid, tag })?.and_then(|message| {
            // SAFETY: the items and the answers can be written: this function asks its callers for
            // it, too.
            unsafe { unpack_bulk(message, kind, items, answers) }
        })
    })?;
    Ok(())
}
