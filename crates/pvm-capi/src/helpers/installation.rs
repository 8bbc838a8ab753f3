//! The folder in which the system is installed, and the daemon's program.

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
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
/// else above a folder of the search path.
fn root() -> PathBuf {
    if let Some(root) = variable("PVM_ROOT") {
        return root;
    }
    let files = [own_file(), std::env::current_exe().ok()].into_iter().flatten();
    let above = files.filter_map(|file| Some((file.ancestors().nth(2)?.to_owned(), file)));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let searched = folders.into_iter().filter_map(|bin| Some((bin.parent()?.to_owned(), bin)));
    let found = above.chain(searched).find(|(prefix, known)| is_installation(prefix, known));
    found.map_or_else(|| "/usr".into(), |(prefix, _)| prefix)
}

/// Whether a daemon lies there that nobody can have put there but root, this user, and the owner of
/// `known`, whose programs run here anyway. A program may lie in a folder of /tmp, above which
/// anybody makes a folder `bin`.
fn is_installation(prefix: &Path, known: &Path) -> bool {
    let known = std::fs::metadata(known).map(|found| found.uid());
    let trusted = [0, rustix::process::geteuid().as_raw(), known.unwrap_or(0)];
    let is_theirs = |found: &Metadata| trusted.contains(&found.uid());
    // In a folder with the sticky bit others cannot replace what they do not own.
    let keeps = |found: &Metadata| found.mode() & 0o002 == 0 || found.mode() & 0o1000 != 0;
    let (folder, daemon) = (prefix.join("bin"), prefix.join("bin/pvmd"));
    [prefix, &folder, &daemon].iter().all(|path| {
        std::fs::symlink_metadata(path).is_ok_and(|link| is_theirs(&link))
            && std::fs::metadata(path).is_ok_and(|end| is_theirs(&end) && keeps(&end))
    })
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
