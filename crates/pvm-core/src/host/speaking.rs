//! In whose name another host may speak: its own, and its own tasks'. No host hands on messages of
//! others.
//!
//! Links prove which host is at their other end; here is checked that what it says fits. A host
//! that speaks for another one loses its link.

use super::Handler;
use crate::io::Act;
use crate::order::may_propose;
use pvm_wire::peer::Said;
use pvm_wire::{HostIndex, Tid};

impl Handler<'_> {
    /// True where `host` may say this. Otherwise its link is dropped.
    pub(super) fn may_say(&mut self, host: HostIndex, said: &Said) -> bool {
        let allowed = self.speaks_for_its_own(host, said);
        if !allowed {
            self.host.bad_peers += 1;
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
                self.host.watches.get(*watch).is_none_or(|watch| own(watch.of))
            }
            Said::Post { message, .. } => own(message.envelope.src),
            Said::RouteWanted { from, .. } => own(*from),
            Said::RouteAnswer { to, .. } | Said::RouteBroken { to, .. } => own(*to),
            Said::Answer { ask, .. } => {
                let question = self.host.pending.questions.get(ask);
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
