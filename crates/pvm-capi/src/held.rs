//! Messages that a program's own matching (`pvm_recvf`) has been shown.
//!
//! A matching function may unpack the messages that it is shown, so they leave the task's queue for
//! the buffer table. They stay in order here, and every later receive looks here first: they
//! arrived before anything that is still in the queue.

use std::ffi::c_int;

use pvm::{Buffer, Forked, Gate, Pattern, Task};
use pvm_wire::{Code, Envelope};

use crate::slot::{Content, Role};
use crate::{aside, buffer};

/// A message that waits here.
#[derive(Clone, Copy)]
struct HeldMessage {
    envelope: Envelope,
    shown: Shown,
}

/// A message as the program's function is shown it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The number of its buffer.
    pub(crate) id: c_int,
    /// Its number among the messages that came here, from 1 on.
    pub(crate) place: u64,
}

/// The waiting messages, in order, and how many ever came.
struct Queue {
    messages: Vec<HeldMessage>,
    last: u64,
}

static HELD: Gate<Queue> = Gate::new(Queue { messages: Vec::new(), last: 0 });

/// Contexts of messages that are not the program's to choose: caught output, collective calls.
const SYSTEM_CONTEXTS: std::ops::RangeInclusive<c_int> = 0x7_fff6..=0x7_ffff;

/// True once a message was shown.
#[inline]
pub(crate) fn is_possible() -> bool {
    aside::has(aside::SHOWS)
}

pub(crate) fn reset_after_fork(forked: &Forked) {
    HELD.reset_after_fork(forked, || Queue { messages: Vec::new(), last: 0 });
    if let Ok(mut held) = HELD.enter() {
        for message in std::mem::take(&mut held.messages) {
            let _ = look(message.shown, |content| content.role = Role::Own);
        }
    }
}

/// The task leaves, so the messages that it has not received are dropped.
pub(crate) fn forget_all() -> Result<(), Code> {
    if !is_possible() {
        return Ok(());
    }
    let left = std::mem::take(&mut HELD.enter()?.messages);
    for Shown { id, place } in left.into_iter().map(|message| message.shown) {
        buffer::forget_current(id);
        drop(buffer::withdraw(id, Role::Held(place))?);
    }
    Ok(())
}

/// Takes all messages out of the queue and tells those that wait here behind `seen`, in order.
pub(crate) fn show_all(task: &Task, seen: u64) -> Result<Vec<Shown>, Code> {
    aside::set(aside::SHOWS);
    let mut held = HELD.enter()?;
    for (key, envelope) in task.pending()? {
        if SYSTEM_CONTEXTS.contains(&envelope.context) {
            continue;
        }
        if let Some(message) = task.take(key)? {
            let place = held.last + 1;
            let id = buffer::insert_held(message, place)?;
            held.last = place;
            held.messages.push(HeldMessage { envelope, shown: Shown { id, place } });
        }
    }
    held.messages.retain(|message| look(message.shown, |_| ()) != Ok(None));
    Ok(held.messages.iter().map(|message| message.shown).filter(|s| s.place > seen).collect())
}

/// Reads a shown message again from its start; false if it is not here any more: another thread
/// has received it, or the program has freed it.
pub(crate) fn put_back(shown: Shown) -> Result<bool, Code> {
    let mut held = HELD.enter()?;
    let is_here = look(shown, |content| content.buffer.rewind())?.is_some();
    if !is_here {
        held.messages.retain(|message| message.shown != shown);
    }
    Ok(is_here)
}

/// The message is the program's from now on; false if it is not here any more.
pub(crate) fn remove(shown: Shown) -> Result<bool, Code> {
    let mut held = HELD.enter()?;
    held.messages.retain(|message| message.shown != shown);
    Ok(look(shown, |content| content.role = Role::Own)?.is_some())
}

/// Runs `body` on a message that waits here; none if it does so no more: the program has freed it,
/// or another message lies in its place.
fn look<T>(shown: Shown, body: impl FnOnce(&mut Content) -> T) -> Result<Option<T>, Code> {
    let found = buffer::get(shown.id)?
        .content(|content| (content.role == Role::Held(shown.place)).then(|| body(content)));
    match found {
        Err(Code::NoSuchBuf) => Ok(None),
        found => found,
    }
}

fn fits(pattern: &Pattern, message: &HeldMessage) -> bool {
    let envelope = &message.envelope;
    pattern.context == envelope.context
        && pattern.source.is_none_or(|source| source == envelope.src)
        && pattern.tag.is_none_or(|tag| tag == envelope.tag)
}

/// The first message that matches, from here or from the queue. The caller holds the place of no
/// buffer: a message that waits here may lie in that place.
pub(crate) fn receive(task: &Task, pattern: &Pattern) -> Result<Option<Buffer>, Code> {
    // Held until the queue has been asked: a message that another thread has shown meanwhile would
    // be behind both looks.
    let mut held = HELD.enter()?;
    while let Some(index) = held.messages.iter().position(|message| fits(pattern, message)) {
        let Shown { id, place } = held.messages.remove(index).shown;
        if let Some(message) = buffer::withdraw(id, Role::Held(place))? {
            return Ok(Some(message));
        }
    }
    task.receive(pattern)
}

/// Envelope and length of the first message that matches; it stays.
pub(crate) fn probe(task: &Task, pattern: &Pattern) -> Result<Option<(Envelope, usize)>, Code> {
    // Held as in `receive`.
    let held = HELD.enter()?;
    for message in held.messages.iter().filter(|message| fits(pattern, message)) {
        if let Some(size) = look(message.shown, |content| content.size())? {
            return Ok(Some((message.envelope, size)));
        }
    }
    task.probe(pattern)
}
