//! The listeners of the recorder, and the frames that they still have to get.

use pvm::{Buffer, Task};
use pvm_wire::record::frames::{Ask, CONTEXT, Cells, Counts, Frame, HostFacts, TaskFacts};
use pvm_wire::record::{Cell, Loss, Moment, RECORD_VERSION};
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Address, Blob, Code, Context, Encoding, HostIndex, Kind, Tag, Tid, Wire as _};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

/// The time for which the ring of a task that no listener wants is not read, because a listener may
/// still name the task.
pub(super) const GRACE: Duration = Duration::from_secs(3);
/// The most frames that wait for a listener before reading stops for all: with blocks of 512 KiB
/// they are the recorder's memory beside the rings.
const BEHIND: usize = 8;
/// The time after which a listener that takes nothing does not hold up others any more: it loses
/// blocks while others take them.
const PATIENCE: Duration = Duration::from_secs(2);
/// Frames that wait for a listener that does not read; then blocks are lost to it.
const WAITING_MAX: usize = 64;
/// Frames of any kind that wait for it; then it is forgotten, and misses the last frame.
const FORGOTTEN: usize = 1 << 16;
/// Most bytes of a frame that are believed.
const FRAME_MAX: usize = 1 << 20;

/// A frame of a listener's.
pub(super) fn read(message: &mut Buffer) -> Option<Ask> {
    let size = message.data_size();
    if size > FRAME_MAX {
        return None;
    }
    let mut bytes = vec![0; size];
    message.unpack(Kind::Byte, &mut bytes).ok()?;
    Ask::from_bytes(&bytes).ok()
}

struct Listener {
    /// The tasks that it asked for and those that they have started, none for all.
    tasks: Option<BTreeSet<Tid>>,
    /// The tasks that it knows, each with the number behind its last record that this listener has
    /// got or has lost.
    told: BTreeMap<Tid, u64>,
    waiting: VecDeque<Frame>,
    /// The records that it has missed without a report, in one piece for each task.
    missed: BTreeMap<Tid, Missed>,
    /// When it took something last, or had nothing to take.
    took: Instant,
    counts: Counts,
    /// It has said that it is done.
    done: bool,
}

/// Records that are missing: from when to when, the number of the first one, and how many.
#[derive(Clone, Copy)]
pub(super) struct Missed {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) first: u64,
    pub(super) lost: u64,
}

impl Listener {
    /// True for a task that it does not know yet.
    fn tell(&mut self, tid: Tid) -> bool {
        let is_new = !self.told.contains_key(&tid);
        self.told.entry(tid).or_insert(0);
        is_new
    }

    fn introduce(&mut self, facts: &TaskFacts, names: Vec<Cell>, at: Moment) {
        self.waiting.push_back(Frame::Task { task: facts.clone() });
        if !names.is_empty() {
            let (tid, first, cells) = (facts.tid, 0, Cells(names));
            self.waiting.push_back(Frame::Block { tid, first, from: at, to: at, cells });
        }
    }

    fn count(&mut self, noted: u64, lost: u64) {
        self.counts.noted = self.counts.noted.saturating_add(noted);
        self.counts.lost = self.counts.lost.saturating_add(lost);
    }

    /// All records of a task up to this number have been sent.
    fn told_up_to(&mut self, tid: Tid, number: u64) {
        if let Some(told) = self.told.get_mut(&tid) {
            *told = number.max(*told);
        }
    }

    /// A block, or a note that it is lost.
    fn block(&mut self, block: &Block) {
        self.count(block.records, 0);
        let Block { tid, first, from, to, records, .. } = *block;
        self.told_up_to(tid, first.saturating_add(records));
        if self.waiting.len() < WAITING_MAX {
            // The numbers of a task's records only grow.
            self.tell_missed(Some(tid));
            let cells = block.cells.clone();
            return self.waiting.push_back(Frame::Block { tid, first, from, to, cells });
        }
        self.count(0, records);
        let new = Missed { from: from.nanoseconds, to: 0, first, lost: 0 };
        let missed = self.missed.entry(tid).or_insert(new);
        missed.to = to.nanoseconds;
        missed.lost = missed.lost.saturating_add(records);
    }

    /// Tells what is lost to it, of one task or of all.
    fn tell_missed(&mut self, of: Option<Tid>) {
        let missed = match of {
            Some(tid) => self.missed.remove_entry(&tid).into_iter().collect(),
            None => std::mem::take(&mut self.missed),
        };
        for (tid, Missed { from, to, first, lost }) in missed {
            let reason = Loss::Link;
            self.waiting.push_back(Frame::Gap { tid, first, from, to, lost, reason });
        }
    }

    fn is_behind(&self) -> bool {
        self.waiting.len() >= BEHIND
    }

    /// It takes nothing, and has lost its right to be waited for.
    fn is_stuck(&self) -> bool {
        !self.waiting.is_empty() && self.took.elapsed() > PATIENCE
    }

    fn wants(&self, tid: Tid) -> bool {
        !self.done && self.tasks.as_ref().is_none_or(|tasks| tasks.contains(&tid))
    }
}

/// All of them.
pub(super) struct Listeners {
    task: &'static Task,
    all: BTreeMap<Tid, Listener>,
}

/// A block of a ring, as it concerns the listeners.
pub(super) struct Block {
    pub(super) tid: Tid,
    /// The number of its first record.
    pub(super) first: u64,
    pub(super) from: Moment,
    pub(super) to: Moment,
    pub(super) cells: Cells,
    pub(super) records: u64,
}

impl Listeners {
    pub(super) const fn new(task: &'static Task) -> Self {
        Self { task, all: BTreeMap::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// True if every listener that takes frames has got all of them: they arrive then, whatever
    /// becomes of this process.
    pub(super) fn are_clear(&self) -> bool {
        self.all
            .values()
            .all(|listener| listener.waiting.is_empty() || self.is_passed_over(listener))
    }

    /// True while a listener has so many frames to take that no more are read.
    pub(super) fn are_behind(&self) -> bool {
        self.all.values().any(|listener| listener.is_behind() && !self.is_passed_over(listener))
    }

    /// True for a listener that is stuck while others are not. A listener that is alone is not
    /// passed over: its records stay in the rings.
    fn is_passed_over(&self, listener: &Listener) -> bool {
        listener.is_stuck() && self.all.values().any(|other| !other.is_stuck())
    }

    /// True if this one wants to hear of this task.
    pub(super) fn is_wanted_by(&self, listener: Tid, tid: Tid) -> bool {
        self.all.get(&listener).is_some_and(|listener| listener.wants(tid))
    }

    /// A task begins to listen, or listens to more tasks.
    pub(super) fn start(&mut self, from: Tid, tasks: Vec<Tid>, (host, began): (HostIndex, u64)) {
        if let Some(listener) = self.all.get_mut(&from) {
            if let Some(wanted) = &mut listener.tasks {
                wanted.extend(tasks);
            }
            return;
        }
        let tasks = (!tasks.is_empty()).then(|| tasks.into_iter().collect());
        let counts = Counts { noted: 0, lost: 0 };
        let head = Frame::Head { version: RECORD_VERSION, host: facts(host, began) };
        let waiting = VecDeque::from([head]);
        let (told, missed, took) = (BTreeMap::new(), BTreeMap::new(), Instant::now());
        let listener = Listener { tasks, told, waiting, missed, took, counts, done: false };
        self.all.insert(from, listener);
    }

    /// A listener stops: it gets the last frame.
    pub(super) fn stop(&mut self, from: Tid, at: u64) {
        if let Some(listener) = self.all.get_mut(&from) {
            listener.tell_missed(None);
            for (tid, read) in std::mem::take(&mut listener.told) {
                // It goes on, unrecorded.
                listener.waiting.push_back(Frame::Ended { tid, at, status: -1, read });
            }
            let counts = listener.counts;
            listener.waiting.push_back(Frame::End { at, counts });
            listener.done = true;
        }
    }

    /// Answers with the clock, before anything else: the asker measures the round trip.
    pub(super) fn show(&mut self, from: Tid, number: u64, at: u64) {
        // A listener that does not get it asks again.
        let _ = send(self.task, from, &Frame::Shows { number, at });
    }

    /// Sends a task, with the names that it has used before, to the listeners that want it and do
    /// not know it.
    pub(super) fn task(&mut self, facts: &TaskFacts, names: impl Fn() -> Vec<Cell>, at: Moment) {
        self.tell(facts.tid, |listener| {
            if listener.tell(facts.tid) {
                listener.introduce(facts, names(), at);
            }
        });
    }

    /// True if a listener wants this task.
    pub(super) fn want(&self, tid: Tid) -> bool {
        self.all.values().any(|listener| listener.wants(tid))
    }

    /// Sends a task that was known before a listener began, with its names.
    pub(super) fn introduce(&mut self, to: Tid, facts: &TaskFacts, names: &[Cell], at: Moment) {
        let Some(listener) = self.all.get_mut(&to) else { return };
        if !listener.wants(facts.tid) || !listener.tell(facts.tid) {
            return;
        }
        listener.introduce(facts, names.to_vec(), at);
    }

    /// A task that a listener wants has started another one.
    pub(super) fn child(&mut self, parent: Tid, child: Tid) {
        for tasks in self.all.values_mut().filter_map(|listener| listener.tasks.as_mut()) {
            if tasks.contains(&parent) {
                tasks.insert(child);
            }
        }
    }

    /// Records of a task.
    pub(super) fn block(&mut self, block: &Block) {
        self.tell(block.tid, |listener| listener.block(block));
    }

    /// Records are missing of a task.
    pub(super) fn gap(&mut self, tid: Tid, missed: Missed, reason: Loss) {
        let Missed { from, to, first, lost } = missed;
        self.tell(tid, |listener| {
            listener.count(lost, lost);
            if reason != Loss::Full {
                listener.told_up_to(tid, first.saturating_add(lost));
            }
            listener.tell_missed(Some(tid));
            listener.waiting.push_back(Frame::Gap { tid, first, from, to, lost, reason });
        });
    }

    /// Reports to a listener that records of a task are missing, in an unknown number.
    pub(super) fn unknown_gap(&mut self, to_whom: Tid, tid: Tid, (from, to): (u64, u64)) {
        if let Some(listener) = self.all.get_mut(&to_whom) {
            let (first, lost, reason) = (0, 0, Loss::Recorder);
            listener.waiting.push_back(Frame::Gap { tid, first, from, to, lost, reason });
        }
    }

    /// Reports that records of unknown tasks are missing.
    pub(super) fn host_gap(&mut self, (from, to): (u64, u64), lost: u64, reason: Loss) {
        let (tid, first) = (Tid::NONE, 0);
        for listener in self.all.values_mut().filter(|listener| !listener.done) {
            listener.count(lost, lost);
            listener.waiting.push_back(Frame::Gap { tid, first, from, to, lost, reason });
        }
        self.look();
    }

    /// A task has ended, after this many of its records were read.
    pub(super) fn ended(&mut self, tid: Tid, at: u64, status: i32, read: u64) {
        self.tell(tid, |listener| {
            listener.told.remove(&tid);
            listener.tell_missed(Some(tid));
            listener.waiting.push_back(Frame::Ended { tid, at, status, read });
        });
    }

    fn tell(&mut self, tid: Tid, each: impl Fn(&mut Listener)) {
        self.all.values_mut().filter(|listener| listener.wants(tid)).for_each(each);
        self.look();
    }

    /// Sends what they take now. Those that are gone are forgotten.
    pub(super) fn look(&mut self) {
        let task = self.task;
        self.all.retain(|tid, listener| {
            while let Some(frame) = listener.waiting.front() {
                match send(task, *tid, frame) {
                    Ok(true) => drop(listener.waiting.pop_front()),
                    Ok(false) => break,
                    Err(_) => return false,
                }
                listener.took = Instant::now();
            }
            if listener.waiting.is_empty() {
                listener.took = Instant::now();
                listener.tell_missed(None);
            }
            let is_through = listener.done && listener.waiting.is_empty();
            !is_through && listener.waiting.len() < FORGOTTEN
        });
    }

    /// Forgets listeners that are no tasks of the machine any more, because a sender gets no notice
    /// of their end.
    pub(super) fn forget_gone(&mut self) {
        let task = self.task;
        let lives = |tid: &Tid| match task.request(&Request::TaskStatus { tid: *tid }) {
            Ok(Reply::Number { value }) => value >= 0,
            Err(Code::NoTask) => false,
            _ => true,
        };
        self.all.retain(|tid, _| lives(tid));
    }
}

fn send(task: &Task, to: Tid, frame: &Frame) -> Result<bool, Code> {
    let mut buffer = Buffer::new(Encoding::Raw);
    buffer.pack(Kind::Byte, &frame.to_bytes())?;
    task.send_at_once(&mut buffer, Address { to, tag: Tag(0), context: Context(CONTEXT) })
}

/// The facts of this host for the head of a trace.
fn facts(host: HostIndex, began: u64) -> HostFacts {
    let system = rustix::system::uname();
    let read = |path: &str| std::fs::read(path).map(|text| text.trim_ascii().to_vec());
    let congestion = read("/proc/sys/net/ipv4/tcp_congestion_control").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    HostFacts {
        host,
        name: Blob(system.nodename().to_bytes().to_vec()),
        architecture: Blob(system.machine().to_bytes().to_vec()),
        version: Blob(env!("CARGO_PKG_VERSION").as_bytes().to_vec()),
        cores: u32::try_from(cores).unwrap_or(u32::MAX),
        probe_cost_ps: pvm::record_cost_ps(),
        congestion: Blob(congestion),
        mtu: largest_packet(),
        began,
    }
}

/// The smallest MTU of the interfaces that are no loopback, 0 if there is none.
fn largest_packet() -> u32 {
    let Ok(interfaces) = std::fs::read_dir("/sys/class/net") else { return 0 };
    let mtu = |entry: std::fs::DirEntry| {
        if entry.file_name() == "lo" {
            return None;
        }
        std::fs::read_to_string(entry.path().join("mtu")).ok()?.trim().parse().ok()
    };
    interfaces.flatten().filter_map(mtu).min().unwrap_or(0)
}
