//! The source of a process's segments.

use crate::segment::Mapping;
use pvm_wire::request::{Segment, SegmentId};
use pvm_wire::{Blob, Code, Tid};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::sync::Arc;

/// The source of segments: the keeper, asked directly or over a socket.
pub trait Broker {
    /// A (larger) lane to a task of this host. `NoTask` if there is none, `OutOfRes` if it has as
    /// many unread messages as it may have.
    fn open_lane(&mut self, to: Tid, cells: u32) -> Result<(Segment, OwnedFd), Code>;
    /// A segment for slabs. `OutOfRes` if there is no credit now.
    fn open_slab(&mut self, bytes: u64) -> Result<(Segment, OwnedFd), Code>;
    /// A file for messages that find no credit in memory, and the segment beside it. `OutOfRes` if
    /// there is no credit now, `Overflow` if the disk is full.
    fn open_spill(&mut self, bytes: u64) -> Result<(Segment, OwnedFd), Code>;
    /// The file beside a segment; its size is that of the file.
    fn map_spill(&mut self, id: SegmentId) -> Result<(Segment, OwnedFd), Code>;
    /// A segment by its number.
    fn map(&mut self, id: SegmentId) -> Result<(Segment, OwnedFd), Code>;
    /// The caller's own lanes opened after the `after`-th.
    fn list_lanes(&mut self, after: u32) -> Result<Vec<Segment>, Code>;
    /// The caller needs this one no more.
    fn drop_segment(&mut self, id: SegmentId);
    /// The inbox of a task of this host, to wake it. `NoTask` if there is none.
    fn map_inbox(&mut self, _of: Tid) -> Result<(Segment, OwnedFd), Code> {
        Err(Code::NotImpl)
    }
    /// The roster of a group. `NoGroup` if there is none.
    fn map_group(&mut self, _name: &Blob) -> Result<(Segment, OwnedFd), Code> {
        Err(Code::NotImpl)
    }
    /// A roster for a group, or the one that it has: for the daemon.
    fn open_group(&mut self, _name: &Blob) -> Result<(Segment, OwnedFd), Code> {
        Err(Code::NotImpl)
    }
}

/// Maps a segment that came with its description.
pub(crate) fn map((segment, fd): (Segment, OwnedFd)) -> Result<(Segment, Arc<Mapping>), Code> {
    let size = usize::try_from(segment.size).map_err(|_| Code::NoMem)?;
    let mapping = Mapping::new(&fd, size, size <= 1 << 20).map_err(|error| match error {
        Errno::NOMEM => Code::NoMem,
        // The segment is not as its description says.
        _ => Code::BadMsg,
    })?;
    Ok((segment, Arc::new(mapping)))
}
