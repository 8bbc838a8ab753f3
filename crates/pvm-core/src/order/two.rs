//! Two hosts, where no majority can decide: what one of them knows of the other, and what follows.
//!
//! The one that leads has the casting vote, and waits for the other one while it is connected, so
//! that either may die without loss. The other one goes on alone where it is certain that the first
//! is gone, or where a witness or the rules say so. [`Pair`] sees what it is shown and says what is
//! to be done; it does none of it.

use crate::planted::{self, Bug};
use crate::quorum::{Member, Voting};
use pvm_wire::Blob;

/// The knowledge of one of two hosts about the other one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// There is a link.
    pub up: bool,
    /// There was one since this daemon began, or it began with the host.
    pub met: bool,
    /// It has been silent long enough to count as dead.
    pub suspected: bool,
    /// The rules name a witness.
    pub decides: bool,
    /// This host has the witness's lock.
    pub lock: bool,
}

impl Standing {
    /// Some if nothing is committed before the other host has it; true inside if this host leads
    /// only while the other one answers.
    pub const fn need(self) -> Option<bool> {
        let free = if self.decides { self.lock } else { self.met || self.suspected };
        if self.up || !free { Some(self.decides && !self.lock) } else { None }
    }
}

/// The lock that a witness grants to one of two hosts. Another witness grants another lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Lock {
    pub(crate) witness: Blob,
    /// The number of this pair of hosts, which no other pair ever has.
    pub(crate) pair: u64,
}

/// The data of the machine that a pair needs.
#[derive(Clone, Debug)]
pub(crate) struct Sight {
    pub(crate) me: Option<Member>,
    /// The other one, where there are two.
    pub(crate) other: Option<Member>,
    /// The other one, also while a third one is in and does not vote yet: then the one that was in
    /// before it.
    pub(crate) partner: Option<Member>,
    /// There is a link to the partner.
    pub(crate) up: bool,
    /// Nothing has been heard of the partner for too long.
    pub(crate) suspected: bool,
    /// This host leads.
    pub(crate) leads: bool,
    /// The witness that the rules name; empty for none.
    pub(crate) witness: Blob,
    /// Either goes on, by the rules.
    pub(crate) survive: bool,
}

impl Sight {
    /// The lock that decides between this host and another.
    fn lock_with(&self, other: Member) -> Lock {
        let both = [self.me, Some(other)].into_iter().flatten();
        let pair = both.map(Member::incarnation).max().unwrap_or(0);
        Lock { witness: self.witness.clone(), pair }
    }
}

/// The steps to be taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Nothing.
    Nothing,
    /// The witness is to be asked for this lock.
    Ask(Lock),
    /// This host goes on alone.
    GoOn {
        /// The other one is gone for certain.
        certain: bool,
    },
    /// This host waits; why, in words.
    Wait(&'static str),
}

/// One of two hosts.
#[derive(Debug)]
pub(crate) struct Pair {
    /// The configuration of the votes, as the library was told it last.
    told: Option<Voting>,
    /// The lock that this host has been granted.
    granted: Option<Lock>,
    /// False after a restart until another host was heard, or found silent.
    met: bool,
}

impl Pair {
    /// The state of a daemon that begins with its host (`met`), or was started again.
    pub(crate) const fn new(met: bool) -> Self {
        Self { told: None, granted: None, met }
    }

    /// There is a link to another host.
    pub(crate) const fn meet(&mut self) {
        self.met = true;
    }

    /// The library has forgotten the configuration, so it is told again.
    pub(crate) fn forget_told(&mut self) {
        self.told = None;
    }

    /// The configuration of the votes, if the library does not know it yet: it names the other host
    /// if that one is needed. The library must know it before it acts, also on a host that does not
    /// lead.
    pub(crate) fn arrange(&mut self, sight: &Sight) -> Option<Voting> {
        let needs = |partner| Some((vec![partner], self.standing(sight, partner).need()?));
        let needs = sight.partner.and_then(needs).filter(|_| !planted::is(Bug::SecondNotNeeded));
        let (members, lease) = needs.unwrap_or_default();
        let voting = Voting::With { members, lease };
        let late = planted::is(Bug::NeedForgotten) && !sight.leads;
        if late || self.told.as_ref() == Some(&voting) {
            return None;
        }
        self.told = Some(voting.clone());
        Some(voting)
    }

    fn standing(&self, sight: &Sight, partner: Member) -> Standing {
        Standing {
            up: sight.up,
            met: self.met,
            suspected: sight.suspected,
            decides: !sight.witness.0.is_empty(),
            lock: self.granted.as_ref() == Some(&sight.lock_with(partner)),
        }
    }

    /// The other one may be dead, or is for certain.
    pub(crate) fn silent(&mut self, sight: &Sight, certain: bool) -> Verdict {
        let Some(other) = sight.other else { return Verdict::Nothing };
        let certain = certain || planted::is(Bug::SilenceIsEvidence);
        let lock = sight.lock_with(other);
        if certain || lock.witness.0.is_empty() && sight.survive {
            return self.go_on(lock, certain);
        }
        match (lock.witness.0.is_empty(), sight.leads) {
            (false, _) => Verdict::Ask(lock),
            (true, true) => Verdict::Nothing,
            (true, false) => {
                Verdict::Wait("nothing is heard of the host that leads: this host waits")
            }
        }
    }

    /// A witness has answered. If another one has been named since it was asked, that one is asked.
    pub(crate) fn witness_said(&mut self, sight: &Sight, lock: Lock, granted: bool) -> Verdict {
        let current = sight.other.map(|other| sight.lock_with(other));
        let Some(current) = current.filter(|current| current.pair == lock.pair) else {
            return Verdict::Nothing;
        };
        if lock != current {
            return if sight.suspected { self.silent(sight, false) } else { Verdict::Nothing };
        }
        if !granted {
            return Verdict::Wait("the other host has the witness: this host waits");
        }
        if sight.suspected {
            return self.go_on(lock, false);
        }
        self.granted = Some(lock);
        Verdict::Nothing
    }

    fn go_on(&mut self, lock: Lock, certain: bool) -> Verdict {
        self.granted = Some(lock);
        self.met = true;
        Verdict::GoOn { certain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::HostIndex;

    const ME: Member = Member::new(1, HostIndex(1));
    const OTHER: Member = Member::new(7, HostIndex(2));

    /// The second of two hosts, which hears nothing of the leader.
    fn apart(witness: &str) -> Sight {
        Sight {
            me: Some(ME),
            other: Some(OTHER),
            partner: Some(OTHER),
            up: false,
            suspected: true,
            leads: false,
            witness: witness.into(),
            survive: false,
        }
    }

    fn lock(witness: &str) -> Lock {
        Lock { witness: witness.into(), pair: 7 }
    }

    fn need(members: &[Member], lease: bool) -> Option<Voting> {
        Some(Voting::With { members: members.to_vec(), lease })
    }

    #[test]
    fn silence_is_answered_as_the_rules_say() {
        let waits = |verdict| matches!(verdict, Verdict::Wait(_));
        let survive = Sight { survive: true, ..apart("") };
        assert!(waits(Pair::new(true).silent(&apart(""), false)));
        assert_eq!(Pair::new(true).silent(&apart(""), true), Verdict::GoOn { certain: true });
        assert_eq!(Pair::new(true).silent(&survive, false), Verdict::GoOn { certain: false });
        assert_eq!(Pair::new(true).silent(&apart("w"), false), Verdict::Ask(lock("w")));
        assert_eq!(Pair::new(true).silent(&apart("w"), true), Verdict::GoOn { certain: true });
        let three = Sight { other: None, ..apart("w") };
        assert_eq!(Pair::new(true).silent(&three, true), Verdict::Nothing);
    }

    #[test]
    fn only_the_witness_that_the_rules_name_now_lets_a_host_go_on() {
        let mut pair = Pair::new(true);
        let asked = pair.witness_said(&apart("new"), lock("old"), true);
        assert_eq!(asked, Verdict::Ask(lock("new")));
        let refused = pair.witness_said(&apart("new"), lock("new"), false);
        assert!(matches!(refused, Verdict::Wait(_)));
        assert_eq!(pair.arrange(&apart("new")), need(&[OTHER], true), "it has no lock");
        let granted = pair.witness_said(&apart("new"), lock("new"), true);
        assert_eq!(granted, Verdict::GoOn { certain: false });
        assert_eq!(pair.arrange(&apart("new")), need(&[], false));
        // Another two hosts: it was not asked about these.
        let later = Sight { other: Some(Member::new(9, HostIndex(3))), ..apart("new") };
        assert_eq!(pair.witness_said(&later, lock("new"), true), Verdict::Nothing);
    }

    #[test]
    fn a_daemon_that_was_started_again_needs_the_other_host_until_it_knows_of_it() {
        let sight = Sight { suspected: false, leads: true, ..apart("") };
        let mut pair = Pair::new(false);
        assert_eq!(pair.arrange(&sight), need(&[OTHER], false));
        assert_eq!(pair.arrange(&sight), None, "the library knows it");
        pair.forget_told();
        assert_eq!(pair.arrange(&sight), need(&[OTHER], false));
        assert_eq!(pair.arrange(&Sight { suspected: true, ..sight.clone() }), need(&[], false));
        pair.meet();
        assert_eq!(pair.arrange(&sight), None, "it was there, and is not");
        assert_eq!(pair.arrange(&Sight { up: true, ..sight }), need(&[OTHER], false));
    }
}
