//! This task and others: their ids, spawn, kill, notices.

use std::ffi::{c_char, c_int};

use pvm::{Forked, Gate, Task};
use pvm_wire::request::{Reply, Request, SpawnRequest};
use pvm_wire::{Blob, Code, Context, Tag, Tid};

use crate::guard::{call, failed, inside};
use crate::own::{Own, ThreadOwned as _};
use crate::say::{say, who};
use crate::trace::{self};
use crate::trace::{ints_at, list_at, text_at, traced};
use crate::waiting::{self, Patience};
use crate::{buffer, globals, handler, held, options, output, pointer, registry, session, tuple};

/// This task's id; the process becomes a task if it is none.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_mytid() -> c_int {
    if !crate::guard::is_inside() {
        if session::current().is_none() {
            session::may_enrol(true);
        }
        trace::enrol_first();
    }
    traced!(MYTID, pvm_mytid(), [], |r| [MT: r]);
    // Handlers ask this at any time; the answer needs no lock.
    if let Some(task) = session::current() {
        return task.tid().as_c_int();
    }
    call("pvm_mytid", || Ok(session::task()?.tid().as_c_int()))
}

/// The task that spawned this one.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_parent() -> c_int {
    trace::enrol_first();
    traced!(PARENT, pvm_parent(), [], |r| [PT: r]);
    let parent = call("pvm_parent", || {
        let parent = session::task()?.welcome().parent;
        Ok(if parent == 0 { Code::NoParent.number() } else { parent })
    });
    if let Some(code) = Code::from_number(parent) {
        globals::note_error(code.number());
    }
    parent
}

/// Leaves the machine; the process goes on. Caught output is printed to its end first.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_exit() -> c_int {
    traced!(EXIT, pvm_exit(), [], |r| [CC: r]);
    if session::current().is_none() {
        return 0;
    }
    trace::flush();
    handler::run_all();
    let begun = inside(|| session::current().map_or(Ok(()), output::wait_for_end));
    // A daemon that is gone ends the waiting, and the exit tells so.
    let drained = begun.and_then(|()| output::drain());
    let left = leave();
    match drained.and(left) {
        Ok(()) => 0,
        Err(code) => failed("pvm_exit", code),
    }
}

/// Leaves the machine if the process is in it; handlers and the messages held for matching are
/// forgotten.
pub(crate) fn leave() -> Result<(), Code> {
    inside(|| {
        if let Some(task) = session::current() {
            tuple::farewell(task);
            buffer::sign_all(task.tid());
        }
        let left = session::current().map_or(Ok(()), session::leave);
        handler::forget_all();
        let forgotten = held::forget_all();
        // The buffer stays, but it is not the one that is read any more.
        buffer::set_receiving(0, None);
        left.and(forgotten)
    })
}

/// Tells the last result below zero.
///
/// # Safety
/// `text` is null or ends with 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_perror(text: *const c_char) -> c_int {
    call("pvm_perror", || {
        // SAFETY: `text` is null or ends with 0, by the call's contract.
        let text = unsafe { pointer::text_or_none(text) };
        let mut line = format!("libpvm {}: ", who()).into_bytes();
        line.extend_from_slice(text.unwrap_or(b"(null)"));
        line.extend_from_slice(b": ");
        line.extend_from_slice(globals::error_text(last_error()).to_bytes());
        line.push(b'\n');
        say(&line);
        Ok(0)
    })
}

fn last_error() -> c_int {
    // SAFETY: an int that is always valid.
    unsafe { (&raw const globals::pvm_errno).read_volatile() }
}

/// The text of the last result below zero.
#[unsafe(no_mangle)]
extern "C" fn pvm_strerror() -> *mut c_char {
    globals::error_text(last_error()).as_ptr().cast_mut()
}

/// The version that this library stands in for.
#[unsafe(no_mangle)]
extern "C" fn pvm_version() -> *mut c_char {
    c"3.4.6".as_ptr().cast_mut()
}

/// The host part of an id.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_tidtohost(tid: c_int) -> c_int {
    tid & 0x3ffc_0000
}

thread_local! {
    /// The list that the last `pvm_siblings` of this thread returned.
    static SIBLINGS: Own<Vec<c_int>> = const { Own::new() };
}

/// The siblings that this process was started with, in place of those that its daemon names.
static TOLD_SIBLINGS: Gate<Vec<c_int>> = Gate::new(Vec::new());

/// From now on these are the tasks that were spawned together with this one.
pub(crate) fn set_siblings(tids: Vec<c_int>) -> Result<(), Code> {
    *TOLD_SIBLINGS.enter()? = tids;
    Ok(())
}

/// The child of a fork was not spawned.
pub(crate) fn reset_after_fork(forked: &Forked) {
    TOLD_SIBLINGS.reset_after_fork(forked, Vec::new);
    let _ = set_siblings(Vec::new());
}

/// The tasks that were spawned together with this one, itself included.
pub(crate) fn siblings() -> Result<Vec<c_int>, Code> {
    let task = session::task()?;
    let told = TOLD_SIBLINGS.enter()?;
    if !told.is_empty() {
        return Ok(told.clone());
    }
    drop(told);
    let listed = &task.welcome().siblings;
    if listed.is_empty() {
        return Ok(vec![task.tid().as_c_int()]);
    }
    Ok(listed.iter().map(|tid| tid.as_c_int()).collect())
}

/// The tasks that were spawned together with this one, itself included.
///
/// # Safety
/// `tids` is null or points to a pointer.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_siblings(tids: *mut *const c_int) -> c_int {
    traced!(unsafe SIBLINGS, pvm_siblings(tids), [], |r| [SIB: list_at(tids, r)]);
    call("pvm_siblings", || {
        let listed = siblings()?;
        let count = c_int::try_from(listed.len()).map_err(|_| Code::Overflow)?;
        let list = SIBLINGS.kept(|list| {
            *list.borrow_mut() = listed;
            list.borrow().as_ptr()
        });
        // SAFETY: `tids` is null or has room for the answer, by the call's contract.
        unsafe { pointer::store(tids, list) };
        Ok(count)
    })
}

/// The arguments of `pvm_spawn`.
pub(crate) struct Spawn<'a> {
    pub(crate) file: &'a [u8],
    pub(crate) args: Vec<Blob>,
    pub(crate) flags: c_int,
    pub(crate) place: &'a [u8],
    pub(crate) count: c_int,
}

impl Spawn<'_> {
    /// The request to the daemon.
    fn request(self) -> Result<Request, Code> {
        if self.count <= 0 {
            return Err(Code::BadParam);
        }
        // "host:directory", each of which may be missing.
        let colon = self.place.iter().position(|&c| c == b':');
        let (place, directory) = match colon {
            Some(at) => (&self.place[..at], &self.place[at + 1..]),
            None => (self.place, &[][..]),
        };
        let spawn = SpawnRequest {
            file: self.file.to_vec().into(),
            args: self.args,
            flags: self.flags,
            place: place.to_vec().into(),
            count: self.count,
            environment: options::environment(),
            whole_environment: false,
            directory: directory.to_vec().into(),
            inherited: session::inherited(),
        };
        Ok(Request::Spawn { spawn })
    }
}

/// Spawns, and returns the ids of the started tasks before the codes of the others.
pub(crate) fn spawn(wish: Spawn<'_>) -> Result<Vec<c_int>, Code> {
    let request = wish.request()?;
    let task = session::task()?;
    outcomes(task, task.request(&request)?)
}

/// [`spawn`] for a caller that may give up: none if it did, and no task has been started.
pub(crate) fn spawn_until<'a>(
    wish: impl FnOnce() -> Result<Spawn<'a>, Code>,
    patience: Patience<'_>,
) -> Result<Option<Vec<c_int>>, Code> {
    let Some(reply) = waiting::ask_until(|_| wish()?.request(), patience)? else { return Ok(None) };
    inside(|| outcomes(session::task()?, reply).map(Some))
}

fn outcomes(task: &Task, reply: Reply) -> Result<Vec<c_int>, Code> {
    let Reply::Spawned { mut outcomes, .. } = reply else { return Err(session::unexpected()) };
    outcomes.sort_by_key(|&outcome| outcome <= 0);
    output::expect(task, &outcomes)?;
    Ok(outcomes)
}

/// Starts programs.
///
/// # Safety
/// The texts are null or end with 0; `args` is null or ends with null; `tids` is null or has
/// `count` elements.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_spawn(
    file: *const c_char,
    args: *const *const c_char,
    flags: c_int,
    place: *const c_char,
    count: c_int,
    tids: *mut c_int,
) -> c_int {
    traced!(
        unsafe SPAWN,
        pvm_spawn(file, args, flags, place, count, tids),
        [SE: text_at(file), SW: text_at(place), SF: flags, SC: count],
        |r| [CC: r, STL: ints_at(tids, r)]
    );
    call("pvm_spawn", || {
        // SAFETY: `file` is null or ends with 0, by the call's contract.
        let file = unsafe { pointer::text(file) }?;
        // SAFETY: `place` is null or ends with 0, by the call's contract.
        let place = unsafe { pointer::text_or_none(place) }.unwrap_or_default();
        // SAFETY: `args` is null or a list of texts that ends with null, by the call's contract.
        let args = unsafe { arguments(args) };
        let outcomes = spawn(Spawn { file, args, flags, place, count })?;
        for (i, &outcome) in outcomes.iter().enumerate().filter(|_| !tids.is_null()) {
            // SAFETY: not null, and it has `count` elements: as many as there are outcomes.
            unsafe { tids.add(i).write(outcome) };
        }
        started(&outcomes)
    })
}

/// The number of outcomes that are tasks.
pub(crate) fn started(outcomes: &[c_int]) -> Result<c_int, Code> {
    c_int::try_from(outcomes.iter().filter(|&&outcome| outcome > 0).count())
        .map_err(|_| Code::Overflow)
}

/// # Safety
/// `list` is null or an array of texts that ends with null.
pub(crate) unsafe fn arguments(list: *const *const c_char) -> Vec<Blob> {
    let mut args = Vec::new();
    if list.is_null() {
        return args;
    }
    // SAFETY: the element exists, as the one before was not the last.
    while let Some(arg) = unsafe { pointer::text_or_none(list.add(args.len()).read()) } {
        args.push(arg.to_vec().into());
    }
    args
}

/// Sends a signal to a task.
pub(crate) fn signal(tid: c_int, signal: c_int) -> Result<c_int, Code> {
    let tid = Tid::from_c_int(tid);
    if !tid.may_be_task() {
        return Err(Code::BadParam);
    }
    match session::task()?.request(&Request::Signal { tid, signal }) {
        // As in PVM, it is not reported that the task does not exist.
        Ok(_) | Err(Code::NoTask) => Ok(0),
        Err(code) => Err(code),
    }
}

/// Ends a task.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_kill(tid: c_int) -> c_int {
    traced!(KILL, pvm_kill(tid), [TT: tid], |r| [CC: r]);
    call("pvm_kill", || signal(tid, 15))
}

/// Sends a signal to a task.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_sendsig(tid: c_int, number: c_int) -> c_int {
    traced!(SENDSIG, pvm_sendsig(tid, number), [TT: tid, SN: number], |r| [CC: r]);
    call("pvm_sendsig", || signal(tid, number))
}

/// `PvmOk` if a task runs.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_pstat(tid: c_int) -> c_int {
    traced!(PSTAT, pvm_pstat(tid), [TT: tid], |r| [TST: r]);
    call("pvm_pstat", || {
        let tid = Tid::from_c_int(tid);
        if !tid.may_be_task() {
            return Err(Code::BadParam);
        }
        session::task()?.request(&Request::TaskStatus { tid })?;
        Ok(0)
    })
}

const TASK_EXIT: c_int = 1;
const HOST_DELETE: c_int = 2;
const HOST_ADD: c_int = 3;
const ROUTE_ADD: c_int = 4;
const ROUTE_DELETE: c_int = 5;
const CANCEL: c_int = 256;

/// The arguments of `pvm_notify`.
pub(crate) struct Notice<'a> {
    pub(crate) kind: c_int,
    pub(crate) tag: c_int,
    pub(crate) context: c_int,
    pub(crate) count: c_int,
    /// The ids that it is about, for kinds that are about some.
    pub(crate) tids: &'a [c_int],
}

/// True for a kind of notice that is about tasks or hosts that are named.
fn has_subjects(kind: c_int) -> bool {
    matches!(kind & !CANCEL, TASK_EXIT | HOST_DELETE | ROUTE_DELETE)
}

/// Asks for notices.
pub(crate) fn notify(notice: Notice<'_>) -> Result<(), Code> {
    let cancel = notice.kind & CANCEL != 0;
    let kind = notice.kind & !CANCEL;
    let reserved = session::option(session::RESERVED) != 0;
    if !(TASK_EXIT..=ROUTE_DELETE).contains(&kind) || notice.tag < 0 && !reserved {
        return Err(Code::BadParam);
    }
    let watched = if has_subjects(kind) { notice.tids } else { &[] };
    // As in PVM hosts are not looked at: where a number names none, that host is gone.
    let good = |&tid: &c_int| kind == HOST_DELETE || Tid::from_c_int(tid).may_be_task();
    if has_subjects(kind) && watched.is_empty() || !watched.iter().all(good) {
        return Err(Code::BadParam);
    }
    let tids: Vec<Tid> = watched.iter().map(|&tid| Tid::from_c_int(tid)).collect();
    let count = if kind >= HOST_ADD { notice.count } else { 0 };
    let Notice { context, tag, .. } = notice;
    match kind {
        ROUTE_ADD => {
            let (context, tag) = (Context(context), Tag(tag));
            return session::task()?.notify_route_add(context, tag, count, cancel);
        }
        ROUTE_DELETE => {
            let (context, tag) = (Context(context), Tag(tag));
            return session::task()?.notify_route_delete(context, tag, &tids, cancel);
        }
        _ => {}
    }
    session::task()?.request(&Request::Notify { kind, cancel, context, tag, count, tids })?;
    Ok(())
}

/// Asks for notices.
///
/// # Safety
/// `tids` has `count` elements where the kind uses them.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_notify(
    kind: c_int,
    tag: c_int,
    count: c_int,
    tids: *const c_int,
) -> c_int {
    traced!(
        unsafe NOTIFY,
        pvm_notify(kind, tag, count, tids),
        [NE: kind, NMC: tag, NTL: ints_at(tids, count)],
        |r| [CC: r]
    );
    call("pvm_notify", || {
        let number = usize::try_from(count).unwrap_or(0);
        let number = if has_subjects(kind) { number } else { 0 };
        // SAFETY: `tids` is null or has `number` elements, by the call's contract.
        let tids = unsafe { pointer::array(tids, number) }?;
        notify(Notice { kind, tag, context: session::context(), count, tids })?;
        Ok(0)
    })
}

thread_local! {
    /// The list that the last `pvm_getnoresets` of this thread returned.
    static SPARED: Own<Vec<c_int>> = const { Own::new() };
}

/// The tasks that a reset spares.
///
/// # Safety
/// Each pointer is null or points to its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_getnoresets(tids: *mut *const c_int, count: *mut c_int) -> c_int {
    call("pvm_getnoresets", || {
        let spared: Vec<c_int> = registry::list(b"###_PVM_NO_RESET_###")?
            .iter()
            .flat_map(|class| class.entries.iter().map(|entry| entry.owner.as_c_int()))
            .collect();
        let number = c_int::try_from(spared.len()).map_err(|_| Code::Overflow)?;
        let list = SPARED.kept(|list| {
            *list.borrow_mut() = spared;
            list.borrow().as_ptr()
        });
        // SAFETY: `tids` is null or has room for the answer, by the call's contract.
        unsafe { pointer::store(tids, list) };
        // SAFETY: `count` is null or has room for the answer, by the call's contract.
        unsafe { pointer::store(count, number) };
        Ok(0)
    })
}
