//! Groups: membership by commands, barriers by the leader.

use super::{Handler, number};
use crate::agreed::{Ask, Left};
use crate::barrier::{Purpose, Waiting};
use crate::home::Asked;
use crate::pending::Asker;
use pvm_wire::peer::Command;
use pvm_wire::request::{GroupInfo, Reply, Request};
use pvm_wire::{Blob, Code, Tid};

impl Handler<'_> {
    /// Reads and barriers are answered by the leader, so that a task that was told of a
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
            Request::Barrier { group, count } => {
                let count = self.members_meant(&group, count);
                self.ask_home(asker, tid, Request::Barrier { group, count });
            }
            Request::FreezeGroup { group, size } => {
                let size = self.members_meant(&group, size);
                self.ask_home(asker, tid, Request::FreezeGroup { group, size });
            }
            request => self.ask_home(asker, tid, request),
        }
    }

    /// -1 means all members. Their number is determined once, here: a leader that is asked again
    /// after the death of another one may know of members that have come since. Every change of a
    /// group is shown here before it is answered.
    fn members_meant(&self, group: &Blob, count: i32) -> i32 {
        let size =
            || self.agreed.groups().find(group).ok().and_then(|g| i32::try_from(g.size()).ok());
        if count == -1 { size().unwrap_or(-1) } else { count }
    }

    /// As a leader: answers what is asked of the leader.
    pub(super) fn serve_home(&mut self, asked: Asked) {
        let reply = match &asked.request {
            Request::Barrier { group, count } => return self.barrier(&asked, group, *count),
            Request::FreezeGroup { group, size } => return self.freeze(&asked, group, *size),
            Request::GiveUp { .. } => return self.gives_up((asked.host, asked.ask)),
            Request::GroupMembers { group } => match self.agreed.groups().find(group) {
                Ok(group) => Reply::Members { tids: group.members.clone(), frozen: group.frozen },
                Err(code) => Reply::Failed { code },
            },
            Request::Groups => {
                let info = |(name, group): (&Blob, &crate::agreed::Group)| GroupInfo {
                    name: name.clone(),
                    members: group.members.clone(),
                    waiting: self.host.home.gatherings.waiting(name),
                };
                Reply::Groups { groups: self.agreed.groups().iter().map(info).collect() }
            }
            Request::MailboxInfo { pattern } => {
                Reply::Mailboxes { mailboxes: self.agreed.registry().list(pattern) }
            }
            Request::RecvInfo { name, index, flags, .. } => {
                match self.agreed.registry().read(name, *index, *flags) {
                    Ok((index, message)) => Reply::Info { message, index },
                    Err(code) => Reply::Failed { code },
                }
            }
            _ => Reply::Applied { number: self.order.log().applied() },
        };
        self.answer(Asker::Peer { host: asked.host, ask: asked.ask }, reply);
    }

    fn gather(
        &mut self,
        asked: &Asked,
        name: &Blob,
        purpose: Purpose,
        count: i32,
    ) -> Result<Vec<Ask>, Code> {
        let group = self.agreed.groups().find(name)?;
        match purpose {
            Purpose::Barrier if group.defunct => return Err(Code::NoGroup),
            Purpose::Freeze if group.frozen => return Err(Code::DupGroup),
            _ => {}
        }
        let since = asked.again.then_some(asked.since);
        let member = Waiting { ask: (asked.host, asked.ask), tid: asked.asker, since };
        self.host.home.gatherings.enter(name, purpose, group, count, member)
    }

    fn barrier(&mut self, asked: &Asked, name: &Blob, count: i32) {
        match self.gather(asked, name, Purpose::Barrier, count) {
            Ok(released) => self.release(released, Reply::Done),
            Err(code) => self.release(vec![(asked.host, asked.ask)], Reply::Failed { code }),
        }
    }

    fn freeze(&mut self, asked: &Asked, name: &Blob, size: i32) {
        match self.gather(asked, name, Purpose::Freeze, size) {
            Ok(asks) if asks.is_empty() => {}
            Ok(asks) => {
                self.propose(Asker::Nobody, Command::Freeze { group: name.clone(), asks });
            }
            Err(code) => self.release(vec![(asked.host, asked.ask)], Reply::Failed { code }),
        }
    }

    /// A waiter of a gathering gives up. It is told like the end of a gathering: a host that
    /// follows another leader by now ignores this one, and learns from that leader whether the
    /// gathering was met.
    fn gives_up(&mut self, ask: Ask) {
        let freezes = |command: &Command| match command {
            Command::Freeze { asks, .. } => asks.contains(&ask),
            _ => false,
        };
        let waits = self.host.home.gatherings.withdraw(ask);
        // A group that is about to be frozen is answered for when it is.
        if waits || !self.host.proposals.outstanding().iter().any(|(_, command)| freezes(command)) {
            self.release(vec![ask], Reply::Withdrawn);
        }
    }

    /// A group was frozen, on every host at this place of the log: the waiters of this host in
    /// `asks` are told. Later waiters are told that it is frozen already.
    pub(super) fn frozen(&mut self, name: &Blob, asks: Vec<Ask>, size: Result<i32, Code>) {
        let me = self.me();
        for (_, ask) in asks.into_iter().filter(|(host, _)| *host == me) {
            self.answered(ask, number(size));
        }
        // These waiters came to this leader before that was committed.
        let late = self.host.home.gatherings.end(name, Purpose::Freeze);
        self.release(late, Reply::Failed { code: Code::DupGroup });
    }

    /// A member has gone: tasks that wait for it in vain are told.
    pub(super) fn member_gone(&mut self, name: &Blob, tid: Tid, gone: bool, left: Left) {
        let in_vain = self.host.home.gatherings.member_gone(name, tid, gone, left);
        for (ask, code) in in_vain {
            self.release(vec![ask], Reply::Failed { code });
        }
    }

    /// A task leaves the machine in order: no other task has to take its place.
    pub(super) fn leave_groups_of(&mut self, tid: Tid) {
        if self.agreed.groups().iter().any(|(_, group)| group.has(tid)) {
            self.propose(Asker::Nobody, Command::TaskLeft { tid });
        }
    }
}
