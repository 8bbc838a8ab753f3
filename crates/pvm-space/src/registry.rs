//! Who keeps which space, in the machine's named messages.
//!
//! A space has a name there with an entry for each epoch. An entry is put at exactly its index, and
//! refused if there is one: so each epoch has one, which all hosts agree on. Entries outlive those
//! who put them; whoever has put a later one deletes the earlier ones. Each server has an entry of
//! its own, which ends with it.

use pvm::Task;
use pvm_tuples::frames::Entry;
use pvm_wire::request::{Reply, Request, inserted_tag};
use pvm_wire::{Blob, Code, Encoding, Envelope, HostIndex, Message, RunList, Tid, Wire};

/// In front of the name of a space.
const SPACE: &str = "neopvm.space:";
/// Each server, at the number of its host.
const SERVERS: &str = "neopvm.tuple-servers";
const PERSISTENT: i32 = 1;
const OVERWRITABLE: i32 = 4;
const FIRST_AVAILABLE: i32 = 8;
/// Bytes of a space's name.
pub const NAME_BYTES_MAX: usize = 128;

/// The space whose entries have this name.
pub fn space_of(name: &str) -> Option<&str> {
    name.strip_prefix(SPACE)
}

fn entry_name(space: &Blob) -> Blob {
    Blob([SPACE.as_bytes(), &space.0].concat())
}

fn message(task: &Task, body: Vec<u8>, index: i32) -> Message {
    let mut envelope = Envelope::new(task.tid(), task.tid(), inserted_tag(index), 0);
    envelope.describe(Encoding::Raw, body.len(), &RunList::new());
    Message { envelope, body: Blob(body) }
}

/// Puts a message at exactly this index; false if there is one.
fn insert(task: &Task, name: Blob, index: i32, flags: i32, body: Vec<u8>) -> Result<bool, Code> {
    let message = message(task, body, index);
    match task.request(&Request::PutInfo { name, flags, message }) {
        Ok(_) => Ok(true),
        Err(Code::Denied) => Ok(false),
        Err(code) => Err(code),
    }
}

fn read(task: &Task, name: Blob, index: i32, flags: i32) -> Result<Option<(i32, Message)>, Code> {
    match task.request(&Request::RecvInfo { name, index, flags, context: 0 }) {
        Ok(Reply::Info { message, index }) => Ok(Some((index, message))),
        Ok(_) => Err(Code::DSysErr),
        Err(Code::NotFound) => Ok(None),
        Err(code) => Err(code),
    }
}

/// The last entry of a space and its epoch.
///
/// # Errors
/// What the machine answers.
pub fn latest(task: &Task, space: &Blob) -> Result<Option<(i32, Entry)>, Code> {
    let (mut from, mut last) = (0, None);
    while let Some((epoch, message)) = read(task, entry_name(space), from, FIRST_AVAILABLE)? {
        // What somebody else has put under this name is no entry.
        if let Ok(entry) = Entry::from_bytes(&message.body.0) {
            last = Some((epoch, entry));
        }
        from = epoch.checked_add(1).ok_or(Code::Overflow)?;
    }
    Ok(last)
}

/// Puts the entry of an epoch; false if it has one.
pub(crate) fn put(task: &Task, space: &Blob, epoch: i32, entry: &Entry) -> Result<bool, Code> {
    let flags = PERSISTENT | OVERWRITABLE;
    insert(task, entry_name(space), epoch, flags, entry.to_bytes())
}

/// Deletes the entries before an epoch.
pub(crate) fn forget(task: &Task, space: &Blob, epoch: i32) -> Result<(), Code> {
    let name = entry_name(space);
    while let Some((index, _)) = read(task, name.clone(), 0, FIRST_AVAILABLE)?
        && index < epoch
    {
        match task.request(&Request::DelInfo { name: name.clone(), index, flags: 0 }) {
            Ok(_) | Err(Code::NotFound) => {}
            Err(code) => return Err(code),
        }
    }
    Ok(())
}

/// The names of all spaces.
///
/// # Errors
/// What the machine answers.
pub fn names(task: &Task) -> Result<Vec<Blob>, Code> {
    let pattern = Blob::from(SPACE);
    match task.request(&Request::MailboxInfo { pattern })? {
        Reply::Mailboxes { mailboxes } => {
            let names = mailboxes.into_iter().filter_map(|mailbox| {
                mailbox.name.0.strip_prefix(SPACE.as_bytes()).map(|name| Blob(name.to_vec()))
            });
            Ok(names.collect())
        }
        _ => Err(Code::DSysErr),
    }
}

/// Says that this task is the server of its host; false if there is one. An entry that has outlived
/// its server goes.
pub(crate) fn be_server(task: &Task) -> Result<bool, Code> {
    let index = i32::from(task.tid().host().0);
    let insert = || insert(task, SERVERS.into(), index, OVERWRITABLE, task.tid().to_bytes());
    if insert()? {
        return Ok(true);
    }
    if server_of(task, task.tid().host())?.is_some() {
        return Ok(false);
    }
    match task.request(&Request::DelInfo { name: SERVERS.into(), index, flags: 0 }) {
        Ok(_) | Err(Code::NotFound) => insert(),
        Err(code) => Err(code),
    }
}

/// The server of a host, if it lives.
pub(crate) fn server_of(task: &Task, host: HostIndex) -> Result<Option<Tid>, Code> {
    let found = read(task, SERVERS.into(), i32::from(host.0), 0)?;
    let server = found.and_then(|(_, message)| Tid::from_bytes(&message.body.0).ok());
    match server {
        Some(server) if is_alive(task, server)? => Ok(Some(server)),
        _ => Ok(None),
    }
}

/// True if a task runs.
pub(crate) fn is_alive(task: &Task, tid: Tid) -> Result<bool, Code> {
    match task.request(&Request::TaskStatus { tid }) {
        Ok(_) => Ok(true),
        Err(Code::NoTask | Code::HostFail | Code::NoHost) => Ok(false),
        Err(code) => Err(code),
    }
}
