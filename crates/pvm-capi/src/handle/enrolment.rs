//! Enrolment by `neopvm.h`: a process becomes a task, and stops being one.

use pvm::{Forked, Gate};
use pvm_wire::Code;

use super::status;
use crate::guard::inside;
use crate::pointer::store;
use crate::trace::noted;
use crate::{process, session};

/// Enrols.
///
/// # Safety
/// Each pointer is null or points to its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_enrol(tid: *mut i32, parent: *mut i32) -> i32 {
    noted!(unsafe NEOPVM_ENROL, neopvm_enrol(tid, parent));
    status(inside(|| {
        let mut users = USERS.enter()?;
        if session::current().is_none() {
            *users = 0;
            session::may_enrol(true);
        }
        let task = session::task()?;
        *users = users.saturating_add(1);
        drop(users);
        // SAFETY: `tid` is null or has room for the answer, by the call's contract.
        unsafe { store(tid, task.tid().as_c_int()) };
        let known = task.welcome().parent;
        let known = if known == 0 { Code::NoParent.number() } else { known };
        // SAFETY: `parent` is null or has room for the answer, by the call's contract.
        unsafe { store(parent, known) };
        Ok(())
    }))
}

/// The number of times that the process has enrolled here and not left: several runtimes in it are
/// one task.
static USERS: Gate<u32> = Gate::new(0);

pub(crate) fn reset_after_fork(forked: &Forked) {
    USERS.reset_after_fork(forked, || 0);
    if let Ok(mut users) = USERS.enter() {
        *users = 0;
    }
}

/// Leaves the machine, if no other part of the process goes on. No call but one that says so makes
/// it a task again: a call of another thread that comes a little later than this one would make one
/// that nobody knows of.
#[unsafe(no_mangle)]
extern "C" fn neopvm_leave() -> i32 {
    noted!(NEOPVM_LEAVE, neopvm_leave());
    let is_last = inside(|| {
        let mut users = USERS.enter()?;
        *users = if session::current().is_some() { users.saturating_sub(1) } else { 0 };
        let is_last = *users == 0;
        if is_last {
            session::may_enrol(false);
        }
        Ok(is_last)
    });
    status(is_last.and_then(|is_last| if is_last { process::leave() } else { Ok(()) }))
}
