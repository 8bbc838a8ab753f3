//! Two hosts: the one that leads has the casting vote, and waits for the other one while it is
//! connected, so that either may die without loss. The other one goes on alone where it is
//! certain that the first is gone, or where a witness or the rules say so.

use super::Machine;
use crate::io::Act;
use crate::pending::Asker;
use crate::planted::{self, Bug};
use crate::quorum::{Member, QuorumInput};
use crate::two::{Lock, Standing};
use pvm_wire::hostfile::parse_line;
use pvm_wire::peer::Command;
use pvm_wire::{Blob, HostIndex};

impl Machine {
    /// What lines of hosts say of the machine itself: the last one that says something counts.
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

    /// The other of two hosts.
    fn other(&self) -> Option<HostIndex> {
        if self.agreed.hosts().count() != 2 {
            return None;
        }
        match self.agreed.hosts().indices()[..] {
            [a, b] if a == self.me() => Some(b),
            [a, b] if b == self.me() => Some(a),
            _ => None,
        }
    }

    /// The other one of two, also while a third one is in and does not vote yet: then the one that
    /// was in before it.
    fn partner(&self) -> Option<HostIndex> {
        self.other().or_else(|| self.consensus.eldest_other().filter(|_| self.consensus.is_sole()))
    }

    /// Says whether the other one of two is needed, and whether this host leads only while it
    /// answers. The library has to know before it acts: also on a host that does not lead.
    pub(super) fn arrange_two(&mut self) {
        let partner = self.partner();
        let need = partner
            .and_then(|host| self.need_of(host))
            .filter(|_| !planted::is(Bug::SecondNotNeeded));
        let need = need.map_or((Vec::new(), false), |(member, lease)| (vec![member], lease));
        let late = planted::is(Bug::NeedForgotten) && !self.consensus.is_leader();
        if self.needed.as_ref() != Some(&need) && !late {
            self.needed = Some(need.clone());
            let (members, lease) = need;
            self.consensus.input(self.now, QuorumInput::Need { members, lease });
        }
    }

    /// The member that this host is to have where it is needed, and whether the lease hangs on it.
    fn need_of(&self, host: HostIndex) -> Option<(Member, bool)> {
        let standing = Standing {
            up: self.sessions.is_up(host),
            met: self.asked_epoch,
            suspected: self.suspects.contains(&host),
            decides: !self.agreed.rules().witness.0.is_empty(),
            lock: self.granted.as_ref() == Some(&self.lock_of(host)),
        };
        let lease = standing.need()?;
        Some((self.consensus.member(host)?, lease))
    }

    /// A number for these two hosts that no other two ever have.
    fn pair(&self, other: HostIndex) -> u64 {
        let both = [self.me(), other].map(|host| self.consensus.member(host));
        both.into_iter().flatten().map(|member| member.incarnation()).max().unwrap_or(0)
    }

    /// The lock that decides between this host and another.
    fn lock_of(&self, other: HostIndex) -> Lock {
        Lock { witness: self.agreed.rules().witness.clone(), pair: self.pair(other) }
    }

    /// The other of two hosts may be dead.
    pub(super) fn other_silent(&mut self, host: HostIndex, certain: bool) {
        if self.other() != Some(host) {
            return;
        }
        let certain = certain || planted::is(Bug::SilenceIsEvidence);
        let Lock { witness, pair } = self.lock_of(host);
        if !certain && !witness.0.is_empty() {
            return self.act(Act::AskWitness { witness, pair });
        }
        if certain || self.agreed.rules().survive {
            return self.go_on(host, certain);
        }
        if !self.consensus.is_leader() {
            let text = "nothing is heard of the host that leads: this host waits";
            self.log(text.to_owned());
        }
    }

    /// A witness has answered. If another one has been named since it was asked, that one is asked.
    pub(super) fn witness_said(&mut self, lock: &Lock, granted: bool) {
        let Some(other) = self.other().filter(|&host| self.pair(host) == lock.pair) else { return };
        if *lock != self.lock_of(other) {
            if self.suspects.contains(&other) {
                self.other_silent(other, false);
            }
            return;
        }
        if !granted {
            return self.log("the other host has the witness: this host waits".to_owned());
        }
        self.granted = Some(lock.clone());
        if self.suspects.contains(&other) {
            self.go_on(other, false);
        }
    }

    /// The order has taken out the last other host: if that one led, this one has to.
    pub(super) fn alone_now(&mut self) {
        if self.agreed.hosts().indices() == [self.me()] && !self.consensus.is_leader() {
            self.take_over(true);
        }
    }

    /// This host goes on without the other one.
    fn go_on(&mut self, other: HostIndex, certain: bool) {
        self.granted = Some(self.lock_of(other));
        self.asked_epoch = true;
        if !self.consensus.is_leader() {
            self.log("the other host is gone: this one goes on".to_owned());
            self.take_over(certain);
        }
    }

    fn take_over(&mut self, certain: bool) {
        self.consensus.input(self.now, QuorumInput::TakeOver { certain });
        self.needed = None;
    }
}
