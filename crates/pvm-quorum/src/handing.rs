//! Handing on committed entries, where the log goes along a tree.
//!
//! A relay sends to the members below it as a leader does to its followers, with one difference: it
//! hands on only committed entries, which no later leader takes back. So neither the sender of an
//! entry matters nor the sequence in which the members above change. The leader's name is handed
//! on, too, with the time since the leader sent it: this age grows on the way, so that a name that
//! goes in a circle becomes too old.
//!
//! Each answer names the entry up to which the sender and all members below it have the log. It
//! counts only if both sides have computed the same tree. Then every member is below exactly one
//! other, and the leader cuts off no entry that a member lacks.
//!
//! A member asks members further up to send to it if it hears nothing from above, or of no leader,
//! or if it lacks entries that the member above does not keep any more.

use crate::core::{Core, Role, SILENCE_NS};
use crate::frame::{Kin, Word};
use crate::tree::Tree;
use pvm_core::planted::{self, Bug};
use pvm_core::quorum::Member;
use pvm_wire::HostIndex;

/// The interval at which a relay sends to the members below it.
const HAND_ON_NS: u64 = 600_000_000;
/// A member that has heard nothing from above for this long asks another one.
const ORPHAN_NS: u64 = 2 * SILENCE_NS;
/// The time between two members that ask others because they hear of no leader. If there is none,
/// all members would otherwise ask the voters at once.
const IN_TURN_NS: u64 = 300_000_000;
/// A fostered member that has not asked again for this long gets nothing more.
const FOSTER_NS: u64 = 5 * HAND_ON_NS;
/// The most members that one member fosters at a time; the others ask another one. If there is no
/// leader for long, all members ask the voters.
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
                Tree::of(me, self.members.sequence(), &voters, self.limits.tree_width)
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
        // The time is not put off, because hosts may join without a pause.
        let next_at = self.now + HAND_ON_NS;
        self.relay.next_at = self.tree.is_used().then(|| self.relay.at().min(next_at));
        self.relay.changes += 1;
        // The members below a peer may be below others now.
        self.peers.values_mut().for_each(|peer| peer.below = 0);
        self.serve();
    }

    /// The members below this one, and the members that it fosters.
    pub(crate) fn below(&self) -> impl Iterator<Item = Member> + '_ {
        let fosters = self.relay.fosters.keys().filter(|member| self.is_member(**member));
        self.tree.below.iter().chain(fosters).copied()
    }

    /// The last entry that this member may send to another one. A relay sends only committed
    /// entries: others may be taken back. A leader sends no voter its removal before that is
    /// committed.
    pub(crate) fn told_last(&self, to: Member) -> u64 {
        if !self.is_leader() && !planted::is(Bug::RelayedUncommitted) {
            return self.commit;
        }
        let removal = self.log.removal(self.commit, self.ballot.led_in());
        let removal = removal.filter(|removal| removal.member == to);
        removal.map_or_else(|| self.log.last(), |removal| removal.number - 1)
    }

    /// The data that goes with every frame where there is a tree.
    pub(crate) fn kin(&self) -> Option<Kin> {
        if !self.tree.is_used() {
            return None;
        }
        let age = if self.is_leader() { 0 } else { self.now.saturating_sub(self.heard_at) };
        let (leader, tree, below) = (self.leader, self.tree.key, self.all_below());
        Some(Kin { leader, age, tree, below })
    }

    /// The entry up to which this member and all below it have the log.
    pub(crate) fn all_below(&self) -> u64 {
        if planted::is(Bug::BelowUncounted) {
            return self.commit;
        }
        let below = |member: Member| self.peers.get(&member).map_or(0, |peer| peer.below);
        let top = self.tree.top.iter().copied();
        let top = top.filter(|member| self.is_leader() && Some(*member) != self.me);
        self.below().chain(top).map(below).chain([self.commit]).min().unwrap_or(0)
    }

    /// Notes how much of the log the members below a peer have, if the peer has computed the same
    /// tree.
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

    /// Handles a relay's message. A voter believes only the leader itself that it leads. It takes
    /// committed entries from a relay, because it may not know that it is no voter any more.
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

    /// A member above, or the leader, has sent a message. A sender that names no leader may be cut
    /// off itself: its message ends no search for another one.
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
        if is_led {
            self.relay.tries = 0;
            if self.relay.fostered_by.take().is_some() {
                self.relay.changes += 1;
            }
        }
        look_later(self);
    }

    /// Without a tree the leader sends to all, so no foster is needed.
    pub(crate) fn end_search(&mut self) {
        if !self.tree.is_used() && !self.relay.lacking && self.relay.fostered_by.take().is_some() {
            self.relay.changes += 1;
        }
    }

    /// The sender does not keep all entries that this member lacks, because it joined later: this
    /// member asks others.
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

    /// A peer's message was taken; `grew` is true if it committed new entries here.
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

    /// A leader is known: the members below hear of it at once.
    pub(crate) fn hand_on_soon(&mut self) {
        if self.leader.is_some() && !self.is_leader() && self.relay.next_at.is_some() {
            self.relay.next_at = Some(self.now);
        }
    }

    pub(crate) fn hand_on_if_due(&mut self) {
        if self.relay.next_at.is_none_or(|at| at > self.now) {
            return;
        }
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
        self.relay.next_at = Some(next_hand_on(self));
    }

    /// True if nothing comes from above, or for long nothing of a leader, or not the entries that
    /// this member lacks; until the member above tells of a leader again.
    fn is_orphan(&self) -> bool {
        self.is_forsaken() || self.relay.fostered_by.is_some() || unled_at(self) <= self.now
    }

    /// True if nothing comes from above, or not the entries that this member lacks.
    const fn is_forsaken(&self) -> bool {
        self.relay.lacking || self.relay.heard_at + ORPHAN_NS <= self.now
    }

    /// True if this member has heard of a leader of late.
    fn is_led(&self) -> bool {
        self.heard_at + self.silence() > self.now
    }

    /// Asks a member further up, and another one if that does not help: soon if nothing comes from
    /// above, and seldom if there is no leader.
    pub(crate) fn find_foster(&mut self) {
        self.relay.hurry(self.now + HAND_ON_NS);
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

    /// The members that could send to this one, in the sequence in which they are asked.
    fn possible_fosters(&self) -> Vec<Member> {
        // The leader may not be among the last voters that this member knows.
        let leader = self.leader.or(self.relay.led_by).filter(|_| self.relay.lacking);
        let above = self.tree.above.iter().skip(1).copied();
        // Different members begin with different voters.
        let mut voters = self.log.voters_at(self.commit).to_vec();
        let turn = self.me.map_or(0, |me| usize::from(me.host().0)) % voters.len().max(1);
        voters.rotate_left(turn);
        let all = leader.into_iter().chain(above).chain(voters);
        all.filter(|member| Some(*member) != self.me).collect()
    }

    /// Asks the chosen member to send to this one.
    pub(crate) fn seek_foster(&mut self) {
        if let Some(foster) = self.relay.fostered_by {
            self.send(foster, Word::Foster);
        }
    }

    /// Handles the request of a member that hears nothing from above.
    pub(crate) fn foster(&mut self, from: Member) {
        let many = self.relay.fosters.len() >= FOSTERS_MAX;
        let refused = many && !self.relay.fosters.contains_key(&from);
        if !self.tree.is_used() || self.is_blank() || refused {
            return;
        }
        if self.relay.fosters.insert(from, self.now).is_none() {
            self.relay.hurry(self.now + HAND_ON_NS);
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

    /// The hosts to which this member wants links for the log.
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

/// When a member asks others because it has heard of no leader.
fn unled_at(core: &Core) -> u64 {
    let patience = core.silence() + ORPHAN_NS + core.tree.rank as u64 * IN_TURN_NS;
    core.heard_at + patience
}

/// A member with none below it only looks whether it hears from above, when that is due.
fn next_hand_on(core: &Core) -> u64 {
    let soon = core.now + HAND_ON_NS;
    if core.is_leader() || core.is_orphan() || core.below().next().is_some() {
        return soon;
    }
    soon.max(unled_at(core).min(core.relay.heard_at + ORPHAN_NS))
}

/// A member that only waits to look whether it hears from above has heard it just now. One that is
/// to hand on something sooner does.
fn look_later(core: &mut Core) {
    let only_looks = core.relay.next_at.filter(|at| *at > core.now + HAND_ON_NS);
    if let Some(at) = only_looks {
        core.relay.next_at = Some(at.max(next_hand_on(core)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;
    use crate::limits::Limits;
    use crate::log::Start;
    use pvm_core::Time;
    use pvm_core::quorum::{Quorum as _, QuorumInput, QuorumOutput};
    use pvm_wire::{Blob, Wire as _};

    const MS: u64 = 1_000_000;

    fn member(host: u16) -> Member {
        Member::new(u64::from(host), HostIndex(host))
    }

    /// A member with none below it, and the voter above it.
    fn lowest() -> (Core, Member) {
        let limits = Limits { star_count: 3, tree_width: 1, failures_max: 1, ..Limits::USUAL };
        let mut core = Core::within(limits, 1);
        core.me = Some(member(4));
        let voters: Vec<_> = (1..4).map(member).collect();
        core.log.begin(Start { number: 5, term: 1, voters });
        (core.commit, core.ballot.term) = (5, 1);
        for host in (1..4).map(HostIndex) {
            core.handle(Time(MS), QuorumInput::Linked { host, up: true });
        }
        core.handle(Time(MS), QuorumInput::Members { members: (1..5).map(member).collect() });
        assert!(core.below().next().is_none());
        let above = core.tree.above[0];
        (core, above)
    }

    /// When this member asks others to send to it.
    fn asks(core: &mut Core, until: u64) -> Vec<u64> {
        let mut asks = Vec::new();
        while let Some(now) = core.poll_timeout().filter(|at| at.0 <= until) {
            core.handle_timeout(now);
            while let Some(output) = core.poll_output() {
                let QuorumOutput::Send { bytes, .. } = output else { continue };
                let frame = Frame::from_bytes(&bytes.0).expect("a frame");
                asks.extend(matches!(frame.word, Word::Foster).then_some(now.0));
            }
        }
        asks
    }

    /// The leader, which is above the member, is heard.
    fn hear(core: &mut Core, leader: Member, now: u64) {
        let word = Word::Beat { commit: 5, everywhere: 5, stamp: now };
        let frame = Frame { from: leader, to: member(4), term: 1, word, kin: None };
        let bytes = Blob(frame.to_bytes());
        core.handle(Time(now), QuorumInput::Heard { host: leader.host(), bytes });
    }

    #[test]
    fn a_member_with_none_below_it_woke_to_look_whether_it_hears_what_it_had_just_heard() {
        let (mut core, leader) = lowest();
        let mut woke = 0;
        for now in (10..10_000).step_by(600).map(|ms| ms * MS) {
            while let Some(at) = core.poll_timeout().filter(|at| at.0 <= now) {
                core.handle_timeout(at);
                woke += 1;
            }
            hear(&mut core, leader, now);
        }
        assert!(woke <= 1, "it woke {woke} times");
        let silent_from = 9610 * MS;
        let asked = asks(&mut core, silent_from + 2 * ORPHAN_NS);
        assert!(asked[0] >= silent_from + ORPHAN_NS, "{asked:?}");
        assert!(asked[0] <= silent_from + ORPHAN_NS + HAND_ON_NS, "{asked:?}");
    }

    /// The leader was above it and died. It asked another one at once, and again only when it had
    /// also heard nothing for long: a question that was lost cost as much time more.
    #[test]
    fn a_member_with_none_below_it_asked_late_again_when_the_leader_was_dead() {
        let (mut core, leader) = lowest();
        for now in (10..2010).step_by(100).map(|ms| ms * MS) {
            assert!(asks(&mut core, now).is_empty(), "a leader is heard");
            hear(&mut core, leader, now);
        }
        let died_at = 2000 * MS;
        core.handle(Time(died_at), QuorumInput::Gone { host: leader.host() });
        let asked = asks(&mut core, died_at + 3 * HAND_ON_NS);
        assert!(asked[0] < died_at + SILENCE_NS / 4, "{asked:?}");
        assert!(asked[1] <= asked[0] + HAND_ON_NS, "{asked:?}");
    }
}
