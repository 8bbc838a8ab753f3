//! Bodies of messages that find no credit in memory: they lie in unlinked files.
//!
//! ```text
//! segment:  0       8192 holders (u32 each): the receivers that have not read yet, 0 where none
//! file:     0       bodies, one behind the other
//! ```
//! A file is written by its sender with `pwrite` and read with `pread` when the program takes the
//! message: nobody maps it. So its pages belong to no process, and neither a full disk nor one that
//! fails raises a signal. It is allocated before it is used, so a full disk is told to the send.
//! The descriptor goes through the lane as that of a slab does, ahead of the body on the disk; the
//! segment beside the file has the holders, and the keeper strikes out the dead as in slabs.

use crate::broker::{Broker, map};
use crate::segment::{self, Mapping, PAGE};
use crate::slab::{Descriptor, Slab};
use crate::sync::{AtomicU32, Ordering};
use pvm_wire::request::SegmentId;
use pvm_wire::{Code, Tid};
use rustix::fd::OwnedFd;
use rustix::fs::Advice;
use rustix::io::Errno;
use std::sync::Arc;

/// Bytes of the segment beside a file.
pub const HOLDER_BYTES: usize = 8 * PAGE;
/// A file holds at most this many messages.
pub const HOLDERS: usize = HOLDER_BYTES / size_of::<u32>();
/// Bytes of a file, unless a message needs more.
pub const FILE_BYTES: u64 = 64 << 20;
/// Bytes that are copied at a time between a slab and a file.
const BLOCK: usize = 64 << 10;

fn holders(mapping: &Mapping) -> &[AtomicU32] {
    // SAFETY: atomics, valid for any bits.
    unsafe { mapping.views(0, mapping.size() / size_of::<u32>()) }
}

/// Writes all of it.
fn write_all(fd: &OwnedFd, mut bytes: &[u8], mut at: u64) -> Result<(), Code> {
    // The limit of this process is not that of the keeper, which has allocated the file.
    segment::may_be_as_long(at + bytes.len() as u64).map_err(|_| Code::Overflow)?;
    while !bytes.is_empty() {
        match rustix::io::pwrite(fd, bytes, at) {
            // The keeper has allocated it; a disk that fails is as good as a full one.
            Ok(0) => return Err(Code::Overflow),
            Ok(n) => (bytes, at) = (&bytes[n..], at + n as u64),
            Err(Errno::INTR) => {}
            Err(_) => return Err(Code::Overflow),
        }
    }
    Ok(())
}

/// A file that is being filled, or read.
#[derive(Debug)]
struct File {
    segment: SegmentId,
    places: Arc<Mapping>,
    /// Only while it is being filled: a task has few descriptors.
    fd: Option<Arc<OwnedFd>>,
    /// Shared with its drafts.
    drafts: Arc<()>,
    bytes: u64,
    /// The offset at which the next body begins.
    end: u64,
    /// Holders that were given out.
    noted: usize,
}

impl File {
    fn has_room(&self, size: u64, readers: usize) -> bool {
        self.end.saturating_add(size) <= self.bytes && self.noted + readers <= HOLDERS
    }

    /// True if nobody reads it any more, and no body is being written.
    fn is_unread(&self) -> bool {
        // PAIRS WITH: `SpillView::drop`.
        Arc::strong_count(&self.drafts) == 1
            && holders(&self.places)
                .iter()
                .take(self.noted)
                .all(|holder| holder.load(Ordering::Acquire) == 0)
    }
}

/// A body in a file, before it is sent and while it is.
#[derive(Debug)]
pub struct Draft {
    segment: SegmentId,
    places: Arc<Mapping>,
    fd: Arc<OwnedFd>,
    _file: Arc<()>,
    offset: u64,
    size: usize,
    /// Its holders that are not used yet.
    next: usize,
    end: usize,
}

impl Draft {
    /// The size in bytes.
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Writes bytes at an offset.
    ///
    /// # Errors
    /// [`Code::BadParam`] outside of it, [`Code::Overflow`] if the disk fails.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), Code> {
        let end = offset.checked_add(bytes.len());
        if end.is_none_or(|end| end > self.size) {
            return Err(Code::BadParam);
        }
        write_all(&self.fd, bytes, self.offset + offset as u64)
    }

    /// Puts the first bytes of a slab into it.
    ///
    /// # Errors
    /// As for [`Draft::write`].
    pub(crate) fn write_slab(&self, slab: &Slab, size: usize) -> Result<(), Code> {
        let mut block = vec![0; BLOCK.min(size)];
        for at in (0..size).step_by(BLOCK) {
            let n = BLOCK.min(size - at);
            slab.read(at, &mut block[..n]);
            self.write(at, &block[..n])?;
        }
        Ok(())
    }

    /// Notes a receiver. None if it was made for fewer.
    pub(crate) fn hold_for(&mut self, receiver: Tid) -> Option<Descriptor> {
        let holder = self.next;
        if holder == self.end {
            return None;
        }
        self.next += 1;
        holders(&self.places).get(holder)?.store(receiver.0, Ordering::Release);
        Some(Descriptor::in_file(self.segment, holder as u32, self.offset))
    }

    /// Takes back a note: the receiver is gone.
    pub(crate) fn release(&self, descriptor: Descriptor) {
        if let Some(holder) = holders(&self.places).get(descriptor.place()) {
            holder.store(0, Ordering::Release);
        }
    }
}

/// The files of one sender.
#[derive(Debug, Default)]
pub struct Spill {
    /// The last one is being filled.
    files: Vec<File>,
}

impl Spill {
    /// Room for a body that `readers` receivers will get.
    ///
    /// # Errors
    /// [`Code::OutOfRes`]: no credit now. [`Code::Overflow`]: the disk is full. [`Code::NoMem`].
    pub fn begin(
        &mut self,
        broker: &mut dyn Broker,
        size: usize,
        readers: usize,
    ) -> Result<Draft, Code> {
        let bytes = size as u64;
        if readers > HOLDERS {
            return Err(Code::NoMem);
        }
        if !self.files.last().is_some_and(|file| file.has_room(bytes, readers)) {
            let file = self.turn(broker, bytes)?;
            if let Some(full) = self.files.last_mut() {
                full.fd = None;
            }
            self.files.push(file);
        }
        let file = self.files.last_mut().ok_or(Code::NoMem)?;
        let fd = match &file.fd {
            Some(fd) => fd.clone(),
            None => {
                let fd = Arc::new(broker.map_spill(file.segment)?.1);
                file.fd = Some(fd.clone());
                fd
            }
        };
        let draft = Draft {
            segment: file.segment,
            places: file.places.clone(),
            fd,
            _file: file.drafts.clone(),
            offset: file.end,
            size,
            next: file.noted,
            end: file.noted + readers,
        };
        file.end += bytes;
        file.noted += readers;
        Ok(draft)
    }

    /// A file to be filled: one that has been read, or another one.
    fn turn(&mut self, broker: &mut dyn Broker, size: u64) -> Result<File, Code> {
        let mut found: Option<File> = None;
        for at in (0..self.files.len()).rev() {
            if !self.files[at].is_unread() {
                continue;
            }
            let file = self.files.remove(at);
            if found.is_none() && file.bytes >= size && file.bytes <= FILE_BYTES {
                found = Some(File { end: 0, noted: 0, ..file });
            } else {
                broker.drop_segment(file.segment);
            }
        }
        match found {
            Some(file) => Ok(file),
            None => match open(broker, size.max(FILE_BYTES)) {
                // There may be room for this one.
                Err(Code::OutOfRes | Code::Overflow) if size < FILE_BYTES => open(broker, size),
                file => file,
            },
        }
    }

    /// Gives back the files that have been read.
    pub fn shrink(&mut self, broker: &mut dyn Broker) {
        self.files.retain(|file| {
            let unread = file.is_unread();
            if unread {
                broker.drop_segment(file.segment);
            }
            !unread
        });
    }

    /// True if there is nothing to be read in any file, and no file.
    pub const fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

fn open(broker: &mut dyn Broker, bytes: u64) -> Result<File, Code> {
    let (segment, places) = map(broker.open_spill(bytes)?)?;
    match broker.map_spill(segment.id) {
        Ok((file, fd)) => Ok(File {
            segment: segment.id,
            places,
            fd: Some(Arc::new(fd)),
            drafts: Arc::new(()),
            bytes: file.size,
            end: 0,
            noted: 0,
        }),
        Err(code) => {
            broker.drop_segment(segment.id);
            Err(code)
        }
    }
}

/// A body in another task's file, held until this is dropped.
#[derive(Debug)]
pub struct SpillView {
    segment: SegmentId,
    places: Arc<Mapping>,
    me: Tid,
    holder: usize,
    offset: u64,
    size: usize,
    /// The file, where it is read more than once.
    fd: Option<Arc<OwnedFd>>,
}

impl SpillView {
    /// The body that a descriptor names, if it can name any.
    pub(crate) fn new(
        places: Arc<Mapping>,
        me: Tid,
        descriptor: Descriptor,
        size: u64,
    ) -> Option<Self> {
        let size = usize::try_from(size).ok()?;
        let (offset, holder) = (descriptor.offset, descriptor.place());
        let inside = offset.checked_add(size as u64)? <= i64::MAX as u64;
        let segment = descriptor.segment;
        (inside && places.size() == HOLDER_BYTES && holder < HOLDERS).then(|| Self {
            segment,
            places,
            me,
            holder,
            offset,
            size,
            fd: None,
        })
    }

    /// The segment of the file.
    pub(crate) const fn segment(&self) -> SegmentId {
        self.segment
    }

    /// This piece with its file; none if it reaches beyond the file's end.
    pub(crate) fn with_file(mut self, fd: Arc<OwnedFd>) -> Option<Self> {
        if !self.is_in(&fd) {
            return None;
        }
        self.fd = Some(fd);
        Some(self)
    }

    /// The file tells how much there can be: a length that lies reserves nothing.
    pub(crate) fn is_in(&self, fd: &OwnedFd) -> bool {
        let end = self.offset.saturating_add(self.size as u64);
        rustix::fs::fstat(fd)
            .is_ok_and(|file| u64::try_from(file.st_size).is_ok_and(|there| end <= there))
    }

    /// The size in bytes.
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Copies out of the file.
    ///
    /// # Errors
    /// [`Code::BadMsg`] outside of it, or if the disk fails; then `out` holds anything.
    pub(crate) fn read_from(
        &self,
        fd: &OwnedFd,
        offset: usize,
        mut out: &mut [u8],
    ) -> Result<(), Code> {
        if offset.checked_add(out.len()).is_none_or(|end| end > self.size) {
            return Err(Code::BadMsg);
        }
        let mut at = self.offset + offset as u64;
        while !out.is_empty() {
            match rustix::io::pread(fd, &mut *out, at) {
                Ok(0) => return Err(Code::BadMsg),
                Ok(n) => (out, at) = (&mut out[n..], at + n as u64),
                Err(Errno::INTR) => {}
                Err(_) => return Err(Code::BadMsg),
            }
        }
        Ok(())
    }

    /// Copies out, where the file is at hand.
    ///
    /// # Errors
    /// [`Code::BadMsg`], as for `SpillView::load`.
    pub fn read(&self, offset: usize, out: &mut [u8]) -> Result<(), Code> {
        self.read_from(self.fd.as_ref().ok_or(Code::BadMsg)?, offset, out)
    }

    /// The whole body, in private memory.
    ///
    /// # Errors
    /// [`Code::NoMem`], [`Code::BadMsg`] if the disk fails or there are fewer bytes.
    pub(crate) fn load(&self, fd: &OwnedFd) -> Result<Vec<u8>, Code> {
        if !self.is_in(fd) {
            return Err(Code::BadMsg);
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(self.size).map_err(|_| Code::NoMem)?;
        bytes.resize(self.size, 0);
        self.read_from(fd, 0, &mut bytes)?;
        // The body is read once and never again: others need the page cache more. Pages that the
        // disk has not taken yet stay there.
        let length = std::num::NonZeroU64::new(self.size as u64);
        let _ = rustix::fs::fadvise(fd, self.offset, length, Advice::DontNeed);
        Ok(bytes)
    }

    /// This body, of at most `size` bytes.
    #[must_use]
    pub(crate) fn cut(mut self, size: usize) -> Self {
        self.size = self.size.min(size);
        self
    }
}

impl Drop for SpillView {
    fn drop(&mut self) {
        let holder = &holders(&self.places)[self.holder];
        // PAIRS WITH: `File::is_unread`. Only our own name: a lying descriptor strikes out nobody.
        let _ = holder.compare_exchange(self.me.0, 0, Ordering::Release, Ordering::Relaxed);
    }
}
