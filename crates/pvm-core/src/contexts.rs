//! Context numbers (`pvm_newcontext`): each host gives its own, its index in the upper bits.

use crate::records::{Change, Slot, Table};
use pvm_wire::{Code, HostIndex, Tid};

/// The contexts that this host has given.
#[derive(Debug)]
pub(crate) struct Contexts {
    host: HostIndex,
    last: Slot<u32>,
    given: Table<i32, Tid>,
}

impl Contexts {
    pub(crate) const fn new(host: HostIndex) -> Self {
        Self { host, last: Slot::new(b'V', 0), given: Table::new(b'v') }
    }

    /// A new number for `owner`; like a task's it comes again only after all others.
    pub(crate) fn give(&mut self, owner: Tid) -> Result<i32, Code> {
        for _ in 0..Tid::LOCAL_MAX {
            let last = self.last.get_mut();
            *last = *last % Tid::LOCAL_MAX + 1;
            let context = Tid::task(self.host, *self.last.get()).as_c_int();
            if !self.given.contains(&context) {
                self.given.insert(context, owner);
                return Ok(context);
            }
        }
        Err(Code::OutOfRes)
    }

    pub(crate) fn free(&mut self, context: i32) -> Result<(), Code> {
        self.given.remove(&context).map(drop).ok_or(Code::NotFound)
    }

    /// Frees the contexts that a task has made and not freed, when the task is gone (as PVM does).
    pub(crate) fn task_gone(&mut self, tid: Tid) {
        for context in self.given.keys_where(|_, owner| *owner == tid) {
            self.given.remove(&context);
        }
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.last.take_changes(out);
        self.given.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.last.restore(key, value) || self.given.restore(key, value)
    }
}
