//! The members, by the commands applied so far, and their computers.

use crate::tree::Sequence;
use pvm_core::quorum::Member;
use pvm_wire::{Blob, HostIndex};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Deref;

/// All members, sorted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    list: Vec<Member>,
    sequence: Sequence,
    /// A hash of the computer of each member, as far as they are known.
    computers: BTreeMap<Member, u64>,
}

impl Members {
    /// All members in the sequence of the tree.
    pub(crate) const fn sequence(&self) -> &Sequence {
        &self.sequence
    }

    /// The members are these; false if they were.
    pub(crate) fn set(&mut self, mut list: Vec<Member>) -> bool {
        list.sort_unstable();
        let is_new = list != self.list;
        if is_new {
            self.computers.retain(|member, _| list.binary_search(member).is_ok());
            self.sequence = Sequence::of(&list);
            self.list = list;
        }
        is_new
    }

    /// One more is a member, in the place of one on its host; false if it was.
    pub(crate) fn insert(&mut self, member: Member) -> bool {
        if self.list.binary_search(&member).is_ok() {
            return false;
        }
        self.remove(member.host());
        let at = self.list.partition_point(|other| *other < member);
        self.list.insert(at, member);
        self.sequence.insert(member);
        true
    }

    /// There is no member on a host any more; false if there was none.
    pub(crate) fn remove(&mut self, host: HostIndex) -> bool {
        let Some(gone) = self.sequence.remove(host) else { return false };
        self.computers.remove(&gone);
        if let Ok(at) = self.list.binary_search(&gone) {
            self.list.remove(at);
        }
        true
    }

    /// These members are on these computers; told before the members that it is about.
    pub(crate) fn tell_computers(&mut self, of: Vec<(Member, Blob)>) {
        let hashed = of.into_iter().map(|(member, computer)| (member, hash(&computer)));
        self.computers.extend(hashed);
    }

    /// The computer of a member, if it is known: a number that is the same on the same computer.
    pub(crate) fn computer(&self, member: Member) -> Option<u64> {
        self.computers.get(&member).copied()
    }
}

impl Deref for Members {
    type Target = [Member];

    fn deref(&self) -> &[Member] {
        &self.list
    }
}

impl From<Vec<Member>> for Members {
    fn from(list: Vec<Member>) -> Self {
        let mut members = Self::default();
        members.set(list);
        members
    }
}

fn hash(computer: &Blob) -> u64 {
    let mut hasher = DefaultHasher::new();
    computer.0.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(incarnation: u64, host: u16) -> Member {
        Member::new(incarnation, HostIndex(host))
    }

    #[test]
    fn members_that_came_one_by_one_are_those_that_came_together() {
        let mut members = Members::from(vec![member(1, 1), member(2, 2), member(3, 3)]);
        members.tell_computers(vec![(member(2, 2), "x".into()), (member(9, 9), "x".into())]);
        assert!(members.insert(member(9, 9)) && !members.insert(member(9, 9)));
        assert_eq!(members.computer(member(9, 9)), members.computer(member(2, 2)));
        assert!(members.insert(member(10, 2)), "another one on the same host");
        assert!(members.remove(HostIndex(3)) && !members.remove(HostIndex(3)));
        let same = Members::from(vec![member(10, 2), member(9, 9), member(1, 1)]);
        assert_eq!((&*members, members.sequence()), (&*same, same.sequence()));
        assert_eq!(members.computer(member(2, 2)), None);
        assert!(!members.set(same.to_vec()));
    }
}
