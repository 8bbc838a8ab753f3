//! The input of the program that writes OTF2 archives: a line for each definition and each event.
//!
//! OTF2's own library writes its files; a small C program of `pvm` calls it
//! (`crates/pvm-cli/src/trace/otf2.c` describes the lines). The first thread of a task is the
//! location with the task's number; further threads have numbers behind those of all tasks.

use super::names;
use crate::clocks::Clocks;
use crate::error::Error;
use crate::file::{Edge, Happening, Reader};
use crate::tables::{Tables, TaskIndex};
use pvm_wire::record::What;
use pvm_wire::{HostIndex, Tid};
use std::collections::HashMap;
use std::io::{Read, Seek, Write};

/// Writes these lines.
pub fn otf2<R: Read + Seek>(
    reader: &mut Reader<R>,
    clocks: &Clocks,
    out: impl Write,
) -> Result<(), Error> {
    let tables = reader.tables().clone();
    let mut lines = Lines::new(&tables, out)?;
    for entry in reader.timeline(|task, time| clocks.time(task, time)) {
        lines.tell(&entry?)?;
    }
    let (begin, end) = lines.span.unwrap_or((0, 0));
    writeln!(lines.out, "B {begin} {end}")?;
    Ok(lines.out.flush()?)
}

struct Lines<'a, W> {
    tables: &'a Tables,
    out: W,
    locations: HashMap<(TaskIndex, u16), usize>,
    regions: HashMap<String, usize>,
    span: Option<(u64, u64)>,
    /// The first thread of each task that was seen; a task without one has its location
    /// nevertheless.
    first: Vec<Option<u16>>,
}

impl<'a, W: Write> Lines<'a, W> {
    fn new(tables: &'a Tables, mut out: W) -> Result<Self, Error> {
        let known = |host: HostIndex| tables.hosts.iter().position(|known| known.host == host);
        // The host of tasks whose host is not in the tables.
        let unknown = tables.hosts.len();
        for (number, host) in tables.hosts.iter().enumerate() {
            writeln!(out, "H {number} {}", plain(&host.name.to_text()))?;
        }
        if tables.tasks.iter().any(|task| known(task.facts.tid.host()).is_none()) {
            writeln!(out, "H {unknown} unknown")?;
        }
        for (task, number) in tables.tasks.iter().zip(0..) {
            let host = known(task.facts.tid.host()).unwrap_or(unknown);
            writeln!(out, "T {number} {host} {}", plain(&tables.label(number)))?;
            writeln!(out, "L {number} {number} 0")?;
        }
        let first = vec![None; tables.tasks.len()];
        let (locations, regions) = (HashMap::new(), HashMap::new());
        Ok(Self { tables, out, locations, regions, span: None, first })
    }

    fn tell(&mut self, happening: &Happening) -> Result<(), Error> {
        let Happening { task, time, edge, record } = happening;
        let (first, last) = self.span.unwrap_or((*time, *time));
        self.span = Some((first.min(*time), last.max(*time)));
        let location = self.location((*task, record.thread))?;
        match edge {
            Edge::Begin => {
                let region = self.region(&names::slice(&self.tables.names, *task, record))?;
                writeln!(self.out, "E {location} {time} {region}")?;
                if let What::Send { message, .. } = &record.what {
                    self.message('S', (location, *time), message)?;
                }
            }
            Edge::End => {
                if let What::Receive { message, .. } = &record.what {
                    self.message('V', (location, *time), message)?;
                }
                let region = self.region(&names::slice(&self.tables.names, *task, record))?;
                writeln!(self.out, "X {location} {time} {region}")?;
            }
            Edge::Point => {
                // A mark becomes a function that takes no time.
                let Some(name) = names::own(&self.tables.names, *task, record) else {
                    return Ok(());
                };
                let region = self.region(&format!("{}: {name}", names::what(record)))?;
                writeln!(self.out, "E {location} {time} {region}\nX {location} {time} {region}")?;
            }
        }
        Ok(())
    }

    /// Writes a message from or to a task of the trace; messages of other tasks have no place in an
    /// archive.
    fn message(
        &mut self,
        letter: char,
        (location, time): (usize, u64),
        message: &pvm_wire::record::Transfer,
    ) -> Result<(), Error> {
        let Some(peer) = self.peer(message.peer, time) else { return Ok(()) };
        let (tag, bytes) = (message.tag.cast_unsigned(), message.bytes);
        Ok(writeln!(self.out, "{letter} {location} {time} {peer} {tag} {bytes}")?)
    }

    fn peer(&self, tid: Tid, at: u64) -> Option<TaskIndex> {
        self.tables.task_at(tid, at)
    }

    fn location(&mut self, (task, thread): (TaskIndex, u16)) -> Result<usize, Error> {
        if let Some(known) = self.locations.get(&(task, thread)) {
            return Ok(*known);
        }
        let first = self.first.get_mut(task as usize);
        let is_first = first.is_some_and(|first| *first.get_or_insert(thread) == thread);
        let further = self.first.len() + self.locations.len();
        let location = if is_first { task as usize } else { further };
        self.locations.insert((task, thread), location);
        writeln!(self.out, "L {location} {task} {thread}")?;
        Ok(location)
    }

    fn region(&mut self, name: &str) -> Result<usize, Error> {
        if let Some(known) = self.regions.get(name) {
            return Ok(*known);
        }
        let number = self.regions.len();
        self.regions.insert(name.to_owned(), number);
        writeln!(self.out, "R {number} {}", plain(name))?;
        Ok(number)
    }
}

/// A text without line breaks, not longer than a name may be.
fn plain(text: &str) -> String {
    text.chars().take(4096).map(|c| if c.is_control() { '?' } else { c }).collect()
}
