//! The files of durable spaces: room for requests, syncs, and new files in place of old ones.

use super::Server;
use super::disk::{Disk, Lock, Synced};
use pvm_tuples::frames::{Ask, Told};
use pvm_tuples::log::Record;
use pvm_tuples::partition::{Event, has_room_for, is_no_step};
use pvm_tuples::{Op, Outcome, Reason, has_unread_tuples};
use pvm_wire::{Code, Tid, Wire as _};

impl Server {
    /// Removes the file of a deleted space, then answers the clients that have deleted it.
    pub(super) fn erase(
        &mut self,
        space: u64,
        deleters: &[(Tid, u64)],
        is_partial: bool,
    ) -> Result<(), Code> {
        let outcome = match self.disks.remove(&space).map_or(Ok(()), Disk::remove) {
            Ok(()) if !is_partial => Outcome::Done,
            Ok(()) | Err(_) => Outcome::Failed { reason: Reason::Disk },
        };
        for (client, number) in deleters {
            let (number, outcome) = (*number, outcome.clone());
            self.answer(*client, number, &Told::Answer { number, outcome })?;
        }
        Ok(())
    }

    /// True if there is room for a request, or if it needs none: on the disk for a durable space,
    /// and in memory or in files for one that spills.
    pub(super) fn has_room(&mut self, space: u64, client: Tid, ask: &Ask) -> Result<bool, Code> {
        if matches!(ask, Ask::Settle { .. }) {
            let Some(disk) = self.disks.get_mut(&space) else { return Ok(true) };
            let bytes = ask.to_bytes().len();
            return Ok(!disk.is_nameless() && disk.reserve(bytes, true).is_ok());
        }
        let Ask::Do { number, op, .. } = ask else { return Ok(true) };
        let Some(partition) = self.partitions.get_mut(&space) else { return Ok(true) };
        if !has_room_for(partition, (client, *number), op) {
            return Ok(false);
        }
        let Some(disk) = self.disks.get_mut(&space) else { return Ok(true) };
        if is_no_step(partition, (client, *number), op) {
            return Ok(true);
        }
        if disk.is_nameless() {
            return Ok(false);
        }
        let puts = match op {
            Op::Put { .. } | Op::Done { .. } => true,
            Op::DoneAll { tuples } => !tuples.is_empty(),
            _ => false,
        };
        let bytes = op.to_bytes().len();
        if disk.reserve(bytes, puts).is_ok() {
            return Ok(true);
        }
        let held = partition.store().bytes();
        if disk.may_shrink(held) {
            self.shrink(space)?;
        }
        Ok(self.disks.get_mut(&space).is_some_and(|disk| disk.reserve(bytes, puts).is_ok()))
    }

    /// Tries to begin the file anew on a full disk, because the new file may be shorter.
    fn shrink(&mut self, space: u64) -> Result<(), Code> {
        if self.begin_file(space).is_err() {
            if let Some(disk) = self.disks.get_mut(&space) {
                disk.give_room();
            }
            if self.begin_file(space).is_err() {
                match self.disks.get_mut(&space) {
                    Some(disk) if !disk.was_replaced() => disk.take_room(),
                    _ => self.fail(space),
                }
            }
        }
        self.carry_out(space)
    }

    /// Writes the noted records of all durable spaces together, and sends the answers that wait for
    /// them.
    pub(super) fn persist(&mut self) -> Result<(), Code> {
        let behind = self.disks.iter().filter(|(_, disk)| disk.is_behind());
        for space in behind.map(|(space, _)| *space).collect::<Vec<_>>() {
            let Some(disk) = self.disks.get_mut(&space) else { continue };
            let (synced, is_long) = (disk.sync(), disk.is_long());
            match synced {
                Ok(Synced::All(Some(number))) => self.tell(space, Event::Persisted { number })?,
                Ok(Synced::All(None)) => {}
                Ok(Synced::Nameless) => {
                    self.find_a_place(space)?;
                    continue;
                }
                Err(_) => {
                    self.fail(space);
                    self.carry_out(space)?;
                    continue;
                }
            }
            if is_long {
                self.begin_file(space).map_or_else(|_| self.be_patient(space), |()| {});
                self.carry_out(space)?;
            }
        }
        Ok(())
    }

    /// Begins a new file for a space whose file other processes have removed. If the directory is
    /// gone as well, requests are refused, waiting answers go on waiting, and the attempt is
    /// repeated.
    fn find_a_place(&mut self, space: u64) -> Result<(), Code> {
        let Some(disk) = self.disks.get_mut(&space).filter(|disk| disk.may_try()) else {
            return Ok(());
        };
        disk.tried_now();
        if self.begin_file(space).is_ok() { self.carry_out(space) } else { Ok(()) }
    }

    /// Handles the syncs for which answers do not wait, and repeats attempts to begin files that
    /// have lost their names.
    pub(super) fn tend_disks(&mut self) -> Result<(), Code> {
        let failed = |(space, disk): (&u64, &mut Disk)| disk.tend().is_err().then_some(*space);
        for space in self.disks.iter_mut().filter_map(failed).collect::<Vec<_>>() {
            self.fail(space);
            self.carry_out(space)?;
        }
        let nameless = self.disks.iter().filter(|(_, disk)| disk.is_nameless());
        for space in nameless.map(|(space, _)| *space).collect::<Vec<_>>() {
            self.find_a_place(space)?;
        }
        Ok(())
    }

    /// Handles a new file that could not be begun: the next attempt follows when the old file has
    /// become longer still.
    fn be_patient(&mut self, space: u64) {
        match self.disks.get_mut(&space) {
            Some(disk) if !disk.was_replaced() => disk.be_patient(),
            // The new file has replaced the old one, but its directory cannot be synced.
            _ => self.fail(space),
        }
    }

    /// Begins the file of a space with all that is in the space.
    pub(super) fn begin_file(&mut self, space: u64) -> std::io::Result<()> {
        let Some(partition) = self.partitions.get(&space) else { return Ok(()) };
        let record = partition.checkpoint();
        if has_unread_tuples(partition.store()) {
            // A file that lacks them must not replace the one that has them.
            return Err(std::io::Error::other("a tuple in a file could not be read"));
        }
        let Record::Begun { entry, .. } = &record else { return Ok(()) };
        let lock = Lock::take(&entry.directory, partition.name())?;
        self.begin_file_with(&lock, space, &record)
    }

    /// Begins the file of a space with this record.
    pub(super) fn begin_file_with(
        &mut self,
        lock: &Lock,
        space: u64,
        record: &Record,
    ) -> std::io::Result<()> {
        let Record::Begun { number, .. } = *record else { return Ok(()) };
        let host = self.task.tid().host();
        let disk = Disk::begin(lock, host, record, self.disks.get(&space))?;
        // The new file takes over the room of the old one.
        drop(self.disks.remove(&space));
        self.disks.entry(space).or_insert(disk).take_room();
        let now = self.now();
        if let Some(partition) = self.partitions.get_mut(&space) {
            partition.handle(now, Event::Persisted { number });
        }
        Ok(())
    }

    /// A copy begins. If it cannot be written, its primary gives it up.
    pub(super) fn rewrite(&mut self, space: u64) {
        if self.begin_file(space).is_err() {
            self.fail(space);
        }
    }

    /// The disk has failed: what is there is what was answered, and no more is. Other servers that
    /// hold the space go on; [`Server::carry_out`] tells them.
    pub(super) fn fail(&mut self, space: u64) {
        let now = self.now();
        self.disks.remove(&space);
        self.helpers.forget(space);
        self.failed.insert(space);
        if let Some(partition) = self.partitions.get_mut(&space) {
            partition.handle(now, Event::Failed);
        }
    }
}
