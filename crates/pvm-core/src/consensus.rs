//! One order of commands for all hosts.
//!
//! This room decides only *when* a command is applied and *who* is answered; what it does is the
//! machine's matter. Today the first host of the machine gives the order: it numbers what is
//! proposed and tells all others, over conversations that lose and reorder nothing, so that
//! every host applies the same commands in the same order. If that host dies the machine ends,
//! as in PVM 3. A replicated order takes this room's place: `propose` in, [`Step`]s out.

use crate::records::{Change, Slot};
use pvm_wire::HostIndex;
use pvm_wire::peer::{Command, Said};

/// A host's own number for what it proposed; 0 where nobody waits for it.
pub(crate) type Ticket = u64;

/// What is to be done next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Tell one host.
    Tell(HostIndex, Said),
    /// Tell every other member.
    TellAll(Said),
    /// Apply here.
    Apply(Ordered),
}

/// A command in its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Ordered {
    pub(crate) number: u64,
    pub(crate) proposer: HostIndex,
    pub(crate) ticket: Ticket,
    pub(crate) command: Command,
}

/// How far the order is known here.
#[derive(Debug)]
pub(crate) struct Consensus {
    me: HostIndex,
    first: HostIndex,
    applied: Slot<u64>,
}

impl Consensus {
    pub(crate) const fn new(me: HostIndex, first: HostIndex) -> Self {
        Self { me, first, applied: Slot::new(b'c', 0) }
    }

    /// The host that gives the order, keeps barriers, and is asked for what must be up to date.
    pub(crate) const fn first(&self) -> HostIndex {
        self.first
    }

    /// True on the host that gives the order.
    pub(crate) fn is_first(&self) -> bool {
        self.me == self.first
    }

    /// The number of the last command that was applied here.
    pub(crate) const fn applied(&self) -> u64 {
        *self.applied.get()
    }

    /// Somebody on this host wants a change.
    pub(crate) fn propose(&mut self, ticket: Ticket, command: Command) -> Vec<Step> {
        if self.is_first() {
            self.order(self.me, ticket, command)
        } else {
            vec![Step::Tell(self.first, Said::Propose { ticket, command })]
        }
    }

    /// On the first host: the next number for a command.
    pub(crate) fn order(
        &mut self,
        proposer: HostIndex,
        ticket: Ticket,
        command: Command,
    ) -> Vec<Step> {
        let number = self.applied.next();
        let said = Said::Commit { number, proposer, ticket, command: command.clone() };
        // Told before it is applied here: a host that the command removes must hear of it, one
        // that it adds gets a snapshot instead.
        vec![Step::TellAll(said), Step::Apply(Ordered { number, proposer, ticket, command })]
    }

    /// On the others: the first host gave an order. False if it is not the next one.
    pub(crate) fn accept(&mut self, number: u64) -> bool {
        let next = number == self.applied() + 1;
        if next {
            self.applied.set(number);
        }
        next
    }

    /// A new host starts from here.
    pub(crate) fn start_from(&mut self, number: u64) {
        self.applied.set(number);
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.applied.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.applied.restore(key, value)
    }
}
