//! The parts of a message that are sent, and where they lie meanwhile.

use super::{Buffer, Store, room_in_memory};
use crate::source;
use crate::sys::memory::ProgramMemory;
use pvm_shm::Slab;
use pvm_shm::lane::SPANNING_MAX;
use pvm_wire::{Code, Encoding, Envelope};

/// In-place messages from here on are read while they are written, where the receiver waits for
/// them: with less, telling how far it is costs more than it brings.
const STREAM_MIN: usize = 32 << 10;

/// A message's body on its way.
pub(crate) enum Prepared<'a> {
    /// Private memory: data, and the bytes that go behind them.
    Bytes(&'a [u8], Vec<u8>),
    /// The buffer's own slab.
    Slab(&'a mut Slab),
    /// A slab for this send alone.
    Copy(Slab),
}

impl Buffer {
    /// Once sent, in-place data are raw data.
    pub fn sent_encoding(&self) -> Encoding {
        if self.encoding == Encoding::InPlace { Encoding::Raw } else { self.encoding }
    }

    /// Bytes of the data that would be sent now.
    pub fn sent_size(&self) -> usize {
        if self.in_place.is_empty() {
            self.size
        } else {
            self.in_place.iter().map(|piece| piece.size()).sum()
        }
    }

    /// The pieces of an in-place message that is worth being read while it is written.
    pub(crate) fn stream(&self) -> Option<(Envelope, usize, &[ProgramMemory])> {
        let size = self.sent_size();
        if self.in_place.is_empty() || size < STREAM_MIN {
            return None;
        }
        Some((self.envelope(), size, &self.in_place))
    }

    /// The envelope and the body to send now: in-place data are copied, as the program may change
    /// them when the send returns.
    pub(crate) fn prepare(&mut self) -> Result<(Envelope, Prepared<'_>), Code> {
        let (size, envelope) = (self.sent_size(), self.envelope());
        let body = if self.in_place.is_empty() {
            self.prepare_own(size)
        } else {
            self.prepare_in_place(size)
        };
        Ok((envelope, body?))
    }

    fn prepare_own(&mut self, size: usize) -> Result<Prepared<'_>, Code> {
        let list = self.run_list();
        // A slab of our own serves as it is; all else goes into one if it is more than rides in a
        // lane.
        let whole = size + list.len();
        if whole > SPANNING_MAX && !matches!(self.store, Store::Slab(_)) {
            self.move_to(whole)?;
        }
        if !list.is_empty() && matches!(self.store, Store::Slab(_)) {
            self.reserve(list.len())?;
        }
        Ok(match &mut self.store {
            Store::Slab(slab) => {
                if !list.is_empty() {
                    slab.write(size, &list);
                    self.sealed = true;
                }
                Prepared::Slab(slab)
            }
            Store::Small(bytes) => Prepared::Bytes(&bytes[..size], list),
            Store::Heap(bytes) => Prepared::Bytes(&bytes[..size], list),
            Store::Received(view) => {
                let mut bytes = room_in_memory(size + list.len())?;
                bytes.resize(size, 0);
                view.read(0, &mut bytes);
                if view.is_broken() {
                    return Err(Code::NoData);
                }
                bytes.extend(list);
                Prepared::Bytes(&[], bytes)
            }
            Store::Spilled(_) | Store::Unmapped(_) => return Err(Code::BadMsg),
        })
    }

    fn prepare_in_place(&mut self, size: usize) -> Result<Prepared<'_>, Code> {
        if size > SPANNING_MAX
            && let Some(slab) = source::slab(size)
        {
            let mut at = 0;
            for piece in &self.in_place {
                slab.write(at, piece.bytes());
                at += piece.size();
            }
            return Ok(Prepared::Copy(slab));
        }
        let mut bytes = room_in_memory(size)?;
        self.in_place.iter().for_each(|piece| bytes.extend_from_slice(piece.bytes()));
        Ok(Prepared::Bytes(&[], bytes))
    }
}
