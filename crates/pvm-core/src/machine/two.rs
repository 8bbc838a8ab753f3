//! Two hosts: what the machine shows [`Pair`](crate::two::Pair) of itself, and does as that says.

use super::Machine;
use crate::io::Act;
use crate::pending::Asker;
use crate::quorum::{Member, QuorumInput};
use crate::two::{Lock, Sight, Verdict};
use pvm_wire::hostfile::parse_line;
use pvm_wire::peer::Command;
use pvm_wire::{Blob, HostIndex};

impl Machine {
    /// Proposes the rules that lines of hosts name for the machine itself: for each rule the last
    /// line that names it counts.
    pub(super) fn propose_rules(&mut self, lines: &[Blob]) {
        let (mut witness, mut survive) = (None, None);
        for line in lines.iter().filter_map(|line| parse_line(&line.0).ok()) {
            witness = line.witness.or(witness);
            survive = line.survive.or(survive);
        }
        if witness.is_some() || survive.is_some() {
            self.propose(Asker::Nobody, Command::SetRules { witness, survive });
        }
    }

    fn sight(&self) -> Sight {
        let other = self.consensus.other();
        let eldest = || self.consensus.eldest_other().and_then(|host| self.consensus.member(host));
        let partner = other.or_else(|| eldest().filter(|_| self.consensus.is_sole()));
        let host = partner.map(Member::host);
        let rules = self.agreed.rules();
        Sight {
            me: self.consensus.member(self.me()),
            other,
            partner,
            up: host.is_some_and(|host| self.sessions.is_up(host)),
            suspected: host.is_some_and(|host| self.suspects.contains(&host)),
            leads: self.consensus.is_leader(),
            witness: rules.witness.clone(),
            survive: rules.survive,
        }
    }

    /// Tells the library whether the other one of two is needed, if it does not know it.
    pub(super) fn arrange_two(&mut self) {
        let sight = self.sight();
        if let Some(input) = self.pair.arrange(&sight) {
            self.consensus.input(self.now, input);
        }
    }

    /// A host may be dead: if it is the other one of two, this one may have to go on alone.
    pub(super) fn other_silent(&mut self, host: HostIndex, certain: bool) {
        let sight = self.sight();
        if sight.other.is_some_and(|other| other.host() == host) {
            let verdict = self.pair.silent(&sight, certain);
            self.obey(verdict);
        }
    }

    pub(super) fn witness_said(&mut self, lock: Lock, granted: bool) {
        let sight = self.sight();
        let verdict = self.pair.witness_said(&sight, lock, granted);
        self.obey(verdict);
    }

    fn obey(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Nothing => {}
            Verdict::Ask(Lock { witness, pair }) => self.act(Act::AskWitness { witness, pair }),
            Verdict::GoOn { certain } if !self.consensus.is_leader() => {
                self.log("the other host is gone: this one goes on".to_owned());
                self.take_over(certain);
            }
            Verdict::GoOn { .. } => {}
            Verdict::Wait(why) => self.log(why.to_owned()),
        }
    }

    /// A command has taken out the last other host: if that one led, this one has to.
    pub(super) fn alone_now(&mut self) {
        if self.agreed.hosts().indices() == [self.me()] && !self.consensus.is_leader() {
            self.take_over(true);
        }
    }

    fn take_over(&mut self, certain: bool) {
        self.consensus.input(self.now, QuorumInput::TakeOver { certain });
        self.pair.forget_told();
    }
}
