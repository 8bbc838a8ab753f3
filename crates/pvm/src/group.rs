//! Groups: their members, their barriers, and messages between their members.
//!
//! The members of a group stand in a page that the host's daemon writes (`pvm_shm::roster`), so
//! that asking is a look into memory. Where there is no such page (no member is on this host, or
//! there are too many) the machine is asked. Reduce, gather and scatter are messages between the
//! members and the root, in a context of their own, so that no wildcard receive of a program takes
//! them.

pub mod barrier;
pub mod collective;
pub mod vigil;

use crate::buffer::Buffer;
use crate::members::Members;
use crate::state::State;
use crate::task::Task;
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Blob, Code, Context, Tag, Tid};
use std::sync::Arc;

fn number(reply: &Reply) -> Result<i32, Code> {
    match reply {
        Reply::Number { value } => Ok(*value),
        Reply::Done => Ok(0),
        _ => Err(Code::DSysErr),
    }
}

impl Task {
    /// Joins a group and returns the instance number, the lowest that is free (`pvm_joingroup`).
    ///
    /// # Errors
    /// [`Code::DupGroup`], [`Code::NullGroup`]; [`Code::NotInGroup`] for a group that is frozen.
    pub fn join_group(&self, group: &[u8]) -> Result<i32, Code> {
        number(&self.request(&self.joining(group)?)?)
    }

    /// The question of [`Task::join_group`], for a caller that asks and waits by itself.
    ///
    /// # Errors
    /// [`Code::NotInGroup`] for a group that this task has frozen.
    pub fn joining(&self, group: &[u8]) -> Result<Request, Code> {
        match self.enter()?.groups.frozen(group) {
            Some(_) => Err(Code::NotInGroup),
            None => Ok(Request::JoinGroup { group: Blob(group.to_vec()) }),
        }
    }

    /// Leaves a group (`pvm_lvgroup`).
    ///
    /// # Errors
    /// [`Code::NoGroup`], [`Code::NotInGroup`].
    pub fn leave_group(&self, group: &[u8]) -> Result<(), Code> {
        number(&self.request(&self.leaving(group)?)?).map(drop)
    }

    /// The question of [`Task::leave_group`], for a caller that asks and waits by itself. The task
    /// forgets with which members it has frozen the group.
    ///
    /// # Errors
    /// [`Code::SysErr`] after the end of the task.
    pub fn leaving(&self, group: &[u8]) -> Result<Request, Code> {
        self.enter()?.groups.thaw(group);
        Ok(Request::LeaveGroup { group: Blob(group.to_vec()) })
    }

    /// The group was frozen for this task ([`Request::FreezeGroup`] was answered): it remembers the
    /// members from now on. How many they are.
    ///
    /// # Errors
    /// [`Code::NoGroup`] and others of the machine.
    pub fn keep_frozen(&self, group: &[u8]) -> Result<i32, Code> {
        let members = self.current_members(group)?;
        let count = i32::try_from(members.tids.len()).map_err(|_| Code::Overflow)?;
        self.enter()?.groups.freeze(group, members);
        Ok(count)
    }

    /// The members of a group; for a group that this task has frozen, those of that moment, even if
    /// some have left.
    ///
    /// # Errors
    /// [`Code::NoGroup`] and others of the machine.
    pub fn members(&self, group: &[u8]) -> Result<Arc<Members>, Code> {
        match self.listed_members(group)? {
            Some(members) => Ok(members),
            None => self.asked_members(group),
        }
    }

    /// Like `members`, where this host has a page of the group, which the daemon may be asked for;
    /// none where the machine has to be asked ([`Request::GroupMembers`]).
    ///
    /// # Errors
    /// [`Code::SysErr`] after the end of the task.
    pub fn listed_members(&self, group: &[u8]) -> Result<Option<Arc<Members>>, Code> {
        let mut state = self.enter()?;
        Ok(state.groups.frozen(group).or_else(|| self.listed(&mut state, group)))
    }

    /// Like `listed_members`, where that page is here already: nobody is asked.
    ///
    /// # Errors
    /// [`Code::SysErr`] after the end of the task.
    pub fn members_at_hand(&self, group: &[u8]) -> Result<Option<Arc<Members>>, Code> {
        let groups = &self.enter()?.groups;
        Ok(groups
            .frozen(group)
            .or_else(|| groups.current(group).map(|known| known.members.clone())))
    }

    fn current_members(&self, group: &[u8]) -> Result<Arc<Members>, Code> {
        match self.listed(&mut *self.enter()?, group) {
            Some(members) => Ok(members),
            None => self.asked_members(group),
        }
    }

    fn listed(&self, state: &mut State, group: &[u8]) -> Option<Arc<Members>> {
        let (groups, connection) = (&mut state.groups, &mut state.connection);
        groups.find(connection, group, self.has_group_waits()).map(|known| known.members.clone())
    }

    fn asked_members(&self, group: &[u8]) -> Result<Arc<Members>, Code> {
        match self.request(&Request::GroupMembers { group: Blob(group.to_vec()) })? {
            Reply::Members { tids, frozen } => Ok(Arc::new(Members { tids, frozen })),
            _ => Err(Code::DSysErr),
        }
    }

    /// Sends a buffer to all members of a group but this task, one copy to each host (`pvm_bcast`).
    ///
    /// # Errors
    /// [`Code::NoInst`] if there is nobody else; as for [`Task::send`] and [`Task::members`].
    pub fn broadcast(
        &self,
        buffer: &mut Buffer,
        group: &[u8],
        tag: Tag,
        context: Context,
    ) -> Result<(), Code> {
        let members = self.members(group)?;
        let others: Vec<Tid> = members.present().filter(|&tid| tid != self.tid()).collect();
        if others.is_empty() {
            return Err(Code::NoInst);
        }
        self.probe_group(&members, 0);
        self.multicast(buffer, &others, tag, context)
    }
}
