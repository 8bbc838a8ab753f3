//! A space as one server holds it: as the primary, which orders requests and answers them, or as a
//! copy.
//!
//! The machine's named messages hold an entry for each epoch of a space. The entry of an epoch can
//! be put once, and the server that puts the last one is the primary. Two rules keep tuples from
//! being lost or taken twice. *The primary answers only when all copies that its entry names have
//! the step.* *Only a server that the last entry names puts the next entry; from then on it
//! confirms nothing to the old primary.* So an old primary that has been replaced without knowing
//! it can answer nothing, and the new primary has every step that was answered.

mod copy;
mod drains;
mod ending;
mod erasing;
mod events;
mod failing;
mod joining;
mod journal;
mod limits;
mod moves;
mod moving;
mod primary;
mod refused;
mod schedule;

use crate::frames::{Between, Entry, Full, Told};
use crate::log::Record;
use crate::ops::{Answer, Input, Op, Outcome, Reason};
use crate::planted::{self, Bug};
use crate::shelf::Shelf;
use crate::store::{self, Store, wants_shelf};
use drains::Drains;
use erasing::Erasing;
use journal::Journal;
use limits::Limits;
use moving::Moving;
use pvm_wire::{Blob, Tid};
use refused::Refused;
use schedule::Schedule;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub use events::{Event, Output};

/// The time after which unconfirmed steps are sent to a copy again.
pub const RESEND_MS: u64 = 1000;
/// The time after which a server for a missing copy is searched for again, if none was found.
const SEARCH_AGAIN_MS: u64 = 10_000;
/// A server that does not find its entry in the names looks again after this time ...
const LOOK_AGAIN_MS: u64 = 500;
/// ... and does so for this long: the last entry of its primary, which names it, may still come.
const UNDECIDED_MS: u64 = 60_000;
/// The bytes of requests that wait in a space, beyond which no further one waits there.
const WAITING_MAX: u64 = 256 << 20;
/// A copy that has left this many repetitions unconfirmed is given up.
const RESENDS_MAX: u32 = 5;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// Orders requests and answers them.
    Primary,
    /// Follows the primary.
    Copy,
    /// A copy whose primary has ended: it tries to become the primary.
    Heir,
    /// The disk of this server has failed: other servers are to go on.
    Failed,
    /// The partition has ended.
    Closed,
}

/// Another server that follows this primary.
#[derive(Clone, Copy, Default, Debug)]
struct Follower {
    /// The last step that it has confirmed; none until it has confirmed the first state.
    confirmed: Option<u64>,
    /// The number of the step that the state has with which it was told to begin.
    begins_at: u64,
    /// The number of repetitions since its last confirmation.
    resends: u32,
    /// True if it has ended or confirms nothing. It is removed when the entry does not name it any
    /// more.
    is_lost: bool,
}

/// The search for one more server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Search {
    /// A search may find a server.
    Open,
    /// A search is under way.
    Asked,
    /// The last search found none. The next one begins when a host joins, or at a time.
    InVain {
        /// The time of the next search.
        until: u64,
    },
}

/// The entry in the machine's names, with its epoch.
#[derive(Clone, Debug)]
pub struct Title {
    /// The name of the space.
    pub name: Blob,
    /// The last epoch.
    pub epoch: i32,
    /// Its entry.
    pub entry: Entry,
}

/// A space, as this server holds it.
#[derive(Debug)]
pub struct Partition {
    name: Blob,
    me: Tid,
    role: Role,
    /// The epoch of the last entry.
    epoch: i32,
    /// The term of this primary, or of the primary that this copy follows.
    term: i32,
    entry: Entry,
    store: Store,
    /// True if this copy has received its first state.
    begun: bool,
    /// The step behind which the first state was taken.
    begun_at: u64,
    /// The last step that was applied here.
    applied: u64,
    /// Steps that not all followers have confirmed: number, time, input.
    steps: VecDeque<(u64, u64, Input)>,
    /// The last step whose answers were given out.
    released: u64,
    /// Other servers that have all steps, or are to get them.
    followers: BTreeMap<Tid, Follower>,
    /// Answers, each with the step that must be confirmed before it is sent.
    held: VecDeque<(u64, Answer)>,
    /// The number of the last look at the names.
    look: u64,
    /// Results of looks before this one are outdated, because a primary has sent a new first state
    /// since.
    first_look: u64,
    /// The time at which an heir looks again.
    look_at: Option<u64>,
    /// The time at which this copy became an heir.
    heir_since: u64,
    /// The entry that is being put into the names.
    putting: Option<Entry>,
    search: Search,
    /// Servers that have not confirmed their first state during this search.
    unfit: BTreeSet<Tid>,
    watched: BTreeSet<Tid>,
    /// The ends of leases, by claim.
    leases: Schedule<u64>,
    /// The times at which waiting requests end.
    limits: Limits,
    resend_at: Option<u64>,
    /// The client that waits until the space has been made, with its request's number.
    creator: Option<(Tid, u64)>,
    /// The clients that wait for the end of the space.
    deleters: Vec<(Tid, u64)>,
    ending: bool,
    /// The state of a deleted space while its copies remove their files.
    erasing: Option<Erasing>,
    drains: Drains,
    moving: Moving,
    refused: Refused,
    /// Requests that would have waited beyond [`Partition::most_waiting`].
    beyond: Refused,
    /// The bytes of waiting requests beyond which no further one waits.
    most_waiting: u64,
    journal: Journal,
    /// A note for the client that made the space.
    note: Blob,
    outputs: VecDeque<Output>,
    now: u64,
}

/// True if a request to a durable space needs no step on the disk: it is a repetition, or it only
/// reads and there are no copies. Such a request can be repeated as well.
pub fn is_no_step(space: &Partition, asked: (Tid, u64), op: &Op) -> bool {
    let looks = || space.followers.is_empty() && op.only_looks(&space.store);
    space.journal.is_durable() && (is_known(space, asked) || looks())
}

/// True for a request that waits or has been answered.
fn is_known(space: &Partition, (client, number): (Tid, u64)) -> bool {
    let knows = || space.store.known(client).is_some_and(|known| known.knows(number));
    knows() && !planted::is(Bug::RefusesAgain)
}

/// True if no byte of a tuple is needed on a disk or by another server, so that a large one may
/// stay in the message in which it has come.
pub fn keeps_parcels(space: &Partition) -> bool {
    let options = &space.entry.options;
    let is_alone = options.copies == 0 && space.followers.is_empty();
    is_alone && !space.journal.is_durable() && options.when_full != Full::Spill
}

/// From now on tuples beyond the limit go to this shelf.
pub fn spill_to(space: &mut Partition, shelf: Box<dyn Shelf>) {
    store::spill_to(&mut space.store, shelf);
}

/// True if the tuples of a put have room in memory or on the shelf. A repeated request needs none.
pub fn has_room_for(space: &mut Partition, asked: (Tid, u64), op: &Op) -> bool {
    is_known(space, asked) || store::reserve(&mut space.store, op)
}

/// From now on no request waits while the waiting ones have so many bytes.
pub const fn bound_waiting(space: &mut Partition, bytes: u64) {
    space.most_waiting = bytes;
}

/// A copy has removed its file, has failed to do so, or has ended.
fn dropped(space: &mut Partition, (from, term): (Tid, i32), is_gone: bool) {
    let own = space.erasing.as_mut().filter(|_| term == space.term);
    if own.is_some_and(|erasing| erasing.answered(from, is_gone)) {
        erase(space);
    }
}

/// Removes the own file, and the space with it.
fn erase(space: &mut Partition) {
    let Some(erasing) = space.erasing.take() else { return };
    let is_partial = space.journal.is_durable() && erasing.is_partial();
    let deleters = std::mem::take(&mut space.deleters);
    space.outputs.push_back(Output::Erase { deleters, is_partial });
    space.close(true, None);
}

/// Begins to move the space to another server.
fn begin_move(space: &mut Partition, to: Tid) {
    let is_free = space.moving.to.is_none() && space.role == Role::Primary && !space.ending;
    if is_free && to != space.me && !space.drains.has(to) {
        space.moving = Moving { to: Some(to), ..Moving::default() };
        space.tend();
    }
}

/// Handles the primary's request that this copy becomes the next primary.
fn yielded(space: &mut Partition, (from, term): (Tid, i32)) {
    if space.role == Role::Copy && space.begun && term == space.term && from == space.entry.primary
    {
        space.moving.former = Some(from);
        (space.role, space.heir_since) = (Role::Heir, space.now);
        space.look();
    }
}

/// Handles a request for which the disk has no room.
fn has_no_room(space: &mut Partition, (client, number): (Tid, u64)) {
    if space.role != Role::Primary || space.ending {
        return space.tell(client, number, Told::Elsewhere { number });
    }
    space.watch(client);
    space.refused.note(client, number);
    refuse(space, (client, number));
}

/// Refuses a request because the disk is full.
fn refuse(space: &mut Partition, (client, number): (Tid, u64)) {
    let outcome = Outcome::Failed { reason: Reason::Disk };
    space.tell(client, number, Told::Answer { number, outcome });
}

/// True if the server may end: other servers, which stay, hold the space, as many as without it are
/// to.
pub fn may_leave(space: &Partition) -> bool {
    let has_all = |copy: &Tid| {
        let follower = space.followers.get(copy);
        follower.is_some_and(|follower| !follower.is_lost && follower.confirmed.is_some())
    };
    let goes_on = || {
        let copies = space.entry.copies.iter();
        let staying = copies.filter(|copy| !space.drains.has(**copy) && has_all(copy)).count();
        let wanted = space.drains.wanted(space.entry.options.copies, space.me);
        // There may be fewer hosts than that.
        staying >= wanted.max(1) || (staying > 0 && matches!(space.search, Search::InVain { .. }))
    };
    match space.role {
        Role::Primary => space.erasing.is_none() && space.putting.is_none() && goes_on(),
        Role::Copy | Role::Heir => planted::is(Bug::LeavesNothing),
        Role::Failed | Role::Closed => true,
    }
}

/// True once the disk of its server has failed.
pub fn has_failed(space: &Partition) -> bool {
    space.role == Role::Failed
}

/// The directory in which each server keeps the space on disk; empty for a space in memory only.
pub const fn directory_of(space: &Partition) -> &Blob {
    &space.entry.directory
}

/// Ends the leases and the waits whose time has come.
fn end_due(space: &mut Partition) {
    while let Some(claim) = space.leases.pop_due(space.now) {
        // The claim may have ended already, by the death of its client or by an operation.
        if space.store.lease(claim).is_some() {
            space.step(Input::Lapsed { claim });
        }
    }
    while space.role == Role::Primary
        && let Some((client, number)) = space.limits.pop_due(space.now)
    {
        space.step(Input::Cancelled { client, number });
    }
}

impl Partition {
    fn new(me: Tid, title: Title, role: Role, store: Store) -> Self {
        let Title { name, epoch, entry } = title;
        let journal = Journal::new(!entry.directory.0.is_empty());
        Self {
            name,
            me,
            role,
            epoch,
            term: epoch,
            entry,
            store,
            begun: false,
            begun_at: 0,
            applied: 0,
            steps: VecDeque::new(),
            released: 0,
            followers: BTreeMap::new(),
            held: VecDeque::new(),
            look: 0,
            first_look: 0,
            look_at: None,
            heir_since: 0,
            putting: None,
            search: Search::Open,
            unfit: BTreeSet::new(),
            watched: BTreeSet::new(),
            leases: Schedule::default(),
            limits: Limits::default(),
            resend_at: None,
            creator: None,
            deleters: Vec::new(),
            ending: false,
            erasing: None,
            drains: Drains::default(),
            moving: Moving::default(),
            refused: Refused::default(),
            beyond: Refused::default(),
            most_waiting: WAITING_MAX,
            journal,
            note: Blob::default(),
            outputs: VecDeque::new(),
            now: 0,
        }
    }

    /// Makes a new space, after its entry for this server has been put. `creator` gets the answer
    /// when the copies have been made. `held` is the content of the disk, with a note on its state.
    pub fn create(
        me: Tid,
        title: Title,
        creator: Option<(Tid, u64)>,
        held: Option<(Store, Blob)>,
        now_ms: u64,
    ) -> Self {
        let (epoch, options) = (title.epoch, title.entry.options);
        let new = || Store::new(options.limit_bytes, options.when_full);
        let (store, note) = held.unwrap_or_else(|| (new(), Blob::default()));
        let mut new = Self::new(me, title, Role::Primary, store);
        (new.now, new.creator, new.note) = (now_ms, creator, note);
        if new.entry.owner != Tid::NONE {
            new.watch(new.entry.owner);
        }
        new.outputs.extend(wants_shelf(&new.store).then_some(Output::Shelve));
        new.outputs.push_back(Output::Forget { before: Some(epoch) });
        new.tend();
        new
    }

    /// Begins a copy from the frame of another host's server, which must be a [`Between::Begin`].
    pub fn follow(me: Tid, primary: Tid, begin: Between, now_ms: u64) -> Option<Self> {
        let Between::Begin { name, term, entry, .. } = &begin else { return None };
        let store = Store::new(0, Full::Fail);
        let title = Title { name: name.clone(), epoch: *term, entry: entry.clone() };
        let mut new = Self::new(me, title, Role::Copy, store);
        new.now = now_ms;
        new.heard(primary, begin);
        Some(new)
    }

    /// The number of the space.
    pub const fn space(&self) -> u64 {
        self.entry.space
    }

    /// Its name.
    pub const fn name(&self) -> &Blob {
        &self.name
    }

    /// The whole space, as the first record of a log.
    pub fn checkpoint(&self) -> Record {
        let (epoch, entry, number) = (self.epoch, self.entry.clone(), self.applied);
        Record::Begun { epoch, entry, number, snapshot: self.store.snapshot() }
    }

    /// The content of the space.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// True if this server is the primary.
    pub const fn is_primary(&self) -> bool {
        matches!(self.role, Role::Primary)
    }

    /// Takes an event at a time in milliseconds.
    pub fn handle(&mut self, now_ms: u64, event: Event) {
        self.now = now_ms;
        match event {
            _ if self.role == Role::Closed => {}
            Event::Asked { client, ask } => {
                // A wait whose time is over ends first, so that no tuple goes to it.
                end_due(self);
                self.asked(client, ask);
            }
            Event::Full { client, number } => has_no_room(self, (client, number)),
            Event::Heard { from, said } => self.heard(from, said),
            Event::Gone { task } => self.gone(task),
            Event::Put { epoch } => self.put_done(epoch),
            // The names are looked up again, and their entry decides what is done.
            Event::Refused => {
                self.putting = None;
                self.look_at = Some(now_ms + LOOK_AGAIN_MS);
            }
            Event::Latest { look, entry } => self.latest(look, entry),
            Event::Helper { server } => self.helper(server),
            Event::Joined => {
                if matches!(self.search, Search::InVain { .. }) {
                    self.search = Search::Open;
                    self.unfit.clear();
                }
                self.tend();
            }
            Event::Move { to } => begin_move(self, to),
            Event::Failed => self.failed(None),
            Event::Draining { hosts } => {
                self.drains = Drains(hosts);
                self.tend();
            }
            Event::Persisted { number } => {
                self.journal.persisted(number);
                match self.role {
                    Role::Primary => self.release(),
                    Role::Copy => self.acknowledge(),
                    Role::Heir | Role::Failed | Role::Closed => {}
                }
            }
        }
    }

    /// The time at which [`Partition::handle_timeout`] must be called.
    pub fn poll_timeout(&self) -> Option<u64> {
        let search_at = match self.search {
            Search::InVain { until } if self.role == Role::Primary => Some(until),
            _ => None,
        };
        let limit_at = if self.role == Role::Primary { self.limits.first() } else { None };
        let erasing_at = self.erasing.as_ref().map(|erasing| erasing.until);
        let others = self.resend_at.into_iter().chain(search_at).chain(self.look_at);
        others.chain(erasing_at).chain(limit_at).chain(self.leases.first()).min()
    }

    /// Handles due timeouts.
    pub fn handle_timeout(&mut self, now_ms: u64) {
        self.now = now_ms;
        end_due(self);
        if self.erasing.as_ref().is_some_and(|erasing| erasing.until <= now_ms) {
            erase(self);
        }
        if self.resend_at.is_some_and(|at| at <= now_ms) {
            self.resend();
        }
        if self.look_at.take_if(|at| *at <= now_ms).is_some() {
            self.look();
        }
        if matches!(self.search, Search::InVain { until } if until <= now_ms) {
            self.search = Search::Open;
            self.unfit.clear();
            self.tend();
        }
    }

    /// Takes the next output.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn watch(&mut self, task: Tid) {
        if self.watched.insert(task) {
            self.outputs.push_back(Output::Watch { task });
        }
    }

    fn look(&mut self) {
        self.look += 1;
        self.outputs.push_back(Output::Look { look: self.look });
    }

    fn say(&mut self, to: Tid, what: Between) {
        self.outputs.push_back(Output::Say { to, what });
    }

    fn heard(&mut self, from: Tid, said: Between) {
        match said {
            Between::Step { term, number, at_ms, input, .. } => {
                self.follow_step((from, term), (number, at_ms, input));
            }
            Between::Begin { term, entry, number, snapshot, .. } => {
                self.begin((from, term), entry, number, snapshot);
            }
            Between::Ack { term, number, .. } => self.confirmed((from, term), number),
            // A copy that follows another primary by now has sent this.
            Between::Later { .. } if self.role == Role::Copy && from != self.entry.primary => {}
            Between::Later { .. } => self.look(),
            Between::Yield { term, .. } => yielded(self, (from, term)),
            Between::Failed { term, .. } => self.failed(Some((from, term))),
            Between::Drop { term, .. } => {
                if self.role != Role::Primary && term >= self.term {
                    self.ending = true;
                    self.close(false, Some((from, term)));
                }
            }
            Between::Dropped { term, is_gone, .. } => {
                dropped(self, (from, term), is_gone);
            }
        }
    }

    fn gone(&mut self, task: Tid) {
        self.watched.remove(&task);
        self.refused.gone(task);
        self.beyond.gone(task);
        match self.role {
            Role::Primary => self.gone_from_primary(task),
            Role::Copy => self.gone_from_copy(task),
            Role::Failed => self.look(),
            Role::Heir | Role::Closed => {}
        }
    }

    fn close(&mut self, deleted: bool, tell: Option<(Tid, i32)>) {
        self.role = Role::Closed;
        self.leases.clear();
        (self.resend_at, self.look_at) = (None, None);
        self.outputs.push_back(Output::Close { deleted, is_over: self.ending, tell });
    }
}

#[cfg(test)]
mod tests;
