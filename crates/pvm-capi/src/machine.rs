//! The machine: hosts, tasks, clocks, start and end.

use std::cell::RefCell;
use std::ffi::{CString, OsStr, c_char, c_int};
use std::io::{BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::ptr;
use std::time::{Duration, SystemTime};

use pvm::{Step, Task};
use pvm_wire::request::{
    HostInfo, HostResult, Inherited, Reply, Request, Target, TaskInfo, TraceOptions,
};
use pvm_wire::{Blob, Code, Tid};

use crate::guard::{call, failed, inside};
use crate::own::{Own, ThreadOwned as _};
use crate::session::unexpected;
use crate::timeval::{Timeval, timeval};
use crate::trace::{int_at, text_at, texts_at, traced};
use crate::waiting::{self, Limit, Patience};
use crate::{pointer, session};

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

fn count(number: usize) -> Result<c_int, Code> {
    c_int::try_from(number).map_err(|_| Code::Overflow)
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
            let entries = HOSTS.kept(|kept| host_table(kept, &hosts));
            // SAFETY: `table` is null or has room for the answer, by the call's contract.
            unsafe { pointer::store(table, entries) };
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
        let mut filled = Table::new();
        for task in &tasks {
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
        let entries = TASKS.kept(|kept| {
            *kept.borrow_mut() = filled;
            kept.borrow().entries.as_ptr()
        });
        // SAFETY: `table` is null or has room for the answer, by the call's contract.
        unsafe { pointer::store(table, entries) };
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

/// Asks for hosts to be added or deleted and tells how many were. Adding may take long, so this is
/// called outside of the library.
fn change_hosts(
    names: impl FnOnce() -> Result<Vec<Blob>, Code>,
    adding: bool,
    mut tell: impl FnMut(usize, c_int),
) -> Result<c_int, Code> {
    let reply = waiting::ask(|_| {
        let hosts = names()?;
        if hosts.is_empty() {
            return Err(Code::BadParam);
        }
        Ok(if adding { Request::AddHosts { hosts } } else { Request::DelHosts { hosts } })
    })?;
    let Reply::HostResults { results } = reply else { return Err(unexpected()) };
    let mut done = 0;
    for (i, HostResult { outcome, .. }) in results.iter().enumerate() {
        tell(i, *outcome);
        done += usize::from(*outcome >= 0);
    }
    count(done)
}

const fn name_of_change(adding: bool) -> &'static str {
    if adding { "pvm_addhosts" } else { "pvm_delhosts" }
}

/// Adds or deletes a host for Fortran: one name, one result.
pub(crate) fn change_host(name: Vec<u8>, adding: bool) -> c_int {
    let mut outcome = 0;
    let changed = change_hosts(|| Ok(vec![name.into()]), adding, |_, result| outcome = result);
    changed.map_or_else(|code| failed(name_of_change(adding), code), |_| outcome)
}

/// # Safety
/// `names` has `number` texts; `results` is null or has as many elements.
unsafe fn change_hosts_call(
    names: *const *const c_char,
    number: c_int,
    results: *mut c_int,
    adding: bool,
) -> c_int {
    // SAFETY: `names` has `number` pointers to texts that end with 0, by the call's contract.
    let list = || unsafe { texts(names, number) };
    let changed = change_hosts(list, adding, |i, outcome| {
        if !results.is_null() && c_int::try_from(i).is_ok_and(|i| i < number) {
            // SAFETY: `results` has a place for each host, by the call's contract.
            unsafe { results.add(i).write(outcome) };
        }
    });
    changed.unwrap_or_else(|code| failed(name_of_change(adding), code))
}

/// # Safety
/// `list` has `number` texts.
unsafe fn texts(list: *const *const c_char, number: c_int) -> Result<Vec<Blob>, Code> {
    let number = usize::try_from(number).map_err(|_| Code::BadParam)?;
    let mut all = Vec::new();
    // SAFETY: `list` is null or has `number` elements, by the call's contract.
    for &text in unsafe { pointer::array(list, number) }? {
        // SAFETY: `text` is null or ends with 0, by the call's contract.
        all.push(unsafe { pointer::text(text) }?.to_vec().into());
    }
    Ok(all)
}

/// Adds hosts.
///
/// # Safety
/// `names` has `number` texts; `results` is null or has as many elements.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_addhosts(
    names: *const *const c_char,
    number: c_int,
    results: *mut c_int,
) -> c_int {
    traced!(
        unsafe ADDHOSTS,
        pvm_addhosts(names, number, results),
        [HNL: &texts_at(names, number)[..]],
        |r| [CC: r]
    );
    // SAFETY: `names` has `number` texts, and `results` is null or has as many elements.
    unsafe { change_hosts_call(names, number, results, true) }
}

/// Deletes hosts.
///
/// # Safety
/// `names` has `number` texts; `results` is null or has as many elements.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_delhosts(
    names: *const *const c_char,
    number: c_int,
    results: *mut c_int,
) -> c_int {
    traced!(
        unsafe DELHOSTS,
        pvm_delhosts(names, number, results),
        [HNL: &texts_at(names, number)[..]],
        |r| [CC: r]
    );
    // SAFETY: `names` has `number` texts, and `results` is null or has as many elements.
    unsafe { change_hosts_call(names, number, results, false) }
}

/// Microseconds since 1970.
fn clock() -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_micros()).unwrap_or(i64::MAX)
}

/// The clock of a host, and how far the local one is ahead of it.
pub(crate) fn host_clock(host: c_int) -> Result<(i64, i64), Code> {
    let host = Tid::from_c_int(pvm_tidtohost_of(host));
    if host == Tid::NONE {
        return Err(Code::NoHost);
    }
    let task = session::task()?;
    let before = clock();
    let Reply::Clock { microseconds } = task.request(&Request::HostClock { host })? else {
        return Err(unexpected());
    };
    let after = clock();
    Ok((microseconds, before + (after - before) / 2 - microseconds))
}

fn pvm_tidtohost_of(tid: c_int) -> c_int {
    crate::process::pvm_tidtohost(tid)
}

/// The clock of a host, and how far the local one is ahead of it.
///
/// # Safety
/// Each pointer is null or points to a `struct timeval`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_hostsync(
    host: c_int,
    clock: *mut Timeval,
    difference: *mut Timeval,
) -> c_int {
    // PVM tells of its errors by this name.
    call("pvm_host_sync", || {
        let (there, ahead) = host_clock(host)?;
        // SAFETY: `clock` is null or has room for the answer, by the call's contract.
        unsafe { pointer::store(clock, timeval(there)) };
        // SAFETY: `difference` is null or has room for the answer, by the call's contract.
        unsafe { pointer::store(difference, timeval(ahead)) };
        Ok(0)
    })
}

/// The end of the machine ends its tasks with a signal; one that ignores it is not kept for longer.
const END: Duration = Duration::from_secs(5);

/// Waits until the daemon is gone. The caller is to see its signal and not the return of the call.
fn wait_for_end(task: &'static Task, id: u32) {
    // An error tells that the daemon is gone.
    let _ = task.until(Patience::by(Limit::after(END)), |token| {
        // The answer is taken so that it is not kept.
        inside(|| task.answer(id))?;
        Ok::<_, Code>(if task.is_alive() { Step::Sleep(token) } else { Step::Done(()) })
    });
}

/// Ends the machine and with it all its tasks.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_halt() -> c_int {
    let asked = inside(|| {
        let task = session::task()?;
        Ok((task, task.ask(&Request::Halt)?))
    });
    match asked {
        Ok((task, id)) => {
            // A daemon that is gone before it has answered has done what it was asked for.
            wait_for_end(task, id);
            0
        }
        Err(code) => failed("pvm_halt", code),
    }
}

/// The time that a daemon may take to say that it is ready.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// Starts the daemon of this host.
pub(crate) fn start_daemon(args: &[Blob]) -> Result<c_int, Code> {
    if session::task().is_ok() {
        return Err(Code::DupHost);
    }
    let program = crate::helpers::daemon_program();
    let mut child = Command::new(program)
        .args(args.iter().map(|arg| OsStr::from_bytes(&arg.0)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        // A reader of this program's messages shall not wait for the daemon's end, nor shall a key
        // that interrupts this program end the daemon. It has a log.
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|_| Code::CantStart)?;
    let out = child.stdout.take().ok_or(Code::CantStart)?;
    let (ready, told) = std::sync::mpsc::channel();
    // The daemon writes one line when it can be reached; a thread waits, so that this ends.
    std::thread::Builder::new()
        .spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(out).read_line(&mut line).unwrap_or(0);
            // The caller may have given up.
            let _ = ready.send(read > 0);
            let _ = child.wait();
        })
        .map_err(|_| Code::OutOfRes)?;
    if !told.recv_timeout(START_TIMEOUT).unwrap_or(false) {
        return Err(Code::CantStart);
    }
    session::task().map(|_| 0).map_err(|_| Code::CantStart)
}

/// Starts the daemon of this host.
///
/// # Safety
/// `args` has `number` texts.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_start_pvmd(
    number: c_int,
    args: *const *const c_char,
    _block: c_int,
) -> c_int {
    call("pvm_start_pvmd", || {
        if session::task().is_ok() {
            return Err(Code::DupHost);
        }
        // SAFETY: `args` has `number` pointers to texts that end with 0, by the call's contract.
        start_daemon(&unsafe { texts(args, number) }?)
    })
}

/// PVM's way to ask daemons for debugging output. There is nothing to ask for.
///
/// # Safety
/// Each pointer is null or points to its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_tickle(
    number: c_int,
    _args: *const c_int,
    answers: *mut c_int,
    _results: *mut c_int,
) -> c_int {
    call("pvm_tickle", || {
        if !(1..=10).contains(&number) {
            return Err(Code::BadParam);
        }
        session::task()?;
        // SAFETY: `answers` is null or has room for the answer, by the call's contract.
        unsafe { pointer::store(answers, 0) };
        Ok(0)
    })
}

const MANAGER: i32 = 1;
const HOSTER: i32 = 2;
const TASKER: i32 = 3;

fn register(service: i32) -> Result<Reply, Code> {
    session::task()?.request(&Request::Register { service, trace: None, on: true })
}

/// This task starts daemons on further hosts from now on; a second call takes it back.
#[unsafe(no_mangle)]
extern "C" fn pvm_reg_hoster() -> c_int {
    traced!(REG_HOSTER, pvm_reg_hoster(), [], |r| [CC: r]);
    call("pvm_reg_hoster", || register(HOSTER).map(|_| 0))
}

/// This task starts the tasks of its host from now on; a second call takes it back.
#[unsafe(no_mangle)]
extern "C" fn pvm_reg_tasker() -> c_int {
    traced!(REG_TASKER, pvm_reg_tasker(), [], |r| [CC: r]);
    call("pvm_reg_tasker", || register(TASKER).map(|_| 0))
}

/// This task answers what tasks ask about hosts from now on.
///
/// # Safety
/// `host` is null or points to a pointer.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_reg_rm(host: *mut *const HostEntry) -> c_int {
    traced!(unsafe REG_RM, pvm_reg_rm(host), [], |r| [CC: r]);
    call("pvm_reg_rm", || {
        let again = register(MANAGER)? == Reply::Done;
        let hosts = hosts()?;
        let first = hosts.get(..1).unwrap_or_default();
        let entry = FIRST.kept(|kept| host_table(kept, first));
        // SAFETY: `host` is null or has room for the answer, by the call's contract.
        unsafe { pointer::store(host, if first.is_empty() { ptr::null() } else { entry }) };
        // As in PVM, a task that calls it again gets the manager's id.
        Ok(if again { session::task()?.tid().as_c_int() } else { 0 })
    })
}

/// This task receives the traces and outputs of tasks from now on.
///
/// # Safety
/// `mask` is null or ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_reg_tracer(
    trace_context: c_int,
    trace_tag: c_int,
    output_context: c_int,
    output_tag: c_int,
    mask: *const c_char,
    buffer: c_int,
    options: c_int,
) -> c_int {
    call("pvm_reg_tracer", || {
        // SAFETY: `mask` is null or ends with 0, by the call's contract.
        let mask = unsafe { pointer::text_or_none(mask) }.unwrap_or_default();
        let tid = session::task()?.tid();
        let target = Target { tid, context: trace_context, tag: trace_tag };
        let trace = TraceOptions { target, buffer, options, mask: mask.to_vec().into() };
        let output = Target { tid, context: output_context, tag: output_tag };
        let given = Inherited { context: 0, output, trace };
        session::task()?.request(&Request::RegisterTracer { given }).map(|_| 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_difference_has_its_sign_in_the_seconds() {
        assert_eq!(timeval(-1), [-1, 999_999]);
        assert_eq!(timeval(-1_000_000), [-1, 0]);
        assert_eq!(timeval(-1_100_000), [-2, 900_000]);
        assert_eq!(timeval(3_250_000), [3, 250_000]);
    }
}
