//! The call of `neopvm.h` for programs that wait in a place of their own.

use pvm::Step;
use pvm_wire::Code;

use super::{limit, status};
use crate::guard::inside;
use crate::pointer::store;
use crate::session;
use crate::trace::noted;
use crate::waiting::{Patience, check_task};

/// Waits until more has arrived than `*seen` counts, and counts it. Unlike the other calls it does
/// not enrol: a thread that waits on behalf of others must not bring a task back that has left.
///
/// # Safety
/// `seen` is null or points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_wait(seen: *mut u32, limit_ns: i64) -> i32 {
    noted!(unsafe NEOPVM_WAIT, neopvm_wait(seen, limit_ns));
    if seen.is_null() {
        return Code::BadParam.number();
    }
    // SAFETY: not null, and then it points to a number, which may be unaligned.
    let before = unsafe { seen.read_unaligned() };
    status(wait(before, limit_ns).and_then(|now| {
        inside(|| {
            // SAFETY: `seen` is null or has room for the answer, by the call's contract.
            unsafe { store(seen, now) };
            Ok(())
        })
    }))
}

/// Returns the count of arrivals when it is no longer `before`, or when the limit is over.
fn wait(before: u32, limit_ns: i64) -> Result<u32, Code> {
    let task = inside(|| session::current().ok_or(Code::SysErr))?;
    let now = task.until(Patience::by(limit(limit_ns)), |token| {
        inside(|| {
            check_task(task)?;
            task.take_in()
        })?;
        let now = task.arrivals();
        Ok::<_, Code>(if now == before { Step::Sleep(token) } else { Step::Done(now) })
    })?;
    Ok(now.unwrap_or_else(|| task.arrivals()))
}
