//! The members that a leader of two hosts needs. The rules for them are in `pair`.

use pvm_core::quorum::Member;

/// The members that a leader needs besides the majority.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Need {
    /// They must have what is committed.
    pub(crate) members: Vec<Member>,
    /// They must have answered of late, too.
    pub(crate) lease: bool,
    /// The time since which they are needed.
    pub(crate) since: u64,
}

impl Need {
    /// No member is needed.
    pub(crate) const NOBODY: Self = Self { members: Vec::new(), lease: false, since: 0 };
}
