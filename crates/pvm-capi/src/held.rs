//! Messages that a program's own matching (`pvm_recvf`) has been shown.
//!
//! A matching function may unpack the messages that it is shown, so they leave the task's queue for
//! the buffer table. They stay in order here, and every later receive looks here first: they
//! arrived before anything that is still in the queue.

use std::ffi::c_int;

use pvm::{Buffer, Forked, Gate, Pattern, Task};
use pvm_wire::{Code, Envelope};

use crate::{aside, buffer};

/// A message that waits here.
#[derive(Clone, Copy)]
struct Held {
    envelope: Envelope,
    shown: Shown,
}

/// A message as the program's function is shown it.
#[derive(Clone, Copy)]
pub(crate) struct Shown {
    /// The number of its buffer.
    pub(crate) id: c_int,
    /// Its number among the messages that came here, from 1 on.
    pub(crate) place: u64,
}

/// The waiting messages, in order, and how many ever came.
struct Queue {
    messages: Vec<Held>,
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
        held.messages.clear();
    }
}

/// The task leaves: messages that it has not received are nobody's.
pub(crate) fn forget_all() -> Result<(), Code> {
    if !is_possible() {
        return Ok(());
    }
    let left = std::mem::take(&mut HELD.enter()?.messages);
    left.iter().for_each(|message| buffer::free_everywhere(message.shown.id));
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
            let id = buffer::insert_received(message)?;
            held.last += 1;
            let shown = Shown { id, place: held.last };
            held.messages.push(Held { envelope, shown });
        }
    }
    Ok(held.messages.iter().map(|message| message.shown).filter(|s| s.place > seen).collect())
}

/// Reads a shown message again from its start.
pub(crate) fn put_back(id: c_int) -> Result<(), Code> {
    match buffer::get(id)?.with(Buffer::rewind) {
        // The matching function freed it.
        Err(Code::NoSuchBuf) => remove(id),
        done => done,
    }
}

/// The message is the program's from now on.
pub(crate) fn remove(id: c_int) -> Result<(), Code> {
    HELD.enter()?.messages.retain(|message| message.shown.id != id);
    Ok(())
}

fn first(held: &[Held], pattern: &Pattern) -> Option<usize> {
    held.iter().position(|message| {
        let envelope = &message.envelope;
        pattern.context == envelope.context
            && pattern.source.is_none_or(|source| source == envelope.src)
            && pattern.tag.is_none_or(|tag| tag == envelope.tag)
    })
}

/// The first message that matches, from here or from the queue.
pub(crate) fn receive(task: &Task, pattern: &Pattern) -> Result<Option<Buffer>, Code> {
    if !is_possible() {
        return task.receive(pattern);
    }
    let found = {
        let mut held = HELD.enter()?;
        first(&held.messages, pattern).map(|index| held.messages.remove(index).shown.id)
    };
    match found.and_then(|id| buffer::withdraw(id).transpose()) {
        Some(message) => message.map(Some),
        None => task.receive(pattern),
    }
}

/// Like `receive`, into a buffer; false if there is none. `waits`: the caller stays until it has
/// one.
#[inline]
pub(crate) fn receive_into(
    task: &Task,
    pattern: &Pattern,
    waits: bool,
    buffer: &mut Buffer,
) -> Result<bool, Code> {
    if !is_possible() && waits {
        return task.receive_awaited(pattern, buffer);
    }
    if !is_possible() {
        return task.receive_into(pattern, buffer);
    }
    let found = receive(task, pattern)?;
    Ok(found.map(|message| *buffer = message).is_some())
}

/// Envelope and length of the first message that matches; it stays.
pub(crate) fn probe(task: &Task, pattern: &Pattern) -> Result<Option<(Envelope, usize)>, Code> {
    if !is_possible() {
        return task.probe(pattern);
    }
    let found = {
        let held = HELD.enter()?;
        first(&held.messages, pattern).map(|index| held.messages[index])
    };
    if let Some(Held { envelope, shown }) = found
        && let Ok(size) = buffer::get(shown.id)?.with(|buffer| buffer.reported_size())
    {
        return Ok(Some((envelope, size)));
    }
    task.probe(pattern)
}
