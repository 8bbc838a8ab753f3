//! Services of the machine that a task takes over: it starts hosts or tasks, answers questions
//! about hosts, or receives traces.

use std::ffi::{c_char, c_int};
use std::ptr;

use pvm_wire::Code;
use pvm_wire::request::{Inherited, Reply, Request, Target, TraceOptions};

use super::hosts;
use super::tables::{HostEntry, kept_first};
use crate::guard::call;
use crate::trace::traced;
use crate::{pointer, session};

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
        let entry = kept_first(first);
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
