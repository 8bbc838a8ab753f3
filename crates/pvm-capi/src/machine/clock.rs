//! The clocks of hosts.

use std::ffi::c_int;
use std::time::SystemTime;

use pvm_wire::request::{Reply, Request};
use pvm_wire::{Code, Tid};

use crate::guard::call;
use crate::session::unexpected;
use crate::timeval::{Timeval, timeval};
use crate::{pointer, session};

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
