//! A leader that does not hear a host asks others before it has it taken out. If another host hears
//! it, it stays, and a voter that hears more hosts than the leader leads from then on: a network
//! card that loses messages of some hosts takes out only its own host.

use super::consensus::Consensus;
use super::doubts::Hears;
use super::leadership::LOST_NS;
use super::{Order, Output};
use crate::planted::{self, Bug};
use crate::quorum::QuorumInput;
use pvm_wire::HostIndex;
use pvm_wire::peer::Command;

impl Order {
    /// As a leader: asks about each host that it suspects, unless that was done.
    pub(super) fn ask_opinions(&mut self) {
        if self.hearing.suspicion.is_empty() || !self.consensus.is_current(self.now) {
            return;
        }
        for (about, round, whom) in self.hearing.questions(&self.consensus, self.now.0) {
            for by in whom {
                self.put_out(Output::Ask { by, about, round });
            }
        }
    }

    /// Another member has said whether it hears a host, or is a member no more.
    pub(super) fn opinion_told(
        &mut self,
        of: HostIndex,
        answer: (HostIndex, u64),
        unheard: Option<u32>,
    ) {
        let votes_not = !self.consensus.voters().contains(&answer.0);
        let hears = unheard.map(|unheard| Hears { votes_not, unheard });
        let best = self.hearing.suspicion.told(self.now.0, of, answer, hears);
        self.give_way_to(best);
        self.hearing.end_suspicions(&self.consensus);
    }

    /// A host that has not answered by now counts as hearing nothing.
    pub(super) fn end_opinions(&mut self) {
        let Some(heard) = self.hearing.suspicion.end_questions(self.now.0) else { return };
        for best in heard {
            self.give_way_to(Some(best));
        }
        self.hearing.end_suspicions(&self.consensus);
    }

    /// As a leader: one that votes and hears a host that is not heard here leads from now on, if it
    /// hears more hosts on the whole.
    fn give_way_to(&mut self, best: Option<(Hears, HostIndex)>) {
        let Some((hears, host)) = best else { return };
        let unheard = self.hearing.unheard_count(&self.consensus);
        let better = hears.unheard < unheard && !hears.votes_not;
        if !better || !self.consensus.is_current(self.now) {
            return;
        }
        let until = self.now.after(2 * LOST_NS).0;
        let in_vain = goes_next(&self.consensus, host)
            && self.hearing.suspicion.gives_way_in_vain(self.now.0, until);
        if !in_vain && !planted::is(Bug::LeadsHalfDeaf) {
            let text =
                format!("host {host} hears hosts that this one does not: it leads from now on");
            self.put_out(Output::Log(text));
            self.tell(QuorumInput::Transfer { to: Some(host) });
        }
    }
}

/// True where this host is the one whose removal is to be ordered next.
fn goes_next(log: &Consensus, host: HostIndex) -> bool {
    let removes = |command: &Command| match command {
        Command::RemoveHost { host: goes, .. } | Command::Retire { host: goes } => *goes == host,
        _ => false,
    };
    log.first_held().is_some_and(removes)
}
