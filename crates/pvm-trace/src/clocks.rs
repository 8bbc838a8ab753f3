//! Makes times of different hosts comparable: the clock of each host is a line relative to the
//! clock of a reference host.
//!
//! Recorders and the writer of the trace compare clocks; the error of a comparison is at most half
//! of its round trip. The line is in the middle of all lines that the comparisons allow, and its
//! stated error covers these. The clocks of hosts without comparisons follow from messages: because
//! messages take some time in both directions, the two shortest ones bound the offset.

mod line;

use crate::error::Error;
use crate::file::Reader;
use crate::matching::{Matched, messages};
use crate::tables::{Tables, TaskIndex};
use line::{Line, Sample, line};
use pvm_wire::HostIndex;
use pvm_wire::record::frames::ClockPair;
use std::collections::BTreeMap;
use std::io::{Read, Seek};

/// The clock of a host relative to the reference.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HostClock {
    /// The host.
    pub host: HostIndex,
    /// The time of the reference minus the time of the host, at `at`, in nanoseconds.
    pub offset: i64,
    /// The begin of the line, by the host's clock.
    pub at: u64,
    /// The nanoseconds in a second by which the reference runs faster.
    pub drift: f64,
    /// The largest error of a corrected time; `None` if nothing is known of this clock.
    pub error: Option<u64>,
    /// The source of the line.
    pub source: ClockSource,
}

/// The source of a clock's line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClockSource {
    /// The host is the reference.
    Reference,
    /// The clocks were compared.
    Compared,
    /// Messages in both directions bound it.
    Messages,
    /// Nothing is known: times are used without correction.
    Unknown,
}

impl HostClock {
    const fn plain(host: HostIndex, source: ClockSource, error: Option<u64>) -> Self {
        Self { host, offset: 0, at: 0, drift: 0.0, error, source }
    }

    /// The reference's time at the moment at which the host's clock showed `raw`.
    pub fn time(&self, raw: u64) -> u64 {
        let since = i128::from(raw) - i128::from(self.at);
        let drifted = if self.drift == 0.0 { 0 } else { (since as f64 * self.drift / 1e9) as i128 };
        let time = i128::from(raw) + i128::from(self.offset) + drifted;
        u64::try_from(time.max(0)).unwrap_or(u64::MAX)
    }
}

/// The clocks of all hosts of a trace.
#[derive(Clone, Debug)]
pub struct Clocks {
    hosts: Vec<HostClock>,
    /// For each task the index of its host's clock.
    of_task: Vec<usize>,
}

impl Clocks {
    /// Clocks without correction.
    pub fn raw(tables: &Tables) -> Self {
        let mut clocks = Self { hosts: Vec::new(), of_task: Vec::new() };
        for task in &tables.tasks {
            let place = clocks.place(task.facts.tid.host());
            clocks.of_task.push(place);
        }
        clocks
    }

    /// Clocks from the comparisons of a trace.
    pub fn compared(tables: &Tables) -> Self {
        let mut clocks = Self::raw(tables);
        for (host, pair) in &tables.clocks {
            clocks.place(*host);
            clocks.place(pair.other);
        }
        clocks.begin();
        let mut samples = BTreeMap::new();
        for (host, pair) in &tables.clocks {
            let (forth, back) = both_ways(pair);
            samples.entry((*host, pair.other)).or_insert_with(Vec::new).push(forth);
            samples.entry((pair.other, *host)).or_insert_with(Vec::new).push(back);
        }
        clocks.spread(&samples, line, ClockSource::Compared);
        clocks
    }

    /// Clocks from the comparisons and, for hosts without them, from the messages.
    pub fn lines<R: Read + Seek>(reader: &mut Reader<R>) -> Result<Self, Error> {
        let mut clocks = Self::compared(reader.tables());
        let is_unknown = |clock: &HostClock| clock.source == ClockSource::Unknown;
        if clocks.hosts.len() > 1 && clocks.hosts.iter().any(is_unknown) {
            let shortest = clocks.shortest(reader)?;
            clocks.begin();
            clocks.spread(&bounds(&shortest), |lines| lines[0], ClockSource::Messages);
        }
        Ok(clocks)
    }

    /// Like `lines`, with errors that cover all messages, which takes one more pass over the trace:
    /// after correction no message arrives earlier than it was sent by more than the errors of both
    /// hosts.
    pub fn find<R: Read + Seek>(reader: &mut Reader<R>) -> Result<Self, Error> {
        let mut clocks = Self::lines(reader)?;
        if clocks.hosts.len() > 1 {
            let shortest = clocks.shortest(reader)?;
            clocks.widen(&shortest);
        }
        Ok(clocks)
    }

    /// The corrected time of a moment of a task.
    #[inline]
    pub fn time(&self, task: TaskIndex, raw: u64) -> u64 {
        let place = self.of_task.get(task as usize);
        place.and_then(|place| self.hosts.get(*place)).map_or(raw, |clock| clock.time(raw))
    }

    /// The clocks.
    pub fn hosts(&self) -> &[HostClock] {
        &self.hosts
    }

    /// The largest error between times of two tasks.
    pub fn error(&self, one: TaskIndex, other: TaskIndex) -> Option<u64> {
        let place = |task: TaskIndex| self.of_task.get(task as usize).copied();
        match (place(one), place(other)) {
            (Some(one), Some(other)) if one == other => Some(0),
            (Some(one), Some(other)) => {
                Some(self.hosts[one].error?.saturating_add(self.hosts[other].error?))
            }
            _ => None,
        }
    }

    fn place(&mut self, host: HostIndex) -> usize {
        self.hosts.iter().position(|clock| clock.host == host).unwrap_or_else(|| {
            self.hosts.push(HostClock::plain(host, ClockSource::Unknown, None));
            self.hosts.len() - 1
        })
    }

    /// Makes the first host's clock the reference.
    fn begin(&mut self) {
        if let Some(first) = self.hosts.first_mut() {
            (first.source, first.error) = (ClockSource::Reference, Some(0));
        }
    }

    /// Extends from hosts whose clocks are known to hosts that are compared with them.
    fn spread<T>(
        &mut self,
        samples: &BTreeMap<(HostIndex, HostIndex), Vec<T>>,
        line: impl Fn(&[T]) -> Line,
        source: ClockSource,
    ) {
        let mut next: Vec<usize> = (0..self.hosts.len())
            .filter(|place| self.hosts[*place].source != ClockSource::Unknown)
            .collect();
        while let Some(known) = next.pop() {
            for place in 0..self.hosts.len() {
                let clock = self.hosts[place];
                let pair = (clock.host, self.hosts[known].host);
                let Some(found) =
                    samples.get(&pair).filter(|_| clock.source == ClockSource::Unknown)
                else {
                    continue;
                };
                self.hosts[place] = behind(clock.host, &line(found), &self.hosts[known], source);
                next.insert(0, place);
            }
        }
    }

    /// The shortest transfer of a message for each ordered pair of hosts, by the clocks as they are
    /// known now.
    fn shortest<R: Read + Seek>(&self, reader: &mut Reader<R>) -> Result<Shortest, Error> {
        let mut ways = Shortest::new();
        let time = |task, raw| self.time(task, raw);
        messages(reader, time, |message: &Matched| {
            let [from, to] =
                [message.from, message.to].map(|task| self.hosts[self.of_task[task as usize]].host);
            if from != to {
                let took = i128::from(message.received.end) - i128::from(message.sent.begin);
                let way = ways.entry((from, to)).or_insert((took, message.sent.begin));
                if took < way.0 {
                    *way = (took, message.sent.begin);
                }
            }
        })?;
        Ok(ways)
    }

    /// Enlarges errors for messages that arrive before they were sent.
    fn widen(&mut self, shortest: &Shortest) {
        for ((from, to), (took, _)) in shortest {
            let early = u64::try_from(-took).unwrap_or(0);
            let [from, to] = [*from, *to].map(|host| self.place(host));
            let known = [from, to].map(|place| self.hosts[place].error.unwrap_or(0));
            let covered = known[0].saturating_add(known[1]);
            if early > covered {
                let is_reference = self.hosts[to].source == ClockSource::Reference;
                let (place, error) = if is_reference { (from, known[0]) } else { (to, known[1]) };
                self.hosts[place].error = Some(error.saturating_add(early - covered));
            }
        }
    }
}

/// By pair of hosts: the duration of the shortest message, and the time at which it was sent.
type Shortest = BTreeMap<(HostIndex, HostIndex), (i128, u64)>;

/// The offset of two clocks from messages in both directions. The duration in one direction seems
/// longer than in the other by twice the offset.
fn bounds(shortest: &Shortest) -> BTreeMap<(HostIndex, HostIndex), Vec<Line>> {
    let line = |(pair, (there, at)): (&(HostIndex, HostIndex), &(i128, u64))| {
        let (back, _) = shortest.get(&(pair.1, pair.0))?;
        let offset = i64::try_from((there - back) / 2).unwrap_or(0);
        let error = u64::try_from((there + back).abs() / 2 + 1).unwrap_or(0);
        Some((*pair, vec![Line { at: *at, offset, drift: 0.0, error }]))
    };
    shortest.iter().filter_map(line).collect()
}

/// The clock of a host from its line relative to a clock that is known.
fn behind(host: HostIndex, line: &Line, known: &HostClock, source: ClockSource) -> HostClock {
    let there = line.at.saturating_add_signed(line.offset);
    let time = known.time(there);
    HostClock {
        host,
        offset: i64::try_from(i128::from(time) - i128::from(line.at)).unwrap_or(0),
        at: line.at,
        drift: line.drift + known.drift + line.drift * known.drift / 1e9,
        error: known.error.map(|error| error.saturating_add(line.error)),
        source,
    }
}

fn both_ways(pair: &ClockPair) -> (Sample, Sample) {
    let there = pair.at.saturating_add_signed(pair.offset);
    let back = pair.offset.checked_neg().unwrap_or(i64::MAX);
    let error = pair.error;
    (Sample { at: pair.at, offset: pair.offset, error }, Sample { at: there, offset: back, error })
}
