//! Groups: membership by commands, barriers at the first host.

use super::{Machine, number};
use crate::barrier::{Purpose, Waiting};
use crate::io::Act;
use crate::pending::Asker;
use pvm_wire::peer::Command;
use pvm_wire::request::{GroupInfo, Reply, Request};
use pvm_wire::{Blob, Code, Tid};

impl Machine {
    /// Reads and barriers are answered by the group's home, so that a task that was told of a
    /// membership by a message finds it, whichever host it is on.
    pub(super) fn serve_groups(&mut self, asker: Asker, tid: Tid, request: Request) {
        match request {
            Request::JoinGroup { group } => {
                self.known_everywhere(tid);
                self.change_group(asker, Command::JoinGroup { group, tid });
            }
            Request::LeaveGroup { group } => {
                self.change_group(asker, Command::LeaveGroup { group, tid });
            }
            request if self.consensus.is_first() => self.serve_at_home(asker, tid, request),
            Request::Barrier { .. } | Request::FreezeGroup { .. } => {
                self.ask_and_wait(self.consensus.first(), asker, tid, request);
            }
            request => self.ask(self.consensus.first(), asker, tid, request),
        }
    }

    fn serve_at_home(&mut self, asker: Asker, tid: Tid, request: Request) {
        match request {
            Request::GroupMembers { group } => {
                let reply = match self.groups.find(&group) {
                    Ok(group) => {
                        Reply::Members { tids: group.members.clone(), frozen: group.frozen }
                    }
                    Err(code) => Reply::Failed { code },
                };
                self.answer(asker, reply);
            }
            Request::Barrier { group, count } => self.barrier(asker, tid, &group, count),
            Request::FreezeGroup { group, size } => self.freeze(asker, tid, &group, size),
            Request::Groups => {
                let info = |(name, group): (&Blob, &crate::group::Group)| GroupInfo {
                    name: name.clone(),
                    members: group.members.clone(),
                    waiting: self.gatherings.waiting(name),
                };
                let groups = self.groups.iter().map(info).collect();
                self.answer(asker, Reply::Groups { groups });
            }
            _ => self.fail(asker, Code::BadParam),
        }
    }

    fn barrier(&mut self, asker: Asker, tid: Tid, name: &Blob, count: i32) {
        let entered = self.groups.find(name).and_then(|group| {
            if group.defunct {
                return Err(Code::NoGroup);
            }
            let waiting = Waiting { asker: asker.clone(), tid };
            self.gatherings.enter(name, Purpose::Barrier, group, count, waiting)
        });
        match entered {
            Ok(released) => {
                released.into_iter().for_each(|asker| self.answer(asker, Reply::Done));
            }
            Err(code) => self.fail(asker, code),
        }
    }

    fn freeze(&mut self, asker: Asker, tid: Tid, name: &Blob, size: i32) {
        let entered = self.groups.find(name).and_then(|group| {
            if group.frozen {
                return Err(Code::DupGroup);
            }
            let waiting = Waiting { asker: asker.clone(), tid };
            self.gatherings.enter(name, Purpose::Freeze, group, size, waiting)
        });
        match entered {
            Ok(released) if released.is_empty() => {}
            Ok(released) => {
                self.propose(Asker::Nobody, Command::FreezeGroup { group: name.clone() });
                let size = i32::try_from(released.len()).map_err(|_| Code::OutOfRes);
                for asker in released {
                    self.answer(asker, number(size));
                }
            }
            Err(code) => self.fail(asker, code),
        }
    }

    /// A member has gone: those who wait for it in vain are told.
    pub(super) fn member_gone(&mut self, name: &Blob, tid: Tid, died: bool) {
        for (asker, code) in self.gatherings.member_gone(name, tid, died, &self.groups) {
            self.fail(asker, code);
        }
    }

    /// A task is gone that was a member of groups, perhaps.
    pub(super) fn leave_all_groups(&mut self, tid: Tid, died: bool) {
        for name in self.groups.task_gone(tid, died) {
            self.member_gone(&name, tid, true);
        }
    }
    /// A task leaves the machine in order: nobody has to make its place good.
    pub(super) fn leave_groups_of(&mut self, tid: Tid) {
        if self.groups.iter().any(|(_, group)| group.has(tid)) {
            self.propose(Asker::Nobody, Command::TaskLeft { tid });
        }
    }

    /// Puts out what has changed in groups, for the tasks of this host.
    pub(super) fn show_groups(&mut self) {
        for (name, group, departure) in self.groups.take_unshown() {
            self.act(Act::Group { name, group, departure });
        }
    }
}
