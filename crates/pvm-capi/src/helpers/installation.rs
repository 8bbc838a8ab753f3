//! The folder in which the system is installed, and the daemon's program.

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr;

use super::{forever, variable};
use crate::guard::plain;

unsafe extern "C" {
    fn dladdr(address: *const c_void, info: *mut ObjectInfo) -> c_int;
}

/// The answer of `dladdr` about an address.
#[repr(C)]
struct ObjectInfo {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

/// The file that this library was loaded from; the program itself if it is linked statically.
fn own_file() -> Option<PathBuf> {
    let mut info = ObjectInfo {
        file: ptr::null(),
        base: ptr::null_mut(),
        symbol: ptr::null(),
        address: ptr::null_mut(),
    };
    let here = pvmgetroot as extern "C" fn() -> *mut c_char;
    // SAFETY: the address is one of this library's, and `info` has the layout that is filled.
    let found = unsafe { dladdr(here as *const c_void, &raw mut info) } != 0;
    if !found || info.file.is_null() {
        return None;
    }
    // SAFETY: dladdr answered with a text.
    let file = unsafe { CStr::from_ptr(info.file) };
    std::fs::canonicalize(OsStr::from_bytes(file.to_bytes())).ok()
}

/// The installation of the system: `PVM_ROOT`, else above this library, else above the program,
/// else above the daemon on the search path.
fn root() -> PathBuf {
    if let Some(root) = variable("PVM_ROOT") {
        return root;
    }
    let files = [own_file(), std::env::current_exe().ok()];
    let prefixes = files.iter().flatten().filter_map(|file| file.ancestors().nth(2));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let searched = folders.iter().filter_map(|folder| folder.parent());
    prefixes
        .chain(searched)
        .find(|prefix| prefix.join("bin/pvmd").exists())
        .map_or_else(|| "/usr".into(), PathBuf::from)
}

/// Returns the folder in which the system is installed.
#[unsafe(no_mangle)]
extern "C" fn pvmgetroot() -> *mut c_char {
    plain(ptr::null_mut(), || forever(root().as_os_str()))
}

/// The daemon's program.
pub(crate) fn daemon_program() -> PathBuf {
    variable("PVM_DPATH").unwrap_or_else(|| root().join("bin/pvmd"))
}

/// The daemon's program.
#[unsafe(no_mangle)]
extern "C" fn pvmgetpvmd() -> *mut c_char {
    plain(ptr::null_mut(), || forever(daemon_program().as_os_str()))
}
