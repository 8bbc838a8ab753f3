//! Histories of named messages and groups, and whether they could have happened one after the
//! other.
//!
//! Each call has begun at one moment and ended at another. A history is linearizable if each call
//! can be given a moment between the two so that the answers are those of one table that all share.
//! The search is that of Wing and Gong (1993): of the calls that nothing else must precede, each is
//! tried as the next one; which calls are done and what the table then holds is remembered, so that
//! no such place is searched twice (Lowe, 2017). Names do not touch one another, so each is a
//! history of its own (Herlihy and Wing, 1990).

use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The calls. The names are those of the lines that `programs/history.c` writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// A value under a name, over what is there.
    Put,
    /// Another value under a name, at the lowest free index.
    Add,
    /// The value at index 0.
    Get,
    /// The value at the lowest index, which is deleted.
    Take,
    /// The lowest free number in a group.
    Join,
    /// The number that a task has in a group is free again.
    Leave,
}

/// One call and its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// When it began, in nanoseconds of a clock that all tasks share.
    pub begin: u64,
    /// When its answer was there; `u64::MAX` if none came: it may have been done at any time since,
    /// or never.
    pub end: u64,
    /// The call.
    pub call: Call,
    /// The name or group.
    pub object: String,
    /// The value that was put, or the task that joins or leaves.
    pub argument: i64,
    /// The value, index or number; negative where there is none.
    pub answer: i64,
}

impl Operation {
    /// The calls of a task, each with its answer where that came.
    pub fn of_task(lines: &str) -> Vec<Self> {
        let mut calls: Vec<Self> = Vec::new();
        // The last line of a task that was killed may be cut off: then its call is of no matter.
        for call in lines.lines().filter_map(Self::parse) {
            match calls.last_mut().filter(|last| last.begin == call.begin) {
                Some(open) => *open = call,
                None => calls.push(call),
            }
        }
        calls
    }

    /// The effect of a task's end, which is no call: it leaves these groups, some time after
    /// `begin`.
    pub fn of_end(task: i64, begin: u64, groups: &[&str]) -> Vec<Self> {
        let leave = |group: &&str| Self {
            begin,
            end: u64::MAX,
            call: Call::Leave,
            object: (*group).to_owned(),
            argument: task,
            answer: 0,
        };
        groups.iter().map(leave).collect()
    }

    /// A line `BEGIN END CALL OBJECT ARGUMENT ANSWER`.
    pub fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [begin, end, call, object, argument, answer] = words[..] else { return None };
        let call = match call {
            "put" => Call::Put,
            "add" => Call::Add,
            "get" => Call::Get,
            "take" => Call::Take,
            "join" => Call::Join,
            "leave" => Call::Leave,
            _ => return None,
        };
        Some(Self {
            begin: begin.parse().ok()?,
            end: end.parse().ok()?,
            call,
            object: object.to_owned(),
            argument: argument.parse().ok()?,
            answer: answer.parse().ok()?,
        })
    }
}

/// A table: the owner of a name's message by index, or the member of a group by number.
type Table = BTreeMap<i64, i64>;

/// The answer of a call on this table, and the table afterwards; none if it could not answer so.
fn done(operation: &Operation, table: &Table) -> Option<Table> {
    let mut table = table.clone();
    let free = |table: &Table| (0..).find(|index| !table.contains_key(index)).unwrap_or(0);
    let answer = match operation.call {
        Call::Put => {
            table.insert(0, operation.argument);
            0
        }
        Call::Add | Call::Join => {
            let index = free(&table);
            table.insert(index, operation.argument);
            index
        }
        Call::Get => table.get(&0).copied().unwrap_or(-1),
        Call::Take => table.pop_first().map_or(-1, |(_, value)| value),
        Call::Leave => {
            let before = table.len();
            table.retain(|_, task| *task != operation.argument);
            if table.len() < before { 0 } else { -1 }
        }
    };
    let is_told = operation.end != u64::MAX;
    (!is_told || answer == operation.answer.max(-1)).then_some(table)
}

/// A place of the search: which calls are done, what the table holds then, and what was tried from
/// there.
struct SearchState {
    /// All calls before this one are done,
    first: usize,
    /// and these behind it.
    beyond: BTreeSet<usize>,
    /// The number of operations with an answer among those that are done.
    told: usize,
    table: Table,
    tried: usize,
}

impl SearchState {
    /// The calls that may be next: those that began before any open one was answered.
    fn next(&self, history: &[Operation]) -> Vec<usize> {
        let mut end = u64::MAX;
        let mut next = Vec::new();
        for at in (self.first..history.len()).filter(|at| !self.beyond.contains(at)) {
            if history[at].begin > end {
                break;
            }
            end = end.min(history[at].end);
            next.push(at);
        }
        next
    }

    /// The state of the search after one more call.
    fn after(&self, at: usize, operation: &Operation, table: Table) -> Self {
        let (mut first, mut beyond) = (self.first, self.beyond.clone());
        beyond.insert(at);
        while beyond.remove(&first) {
            first += 1;
        }
        let told = self.told + usize::from(operation.end != u64::MAX);
        Self { first, beyond, told, table, tried: 0 }
    }
}

/// Whether all that was answered can have happened one after the other.
///
/// # Errors
/// The name for which it cannot, and the calls at which the search that got furthest ended.
pub fn check(history: &[Operation]) -> Result<(), String> {
    let mut objects: BTreeMap<&str, Vec<Operation>> = BTreeMap::new();
    for operation in history {
        objects.entry(&operation.object).or_default().push(operation.clone());
    }
    for (object, mut operations) in objects {
        operations.sort_by_key(|operation| operation.begin);
        search(&operations).map_err(|at| {
            let near: Vec<String> = at.iter().map(|&at| format!("{:?}", operations[at])).collect();
            format!("{object} is not linearizable; none of these can be next: {}", near.join("; "))
        })?;
    }
    Ok(())
}

fn search(history: &[Operation]) -> Result<(), Vec<usize>> {
    let told = history.iter().filter(|operation| operation.end != u64::MAX).count();
    let mut seen = HashSet::new();
    let mut furthest = (0, Vec::new());
    let start =
        SearchState { first: 0, beyond: BTreeSet::new(), told: 0, table: Table::new(), tried: 0 };
    let mut path = vec![start];
    while let Some(place) = path.last_mut() {
        if place.told == told {
            return Ok(());
        }
        let candidates = place.next(history);
        let Some(&at) = candidates.get(place.tried) else {
            if path.len() > furthest.0 {
                furthest = (path.len(), candidates);
            }
            path.pop();
            continue;
        };
        place.tried += 1;
        if let Some(table) = done(&history[at], &place.table) {
            let next = place.after(at, &history[at], table);
            if seen.insert((next.first, next.beyond.clone(), next.table.clone())) {
                path.push(next);
            }
        }
    }
    Err(furthest.1)
}
