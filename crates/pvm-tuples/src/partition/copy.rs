//! A copy: it applies the primary's steps, and tries to replace the primary when that has ended.

use super::failing;
use super::limits::Limits;
use super::moves;
use super::moving::Moving;
use super::primary::apply;
use super::{LOOK_AGAIN_MS, Output, Partition, Role, Search, UNDECIDED_MS};
use crate::frames::{Between, Entry};
use crate::log::Record;
use crate::ops::Input;
use crate::planted::{self, Bug};
use crate::snapshot::Snapshot;
use crate::store::{Store, wants_shelf};
use pvm_wire::Tid;

impl Partition {
    pub(super) fn follow_step(
        &mut self,
        (from, term): (Tid, i32),
        (number, at_ms, input): (u64, u64, Input),
    ) {
        let space = self.entry.space;
        if term < self.term || (term == self.term && self.role == Role::Primary) {
            return self.say(from, Between::Later { space });
        }
        // A step of a later term must wait for the first state of that term, which is sent again if
        // it was lost. An heir may be the next primary already, so it confirms nothing.
        if term > self.term || self.role != Role::Copy || !self.begun {
            return;
        }
        if number == self.applied + 1 || (number > self.applied && planted::is(Bug::SkipsSteps)) {
            self.applied = number;
            let record = || Record::Step { number, at_ms, input: input.clone() };
            let record = self.journal.note(record);
            self.outputs.extend(record.map(|record| Output::Persist { record }));
            apply(self, at_ms, input);
        }
        self.acknowledge();
    }

    /// Confirms to the primary the last step that this copy has and keeps.
    pub(super) fn acknowledge(&mut self) {
        let (space, term) = (self.entry.space, self.term);
        // The first state is confirmed as a whole, by its number.
        if self.journal.kept(self.applied) >= self.begun_at {
            let number = self.journal.kept(self.applied);
            self.say(self.entry.primary, Between::Ack { space, term, number });
        }
    }

    pub(super) fn begin(
        &mut self,
        (from, term): (Tid, i32),
        entry: Entry,
        number: u64,
        snapshot: Snapshot,
    ) {
        let space = self.entry.space;
        let is_late = term < self.term || (self.role == Role::Primary && term == self.term);
        if is_late || entry.space != space {
            return self.say(from, Between::Later { space });
        }
        if self.role == Role::Failed || (self.role == Role::Heir && term == self.term) {
            return;
        }
        // A repeated first state must not undo the steps that came after it.
        let again = planted::is(Bug::BeginsAgain);
        if !self.begun || term > self.term || number > self.applied || again {
            if self.role == Role::Primary {
                moves::send_on(self);
            }
            self.store = Store::restore(snapshot);
            self.limits = Limits::of(&self.store, self.now);
            self.outputs.extend(wants_shelf(&self.store).then_some(Output::Shelve));
            (self.applied, self.begun_at) = (number, number);
            self.follow_from_now(from, term, entry);
            if self.journal.begin() {
                self.outputs.push_back(Output::Rewrite);
            }
        } else {
            self.follow_from_now(from, term, entry);
        }
        self.acknowledge();
    }

    /// Follows this primary from now on, and drops the data that only a primary has.
    fn follow_from_now(&mut self, primary: Tid, term: i32, entry: Entry) {
        self.steps.clear();
        self.followers.clear();
        self.held.clear();
        self.leases.clear();
        (self.resend_at, self.putting, self.search) = (None, None, Search::Open);
        self.look_at = None;
        self.first_look = self.look + 1;
        self.moving = Moving::default();
        (self.role, self.begun, self.term) = (Role::Copy, true, term);
        // Its file must not look like a file of an earlier primary.
        self.epoch = self.epoch.max(term);
        self.entry = Entry { primary, ..entry };
        self.watch(primary);
    }

    pub(super) fn gone_from_copy(&mut self, task: Tid) {
        if task == self.entry.primary {
            (self.role, self.heir_since) = (Role::Heir, self.now);
            self.look();
        }
    }

    /// Handles the last entry of the names, which another server may have put.
    pub(super) fn latest(&mut self, look: u64, latest: Option<(i32, Entry)>) {
        if look < self.first_look {
            return;
        }
        if self.role == Role::Failed {
            return failing::latest(self, latest);
        }
        let space = self.entry.space;
        let is_it = |entry: &Entry| entry.space == space && entry.deleted;
        self.ending |= latest.as_ref().is_some_and(|(_, entry)| is_it(entry));
        let own = latest.filter(|(_, entry)| entry.space == space && !entry.deleted);
        let Some((epoch, entry)) = own else { return self.close(false, None) };
        let names_me = entry.copies.contains(&self.me) || planted::is(Bug::UnnamedTakesOver);
        match self.role {
            _ if entry.primary == self.me && epoch > self.epoch => self.adopt(epoch, entry),
            Role::Primary if entry.primary == self.me => self.tend(),
            // The server to which the space was to move has become the primary, and may have ended
            // since.
            Role::Primary if names_me && self.moving.told() == Some(entry.primary) => {
                moves::send_on(self);
                self.steps.clear();
                self.leases.clear();
                (self.resend_at, self.search) = (None, Search::Open);
                (self.role, self.moving) = (Role::Copy, Moving::default());
                (self.epoch, self.entry) = (epoch, entry);
                self.watch(self.entry.primary);
            }
            Role::Heir if names_me && entry.primary == self.entry.primary => {
                (self.epoch, self.entry) = (epoch, entry);
                self.put_next();
            }
            // Another copy has put its entry first. It answers nothing before this copy has its
            // first state.
            Role::Heir if names_me => {
                self.role = Role::Copy;
                self.watch(entry.primary);
                self.entry = entry;
            }
            Role::Copy if names_me => {}
            // The last entry that the old primary wanted to put may still come.
            Role::Heir
                if entry.primary == self.entry.primary
                    && self.now < self.heir_since + UNDECIDED_MS =>
            {
                self.look_at = Some(self.now + LOOK_AGAIN_MS);
            }
            _ => {
                if self.role == Role::Primary {
                    moves::send_on(self);
                }
                self.close(false, None);
            }
        }
    }

    pub(super) fn become_primary(&mut self) {
        (self.role, self.term) = (Role::Primary, self.epoch);
        self.released = self.applied;
        // An earlier look may have returned an older entry, which names another primary.
        self.first_look = self.look + 1;
        let clients: Vec<Tid> = self.store.clients().collect();
        clients.into_iter().for_each(|client| self.watch(client));
        if self.entry.owner != Tid::NONE {
            self.watch(self.entry.owner);
        }
        for (claim, lease) in self.store.leases().collect::<Vec<_>>() {
            self.leases.set(claim, self.now.saturating_add(lease));
        }
        for copy in self.entry.copies.clone() {
            self.take_in(copy);
        }
    }
}
