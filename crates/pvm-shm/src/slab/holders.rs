//! The tasks that still read something in a segment.

use crate::segment::{Mapping, PAGE};
use crate::sync::{AtomicU32, Ordering};
use pvm_wire::Tid;
use std::collections::BTreeSet;

/// Holders of a segment; a slot has its share of them.
pub(crate) const HOLDERS: usize = PAGE / 2 / size_of::<u32>();
/// The holders of a segment.
pub(super) fn holders(mapping: &Mapping) -> &[AtomicU32] {
    // SAFETY: atomics, valid for any bits.
    unsafe { mapping.views(0, HOLDERS) }
}

/// All holders. Those of a slab, of which the keeper maps one page, fill half of that page (the
/// words of `stream` come behind); those of a file fill its segment.
fn all_holders(mapping: &Mapping) -> &[AtomicU32] {
    let all = mapping.size() / size_of::<u32>();
    // SAFETY: atomics, valid for any bits.
    unsafe { mapping.views(0, if mapping.size() == PAGE { HOLDERS } else { all }) }
}

/// Keeper: adds the tasks that read anything of the segment.
pub(crate) fn readers(mapping: &Mapping, out: &mut BTreeSet<Tid>) {
    let names = all_holders(mapping).iter().map(|holder| holder.load(Ordering::Acquire));
    out.extend(names.filter(|name| *name != 0).map(Tid));
}

/// Keeper: strikes a dead receiver out. True if nobody reads any slot of the segment.
pub(crate) fn strike_out(mapping: &Mapping, dead: Option<Tid>) -> bool {
    let mut empty = true;
    for holder in all_holders(mapping) {
        match holder.load(Ordering::Acquire) {
            0 => {}
            name if dead.is_some_and(|tid| tid.0 == name) => holder.store(0, Ordering::Release),
            _ => empty = false,
        }
    }
    empty
}
