//! The table of buffer numbers.

use std::ffi::c_int;

use pvm::Gate;
use pvm_wire::Code;

use super::places::SlotTable;
use crate::slot::Slot;

/// The buffer numbers that are in use. Places stay, so a table that once had many buffers keeps
/// their places for the next ones.
///
/// Who holds a place may enter the table, so who is in the table must not wait for a place.
pub(super) struct Table {
    /// The largest number so far.
    last: c_int,
    /// The free numbers; the one at the end is given out next.
    pub(super) free: Vec<c_int>,
}

pub(super) static TABLE: Gate<Table> = Gate::new(Table::behind(0));
pub(super) static PLACES: SlotTable = SlotTable::none();

impl Table {
    /// None is given out, and none up to this one will be.
    pub(super) const fn behind(last: c_int) -> Self {
        Self { last, free: Vec::new() }
    }

    /// A number and its place, which is empty.
    pub(super) fn reserve(&mut self) -> Result<(c_int, &'static Slot), Code> {
        if let Some(id) = self.free.pop() {
            return Ok((id, PLACES.at(id).ok_or(Code::SysErr)?));
        }
        let id = self.last.checked_add(1).ok_or(Code::OutOfRes)?;
        let slot = PLACES.make(id).ok_or(Code::OutOfRes)?;
        self.last = id;
        Ok((id, slot))
    }
}
