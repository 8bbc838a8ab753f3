//! The path of the daemon's program, and the check whether a program is ours: PVM 3 calls its
//! daemon pvmd, too, and starts it whatever the arguments are.

use crate::failure::{Failure, Status};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Stands in our pvmd, which says it to whoever starts it on another host, and in no other.
const MARK: &[u8] = b"neopvm-host-";

/// `pvmd` beside this program, under PVM_ROOT, or in PATH. In the latter two it may be another's.
pub fn find() -> Result<PathBuf, Failure> {
    let beside = beside().filter(|program| program.is_file());
    let others = || elsewhere().into_iter().find(|program| is_ours(program));
    beside.or_else(others).ok_or_else(|| {
        let text = format!(
            "the daemon pvmd is not installed (looked in {})\n  install it beside pvm: `make \
             install PREFIX=DIR`",
            places().join(", ")
        );
        Failure::new(Status::Daemon, text)
    })
}

fn beside() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.with_file_name("pvmd"))
}

fn elsewhere() -> Vec<PathBuf> {
    let mut places = Vec::new();
    places.extend(std::env::var_os("PVM_ROOT").map(|root| Path::new(&root).join("bin")));
    if let Some(path) = std::env::var_os("PATH") {
        places.extend(std::env::split_paths(&path));
    }
    places.into_iter().map(|place| place.join("pvmd")).collect()
}

/// The folders in which the daemon is looked for.
pub fn places() -> Vec<String> {
    let programs = beside().into_iter().chain(elsewhere());
    let folders = programs.filter_map(|program| program.parent().map(Path::to_path_buf));
    folders.map(|folder| folder.display().to_string()).collect()
}

/// Whether this file is a pvmd of NeoPVM's. It is read, not run.
pub fn is_ours(program: &Path) -> bool {
    std::fs::read(program).is_ok_and(|bytes| contains(&bytes, MARK))
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// The program that a shell would run for this name or path.
pub fn in_path(name: &Path) -> Option<PathBuf> {
    if name.components().count() > 1 {
        return is_executable(name).then(|| name.to_path_buf());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| is_executable(file))
}

/// Whether this is a file that may be executed.
pub fn is_executable(file: &Path) -> bool {
    std::fs::metadata(file)
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// The error that an existing program cannot be run.
pub fn cannot_run(program: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Status::Daemon, format!("cannot run {}: {error}", program.display()))
}
