//! Making spaces: new ones, and durable ones from their files.

use super::disk::{self, Lock, SavedSpace};
use super::{New, Server, since_1970, unless_ended};
use crate::registry;
use pvm_tuples::Reason;
use pvm_tuples::frames::{Entry, Told};
use pvm_tuples::partition::{Partition, Title, directory_of};
use pvm_wire::{Blob, Code, Tid};

impl Server {
    pub(super) fn create(&mut self, new: New) -> Result<(), Code> {
        let (client, number) = (new.client, new.number);
        let refused = |reason, text: String| {
            let text = Blob::from(text);
            Told::Refused { number, reason, text }
        };
        let found = self.let_go(&new)?.and_then(|()| self.found(&new));
        let told = match found {
            Err(error) => refused(Reason::Disk, format!(": {error}")),
            Ok((lock, found)) => match self.new_entry(&new, found.as_ref()) {
                Ok(Some((epoch, entry))) => {
                    return self.begin(new, (lock, found), epoch, entry);
                }
                Ok(None) => refused(Reason::Exists, String::new()),
                Err(Code::SysErr) => return Err(Code::SysErr),
                Err(_) => refused(Reason::Machine, String::new()),
            },
        };
        self.answer(client, number, &told)
    }

    /// Drops an earlier space of this name whose entry is gone, but whose file is in the directory
    /// of the new space. The new space begins with the tuples of that file. If another process has
    /// removed the file, it is written anew before the server forgets its tuples.
    fn let_go(&mut self, new: &New) -> Result<std::io::Result<()>, Code> {
        let is_it = |(space, partition): (&u64, &Partition)| {
            let has_file = self.disks.contains_key(space);
            let is_there = *directory_of(partition) == new.directory;
            (has_file && is_there && *partition.name() == new.name).then_some(*space)
        };
        let Some(space) = self.partitions.iter().find_map(is_it) else { return Ok(Ok(())) };
        match registry::latest(self.task, &new.name) {
            Ok(Some((_, entry))) if self.is_held(&entry)? => {}
            Ok(_) => {
                self.persist()?;
                let is_lost = self.disks.get(&space).is_some_and(|disk| !disk.is_in_its_place());
                if is_lost && let Err(error) = self.begin_file(space) {
                    return Ok(Err(error));
                }
                self.close(space, false, false, None)?;
            }
            Err(Code::SysErr) => return Err(Code::SysErr),
            // The machine will refuse the new entry as well.
            Err(_) => {}
        }
        Ok(Ok(()))
    }

    /// The data on disk with which a new space begins.
    fn found(&self, new: &New) -> std::io::Result<(Option<Lock>, Option<SavedSpace>)> {
        let is_kept_here = self.partitions.values().any(|one| *one.name() == new.name);
        if new.directory.0.is_empty() || is_kept_here {
            return Ok((None, None));
        }
        let lock = Lock::take(&new.directory, &new.name)?;
        let found = disk::find(&lock)?;
        Ok((Some(lock), found))
    }

    /// Begins to serve a space whose entry has been put.
    fn begin(
        &mut self,
        new: New,
        (lock, found): (Option<Lock>, Option<SavedSpace>),
        epoch: i32,
        entry: Entry,
    ) -> Result<(), Code> {
        let New { client, number, name, options, .. } = new;
        let (space, me, now) = (entry.space, self.task.tid(), self.now());
        let title = Title { name: name.clone(), epoch, entry };
        let (files, held) = match found {
            Some(SavedSpace { replay, note, files }) => {
                (files, Some((replay.into_store(options), Blob::from(note))))
            }
            None => (Vec::new(), None),
        };
        let partition = Partition::create(me, title, Some((client, number)), held, now);
        let record = lock.is_some().then(|| partition.checkpoint());
        self.partitions.insert(space, partition);
        let begun = match (&lock, &record) {
            (Some(lock), Some(record)) => self.begin_file_with(lock, space, record),
            _ => Ok(()),
        };
        if let Err(error) = begun {
            self.partitions.remove(&space);
            unless_ended(registry::forget(self.task, &name, epoch.checked_add(1)))?;
            let (reason, text) = (Reason::Disk, Blob::from(format!(": {error}")));
            return self.answer(client, number, &Told::Refused { number, reason, text });
        }
        if let (Some(lock), Some(disk)) = (&lock, self.disks.get(&space)) {
            disk::forget(lock, &files, disk);
        }
        drop(lock);
        self.tell_draining(space)
    }

    /// Puts the entry of a new space; none if a space of this name exists.
    fn new_entry(
        &self,
        new: &New,
        found: Option<&SavedSpace>,
    ) -> Result<Option<(i32, Entry)>, Code> {
        let name = &new.name;
        if name.0.is_empty() || name.0.len() > registry::NAME_BYTES_MAX {
            return Err(Code::BadParam);
        }
        let before = registry::latest(self.task, name)?;
        if let Some((_, entry)) = &before
            && self.is_held(entry)?
        {
            return Ok(None);
        }
        let epoch = match before {
            Some((epoch, _)) => epoch.checked_add(1).ok_or(Code::OutOfRes)?,
            None => 0,
        };
        let me = self.task.tid();
        let entry = Entry {
            space: since_1970() << 8 | u64::from(me.host().0 & 0xff),
            primary: me,
            copies: Vec::new(),
            options: new.options,
            owner: if new.owned { new.client } else { Tid::NONE },
            deleted: false,
            directory: new.directory.clone(),
            generation: found.map_or(0, |found| found.replay.entry.generation + 1),
        };
        let put = registry::put(self.task, name, epoch, &entry)?;
        Ok(put.map(|epoch| (epoch, entry)))
    }

    /// True if a server keeps the space, or can take it over.
    fn is_held(&self, entry: &Entry) -> Result<bool, Code> {
        let has_failed = entry.primary == self.task.tid() && self.abandoned.has(entry.space);
        if entry.deleted || has_failed {
            return Ok(false);
        }
        for server in [entry.primary].iter().chain(&entry.copies) {
            if registry::is_alive(self.task, *server)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
