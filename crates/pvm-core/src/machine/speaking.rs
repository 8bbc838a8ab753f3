//! In whose name another host may speak: its own, and its own tasks'. No host hands on messages of
//! others.
//!
//! Links prove which host is at their other end; here is checked that what it says fits. A host
//! that speaks for another one loses its link.

use super::Machine;
use crate::io::Act;
use pvm_wire::peer::{Command, Said};
use pvm_wire::{HostIndex, Tid};

impl Machine {
    /// True where `host` may say this. Otherwise its link is dropped.
    pub(super) fn may_say(&mut self, host: HostIndex, said: &Said) -> bool {
        let allowed = self.speaks_for_its_own(host, said);
        if !allowed {
            self.bad_peers += 1;
            self.log(format!("host {host} speaks for another one: its link is dropped"));
            self.act(Act::Distrust { host });
        }
        allowed
    }

    fn speaks_for_its_own(&self, host: HostIndex, said: &Said) -> bool {
        let own = |tid: Tid| tid.host() == host;
        let own_or_nobody = |tid: Tid| tid == Tid::NONE || own(tid);
        match said {
            Said::Ask { asker, .. } | Said::AskHome { asker, .. } | Said::Reset { asker } => {
                own_or_nobody(*asker)
            }
            Said::Put { command, .. } => may_propose(host, command),
            Said::Output { tid, .. }
            | Said::RunOutput { tid, .. }
            | Said::RunExited { tid, .. } => own(*tid),
            Said::Gone { watch } | Said::GoneBehind { watch, .. } => {
                self.watches.get(*watch).is_none_or(|watch| own(watch.of))
            }
            Said::Post { message, .. } => own(message.envelope.src),
            Said::RouteWanted { from, .. } => own(*from),
            Said::RouteAnswer { to, .. } | Said::RouteBroken { to, .. } => own(*to),
            Said::Answer { ask, .. } => {
                let question = self.pending.questions.get(ask);
                question.is_none_or(|question| question.host == host)
            }
            // A host that wants a link tells the leader, which hands that on to the host that is to
            // call.
            Said::Meet { host: caller, with } => *caller == self.me() || *with == host,
            // They name no source besides the host itself: what they ask for, any host may ask.
            Said::Launch { .. }
            | Said::Siblings { .. }
            | Said::Watch { .. }
            | Said::Unwatch { .. }
            | Said::RunSpawning { .. }
            | Said::RunSpawned { .. }
            | Said::Report { .. }
            | Said::Release { .. }
            | Said::Reported { .. }
            | Said::Silent { .. }
            | Said::Halt => true,
        }
    }
}

/// True where a host may propose this command that came in pieces: only the whole tells.
pub(super) fn may_order(host: HostIndex, command: &Command) -> bool {
    !matches!(command, Command::Piece { .. }) && may_propose(host, command)
}

fn may_propose(host: HostIndex, command: &Command) -> bool {
    match source_of(command) {
        Source::Task(tid) => tid == Tid::NONE || tid.host() == host,
        Source::Host(of) => of == host,
        Source::Leader => false,
        Source::User | Source::Whole => true,
    }
}

/// In whose name a command is proposed.
enum Source {
    /// A task's, or none if a command of the user asks.
    Task(Tid),
    /// A host's.
    Host(HostIndex),
    /// The leader orders that itself.
    Leader,
    /// The user's: the joining, leaving and draining of hosts, and rules for all. Any host may
    /// propose these.
    User,
    /// That of the command that it is a piece of, which is asked when all of it has come.
    Whole,
}

/// Every command is named here: a new one has to say whose it is.
const fn source_of(command: &Command) -> Source {
    match command {
        Command::PutInfo { owner, .. } | Command::Withdraw { owner, .. } => Source::Task(*owner),
        Command::TakeInfo { asker, .. } | Command::DelInfo { asker, .. } => Source::Task(*asker),
        Command::JoinGroup { tid, .. }
        | Command::LeaveGroup { tid, .. }
        | Command::TaskLeft { tid }
        | Command::TaskGone { tid } => Source::Task(*tid),
        Command::SetAddresses { host, .. } | Command::Retire { host } => Source::Host(*host),
        Command::Fence { .. } => Source::Leader,
        Command::Piece { .. } => Source::Whole,
        // The leader proposes a freeze, and a freeze of a leader that has just given way may still
        // be under way.
        Command::Freeze { .. }
        | Command::AddHost { .. }
        | Command::RemoveHost { .. }
        | Command::DrainHost { .. }
        | Command::KnowHosts { .. }
        | Command::SetRules { .. }
        | Command::ClearNames => Source::User,
    }
}
