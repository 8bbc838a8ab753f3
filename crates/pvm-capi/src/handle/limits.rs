//! The call of `neopvm.h` about sends that find no credit.

use pvm::Policy;
use pvm_wire::Code;

use super::status;
use crate::guard::inside;
use crate::pointer::store;
use crate::session;
use crate::trace::noted;

/// Sets the policy of sends that find no credit, and tells the one before. A negative `policy`
/// changes nothing.
///
/// # Safety
/// `old` is null or points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neopvm_when_full(policy: i32, old: *mut i32) -> i32 {
    noted!(unsafe NEOPVM_WHEN_FULL, neopvm_when_full(policy, old));
    status(inside(|| {
        let task = session::task()?;
        let before = task.policy() as i32;
        if let Ok(number) = u32::try_from(policy) {
            task.set_policy(Policy::from_number(number).ok_or(Code::BadParam)?)?;
        }
        // SAFETY: `old` is null or has room for the answer, by the call's contract.
        unsafe { store(old, before) };
        Ok(())
    }))
}
