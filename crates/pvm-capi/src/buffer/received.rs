//! Buffers of received messages: the receive buffer, others, and those of probes.

use std::ffi::c_int;

use pvm::Buffer;
use pvm_wire::{Code, Envelope};

use super::current::{set_receiving, watch};
use super::numbers::{free, give_back, insert, reserve};
use crate::slot::{Content, Role};
use crate::thread;

/// Receives into the receive buffer and tells its number; none if `receive` gives nothing. The old
/// one is given up in any case, and as its number would be the next to be given out, its place and
/// its memory are used again.
#[inline]
pub(crate) fn receive(
    receive: impl FnOnce(&mut Buffer) -> Result<bool, Code>,
) -> Result<Option<c_int>, Code> {
    let (old, slot) = thread::here(|thread| (thread.receiving.id(), thread.receiving.slot()));
    let again = match slot {
        Some(slot) => slot.receive_again(receive),
        None => Err(receive),
    };
    let (id, received) = match again {
        Ok(received) => (old, received),
        Err(receive) => {
            let (id, slot) = reserve()?;
            let received = slot.receive(receive);
            if received == Ok(true) {
                set_receiving(id, Some(slot));
            }
            (id, received)
        }
    };
    if received == Ok(true) {
        return Ok(Some(id));
    }
    give_back(id)?;
    thread::here(|thread| thread.receiving.clear());
    received.map(|_| None)
}

/// Receives into a buffer with a number of its own; none if `receive` gives nothing. The number is
/// there before the message leaves its queue, so that no message is lost for want of one. `receive`
/// holds the place.
pub(crate) fn receive_new(
    receive: impl FnOnce(&mut Buffer) -> Result<bool, Code>,
) -> Result<Option<c_int>, Code> {
    let (id, slot) = reserve()?;
    let received = slot.receive(receive);
    if received == Ok(true) {
        return Ok(Some(id));
    }
    give_back(id)?;
    received.map(|_| None)
}

/// A message that is there becomes the receive buffer.
pub(crate) fn receive_into(message: Buffer) -> Result<c_int, Code> {
    let put = |buffer: &mut Buffer| {
        *buffer = message;
        Ok(true)
    };
    receive(put)?.ok_or(Code::SysErr)
}

/// A number for a message that stays in the queue: its envelope and its length, no items. The
/// number given out before is void.
pub(crate) fn probed(envelope: &Envelope, size: usize) -> Result<c_int, Code> {
    free(thread::here(|thread| thread.probed.clear()));
    let mut buffer = Buffer::new(envelope.encoding);
    buffer.edit(|about| *about = *envelope);
    let (id, slot) = insert(Content { buffer, reading: true, role: Role::Probed(size) })?;
    thread::here(|thread| {
        watch(thread);
        thread.probed.set(id, Some(slot));
    });
    Ok(id)
}
