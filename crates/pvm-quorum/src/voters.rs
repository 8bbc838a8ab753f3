//! The voters: one of up to two members, three of three and four, five from five members on, seven
//! from nine and nine from thirteen on, distributed over computers. They are changed one at a time,
//! by entries of the log that take effect as soon as they are appended.
//!
//! So any quarter of the members, up to four, may fail at once. All members get the log anyway, so
//! more voters need no more messages; the leader only waits for more answers.

use crate::core::{BEAT_NS, Core, SILENCE_NS};
use crate::flow::Peer;
use crate::frame::{What, Word};
use crate::members::Members;
use pvm_core::planted::{self, Bug};
use pvm_core::quorum::Member;
use pvm_wire::HostIndex;
use std::cmp::Reverse;

/// The time for which a leader tries to give way.
const RESIGN_NS: u64 = 5_000_000_000;
/// The time for which the other members wait with an election if a member was named to lead.
const UNWELL_NS: u64 = 30_000_000_000;
/// If a voter is silent for this long, another member becomes a voter in its place.
const STAND_IN_NS: u64 = 1_500_000_000;
/// A member that lacks this many entries or more is not caught up.
const BEHIND_COUNT: u64 = 100;

impl Core {
    /// The members may be others from now on: `change` returns true if they are.
    pub(crate) fn change_members(&mut self, change: impl FnOnce(&mut Members) -> bool) {
        if change(&mut self.members) {
            // Who wanted it gone may be gone, too, with that wish. Otherwise it is asked for again.
            self.going = self.going.filter(|_| planted::is(Bug::VoteNotGivenBack));
            self.forget_need();
        }
        self.grow_tree();
        if self.is_leader() && !self.has_successor() {
            self.resigning = None;
        }
        self.serve();
        self.advance();
        self.arrange();
    }

    /// Adapts the peers to the members to which this one sends now.
    pub(crate) fn serve(&mut self) {
        let others = self.others();
        self.peers.retain(|member, _| others.binary_search(member).is_ok());
        for member in others {
            let next = self.told_last(member) + 1;
            let new = !self.peers.contains_key(&member);
            self.peers.entry(member).or_insert_with(|| Peer::new(next, 0));
            if new {
                self.send_entries(member);
            }
        }
        if self.is_leader() && !self.peers.is_empty() {
            self.next_at = self.next_at.min(self.now + BEAT_NS);
        }
    }

    /// The number of members that should vote.
    pub(crate) fn voter_count(&self) -> usize {
        count_of(self, self.members.len())
    }

    /// Leader: changes the voters by one, if that is due and the last change is committed.
    pub(crate) fn arrange(&mut self) {
        let ready = self.log.term(self.commit) == Some(self.term());
        let done = self.log.last_change().is_none_or(|number| number <= self.commit);
        if !self.is_leader()
            || !(ready || planted::is(Bug::ChangeBeforeOwnEntry))
            || !(done || planted::is(Bug::TwoChangesAtOnce))
            || self.commit < self.removal
            || self.need_is_unknown()
            || planted::is(Bug::VoterNotReplaced)
        {
            return;
        }
        let mut voters = self.voters().to_vec();
        let count = self.voter_count();
        if let Some(at) = voters.iter().position(|voter| !self.is_member(*voter)) {
            voters.remove(at);
        } else if self.is_behind {
            // A member may be gone already. The members are told before the next message comes.
            return;
        } else if voters.len() < count {
            let fits = |core: &Self, member| {
                !core.voters().contains(&member)
                    && core.may_vote_next(member)
                    && core.going != Some(member)
            };
            let Some(next) = self.best(fits) else { return };
            voters.push(next);
        } else if voters.len() > count {
            let worst = worst(self);
            voters.retain(|voter| Some(*voter) != worst);
        } else if let Some(next) = next_stand_in(self) {
            // The silent one goes when this is done, whether it is dead or not; so does the one
            // that is to be taken out, and the one that shares its computer with most others.
            voters.push(next);
        } else {
            return;
        }
        voters.sort_unstable();
        self.append(What::Voters { voters });
    }

    /// A member to vote in the place of a voter that has been silent for a while.
    fn stand_in(&self) -> Option<Member> {
        let silent = |voter: &Member| {
            let heard = self.peers.get(voter).map_or(0, |peer| peer.seen);
            Some(*voter) != self.me && heard.max(self.leads_since) + STAND_IN_NS <= self.now
        };
        if !self.voters().iter().any(silent) {
            return None;
        }
        self.best(|core, member| !core.voters().contains(&member) && core.going != Some(member))
    }

    /// The number of other voters on the computer of a member.
    fn crowd(&self, member: Member) -> usize {
        let Some(computer) = self.members.computer(member) else { return 0 };
        let shares = |v: &&Member| **v != member && self.members.computer(**v) == Some(computer);
        self.voters().iter().filter(shares).count()
    }

    /// A member to vote in the place of one that shares its computer with more voters than it
    /// would, so that the loss of a computer costs few voters.
    fn of_another_computer(&self) -> Option<Member> {
        if !voters_share(self) || planted::is(Bug::VotersOnOneComputer) {
            return None;
        }
        let others = self.voters().iter().copied().filter(|voter| Some(*voter) != self.me);
        let most = others.map(|voter| self.crowd(voter)).max().unwrap_or(0);
        self.best(|core, member| {
            let is_better = core.crowd(member) < most && core.going != Some(member);
            !core.voters().contains(&member) && is_better
        })
    }

    fn is_healthy(&self, member: Member) -> bool {
        let last = self.log.last();
        self.is_up(member)
            && self.peers.get(&member).is_some_and(|peer| {
                peer.heard + SILENCE_NS > self.now && peer.matched + BEHIND_COUNT > last
            })
    }

    /// The healthy member that shares its computer with the fewest voters and then has most of the
    /// log, among the members that fit.
    fn best(&self, fits: impl Fn(&Self, Member) -> bool) -> Option<Member> {
        let spoken_to = self.peers.keys().copied().filter(|member| self.is_member(*member));
        let mut all: Vec<_> = spoken_to.filter(|member| fits(self, *member)).collect();
        all.retain(|member| Some(*member) != self.me && self.is_healthy(*member));
        let matched = |member: &Member| self.peers.get(member).map_or(0, |peer| peer.matched);
        all.into_iter().min_by_key(|m| (self.crowd(*m), Reverse(matched(m)), *m))
    }

    /// There is another member, which could lead instead.
    fn has_successor(&self) -> bool {
        self.members.iter().any(|member| Some(*member) != self.me)
    }

    /// See [`pvm_core::quorum::QuorumInput::Transfer`].
    pub(crate) fn resign(&mut self, to: Option<HostIndex>) {
        if self.is_leader() && self.resigning.is_none() && self.has_successor() {
            if to.is_some() {
                self.unwell_until = self.now + UNWELL_NS;
            }
            self.heir = to;
            self.resigning = Some(self.now + RESIGN_NS);
            self.arrange();
            self.hand_over();
        }
    }

    /// Lets another voter lead, once one has everything.
    pub(crate) fn hand_over(&mut self) {
        let Some(until) = self.resigning.filter(|_| self.is_leader()) else { return };
        if until <= self.now {
            // It may have been asked to lead and not have done so yet.
            self.set_leader(None);
            return self.step_down();
        }
        let last = self.log.last();
        let next = self.best(|core, member| {
            core.voters().contains(&member)
                && core.heir.is_none_or(|heir| heir == member.host())
                && core.peers.get(&member).is_some_and(|peer| peer.matched == last)
        });
        if let Some(next) = next.filter(|_| self.commit == last) {
            self.send(next, Word::Lead);
        }
    }
}

/// The number that should vote of so many members.
const fn count_of(core: &Core, members: usize) -> usize {
    let quarter = members.div_ceil(4);
    match members {
        0..=2 if core.resigning.is_some() => 2,
        0..=2 => 1,
        _ if quarter < core.limits.failures_max => 2 * quarter + 1,
        _ => 2 * core.limits.failures_max + 1,
    }
}

/// True where as many members vote as should.
fn all_vote(core: &Core) -> bool {
    core.voters().len() >= core.voter_count().min(core.members.len())
}

/// True for a voter in whose place another member is to vote, before it is taken out: one to which
/// this leader sends the log, as it knows of no other one whether that has it.
pub(crate) fn lacks_stand_in(core: &Core, member: Member) -> bool {
    let voters = core.voters().len();
    let votes = core.voters().contains(&member) && Some(member) != core.me;
    let mut heard = core.peers.keys().filter(|peer| core.is_member(**peer));
    let spare = heard.any(|peer| !core.voters().contains(peer));
    let few = voters <= count_of(core, core.members.len().saturating_sub(1)) || !all_vote(core);
    votes && spare && few && !planted::is(Bug::GoesBeforeItsStandIn)
}

/// A member to vote in the place of another one.
fn next_stand_in(core: &Core) -> Option<Member> {
    let goes = core.going.filter(|member| lacks_stand_in(core, *member));
    let instead = goes.and_then(|_| core.best(|core, m| !core.voters().contains(&m)));
    instead.or_else(|| core.stand_in()).or_else(|| core.of_another_computer())
}

/// True if a computer has two voters.
fn voters_share(core: &Core) -> bool {
    let voters = core.voters().iter();
    let mut computers: Vec<u64> = voters.filter_map(|v| core.members.computer(*v)).collect();
    computers.sort_unstable();
    computers.windows(2).any(|two| two[0] == two[1])
}

/// The voter that should vote no more, where there are too many.
fn worst(core: &Core) -> Option<Member> {
    let others = core.voters().iter().copied().filter(|voter| Some(*voter) != core.me);
    others.min_by_key(|v| {
        let stays = Some(*v) != core.going;
        (stays, core.is_healthy(*v), Reverse(core.crowd(*v)), Reverse(*v))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;
    use crate::log::Start;
    use pvm_core::Time;
    use pvm_core::quorum::{Quorum as _, QuorumInput, Voting};
    use pvm_wire::{Blob, Wire as _};

    const ME: Member = Member::new(1, HostIndex(1));
    const OTHER: Member = Member::new(2, HostIndex(2));

    #[test]
    fn a_leader_that_was_to_give_way_and_is_left_alone_ordered_nothing_any_more() {
        let mut core = Core::new(1);
        core.handle(Time(1), QuorumInput::Begin { me: ME });
        for members in [vec![ME, OTHER], vec![ME]] {
            core.handle(Time(1), QuorumInput::Members { members });
            core.handle(
                Time(1),
                QuorumInput::Votes(Voting::With { members: Vec::new(), lease: false }),
            );
            core.handle(Time(1), QuorumInput::Transfer { to: None });
            assert_eq!(core.is_current(Time(1)), core.members.len() == 1);
        }
    }

    const LAST: Member = Member::new(3, HostIndex(3));
    const SPARE: Member = Member::new(4, HostIndex(4));

    /// A new leader of three voters, whose first entry nobody has confirmed, and a member without a
    /// vote. The third voter has been silent for long.
    fn new_leader() -> Core {
        let mut core = Core::new(1);
        core.me = Some(ME);
        core.members = vec![ME, OTHER, LAST, SPARE].into();
        core.log.begin(Start { number: 5, term: 1, voters: vec![ME, OTHER, LAST] });
        (core.commit, core.ballot.term) = (5, 1);
        for host in [OTHER.host(), SPARE.host()] {
            core.handle(Time(1), QuorumInput::Linked { host, up: true });
        }
        core.raise_term(2);
        core.lead();
        core
    }

    /// A member answers everything that was said, and has the log up to an entry.
    fn answers(core: &mut Core, now: u64, from: Member, through: u64) {
        let (term, stamp) = (core.term(), core.stamp);
        let frame = Frame { from, to: ME, term, word: Word::Agree { through, stamp }, kin: None };
        let bytes = Blob(frame.to_bytes());
        core.handle(Time(now), QuorumInput::Heard { host: from.host(), bytes });
    }

    /// The number of voters when a while has passed in which those two have answered, but have only
    /// the log up to this entry.
    fn voters_later(core: &mut Core, through: u64) -> usize {
        for now in (1..40).map(|turn| turn * BEAT_NS) {
            core.handle_timeout(Time(now));
            [OTHER, SPARE].into_iter().for_each(|from| answers(core, now + 1, from, through));
        }
        core.voters().len()
    }

    /// Two leaders that change the voters one after the other, each before an entry of its own term
    /// is committed, can have majorities without a common member (the fault that Ongaro told of in
    /// 2015, in changes of one member at a time).
    #[test]
    fn a_new_leader_changes_no_voters_before_an_entry_of_its_term_is_committed() {
        assert_eq!(voters_later(&mut new_leader(), 5), 3);
        assert_eq!(voters_later(&mut new_leader(), 6), 4);
    }

    #[test]
    fn one_change_of_the_voters_is_under_way_at_a_time() {
        let mut core = new_leader();
        answers(&mut core, 1, OTHER, 6);
        assert_eq!(core.commit, 6);
        core.append(What::Voters { voters: vec![ME, OTHER, LAST, SPARE] });
        core.going = Some(LAST);
        assert_eq!(voters_later(&mut core, 6), 4);
    }

    #[cfg(feature = "planted")]
    #[test]
    fn the_tests_of_changes_find_their_planted_bugs() {
        planted::plant(Some(Bug::ChangeBeforeOwnEntry));
        let early = voters_later(&mut new_leader(), 5);
        planted::plant(Some(Bug::TwoChangesAtOnce));
        let mut core = new_leader();
        answers(&mut core, 1, OTHER, 6);
        core.append(What::Voters { voters: vec![ME, OTHER, LAST, SPARE] });
        core.going = Some(LAST);
        let second = voters_later(&mut core, 6);
        planted::plant(None);
        assert_eq!((early, second), (4, 3));
    }
}
