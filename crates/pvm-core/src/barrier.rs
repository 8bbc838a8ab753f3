//! Tasks that wait for one another: barriers and the freezing of groups.
//!
//! Kept by the leader of the moment, off the path of ordered commands: a barrier costs each
//! member one question and one answer. A barrier that can never be met, because a member died,
//! answers with an error instead of hanging. Nothing here is a record: the askers' hosts ask the
//! next leader again.

use crate::group::{Group, Groups};
use crate::pending::Ask;
use pvm_wire::{Blob, Code, Tid};
use std::collections::BTreeMap;

/// What tasks wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Purpose {
    Barrier = 1,
    Freeze = 2,
}

/// Tasks that wait.
#[derive(Clone, Debug)]
struct Gathering {
    /// How many it takes.
    count: u32,
    waiting: Vec<Waiting>,
}

/// One of them.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) ask: Ask,
    pub(crate) tid: Tid,
    /// If an earlier leader was asked before: the last command that the asker's host knew then.
    pub(crate) since: Option<u64>,
}

/// All gatherings, on the host that leads.
#[derive(Debug)]
pub(crate) struct Gatherings {
    gatherings: BTreeMap<(Blob, u8), Gathering>,
}

impl Gatherings {
    pub(crate) const fn new() -> Self {
        Self { gatherings: BTreeMap::new() }
    }

    /// A member has come. Returns everybody if it was the last, nobody if it must wait.
    pub(crate) fn enter(
        &mut self,
        name: &Blob,
        purpose: Purpose,
        group: &Group,
        count: i32,
        member: Waiting,
    ) -> Result<Vec<Ask>, Code> {
        if !group.has(member.tid) {
            return Err(Code::NotInGroup);
        }
        // The last leader would have told it that it waits in vain.
        let in_vain = member.since.is_some_and(|since| group.last_death > since);
        if in_vain && (count == -1 || usize::try_from(count).is_ok_and(|c| c > group.size())) {
            return Err(Code::NoTask);
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
        let empty = Gathering { count, waiting: Vec::new() };
        let gathering = self.gatherings.entry(key.clone()).or_insert(empty);
        if gathering.count != count {
            return Err(Code::Mismatch);
        }
        gathering.waiting.push(member);
        if gathering.waiting.len() < count as usize {
            return Ok(Vec::new());
        }
        Ok(self.take(&key))
    }

    /// Nobody can come together for this any more. Returns who waits for it.
    pub(crate) fn end(&mut self, name: &Blob, purpose: Purpose) -> Vec<Ask> {
        self.take(&(name.clone(), purpose as u8))
    }

    fn take(&mut self, key: &(Blob, u8)) -> Vec<Ask> {
        let waiting = self.gatherings.remove(key).map(|gathering| gathering.waiting);
        waiting.unwrap_or_default().into_iter().map(|waiting| waiting.ask).collect()
    }

    /// A member has gone. Returns who waits in vain now, and what to tell them.
    pub(crate) fn member_gone(
        &mut self,
        name: &Blob,
        tid: Tid,
        died: bool,
        groups: &Groups,
    ) -> Vec<(Ask, Code)> {
        let mut in_vain = Vec::new();
        let keys: Vec<_> = self.gatherings.keys().filter(|key| key.0 == *name).cloned().collect();
        for key in keys {
            let Some(gathering) = self.gatherings.get_mut(&key) else { continue };
            let own = gathering.waiting.extract_if(.., |waiting| waiting.tid == tid);
            // Another thread of the member may wait.
            in_vain.extend(own.map(|waiting| (waiting.ask, Code::NotInGroup)));
            let known = |group: &Group| (group.size(), group.defunct, group.lost > 0);
            let (size, defunct, lost) = groups.find(name).map_or((0, true, false), known);
            let code = if defunct { Code::NoGroup } else { Code::NoTask };
            // Who comes now is told the same.
            let too_few = (died || lost) && size < gathering.count as usize;
            if gathering.waiting.is_empty() || too_few || defunct {
                in_vain.extend(self.take(&key).into_iter().map(|ask| (ask, code)));
            }
        }
        in_vain
    }

    /// A member does not want to wait any more; false if it does not wait.
    pub(crate) fn withdraw(&mut self, ask: Ask) -> bool {
        let waits = |gathering: &Gathering| gathering.waiting.iter().any(|w| w.ask == ask);
        let found = self.gatherings.iter_mut().find(|(_, gathering)| waits(gathering));
        let Some((key, gathering)) = found else { return false };
        gathering.waiting.retain(|waiting| waiting.ask != ask);
        if gathering.waiting.is_empty() {
            // The next one to come says for how many it waits.
            let key = key.clone();
            self.gatherings.remove(&key);
        }
        true
    }

    /// How many wait at the barrier of a group.
    pub(crate) fn waiting(&self, name: &Blob) -> u32 {
        let gathering = self.gatherings.get(&(name.clone(), Purpose::Barrier as u8));
        gathering.map_or(0, |gathering| gathering.waiting.len() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::HostIndex;

    fn member(tid: Tid) -> Waiting {
        Waiting { ask: (HostIndex(1), u64::from(tid.0)), tid, since: None }
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

    #[test]
    fn who_leaves_a_group_while_another_thread_of_its_waits_there_is_told() {
        let (mut groups, mut gatherings) = (Groups::new(), Gatherings::new());
        let (name, tids): (Blob, _) = ("g".into(), [Tid(0x40001), Tid(0x40002)]);
        for tid in tids {
            groups.join(&name, tid).expect("all may join");
        }
        let group = groups.find(&name).expect("it exists").clone();
        for purpose in [Purpose::Barrier, Purpose::Freeze] {
            let entered = gatherings.enter(&name, purpose, &group, 2, member(tids[0]));
            assert_eq!(entered, Ok(vec![]));
        }
        groups.leave(&name, tids[0]).expect("it is a member");
        let told = gatherings.member_gone(&name, tids[0], false, &groups);
        assert_eq!(told, vec![(member(tids[0]).ask, Code::NotInGroup); 2]);
    }

    #[test]
    fn who_waits_when_a_member_leaves_and_another_had_died_is_told_as_who_comes_then() {
        let (mut groups, mut gatherings) = (Groups::new(), Gatherings::new());
        let (name, tids): (Blob, _) = ("g".into(), [Tid(0x40001), Tid(0x40002), Tid(0x40003)]);
        for tid in tids {
            groups.join(&name, tid).expect("all may join");
        }
        groups.task_gone(tids[0], true);
        let group = groups.find(&name).expect("it exists").clone();
        let entered = gatherings.enter(&name, Purpose::Barrier, &group, 2, member(tids[1]));
        assert_eq!(entered, Ok(vec![]));
        groups.leave(&name, tids[2]).expect("it is a member");
        let told = gatherings.member_gone(&name, tids[2], false, &groups);
        assert_eq!(told, [(member(tids[1]).ask, Code::NoTask)]);
        let group = groups.find(&name).expect("it exists").clone();
        let late = gatherings.enter(&name, Purpose::Barrier, &group, 2, member(tids[1]));
        assert_eq!(late, Err(Code::NoTask));
    }

    #[test]
    fn who_gives_up_is_not_counted_and_leaves_no_count_behind() {
        let (mut groups, mut gatherings) = (Groups::new(), Gatherings::new());
        let (name, tids): (Blob, _) = ("g".into(), [Tid(0x40001), Tid(0x40002)]);
        for tid in tids {
            groups.join(&name, tid).expect("all may join");
        }
        let group = groups.find(&name).expect("it exists").clone();
        let enter = |gatherings: &mut Gatherings, tid, count| {
            gatherings.enter(&name, Purpose::Barrier, &group, count, member(tid))
        };
        assert_eq!(enter(&mut gatherings, tids[0], 2), Ok(vec![]));
        assert!(gatherings.withdraw(member(tids[0]).ask));
        assert!(!gatherings.withdraw(member(tids[0]).ask), "it waits no more");
        assert_eq!(enter(&mut gatherings, tids[1], 1).map(|all| all.len()), Ok(1), "another count");
        assert_eq!(enter(&mut gatherings, tids[1], 2), Ok(vec![]), "it is alone");
    }
}
