//! Frames in messages of raw bytes.

use pvm::{Buffer, Task};
use pvm_tuples::frames::{CONTEXT, GONE, JOINED};
use pvm_wire::request::Request;
use pvm_wire::{Code, Encoding, Kind, Tid, Wire};

/// Sends a frame.
pub(crate) fn send(task: &Task, to: Tid, tag: i32, frame: &impl Wire) -> Result<(), Code> {
    let mut buffer = Buffer::new(Encoding::Raw);
    buffer.pack(Kind::Byte, &frame.to_bytes())?;
    task.send(&mut buffer, to, tag, CONTEXT)
}

/// The frame that a message is; none if it is no such frame.
pub(crate) fn read<T: Wire>(message: &mut Buffer) -> Option<T> {
    let mut bytes = vec![0; message.data_size()];
    message.unpack(Kind::Byte, &mut bytes).ok()?;
    T::from_bytes(&bytes).ok()
}

/// The task or host that a notice is about.
pub(crate) fn noticed(message: &mut Buffer) -> Option<Tid> {
    let mut number = [0; 4];
    message.unpack(Kind::Int, &mut number).ok()?;
    Some(Tid::from_c_int(i32::from_ne_bytes(number)))
}

/// `PvmTaskExit` and `PvmHostAdd`.
const TASK_EXIT: i32 = 1;
const HOST_ADD: i32 = 3;

/// Asks for a notice when a task has ended.
pub(crate) fn watch(task: &Task, of: Tid) -> Result<(), Code> {
    notify(task, TASK_EXIT, GONE, vec![of])
}

/// Asks for a notice of each host that joins.
pub(crate) fn watch_hosts(task: &Task) -> Result<(), Code> {
    notify(task, HOST_ADD, JOINED, Vec::new())
}

fn notify(task: &Task, kind: i32, tag: i32, tids: Vec<Tid>) -> Result<(), Code> {
    let (cancel, context, count) = (false, CONTEXT, -1);
    task.request(&Request::Notify { kind, cancel, context, tag, count, tids }).map(drop)
}
