//! Memory and files for the data of larger messages, while there is credit.

use super::Keeper;
use super::kept::{File, Use};
use crate::credit::Charge;
use crate::segment::{self, Mapping, PAGE};
use crate::slab;
use crate::spill::HOLDER_BYTES;
use pvm_wire::request::{Segment, SegmentId};
use pvm_wire::{Code, Tid};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Keeper {
    /// A segment for the slabs of a task.
    ///
    /// # Errors
    /// [`Code::OutOfRes`] if there is no credit now, [`Code::NoMem`].
    pub fn open_slab(&mut self, owner: Tid, bytes: u64) -> Result<(Segment, &OwnedFd), Code> {
        let size = usize::try_from(bytes).map_err(|_| Code::NoMem)?.max(2 * PAGE);
        let size = size.checked_next_multiple_of(PAGE).ok_or(Code::NoMem)?;
        let charge = Charge::Slab(owner, size as u64);
        if owner == Tid::NONE {
            // The host itself is never held up.
            self.account.charge(charge);
        } else if self.account.take(charge, 0).is_err() {
            self.sweep();
            self.account.take(charge, 0)?;
        }
        let made = self.create(size, |fd| {
            let holders = Mapping::new(fd, PAGE, true).map_err(|_| Code::NoMem)?;
            Ok(Use::Slab(owner, Arc::new(holders)))
        });
        self.owned(owner, made, charge)
    }

    /// A file for messages of a task, and the segment with the holders beside it.
    ///
    /// # Errors
    /// [`Code::OutOfRes`] if there is no credit now, or no folder for files at all.
    /// [`Code::Overflow`] if the disk is full. [`Code::NoMem`].
    pub fn open_spill(&mut self, owner: Tid, bytes: u64) -> Result<(Segment, &OwnedFd), Code> {
        let bytes = bytes.checked_next_multiple_of(PAGE as u64).ok_or(Code::Overflow)?;
        let charge = Charge::File(bytes);
        if self.account.take(charge, 0).is_err() {
            self.sweep();
            self.account.take(charge, 0)?;
        }
        let made = self.create_file(bytes).and_then(|(writer, reader)| {
            self.create(HOLDER_BYTES, |fd| {
                let holders = Mapping::new(fd, HOLDER_BYTES, false).map_err(|_| Code::NoMem)?;
                Ok(Use::Spill(owner, Arc::new(holders), File { writer, reader, bytes }))
            })
        });
        self.owned(owner, made, charge)
    }

    /// A segment that was charged is its owner's now, if it was made.
    fn owned(
        &mut self,
        owner: Tid,
        made: Result<SegmentId, Code>,
        charge: Charge,
    ) -> Result<(Segment, &OwnedFd), Code> {
        let id = made.inspect_err(|_| self.account.give_back(charge))?;
        self.slabs.entry(owner).or_default().insert(id);
        self.segment(id)
    }

    fn create_file(&self, bytes: u64) -> Result<(OwnedFd, OwnedFd), Code> {
        let mut answer = Code::OutOfRes;
        for folder in &self.folders {
            match segment::create_file(folder, bytes) {
                Ok(file) => return Ok(file),
                Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) => answer = Code::Overflow,
                Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => return Err(Code::NoMem),
                // Another folder may do.
                Err(_) => {}
            }
        }
        Err(answer)
    }

    /// The file beside a segment.
    ///
    /// # Errors
    /// [`Code::NotFound`].
    pub fn map_spill(&self, asker: Tid, id: SegmentId) -> Result<(Segment, &OwnedFd), Code> {
        match self.segments.get(&id).map(|kept| &kept.purpose) {
            Some(Use::Spill(owner, _, file)) => {
                let (segment, _) = self.segment(id)?;
                let fd = if *owner == asker { &file.writer } else { &file.reader };
                Ok((Segment { size: file.bytes, ..segment }, fd))
            }
            _ => Err(Code::NotFound),
        }
    }

    /// The tasks that have to read before a send finds credit again: the readers of the sender's
    /// own memory, or those of all senders' memory and files.
    pub fn readers(&self, sender: Option<Tid>) -> BTreeSet<Tid> {
        let mut readers = BTreeSet::new();
        for kept in self.segments.values() {
            if let Some((owner, holders)) = kept.purpose.holders()
                && sender.is_none_or(|sender| sender == owner)
            {
                slab::holders::readers(holders, &mut readers);
            }
        }
        readers
    }
}
