//! The simulator's input of the thesis: lines `c`, `s`, `m`, `r` of its figure 3.6, in a file for
//! each station.
//!
//! The lines have durations, not times. So the import runs the stations side by side: a receive
//! takes place when its bytes have been sent. Receives take bytes of a stream, and surplus bytes
//! stay: a message counts as received by the line that takes its last byte.

use crate::error::Error;
use crate::file::Writer;
use pvm_wire::record::frames::TaskFacts;
use pvm_wire::record::{Reason, Record, RouteKind, Transfer, What, calls};
use pvm_wire::{Encoding, Tid};
use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, Seek, Write};

/// The most bytes of a line.
const LINE_MAX: usize = 1 << 16;
/// The most stations: each is an open file.
const STATIONS_MAX: usize = 4096;
/// The most messages that were sent and not received.
const OPEN_MAX: usize = 4 << 20;
/// The nanoseconds of a microsecond, the unit of the thesis.
const MICRO: u64 = 1000;

/// A line of a station's file.
#[derive(Debug)]
enum Line {
    Compute(u64),
    Send { time: u64, bytes: u64, to: Vec<u32> },
    Receive { time: u64, bytes: u64, from: u32 },
}

/// A message that was sent.
struct Sent {
    number: u64,
    size: u64,
    left: u64,
    at: u64,
}

struct Station<R> {
    lines: R,
    line: u64,
    now: u64,
    /// The receive that waits for bytes, with the time since which it waits.
    waiting: Option<(u64, u64, u32, u64)>,
    is_over: bool,
}

/// Reads the stations' files, in their order, into a trace. Line numbers in errors count the lines
/// of all files.
pub fn thesis<R: BufRead, W: Write + Seek>(
    stations: Vec<R>,
    writer: &mut Writer<W>,
) -> Result<(), Error> {
    if stations.len() > STATIONS_MAX {
        return Err(wrong(0, "more than 4096 stations".to_owned()));
    }
    for number in 0..stations.len() as u32 {
        let program = format!("station.{number}").into();
        let facts = TaskFacts { tid: tid(number), parent: Tid(0), process: 0, program, began: 0 };
        writer.task(facts)?;
    }
    let station = |lines| Station { lines, line: 0, now: 0, waiting: None, is_over: false };
    let stations = stations.into_iter().map(station).collect();
    let mut run =
        Run { stations, writer, streams: HashMap::new(), counts: HashMap::new(), open: 0 };
    run.all()?;
    run.writer.flush()
}

/// The tid of station `n`, the first task of a host of its own.
const fn tid(station: u32) -> Tid {
    Tid((station + 1) << 18 | 1)
}

fn wrong(line: u64, what: String) -> Error {
    Error::Line { line, what }
}

struct Run<'a, R, W> {
    stations: Vec<Station<R>>,
    writer: &'a mut Writer<W>,
    streams: HashMap<(u32, u32), VecDeque<Sent>>,
    counts: HashMap<(u32, u32), u64>,
    open: usize,
}

impl<R: BufRead, W: Write + Seek> Run<'_, R, W> {
    /// Lets the stations go on in turn, each until it waits, until all wait or have ended.
    fn all(&mut self) -> Result<(), Error> {
        loop {
            let mut moved = false;
            for number in 0..self.stations.len() as u32 {
                while self.step(number)? {
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
        for (station, number) in self.stations.iter().zip(0u32..) {
            if let Some((_, bytes, from, _)) = station.waiting {
                let what = format!(
                    "station {number} waits for {bytes} bytes of station {from} that nobody sends"
                );
                return Err(wrong(station.line, what));
            }
        }
        Ok(())
    }

    /// Carries out a line; true if the station could go on.
    fn step(&mut self, number: u32) -> Result<bool, Error> {
        let station = &mut self.stations[number as usize];
        if let Some((time, bytes, from, since)) = station.waiting {
            return self.receive(number, (time, bytes, from), since);
        }
        if station.is_over {
            return Ok(false);
        }
        let Some(line) = station.read()? else {
            station.is_over = true;
            return Ok(true);
        };
        let count = self.stations.len() as u32;
        let station = &mut self.stations[number as usize];
        let known = |other: u32| other < count;
        match line {
            Line::Compute(time) => station.now = station.now.saturating_add(time),
            Line::Send { to, .. } if !to.iter().all(|to| known(*to)) => {
                return Err(wrong(station.line, "it names a station without a file".to_owned()));
            }
            Line::Receive { from, .. } if !known(from) => {
                return Err(wrong(station.line, "it names a station without a file".to_owned()));
            }
            Line::Send { time, bytes, to } => self.send(number, (time, bytes), &to)?,
            Line::Receive { time, bytes, from } => {
                station.waiting = Some((time, bytes, from, station.now));
            }
        }
        Ok(true)
    }

    fn send(&mut self, from: u32, (time, bytes): (u64, u64), to: &[u32]) -> Result<(), Error> {
        let begin = self.stations[from as usize].now;
        let call = if to.len() > 1 { calls::MCAST } else { calls::SEND };
        for to in to {
            let count = self.counts.entry((from, *to)).or_default();
            *count += 1;
            let number = *count;
            self.open += 1;
            if self.open > OPEN_MAX {
                let line = self.stations[from as usize].line;
                return Err(wrong(line, "too many messages that nobody takes".to_owned()));
            }
            let sent = Sent { number, size: bytes, left: bytes, at: begin };
            self.streams.entry((from, *to)).or_default().push_back(sent);
            let message = transfer(*to, number, bytes);
            let what = What::Send { message, wire: bytes, pieces: 1 };
            let part = call == calls::MCAST;
            let depth = u8::from(part);
            let record = Record { what, part, depth, ..Record::call(call, begin, time) };
            self.writer.record(from, &record)?;
        }
        if call == calls::MCAST {
            self.writer.record(from, &Record::call(call, begin, time))?;
        }
        self.stations[from as usize].now = begin.saturating_add(time);
        Ok(())
    }

    /// Receives bytes; true if they have been sent.
    fn receive(
        &mut self,
        to: u32,
        (time, bytes, from): (u64, u64, u32),
        since: u64,
    ) -> Result<bool, Error> {
        let stream = self.streams.entry((from, to)).or_default();
        let mut there = 0u64;
        let mut arrived = since;
        for sent in stream.iter() {
            if there >= bytes {
                break;
            }
            there = there.saturating_add(sent.left);
            arrived = arrived.max(sent.at);
        }
        if there < bytes {
            return Ok(false);
        }
        let mut left = bytes;
        let mut taken = None;
        while let Some(sent) = stream.front_mut() {
            let some = left.min(sent.left);
            sent.left -= some;
            left -= some;
            if sent.left > 0 {
                break;
            }
            self.open -= 1;
            taken = stream.pop_front();
            if left == 0 {
                break;
            }
        }
        let what = taken.map_or(What::Call { bytes }, |sent| What::Receive {
            message: transfer(from, sent.number, sent.size),
            any_source: false,
            any_tag: false,
        });
        if arrived > since {
            let reason = Reason::Message;
            let wait = What::Wait { reason, processor: None };
            let call = Record::call(calls::RECV, since, arrived - since);
            self.writer.record(to, &Record { what: wait, part: true, depth: 1, ..call })?;
        }
        let end = arrived.saturating_add(time);
        let call = Record::call(calls::RECV, since, end.saturating_sub(since));
        self.writer.record(to, &Record { what, ..call })?;
        let station = &mut self.stations[to as usize];
        (station.now, station.waiting) = (end, None);
        Ok(true)
    }
}

const fn transfer(peer: u32, number: u64, bytes: u64) -> Transfer {
    Transfer {
        peer: tid(peer),
        tag: 0,
        context: 0,
        number,
        bytes,
        encoding: Encoding::Default,
        route: RouteKind::Direct,
        hops: 0,
    }
}

impl<R: BufRead> Station<R> {
    fn read(&mut self) -> Result<Option<Line>, Error> {
        loop {
            let mut text = Vec::new();
            let mut limited = std::io::Read::take(&mut self.lines, LINE_MAX as u64);
            if limited.read_until(b'\n', &mut text)? == 0 {
                return Ok(None);
            }
            self.line += 1;
            let text = String::from_utf8_lossy(&text);
            let words: Vec<&str> = text.split_whitespace().collect();
            if words.is_empty() {
                continue;
            }
            return match parse(&words) {
                Some(line) => Ok(Some(line)),
                None => Err(wrong(self.line, "no line of the form c, s, m, r".to_owned())),
            };
        }
    }
}

/// Reads *kind time bytes source destinations*, in microseconds.
fn parse(words: &[&str]) -> Option<Line> {
    let number = |place: usize| words.get(place)?.parse::<u64>().ok();
    let station = |word: &str| word.parse::<u32>().ok();
    let time = number(1)?.checked_mul(MICRO).filter(|time| *time < 1 << 60)?;
    let bytes = number(2)?;
    let source = station(words.get(3)?)?;
    Some(match *words.first()? {
        "c" => Line::Compute(time),
        "s" => Line::Send { time, bytes, to: vec![station(words.get(4)?)?] },
        "m" => {
            let to: Option<Vec<u32>> = words[4..].iter().map(|word| station(word)).collect();
            Line::Send { time, bytes, to: to.filter(|to| !to.is_empty())? }
        }
        "r" => Line::Receive { time, bytes, from: source },
        _ => return None,
    })
}
