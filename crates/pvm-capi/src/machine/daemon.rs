//! The start of this host's daemon, and the end of the machine.

use std::ffi::{OsStr, c_char, c_int};
use std::io::{BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use pvm::{Step, Task};
use pvm_wire::request::Request;
use pvm_wire::{Blob, Code};

use super::adding::texts;
use crate::guard::{call, failed, inside};
use crate::helpers::installation::daemon_program;
use crate::waiting::{Limit, Patience};
use crate::{pointer, session};

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
    let mut child = Command::new(daemon_program())
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
    if !says_ready(child, out)? {
        return Err(Code::CantStart);
    }
    session::task().map(|_| 0).map_err(|_| Code::CantStart)
}

/// Whether the daemon says in time that it can be reached. A thread reads its one line, so that
/// this ends, and then waits for the daemon's end.
fn says_ready(mut child: Child, out: ChildStdout) -> Result<bool, Code> {
    let (ready, told) = std::sync::mpsc::channel();
    std::thread::Builder::new()
        .spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(out).read_line(&mut line).unwrap_or(0);
            // The caller may have given up.
            let _ = ready.send(read > 0);
            let _ = child.wait();
        })
        .map_err(|_| Code::OutOfRes)?;
    Ok(told.recv_timeout(START_TIMEOUT).unwrap_or(false))
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
