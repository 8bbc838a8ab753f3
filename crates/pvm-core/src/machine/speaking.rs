//! In whose name another host may speak: its own, and its own tasks'. Nobody hands on what others say.
//!
//! Links prove which host is at their other end; here is checked that what it says fits. A host that
//! speaks for another one loses its link.

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
            // A leader orders that itself.
            Said::Put { command: Command::Fence { .. }, .. } => false,
            Said::Put { command, .. } => source_of(command).is_none_or(own_or_nobody),
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
            _ => true,
        }
    }
}

/// True where a host may propose this command that came in pieces: only the whole tells.
pub(super) fn may_order(host: HostIndex, command: &Command) -> bool {
    let own_or_nobody = |tid: Tid| tid == Tid::NONE || tid.host() == host;
    !matches!(command, Command::Fence { .. } | Command::Piece { .. })
        && source_of(command).is_none_or(own_or_nobody)
}

/// The task on whose behalf a command is proposed.
const fn source_of(command: &Command) -> Option<Tid> {
    match command {
        Command::PutInfo { owner, .. } => Some(*owner),
        Command::TakeInfo { asker, .. } | Command::DelInfo { asker, .. } => Some(*asker),
        Command::JoinGroup { tid, .. } | Command::TaskLeft { tid } | Command::TaskGone { tid } => {
            Some(*tid)
        }
        _ => None,
    }
}
