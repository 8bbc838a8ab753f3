//! The content of the records of a direct route: a stream of frames, no I/O.
//!
//! ```text
//! frame:    0 kind u8 (1 message, 2 confirmation)   8 through u64
//! message:  16 envelope (56)   72 data and run list
//! ```
//! *through* confirms everything up to this number that the other task has sent. A frame may
//! begin and end anywhere in a record.

use crate::buffer::Store;
use pvm_shm::Slab;
use pvm_shm::lane::{INLINE_MAX, Room, room_for};
use pvm_wire::Envelope;

/// A frame without a message.
pub(crate) const FRAME: usize = 16;
/// In front of a message's body.
pub(crate) const MESSAGE_HEAD: usize = FRAME + Envelope::SIZE;
const MESSAGE: u8 = 1;
const CONFIRMATION: u8 = 2;

/// The frame that only confirms.
pub(crate) fn confirmation(through: u64) -> [u8; FRAME] {
    let mut frame = [0; FRAME];
    frame[0] = CONFIRMATION;
    frame[8..].copy_from_slice(&through.to_le_bytes());
    frame
}

/// The head that stands before the body of a message.
pub(crate) fn message_head(through: u64, envelope: &Envelope) -> [u8; MESSAGE_HEAD] {
    let mut head = [0; MESSAGE_HEAD];
    head[0] = MESSAGE;
    head[8..FRAME].copy_from_slice(&through.to_le_bytes());
    head[FRAME..].copy_from_slice(&envelope.to_array());
    head
}

/// The taker of messages and confirmations.
pub(crate) trait Sink {
    /// The other task has everything up to this number.
    fn confirmed(&mut self, through: u64);
    /// False for a message that cannot be one of this route.
    fn is_sound(&self, envelope: &Envelope) -> bool;
    /// Room for a large body.
    fn slab(&mut self, size: usize) -> Option<Slab>;
    /// A whole message.
    fn message(&mut self, envelope: Envelope, store: Store);
}

/// Bytes that are no frames, or no memory for a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unreadable;

#[derive(Debug)]
enum Destination {
    Small(Room),
    Slab(Slab),
}

#[derive(Debug)]
struct Partial {
    envelope: Envelope,
    place: Destination,
    filled: usize,
    size: usize,
}

/// Puts frames together.
#[derive(Debug)]
pub(crate) struct Stream {
    head: [u8; MESSAGE_HEAD],
    have: usize,
    partial: Option<Partial>,
}

impl Stream {
    /// Nothing has come.
    pub(crate) const fn new() -> Self {
        Self { head: [0; MESSAGE_HEAD], have: 0, partial: None }
    }

    /// Takes the data of a record.
    ///
    /// # Errors
    /// The route is of no more use.
    pub(crate) fn take(&mut self, mut data: &[u8], sink: &mut impl Sink) -> Result<(), Unreadable> {
        while !data.is_empty() {
            let used = match &mut self.partial {
                Some(partial) => partial.fill(data),
                None => self.fill_head(data, sink)?,
            };
            data = &data[used..];
            if let Some(whole) = self.partial.take_if(|partial| partial.filled == partial.size) {
                let store = match whole.place {
                    Destination::Small(room) => Store::Small(room),
                    Destination::Slab(slab) => Store::Slab(slab),
                };
                sink.message(whole.envelope, store);
            }
        }
        Ok(())
    }

    fn fill_head(&mut self, data: &[u8], sink: &mut impl Sink) -> Result<usize, Unreadable> {
        // The kind, then, tells the length.
        let kind = if self.have == 0 { data[0] } else { self.head[0] };
        let size = match kind {
            MESSAGE => MESSAGE_HEAD,
            CONFIRMATION => FRAME,
            _ => return Err(Unreadable),
        };
        let used = data.len().min(size - self.have);
        self.head[self.have..self.have + used].copy_from_slice(&data[..used]);
        self.have += used;
        if self.have < size {
            return Ok(used);
        }
        self.have = 0;
        let (frame, envelope) = self.head.split_at(FRAME);
        sink.confirmed(u64::from_le_bytes(frame[8..].try_into().map_err(|_| Unreadable)?));
        if kind == CONFIRMATION {
            return Ok(used);
        }
        let envelope = envelope.first_chunk().ok_or(Unreadable)?;
        let envelope = Envelope::from_array(envelope).map_err(|_| Unreadable)?;
        let size = usize::try_from(envelope.body_size()).map_err(|_| Unreadable)?;
        if !sink.is_sound(&envelope) {
            return Err(Unreadable);
        }
        let place = if size <= INLINE_MAX {
            Destination::Small(room_for(size))
        } else {
            Destination::Slab(sink.slab(size).ok_or(Unreadable)?)
        };
        self.partial = Some(Partial { envelope, place, filled: 0, size });
        Ok(used)
    }
}

impl Partial {
    fn fill(&mut self, data: &[u8]) -> usize {
        let used = data.len().min(self.size - self.filled);
        match &mut self.place {
            Destination::Small(bytes) => {
                bytes[self.filled..self.filled + used].copy_from_slice(&data[..used]);
            }
            Destination::Slab(slab) => slab.write(self.filled, &data[..used]),
        }
        self.filled += used;
        used
    }
}

/// A sink for a fuzzer's input, which must never bring the reader down.
#[derive(Debug, Default)]
struct Count {
    messages: usize,
    confirmed: u64,
}

impl Sink for Count {
    fn confirmed(&mut self, through: u64) {
        self.confirmed = through;
    }
    fn is_sound(&self, envelope: &Envelope) -> bool {
        !envelope.is_spread()
    }
    fn slab(&mut self, _size: usize) -> Option<Slab> {
        None
    }
    fn message(&mut self, _envelope: Envelope, _store: Store) {
        self.messages += 1;
    }
}

/// Reads bytes as the records' data of a direct route, cut at `cut`: how many messages they hold
/// before they make no sense, and the last confirmation. For fuzzing.
#[doc(hidden)]
pub fn read_route(bytes: &[u8], cut: usize) -> (usize, u64) {
    let mut stream = Stream::new();
    let mut count = Count::default();
    for part in bytes.chunks(cut.max(1)) {
        if stream.take(part, &mut count).is_err() {
            break;
        }
    }
    (count.messages, count.confirmed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::{Address, Encoding, Tid};

    #[test]
    fn messages_and_confirmations_come_out_however_the_data_are_cut() {
        let mut bytes = Vec::new();
        for n in 0..50u64 {
            let mut envelope = Envelope::new(Tid(1), Address::untagged(Tid(2)));
            envelope.encoding = Encoding::Raw;
            envelope.data_size = n * 3;
            bytes.extend_from_slice(&message_head(n, &envelope));
            bytes.extend(vec![n as u8; n as usize * 3]);
            bytes.extend_from_slice(&confirmation(n + 1));
        }
        for cut in [1, 7, 16, 72, 100, 16_384] {
            assert_eq!(read_route(&bytes, cut), (50, 50));
        }
        bytes[0] = 77;
        assert_eq!(read_route(&bytes, 100), (0, 0));
    }
}
