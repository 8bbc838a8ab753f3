//! The servers of each space, in the machine's named messages.
//!
//! The name of a space has an entry for each epoch. An entry is put at exactly its index, and the
//! machine refuses a second one. So each epoch has one entry, and all hosts agree on it. Entries
//! outlive the servers that put them; a server that puts a later entry deletes the earlier ones.
//! Each server also has an entry of its own, which ends with the server.

use crate::Error;
use pvm::Task;
use pvm_tuples::frames::Entry;
use pvm_wire::request::{Reply, Request, inserted_tag};
use pvm_wire::{
    Address, Blob, Code, Context, Encoding, Envelope, HostIndex, Message, RunList, Tag, Tid, Wire,
};

/// The prefix of a space's name.
const SPACE: &str = "neopvm.space:";
/// The name under which each server has an entry, at the number of its host.
const SERVERS: &str = "neopvm.tuple-servers";
const PERSISTENT: i32 = 1;
const OVERWRITABLE: i32 = 4;
const FIRST_AVAILABLE: i32 = 8;
/// The most bytes of a space's name.
pub const NAME_BYTES_MAX: usize = 128;

/// The space whose entries have this name; none for another name.
pub fn space_of(name: &str) -> Option<&str> {
    name.strip_prefix(SPACE)
}

fn entry_name(space: &Blob) -> Blob {
    Blob([SPACE.as_bytes(), &space.0].concat())
}

fn message(task: &Task, body: Vec<u8>, index: i32) -> Message {
    let mut envelope = Envelope::new(
        task.tid(),
        Address::new(task.tid(), Tag(inserted_tag(index)), Context::FIRST),
    );
    envelope.describe(Encoding::Raw, body.len(), &RunList::new());
    Message { envelope, body: Blob(body) }
}

/// Puts a message at exactly this index; false if that index has one.
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

/// The first message under a space's name from this index on, with its index.
fn from(task: &Task, space: &Blob, index: i32) -> Result<Option<(i32, Message)>, Code> {
    read(task, entry_name(space), index, FIRST_AVAILABLE)
}

/// Decodes the entry in a message. None if another program has put something else under the name:
/// an entry names tasks, and its sender must be the primary. The daemons guarantee the sender of a
/// message.
fn entry_of(message: &Message) -> Option<Entry> {
    let entry = Entry::from_bytes(&message.body.0).ok()?;
    let names_tasks = entry.copies.iter().chain([&entry.primary]).all(|tid| tid.is_task());
    (names_tasks && message.envelope.src == entry.primary).then_some(entry)
}

/// The last entry of a space and its epoch.
///
/// # Errors
/// The machine's error.
pub fn latest(task: &Task, space: &Blob) -> Result<Option<(i32, Entry)>, Code> {
    let (mut next, mut last) = (Some(0), None);
    while let Some(index) = next
        && let Some((epoch, message)) = from(task, space, index)?
    {
        last = entry_of(&message).map(|entry| (epoch, entry)).or(last);
        next = epoch.checked_add(1);
    }
    Ok(last)
}

/// Puts an entry for an epoch, or for the first later epoch whose place is free of foreign
/// messages. Returns the epoch, or none if there is another entry from that epoch on.
pub(crate) fn put(
    task: &Task,
    space: &Blob,
    epoch: i32,
    entry: &Entry,
) -> Result<Option<i32>, Code> {
    let (flags, mut place) = (PERSISTENT | OVERWRITABLE, epoch);
    while !insert(task, entry_name(space), place, flags, entry.to_bytes())? {
        let there = read(task, entry_name(space), place, 0)?;
        if there.is_some_and(|(_, message)| entry_of(&message).is_some()) {
            return Ok(None);
        }
        place = place.checked_add(1).ok_or(Code::OutOfRes)?;
    }
    if !is_alone(task, space, epoch, place)? {
        // Two servers have passed over this index, and the other one has put its entry here.
        delete(task, entry_name(space), place)?;
        return Ok(None);
    }
    Ok(Some(place))
}

/// True if there is no entry from epoch `first` on but the one of epoch `own`.
fn is_alone(task: &Task, space: &Blob, first: i32, own: i32) -> Result<bool, Code> {
    let mut next = Some(first);
    while let Some(index) = next
        && let Some((index, message)) = from(task, space, index)?
    {
        if index != own && entry_of(&message).is_some() {
            return Ok(false);
        }
        next = index.checked_add(1);
    }
    Ok(true)
}

/// Deletes a message, if there is one. A message that another task guards stays.
fn delete(task: &Task, name: Blob, index: i32) -> Result<(), Code> {
    match task.request(&Request::DelInfo { name, index, flags: 0 }) {
        Ok(_) | Err(Code::NotFound | Code::Denied) => Ok(()),
        Err(code) => Err(code),
    }
}

/// Deletes the messages under a space's name before an epoch; all of them if no epoch is given. A
/// message that another task guards stays.
pub(crate) fn forget(task: &Task, space: &Blob, before: Option<i32>) -> Result<(), Code> {
    let name = entry_name(space);
    let mut next = Some(0);
    while let Some(index) = next
        && let Some((index, _)) = from(task, space, index)?
        && before.is_none_or(|before| index < before)
    {
        delete(task, name.clone(), index)?;
        next = index.checked_add(1);
    }
    Ok(())
}

/// The names of all spaces.
///
/// # Errors
/// The machine's error.
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

/// Enters this task as the server of its host; false if the host has one. An entry whose server has
/// ended is replaced.
pub(crate) fn be_server(task: &Task) -> Result<bool, Code> {
    let index = i32::from(task.tid().host().0);
    let insert = || insert(task, SERVERS.into(), index, OVERWRITABLE, task.tid().to_bytes());
    if insert()? {
        return Ok(true);
    }
    if server_of(task, task.tid().host())?.is_some() {
        return Ok(false);
    }
    delete(task, SERVERS.into(), index)?;
    insert()
}

/// The server of a host, if it is alive.
pub(crate) fn server_of(task: &Task, host: HostIndex) -> Result<Option<Tid>, Code> {
    let found = read(task, SERVERS.into(), i32::from(host.0), 0)?;
    // An entry counts only if the server itself has put it.
    let server = found.and_then(|(_, message)| {
        let server = Tid::from_bytes(&message.body.0).ok()?;
        (server == message.envelope.src && server.host() == host).then_some(server)
    });
    match server {
        Some(server) if is_alive(task, server)? => Ok(Some(server)),
        _ => Ok(None),
    }
}

/// True if a task is alive.
///
/// # Errors
/// The machine's error.
pub fn is_alive(task: &Task, tid: Tid) -> Result<bool, Code> {
    match task.request(&Request::TaskStatus { tid }) {
        Ok(_) => Ok(true),
        // `BadParam`: another program has put a number that cannot be a task.
        Err(Code::NoTask | Code::HostFail | Code::NoHost | Code::BadParam) => Ok(false),
        Err(code) => Err(code),
    }
}

/// Forgets a space whose servers have died.
///
/// # Errors
/// [`Error::OnDisk`] for a durable space, [`Error::Machine`].
pub(crate) fn forget_lost(task: &Task, name: &Blob) -> Result<(), Error> {
    let entry = latest(task, name)?.map(|(_, entry)| entry);
    entry.as_ref().map_or(Ok(()), may_be_forgotten)?;
    Ok(forget(task, name, None)?)
}

/// An error for a durable space, because its files would bring the tuples back.
fn may_be_forgotten(entry: &Entry) -> Result<(), Error> {
    if entry.directory.0.is_empty() {
        return Ok(());
    }
    Err(Error::OnDisk(entry.directory.to_text()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_tuples::frames::{Full, Options};

    #[test]
    fn a_durable_space_whose_server_was_gone_was_deleted_and_came_back() {
        let mut entry = Entry {
            space: 7,
            primary: Tid(1 << 18 | 1),
            copies: Vec::new(),
            options: Options { copies: 0, limit_bytes: 1, when_full: Full::Wait, loss_ms: 0 },
            owner: Tid::NONE,
            deleted: false,
            directory: Blob::default(),
            generation: 0,
        };
        assert_eq!(may_be_forgotten(&entry), Ok(()));
        entry.directory = Blob::from("/d");
        assert_eq!(may_be_forgotten(&entry), Err(Error::OnDisk("/d".to_owned())));
    }
}
