//! The files of the thesis on simulating PVM programs (its chapter 3), in microseconds since the
//! begin.
//!
//! For the task with tid X (in hexadecimal), `results.X` has the communication, and `oh.X`,
//! `oh2.X`, `pk.X` and `pk2.X` have the 39 functions of figure 3.5 as *function start duration*.
//! `station.N` is the output of the thesis' converter: the lines `c`, `s`, `m`, `r` of figure 3.6;
//! N counts tasks from 0.
//!
//! Figure 3.2, the form of `results.X`, is a picture that we do not have. Our reading: a line for
//! each `write`, multicast, wait in `select` and `read`: *word start duration bytes peers*.

use super::stations::{Action, HEADER, Untold, stations, with_header};
use crate::error::Error;
use crate::file::{Lane, Reader, lanes};
use crate::tables::TaskIndex;
use pvm_wire::record::{Record, calls};
use std::io::{self, Read, Seek, Write};

/// The name of the file to be opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThesisFile(String);

impl ThesisFile {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// The name of a function in the thesis, and its file: figure 3.5.
fn function(call: u16) -> Option<(&'static str, &'static str)> {
    Some(match call {
        calls::BARRIER | calls::NEOPVM_BARRIER => ("pvm_barrier", "pk2"),
        calls::BCAST | calls::NEOPVM_BROADCAST => ("pvm_bcast", "pk2"),
        calls::REDUCE => ("pvm_reduce", "pk2"),
        calls::SCATTER => ("pvm_scatter", "pk2"),
        calls::GATHER => ("pvm_gather", "pk2"),
        calls::MCAST | calls::NEOPVM_MULTICAST => ("pvm_mcast", "oh"),
        calls::SEND | calls::NEOPVM_SEND => ("pvm_send", "oh"),
        calls::RECV | calls::NEOPVM_RECEIVE => ("pvm_recv", "oh"),
        calls::NRECV | calls::TRECV | calls::INITSEND => (calls::name(call)?, "oh"),
        calls::NEOPVM_NEW => ("pvm_initsend", "oh"),
        calls::PSEND | calls::NEOPVM_SEND_ITEMS => ("pvm_psend", "oh2"),
        calls::PRECV | calls::NEOPVM_RECEIVE_ITEMS => ("pvm_precv", "oh2"),
        calls::PACKF => ("pvm_vpackf", "pk"),
        calls::UNPACKF => ("pvm_vupackf", "pk"),
        calls::PKBYTE..=calls::PKSTR | calls::UPKBYTE..=calls::UPKSTR => (calls::name(call)?, "pk"),
        calls::NEOPVM_PACK => ("pvm_pkbyte", "pk"),
        calls::NEOPVM_UNPACK => ("pvm_upkbyte", "pk"),
        _ => return None,
    })
}

/// Writes all files; `open` is called for each file. Returns the counts of what the files cannot
/// hold.
pub fn thesis<R: Read + Seek, W: Write>(
    reader: &mut Reader<R>,
    mut open: impl FnMut(&ThesisFile) -> io::Result<W>,
) -> Result<Untold, Error> {
    let begin = reader.summary().first;
    overhead(reader, begin, &mut open)?;
    let tids: Vec<u32> = reader.tables().tasks.iter().map(|task| task.facts.tid.0).collect();
    let mut files: Option<(W, W)> = None;
    stations(reader, |station, action| {
        if files.is_none() {
            let tid = tids[station as usize];
            let results = open(&ThesisFile(format!("results.{tid:x}")))?;
            files = Some((open(&ThesisFile(format!("station.{station}")))?, results));
        }
        let Some((line, results)) = files.as_mut() else { return Ok(()) };
        match action {
            Some(action) => {
                converted(station, action, line)?;
                communication(begin, &tids, action, results)
            }
            None => {
                line.flush()?;
                results.flush()?;
                files = None;
                Ok(())
            }
        }
    })
}

/// Writes a line of figure 3.6: *kind time bytes source destinations*, in microseconds.
fn converted(station: TaskIndex, action: &Action<'_>, out: &mut impl Write) -> Result<(), Error> {
    match action {
        Action::Compute(time) => writeln!(out, "c\t{}\t0\t0\t0", micro(*time))?,
        Action::Send { time, message, to, .. } => {
            let word = if to.len() == 1 { 's' } else { 'm' };
            write!(out, "{word}\t{}\t{}\t{station}", micro(*time), with_header(message))?;
            to.iter().try_for_each(|(to, _)| write!(out, "\t{to}"))?;
            writeln!(out)?;
        }
        Action::Receive { time, message, from, .. } => {
            // PVM reads a message in two steps: 16 bytes of its header, then the rest.
            let (head, time) = (HEADER / 2, micro(*time));
            writeln!(out, "r\t{}\t{head}\t{from}\t{station}", time / 2)?;
            let rest = with_header(message) - head;
            writeln!(out, "r\t{}\t{rest}\t{from}\t{station}", time - time / 2)?;
        }
        Action::Group { .. } => (),
    }
    Ok(())
}

fn communication(
    begin: u64,
    tids: &[u32],
    action: &Action<'_>,
    out: &mut impl Write,
) -> Result<(), Error> {
    let since = |time: u64| micro(time.saturating_sub(begin));
    match action {
        Action::Send { time, message, to, begin } => {
            let word = if to.len() == 1 { "send" } else { "mcast" };
            let bytes = with_header(message);
            write!(out, "{word} {} {} {bytes}", since(*begin), micro(*time))?;
            to.iter().try_for_each(|(to, _)| write!(out, " {:x}", tids[*to as usize]))?;
            writeln!(out)?;
        }
        Action::Receive { time, waited, message, from, begin } => {
            let from = tids[*from as usize];
            writeln!(out, "select {} {} 0 {from:x}", since(*begin), micro(*waited))?;
            let (at, bytes) = (since(begin.saturating_add(*waited)), with_header(message));
            writeln!(out, "recv {at} {} {bytes} {from:x}", micro(*time))?;
        }
        Action::Compute(_) | Action::Group { .. } => (),
    }
    Ok(())
}

/// The files of functions, in the order of their begins within each call of the program.
fn overhead<R: Read + Seek, W: Write>(
    reader: &mut Reader<R>,
    begin: u64,
    open: &mut impl FnMut(&ThesisFile) -> io::Result<W>,
) -> Result<(), Error> {
    let tids: Vec<u32> = reader.tables().tasks.iter().map(|task| task.facts.tid.0).collect();
    let all: Vec<Lane> = lanes(reader);
    for (mut lane, tid) in all.into_iter().zip(tids) {
        let mut files: Vec<(&'static str, W)> = Vec::new();
        let mut held: Vec<(u64, u64, &'static str, &'static str)> = Vec::new();
        while let Some(record) = lane.next_record(reader) {
            let record: Record = record?;
            if !record.part
                && let Some((name, file)) = function(record.call)
            {
                held.push((record.begin, record.length, name, file));
            }
            if record.depth > 0 || record.part {
                continue;
            }
            held.sort_by_key(|(begin, length, ..)| (*begin, u64::MAX - length));
            for (at, length, name, file) in held.drain(..) {
                let known = files.iter().position(|(known, _)| *known == file);
                let place = if let Some(place) = known {
                    place
                } else {
                    files.push((file, open(&ThesisFile(format!("{file}.{tid:x}")))?));
                    files.len() - 1
                };
                let start = micro(at.saturating_sub(begin));
                writeln!(files[place].1, "{name} {start} {}", micro(length))?;
            }
        }
        files.iter_mut().try_for_each(|(_, file)| file.flush())?;
    }
    Ok(())
}

/// Microseconds, rounded.
const fn micro(nanoseconds: u64) -> u64 {
    nanoseconds.saturating_add(500) / 1000
}
