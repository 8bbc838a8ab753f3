//! Mappings of other processes' slabs, kept while they are being read and a little longer.

use crate::broker::{Broker, map};
use crate::segment::Mapping;
use pvm_wire::request::SegmentId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Mappings that are kept though nothing in them is being read.
const KEPT: usize = 64;
/// Bytes of all mappings from which on those that nobody reads go when another one comes.
const KEPT_BYTES: usize = 40 << 20;

/// The mappings of one reader.
#[derive(Debug, Default)]
pub(crate) struct Mappings(BTreeMap<SegmentId, Arc<Mapping>>);

impl Mappings {
    /// The mapping of a segment; none if there is no such segment.
    pub(crate) fn get(&mut self, broker: &mut dyn Broker, id: SegmentId) -> Option<Arc<Mapping>> {
        if let Some(mapping) = self.0.get(&id) {
            return Some(mapping.clone());
        }
        let bytes: usize = self.0.values().map(|mapping| mapping.size()).sum();
        if self.0.len() >= KEPT || bytes >= KEPT_BYTES {
            self.0.retain(|_, mapping| Arc::strong_count(mapping) > 1);
        }
        let (_, mapping) = broker.map(id).and_then(map).ok()?;
        self.0.insert(id, mapping.clone());
        Some(mapping)
    }
}
