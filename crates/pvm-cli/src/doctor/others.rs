//! Other implementations of PVM: their files, their programs. They do not disturb us, but people.

use super::check::Check;
use crate::program;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// Checks for files and daemons of other PVMs.
pub(crate) fn others() -> Vec<Check> {
    let mut checks: Vec<Check> = address_files().iter().map(|file| daemon(file)).collect();
    checks.extend(program());
    if checks.is_empty() {
        checks.push(Check::ok("others", "no files or daemons of another PVM were found"));
    }
    checks
}

/// PVM 3 writes where its daemon listens into `pvmd.UID`, or `pvmd.UID.VMID`.
fn address_files() -> Vec<PathBuf> {
    let folder = std::env::var_os("PVM_TMP").filter(|name| !name.is_empty());
    let folder = folder.map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    let plain = format!("pvmd.{}", rustix::process::getuid().as_raw());
    let with_vmid = format!("{plain}.");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            *name == *plain || name.starts_with(&with_vmid)
        })
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    found.sort();
    found
}

fn daemon(file: &Path) -> Check {
    let shown = file.display();
    let socket = std::fs::read_to_string(file).unwrap_or_default();
    if UnixStream::connect(socket.trim()).is_ok() {
        return Check::warning(
            "others",
            format!(
                "a daemon of another PVM runs (its address is in {shown}): programs with that \
                 PVM's library join it"
            ),
            "end it with its own console: `echo halt | /usr/bin/pvm`",
        );
    }
    Check::warning(
        "others",
        format!("a daemon of another PVM that has ended left {shown}"),
        format!("`rm {shown}`"),
    )
}

/// Whether the shell finds another `pvm` than this one.
fn program() -> Option<Check> {
    let ours = std::env::current_exe().ok()?;
    let found = program::in_path(Path::new("pvm"))?;
    let same = found.canonicalize().is_ok_and(|found| found == ours)
        || program::is_ours(&found.with_file_name("pvmd"));
    (!same).then(|| {
        Check::warning(
            "others",
            format!("the `pvm` in PATH is another program: {}", found.display()),
            format!("`export PATH={}:$PATH`", ours.parent().unwrap_or(&ours).display()),
        )
    })
}
