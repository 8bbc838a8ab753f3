//! Limits of unread data, and the account of the data that are unread.
//!
//! Memory is bounded at the sender's side. The keeper gives credits, since it makes every segment
//! and outlives every sender; nothing on the way of a message counts anything. A message that finds
//! no credit in memory goes to disk (`spill`), and one that finds none there waits in its send. The
//! figures stand here; `doc/shm.md` says what they lead to.

use pvm_wire::{Code, Tid};
use std::collections::BTreeMap;

/// Bytes in slabs that one receiver may leave unread of one sender, once that sender has more than
/// this in all: a receiver that sleeps costs the others nothing.
pub const PAIR_BYTES: usize = 64 << 20;
/// Bytes of slabs of one sender.
pub const SENDER_BYTES: u64 = 128 << 20;
/// Bytes of slabs of all senders of a host.
pub const HOST_BYTES: u64 = 256 << 20;
/// Every sender may have this many bytes of slabs, whatever the others take.
pub const FIRST_BYTES: u64 = 4 << 20;
/// Cells in the lanes to one receiver, and messages in its mailbox: 256 MiB of lanes.
pub const DESCRIPTORS_MAX: u64 = 1 << 20;
/// Bytes of files of a host, where nothing else is said.
pub const SPILL_BYTES: u64 = 64 << 30;
/// Slabs that a sender keeps for its next messages.
pub const KEPT_BYTES: u64 = 32 << 20;

/// The limits of what may be taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of slabs of all senders.
    pub host_bytes: u64,
    /// Bytes of slabs of one sender.
    pub sender_bytes: u64,
    /// Bytes of files.
    pub spill_bytes: u64,
    /// Descriptors that slabs and files may use; lanes and inboxes have others.
    pub descriptors: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            host_bytes: HOST_BYTES,
            sender_bytes: SENDER_BYTES,
            spill_bytes: SPILL_BYTES,
            descriptors: 512,
        }
    }
}

/// The charge for a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Charge {
    /// A slab of a sender's.
    Slab(Tid, u64),
    /// A file.
    File(u64),
    /// Cells of lanes to this receiver, or host.
    Cells(Tid, u64),
}

/// The account.
#[derive(Debug, Default)]
pub(crate) struct Account {
    limits: Limits,
    slabs: u64,
    by_sender: BTreeMap<Tid, u64>,
    files: u64,
    cells: BTreeMap<Tid, u64>,
    descriptors: usize,
}

/// Descriptors that a file needs: the places of its readers, one to write and one to read.
const FILE_DESCRIPTORS: usize = 3;

impl Account {
    /// Sets the limits from now on.
    pub(crate) const fn limit(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Takes a credit. `unmatched`: for cells, the messages that the receiver has taken out of its
    /// lanes and not used.
    ///
    /// # Errors
    /// [`Code::OutOfRes`]: not now.
    pub(crate) fn take(&mut self, charge: Charge, unmatched: u64) -> Result<(), Code> {
        let Limits { host_bytes, sender_bytes, spill_bytes, descriptors } = self.limits;
        let granted = match charge {
            Charge::Slab(sender, bytes) => {
                let own = self.by_sender.get(&sender).copied().unwrap_or(0);
                let room = own.saturating_add(bytes) <= sender_bytes
                    && self.slabs.saturating_add(bytes) <= host_bytes;
                // One message of any size is always possible.
                (room || own == 0 || own.saturating_add(bytes) <= FIRST_BYTES)
                    && self.descriptors < descriptors
            }
            Charge::File(bytes) => {
                self.files.saturating_add(bytes) <= spill_bytes
                    && self.descriptors + FILE_DESCRIPTORS <= descriptors
            }
            Charge::Cells(to, cells) => {
                let taken = self.cells.get(&to).copied().unwrap_or(0);
                taken.saturating_add(cells).saturating_add(unmatched) <= DESCRIPTORS_MAX
            }
        };
        if !granted {
            return Err(Code::OutOfRes);
        }
        self.charge(charge);
        Ok(())
    }

    /// Notes a charge that is taken without asking.
    pub(crate) fn charge(&mut self, charge: Charge) {
        match charge {
            Charge::Slab(sender, bytes) => {
                self.slabs += bytes;
                *self.by_sender.entry(sender).or_default() += bytes;
                self.descriptors += 1;
            }
            Charge::File(bytes) => {
                self.files += bytes;
                self.descriptors += FILE_DESCRIPTORS;
            }
            Charge::Cells(to, cells) => *self.cells.entry(to).or_default() += cells,
        }
    }

    /// Gives a charge back.
    pub(crate) fn give_back(&mut self, charge: Charge) {
        match charge {
            Charge::Slab(sender, bytes) => {
                self.slabs -= bytes;
                reduce(&mut self.by_sender, sender, bytes);
                self.descriptors -= 1;
            }
            Charge::File(bytes) => {
                self.files -= bytes;
                self.descriptors -= FILE_DESCRIPTORS;
            }
            Charge::Cells(to, cells) => reduce(&mut self.cells, to, cells),
        }
    }

    /// The resources taken now: bytes of slabs, bytes of files, cells.
    pub(crate) fn taken(&self) -> (u64, u64, u64) {
        (self.slabs, self.files, self.cells.values().sum())
    }
}

fn reduce(map: &mut BTreeMap<Tid, u64>, tid: Tid, by: u64) {
    if let Some(taken) = map.get_mut(&tid) {
        *taken -= by;
        if *taken == 0 {
            map.remove(&tid);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const A: Tid = Tid(0x40001);
    const B: Tid = Tid(0x40002);

    #[test]
    fn a_sender_and_the_host_have_so_much_and_what_is_given_back_can_be_taken_again() {
        let mut account = Account::default();
        let slab = Charge::Slab(A, 32 << 20);
        for _ in 0..4 {
            account.take(slab, 0).expect("within the sender's");
        }
        assert_eq!(account.take(slab, 0), Err(Code::OutOfRes));
        for _ in 0..4 {
            account.take(Charge::Slab(B, 32 << 20), 0).expect("within the host's");
        }
        let third = Tid(0x40003);
        account.take(Charge::Slab(third, 2 << 20), 0).expect("the first are everybody's");
        account.take(Charge::Slab(third, 2 << 20), 0).expect("the first are everybody's");
        assert_eq!(account.take(Charge::Slab(third, 1 << 20), 0), Err(Code::OutOfRes));
        account.give_back(slab);
        account.take(Charge::Slab(third, 1 << 20), 0).expect("given back");
    }

    #[test]
    fn a_single_message_of_any_size_is_possible() {
        let mut account = Account::default();
        account.take(Charge::Slab(A, 1 << 40), 0).expect("the only one");
        assert_eq!(account.take(Charge::Slab(A, 1 << 40), 0), Err(Code::OutOfRes));
    }

    #[test]
    fn cells_and_what_a_mailbox_holds_have_one_limit_for_each_receiver() {
        let mut account = Account::default();
        let cells = Charge::Cells(A, DESCRIPTORS_MAX / 2);
        account.take(cells, 0).expect("room");
        assert_eq!(account.take(cells, 1), Err(Code::OutOfRes));
        account.take(cells, 0).expect("room");
        account.take(Charge::Cells(B, 64), 0).expect("somebody else's");
        account.give_back(cells);
        account.give_back(cells);
        account.give_back(Charge::Cells(B, 64));
        assert_eq!(account.taken(), (0, 0, 0));
    }
}
