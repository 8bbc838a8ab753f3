//! Mappings of other processes' slabs, kept while they are being read and a little longer.

use crate::broker::{Broker, map};
use crate::segment::Mapping;
use pvm_wire::Code;
use pvm_wire::request::SegmentId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Mappings that are kept though nothing in them is being read.
const KEPT: usize = 64;
/// Above this many bytes of all mappings, those that nobody reads go when another one comes.
const KEPT_BYTES: usize = 40 << 20;

/// The mappings of one reader.
#[derive(Debug, Default)]
pub(crate) struct Mappings(BTreeMap<SegmentId, Arc<Mapping>>);

impl Mappings {
    /// The mapping of a segment; none if there is no such segment, or no room for it.
    pub(crate) fn get(&mut self, broker: &mut dyn Broker, id: SegmentId) -> Option<Arc<Mapping>> {
        self.find(broker, id).ok()
    }

    /// The mapping of a segment.
    ///
    /// # Errors
    /// [`Code::NoMem`] where this process has no address space for it; another code if there is no
    /// such segment.
    pub(crate) fn find(
        &mut self,
        broker: &mut dyn Broker,
        id: SegmentId,
    ) -> Result<Arc<Mapping>, Code> {
        if let Some(mapping) = self.0.get(&id) {
            return Ok(mapping.clone());
        }
        let bytes: usize = self.0.values().map(|mapping| mapping.size()).sum();
        if self.0.len() >= KEPT || bytes >= KEPT_BYTES {
            self.0.retain(|_, mapping| Arc::strong_count(mapping) > 1);
        }
        let mapped = broker.map(id).and_then(map);
        let (_, mapping) = match mapped {
            Err(Code::NoMem) => {
                // Mappings that nobody reads may take the room.
                self.0.retain(|_, mapping| Arc::strong_count(mapping) > 1);
                broker.map(id).and_then(map)?
            }
            other => other?,
        };
        self.0.insert(id, mapping.clone());
        Ok(mapping)
    }
}
