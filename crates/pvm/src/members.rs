//! The members of groups.

use pvm_wire::{Code, Tid};

/// The members of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Members {
    /// The members by instance number; [`Tid::NONE`] marks a hole.
    pub tids: Vec<Tid>,
    /// True once `pvm_freezegroup` fixed them.
    pub frozen: bool,
}

impl Members {
    /// The member with an instance number.
    ///
    /// # Errors
    /// [`Code::NoInst`].
    pub fn tid(&self, instance: i32) -> Result<Tid, Code> {
        let found = usize::try_from(instance).ok().and_then(|i| self.tids.get(i));
        found.copied().filter(|&tid| tid != Tid::NONE).ok_or(Code::NoInst)
    }

    /// The instance number of a member.
    ///
    /// # Errors
    /// [`Code::NotInGroup`].
    pub fn instance(&self, tid: Tid) -> Result<i32, Code> {
        let found = self.tids.iter().position(|&other| other == tid && tid != Tid::NONE);
        found.and_then(|i| i32::try_from(i).ok()).ok_or(Code::NotInGroup)
    }

    /// The members in the order of their instances, without the holes.
    pub fn present(&self) -> impl Iterator<Item = Tid> {
        self.tids.iter().copied().filter(|&tid| tid != Tid::NONE)
    }

    /// The number of members.
    pub fn size(&self) -> usize {
        self.present().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_have_no_tid_and_count_nothing() {
        let members = Members { tids: vec![Tid(0x40001), Tid::NONE, Tid(0x40003)], frozen: false };
        assert_eq!((members.tid(2), members.tid(1)), (Ok(Tid(0x40003)), Err(Code::NoInst)));
        assert_eq!((members.tid(-1), members.tid(3)), (Err(Code::NoInst), Err(Code::NoInst)));
        assert_eq!(members.instance(Tid(0x40003)), Ok(2));
        assert_eq!(members.instance(Tid::NONE), Err(Code::NotInGroup));
        assert_eq!(members.size(), 2);
    }
}
