//! The machine: hosts, tasks, clocks, start and end.

mod adding;
mod clock;
mod daemon;
mod services;
mod tables;

use std::ffi::{c_char, c_int};

use pvm_wire::request::{HostInfo, Reply, Request, TaskInfo};
use pvm_wire::{Code, Tid};

use crate::guard::call;
use crate::session::unexpected;
use crate::trace::{int_at, text_at, traced};
use crate::{pointer, session};
use tables::{HostEntry, TaskEntry, count, kept_hosts, kept_tasks};

pub(crate) use adding::change_host;
pub(crate) use clock::host_clock;
pub(crate) use daemon::{pvm_halt, start_daemon};

/// The hosts.
pub(crate) fn hosts() -> Result<Vec<HostInfo>, Code> {
    match session::task()?.request(&Request::Config)? {
        Reply::Hosts { hosts } => Ok(hosts),
        _ => Err(unexpected()),
    }
}

/// In an id that stands for many receivers of one message.
const OF_MANY: u32 = 1 << 30;

/// The tasks of a host, of the machine (0), or one task.
pub(crate) fn tasks(place: c_int) -> Result<Vec<TaskInfo>, Code> {
    let mut place = Tid::from_c_int(place);
    if place.is_daemon() {
        // The daemon of a host stands for the host.
        place = Tid::host_id(place.host());
        if place == Tid::NONE {
            return Err(Code::NoHost);
        }
    }
    // The id of many receivers is no task's; the host in it is looked for, as in PVM.
    let of_many = place.0 & OF_MANY != 0 && place.host().0 != 0;
    if of_many {
        place = Tid::host_id(place.host());
    }
    let reply = match session::task()?.request(&Request::Tasks { place }) {
        Ok(_) if of_many => return Ok(Vec::new()),
        // As in PVM, an unknown task is an empty answer.
        Err(Code::NoTask) => return Ok(Vec::new()),
        reply => reply?,
    };
    match reply {
        Reply::Tasks { tasks } => Ok(tasks),
        _ => Err(unexpected()),
    }
}

/// The number of data representations of the hosts.
pub(crate) fn formats(hosts: &[HostInfo]) -> usize {
    let mut signatures: Vec<i32> = hosts.iter().map(|host| host.signature).collect();
    signatures.sort_unstable();
    signatures.dedup();
    signatures.len()
}

/// The hosts, in memory that stays until the next call.
///
/// # Safety
/// Each pointer is null or points to its type.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_config(
    number: *mut c_int,
    formats_out: *mut c_int,
    table: *mut *const HostEntry,
) -> c_int {
    traced!(
        unsafe CONFIG,
        pvm_config(number, formats_out, table),
        [],
        |r| [NH: int_at(number), NA: int_at(formats_out), CC: r]
    );
    call("pvm_config", || {
        let hosts = hosts()?;
        // SAFETY: `number` is null or has room for the answer, by the call's contract.
        unsafe { pointer::store(number, count(hosts.len())?) };
        // SAFETY: `formats_out` is null or has room for the answer, by the call's contract.
        unsafe { pointer::store(formats_out, count(formats(&hosts))?) };
        if !table.is_null() {
            // SAFETY: `table` is null or has room for the answer, by the call's contract.
            unsafe { pointer::store(table, kept_hosts(&hosts)) };
        }
        Ok(0)
    })
}

/// The tasks, in memory that stays until the next call.
///
/// # Safety
/// Each pointer is null or points to its type.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_tasks(
    place: c_int,
    number: *mut c_int,
    table: *mut *const TaskEntry,
) -> c_int {
    traced!(
        unsafe TASKS,
        pvm_tasks(place, number, table),
        [TW: place],
        |r| [CC: r, TNT: int_at(number)]
    );
    call("pvm_tasks", || {
        let tasks = tasks(place);
        let told = tasks.as_ref().map_or(Ok(0), |tasks| count(tasks.len()))?;
        // SAFETY: `number` is null or has room for the answer, by the call's contract.
        unsafe { pointer::store(number, told) };
        let tasks = tasks?;
        if table.is_null() {
            return Ok(0);
        }
        // SAFETY: `table` is null or has room for the answer, by the call's contract.
        unsafe { pointer::store(table, kept_tasks(&tasks)) };
        Ok(0)
    })
}

/// `PvmOk` if a host is up.
///
/// # Safety
/// `host` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_mstat(host: *const c_char) -> c_int {
    traced!(unsafe MSTAT, pvm_mstat(host), [HN: text_at(host)], |r| [HS: r]);
    call("pvm_mstat", || {
        // SAFETY: `host` is null or ends with 0, by the call's contract.
        let name = unsafe { pointer::text(host) }?;
        if name.is_empty() {
            return Err(Code::BadParam);
        }
        let name = name.to_vec().into();
        session::task()?.request(&Request::HostStatus { name })?;
        Ok(0)
    })
}

/// The data representation of an architecture that is in the machine.
///
/// # Safety
/// `name` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_archcode(name: *const c_char) -> c_int {
    traced!(unsafe ARCHCODE, pvm_archcode(name), [AN: text_at(name)], |r| [AC: r]);
    call("pvm_archcode", || {
        // SAFETY: `name` is null or ends with 0, by the call's contract.
        let name = unsafe { pointer::text(name) }?;
        let hosts = hosts()?;
        hosts.iter().find(|host| host.arch.0 == name).map(|h| h.signature).ok_or(Code::NotFound)
    })
}
