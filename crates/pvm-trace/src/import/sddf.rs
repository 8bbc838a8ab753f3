//! Events in the form of PVM's tracers and XPVM.
//!
//! Descriptors list the data of a kind of event; each event is a line behind them. A call is made
//! of its two events. Messages have no number in SDDF: because messages of one pair and tag stay in
//! order, the import counts them. An error names its line.

use crate::error::Error;
use crate::file::Writer;
use crate::tables::{Ended, TaskIndex};
use pvm_wire::record::frames::{HostFacts, TaskFacts};
use pvm_wire::record::{Class, Record, RouteKind, Transfer, What, calls};
use pvm_wire::{Encoding, HostIndex, Tid};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{BufRead, Read as _, Seek, Write};

/// The most bytes of a statement.
const STATEMENT_MAX: usize = 1 << 20;
/// The most kinds.
const KINDS_MAX: usize = 4096;
/// The most calls of a task that have begun and not ended; beyond, the first ones are forgotten.
const OPEN_CALLS_MAX: usize = 64;
/// The most messages under way that are counted; beyond, receives have no number.
const OPEN_MAX: usize = 4 << 20;

/// Reads events into a trace.
pub fn sddf<W: Write + Seek>(mut input: impl BufRead, writer: &mut Writer<W>) -> Result<(), Error> {
    let mut import = Import::new(writer);
    let (mut statement, mut read) = (String::new(), Vec::new());
    // The line on which the statement begins, and the line that was read last.
    let (mut line, mut number) = (0, 0);
    loop {
        read.clear();
        // A line may be endless, so its length is bounded.
        input.by_ref().take(STATEMENT_MAX as u64 + 1).read_until(b'\n', &mut read)?;
        if read.is_empty() {
            break;
        }
        number += 1;
        if statement.trim_start().is_empty() {
            statement.clear();
            line = number;
        }
        if statement.len() + read.len() > STATEMENT_MAX {
            return Err(wrong(line, "a statement without an end"));
        }
        // PVM writes the meaning of each datum behind two slashes.
        let text = String::from_utf8_lossy(&read);
        let text = text.trim();
        if text.starts_with("//") {
            continue;
        }
        statement.push_str(text);
        statement.push('\n');
        // The text before this line has no end of a statement.
        if text.contains(";;") {
            statement = import.statements(&statement, (&mut line, number))?;
        }
    }
    if !statement.trim().is_empty() {
        return Err(wrong(line, "the file ends within a statement"));
    }
    import.finish()
}

fn wrong(line: u64, what: &str) -> Error {
    Error::Line { line, what: what.to_owned() }
}

/// The reason why a statement is refused.
enum Refused {
    Text(String),
    Error(Error),
}

impl From<&str> for Refused {
    fn from(what: &str) -> Self {
        Self::Text(what.to_owned())
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// A value of an event.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Value {
    Int(i64),
    Ints(Vec<i64>),
    Text(String),
}

/// A call that has begun.
struct Begun {
    call: u16,
    at: u64,
    data: BTreeMap<String, Value>,
}

/// The numbers of the messages of one pair and tag: the next one, and those under way.
#[derive(Default)]
struct Pair {
    sent: u64,
    by_tag: HashMap<i32, VecDeque<u64>>,
}

struct Import<'a, W> {
    writer: &'a mut Writer<W>,
    kinds: HashMap<String, Vec<String>>,
    tasks: HashMap<u32, TaskIndex>,
    begun: HashMap<TaskIndex, Vec<Begun>>,
    pairs: HashMap<(u32, u32), Pair>,
    own_calls: HashMap<String, u16>,
    open: usize,
    last: u64,
}

impl<'a, W: Write + Seek> Import<'a, W> {
    /// Handles all statements that end in this text; the first of them began on `line`. Returns the
    /// rest, which begins on the line `number`.
    fn statements(&mut self, text: &str, (line, number): (&mut u64, u64)) -> Result<String, Error> {
        let mut rest = text;
        while let Some((first, behind)) = rest.split_once(";;") {
            self.statement(first.trim()).map_err(|what| match what {
                Refused::Text(what) => wrong(*line, &what),
                Refused::Error(error) => error,
            })?;
            (rest, *line) = (behind.trim_start(), number);
        }
        Ok(rest.to_owned())
    }

    fn new(writer: &'a mut Writer<W>) -> Self {
        Self {
            writer,
            kinds: HashMap::new(),
            tasks: HashMap::new(),
            begun: HashMap::new(),
            pairs: HashMap::new(),
            own_calls: HashMap::new(),
            open: 0,
            last: 0,
        }
    }

    fn statement(&mut self, text: &str) -> Result<(), Refused> {
        // The head is a comment that counts as a statement of its own.
        let text = text.rsplit("*/").next().unwrap_or_default().trim();
        if text.is_empty() {
            Ok(())
        } else if text.starts_with('#') {
            self.describe(text)
        } else {
            self.event(text)
        }
    }

    /// Reads a descriptor: `#1094: "send(0.0)" { int "TS"; char "TN"[]; }`
    fn describe(&mut self, text: &str) -> Result<(), Refused> {
        let (name, rest) = quoted(text).ok_or("a descriptor without a name")?;
        let mut names = Vec::new();
        let mut rest = rest;
        while let Some((datum, behind)) = quoted(rest) {
            names.push(datum.to_owned());
            rest = behind;
        }
        if self.kinds.len() >= KINDS_MAX || names.len() > KINDS_MAX {
            return Err("too many kinds of events".into());
        }
        self.kinds.insert(name.to_owned(), names);
        Ok(())
    }

    /// Reads an event: `"send(0.0)" { 10, 20, [3] { 1, 2, 3 }, [4] { "abc" } }`
    fn event(&mut self, text: &str) -> Result<(), Refused> {
        let (name, rest) = quoted(text).ok_or("an event without a name")?;
        let names = self.kinds.get(name).ok_or("an event that was not described")?;
        let values = values(rest).ok_or("values that make no sense")?;
        if values.len() != names.len() {
            return Err("an event with more or fewer values than its descriptor".into());
        }
        let data: BTreeMap<_, _> = names.iter().cloned().zip(values).collect();
        let (name, edge) = name.rsplit_once('(').ok_or("an event without (0.0), (1.1) or (0)")?;
        let name = name.to_owned();
        let int = |key: &str| match data.get(key) {
            Some(Value::Int(value)) => Some(*value),
            _ => None,
        };
        let seconds = int("TS").and_then(|value| u64::try_from(value).ok());
        let micro = int("TU").and_then(|value| u64::try_from(value).ok());
        let at = seconds
            .zip(micro)
            .and_then(|(seconds, micro)| seconds.checked_mul(1_000_000)?.checked_add(micro))
            .and_then(|micro| micro.checked_mul(1000))
            .ok_or("an event without a time")?;
        self.last = self.last.max(at);
        let tid = int("TID").and_then(|value| u32::try_from(value).ok());
        let tid = tid.ok_or("an event without a task")?;
        match (name.as_str(), edge) {
            ("host_add" | "addhost", _) => self.host(tid, at, &data),
            ("newtask", _) => self.task(tid, at, &data).map(|_| ()),
            ("endtask", _) => self.end(tid, at, int("TST")),
            (_, "0.0)") => self.begin(tid, at, &name, data),
            (_, "1.1)") => self.call(tid, at, &name, &data),
            _ => Ok(()),
        }
    }

    fn host(&mut self, tid: u32, at: u64, data: &BTreeMap<String, Value>) -> Result<(), Refused> {
        let text = |key: &str| match data.get(key) {
            Some(Value::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let host = HostIndex(((tid >> 18) & 0xfff) as u16);
        let facts = HostFacts {
            host,
            name: text("HN").into(),
            architecture: text("HA").into(),
            version: "".into(),
            cores: 0,
            probe_cost_ps: 0,
            congestion: "".into(),
            mtu: 0,
            began: at,
        };
        Ok(self.writer.host(facts)?)
    }

    fn task(
        &mut self,
        tid: u32,
        at: u64,
        data: &BTreeMap<String, Value>,
    ) -> Result<TaskIndex, Refused> {
        let parent = match data.get("PT") {
            Some(Value::Int(parent)) => u32::try_from(*parent).unwrap_or(0),
            _ => 0,
        };
        let program = match data.get("TN") {
            Some(Value::Text(name)) => name.clone(),
            _ => String::new(),
        };
        let facts = TaskFacts {
            tid: Tid(tid),
            parent: Tid(parent),
            process: 0,
            program: program.into(),
            began: at,
        };
        let index = self.writer.task(facts)?;
        self.tasks.insert(tid, index);
        Ok(index)
    }

    /// The task of an event; a task that began before the recording is added.
    fn known(&mut self, tid: u32, at: u64) -> Result<TaskIndex, Refused> {
        match self.tasks.get(&tid) {
            Some(known) => Ok(*known),
            None => self.task(tid, at, &BTreeMap::new()),
        }
    }

    fn end(&mut self, tid: u32, at: u64, status: Option<i64>) -> Result<(), Refused> {
        let task = self.known(tid, at)?;
        let status = status.and_then(|status| i32::try_from(status).ok()).unwrap_or(-1);
        let ended = Ended { at, status, noted: 0, lost: 0 };
        self.tasks.remove(&tid);
        Ok(self.writer.ended(task, ended)?)
    }

    fn begin(
        &mut self,
        tid: u32,
        at: u64,
        name: &str,
        data: BTreeMap<String, Value>,
    ) -> Result<(), Refused> {
        let task = self.known(tid, at)?;
        let call = self.number(task, name)?;
        let begun = self.begun.entry(task).or_default();
        // Some calls never end: pvm_exit, and handlers, which note their begin only.
        if begun.len() >= OPEN_CALLS_MAX {
            begun.remove(0);
        }
        begun.push(Begun { call, at, data });
        Ok(())
    }

    fn call(
        &mut self,
        tid: u32,
        at: u64,
        name: &str,
        data: &BTreeMap<String, Value>,
    ) -> Result<(), Refused> {
        let task = self.known(tid, at)?;
        let call = self.number(task, name)?;
        let begun = self.begun.entry(task).or_default();
        let place = begun.iter().rposition(|begun| begun.call == call);
        // A call that began before the recording has no length.
        let begun = place.map_or_else(
            || Begun { call, at, data: BTreeMap::new() },
            |place| begun.split_off(place).swap_remove(0),
        );
        let depth = self.begun.get(&task).map_or(0, Vec::len);
        let what = self.what(tid, &begun, data);
        let result = int(data, "CC").or_else(|| int(data, "MB")).unwrap_or(0) as i32;
        let length = at.saturating_sub(begun.at);
        let depth = u8::try_from(depth).unwrap_or(u8::MAX);
        let record = Record { what, result, depth, ..Record::call(call, begun.at, length) };
        Ok(self.writer.record(task, &record)?)
    }

    fn what(&mut self, tid: u32, begun: &Begun, end: &BTreeMap<String, Value>) -> What {
        let message = |data: &BTreeMap<String, Value>, peer: &str| {
            let peer = u32::try_from(int(data, peer)?).ok()?;
            Some(Transfer {
                peer: Tid(peer),
                tag: int(data, "MC")? as i32,
                context: int(data, "MCX").unwrap_or(0) as i32,
                number: 0,
                bytes: int(data, "MNB").and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0),
                encoding: Encoding::Default,
                route: RouteKind::None,
                hops: 0,
            })
        };
        if let Some(mut message) = message(&begun.data, "DST") {
            message.number = self.sent(tid, &message);
            return What::Send { message, wire: message.bytes, pieces: 1 };
        }
        if let Some(mut message) = message(end, "SRC").filter(|message| message.peer.0 != 0) {
            message.number = self.taken(tid, &message);
            let any_source = int(&begun.data, "RST") == Some(-1);
            let any_tag = int(&begun.data, "RMC") == Some(-1);
            return What::Receive { message, any_source, any_tag };
        }
        if let Some(Value::Ints(children)) = end.get("STL") {
            return What::Spawn { children: children.iter().map(|child| *child as i32).collect() };
        }
        What::Call { bytes: 0 }
    }

    fn sent(&mut self, from: u32, message: &Transfer) -> u64 {
        let pair = self.pairs.entry((from, message.peer.0)).or_default();
        pair.sent += 1;
        if self.open < OPEN_MAX {
            self.open += 1;
            pair.by_tag.entry(message.tag).or_default().push_back(pair.sent);
        }
        pair.sent
    }

    /// The number of the earliest message of this pair and tag that was not received; 0 if there is
    /// none.
    fn taken(&mut self, to: u32, message: &Transfer) -> u64 {
        let number = self
            .pairs
            .get_mut(&(message.peer.0, to))
            .and_then(|pair| pair.by_tag.get_mut(&message.tag).and_then(VecDeque::pop_front));
        self.open -= usize::from(number.is_some());
        number.unwrap_or(0)
    }

    /// The number of a call; an unknown call gets a number and a name.
    fn number(&mut self, task: TaskIndex, name: &str) -> Result<u16, Refused> {
        let known = calls::number(&format!("pvm_{name}")).or_else(|| calls::number(name));
        if let Some(known) = known {
            return Ok(known);
        }
        let next = 0x800 + self.own_calls.len() as u16;
        if self.own_calls.len() >= KINDS_MAX {
            return Err("too many kinds of calls".into());
        }
        let number = *self.own_calls.entry(name.to_owned()).or_insert(next);
        let class = Class::Call;
        let text = name.as_bytes().to_vec();
        let what = What::Name { class, number: number.into(), text };
        self.writer.record(task, &Record { what, ..Record::call(number, 0, 0) })?;
        Ok(number)
    }

    fn finish(self) -> Result<(), Error> {
        self.writer.flush()
    }
}

fn int(data: &BTreeMap<String, Value>, key: &str) -> Option<i64> {
    match data.get(key) {
        Some(Value::Int(value)) => Some(*value),
        _ => None,
    }
}

/// The first text in quotes, and the text behind it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let (_, behind) = text.split_once('"')?;
    behind.split_once('"')
}

/// Reads values: `{ 1, [2] { 3, 4 }, [5] { "text" } }`
fn values(text: &str) -> Option<Vec<Value>> {
    let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    let mut rest = inner.trim();
    let mut all = Vec::new();
    while !rest.is_empty() {
        if rest.starts_with('[') {
            let (_, behind) = rest.split_once('{')?;
            if behind.trim_start().starts_with('"') {
                let (text, behind) = quoted(behind)?;
                all.push(Value::Text(text.to_owned()));
                rest = behind.split_once('}')?.1;
            } else {
                let (list, behind) = behind.split_once('}')?;
                let list = list.split(',').map(str::trim).filter(|word| !word.is_empty());
                let list: Option<Vec<i64>> = list.map(|word| word.parse().ok()).collect();
                all.push(Value::Ints(list?));
                rest = behind;
            }
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            all.push(Value::Int(rest[..end].trim().parse().ok()?));
            rest = &rest[end..];
        }
        rest = rest.trim_start().strip_prefix(',').unwrap_or(rest).trim_start();
    }
    Some(all)
}
