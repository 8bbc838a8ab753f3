//! The rings that the recorder reads, and what it knows of their tasks.

use super::allowance::{self, Allowance};
use super::clock::Clock;
use super::dropped::Unreads;
use super::listeners::{Block, GRACE, Listeners, Missed};
use pvm::{Drained, RecordReader, Task};
use pvm_wire::record::frames::{BLOCK_CELLS_MAX, Cells, TaskFacts};
use pvm_wire::record::{Cell, Class, DecodedRecords, Loss, Moment, Record, Scale, What};
use pvm_wire::request::{Ring, SegmentId};
use pvm_wire::{Blob, Tid};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Records with which a task introduces itself.
const INTRODUCTION: usize = 2;
/// The most cells of a task's names that are kept for later listeners: as many as its ring keeps.
const NAMES_CELLS_MAX: usize = 1 << 13;
/// A task that has left the machine mostly ends soon, and its status is known then. So its end is
/// reported up to this much later, for at most this many tasks at once.
const LEAVING: Duration = Duration::from_millis(500);
const LEAVING_MAX: usize = 64;
/// A ring that another recorder has read belongs to a task that a listener wants. This listener may
/// be behind a cable that is out.
const GRACE_OF_A_SUCCESSOR: Duration = Duration::from_secs(10);
/// The status of a task whose end is not known.
const UNKNOWN: i32 = -1;

/// A ring that is read.
struct OpenRing {
    ring: Ring,
    reader: RecordReader,
    facts: Option<TaskFacts>,
    /// Records with names, for later listeners.
    names: BTreeMap<(Class, u32), Vec<Cell>>,
    /// Cells in these.
    names_cells: usize,
    /// Records that were looked at and not sent yet.
    held: Vec<Cell>,
    held_records: u64,
    /// The begin of the span of the held records.
    held_from: Option<Moment>,
    /// The number of records that were reported as lost, and the number of these reports that some
    /// listener has not got.
    lost: u64,
    untold: u64,
    /// Records that were read and that not everybody has got.
    unpassed: u64,
    end_told: bool,
    /// When all was read of a task that is gone.
    read_to_its_end: Option<Instant>,
    allowance: Allowance,
    /// When it was seen first.
    since: Instant,
    /// It is known whether another recorder has read the ring before.
    examined: bool,
    /// The records that the other recorder has taken and not passed on, until they are reported as
    /// lost: the number of the first one, and how many.
    owed: (u64, u64),
    /// The time for which a listener may still name the task.
    grace: Duration,
    last: Moment,
}

/// Positions of rings.
pub(super) type Marks = BTreeMap<SegmentId, u64>;

/// All rings.
pub(super) struct Rings {
    task: &'static Task,
    known: BTreeMap<SegmentId, OpenRing>,
    unread: Unreads,
    room: Vec<Cell>,
}

impl Rings {
    pub(super) fn new(task: &'static Task) -> Self {
        let (known, unread, room) = (BTreeMap::new(), Unreads::default(), Vec::new());
        Self { task, known, unread, room }
    }

    /// The rings that there are now.
    pub(super) fn know(&mut self, rings: &[Ring]) {
        let now: BTreeSet<SegmentId> = rings.iter().map(|ring| ring.id).collect();
        self.known.retain(|id, _| now.contains(id));
        for ring in rings {
            if let Some(known) = self.known.get_mut(&ring.id) {
                known.ring = *ring;
                continue;
            }
            if let Some(what) = ring.dropped {
                self.unread.know(ring, what);
                continue;
            }
            // Without memory to map it, it is looked at again soon.
            let Ok(reader) = self.task.map_ring(ring.id) else { continue };
            self.known.insert(ring.id, OpenRing::new(*ring, reader));
        }
    }

    /// The fullness in percent of the fullest ring that may be read.
    pub(super) fn fullness(&mut self) -> u64 {
        let now = Instant::now();
        let fullness = |known: &mut OpenRing| {
            let may_be_read = !known.allowance.is_used_up(now);
            may_be_read.then(|| known.reader.fullness())
        };
        self.known.values_mut().filter_map(fullness).max().unwrap_or(0)
    }

    /// The positions up to which these tasks have noted.
    pub(super) fn marks(&self, which: impl Fn(Tid) -> bool) -> Marks {
        let these = self.known.iter().filter(|(_, known)| which(known.ring.owner));
        these.map(|(id, known)| (*id, known.reader.positions().0)).collect()
    }

    /// True while something noted before these marks was not read.
    pub(super) fn are_behind(&self, marks: &Marks) -> bool {
        self.known.iter().any(|(id, known)| known.is_behind(marks.get(id)))
    }

    /// True while the end of one of these tasks, which have gone, was not reported.
    pub(super) fn have_ends(&self, which: impl Fn(Tid) -> bool) -> bool {
        let is_untold = |known: &OpenRing| known.ring.ended && !known.end_told;
        self.known.values().any(|known| is_untold(known) && which(known.ring.owner))
    }

    /// Reports to a listener that an unknown number of records is between these marks and the
    /// records that were read.
    pub(super) fn tell_unread(
        &self,
        marks: &Marks,
        listeners: &mut Listeners,
        (to_whom, clock): (Tid, Clock),
    ) {
        let behind = |(id, known): &(&SegmentId, &OpenRing)| known.is_behind(marks.get(id));
        for (_, known) in self.known.iter().filter(behind) {
            let to = clock.now();
            let from = if known.last.nanoseconds == 0 { to } else { known.last.nanoseconds };
            listeners.unknown_gap(to_whom, known.ring.owner, (from, to));
        }
    }

    /// Sends the tasks whose rings were begun before to a new listener.
    pub(super) fn introduce(&self, listeners: &mut Listeners, from: Tid) {
        for known in self.known.values() {
            if let Some(facts) = &known.facts {
                listeners.introduce(from, facts, &known.all_names(), known.last);
            }
        }
    }

    /// Sends a block of each ring to the listeners; false if there was none.
    pub(super) fn read(&mut self, listeners: &mut Listeners, clock: Clock) -> bool {
        let mut any = self.unread.tell(listeners, clock);
        let mut done = self.unread.take_told(listeners);
        let mut leaving = 0;
        for known in self.known.values_mut() {
            if listeners.are_behind() {
                return any;
            }
            if known.allowance.is_used_up(Instant::now()) {
                continue;
            }
            let before = (known.reader.waiting() > 0).then(allowance::used);
            let read = known.read_if_wanted(&mut self.room, listeners, clock);
            if let Some(before) = before {
                known.allowance.use_up(allowance::used().saturating_sub(before));
            }
            any |= read == Some(true);
            let is_through = read == Some(false) && known.ring.ended;
            leaving += usize::from(is_through && known.is_leaving());
            if is_through
                && (leaving > LEAVING_MAX || !known.is_leaving())
                && known.end(listeners, clock)
            {
                done.push(known.ring.id);
            }
        }
        for id in done {
            self.known.remove(&id);
            // If the daemon is gone, that is noticed elsewhere.
            let _ = self.task.drop_ring(id);
        }
        any
    }
}

/// The span of a look, as the host's clock tells it.
fn by(clock: Clock, drained: Drained) -> Option<(Moment, Moment)> {
    let moment = |m: Moment| Moment { nanoseconds: clock.at(m.nanoseconds), ..m };
    drained.span.map(|(from, to)| (moment(from), moment(to)))
}

impl OpenRing {
    fn new(ring: Ring, reader: RecordReader) -> Self {
        let since = Instant::now();
        // The reports of an earlier recorder count as sent.
        let lost = reader.told_lost();
        Self {
            ring,
            reader,
            facts: None,
            names: BTreeMap::new(),
            names_cells: 0,
            held: Vec::new(),
            held_records: 0,
            held_from: None,
            lost,
            untold: 0,
            unpassed: 0,
            end_told: false,
            read_to_its_end: None,
            allowance: Allowance::new(since),
            since,
            examined: false,
            owed: (0, 0),
            grace: GRACE,
            last: Moment { ticks: 0, nanoseconds: 0 },
        }
    }

    /// Sends a block to the listeners; false if there was none, nothing if a listener may still
    /// name the task.
    fn read_if_wanted(
        &mut self,
        room: &mut Vec<Cell>,
        listeners: &mut Listeners,
        clock: Clock,
    ) -> Option<bool> {
        let early = self.since.elapsed() < self.grace;
        if early && !self.is_wanted(listeners, clock) {
            return None;
        }
        let read = self.read(room, listeners, clock);
        self.pass(listeners);
        Some(read)
    }

    /// True while it may still become known how a task has ended of which all was read.
    fn is_leaving(&mut self) -> bool {
        let since = *self.read_to_its_end.get_or_insert_with(Instant::now);
        !self.end_told && self.ring.status == UNKNOWN && since.elapsed() < LEAVING
    }

    /// True if a listener wants the task, or the task that has started it: a ring begins with the
    /// task's introduction.
    fn is_wanted(&mut self, listeners: &mut Listeners, clock: Clock) -> bool {
        if self.facts.is_none()
            && self.held_records < INTRODUCTION as u64
            && self.reader.has_begun()
        {
            self.hold(listeners, clock);
        }
        // The one that has started it may have been named since.
        if let Some(facts) = &self.facts {
            listeners.child(facts.parent, self.ring.owner);
        }
        listeners.want(self.ring.owner)
    }

    /// Looks at the records with which a task introduces itself; they are sent later.
    fn hold(&mut self, listeners: &mut Listeners, clock: Clock) {
        let first = self.count_owed();
        let mut cells = std::mem::take(&mut self.held);
        let drained = self.reader.drain((INTRODUCTION, usize::MAX), self.ring.ended, &mut cells);
        self.held_records += drained.taken as u64;
        if let Some((from, to)) = by(clock, drained) {
            self.held_from.get_or_insert(from);
            self.learn_names(first, listeners, (from, to));
            self.learn(&cells, listeners, (from, to));
        }
        self.held = cells;
    }

    fn is_behind(&self, mark: Option<&u64>) -> bool {
        mark.is_some_and(|mark| self.reader.positions().1 < *mark)
    }

    fn read(&mut self, room: &mut Vec<Cell>, listeners: &mut Listeners, clock: Clock) -> bool {
        if !self.reader.has_begun() {
            return false;
        }
        let first = self.count_owed();
        room.clear();
        room.append(&mut self.held);
        // A record that begins before the bound may go beyond it.
        let held = room.len() + pvm_wire::record::RECORD_CELLS_MAX;
        let cells = BLOCK_CELLS_MAX.saturating_sub(held);
        let drained = self.reader.drain((usize::MAX, cells), self.ring.ended, room);
        let (from, to) = by(clock, drained).unwrap_or((self.last, self.last));
        let from = self.held_from.take().unwrap_or(from);
        self.last = to;
        self.learn_names(first, listeners, (from, to));
        self.tell_owed(listeners, (from, to));
        let records = drained.taken as u64 + std::mem::take(&mut self.held_records);
        if records == 0 && drained.lost <= self.lost {
            return false;
        }
        self.learn(room, listeners, (from, to));
        let facts = self.facts.clone().unwrap_or_else(|| self.unknown(from.nanoseconds));
        // The task's introduction comes first: a gap of an unknown task would count as its host's.
        listeners.task(&facts, || self.all_names(), to);
        self.facts = Some(facts);
        self.tell_lost(listeners, drained.lost, (from, to));
        if records == 0 {
            return false;
        }
        let (tid, cells) = (self.ring.owner, Cells(room.clone()));
        let first = self.reader.counts().0.saturating_sub(records);
        listeners.block(&Block { tid, first, from, to, cells, records });
        self.unpassed = self.unpassed.saturating_add(records);
        true
    }

    /// Passes records on once all listeners have got them.
    fn pass(&mut self, listeners: &Listeners) {
        if self.is_owing() && listeners.are_clear() {
            self.reader.pass(std::mem::take(&mut self.unpassed));
            self.reader.tell_lost(std::mem::take(&mut self.untold));
        }
    }

    /// True while some listener has not got all that was sent. The numbers come from the ring.
    const fn is_owing(&self) -> bool {
        self.unpassed > 0 || self.untold > 0
    }

    /// Counts the records that a recorder before this one has taken and not passed on, before any
    /// are taken. Returns true at the first look. True at the first look.
    fn count_owed(&mut self) -> bool {
        if std::mem::replace(&mut self.examined, true) {
            return false;
        }
        let (taken, passed) = self.reader.counts();
        self.owed = (passed, taken.saturating_sub(passed));
        if taken > 0 {
            self.grace = GRACE_OF_A_SUCCESSOR;
        }
        true
    }

    /// At the first look: what the task has said of itself before.
    fn learn_names(&mut self, first: bool, listeners: &mut Listeners, span: (Moment, Moment)) {
        if first {
            self.learn(&self.reader.names(), listeners, span);
        }
    }

    /// Sends the owed reports to the listeners of now. Until they have them, the note stays in the
    /// ring, and the next recorder would send them once more.
    fn tell_owed(&mut self, listeners: &mut Listeners, (from, to): (Moment, Moment)) {
        let (first, lost) = std::mem::take(&mut self.owed);
        if lost > 0 {
            let facts = self.facts.clone().unwrap_or_else(|| self.unknown(from.nanoseconds));
            listeners.task(&facts, || self.all_names(), to);
            let missed = Missed { from: from.nanoseconds, to: to.nanoseconds, first, lost };
            listeners.gap(self.ring.owner, missed, Loss::Recorder);
            self.unpassed = self.unpassed.saturating_add(lost);
        }
    }

    fn tell_lost(&mut self, listeners: &mut Listeners, lost: u64, (from, to): (Moment, Moment)) {
        let more = lost.saturating_sub(self.lost);
        if more > 0 {
            let first = std::mem::replace(&mut self.lost, lost);
            self.untold = self.untold.saturating_add(more);
            let missed = Missed { from: from.nanoseconds, to: to.nanoseconds, first, lost: more };
            listeners.gap(self.ring.owner, missed, Loss::Full);
        }
    }

    /// Takes note of names and of what the task says of itself.
    fn learn(&mut self, cells: &[Cell], listeners: &mut Listeners, (from, to): (Moment, Moment)) {
        let scale = Scale::new(from, to);
        // Most blocks have neither; kinds are looked at before records are made of cells.
        if !cells.iter().any(may_be_told) {
            return;
        }
        for record in DecodedRecords::new(cells).flatten() {
            match &record.what {
                What::Name { class: Class::Program, text, .. } => {
                    let facts = self.unknown(scale.nanoseconds(record.begin));
                    self.facts = Some(TaskFacts { program: Blob(text.clone()), ..facts });
                }
                What::Begin { parent, process, .. } => {
                    listeners.child(*parent, self.ring.owner);
                    let facts = self.facts.take();
                    let facts = facts.unwrap_or_else(|| self.unknown(from.nanoseconds));
                    self.facts = Some(TaskFacts { parent: *parent, process: *process, ..facts });
                }
                What::Name { .. } => self.keep(&record),
                _ => (),
            }
        }
    }

    fn keep(&mut self, record: &Record) {
        let What::Name { class, number, .. } = record.what else { return };
        if self.names_cells + record.cells() <= NAMES_CELLS_MAX {
            let mut cells = Vec::new();
            record.encode(|cell| cells.push(cell));
            self.names_cells += cells.len();
            let before = self.names.insert((class, number), cells);
            self.names_cells -= before.map_or(0, |cells| cells.len());
        }
    }

    fn all_names(&self) -> Vec<Cell> {
        self.names.values().flatten().copied().collect()
    }

    /// The facts of a task that has not introduced itself.
    fn unknown(&self, began: u64) -> TaskFacts {
        let (tid, parent, process) = (self.ring.owner, Tid::NONE, 0);
        TaskFacts { tid, parent, process, program: Blob::default(), began }
    }

    /// Tells the end of the task; false while the ring is still needed, as not everybody has got
    /// what was in it.
    fn end(&mut self, listeners: &mut Listeners, clock: Clock) -> bool {
        if !std::mem::replace(&mut self.end_told, true) {
            let (taken, _) = self.reader.counts();
            listeners.ended(self.ring.owner, clock.now(), self.ring.status, taken);
        }
        self.pass(listeners);
        !self.is_owing()
    }
}

/// True for a cell that may be the head of a record with a name or a begin.
const fn may_be_told(cell: &Cell) -> bool {
    use pvm_wire::record::kind::{BEGIN, NAME};
    matches!(cell.kind(), NAME | BEGIN)
}
