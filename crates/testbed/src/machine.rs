//! Starting and halting a machine in a place, for the program `testbed`.

use crate::patience::eventually;
use crate::place::{HomeFolder, Place};
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The time within which a machine has ended.
const END: Duration = Duration::from_secs(10);
/// No start or halt takes longer, also where many tests share few cores.
const LIMIT: Duration = Duration::from_secs(60);

/// A machine of `hosts` hosts on this computer, of the installation in `prefix`. The value holds
/// the standard input of a single host's daemon, which ends with it.
///
/// # Errors
///
/// With the daemon's own words if it does not start.
pub fn start(
    place: &Place,
    prefix: &Path,
    hosts: u32,
    home: HomeFolder,
) -> Result<Vec<Child>, String> {
    match hosts {
        0 => Ok(Vec::new()),
        1 => Ok(vec![daemon(place, prefix, home)?]),
        _ => local(place, prefix, hosts, home).map(|()| Vec::new()),
    }
}

/// A program of the installation in the place, with the caller's other variables.
pub(crate) fn installed(place: &Place, prefix: &Path, program: &str, home: HomeFolder) -> Command {
    let mut command = Command::new(prefix.join("bin").join(program));
    Place::CLEARED.iter().for_each(|name| {
        command.env_remove(name);
    });
    command.env("PVM_ROOT", prefix).envs(place.environment(home));
    command
}

fn daemon(place: &Place, prefix: &Path, home: HomeFolder) -> Result<Child, String> {
    let mut command = installed(place, prefix, "pvmd", home);
    let [out, err] = ["pvmd.out", "pvmd.err"].map(|name| place.folder().join(name));
    let create =
        |path: &Path| File::create(path).map_err(|error| format!("{}: {error}", path.display()));
    command.arg("--bound").stdin(Stdio::piped()).stdout(create(&out)?).stderr(create(&err)?);
    let mut daemon = command.spawn().map_err(|error| unstarted(prefix, "pvmd", &error))?;
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    let is_over = || read(&out).ends_with('\n') || !matches!(daemon.try_wait(), Ok(None));
    eventually(LIMIT, is_over);
    // The path of its socket is the one line that a daemon writes.
    if read(&out).starts_with('/') {
        return Ok(daemon);
    }
    Err(format!("pvmd did not start: {}{}", read(&out), read(&err)))
}

fn local(place: &Place, prefix: &Path, hosts: u32, home: HomeFolder) -> Result<(), String> {
    let mut up = installed(place, prefix, "pvm", home);
    up.args(["up", "--local", &hosts.to_string()]).stdin(Stdio::null()).stdout(Stdio::null());
    let err = place.folder().join("up.err");
    up.stderr(File::create(&err).map_err(|error| format!("{}: {error}", err.display()))?);
    let mut up = up.spawn().map_err(|error| unstarted(prefix, "pvm", &error))?;
    let mut status = None;
    eventually(LIMIT, || {
        status = up.try_wait().ok().flatten();
        status.is_some()
    });
    if status.is_some_and(|status| status.success()) {
        return Ok(());
    }
    let said = std::fs::read_to_string(err).unwrap_or_default();
    Err(format!("pvm up --local {hosts}: {said}"))
}

fn unstarted(prefix: &Path, program: &str, error: &std::io::Error) -> String {
    let make = "make install PREFIX=$PWD/target/stage";
    format!("{}/bin/{program}: {error} (an installation is made by `{make}`)", prefix.display())
}

/// Halts the machine of the place and waits until its processes and files are gone. Returns what
/// is left.
pub fn halt(place: &Place, prefix: &Path, home: HomeFolder) -> Vec<String> {
    let mut halt = installed(place, prefix, "pvm", home);
    halt.arg("halt").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut halt) = halt.spawn() {
        eventually(LIMIT, || !matches!(halt.try_wait(), Ok(None)));
        let _ = halt.kill();
        let _ = halt.wait();
    }
    eventually(END, || left(place).is_empty());
    left(place)
}

/// Processes of the place, and files of its machines.
fn left(place: &Place) -> Vec<String> {
    let processes = place.processes();
    let mut left: Vec<String> =
        processes.into_iter().map(|(pid, words)| format!("process {pid}: {words}")).collect();
    let files = std::fs::read_dir(place.runtime()).into_iter().flatten().flatten();
    left.extend(files.map(|entry| format!("file {}", entry.path().display())));
    left
}
