//! Handing on what is committed, where the order goes along a tree.
//!
//! A relay speaks to those below it as a leader does to its followers, with one difference: it
//! hands on what is committed, which no later leader takes back. So it matters neither from whom a
//! member has an entry nor in which order the members above it change. Who leads is handed on, too,
//! with the time since that leader said so: words age on their way, and those that go in a circle
//! become too old.
//!
//! Each answer says up to where the sender and all below it have everything. It counts only where
//! both sides have worked out the same tree. Then every member is below exactly one other, and the
//! leader cuts off nothing that somebody lacks.
//!
//! A member that hears nothing from above, or of no leader, or lacks what is kept there no more,
//! asks those further up to speak to it meanwhile.

use crate::core::{Core, Role, SILENCE_NS};
use crate::frame::{Kin, Word};
use crate::tree::Tree;
use pvm_core::planted::{self, Bug};
use pvm_core::quorum::Member;
use pvm_wire::HostIndex;

/// How often a relay lets itself be heard.
const HAND_ON_NS: u64 = 600_000_000;
/// A member that has heard nothing from above for so long asks another one.
const ORPHAN_NS: u64 = 2 * SILENCE_NS;
/// Members that hear from above that nobody leads ask others one after the other, so long after
/// the one before it: where that is so everywhere, all that there are would call those that vote at
/// once.
const IN_TURN_NS: u64 = 300_000_000;
/// A member that asks no more gets nothing after this.
const FOSTER_NS: u64 = 5 * HAND_ON_NS;
/// Nobody speaks to more of those at a time, which ask others then: where nobody leads for long,
/// all ask those that vote.
const FOSTERS_MAX: usize = 64;

impl Core {
    /// Works the tree out anew.
    pub(crate) fn grow_tree(&mut self) {
        let Some(me) = self.me else { return };
        let many = self.members.len() > self.limits.star_count;
        let tree = match many {
            true => {
                let mut voters = self.log.voters_at(self.commit).to_vec();
                voters.sort_unstable();
                Tree::of(me, &self.members, &voters, self.limits.tree_width)
            }
            false => Tree::default(),
        };
        if tree == self.tree {
            return;
        }
        if tree.above != self.tree.above {
            self.relay.heard_at = self.now;
            (self.relay.tries, self.relay.fostered_by, self.relay.fostered_at) = (0, None, 0);
            self.relay.lacking = false;
        }
        self.tree = tree;
        // No later than it was due: hosts may join without a pause.
        let next_at = self.now + HAND_ON_NS;
        self.relay.next_at = self.tree.is_used().then(|| self.relay.at().min(next_at));
        self.relay.changes += 1;
        // What was below them may be below others now.
        self.peers.values_mut().for_each(|peer| peer.below = 0);
        self.serve();
    }

    /// Those below this member, and those that it fosters.
    pub(crate) fn below(&self) -> impl Iterator<Item = Member> + '_ {
        let fosters = self.relay.fosters.keys().filter(|member| self.is_member(**member));
        self.tree.below.iter().chain(fosters).copied()
    }

    /// Up to where this member may tell others: what a relay has that is not committed may be taken
    /// back.
    pub(crate) fn told_last(&self) -> u64 {
        let all = self.is_leader() || planted::is(Bug::RelayedUncommitted);
        if all { self.log.last() } else { self.commit }
    }

    /// What goes with every frame where there is a tree.
    pub(crate) fn kin(&self) -> Option<Kin> {
        if !self.tree.is_used() {
            return None;
        }
        let age = if self.is_leader() { 0 } else { self.now.saturating_sub(self.heard_at) };
        let (leader, tree, below) = (self.leader, self.tree.key, self.all_below());
        Some(Kin { leader, age, tree, below })
    }

    /// Up to where this member and all below it have everything.
    pub(crate) fn all_below(&self) -> u64 {
        if planted::is(Bug::BelowUncounted) {
            return self.commit;
        }
        let below = |member: Member| self.peers.get(&member).map_or(0, |peer| peer.below);
        let top = self.tree.top.iter().copied();
        let top = top.filter(|member| self.is_leader() && Some(*member) != self.me);
        self.below().chain(top).map(below).chain([self.commit]).min().unwrap_or(0)
    }

    /// A member has answered: what it says of those below it counts where it means the same tree.
    pub(crate) fn note_below(&mut self, from: Member, kin: Option<&Kin>) {
        let Some(kin) = kin.filter(|kin| self.tree.is_used() && kin.tree == self.tree.key) else {
            return;
        };
        let Some(peer) = self.peers.get_mut(&from) else { return };
        peer.below = peer.below.max(kin.below);
        if self.is_leader() {
            return self.note_everywhere();
        }
        let below = self.all_below();
        if let Some(upstream) = self.relay.upstream.filter(|_| below > self.relay.told) {
            self.relay.told = below;
            self.send(upstream, Word::Alive { through: self.commit, stamp: 0 });
        }
    }

    /// A relay speaks. Who votes believes only the leader itself that it leads; what is committed
    /// it takes, as it may vote no more and not know it.
    pub(crate) fn hear_relay(&mut self, from: Member, kin: &Kin) {
        self.relay.led_by = kin.leader;
        if self.is_voter() {
            return;
        }
        self.role = Role::Follower;
        let said_at = self.now.saturating_sub(kin.age);
        let is_led = kin.leader.is_some() && said_at + self.silence() > self.now;
        self.hear_above(from, is_led);
        if is_led {
            self.heard_at = self.heard_at.max(said_at);
            self.wait_for_silence();
            self.set_leader(kin.leader);
        }
    }

    /// Somebody above speaks to this member, or who leads. Who tells of no leader may be cut off
    /// itself: such a word ends no search for another one.
    pub(crate) fn hear_above(&mut self, from: Member, is_led: bool) {
        if is_led {
            self.relay.upstream = Some(from);
        }
        if is_led && self.relay.fostered_by == Some(from) {
            self.relay.fostered_at = self.now;
        }
        if self.tree.above.first() != Some(&from) || self.relay.lacking {
            return;
        }
        self.relay.heard_at = self.now;
        if !is_led {
            return;
        }
        self.relay.tries = 0;
        if self.relay.fostered_by.take().is_some() {
            self.relay.changes += 1;
        }
    }

    /// Without a tree whoever leads speaks to all.
    pub(crate) fn end_search(&mut self) {
        if !self.tree.is_used() && !self.relay.lacking && self.relay.fostered_by.take().is_some() {
            self.relay.changes += 1;
        }
    }

    /// Somebody that speaks to this member keeps less of the log than it lacks, as that one joined
    /// later: others are asked.
    pub(crate) fn lack(&mut self, from: Member) {
        let asked = self.relay.fostered_by == Some(from);
        if planted::is(Bug::LackUnheard) && !asked && self.tree.above.first() != Some(&from) {
            return;
        }
        if asked {
            self.relay.fostered_at = 0;
        }
        // A member without a place in the tree, as far as it knows, asks again only here.
        let first = !std::mem::replace(&mut self.relay.lacking, true);
        if asked || first || self.tree.above.is_empty() {
            self.find_foster();
        }
    }

    /// What somebody told was taken; `grew`: and something new is committed here with it.
    pub(crate) fn note_taken(&mut self, from: Member, grew: bool) {
        let is_above = self.tree.above.first() == Some(&from);
        if !self.relay.lacking || !(is_above || self.tree.above.is_empty() && grew) {
            return;
        }
        self.relay.lacking = false;
        if is_above {
            self.hear_above(from, self.is_led());
        }
    }

    /// Somebody leads: those below hear of it at once.
    pub(crate) fn hand_on_soon(&mut self) {
        if self.leader.is_some() && !self.is_leader() && self.relay.next_at.is_some() {
            self.relay.next_at = Some(self.now);
        }
    }

    pub(crate) fn hand_on_if_due(&mut self) {
        if self.relay.next_at.is_none_or(|at| at > self.now) {
            return;
        }
        self.relay.next_at = Some(self.now + HAND_ON_NS);
        let oldest = self.now.saturating_sub(FOSTER_NS);
        let before = self.relay.fosters.len();
        self.relay.fosters.retain(|_, at| *at > oldest);
        if self.relay.fosters.len() < before {
            self.relay.changes += 1;
            self.serve();
        }
        if !self.is_leader() {
            self.spread_beat();
            self.look_after_all();
        }
        if self.is_orphan() && !self.tree.above.is_empty() {
            self.find_foster();
        }
    }

    /// Nothing comes from above, or for long nothing of a leader, or not what this member lacks:
    /// until whoever is above tells of a leader again.
    fn is_orphan(&self) -> bool {
        let relay = &self.relay;
        let patience = self.silence() + ORPHAN_NS + self.tree.rank as u64 * IN_TURN_NS;
        let is_unled = self.heard_at + patience <= self.now;
        self.is_forsaken() || relay.fostered_by.is_some() || is_unled
    }

    /// Nothing comes from above, or not what this member lacks.
    const fn is_forsaken(&self) -> bool {
        self.relay.lacking || self.relay.heard_at + ORPHAN_NS <= self.now
    }

    /// Somebody has led of late, as far as was told.
    fn is_led(&self) -> bool {
        self.heard_at + self.silence() > self.now
    }

    /// One further up is asked, and another one if that does not help: soon where nothing comes
    /// from above, and seldom where nobody leads.
    pub(crate) fn find_foster(&mut self) {
        let helps = self.relay.fostered_at + ORPHAN_NS > self.now;
        let waits = !self.is_forsaken() && self.relay.tried_at + FOSTER_NS > self.now;
        if self.relay.fostered_by.is_some() && (helps || waits) {
            return self.seek_foster();
        }
        let all = self.possible_fosters();
        if all.is_empty() {
            return;
        }
        let next = Some(all[self.relay.tries % all.len()]);
        self.relay.tries += 1;
        self.relay.tried_at = self.now;
        if next != self.relay.fostered_by {
            self.relay.fostered_by = next;
            self.relay.changes += 1;
        }
        self.seek_foster();
    }

    /// Those that could speak to this member, in the order in which they are asked.
    fn possible_fosters(&self) -> Vec<Member> {
        // Who leads may be none of those that voted when this member heard of voters last.
        let leader = self.leader.or(self.relay.led_by).filter(|_| self.relay.lacking);
        let above = self.tree.above.iter().skip(1).copied();
        // All members begin with different ones.
        let mut voters = self.log.voters_at(self.commit).to_vec();
        let turn = self.me.map_or(0, |me| usize::from(me.host().0)) % voters.len().max(1);
        voters.rotate_left(turn);
        let all = leader.into_iter().chain(above).chain(voters);
        all.filter(|member| Some(*member) != self.me).collect()
    }

    /// Asks whoever is to speak to this member.
    pub(crate) fn seek_foster(&mut self) {
        if let Some(foster) = self.relay.fostered_by {
            self.send(foster, Word::Foster);
        }
    }

    /// A member hears nothing from above.
    pub(crate) fn foster(&mut self, from: Member) {
        let many = self.relay.fosters.len() >= FOSTERS_MAX;
        let refused = many && !self.relay.fosters.contains_key(&from);
        if !self.tree.is_used() || self.is_blank() || refused {
            return;
        }
        if self.relay.fosters.insert(from, self.now).is_none() {
            self.relay.changes += 1;
            self.serve();
            if !self.is_leader() {
                self.spread_beat_to(vec![from]);
            }
        }
    }

    /// A new member has nothing yet. The one above it may not reach it before it has the state.
    pub(crate) fn give_state(&mut self, to: Member) {
        if self.relay.fosters.contains_key(&to) || !self.peers.contains_key(&to) {
            self.foster(to);
        }
        self.wants_state(to);
    }

    /// The hosts to which links are to stand for the order.
    pub(crate) fn near_members(&self) -> Vec<HostIndex> {
        let mut near: Vec<Member> = self.below().chain(self.relay.fostered_by).collect();
        match self.tree.above.first() {
            Some(above) if !self.is_voter() => near.push(*above),
            _ => near.extend(self.voters().iter().copied().chain(self.needed())),
        }
        near.retain(|member| Some(*member) != self.me);
        near.into_iter().map(Member::host).collect()
    }
}
