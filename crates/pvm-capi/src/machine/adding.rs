//! Hosts that are added and deleted.

use std::ffi::{c_char, c_int};

use pvm_wire::request::{HostResult, Reply, Request};
use pvm_wire::{Blob, Code};

use super::tables::count;
use crate::guard::failed;
use crate::session::unexpected;
use crate::trace::{texts_at, traced};
use crate::{pointer, waiting};

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
pub(super) unsafe fn texts(list: *const *const c_char, number: c_int) -> Result<Vec<Blob>, Code> {
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
