//! Named messages (`pvm_putinfo`), the same on every host after the same commands.
//!
//! Asked of PVM 3.4.6: without `PvmMboxMultiInstance` an entry is put at exactly its direct
//! index (0 if none is given), over what the same owner or anybody with `PvmMboxOverWritable`
//! put there; with it, at the first free index from there on. Deleting, also by reading, needs
//! the same right. When an owner is gone its entries go, but persistent ones stay without owner.
//! An entry of `pvm_insert` comes to exactly its index, which its flags do not show.
//! Names are listed in the order in which they came to be; in a pattern `*` is any text, and the
//! pattern may fit any part of the name.

use crate::records::{Change, Slot, Table};
use pvm_wire::request::{MailboxEntry, MailboxInfo, inserted_at};
use pvm_wire::{Blob, Code, FRAME_BYTES_MAX, HostIndex, Message, Tid, Wire as _, record};

/// Names of entries that no program has asked for begin so.
const OWN: &[u8] = b"###_NEOPVM_";

const PERSISTENT: i32 = 1;
/// `PvmMboxMultiInstance`.
pub(crate) const MULTI_INSTANCE: i32 = 2;
const OVERWRITABLE: i32 = 4;
const FIRST_AVAILABLE: i32 = 8;
/// `PvmMboxReadAndDelete`.
pub(crate) const READ_AND_DELETE: i32 = 16;
/// `PvmMboxWaitForInfo`.
pub(crate) const WAIT_FOR_INFO: i32 = 32;
/// `PvmMboxDirectIndexShift`: above it lies the index that is asked for.
const DIRECT_INDEX_SHIFT: u32 = 10;
const DIRECT_INDEX_MASK: i32 = (1 << 21) - 1;
/// Entries in all; one more is refused with `PvmOutOfRes`.
const ENTRY_COUNT_MAX: usize = 1 << 16;
/// Bytes in all: a host that joins gets everything in one frame.
const BYTES_MAX: usize = FRAME_BYTES_MAX / 4;

record! {
    /// One named message.
    pub struct Entry {
        pub owner: Tid,
        pub flags: i32,
        pub message: Message,
    }
}

type Key = (Blob, i32);

/// All named messages.
#[derive(Debug)]
pub(crate) struct Registry {
    entries: Table<Key, Entry>,
    /// When each name came to be.
    names: Table<Blob, u64>,
    name_count: Slot<u64>,
    /// Bytes of all messages.
    size: usize,
}

impl Registry {
    pub(super) const fn new() -> Self {
        Self {
            entries: Table::new(b'm'),
            names: Table::new(b'n'),
            name_count: Slot::new(b'N', 0),
            size: 0,
        }
    }

    /// `pvm_putinfo`: the index that it was put at.
    pub(super) fn put(
        &mut self,
        name: &Blob,
        flags: i32,
        owner: Tid,
        mut message: Message,
    ) -> Result<i32, Code> {
        if name.0.is_empty() {
            return Err(Code::BadParam);
        }
        let inserted = inserted_at(message.envelope.tag);
        let mut index = inserted.unwrap_or(flags >> DIRECT_INDEX_SHIFT & DIRECT_INDEX_MASK);
        if inserted.is_some() && self.entries.contains(&(name.clone(), index)) {
            return Err(Code::Denied);
        }
        if flags & MULTI_INSTANCE != 0 {
            while self.entries.contains(&(name.clone(), index)) {
                index += 1;
            }
        }
        let key = (name.clone(), index);
        match self.entries.get(&key) {
            Some(entry) if !entry.may_go(owner) => return Err(Code::Denied),
            None if self.entries.len() >= ENTRY_COUNT_MAX => return Err(Code::OutOfRes),
            _ if self.size + message.body.0.len() > BYTES_MAX => return Err(Code::OutOfRes),
            _ => {}
        }
        message.envelope.src = owner;
        message.envelope.tag = 0;
        message.envelope.context = 0;
        self.insert(key, Entry { owner, flags, message });
        if !self.names.contains(name) {
            let number = self.name_count.next();
            self.names.insert(name.clone(), number);
        }
        Ok(index)
    }

    /// Returns the index at which the table shows that this message was put: the owner's message
    /// with these bytes stands at its one index. An earlier, equal message makes no difference.
    /// Returns `None` for an entry with several instances, for which the table cannot tell.
    pub(crate) fn shows_put(
        &self,
        name: &Blob,
        flags: i32,
        owner: Tid,
        message: &Message,
    ) -> Option<i32> {
        let index = inserted_at(message.envelope.tag)
            .unwrap_or(flags >> DIRECT_INDEX_SHIFT & DIRECT_INDEX_MASK);
        let entry = self.entries.get(&(name.clone(), index))?;
        let same =
            entry.owner == owner && entry.flags == flags && entry.message.body == message.body;
        (flags & MULTI_INSTANCE == 0 && same).then_some(index)
    }

    fn insert(&mut self, key: Key, entry: Entry) {
        self.size += entry.message.body.0.len();
        if let Some(before) = self.entries.insert(key, entry) {
            self.size = self.size.saturating_sub(before.message.body.0.len());
        }
    }

    /// The message of a record that was taken back counts.
    fn count_in(&mut self, key: &[u8]) -> bool {
        let key = key.get(1..).map(Key::from_bytes);
        if let Some(entry) = key.and_then(Result::ok).and_then(|key| self.entries.get(&key)) {
            self.size += entry.message.body.0.len();
        }
        true
    }

    fn find(&self, name: &Blob, index: i32, flags: i32) -> Result<(Key, &Entry), Code> {
        if index < 0 || name.0.is_empty() {
            return Err(Code::BadParam);
        }
        let last = if flags & FIRST_AVAILABLE != 0 { i32::MAX } else { index };
        let mut fitting = self.entries.range((name.clone(), index)..=(name.clone(), last));
        let (key, entry) = fitting.next().ok_or(Code::NotFound)?;
        Ok((key.clone(), entry))
    }

    /// `pvm_recvinfo`: the message and its index.
    pub(crate) fn read(&self, name: &Blob, index: i32, flags: i32) -> Result<(i32, Message), Code> {
        let (key, entry) = self.find(name, index, flags)?;
        Ok((key.1, entry.message.clone()))
    }

    /// Deletes, for `asker`, what is found; returns it.
    pub(super) fn take(
        &mut self,
        name: &Blob,
        index: i32,
        flags: i32,
        asker: Tid,
    ) -> Result<(i32, Message), Code> {
        let (key, entry) = self.find(name, index, flags)?;
        if !entry.may_go(asker) {
            return Err(Code::Denied);
        }
        let entry = self.remove(&key).ok_or(Code::NotFound)?;
        Ok((key.1, entry.message))
    }

    fn remove(&mut self, key: &Key) -> Option<Entry> {
        let entry = self.entries.remove(key)?;
        self.size = self.size.saturating_sub(entry.message.body.0.len());
        let name = &key.0;
        let mut others = self.entries.range((name.clone(), 0)..=(name.clone(), i32::MAX));
        if others.next().is_none() {
            self.names.remove(name);
        }
        Some(entry)
    }

    /// True if `owner` has put something under `name`.
    pub(crate) fn has(&self, name: &Blob, owner: Tid) -> bool {
        let mut entries = self.entries.range((name.clone(), 0)..=(name.clone(), i32::MAX));
        entries.any(|(_, entry)| entry.owner == owner)
    }

    /// The tasks that have put a message under `name`, by index.
    pub(crate) fn owners(&self, name: &Blob) -> Vec<Tid> {
        let entries = self.entries.range((name.clone(), 0)..=(name.clone(), i32::MAX));
        entries.map(|(_, entry)| entry.owner).collect()
    }

    /// The first message under a name, if any.
    pub(crate) fn first(&self, name: &Blob) -> Option<&Message> {
        let mut entries = self.entries.range((name.clone(), 0)..=(name.clone(), i32::MAX));
        entries.next().map(|(_, entry)| &entry.message)
    }

    /// Deletes what `owner` has put under `name`.
    pub(super) fn withdraw(&mut self, name: &Blob, owner: Tid) {
        for key in self.entries.keys_where(|key, entry| key.0 == *name && entry.owner == owner) {
            self.remove(&key);
        }
    }

    /// Deletes what has no owner any more.
    pub(super) fn clear(&mut self) {
        for key in self.entries.keys_where(|_, entry| entry.owner == Tid::NONE) {
            self.remove(&key);
        }
    }

    /// True where a task owns any.
    pub(crate) fn is_owner(&self, tid: Tid) -> bool {
        self.entries.values().any(|entry| entry.owner == tid)
    }

    /// An owner is gone.
    pub(super) fn task_gone(&mut self, tid: Tid) {
        self.owners_gone(|owner| owner == tid);
    }

    /// All owners on a host are gone.
    pub(super) fn host_gone(&mut self, host: HostIndex) {
        self.owners_gone(|owner| owner.is_task() && owner.host() == host);
    }

    fn owners_gone(&mut self, is_gone: impl Fn(Tid) -> bool) {
        for key in self.entries.keys_where(|_, entry| is_gone(entry.owner)) {
            match self.entries.get_mut(&key) {
                Some(entry) if entry.flags & PERSISTENT != 0 => entry.owner = Tid::NONE,
                _ => drop(self.remove(&key)),
            }
        }
    }

    /// `pvm_getmboxinfo`.
    pub(crate) fn list(&self, pattern: &Blob) -> Vec<MailboxInfo> {
        // The machine's own entries are shown only if the pattern is their name.
        let is_shown = |name: &Blob| name == pattern || !name.0.starts_with(OWN);
        let fitting = |name: &Blob| is_shown(name) && fits(&pattern.0, &name.0);
        let mut names: Vec<_> = self.names.iter().filter(|(name, _)| fitting(name)).collect();
        names.sort_by_key(|(_, number)| **number);
        let entries_of = |name: &Blob| {
            let entries = self.entries.range((name.clone(), 0)..=(name.clone(), i32::MAX));
            entries
                .map(|((_, index), entry)| MailboxEntry {
                    index: *index,
                    owner: entry.owner,
                    flags: entry.flags,
                })
                .collect()
        };
        names
            .into_iter()
            .map(|(name, _)| MailboxInfo { name: name.clone(), entries: entries_of(name) })
            .collect()
    }

    /// Nothing is known of any message.
    pub(super) fn clear_all(&mut self) {
        self.entries.clear();
        self.names.clear();
        self.size = 0;
    }

    pub(super) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.entries.take_changes(out);
        self.names.take_changes(out);
        self.name_count.take_changes(out);
    }

    pub(super) fn records(&self, out: &mut Vec<(Blob, Blob)>) {
        self.entries.records(out);
        self.names.records(out);
        self.name_count.records(out);
    }

    pub(super) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.entries.restore(key, value) && self.count_in(key)
            || self.names.restore(key, value)
            || self.name_count.restore(key, value)
    }

    pub(super) fn adopt(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.entries.adopt(key, value) && self.count_in(key)
            || self.names.adopt(key, value)
            || self.name_count.adopt(key, value)
    }
}

impl Entry {
    /// True where `asker` may delete or overwrite it.
    fn may_go(&self, asker: Tid) -> bool {
        (self.owner == asker && asker != Tid::NONE) || self.flags & OVERWRITABLE != 0
    }
}

/// True where the parts of `pattern` between stars lie in `name` in this order.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let mut rest = name;
    pattern.split(|&byte| byte == b'*').filter(|part| !part.is_empty()).all(|part| {
        let found = rest.windows(part.len()).position(|window| window == part);
        if let Some(at) = found {
            rest = &rest[at + part.len()..];
        }
        found.is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::request::inserted_tag;
    use pvm_wire::{Address, Context, Envelope, Tag};

    const ME: Tid = Tid(0x4000a);
    const OTHER: Tid = Tid(0x4000b);

    fn put(registry: &mut Registry, name: &str, flags: i32, owner: Tid) -> i32 {
        let message = Message::of_ints(
            Envelope::new(owner, Address::new(owner, Tag(9), Context(9))),
            &[flags],
        );
        registry.put(&name.into(), flags, owner, message).unwrap_or_else(Code::number)
    }

    fn insert(registry: &mut Registry, name: &str, index: i32) -> i32 {
        let envelope =
            Envelope::new(ME, Address::new(ME, Tag(inserted_tag(index)), Context::FIRST));
        let message = Message::of_ints(envelope, &[index]);
        let flags = PERSISTENT | MULTI_INSTANCE;
        registry.put(&name.into(), flags, ME, message).unwrap_or_else(Code::number)
    }

    #[test]
    fn an_inserted_entry_is_at_its_index_or_refused_and_its_flags_do_not_show_it() {
        let registry = &mut Registry::new();
        for (index, answer) in [(3, 3), (0, 0), (3, -8), (1 << 21, 1 << 21), (i32::MAX, i32::MAX)] {
            assert_eq!(insert(registry, "i", index), answer, "{index}");
        }
        assert_eq!(put(registry, "i", PERSISTENT | MULTI_INSTANCE, OTHER), 1);
        let listed = registry.list(&"i".into());
        let flags = listed[0].entries.iter().map(|entry| (entry.index, entry.flags));
        let expected = [0, 1, 3, 1 << 21, i32::MAX].map(|index| (index, 3));
        assert_eq!(flags.collect::<Vec<_>>(), expected);
        assert_eq!(registry.first(&"i".into()).map(|message| message.envelope.tag), Some(0));
    }

    /// The room that is left does not shrink: what was deleted, put over or taken back counts as it
    /// should.
    #[test]
    fn the_sum_of_all_messages_is_that_of_those_that_are_there() {
        let sum = |registry: &Registry| -> usize {
            registry.entries.values().map(|entry| entry.message.body.0.len()).sum()
        };
        let mut registry = Registry::new();
        for (name, flags) in [("a", 0), ("b", 2), ("b", 2), ("a", 0), ("c", PERSISTENT)] {
            put(&mut registry, name, flags, ME);
        }
        assert!(registry.size > 0 && registry.size == sum(&registry));
        assert!(registry.take(&"b".into(), 0, 0, ME).is_ok());
        assert_eq!(registry.size, sum(&registry));
        let (mut records, mut other) = (Vec::new(), Registry::new());
        registry.records(&mut records);
        for (key, value) in &records {
            assert!(other.restore(&key.0, &value.0));
        }
        assert_eq!(other.size, registry.size);
        registry.task_gone(ME);
        assert_eq!(registry.size, sum(&registry));
    }

    /// These calls were made of PVM 3.4.6, too; these were its answers.
    #[test]
    fn putting_answers_as_pvm_does() {
        let registry = &mut Registry::new();
        let direct = |index: i32| index << DIRECT_INDEX_SHIFT;
        let calls = [("a", 0, 0), ("a", 0, 0), ("a", 2, 1), ("a", 2, 2), ("a", 0, 0), ("o", 4, 0)];
        for (name, flags, answer) in calls {
            assert_eq!(put(registry, name, flags, ME), answer, "{name} {flags}");
        }
        let calls = [(direct(5), 5), (direct(5), 5), (direct(5) | 2, 6), (2, 0), (-1, 2_097_151)];
        for (flags, answer) in calls {
            assert_eq!(put(registry, "d", flags, ME), answer, "d {flags}");
        }
        let calls = [("a", 0, -8), ("a", 2, 3), ("a", 4, -8), ("o", 0, 0), ("", 0, -2)];
        for (name, flags, answer) in calls {
            assert_eq!(put(registry, name, flags, OTHER), answer, "{name} {flags}");
        }
    }

    #[test]
    fn reading_and_deleting_obey_index_and_owner() {
        let registry = &mut Registry::new();
        let name = &"m".into();
        assert_eq!((put(registry, "m", 2, ME), put(registry, "m", 2, ME)), (0, 1));
        assert_eq!(registry.take(name, 0, 0, OTHER), Err(Code::Denied));
        assert_eq!(registry.take(name, 0, 0, ME).map(|found| found.0), Ok(0));
        assert_eq!(registry.read(name, 0, 0), Err(Code::NotFound));
        let (index, message) = registry.read(name, 0, FIRST_AVAILABLE).expect("1 is left");
        assert_eq!((index, message.envelope.src, message.envelope.tag), (1, ME, 0));
        assert_eq!(registry.read(name, -1, FIRST_AVAILABLE), Err(Code::BadParam));
    }

    #[test]
    fn persistent_entries_stay_without_owner() {
        let registry = &mut Registry::new();
        for (name, flags) in [("x1", 0), ("x2", 1), ("x5", 5)] {
            put(registry, name, flags, OTHER);
        }
        registry.task_gone(OTHER);
        assert_eq!(registry.list(&"x".into()).len(), 2);
        assert_eq!((put(registry, "x2", 0, ME), put(registry, "x5", 0, ME)), (-8, 0));
        registry.clear();
        assert_eq!(registry.list(&"*".into()).len(), 1);
    }

    #[test]
    fn what_would_not_fit_a_snapshot_is_refused() {
        let registry = &mut Registry::new();
        let mut message = Message::of_ints(Envelope::new(ME, Address::untagged(ME)), &[]);
        message.body = Blob(vec![0; BYTES_MAX / 2 + 1]);
        assert_eq!(registry.put(&"a".into(), 0, ME, message.clone()), Ok(0));
        assert_eq!(registry.put(&"b".into(), 0, ME, message), Err(Code::OutOfRes));
    }

    #[test]
    fn patterns_fit_any_part_of_a_name() {
        for pattern in ["abc", "bc", "b*", "*b", "a*c", "x*x", "*", ""] {
            assert!(fits(pattern.as_bytes(), b"xabcx"), "{pattern}");
        }
        for pattern in ["?", "a.c", "^x", "x*x*x", "cb"] {
            assert!(!fits(pattern.as_bytes(), b"xabcx"), "{pattern}");
        }
    }
}
