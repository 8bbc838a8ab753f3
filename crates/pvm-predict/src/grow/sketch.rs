//! A recording in memory, as growth uses it: messages, and the times between them.

use crate::action::{Action, Matching, TaskNumber};
use crate::error::Error;
use crate::program::Source;
use crate::unit::Time;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// The most messages and other deeds of all recordings together: some 350 MB.
pub(super) const DEEDS_MAX: usize = 1 << 22;

/// The kind of a deed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    Send,
    /// A send that is a part of a multicast.
    Cast,
    Receive,
    Start,
    /// All tasks meet at this point.
    Meet(u32),
    /// A section begins: the index of its name among the names of all recordings.
    Enter(u32),
    End,
}

impl Kind {
    /// True for equal kinds. A multicast to one task is a send.
    pub(super) fn is_like(self, other: Self) -> bool {
        let is_sent = |kind| matches!(kind, Self::Send | Self::Cast);
        self == other || (is_sent(self) && is_sent(other))
    }

    pub(super) const fn has_peer(self) -> bool {
        matches!(self, Self::Send | Self::Cast | Self::Receive | Self::Start)
    }
}

/// The times of a task before and in a deed, by kind.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Spent {
    pub(super) idle: Time,
    pub(super) computing: Time,
    /// In other calls before the deed.
    pub(super) calls: Time,
    /// In the deed's own call.
    pub(super) own: Time,
}

/// One deed of a task, with its times since the deed before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deed {
    pub(super) kind: Kind,
    pub(super) peer: TaskNumber,
    pub(super) tag: i32,
    pub(super) bytes: u64,
    /// The number of the message among those of these two tasks, in the order of sending.
    pub(super) nth: u32,
    pub(super) spent: Spent,
    /// True if a look found the message. Without the look the program would have received it later.
    is_looked: bool,
    /// True if the receives that were put off by looks are taken before this deed.
    is_caught_up: bool,
}

impl Deed {
    /// The message of a deed of this task; none for a deed of another kind.
    pub(super) const fn name(&self, task: TaskNumber) -> Option<Name> {
        match self.kind {
            Kind::Send | Kind::Cast => Some((task, self.peer, self.nth)),
            Kind::Receive => Some((self.peer, task, self.nth)),
            Kind::Start | Kind::Meet(_) | Kind::Enter(_) | Kind::End => None,
        }
    }
}

/// A message: sender, receiver, and its number among those of these two tasks.
pub(super) type Name = (TaskNumber, TaskNumber, u32);

/// A recording of this many tasks.
#[derive(Clone, Debug)]
pub(super) struct Sketch {
    pub(super) tasks: Vec<Vec<Deed>>,
}

/// The names of sections in all recordings.
pub(super) type Names = Vec<String>;

impl Sketch {
    /// Reads a recording.
    pub(super) fn read(source: &mut dyn Source, names: &mut Names) -> Result<Self, Error> {
        let count = source.tasks();
        let (mut tasks, mut all) = (Vec::new(), 0);
        for task in 0..count {
            let mut reading = Reading::new(count, source.matching());
            while let Some(action) = source.next(task)? {
                reading.action(action, task, &*source, names)?;
                if all + reading.deeds.len() > DEEDS_MAX {
                    let what = format!(
                        "growth holds recordings in memory, and these have more than {DEEDS_MAX} \
                         messages"
                    );
                    return Err(Error::Unfit(what));
                }
            }
            reading.push(Kind::End, 0, (0, 0), Time::ZERO);
            all += reading.deeds.len();
            tasks.push(reading.deeds);
        }
        let mut sketch = Self { tasks };
        sketch.name_messages(source.matching())?;
        sketch.rank();
        sketch.tasks.iter_mut().zip(0..).for_each(|(deeds, task)| put_back(deeds, task, count));
        Ok(sketch)
    }

    pub(super) fn count(&self) -> TaskNumber {
        self.tasks.len() as TaskNumber
    }

    pub(super) fn messages(&self) -> usize {
        let sends = |deed: &&Deed| matches!(deed.kind, Kind::Send | Kind::Cast);
        self.tasks.iter().map(|deeds| deeds.iter().filter(sends).count()).sum()
    }

    /// Leaves out the deeds behind the last section that a task names, because they only end the
    /// program. Returns the number of messages left out.
    pub(super) fn cut_ends(&mut self) -> usize {
        let before = self.messages();
        for deeds in &mut self.tasks {
            let last = deeds.iter().rposition(|deed| matches!(deed.kind, Kind::Enter(_)));
            if let Some(last) = last {
                deeds.drain(last + 1..deeds.len() - 1);
            }
        }
        self.drop_halves();
        before - self.messages()
    }

    /// Leaves out messages of which only one end was recorded.
    fn drop_halves(&mut self) {
        let mut ends: HashMap<Name, u8> = HashMap::new();
        for (deeds, task) in self.tasks.iter().zip(0..) {
            for name in deeds.iter().filter_map(|deed| deed.name(task)) {
                *ends.entry(name).or_default() += 1;
            }
        }
        for (deeds, task) in self.tasks.iter_mut().zip(0..) {
            deeds.retain(|deed| deed.name(task).is_none_or(|name| ends[&name] == 2));
        }
    }

    /// Leaves out a message.
    pub(super) fn forget(&mut self, (from, to, nth): Name) {
        let name = (from, to, nth);
        self.tasks[from as usize].retain(|deed| deed.name(from) != Some(name));
        self.tasks[to as usize].retain(|deed| deed.name(to) != Some(name));
    }

    /// Numbers the messages of each pair of tasks. Growth needs messages that are received in the
    /// order of sending, and refuses others.
    fn name_messages(&mut self, matching: Matching) -> Result<(), Error> {
        let mut sent: HashMap<(TaskNumber, TaskNumber, i32), u32> = HashMap::new();
        let mut sizes: HashMap<Name, u64> = HashMap::new();
        let mut next: HashMap<(TaskNumber, TaskNumber), u32> = HashMap::new();
        for (from, deeds) in (0..).zip(&mut self.tasks) {
            for deed in deeds.iter_mut().filter(|deed| matches!(deed.kind, Kind::Send | Kind::Cast))
            {
                let nth = next.entry((from, deed.peer)).or_default();
                deed.nth = *nth;
                sizes.insert((from, deed.peer, *nth), deed.bytes);
                *nth += 1;
                if matching == Matching::Numbers {
                    sent.insert((from, deed.peer, deed.tag), deed.nth);
                    deed.tag = 0;
                }
            }
        }
        let mut taken: HashMap<(TaskNumber, TaskNumber), u32> = HashMap::new();
        for (to, deeds) in (0..).zip(&mut self.tasks) {
            for deed in deeds.iter_mut().filter(|deed| deed.kind == Kind::Receive) {
                let place = taken.entry((deed.peer, to)).or_default();
                deed.nth = match matching {
                    Matching::Numbers => {
                        sent.get(&(deed.peer, to, deed.tag)).copied().unwrap_or(u32::MAX)
                    }
                    Matching::Bytes | Matching::Messages => *place,
                };
                let in_order = deed.nth == *place || matching == Matching::Messages;
                let size = sizes.get(&(deed.peer, to, deed.nth)).copied();
                let is_whole = matching != Matching::Bytes || size == Some(deed.bytes);
                if !in_order || !is_whole {
                    return Err(Error::Unfit(format!(
                        "task {to} takes what task {} sent in another order, or in other parts: \
                         growth knows messages that are taken whole and in their order",
                        deed.peer
                    )));
                }
                *place += 1;
                deed.tag = if matching == Matching::Messages { deed.tag } else { 0 };
            }
        }
        Ok(())
    }

    /// Numbers the tasks in the order of their starts; a recording lists them in the order in which
    /// they appear.
    fn rank(&mut self) {
        let started: BTreeSet<TaskNumber> = self.starts().map(|(_, child)| child).collect();
        let mut children: BTreeMap<TaskNumber, Vec<TaskNumber>> = BTreeMap::new();
        for (parent, child) in self.starts() {
            children.entry(parent).or_default().push(child);
        }
        let mut order: Vec<TaskNumber> = Vec::new();
        let mut known = BTreeSet::new();
        let mut next: VecDeque<TaskNumber> =
            (0..self.count()).filter(|task| !started.contains(task)).collect();
        while let Some(task) = next.pop_front() {
            if known.insert(task) {
                order.push(task);
                next.extend(children.get(&task).into_iter().flatten());
            }
        }
        // Tasks that start one another come last; no run would reach them.
        order.extend((0..self.count()).filter(|task| !known.contains(task)));
        let mut rank = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(task, place)| rank[*task as usize] = place);
        let mut tasks: Vec<Vec<Deed>> =
            order.iter().map(|task| std::mem::take(&mut self.tasks[*task as usize])).collect();
        for deed in tasks.iter_mut().flatten().filter(|deed| deed.kind.has_peer()) {
            deed.peer = rank[deed.peer as usize];
        }
        self.tasks = tasks;
    }

    /// The starting and the started task of each start, in their order.
    fn starts(&self) -> impl Iterator<Item = (TaskNumber, TaskNumber)> {
        let all = (0..).zip(&self.tasks);
        all.flat_map(|(task, deeds)| {
            let starts = deeds.iter().filter(|deed| deed.kind == Kind::Start);
            starts.map(move |deed| (task, deed.peer))
        })
    }
}

/// The state of one task while its recording is read.
struct Reading {
    count: TaskNumber,
    matching: Matching,
    deeds: Vec<Deed>,
    spent: Spent,
    is_looked: bool,
    is_caught_up: bool,
}

impl Reading {
    fn new(count: TaskNumber, matching: Matching) -> Self {
        let (deeds, spent) = (Vec::new(), Spent::default());
        Self { count, matching, deeds, spent, is_looked: false, is_caught_up: false }
    }

    fn push(&mut self, kind: Kind, peer: TaskNumber, (bytes, tag): (u64, i32), own: Time) {
        let spent = Spent { own, ..std::mem::take(&mut self.spent) };
        let tag = if self.matching == Matching::Bytes { 0 } else { tag };
        let is_looked = std::mem::take(&mut self.is_looked);
        let is_caught_up = std::mem::take(&mut self.is_caught_up);
        self.deeds.push(Deed { kind, peer, tag, bytes, nth: 0, spent, is_looked, is_caught_up });
    }

    fn action(
        &mut self,
        action: Action,
        task: TaskNumber,
        source: &dyn Source,
        names: &mut Names,
    ) -> Result<(), Error> {
        match action {
            Action::Compute(time) => self.spent.computing += time,
            Action::Call(time) => self.spent.calls += time,
            Action::Idle(time) => self.spent.idle += time,
            Action::Look => self.is_looked = true,
            Action::CatchUp => self.is_caught_up = true,
            Action::Start(children) => {
                children.iter().for_each(|one| self.push(Kind::Start, *one, (0, 0), Time::ZERO));
            }
            Action::Meet { time, point, count } if count == self.count => {
                self.push(Kind::Meet(point), 0, (0, 0), time);
            }
            Action::Meet { count, .. } => {
                return Err(Error::Unfit(format!(
                    "task {task} meets {count} of {} tasks: growth knows barriers of all tasks",
                    self.count
                )));
            }
            Action::Enter(section) => {
                let number = number_of(source.section(section), names);
                self.push(Kind::Enter(number), 0, (0, 0), Time::ZERO);
            }
            Action::Send { time, bytes, to, tag } => self.push(Kind::Send, to, (bytes, tag), time),
            Action::Multicast { time, bytes, to, tag } => {
                for (to, place) in to.iter().zip(0..) {
                    let own = if place == 0 { time } else { Time::ZERO };
                    self.push(Kind::Cast, *to, (bytes, tag), own);
                }
            }
            Action::Receive { time, bytes, from, tag } => {
                self.push(Kind::Receive, from, (bytes, tag), time);
            }
        }
        Ok(())
    }
}

/// The index of a section among all names; 0 is none.
fn number_of(name: Option<&str>, names: &mut Names) -> u32 {
    let Some(name) = name else { return 0 };
    let place = names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    });
    place as u32 + 1
}

/// Moves receives that a look found to the place where the program would receive without the look:
/// behind the sends that follow, the nearest task before this one in the ring first.
fn put_back(deeds: &mut [Deed], task: TaskNumber, count: TaskNumber) {
    let before = |deed: &Deed| (task + count - deed.peer) % count;
    let mut from = 0;
    while let Some(first) = deeds[from..].iter().position(|deed| deed.is_looked) {
        let first = from + first;
        // The first one may itself follow receives that an earlier block has put off.
        let later = deeds[first + 1..].iter();
        let put_off = 1 + later.take_while(|deed| !deed.is_caught_up).count();
        let rest = deeds[first + put_off..].iter();
        let more = rest.take_while(|deed| deed.kind == Kind::Receive && !deed.is_looked).count();
        let end = first + put_off + more;
        deeds[first..end].sort_by_key(|deed| match deed.kind {
            Kind::Receive => 1 + before(deed),
            _ => 0,
        });
        from = end;
    }
}
