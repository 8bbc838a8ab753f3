//! Tables of hosts and tasks for C, which stay until the same thread asks again.

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};

use pvm_wire::request::{HostInfo, TaskInfo};
use pvm_wire::{Blob, Code};

use crate::own::{Own, ThreadOwned as _};

/// `struct pvmhostinfo`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostEntry {
    tid: c_int,
    name: *const c_char,
    arch: *const c_char,
    speed: c_int,
    signature: c_int,
}

/// `struct pvmtaskinfo`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskEntry {
    tid: c_int,
    parent: c_int,
    host: c_int,
    flags: c_int,
    name: *const c_char,
    pid: c_int,
}

/// A table for C, and the texts that it points to.
struct Table<T> {
    entries: Vec<T>,
    texts: Vec<CString>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Table<T> {
    const fn new() -> Self {
        Self { entries: Vec::new(), texts: Vec::new() }
    }

    /// Keeps a text and tells where it lies.
    fn text(&mut self, text: &Blob) -> *const c_char {
        let end = text.0.iter().position(|&b| b == 0).unwrap_or(text.0.len());
        let text = CString::new(&text.0[..end]).unwrap_or_default();
        let address = text.as_ptr();
        self.texts.push(text);
        address
    }
}

thread_local! {
    /// The table that the last `pvm_config` of this thread returned.
    static HOSTS: Own<Table<HostEntry>> = const { Own::new() };
    /// The table that the last `pvm_tasks` of this thread returned.
    static TASKS: Own<Table<TaskEntry>> = const { Own::new() };
    /// The table that the last `pvm_reg_rm` of this thread returned.
    static FIRST: Own<Table<HostEntry>> = const { Own::new() };
}

fn host_table(table: &RefCell<Table<HostEntry>>, hosts: &[HostInfo]) -> *const HostEntry {
    let mut filled = Table::new();
    for host in hosts {
        let entry = HostEntry {
            tid: host.tid.as_c_int(),
            name: filled.text(&host.name),
            arch: filled.text(&host.arch),
            speed: host.speed,
            signature: host.signature,
        };
        filled.entries.push(entry);
    }
    *table.borrow_mut() = filled;
    table.borrow().entries.as_ptr()
}

/// A number of entries as C has it.
pub(super) fn count(number: usize) -> Result<c_int, Code> {
    c_int::try_from(number).map_err(|_| Code::Overflow)
}

/// The hosts as `pvm_config` returns them.
pub(super) fn kept_hosts(hosts: &[HostInfo]) -> *const HostEntry {
    HOSTS.kept(|kept| host_table(kept, hosts))
}

/// The host that `pvm_reg_rm` returns, as a table of its own.
pub(super) fn kept_first(hosts: &[HostInfo]) -> *const HostEntry {
    FIRST.kept(|kept| host_table(kept, hosts))
}

/// The tasks as `pvm_tasks` returns them.
pub(super) fn kept_tasks(tasks: &[TaskInfo]) -> *const TaskEntry {
    let mut filled = Table::new();
    for task in tasks {
        let entry = TaskEntry {
            tid: task.tid.as_c_int(),
            parent: task.parent.as_c_int(),
            host: task.host.as_c_int(),
            flags: task.flags,
            name: filled.text(&task.name),
            pid: task.pid.cast_signed(),
        };
        filled.entries.push(entry);
    }
    TASKS.kept(|kept| {
        *kept.borrow_mut() = filled;
        kept.borrow().entries.as_ptr()
    })
}
