//! What a member of a tree knows besides its place; what follows from it stands in `handing`.

use pvm_core::quorum::Member;
use std::collections::BTreeMap;

/// What a member of a tree knows besides its place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relay {
    /// When to let itself be heard again; none without a tree.
    pub(crate) next_at: Option<u64>,
    /// Who spoke from above last, and when.
    pub(crate) upstream: Option<Member>,
    pub(crate) heard_at: u64,
    /// Who leads, as was told by a relay last: who takes itself for a voter believes it of nobody
    /// but itself.
    pub(crate) led_by: Option<Member>,
    /// The one above keeps no more what this member needs next.
    pub(crate) lacking: bool,
    /// How often another one was asked to speak to this member, when for the first time, and who
    /// that is.
    pub(crate) tries: usize,
    pub(crate) tried_at: u64,
    pub(crate) fostered_by: Option<Member>,
    /// When that one spoke last.
    pub(crate) fostered_at: u64,
    /// Those that asked this one, and when.
    pub(crate) fosters: BTreeMap<Member, u64>,
    /// Up to where this member and all below it had everything when that was said last.
    pub(crate) told: u64,
    /// How often it changed to whom links are to stand.
    pub(crate) changes: u64,
}

impl Relay {
    /// When to let itself be heard again; never without a tree.
    pub(crate) fn at(&self) -> u64 {
        self.next_at.unwrap_or(u64::MAX)
    }
}
