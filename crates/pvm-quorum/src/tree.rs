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
    /// The place of `me` among the members, with `width` members below each; both lists are sorted.
    pub(crate) fn of(me: Member, members: &[Member], voters: &[Member], width: usize) -> Self {
        let is_voter = |member: &Member| voters.binary_search(member).is_ok();
        let is_member = |voter: &&Member| members.binary_search(*voter).is_ok();
        let top: Vec<Member> = voters.iter().filter(is_member).copied().collect();
        if top.is_empty() || width == 0 {
            return Self::default();
        }
        let rest = members.iter().copied().filter(|member| !is_voter(member));
        let mut rest: Vec<(u64, Member)> = rest.map(|member| (spread(member), member)).collect();
        rest.sort_unstable();
        let shape = Shape { top: &top, rest: &rest, width };
        let (above, below, rank) = match top.iter().position(|voter| *voter == me) {
            Some(at) => (Vec::new(), shape.below_top(at), 0),
            None => match rest.binary_search(&(spread(me), me)) {
                Ok(at) => (shape.above(at), shape.below(at), shape.rank(at)),
                Err(_) => (Vec::new(), Vec::new(), 0),
            },
        };
        Self { key: key(members, &top), above, below, top, rank }
    }

    /// True if there is a tree.
    pub(crate) const fn is_used(&self) -> bool {
        self.key != 0
    }
}

/// All of the tree.
struct Shape<'a> {
    top: &'a [Member],
    rest: &'a [(u64, Member)],
    width: usize,
}

impl Shape<'_> {
    /// The number of places just below the top.
    const fn first(&self) -> usize {
        self.top.len() * self.width
    }

    fn at(&self, places: impl Iterator<Item = usize>) -> Vec<Member> {
        places.filter_map(|at| self.rest.get(at)).map(|(_, member)| *member).collect()
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
            above.push(self.rest[at].1);
        }
        above.push(self.top[at % self.top.len()]);
        above
    }
}

/// Members that were let in one after the other are often on one computer: they are spread over the
/// tree.
const fn spread(member: Member) -> u64 {
    mix(member.host().0 as u64)
}

/// The last step of SplitMix64.
const fn mix(number: u64) -> u64 {
    let z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn key(members: &[Member], top: &[Member]) -> u64 {
    let add = |sum: u64, member: &Member| {
        mix(sum ^ member.incarnation().rotate_left(16) ^ u64::from(member.host().0))
    };
    let sum = members.iter().fold(1, add);
    top.iter().fold(mix(sum), add) | 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::HostIndex;
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
            let trees: Vec<_> = all.iter().map(|me| Tree::of(*me, &all, voters, WIDTH)).collect();
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
            assert!(Tree::of(*me, &all, &all[..9], WIDTH).below.len() >= 2);
        }
    }

    #[test]
    fn a_tree_is_another_one_where_a_member_or_a_voter_is() {
        let all = members(40);
        let key = |all: &[Member], vote: usize| Tree::of(all[0], all, &all[..vote], WIDTH).key;
        assert_ne!(key(&all, 9), key(&all[..39], 9));
        assert_ne!(key(&all, 9), key(&all, 7));
        assert!(!Tree::of(all[0], &all, &[], WIDTH).is_used());
    }
}
