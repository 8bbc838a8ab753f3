//! A part of a calibration: it does what it is told, and tells how long that took.

use super::super::said::{DONE, GO, heard, nanoseconds, say};
use super::order::Order;
use super::work;
use pvm::{Buffer, Deadline, Pattern, Task};
use pvm_wire::{Address, Code, Context, Encoding, Kind, Tag, Tid};
use std::time::{Duration, Instant};

/// The context of measured messages, and their tags.
const MEASURED: i32 = 0x6361_6c69;
const FORTH: i32 = 1;
const BACK: i32 = 2;
const OVER: i32 = 3;
/// A partner says something within that.
const PATIENCE: Duration = Duration::from_secs(120);

/// Does what `master` says, until it says that this is all.
pub(in super::super) fn obey(task: &Task, master: Tid) -> Result<(), Code> {
    loop {
        let order = Order::from_bytes(&heard(task, master, GO)?).ok_or(Code::NoData)?;
        let is_over = order == Order::Leave;
        let told: Vec<u8> = done(task, order)?.into_iter().flat_map(u64::to_le_bytes).collect();
        say(task, master, DONE, &told)?;
        if is_over {
            return Ok(());
        }
    }
}

fn done(task: &Task, order: Order) -> Result<Vec<u64>, Code> {
    match order {
        Order::Echo { with, bytes, encoding, tries, within } => {
            let mut data = Data::new(bytes, encoding);
            let times = echo(task, with, &mut data, (tries, Duration::from_nanos(within)))?;
            send_empty(task, with, OVER)?;
            Ok(times)
        }
        Order::Answer { to, encoding } => answer(task, to, encoding).map(|()| Vec::new()),
        Order::Stream { to, bytes, count } => {
            let data = Data::new(bytes, Encoding::Raw);
            let times = timed(count, || data.send(task, to, FORTH));
            send_empty(task, to, OVER)?;
            times
        }
        Order::Drain { from, count } => drain(task, from, count),
        Order::Collect { from, count } => {
            // The last word comes behind all messages: they are here then.
            take(task, from, OVER)?;
            let mut data = Data::new(0, Encoding::Raw);
            timed(count, || data.take(task, from, FORTH))
        }
        Order::Exchange { with, bytes, rounds } => {
            let mut data = Data::new(bytes, Encoding::Raw);
            timed(rounds, || {
                with.iter().try_for_each(|to| data.send(task, *to, FORTH))?;
                with.iter().try_for_each(|from| data.take(task, *from, FORTH))
            })
        }
        Order::Work => Ok(work::work()),
        Order::Leave => Ok(Vec::new()),
    }
}

fn echo(
    task: &Task,
    with: Tid,
    data: &mut Data,
    (tries, within): (u64, Duration),
) -> Result<Vec<u64>, Code> {
    let (begin, mut times) = (Instant::now(), Vec::new());
    while (times.len() as u64) < tries && (times.is_empty() || begin.elapsed() < within) {
        let sent = Instant::now();
        data.send(task, with, FORTH)?;
        data.take(task, with, BACK)?;
        times.push(nanoseconds(sent.elapsed()) / 2);
    }
    Ok(times)
}

fn answer(task: &Task, to: Tid, encoding: Encoding) -> Result<(), Code> {
    let mut data = Data::new(0, encoding);
    let pattern = Pattern { context: MEASURED, source: Some(to), tag: None };
    loop {
        let message = task.receive_blocking(&pattern, Deadline::after(PATIENCE))?;
        let message = message.ok_or(Code::NoData)?;
        if message.envelope().tag == OVER {
            return Ok(());
        }
        data.read(message)?;
        data.send(task, to, BACK)?;
    }
}

fn drain(task: &Task, from: Tid, count: u64) -> Result<Vec<u64>, Code> {
    let mut data = Data::new(0, Encoding::Raw);
    data.take(task, from, FORTH)?;
    let first = Instant::now();
    for _ in 1..count {
        data.take(task, from, FORTH)?;
    }
    let time = nanoseconds(first.elapsed());
    take(task, from, OVER)?;
    Ok(vec![time])
}

/// The time of each of some calls.
fn timed(count: u64, mut call: impl FnMut() -> Result<(), Code>) -> Result<Vec<u64>, Code> {
    (0..count)
        .map(|_| {
            let begin = Instant::now();
            call().map(|()| nanoseconds(begin.elapsed()))
        })
        .collect()
}

fn send_empty(task: &Task, to: Tid, tag: i32) -> Result<(), Code> {
    let address = Address { to, tag: Tag(tag), context: Context(MEASURED) };
    task.send(&mut Buffer::new(Encoding::Raw), address)
}

fn take(task: &Task, from: Tid, tag: i32) -> Result<Buffer, Code> {
    let pattern = Pattern { context: MEASURED, source: Some(from), tag: Some(tag) };
    let message = task.receive_blocking(&pattern, Deadline::after(PATIENCE))?;
    message.ok_or(Code::NoData)
}

/// The data of messages. A program packs it before each send and unpacks it behind each receive.
struct Data {
    bytes: Vec<u8>,
    encoding: Encoding,
}

impl Data {
    fn new(bytes: u64, encoding: Encoding) -> Self {
        Self { bytes: vec![0; usize::try_from(bytes).unwrap_or(0)], encoding }
    }

    /// Integers, where they fill it.
    const fn kind(&self) -> Kind {
        if self.bytes.len().is_multiple_of(4) { Kind::Int } else { Kind::Byte }
    }

    fn send(&self, task: &Task, to: Tid, tag: i32) -> Result<(), Code> {
        let mut buffer = Buffer::new(self.encoding);
        buffer.pack(self.kind(), &self.bytes)?;
        task.send(&mut buffer, Address { to, tag: Tag(tag), context: Context(MEASURED) })
    }

    fn take(&mut self, task: &Task, from: Tid, tag: i32) -> Result<(), Code> {
        self.read(take(task, from, tag)?)
    }

    fn read(&mut self, mut message: Buffer) -> Result<(), Code> {
        self.bytes.resize(message.data_size(), 0);
        message.unpack(self.kind(), &mut self.bytes)
    }
}
