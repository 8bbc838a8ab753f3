//! The seats of the members: since when each is in, and how many of its commands are applied.

use super::ring::Ring;
use crate::quorum::Member;
use crate::records::{Change, Table, read_record};
use pvm_wire::{Blob, HostIndex, record};

/// In front of the keys of members' seats.
const MARK: u8 = b'S';

record! {
    /// A member of the machine, as all hosts know it.
    pub struct Membership {
        /// The number of the command that let it in.
        pub incarnation: u64,
        /// The number of its commands that have been applied.
        pub ticket: u64,
    }
}

/// The seats of all members.
#[derive(Debug)]
pub(super) struct Seats {
    table: Table<HostIndex, Membership>,
    ring: Ring,
    /// The number of times that members came or went while this daemon ran.
    changes: u64,
}

impl Seats {
    pub(super) fn new() -> Self {
        Self { table: Table::new(MARK), ring: Ring::default(), changes: 0 }
    }

    pub(super) const fn table(&self) -> &Table<HostIndex, Membership> {
        &self.table
    }

    pub(super) const fn ring(&self) -> &Ring {
        &self.ring
    }

    pub(super) const fn changes(&self) -> u64 {
        self.changes
    }

    /// The seat of a member, to be changed.
    pub(super) fn get_mut(&mut self, host: HostIndex) -> Option<&mut Membership> {
        self.table.get_mut(&host)
    }

    /// A host has its place from the command with this number on.
    pub(super) fn seat(&mut self, host: HostIndex, incarnation: u64) {
        self.changes += 1;
        self.ring.insert(host);
        self.table.insert(host, Membership { incarnation, ticket: 0 });
    }

    pub(super) fn unseat(&mut self, host: HostIndex) {
        self.changes += 1;
        self.ring.remove(host);
        self.table.remove(&host);
    }

    /// Records come that say who is in, instead of what is known.
    pub(super) fn clear(&mut self) {
        self.ring.clear();
        self.table.clear();
    }

    /// The members are others from now on.
    pub(super) const fn note_change(&mut self) {
        self.changes += 1;
    }

    /// All members.
    pub(super) fn members(&self) -> Vec<Member> {
        self.table.iter().map(|(&host, seat)| Member::new(seat.incarnation, host)).collect()
    }

    pub(super) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.table.take_changes(out);
    }

    pub(super) fn records(&self, out: &mut Vec<(Blob, Blob)>) {
        self.table.records(out);
    }

    pub(super) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.table.restore(key, value) && self.place(key, value)
    }

    pub(super) fn adopt(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.table.adopt(key, value) && self.place(key, value)
    }

    /// The record of a member has come back; true.
    fn place(&mut self, key: &[u8], value: &[u8]) -> bool {
        if let Some((host, _)) = read_record::<HostIndex, Membership>(MARK, key, value) {
            self.ring.insert(host);
        }
        true
    }
}
