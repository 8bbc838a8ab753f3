//! Two hosts: what [`Pair`](super::two::Pair) is shown, and what is done as it says.

use super::consensus::Consensus;
use super::hearing::Hearing;
use super::two::{Lock, Sight, Verdict};
use super::{Order, Output};
use crate::agreed::Rules;
use crate::io::Act;
use crate::quorum::{Member, QuorumInput, Voting};
use pvm_wire::HostIndex;

impl Order {
    /// All that was committed is applied. Gives the library the configuration of the votes, if it
    /// does not know it: nothing is ordered before it does. Then, as a leader, asks others
    /// about suspects.
    pub(super) fn arrange(&mut self) {
        let sight = sight(&self.consensus, &self.hearing, &self.rules);
        if let Some(voting) = self.pair.arrange(&sight) {
            self.tell(QuorumInput::Votes(voting));
        }
        if !self.consensus.has_output() {
            self.ask_opinions();
        }
    }

    /// A host may be dead: if it is the other one of two, this one may have to go on alone.
    pub(super) fn other_silent(&mut self, host: HostIndex, certain: bool) {
        let sight = sight(&self.consensus, &self.hearing, &self.rules);
        if sight.other.is_some_and(|other| other.host() == host) {
            let verdict = self.pair.silent(&sight, certain);
            self.obey(verdict);
        }
    }

    pub(super) fn witness_said(&mut self, lock: Lock, granted: bool) {
        let sight = sight(&self.consensus, &self.hearing, &self.rules);
        let verdict = self.pair.witness_said(&sight, lock, granted);
        self.obey(verdict);
    }

    fn obey(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Nothing => {}
            Verdict::Ask(Lock { witness, pair }) => {
                self.put_out(Output::Act(Act::AskWitness { witness, pair }));
            }
            Verdict::GoOn { certain } if !self.consensus.is_leader() => {
                self.put_out(Output::Log("the other host is gone: this one goes on".to_owned()));
                self.take_over(certain);
            }
            Verdict::GoOn { .. } => {}
            Verdict::Wait(why) => self.put_out(Output::Log(why.to_owned())),
        }
    }

    /// This host goes on alone.
    pub(super) fn take_over(&mut self, certain: bool) {
        self.tell(QuorumInput::Votes(Voting::Alone { certain }));
        self.pair.forget_told();
    }
}

fn sight(log: &Consensus, hearing: &Hearing, rules: &Rules) -> Sight {
    let other = log.other();
    // Asked after every input: only a sole voter looks through all members.
    let eldest = || log.is_sole().then(|| log.eldest_other()).flatten();
    let partner = other.or_else(|| eldest().and_then(|host| log.member(host)));
    let host = partner.map(Member::host);
    Sight {
        me: log.this(),
        other,
        partner,
        up: host.is_some_and(|host| hearing.is_up(host)),
        suspected: host.is_some_and(|host| hearing.suspicion.contains(host)),
        leads: log.is_leader(),
        witness: rules.witness.clone(),
        survive: rules.survive,
    }
}
