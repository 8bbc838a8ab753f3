//! Tasks that wait for one another: barriers and the freezing of groups.
//!
//! Kept on one host, the group's home, off the path of ordered commands: a barrier costs each
//! member one question and one answer. A barrier that can never be met, because a member died,
//! answers with an error instead of hanging.

use crate::group::{Group, Groups};
use crate::pending::Asker;
use crate::records::{Change, Table};
use pvm_wire::{Blob, Code, Tid, record};

/// What tasks wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Purpose {
    Barrier = 1,
    Freeze = 2,
}

record! {
    /// Tasks that wait.
    pub struct Gathering {
        /// How many it takes.
        pub count: u32,
        pub waiting: Vec<Waiting>,
    }

    /// One of them.
    pub struct Waiting {
        pub asker: Asker,
        pub tid: Tid,
    }
}

/// All gatherings of the groups that are at home here.
#[derive(Debug)]
pub(crate) struct Gatherings {
    gatherings: Table<(Blob, u8), Gathering>,
}

impl Gatherings {
    pub(crate) const fn new() -> Self {
        Self { gatherings: Table::new(b'B') }
    }

    /// A member has come. Returns everybody if it was the last, nobody if it must wait.
    pub(crate) fn enter(
        &mut self,
        name: &Blob,
        purpose: Purpose,
        group: &Group,
        count: i32,
        member: Waiting,
    ) -> Result<Vec<Asker>, Code> {
        if !group.has(member.tid) {
            return Err(Code::NotInGroup);
        }
        let count = match count {
            -1 => u32::try_from(group.size()).map_err(|_| Code::OutOfRes)?,
            // PVM 3.4.6 answers so to a count of 0.
            count => u32::try_from(count).ok().filter(|&c| c > 0).ok_or(Code::Mismatch)?,
        };
        // Who is missing died.
        if count as usize > group.size() && group.lost > 0 {
            return Err(Code::NoTask);
        }
        let key = (name.clone(), purpose as u8);
        if !self.gatherings.contains(&key) {
            self.gatherings.insert(key.clone(), Gathering { count, waiting: Vec::new() });
        }
        let gathering = self.gatherings.get_mut(&key).expect("inserted above");
        if gathering.count != count {
            return Err(Code::Mismatch);
        }
        gathering.waiting.push(member);
        if gathering.waiting.len() < count as usize {
            return Ok(Vec::new());
        }
        Ok(self.take(&key))
    }

    fn take(&mut self, key: &(Blob, u8)) -> Vec<Asker> {
        let waiting = self.gatherings.remove(key).map(|gathering| gathering.waiting);
        waiting.unwrap_or_default().into_iter().map(|waiting| waiting.asker).collect()
    }

    /// A member has gone. Returns who waits in vain now, and what to tell them.
    pub(crate) fn member_gone(
        &mut self,
        name: &Blob,
        tid: Tid,
        died: bool,
        groups: &Groups,
    ) -> Vec<(Asker, Code)> {
        let mut in_vain = Vec::new();
        for key in self.gatherings.keys_where(|key, _| key.0 == *name) {
            let Some(gathering) = self.gatherings.get_mut(&key) else { continue };
            gathering.waiting.retain(|waiting| waiting.tid != tid);
            let (size, defunct) =
                groups.find(name).map_or((0, true), |group| (group.size(), group.defunct));
            let code = if defunct { Code::NoGroup } else { Code::NoTask };
            let too_few = died && size < gathering.count as usize;
            if gathering.waiting.is_empty() || too_few || defunct {
                in_vain.extend(self.take(&key).into_iter().map(|asker| (asker, code)));
            }
        }
        in_vain
    }

    /// How many wait at the barrier of a group.
    pub(crate) fn waiting(&self, name: &Blob) -> u32 {
        let gathering = self.gatherings.get(&(name.clone(), Purpose::Barrier as u8));
        gathering.map_or(0, |gathering| gathering.waiting.len() as u32)
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.gatherings.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.gatherings.restore(key, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(tid: Tid) -> Waiting {
        Waiting { asker: Asker::Connection { connection: u64::from(tid.0), id: 1 }, tid }
    }

    #[test]
    fn all_are_released_together_and_a_death_is_told_instead_of_waited_for() {
        let (mut groups, mut gatherings) = (Groups::new(), Gatherings::new());
        let name: Blob = "g".into();
        let tids = [Tid(0x40001), Tid(0x40002), Tid(0x40003)];
        for tid in tids {
            groups.join(&name, tid).expect("all may join");
        }
        let mut enter = |groups: &Groups, tid, count| {
            let group = groups.find(&name).expect("it exists");
            gatherings.enter(&name, Purpose::Barrier, group, count, member(tid))
        };
        assert_eq!(enter(&groups, tids[0], 3), Ok(vec![]));
        assert_eq!(enter(&groups, tids[1], 2), Err(Code::Mismatch));
        assert_eq!(enter(&groups, Tid(0x80001), 3), Err(Code::NotInGroup));
        assert_eq!(enter(&groups, tids[1], -1), Ok(vec![]));
        assert_eq!(enter(&groups, tids[2], 3).map(|all| all.len()), Ok(3));
        assert_eq!(enter(&groups, tids[0], 3), Ok(vec![]));
        groups.task_gone(tids[2], true);
        let told = gatherings.member_gone(&name, tids[2], true, &groups);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].1, Code::NoTask);
        let group = groups.find(&name).expect("it exists").clone();
        let late = gatherings.enter(&name, Purpose::Barrier, &group, 3, member(tids[1]));
        assert_eq!(late, Err(Code::NoTask), "who comes behind the death is told, too");
        groups.join(&name, Tid(0x40004)).expect("the place is free");
        let group = groups.find(&name).expect("it exists").clone();
        let made_good = gatherings.enter(&name, Purpose::Barrier, &group, 3, member(tids[1]));
        assert_eq!(made_good, Ok(vec![]));
    }
}
