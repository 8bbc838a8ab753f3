//! Tasks that wait for one another: barriers and the freezing of groups.
//!
//! Kept by the leader of the moment, off the path of ordered commands: a barrier costs each
//! member one question and one answer. A barrier that can never be met, because a member died,
//! answers with an error instead of hanging. Nothing here is a record: the askers' hosts ask the
//! next leader again.

use crate::agreed::{Ask, Group, Left};
use pvm_wire::{Blob, Code, Tid};
use std::collections::BTreeMap;

/// The purpose of a gathering.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Purpose {
    Barrier = 1,
    Freeze = 2,
}

/// Tasks that wait.
#[derive(Clone, Debug)]
struct Gathering {
    /// The number of members that the barrier needs.
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

    /// A member has come. Returns all questions if it was the last, none if it must wait.
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
        // The missing members have died.
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

    /// Ends a gathering. Returns the questions that wait for it.
    pub(crate) fn end(&mut self, name: &Blob, purpose: Purpose) -> Vec<Ask> {
        self.take(&(name.clone(), purpose as u8))
    }

    fn take(&mut self, key: &(Blob, u8)) -> Vec<Ask> {
        let waiting = self.gatherings.remove(key).map(|gathering| gathering.waiting);
        waiting.unwrap_or_default().into_iter().map(|waiting| waiting.ask).collect()
    }

    /// A member has left the group, or is `gone` for good. Returns the questions that wait in vain
    /// now, and their answers.
    pub(crate) fn member_gone(
        &mut self,
        name: &Blob,
        tid: Tid,
        gone: bool,
        left: Left,
    ) -> Vec<(Ask, Code)> {
        let mut in_vain = Vec::new();
        let keys: Vec<_> = self.gatherings.keys().filter(|key| key.0 == *name).cloned().collect();
        for key in keys {
            let Some(gathering) = self.gatherings.get_mut(&key) else { continue };
            let own = gathering.waiting.extract_if(.., |waiting| waiting.tid == tid);
            // Another thread of the member may wait.
            in_vain.extend(own.map(|waiting| (waiting.ask, Code::NotInGroup)));
            let code = if left.defunct { Code::NoGroup } else { Code::NoTask };
            // A member that comes now is told the same.
            let too_few = (gone || left.lost) && left.size < gathering.count as usize;
            if gathering.waiting.is_empty() || too_few || left.defunct {
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

    /// The number of members that wait at the barrier of a group.
    pub(crate) fn waiting(&self, name: &Blob) -> u32 {
        let gathering = self.gatherings.get(&(name.clone(), Purpose::Barrier as u8));
        gathering.map_or(0, |gathering| gathering.waiting.len() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreed::{Agreed, Fact};
    use pvm_wire::HostIndex;
    use pvm_wire::peer::Command;

    const TIDS: [Tid; 3] = [Tid(0x40001), Tid(0x40002), Tid(0x40003)];

    fn name() -> Blob {
        "g".into()
    }

    fn member(tid: Tid) -> Waiting {
        Waiting { ask: (HostIndex(1), u64::from(tid.0)), tid, since: None }
    }

    /// All tasks of a group, and what waits in it.
    struct Hall {
        agreed: Agreed,
        gatherings: Gatherings,
    }

    impl Hall {
        fn of(tids: &[Tid]) -> Self {
            let mut hall = Self { agreed: Agreed::new(), gatherings: Gatherings::new() };
            tids.iter().for_each(|tid| hall.join(*tid));
            hall
        }

        fn join(&mut self, tid: Tid) {
            self.order(Command::JoinGroup { group: name(), tid });
            assert!(self.agreed.groups().find(&name()).is_ok_and(|group| group.has(tid)));
        }

        /// Applies a command, and returns the questions that wait in vain after it.
        fn order(&mut self, command: Command) -> Vec<(Ask, Code)> {
            let (_, facts) = self.agreed.apply(1, command);
            let mut told = Vec::new();
            for fact in facts {
                if let Fact::Departed { group, tid, gone, left } = fact {
                    told.extend(self.gatherings.member_gone(&group, tid, gone, left));
                }
            }
            told
        }

        fn leave(&mut self, tid: Tid) -> Vec<(Ask, Code)> {
            self.order(Command::LeaveGroup { group: name(), tid })
        }

        fn enter(&mut self, purpose: Purpose, tid: Tid, count: i32) -> Result<Vec<Ask>, Code> {
            let group = self.agreed.groups().find(&name())?;
            self.gatherings.enter(&name(), purpose, group, count, member(tid))
        }

        fn wait(&mut self, tid: Tid, count: i32) -> Result<Vec<Ask>, Code> {
            self.enter(Purpose::Barrier, tid, count)
        }
    }

    #[test]
    fn all_are_released_together_and_a_death_is_told_instead_of_waited_for() {
        let mut hall = Hall::of(&TIDS);
        assert_eq!(hall.wait(TIDS[0], 3), Ok(vec![]));
        assert_eq!(hall.wait(TIDS[1], 2), Err(Code::Mismatch));
        assert_eq!(hall.wait(Tid(0x80001), 3), Err(Code::NotInGroup));
        assert_eq!(hall.wait(TIDS[1], -1), Ok(vec![]));
        assert_eq!(hall.wait(TIDS[2], 3).map(|all| all.len()), Ok(3));
        assert_eq!(hall.wait(TIDS[0], 3), Ok(vec![]));
        let told = hall.order(Command::TaskGone { tid: TIDS[2] });
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].1, Code::NoTask);
        let late = hall.wait(TIDS[1], 3);
        assert_eq!(late, Err(Code::NoTask), "who comes behind the death is told, too");
        // The place is free.
        hall.join(Tid(0x40004));
        assert_eq!(hall.wait(TIDS[1], 3), Ok(vec![]));
    }

    #[test]
    fn who_leaves_a_group_while_another_thread_of_its_waits_there_is_told() {
        let mut hall = Hall::of(&TIDS[..2]);
        for purpose in [Purpose::Barrier, Purpose::Freeze] {
            assert_eq!(hall.enter(purpose, TIDS[0], 2), Ok(vec![]));
        }
        let told = hall.leave(TIDS[0]);
        assert_eq!(told, vec![(member(TIDS[0]).ask, Code::NotInGroup); 2]);
    }

    #[test]
    fn who_waits_when_a_member_leaves_and_another_had_died_is_told_as_who_comes_then() {
        let mut hall = Hall::of(&TIDS);
        hall.order(Command::TaskGone { tid: TIDS[0] });
        assert_eq!(hall.wait(TIDS[1], 2), Ok(vec![]));
        let told = hall.leave(TIDS[2]);
        assert_eq!(told, [(member(TIDS[1]).ask, Code::NoTask)]);
        assert_eq!(hall.wait(TIDS[1], 2), Err(Code::NoTask));
    }

    #[test]
    fn of_two_that_die_with_their_host_the_first_ends_a_barrier_of_three() {
        let mut hall = Hall::of(&[]);
        for name in ["a", "b"] {
            let facts = pvm_wire::peer::HostFacts { name: name.into(), ..Default::default() };
            hall.order(Command::AddHost { facts, again: false });
        }
        let there = [Tid(0x80001), Tid(0x80002)];
        [TIDS[0], there[0], there[1]].into_iter().for_each(|tid| hall.join(tid));
        assert_eq!(hall.wait(TIDS[0], 3), Ok(vec![]));
        let told = hall.order(Command::RemoveHost { host: HostIndex(2), dead: true });
        assert_eq!(told, [(member(TIDS[0]).ask, Code::NoTask)]);
        assert_eq!(hall.wait(TIDS[0], 1).map(|all| all.len()), Ok(1), "it is left alone");
    }

    #[test]
    fn who_gives_up_is_not_counted_and_leaves_no_count_behind() {
        let mut hall = Hall::of(&TIDS[..2]);
        assert_eq!(hall.wait(TIDS[0], 2), Ok(vec![]));
        assert!(hall.gatherings.withdraw(member(TIDS[0]).ask));
        assert!(!hall.gatherings.withdraw(member(TIDS[0]).ask), "it waits no more");
        assert_eq!(hall.wait(TIDS[1], 1).map(|all| all.len()), Ok(1), "another count");
        assert_eq!(hall.wait(TIDS[1], 2), Ok(vec![]), "it is alone");
    }
}
