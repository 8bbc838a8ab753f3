//! Messages that come over a link in parts, and go straight into shared memory.

use crate::inbox::Inbox;
use crate::link::frames::LinkFrame;
use pvm_shm::spill::Draft;
use pvm_shm::{Body, Sent, Slab};
use pvm_wire::spread::Receiver;
use pvm_wire::{Code, Envelope, HostIndex, write_frame};
use std::collections::{BTreeMap, BTreeSet};

/// A body up to this size is put together here; larger ones in a slab.
const SMALL_BYTES_MAX: u64 = 4096;
/// Messages that may be half there at a time: one for each sender of a host.
const PARTIALS_MAX: usize = 1 << 18;

/// The peer says what no daemon says.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Nonsense {
    /// A message that is not between its host and this one.
    #[error("a message that is not for this link")]
    Address,
    /// More bytes than announced, or bytes of no message.
    #[error("bytes that belong to no message")]
    Bytes,
}

#[derive(Debug)]
enum Destination {
    Small(Vec<u8>),
    Slab(Slab),
    /// No credit in memory.
    File(Draft),
    /// No memory: the bytes are passed over, and asked for again.
    Nowhere,
}

#[derive(Debug)]
struct Partial {
    envelope: Envelope,
    receivers: Vec<Receiver>,
    place: Destination,
    filled: usize,
    size: usize,
}

/// The messages of one peer, on one connection.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    partials: BTreeMap<u32, Partial>,
    /// Delivered, and the peer has not been told.
    delivered: BTreeMap<u32, u32>,
    /// Streams of which nothing more is taken.
    refused: BTreeSet<u32>,
    /// Those of them that the peer has not been told of.
    again: Vec<u32>,
}

impl Assembly {
    /// A message begins.
    pub(crate) fn begin(
        &mut self,
        inbox: &mut Inbox,
        (from, to): (HostIndex, HostIndex),
        stream: u32,
        (envelope, receivers, bytes): (Envelope, Vec<Receiver>, &[u8]),
    ) -> Result<(), Nonsense> {
        if self.partials.contains_key(&stream) || self.partials.len() >= PARTIALS_MAX {
            return Err(Nonsense::Bytes);
        }
        let here = |tid: pvm_wire::Tid| tid.is_task() && tid.host() == to;
        let addressed = if envelope.is_spread() {
            receivers.iter().all(|receiver| here(receiver.tid))
        } else {
            here(envelope.dst) && receivers.is_empty()
        };
        if envelope.src.host() != from || !envelope.src.is_task() || !addressed {
            return Err(Nonsense::Address);
        }
        let size = usize::try_from(envelope.body_size()).map_err(|_| Nonsense::Bytes)?;
        let place = if self.refused.contains(&stream) {
            Destination::Nowhere
        } else if envelope.body_size() <= SMALL_BYTES_MAX {
            Destination::Small(Vec::with_capacity(size))
        } else {
            let readers = receivers.len().max(1);
            inbox.slab(size).map(Destination::Slab).unwrap_or_else(|_| {
                inbox.spill(size, readers).map_or(Destination::Nowhere, Destination::File)
            })
        };
        self.partials.insert(stream, Partial { envelope, receivers, place, filled: 0, size });
        self.more(inbox, stream, bytes)
    }

    /// More of the body.
    pub(crate) fn more(
        &mut self,
        inbox: &mut Inbox,
        stream: u32,
        bytes: &[u8],
    ) -> Result<(), Nonsense> {
        let partial = self.partials.get_mut(&stream).ok_or(Nonsense::Bytes)?;
        if bytes.len() > partial.size - partial.filled {
            return Err(Nonsense::Bytes);
        }
        match &mut partial.place {
            Destination::Small(body) => body.extend_from_slice(bytes),
            Destination::Slab(slab) => slab.write(partial.filled, bytes),
            Destination::File(draft) => {
                if draft.write(partial.filled, bytes).is_err() {
                    partial.place = Destination::Nowhere;
                }
            }
            Destination::Nowhere => {}
        }
        partial.filled += bytes.len();
        if partial.filled == partial.size
            && let Some(done) = self.partials.remove(&stream)
        {
            self.finish(inbox, stream, done);
        }
        Ok(())
    }

    fn finish(&mut self, inbox: &mut Inbox, stream: u32, done: Partial) {
        if deliver(inbox, done).is_ok() {
            *self.delivered.entry(stream).or_default() += 1;
        } else if self.refused.insert(stream) {
            self.again.push(stream);
        }
    }

    /// True where the peer is to be told something.
    pub(crate) fn has_reports(&self) -> bool {
        !self.delivered.is_empty() || !self.again.is_empty()
    }

    /// Puts what the peer is to be told into a batch.
    pub(crate) fn report(&mut self, batch: &mut Vec<u8>) {
        for (stream, count) in std::mem::take(&mut self.delivered) {
            write_frame(batch, 0, &LinkFrame::Delivered { stream, count });
        }
        for stream in std::mem::take(&mut self.again) {
            write_frame(batch, 0, &LinkFrame::Again { stream });
        }
    }
}

/// Puts a message into the inboxes of its receivers. A receiver that is gone needs nothing; if
/// some have it when memory ends, they will drop it the second time.
fn deliver(inbox: &mut Inbox, mut message: Partial) -> Result<(), Code> {
    let mut envelopes = vec![message.envelope];
    if message.envelope.is_spread() {
        let plain =
            Envelope { flags: message.envelope.flags & !Envelope::SPREAD, ..message.envelope };
        let to = |receiver: &Receiver| Envelope {
            dst: receiver.tid,
            sequence: receiver.sequence,
            ..plain
        };
        envelopes = message.receivers.iter().map(to).collect();
        // One copy for all of them.
        if let Destination::Small(bytes) = &message.place
            && bytes.len() > pvm_shm::lane::INLINE_MAX
        {
            message.place = match inbox.slab(bytes.len()) {
                Ok(slab) => {
                    slab.write(0, bytes);
                    Destination::Slab(slab)
                }
                Err(_) => {
                    let draft = inbox.spill(bytes.len(), envelopes.len())?;
                    draft.write(0, bytes)?;
                    Destination::File(draft)
                }
            };
        }
    }
    for envelope in &envelopes {
        let sent = match &mut message.place {
            Destination::Small(bytes) => inbox.send(envelope, Body::Bytes(&[&bytes[..]]))?,
            Destination::Slab(slab) => inbox.send(envelope, Body::Slab(slab))?,
            Destination::File(draft) => inbox.send(envelope, Body::Draft(draft))?,
            Destination::Nowhere => return Err(Code::NoMem),
        };
        if sent == Sent::Full {
            return Err(Code::OutOfRes);
        }
    }
    Ok(())
}
