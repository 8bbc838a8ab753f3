//! The book's entry of a segment: its use, its owner, and the charge for it.

use crate::credit::Charge;
use crate::lane::{CELL_SIZE, HEADER_SIZE};
use crate::segment::Mapping;
use pvm_wire::{Blob, Tid};
use rustix::fd::OwnedFd;
use std::sync::Arc;

#[derive(Debug)]
pub(super) enum Use {
    Activity,
    Inbox,
    /// A lane: its sender, its receiver, its place.
    Lane(Tid, Tid, u32),
    /// A segment of slabs: its owner, and the page of holders.
    Slab(Tid, Arc<Mapping>),
    /// The roster of the group with this name.
    Roster(Blob),
    /// A trace ring: its owner, its first page, and the bytes that have memory from the start.
    Recorder(Tid, Arc<Mapping>, u64),
    /// Exposed memory: its owner, its number, and the page in front of it.
    Exposed(Tid, u32, Arc<Mapping>),
    /// A task's segment of holders, and the file beside it.
    Spill(Tid, Arc<Mapping>, File),
}

/// A file: to be written by its owner, and to be read by others.
#[derive(Debug)]
pub(super) struct File {
    pub(super) writer: OwnedFd,
    pub(super) reader: OwnedFd,
    pub(super) bytes: u64,
}

impl Use {
    /// The owner and the holders of a segment that a sender owns.
    pub(super) const fn holders(&self) -> Option<(Tid, &Arc<Mapping>)> {
        match self {
            Self::Slab(owner, holders) | Self::Spill(owner, holders, _) => Some((*owner, holders)),
            Self::Activity
            | Self::Inbox
            | Self::Lane(..)
            | Self::Recorder(..)
            | Self::Exposed(..)
            | Self::Roster(_) => None,
        }
    }

    /// Memory behind a segment of this size.
    pub(super) const fn bytes(&self, size: usize) -> u64 {
        match self {
            Self::Recorder(_, _, bytes) => *bytes,
            _ => size as u64,
        }
    }

    /// The charge for it.
    pub(super) const fn charge(&self, size: usize) -> Option<Charge> {
        match self {
            Self::Slab(owner, _) => Some(Charge::Slab(*owner, size as u64)),
            Self::Spill(_, _, file) => Some(Charge::File(file.bytes)),
            Self::Lane(_, to, _) => Some(Charge::Cells(*to, cells_of(size))),
            Self::Activity
            | Self::Inbox
            | Self::Recorder(..)
            | Self::Exposed(..)
            | Self::Roster(_) => None,
        }
    }
}

/// Cells of a ring in a segment of this size.
pub(super) const fn cells_of(size: usize) -> u64 {
    ((size - HEADER_SIZE) / CELL_SIZE) as u64
}

#[derive(Debug)]
pub(super) struct Kept {
    pub(super) fd: OwnedFd,
    pub(super) size: usize,
    pub(super) purpose: Use,
}
