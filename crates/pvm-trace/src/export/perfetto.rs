//! Perfetto's protobuf: a track for each thread, slices for calls and their parts, a flow for each
//! message, counters for bytes under way and progress.
//!
//! The numbers of the fields are those of Perfetto's published schema (`protos/perfetto/trace`).
//! Each thread is a packet sequence of its own, so its track and its names are written once.

use super::{names, proto};
use crate::clocks::Clocks;
use crate::error::Error;
use crate::file::{Edge, Happening, Reader};
use crate::tables::{Tables, TaskIndex};
use pvm_wire::record::{Record, Transfer, What};
use std::collections::HashMap;
use std::io::{Read, Seek, Write};

/// A field of `Trace`.
const PACKET: u32 = 1;

/// Fields of `TracePacket`.
mod packet {
    pub(super) const CLOCK_SNAPSHOT: u32 = 6;
    pub(super) const TIMESTAMP: u32 = 8;
    pub(super) const SEQUENCE: u32 = 10;
    pub(super) const TRACK_EVENT: u32 = 11;
    pub(super) const INTERNED_DATA: u32 = 12;
    pub(super) const SEQUENCE_FLAGS: u32 = 13;
    pub(super) const DEFAULTS: u32 = 59;
    pub(super) const TRACK_DESCRIPTOR: u32 = 60;
    pub(super) const STATE_CLEARED: u64 = 1;
    pub(super) const NEEDS_STATE: u64 = 2;
}

/// Fields of `ClockSnapshot` and its clocks.
mod snapshot {
    pub(super) const CLOCK: u32 = 1;
    pub(super) const PRIMARY: u32 = 2;
    pub(super) const CLOCK_ID: u32 = 1;
    pub(super) const CLOCK_TIME: u32 = 2;
    pub(super) const REALTIME: u64 = 1;
    /// The clock of packets that do not name one.
    pub(super) const BOOT: u64 = 6;
}

/// Fields of `TrackDescriptor` and its parts.
mod track {
    pub(super) const UUID: u32 = 1;
    pub(super) const NAME: u32 = 2;
    pub(super) const PROCESS: u32 = 3;
    pub(super) const THREAD: u32 = 4;
    pub(super) const PARENT: u32 = 5;
    pub(super) const COUNTER: u32 = 8;
    pub(super) const PROCESS_PID: u32 = 1;
    pub(super) const PROCESS_NAME: u32 = 6;
    pub(super) const THREAD_PID: u32 = 1;
    pub(super) const THREAD_TID: u32 = 2;
    pub(super) const THREAD_NAME: u32 = 5;
}

/// Fields of `TrackEvent`.
mod event {
    pub(super) const ANNOTATION: u32 = 4;
    pub(super) const TYPE: u32 = 9;
    pub(super) const NAME: u32 = 10;
    pub(super) const TRACK: u32 = 11;
    pub(super) const CATEGORY: u32 = 22;
    pub(super) const COUNTER_VALUE: u32 = 30;
    pub(super) const FLOW: u32 = 47;
    pub(super) const FLOW_END: u32 = 48;
    pub(super) const BEGIN: u64 = 1;
    pub(super) const END: u64 = 2;
    pub(super) const INSTANT: u64 = 3;
    pub(super) const COUNTER: u64 = 4;
}

/// Fields of `InternedData`, its entries, and `DebugAnnotation`.
mod interned {
    pub(super) const EVENT_NAMES: u32 = 2;
    pub(super) const ANNOTATION_NAMES: u32 = 3;
    pub(super) const IID: u32 = 1;
    pub(super) const NAME: u32 = 2;
    pub(super) const ANNOTATION_NAME: u32 = 1;
    pub(super) const ANNOTATION_UNSIGNED: u32 = 3;
    pub(super) const ANNOTATION_SIGNED: u32 = 4;
}

/// The arguments of messages; the index is the number of the interned name.
const ARGUMENTS: [&str; 4] = ["peer", "tag", "number", "bytes"];

/// Writes the file.
pub fn perfetto<R: Read + Seek>(
    reader: &mut Reader<R>,
    clocks: &Clocks,
    out: impl Write,
) -> Result<(), Error> {
    let tables = reader.tables().clone();
    let mut writer = Perfetto {
        out,
        tables: &tables,
        sequences: HashMap::new(),
        packet: Vec::new(),
        event: Vec::new(),
        part: Vec::new(),
        small: Vec::new(),
        on_the_way: 0,
    };
    let begins = reader.places().iter().map(|place| clocks.time(place.task, place.summary.first));
    writer.clock(begins.min().unwrap_or(0))?;
    writer.describe()?;
    for entry in reader.timeline(|task, time| clocks.time(task, time)) {
        writer.happening(&entry?)?;
    }
    Ok(writer.out.flush()?)
}

/// A thread of a task.
#[derive(Debug)]
struct Sequence {
    number: u64,
    names: HashMap<String, u64>,
}

struct Perfetto<'a, W> {
    out: W,
    tables: &'a Tables,
    sequences: HashMap<(TaskIndex, u16), Sequence>,
    packet: Vec<u8>,
    event: Vec<u8>,
    part: Vec<u8>,
    small: Vec<u8>,
    /// Bytes that were sent and not received.
    on_the_way: u64,
}

/// The counter of bytes under way.
const WAY_TRACK: u64 = 1;
const PROGRESS_TRACKS: u64 = 1 << 40;
/// The first id of threads that are not the first of their task, behind the ids of all tasks.
const OTHER_THREADS: u64 = 1 << 20;

const fn process_track(task: TaskIndex) -> u64 {
    2 + ((task as u64) << 17)
}

const fn thread_track(task: TaskIndex, thread: u16) -> u64 {
    process_track(task) + 1 + thread as u64
}

/// The id of a message: a hash of the pair and the number, because ids of flows are global.
fn flow(from: u32, to: u32, number: u64) -> u64 {
    let mut mixed = 0x9e37_79b9_7f4a_7c15;
    // Each value is mixed in separately, because numbers and tids differ in the same bits.
    for more in [u64::from(from) << 32 | u64::from(to), number] {
        mixed = (mixed ^ more).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^= mixed >> 32;
    }
    mixed.max(1)
}

impl<W: Write> Perfetto<'_, W> {
    /// Connects the trace's clock with the time of day, so that viewers can show that.
    fn clock(&mut self, begin: u64) -> Result<(), Error> {
        let (event, small) = (&mut self.event, &mut self.small);
        for id in [snapshot::BOOT, snapshot::REALTIME] {
            proto::message(event, small, snapshot::CLOCK, |clock| {
                proto::number(clock, snapshot::CLOCK_ID, id);
                proto::number(clock, snapshot::CLOCK_TIME, begin);
            });
        }
        proto::number(event, snapshot::PRIMARY, snapshot::BOOT);
        proto::bytes(&mut self.packet, packet::CLOCK_SNAPSHOT, &self.event);
        self.event.clear();
        self.put()
    }

    /// Describes tasks as processes; host, program and tid are their names.
    fn describe(&mut self) -> Result<(), Error> {
        for (task, index) in self.tables.tasks.iter().zip(0..) {
            let host = self.tables.host(task.facts.tid.host());
            let host = host.map_or_else(String::new, |host| format!(" on {}", host.name.to_text()));
            let name = self.tables.label(index) + &host;
            self.track(process_track(index), |out, part| {
                proto::message(out, part, track::PROCESS, |process| {
                    proto::number(process, track::PROCESS_PID, pid(index));
                    proto::bytes(process, track::PROCESS_NAME, name.as_bytes());
                });
            })?;
        }
        self.track(WAY_TRACK, |out, _| {
            proto::bytes(out, track::NAME, b"bytes sent and not taken");
            proto::bytes(out, track::COUNTER, &[]);
        })
    }

    fn track(
        &mut self,
        uuid: u64,
        fill: impl FnOnce(&mut Vec<u8>, &mut Vec<u8>),
    ) -> Result<(), Error> {
        proto::number(&mut self.event, track::UUID, uuid);
        fill(&mut self.event, &mut self.part);
        proto::bytes(&mut self.packet, packet::TRACK_DESCRIPTOR, &self.event);
        self.event.clear();
        self.put()
    }

    fn put(&mut self) -> Result<(), Error> {
        proto::bytes(&mut self.part, PACKET, &self.packet);
        self.out.write_all(&self.part)?;
        self.packet.clear();
        self.part.clear();
        Ok(())
    }

    fn happening(&mut self, happening: &Happening) -> Result<(), Error> {
        let Happening { task, time, edge, record } = happening;
        let mine = self.tables.tasks.get(*task as usize).map_or(0, |task| task.facts.tid.0);
        let sequence = self.sequence(*task, record.thread)?;
        match edge {
            Edge::Begin => {
                let name = names::slice(&self.tables.names, *task, record);
                let name = self.name(*task, record, &name);
                self.named(event::BEGIN, name);
                self.message(mine, record);
            }
            Edge::End => proto::number(&mut self.event, event::TYPE, event::END),
            Edge::Point => {
                let own = names::own(&self.tables.names, *task, record);
                let own = own.unwrap_or_else(|| names::what(record).to_owned());
                let name = self.name(*task, record, &own);
                self.named(event::INSTANT, name);
                proto::bytes(&mut self.event, event::CATEGORY, b"program");
            }
        }
        self.event(*time, sequence)?;
        match (edge, &record.what) {
            (Edge::Begin, What::Send { message, .. }) => {
                self.on_the_way = self.on_the_way.saturating_add(message.bytes);
                self.counter(*time, WAY_TRACK, self.on_the_way)
            }
            (Edge::End, What::Receive { message, .. }) => {
                self.taken((*task, mine), *time, record, message)?;
                self.on_the_way = self.on_the_way.saturating_sub(message.bytes);
                self.counter(*time, WAY_TRACK, self.on_the_way)
            }
            (Edge::Point, What::Progress { done, .. }) => {
                self.counter(*time, PROGRESS_TRACKS + process_track(*task), *done)
            }
            _ => Ok(()),
        }
    }

    /// Ends a flow with an event of its own. The call that receives a message may have begun before
    /// the message was sent, and flows go by time.
    fn taken(
        &mut self,
        (task, mine): (TaskIndex, u32),
        time: u64,
        record: &Record,
        message: &Transfer,
    ) -> Result<(), Error> {
        if message.number == 0 {
            return Ok(());
        }
        let sequence = self.sequence(task, record.thread)?;
        let name = self.name(task, record, "message taken");
        self.named(event::INSTANT, name);
        let id = flow(message.peer.0, mine, message.number);
        proto::fixed(&mut self.event, event::FLOW_END, id);
        self.event(time, sequence)
    }

    fn named(&mut self, kind: u64, name: u64) {
        proto::number(&mut self.event, event::TYPE, kind);
        proto::number(&mut self.event, event::NAME, name);
    }

    /// Writes the data of a message, and the begin of its flow.
    fn message(&mut self, mine: u32, record: &Record) {
        let (What::Send { message, .. } | What::Receive { message, .. } | What::Chunk { message }) =
            &record.what
        else {
            return;
        };
        let tag = i64::from(message.tag).cast_unsigned();
        let values = [message.peer.0.into(), tag, message.number, message.bytes];
        for (name, value) in (1..).zip(values) {
            let field =
                if name == 2 { interned::ANNOTATION_SIGNED } else { interned::ANNOTATION_UNSIGNED };
            proto::message(&mut self.event, &mut self.small, event::ANNOTATION, |out| {
                proto::number(out, interned::ANNOTATION_NAME, name);
                proto::number(out, field, value);
            });
        }
        if matches!(record.what, What::Send { .. }) && message.number != 0 {
            let id = flow(mine, message.peer.0, message.number);
            proto::fixed(&mut self.event, event::FLOW, id);
        }
    }

    /// Writes a packet with the event that was built.
    fn event(&mut self, time: u64, sequence: u64) -> Result<(), Error> {
        proto::number(&mut self.packet, packet::TIMESTAMP, time);
        proto::number(&mut self.packet, packet::SEQUENCE, sequence);
        proto::number(&mut self.packet, packet::SEQUENCE_FLAGS, packet::NEEDS_STATE);
        proto::bytes(&mut self.packet, packet::TRACK_EVENT, &self.event);
        self.event.clear();
        self.put()
    }

    fn counter(&mut self, time: u64, track: u64, value: u64) -> Result<(), Error> {
        proto::number(&mut self.event, event::TYPE, event::COUNTER);
        proto::number(&mut self.event, event::TRACK, track);
        proto::number(&mut self.event, event::COUNTER_VALUE, value);
        proto::number(&mut self.packet, packet::TIMESTAMP, time);
        proto::number(&mut self.packet, packet::SEQUENCE, 1);
        proto::bytes(&mut self.packet, packet::TRACK_EVENT, &self.event);
        self.event.clear();
        self.put()
    }

    /// The number of a name in its sequence; a new name goes with the packet that is being built.
    fn name(&mut self, task: TaskIndex, record: &Record, name: &str) -> u64 {
        let Some(sequence) = self.sequences.get_mut(&(task, record.thread)) else { return 0 };
        if let Some(number) = sequence.names.get(name) {
            return *number;
        }
        let number = sequence.names.len() as u64 + 1;
        sequence.names.insert(name.to_owned(), number);
        let entry = entry(number, name.as_bytes());
        proto::message(&mut self.packet, &mut self.part, packet::INTERNED_DATA, |data| {
            proto::bytes(data, interned::EVENT_NAMES, &entry);
        });
        number
    }

    /// The sequence of a thread, which is described first if it is new.
    fn sequence(&mut self, task: TaskIndex, thread: u16) -> Result<u64, Error> {
        if let Some(known) = self.sequences.get(&(task, thread)) {
            return Ok(known.number);
        }
        let number = self.sequences.len() as u64 + 2;
        self.sequences.insert((task, thread), Sequence { number, names: HashMap::new() });
        let uuid = thread_track(task, thread);
        self.track(uuid, |out, part| {
            proto::number(out, track::PARENT, process_track(task));
            proto::message(out, part, track::THREAD, |out| {
                proto::number(out, track::THREAD_PID, pid(task));
                let tid = if thread == 0 { pid(task) } else { OTHER_THREADS + number };
                proto::number(out, track::THREAD_TID, tid);
                let name = if thread == 0 { "calls".into() } else { format!("thread {thread}") };
                proto::bytes(out, track::THREAD_NAME, name.as_bytes());
            });
        })?;
        if !self.sequences.keys().any(|(other, known)| *other == task && *known != thread) {
            self.progress(task)?;
        }
        proto::number(&mut self.packet, packet::SEQUENCE, number);
        proto::number(&mut self.packet, packet::SEQUENCE_FLAGS, packet::STATE_CLEARED);
        // In TracePacketDefaults the defaults of events are in the field with the number of the
        // event.
        proto::message(&mut self.packet, &mut self.part, packet::DEFAULTS, |out| {
            let mut defaults = Vec::new();
            proto::number(&mut defaults, event::TRACK, uuid);
            proto::bytes(out, packet::TRACK_EVENT, &defaults);
        });
        proto::message(&mut self.packet, &mut self.part, packet::INTERNED_DATA, |data| {
            for (number, name) in (1..).zip(ARGUMENTS) {
                let entry = entry(number, name.as_bytes());
                proto::bytes(data, interned::ANNOTATION_NAMES, &entry);
            }
        });
        self.put()?;
        Ok(number)
    }

    fn progress(&mut self, task: TaskIndex) -> Result<(), Error> {
        let process = process_track(task);
        self.track(PROGRESS_TRACKS + process, |out, _| {
            proto::number(out, track::PARENT, process);
            proto::bytes(out, track::NAME, b"progress");
            proto::bytes(out, track::COUNTER, &[]);
        })
    }
}

/// The process id in the file. Ids of several hosts may be equal, so tasks and their first threads
/// are numbered instead.
const fn pid(task: TaskIndex) -> u64 {
    task as u64 + 1
}

fn entry(number: u64, name: &[u8]) -> Vec<u8> {
    let mut entry = Vec::new();
    proto::number(&mut entry, interned::IID, number);
    proto::bytes(&mut entry, interned::NAME, name);
    entry
}
