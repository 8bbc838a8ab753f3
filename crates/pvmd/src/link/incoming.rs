//! A message that comes over a link in pieces, and goes straight into shared memory.

use crate::inbox::Inbox;
use crate::link::session::{Arrived, Incoming};
use pvm_shm::{Body, Slab};
use pvm_wire::{Envelope, HostIndex};

/// A body up to this size is put together here; larger ones in a slab.
const SMALL_BYTES_MAX: u64 = 4096;

/// The peer says what no daemon says.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Nonsense {
    /// A message that is not between its host and this one.
    #[error("a message that is not for this link")]
    Address,
    /// Numbers with a hole.
    #[error("a message is missing")]
    Gap,
    /// More bytes than announced, or bytes of no message.
    #[error("bytes that belong to no message")]
    Bytes,
}

#[derive(Debug)]
enum Place {
    Small(Vec<u8>),
    Slab(Slab),
    /// Delivered before, or no memory: the bytes are passed over.
    Nowhere,
}

#[derive(Debug)]
struct Partial {
    sequence: u64,
    envelope: Envelope,
    place: Place,
    filled: usize,
    size: usize,
}

/// The messages of one peer.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    partial: Option<Partial>,
    /// The numbers.
    pub(crate) session: Incoming,
}

impl Assembly {
    /// A new connection: what was half there comes again from its beginning.
    pub(crate) fn resume(&mut self, incarnation: u64) {
        self.partial = None;
        self.session.resume(incarnation);
    }

    /// A message begins. True if it is complete with that.
    pub(crate) fn begin(
        &mut self,
        inbox: &mut Inbox,
        (from, to): (HostIndex, HostIndex),
        (sequence, envelope): (u64, Envelope),
    ) -> Result<bool, Nonsense> {
        if self.partial.is_some() {
            return Err(Nonsense::Bytes);
        }
        let size = usize::try_from(envelope.body_size()).map_err(|_| Nonsense::Bytes)?;
        let place = match self.session.judge(sequence) {
            Arrived::Gap => return Err(Nonsense::Gap),
            Arrived::Again => Place::Nowhere,
            Arrived::New if envelope.src.host() != from || envelope.dst.host() != to => {
                return Err(Nonsense::Address);
            }
            Arrived::New if envelope.body_size() <= SMALL_BYTES_MAX => {
                Place::Small(Vec::with_capacity(size))
            }
            Arrived::New => inbox.slab(size).map_or(Place::Nowhere, Place::Slab),
        };
        self.partial = Some(Partial { sequence, envelope, place, filled: 0, size });
        Ok(self.finish(inbox))
    }

    /// More of the body. True if it is complete with that.
    pub(crate) fn more(&mut self, inbox: &mut Inbox, bytes: &[u8]) -> Result<bool, Nonsense> {
        let partial = self.partial.as_mut().ok_or(Nonsense::Bytes)?;
        if bytes.len() > partial.size - partial.filled {
            return Err(Nonsense::Bytes);
        }
        match &mut partial.place {
            Place::Small(body) => body.extend_from_slice(bytes),
            Place::Slab(slab) => slab.write(partial.filled, bytes),
            Place::Nowhere => {}
        }
        partial.filled += bytes.len();
        Ok(self.finish(inbox))
    }

    fn finish(&mut self, inbox: &mut Inbox) -> bool {
        let Some(mut done) = self.partial.take_if(|p| p.filled == p.size) else { return false };
        // A receiver that is gone needs nothing; without memory the host is lost anyway.
        match &mut done.place {
            Place::Small(bytes) => _ = inbox.send(&done.envelope, Body::Bytes(&[&bytes[..]])),
            Place::Slab(slab) => _ = inbox.send(&done.envelope, Body::Slab(slab)),
            Place::Nowhere => {}
        }
        if self.session.judge(done.sequence) == Arrived::New {
            self.session.deliver(done.sequence);
        }
        true
    }
}
