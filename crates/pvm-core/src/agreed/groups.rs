//! Groups of tasks: names, instance numbers, frozen or not; the same on every host.

use super::fact::{Ask, Fact, Left};
use crate::io::{Departure, GroupState};
use crate::records::{Change, Table};
use pvm_wire::{Blob, Code, HostIndex, Tid, record};
use std::collections::BTreeMap;

record! {
    /// One group.
    pub struct Group {
        /// By instance; [`Tid::NONE`] marks a hole. The last one is no hole.
        pub members: Vec<Tid>,
        pub frozen: bool,
        /// True once a member of a frozen group has gone: no barrier of it can be met again.
        pub defunct: bool,
        /// The number of the last command by which a member died.
        pub last_death: u64,
        /// Members that died and whose places no other task has taken.
        pub lost: u32,
    }
}

impl Group {
    /// The number of members.
    pub(crate) fn size(&self) -> usize {
        self.members.iter().filter(|&&tid| tid != Tid::NONE).count()
    }

    pub(crate) fn has(&self, tid: Tid) -> bool {
        tid != Tid::NONE && self.members.contains(&tid)
    }
}

/// All groups.
#[derive(Debug)]
pub(crate) struct Groups {
    groups: Table<Blob, Group>,
    /// The questions that froze each group: a host that has missed the freeze answers its own
    /// question from here.
    froze: Table<Blob, Vec<Ask>>,
    /// The changes that have not been told.
    unshown: BTreeMap<Blob, Departure>,
}

impl Groups {
    pub(super) const fn new() -> Self {
        Self { groups: Table::new(b'g'), froze: Table::new(b'='), unshown: BTreeMap::new() }
    }

    /// The group, or why there is none.
    pub(crate) fn find(&self, name: &Blob) -> Result<&Group, Code> {
        self.groups.get(name).ok_or(Code::NoGroup)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Blob, &Group)> {
        self.groups.iter()
    }

    /// `pvm_joingroup`: the smallest free instance number.
    pub(super) fn join(&mut self, name: &Blob, tid: Tid) -> Result<i32, Code> {
        if name.0.is_empty() {
            return Err(Code::NullGroup);
        }
        if !self.groups.contains(name) {
            let group = Group {
                members: Vec::new(),
                frozen: false,
                defunct: false,
                last_death: 0,
                lost: 0,
            };
            self.groups.insert(name.clone(), group);
        }
        let group = self.groups.get_mut(name).expect("inserted above");
        if group.has(tid) {
            return Err(Code::DupGroup);
        }
        if group.frozen {
            return Err(Code::Denied);
        }
        let hole = group.members.iter().position(|&member| member == Tid::NONE);
        let instance = hole.unwrap_or(group.members.len());
        match hole {
            Some(hole) => group.members[hole] = tid,
            None => group.members.push(tid),
        }
        group.lost = group.lost.saturating_sub(1);
        self.show(name, Departure::None);
        i32::try_from(instance).map_err(|_| Code::OutOfRes)
    }

    /// `pvm_lvgroup`.
    pub(super) fn leave(&mut self, name: &Blob, tid: Tid) -> Result<(), Code> {
        let group = self.groups.get_mut(name).ok_or(Code::NoGroup)?;
        let member = group.members.iter_mut().find(|member| **member == tid);
        *member.ok_or(Code::NotInGroup)? = Tid::NONE;
        group.defunct |= group.frozen;
        while group.members.last() == Some(&Tid::NONE) {
            group.members.pop();
        }
        if group.members.is_empty() {
            self.groups.remove(name);
            self.froze.remove(name);
        }
        self.show(name, Departure::Left);
        Ok(())
    }

    /// `pvm_freezegroup`, after all have called it, and how many that were.
    pub(super) fn freeze(&mut self, name: &Blob, asks: &[Ask]) -> Result<i32, Code> {
        let group = self.groups.get_mut(name).ok_or(Code::NoGroup)?;
        if group.frozen {
            return Err(Code::DupGroup);
        }
        group.frozen = true;
        self.froze.insert(name.clone(), asks.to_vec());
        self.show(name, Departure::None);
        i32::try_from(asks.len()).map_err(|_| Code::OutOfRes)
    }

    /// The questions of a host that have frozen groups: each with the group, and its answer.
    pub(crate) fn frozen_by(&self, host: HostIndex) -> Vec<(Blob, u64, i32)> {
        let count = |asks: &[Ask]| i32::try_from(asks.len()).unwrap_or(i32::MAX);
        let all = self.froze.iter().flat_map(|(name, asks)| {
            let own = asks.iter().filter(|ask| ask.0 == host);
            own.map(|ask| (name.clone(), ask.1, count(asks)))
        });
        all.collect()
    }

    /// A task is gone: it leaves all its groups. `died` is true if it did not leave by itself, so
    /// that tasks wait for it in vain. Returns the names.
    pub(super) fn task_gone(&mut self, tid: Tid, died: bool) -> Vec<Blob> {
        let names = self.groups.keys_where(|_, group| group.has(tid));
        for name in &names {
            self.leave(name, tid).expect("it is a member");
            self.show(name, Departure::Gone);
            if died && let Some(group) = self.groups.get_mut(name) {
                group.lost += 1;
            }
        }
        names
    }

    /// Notes that a member of these groups has died by this command.
    pub(super) fn note_death(&mut self, names: &[Blob], number: u64) {
        for name in names {
            if let Some(group) = self.groups.get_mut(name) {
                group.last_death = number;
            }
        }
    }

    fn show(&mut self, name: &Blob, departure: Departure) {
        let shown = self.unshown.entry(name.clone()).or_insert(departure);
        *shown = (*shown).max(departure);
    }

    /// All groups are to be told.
    pub(super) fn show_all(&mut self) {
        for name in self.groups.keys_where(|_, _| true) {
            self.show(&name, Departure::None);
        }
    }

    /// Moves what has changed since the last call to `facts`.
    pub(super) fn tell(&mut self, facts: &mut Vec<Fact>) {
        let state = |group: &Group| {
            let Group { members, frozen, defunct, lost, .. } = group.clone();
            GroupState { members, frozen, defunct, lost }
        };
        for (name, departure) in std::mem::take(&mut self.unshown) {
            let group = self.groups.get(&name).map(state);
            facts.push(Fact::Group { name, group, departure });
        }
    }

    /// The state of a group after a departure.
    pub(super) fn left(&self, name: &Blob) -> Left {
        match self.groups.get(name) {
            Some(group) => {
                Left { size: group.size(), defunct: group.defunct, lost: group.lost > 0 }
            }
            None => Left { size: 0, defunct: true, lost: false },
        }
    }

    /// True where a task is a member of any group.
    pub(crate) fn has_member(&self, tid: Tid) -> bool {
        self.groups.values().any(|group| group.has(tid))
    }

    /// The tasks of a host that are members of any group.
    pub(crate) fn members_on(&self, host: HostIndex) -> Vec<Tid> {
        let members = self.groups.values().flat_map(|group| group.members.iter().copied());
        members.filter(|tid| *tid != Tid::NONE && tid.host() == host).collect()
    }

    /// Forgets all groups; each known one is shown as it is after that.
    pub(super) fn clear(&mut self) {
        self.show_all();
        self.groups.clear();
        self.froze.clear();
    }

    /// All groups as they are.
    pub(crate) fn known(&self) -> BTreeMap<Blob, Group> {
        self.iter().map(|(name, group)| (name.clone(), group.clone())).collect()
    }

    /// Compares the groups with their state `before` the missed commands: if a member has gone,
    /// tasks that wait for it look again.
    pub(super) fn note_missed(&mut self, before: &BTreeMap<Blob, Group>) {
        for (name, group) in before {
            let is_gone = |tid: &Tid| self.find(name).is_ok_and(|now| !now.has(*tid));
            if group.members.iter().any(|tid| *tid != Tid::NONE && is_gone(tid)) {
                self.show(name, Departure::Gone);
            }
        }
    }

    pub(super) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.groups.take_changes(out);
        self.froze.take_changes(out);
    }

    pub(super) fn records(&self, out: &mut Vec<(Blob, Blob)>) {
        self.groups.records(out);
        self.froze.records(out);
    }

    pub(super) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.groups.restore(key, value) || self.froze.restore(key, value)
    }

    pub(super) fn adopt(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.groups.adopt(key, value) || self.froze.adopt(key, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_a_member_whose_end_was_missed_is_woken() {
        let (mut here, mut there) = (Groups::new(), Groups::new());
        for groups in [&mut here, &mut there] {
            for (name, tid) in [("a", 1), ("a", 2), ("b", 1)] {
                groups.join(&name.into(), Tid(0x40000 + tid)).expect("a new member");
            }
        }
        there.task_gone(Tid(0x40002), false);
        let (known, mut records) = (here.known(), Vec::new());
        there.records(&mut records);
        here.clear();
        for (Blob(key), Blob(value)) in &records {
            assert!(here.adopt(key, value));
        }
        here.note_missed(&known);
        let mut facts = Vec::new();
        here.tell(&mut facts);
        let shown = facts.into_iter().filter_map(|fact| match fact {
            Fact::Group { name, departure, .. } => Some((name, departure)),
            _ => None,
        });
        let expected = [("a".into(), Departure::Gone), ("b".into(), Departure::None)];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_group_is_frozen_once_and_it_is_known_by_whom() {
        let mut groups = Groups::new();
        let (name, first, second) = (&"g".into(), (HostIndex(1), 7), (HostIndex(2), 9));
        let tids = [Tid(0x40001), Tid(0x80001), Tid(0x80002)];
        for tid in tids {
            groups.join(name, tid).expect("a new member");
        }
        assert_eq!(groups.freeze(name, &[first, second]), Ok(2));
        assert_eq!(groups.freeze(name, &[(HostIndex(2), 10)]), Err(Code::DupGroup));
        let by_second = || [(name.clone(), 9, 2)].into_iter().collect::<Vec<_>>();
        assert_eq!(groups.frozen_by(second.0), by_second());
        tids.into_iter().for_each(|tid| groups.leave(name, tid).expect("a member"));
        assert_eq!(groups.frozen_by(second.0), [], "the group is gone, and who froze it");
    }

    #[test]
    fn instances_fill_the_smallest_hole_and_the_last_one_out_ends_the_group() {
        let mut groups = Groups::new();
        let name = &"g".into();
        let [a, b, c] = [Tid(0x40001), Tid(0x40002), Tid(0x80001)];
        assert_eq!(groups.join(name, a), Ok(0));
        assert_eq!(groups.join(name, a), Err(Code::DupGroup));
        assert_eq!((groups.join(name, b), groups.join(name, c)), (Ok(1), Ok(2)));
        assert_eq!(groups.leave(name, a), Ok(()));
        assert_eq!(groups.leave(name, a), Err(Code::NotInGroup));
        assert_eq!(groups.find(name).map(Group::size), Ok(2));
        assert_eq!(groups.join(name, Tid(0x40009)), Ok(0));
        for tid in groups.members_on(HostIndex(1)) {
            groups.task_gone(tid, true);
        }
        assert_eq!(groups.leave(name, c), Ok(()));
        assert_eq!(groups.leave(name, c), Err(Code::NoGroup));
        assert_eq!(groups.join(&Blob::default(), a), Err(Code::NullGroup));
    }
}
