//! The knowledge of a member of a tree besides its place; `handing` has the rules that use it.

use pvm_core::quorum::Member;
use std::collections::BTreeMap;

/// The knowledge of a member of a tree besides its place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relay {
    /// When this member hands on next; none without a tree.
    pub(crate) next_at: Option<u64>,
    /// The member that last named a leader, and the time at which the member just above was last
    /// heard.
    pub(crate) upstream: Option<Member>,
    pub(crate) heard_at: u64,
    /// The leader that a relay named last. A member that takes itself for a voter believes only the
    /// leader itself.
    pub(crate) led_by: Option<Member>,
    /// The member above does not keep the next entry that this member needs.
    pub(crate) lacking: bool,
    /// The number of times that a member was chosen to send to this one, the time of the last
    /// choice, and the present one.
    pub(crate) tries: usize,
    pub(crate) tried_at: u64,
    pub(crate) fostered_by: Option<Member>,
    /// The time at which that member last named a leader.
    pub(crate) fostered_at: u64,
    /// The members that asked this one to send to them, and when.
    pub(crate) fosters: BTreeMap<Member, u64>,
    /// The entry up to which this member and all below it had the log, as reported last.
    pub(crate) told: u64,
    /// The number of changes of the hosts to which this member wants links.
    pub(crate) changes: u64,
}

impl Relay {
    /// When this member hands on next; never without a tree.
    pub(crate) fn at(&self) -> u64 {
        self.next_at.unwrap_or(u64::MAX)
    }

    /// This member hands on, and looks again, no later than then.
    pub(crate) fn hurry(&mut self, then: u64) {
        self.next_at = self.next_at.map(|at| at.min(then));
    }
}
