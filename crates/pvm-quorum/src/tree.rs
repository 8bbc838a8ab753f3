//! The tree along which members hand on the log, where there are many members.
//!
//! A leader that sends to each of thousands of members has as many links, and sends as many
//! messages every second. So above [`crate::Limits::star_count`] members the log goes along a tree.
//! The voters are its top, whichever of them leads, so that an election changes nothing below them.
//! All others follow in an order that a hash of their places gives, a few at each member. Every
//! member computes the tree by itself, from the members and the voters by the commands that it has
//! applied.
//!
//! The tree only says which member sends first: a member takes committed entries from any sender.

use pvm_core::quorum::Member;
use pvm_wire::HostIndex;

/// A member's place in the tree.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tree {
    /// The identity of the tree: equal where members and voters are equal. 0: there is no tree.
    pub(crate) key: u64,
    /// The members above this one, the nearest first; a voter has none.
    pub(crate) above: Vec<Member>,
    /// The voters, which are the top of the tree.
    pub(crate) top: Vec<Member>,
    /// The members to which this one hands on.
    pub(crate) below: Vec<Member>,
    /// The position of this member among those below the member above it.
    pub(crate) rank: usize,
}

impl Tree {
    /// The place of `me` among the members, with `width` members below each.
    pub(crate) fn of(me: Member, members: &Sequence, voters: &[Member], width: usize) -> Self {
        let at = |voter: &Member| Some((members.find(*voter)?, *voter));
        let (mut skipped, top): (Vec<_>, Vec<_>) = voters.iter().filter_map(at).unzip();
        if top.is_empty() || width == 0 {
            return Self::default();
        }
        skipped.sort_unstable();
        let shape = Shape { top: &top, members, skipped: &skipped, width };
        let (above, below, rank) = match top.iter().position(|voter| *voter == me) {
            Some(at) => (Vec::new(), shape.below_top(at), 0),
            None => match shape.position(me) {
                Some(at) => (shape.above(at), shape.below(at), shape.rank(at)),
                None => (Vec::new(), Vec::new(), 0),
            },
        };
        Self { key: key(members, &top), above, below, top, rank }
    }

    /// True if there is a tree.
    pub(crate) const fn is_used(&self) -> bool {
        self.key != 0
    }
}

/// All members in the sequence in which they follow in the tree. A member that comes or goes moves
/// the others on, but nothing is worked out anew.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Sequence {
    members: Vec<Member>,
    /// Equal where the members are.
    sum: u64,
}

impl Sequence {
    pub(crate) fn of(members: &[Member]) -> Self {
        let mut members = members.to_vec();
        members.sort_unstable_by_key(|member| spread(member.host()));
        let sum = members.iter().fold(0_u64, |sum, member| sum.wrapping_add(mark(member)));
        Self { members, sum }
    }

    fn search(&self, host: HostIndex) -> Result<usize, usize> {
        self.members.binary_search_by_key(&spread(host), |member| spread(member.host()))
    }

    fn find(&self, member: Member) -> Option<usize> {
        self.search(member.host()).ok().filter(|at| self.members[*at] == member)
    }

    /// One more member, on a host of which there is none.
    pub(crate) fn insert(&mut self, member: Member) {
        if let Err(at) = self.search(member.host()) {
            self.members.insert(at, member);
            self.sum = self.sum.wrapping_add(mark(&member));
        }
    }

    /// The member on a host goes; returns it.
    pub(crate) fn remove(&mut self, host: HostIndex) -> Option<Member> {
        let gone = self.members.remove(self.search(host).ok()?);
        self.sum = self.sum.wrapping_sub(mark(&gone));
        Some(gone)
    }
}

/// All of the tree.
struct Shape<'a> {
    top: &'a [Member],
    members: &'a Sequence,
    /// The places of the top among the members: all others follow below it.
    skipped: &'a [usize],
    width: usize,
}

impl Shape<'_> {
    /// The member at a place below the top.
    fn get(&self, at: usize) -> Option<Member> {
        let place = self.skipped.iter().fold(at, |at, skipped| at + usize::from(*skipped <= at));
        self.members.members.get(place).copied()
    }

    /// The place of a member that is not at the top.
    fn position(&self, member: Member) -> Option<usize> {
        let place = self.members.find(member)?;
        Some(place - self.skipped.iter().filter(|skipped| **skipped < place).count())
    }

    /// The number of places just below the top.
    const fn first(&self) -> usize {
        self.top.len() * self.width
    }

    fn at(&self, places: impl Iterator<Item = usize>) -> Vec<Member> {
        places.filter_map(|at| self.get(at)).collect()
    }

    /// The voters take turns, so that each leader has members below it that could vote.
    fn below_top(&self, at: usize) -> Vec<Member> {
        self.at((at..self.first()).step_by(self.top.len()))
    }

    const fn rank(&self, at: usize) -> usize {
        let first = self.first();
        if at < first { at / self.top.len() } else { (at - first) % self.width }
    }

    fn below(&self, at: usize) -> Vec<Member> {
        let first = self.first() + at * self.width;
        self.at(first..first + self.width)
    }

    fn above(&self, mut at: usize) -> Vec<Member> {
        let mut above = Vec::new();
        while at >= self.first() {
            at = (at - self.first()) / self.width;
            above.extend(self.get(at));
        }
        above.push(self.top[at % self.top.len()]);
        above
    }
}

/// Members that were let in one after the other are often on one computer: they are spread over the
/// tree.
const fn spread(host: HostIndex) -> u64 {
    mix(host.0 as u64)
}

/// The last step of SplitMix64.
const fn mix(number: u64) -> u64 {
    let z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number for a member: the sum of them is one for all.
const fn mark(member: &Member) -> u64 {
    mix(member.incarnation().rotate_left(16) ^ member.host().0 as u64)
}

fn key(members: &Sequence, top: &[Member]) -> u64 {
    top.iter().fold(mix(members.sum), |sum, member| mix(sum ^ mark(member))) | 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const WIDTH: usize = 20;

    fn members(count: u16) -> Vec<Member> {
        (1..=count).map(|host| Member::new(u64::from(host), HostIndex(host))).collect()
    }

    #[test]
    fn each_member_is_below_one_other_which_knows_it_and_few_are_below_any() {
        for (count, vote) in [(33, 9), (64, 9), (300, 9), (4095, 9), (4095, 3), (40, 1)] {
            let all = members(count);
            let voters = &all[..vote];
            let sequence = Sequence::of(&all);
            let tree = |me: &Member| Tree::of(*me, &sequence, voters, WIDTH);
            let trees: Vec<_> = all.iter().map(tree).collect();
            let mut below = BTreeSet::new();
            for (me, tree) in all.iter().zip(&trees) {
                assert!(tree.key == trees[0].key && tree.below.len() <= WIDTH);
                assert!(tree.below.iter().all(|child| below.insert((*child, *me))));
                for (rank, child) in tree.below.iter().enumerate() {
                    let at = all.binary_search(child).expect("a member");
                    assert_eq!(trees[at].rank, rank, "{child} below {me}");
                }
            }
            assert_eq!(below.len(), all.len() - vote);
            for (me, tree) in all.iter().zip(&trees).skip(vote) {
                assert!(below.contains(&(*me, tree.above[0])), "{me}");
                assert!(voters.contains(&tree.above[tree.above.len() - 1]) && tree.above.len() < 5);
            }
        }
    }

    #[test]
    fn whoever_leads_has_some_below_it_that_could_vote() {
        let all = members(33);
        for me in &all[..9] {
            assert!(Tree::of(*me, &Sequence::of(&all), &all[..9], WIDTH).below.len() >= 2);
        }
    }

    #[test]
    fn a_tree_is_another_one_where_a_member_or_a_voter_is() {
        let all = members(40);
        let tree =
            |all: &[Member], vote: usize| Tree::of(all[0], &Sequence::of(all), &all[..vote], WIDTH);
        let key = |all: &[Member], vote: usize| tree(all, vote).key;
        assert_ne!(key(&all, 9), key(&all[..39], 9));
        assert_ne!(key(&all, 9), key(&all, 7));
        assert!(!tree(&all, 0).is_used());
    }
    #[test]
    fn a_sequence_is_the_same_whichever_way_the_members_came() {
        let all = members(300);
        let mut grown = Sequence::default();
        for member in all.iter().rev() {
            grown.insert(*member);
        }
        assert_eq!(grown, Sequence::of(&all));
        assert_eq!(grown.remove(HostIndex(7)), Some(all[6]));
        assert_eq!(grown.remove(HostIndex(7)), None);
        let rest: Vec<_> = all.iter().copied().filter(|member| *member != all[6]).collect();
        assert_eq!(grown, Sequence::of(&rest));
        let again = Member::new(1000, HostIndex(7));
        grown.insert(again);
        assert_ne!(grown, Sequence::of(&all));
        assert!(grown.find(all[6]).is_none() && grown.find(again).is_some());
    }
}
