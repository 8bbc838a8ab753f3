//! Messages between a rehearsal or a calibration and its parts.

use pvm::{Buffer, Deadline, Pattern, Task};
use pvm_wire::{Address, Code, Context, Encoding, Kind, Tag, Tid};
use std::time::Duration;

/// Tags of it. The parts' own messages have contexts of their own.
pub(super) const SCRIPT: i32 = 1;
pub(super) const TASKS: i32 = 2;
pub(super) const READY: i32 = 3;
pub(super) const GO: i32 = 4;
pub(super) const DONE: i32 = 5;
/// Its context.
pub(super) const STAGE: i32 = 0x7265_6865;
/// The time within which the process that starts parts must send something.
const PATIENCE: Duration = Duration::from_secs(60);

/// Packs bytes and sends them.
pub(super) fn say(task: &Task, to: Tid, tag: i32, bytes: &[u8]) -> Result<(), Code> {
    let mut buffer = Buffer::new(Encoding::Raw);
    buffer.pack(Kind::Byte, bytes)?;
    task.send(&mut buffer, Address { to, tag: Tag(tag), context: Context(STAGE) })
}

/// The bytes of a message.
pub(super) fn bytes(mut buffer: Buffer) -> Result<Vec<u8>, Code> {
    let mut bytes = vec![0; buffer.sent_size()];
    buffer.unpack(Kind::Byte, &mut bytes)?;
    Ok(bytes)
}

/// The next message of the master.
pub(super) fn heard(task: &Task, master: Tid, tag: i32) -> Result<Vec<u8>, Code> {
    let pattern = Pattern { context: STAGE, source: Some(master), tag: Some(tag) };
    let message = task.receive_blocking(&pattern, Deadline::after(PATIENCE))?;
    bytes(message.ok_or(Code::NoData)?)
}

pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
