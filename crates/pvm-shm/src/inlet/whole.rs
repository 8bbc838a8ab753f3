//! Whether a message that is read while it is written is whole.

use crate::broker::Broker;
use crate::lane::Popped;
use crate::mappings::Mappings;
use crate::slab::Descriptor;
use crate::stream::{self, Filled};

/// The slot that a cell of a stream names behind its descriptor.
pub(super) fn slot_of(room: &[u8]) -> Option<usize> {
    let slot = room[Descriptor::SIZE..].first_chunk().map(|slot| u32::from_ne_bytes(*slot))?;
    Some(slot as usize).filter(|slot| *slot < stream::SLOTS_MAX)
}

/// False while the body of a stream is still being written. One that makes no sense counts as
/// whole: the inlet drops it.
pub(super) fn is_whole(
    slabs: &mut Mappings,
    broker: &mut dyn Broker,
    popped: &Popped,
    room: &[u8],
) -> bool {
    let size = popped.envelope.map_or(0, |envelope| envelope.body_size());
    let words = Descriptor::from_slice(&room[..popped.size])
        .and_then(|descriptor| slabs.get(broker, descriptor.segment))
        .zip(slot_of(room));
    let Some((mapping, slot)) = words else { return true };
    stream::words(&mapping, slot).is_none_or(|words| match words.filled() {
        Filled::Bytes(bytes) => bytes >= size,
        Filled::Left(_) => true,
    })
}
