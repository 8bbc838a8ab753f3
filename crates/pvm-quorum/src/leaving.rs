//! A removal of a voter that is in the leader's log and not committed: see `parting`.

use pvm_core::quorum::Member;

/// The voter that goes, and where its removal stands.
#[derive(Clone, Copy, Debug)]
struct Removal {
    member: Member,
    number: u64,
    since: u64,
}

/// The first such removal.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Leaving(Option<Removal>);

impl Leaving {
    /// The entry at this place takes out a voter.
    pub(crate) const fn begin(&mut self, member: Member, number: u64, now: u64) {
        if self.0.is_none() {
            self.0 = Some(Removal { member, number, since: now });
        }
    }

    /// The last entry that a member may be sent, of a log that ends at `last`.
    pub(crate) fn bound(&self, member: Member, last: u64) -> u64 {
        match self.0.filter(|removal| removal.member == member) {
            Some(removal) => last.min(removal.number - 1),
            None => last,
        }
    }

    /// The member whose removal is committed now, if any.
    pub(crate) fn end(&mut self, commit: u64) -> Option<Member> {
        self.0.take_if(|removal| removal.number <= commit).map(|removal| removal.member)
    }

    /// True if the removal has stood in the log for `patience`.
    pub(crate) fn is_late(&self, now: u64, patience: u64) -> bool {
        self.0.is_some_and(|removal| removal.since + patience <= now)
    }

    /// Takes the removal back, and returns its place in the log.
    pub(crate) fn take_back(&mut self) -> Option<u64> {
        self.0.take().map(|removal| removal.number)
    }
}
