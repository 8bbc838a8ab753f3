//! The place of a received message's data.

use crate::lane::Room;
use crate::segment::Mapping;
use crate::slab::{Descriptor, SlabView};
use crate::spill::SpillView;
use pvm_wire::{Bytes, Tid};
use std::sync::Arc;

/// The data (and run list) of a received message.
#[derive(Debug)]
pub enum Payload {
    /// They came in cells of the lane.
    Inline {
        /// The bytes, of which `size` count.
        bytes: Room,
        /// The number of these bytes.
        size: usize,
    },
    /// They lie in the sender's slab.
    Slab(SlabView),
    /// They lie in a file: see [`crate::Inlet::load`].
    Spilled(SpillView),
    /// They lie where this process had no address space, or the host no descriptor, to look: see
    /// [`crate::Inlet::map_now`].
    Unmapped(Unmapped),
}

/// A message whose segment could not be mapped: its slab, or that beside its file. Its sender keeps
/// it until this process has read it or is gone.
#[derive(Clone, Copy, Debug)]
pub struct Unmapped {
    pub(super) descriptor: Descriptor,
    pub(super) size: usize,
    /// The slot of a message that its sender may still be writing.
    pub(super) follows: Option<usize>,
}

impl Unmapped {
    /// Data and run list, in bytes.
    pub const fn size(&self) -> usize {
        self.size
    }

    /// The payload, once the segment of its descriptor is mapped; none if it makes no sense.
    pub(super) fn payload(&self, mapping: Arc<Mapping>, me: Tid) -> Option<Payload> {
        let size = self.size as u64;
        if self.descriptor.is_in_file() {
            return SpillView::new(mapping, me, self.descriptor, size).map(Payload::Spilled);
        }
        let view = SlabView::new(mapping, me, self.descriptor, size)?;
        let view = match self.follows {
            Some(slot) => view.following(slot),
            None => view,
        };
        // One whose sender has died before it was whole was never sent.
        (!view.is_broken()).then_some(Payload::Slab(view))
    }
}

impl Payload {
    /// Data and run list, in bytes.
    pub const fn size(&self) -> usize {
        match self {
            Self::Inline { size, .. } => *size,
            Self::Slab(view) => view.size(),
            Self::Spilled(view) => view.size(),
            Self::Unmapped(slab) => slab.size(),
        }
    }
}

impl Bytes for Payload {
    fn size(&self) -> usize {
        Self::size(self)
    }
    fn copy_to(&self, offset: usize, out: &mut [u8]) {
        match self {
            Self::Inline { bytes, size } => {
                out.copy_from_slice(&bytes[..*size][offset..offset + out.len()]);
            }
            Self::Slab(view) => view.read(offset, out),
            Self::Spilled(view) => {
                if view.read(offset, out).is_err() {
                    out.fill(0);
                }
            }
            Self::Unmapped(_) => out.fill(0),
        }
    }
}
