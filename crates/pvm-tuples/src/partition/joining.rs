//! Epochs: each change of the servers of a space is a new entry of the machine's names.

use super::{Follower, Output, Partition, RESEND_MS, Role, SEARCH_AGAIN_MS, Search, moves};
use crate::frames::{Between, Entry, Told};
use crate::log::Record;
use crate::planted::{self, Bug};
use pvm_wire::Tid;

/// Removes copies on hosts that are to be left, and a former primary; false if there are none.
fn let_go(space: &mut Partition, wanted: usize) -> bool {
    let surplus = moves::surplus(space, wanted);
    let (drains, named) = (&space.drains, &space.entry.copies);
    let is_leaving = |tid: &Tid| surplus == Some(*tid) || (drains.has(*tid) && named.contains(tid));
    let leaving = space.followers.iter_mut().filter(|(tid, _)| is_leaving(tid));
    leaving.map(|(_, follower)| follower.is_lost = true).count() > 0
}

/// Forgets lost followers. A follower that is alive nevertheless finds by the names that it was
/// dropped. The file of one on a host that is to be left is not needed either.
fn drop_lost(space: &mut Partition) {
    let is_lost = |(_, follower): &(&Tid, &Follower)| follower.is_lost;
    let lost = space.followers.iter().filter(is_lost).map(|(tid, _)| *tid).collect::<Vec<_>>();
    let (number, term) = (space.entry.space, space.term);
    for follower in lost {
        space.followers.remove(&follower);
        let drop = Between::Drop { space: number, term };
        let is_leaving = space.drains.has(follower) || space.moving.former == Some(follower);
        space.say(follower, if is_leaving { drop } else { Between::Later { space: number } });
    }
}

/// All possible copies have been made: the client that made the space gets its answer.
fn stands(space: &mut Partition) {
    if let Some((client, number)) = space.creator.take() {
        let (number_of_space, note) = (space.entry.space, std::mem::take(&mut space.note));
        space.tell(client, number, Told::Created { number, space: number_of_space, note });
    }
}

impl Partition {
    /// Brings the entry and the number of copies one step nearer to what is wanted.
    pub(super) fn tend(&mut self) {
        if self.role != Role::Primary || self.putting.is_some() || self.erasing.is_some() {
            return;
        }
        if self.ending || self.copies() != self.entry.copies {
            return self.put_next();
        }
        // The entry does not name these servers, so answers need not wait for them.
        drop_lost(self);
        self.release();
        moves::go_on(self);
        let staying = self.entry.copies.iter().filter(|copy| !self.drains.has(**copy)).count();
        let wanted = self.drains.wanted(self.entry.options.copies, self.me);
        if staying >= wanted {
            return if let_go(self, wanted) { self.tend() } else { stands(self) };
        }
        let is_joining = self.followers.len() > self.entry.copies.len();
        match self.search {
            _ if is_joining => {}
            Search::Open => {
                self.search = Search::Asked;
                let known = self.followers.keys().chain(&self.unfit).copied();
                let besides = [self.me].into_iter().chain(known);
                self.outputs.push_back(Output::Want { besides: besides.collect() });
            }
            Search::Asked => {}
            Search::InVain { .. } => stands(self),
        }
    }

    /// The servers that the entry should name: each has all that was answered, or is named already
    /// and lives.
    fn copies(&self) -> Vec<Tid> {
        let has_all = |follower: &Follower| {
            follower.confirmed >= Some(self.released)
                || (planted::is(Bug::NamesTooEarly) && follower.confirmed.is_some())
        };
        let fit = self.followers.iter().filter(|(tid, follower)| {
            !follower.is_lost && (has_all(follower) || self.entry.copies.contains(tid))
        });
        fit.map(|(tid, _)| *tid).collect()
    }

    pub(super) fn helper(&mut self, server: Option<Tid>) {
        if self.role != Role::Primary || self.search != Search::Asked {
            return;
        }
        let new = server.filter(|tid| *tid != self.me && !self.followers.contains_key(tid));
        let until = self.now + SEARCH_AGAIN_MS;
        self.search = if new.is_some() { Search::Open } else { Search::InVain { until } };
        if let Some(server) = new {
            self.take_in(server);
        }
        self.tend();
    }
    /// From now on a server follows. Answers wait for it when it has begun, or if it is named.
    pub(super) fn take_in(&mut self, server: Tid) {
        let new = Follower { begins_at: self.applied, ..Follower::default() };
        self.followers.insert(server, new);
        self.send_all(server);
        self.resend_at.get_or_insert(self.now + RESEND_MS);
        self.watch(server);
    }

    pub(super) fn send_all(&mut self, to: Tid) {
        let what = Between::Begin {
            name: self.name.clone(),
            term: self.term,
            entry: self.entry.clone(),
            number: self.applied,
            snapshot: self.store.snapshot(),
        };
        self.say(to, what);
    }

    /// Asks for the entry of the next epoch to be put.
    pub(super) fn put_next(&mut self) {
        let copies = match self.role {
            Role::Primary => self.copies(),
            _ => {
                let copies = self.entry.copies.iter().copied().filter(|copy| *copy != self.me);
                copies.chain(self.moving.former).collect()
            }
        };
        let (primary, deleted) = (self.me, self.ending);
        let entry = Entry { primary, copies, deleted, ..self.entry.clone() };
        self.putting = Some(entry.clone());
        self.outputs.push_back(Output::Put { epoch: self.epoch + 1, entry });
    }

    pub(super) fn put_done(&mut self, epoch: Option<i32>) {
        match (self.putting.take(), epoch) {
            _ if self.role == Role::Failed => self.look(),
            (Some(entry), Some(epoch)) if epoch > self.epoch => self.adopt(epoch, entry),
            (Some(_), _) => self.look(),
            (None, _) => {}
        }
    }

    /// Takes over an entry that this server has put.
    pub(super) fn adopt(&mut self, epoch: i32, entry: Entry) {
        self.putting = None;
        (self.epoch, self.entry) = (epoch, entry);
        let record = self.journal.note(|| Record::Named { epoch, entry: self.entry.clone() });
        self.outputs.extend(record.map(|record| Output::Persist { record }));
        if self.entry.deleted {
            return self.ended();
        }
        if self.role != Role::Primary {
            self.become_primary();
        }
        self.outputs.push_back(Output::Forget { before: Some(epoch) });
        self.tend();
    }
}
