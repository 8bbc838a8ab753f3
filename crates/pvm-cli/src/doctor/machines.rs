//! Machines of this user on this computer, and what dead ones left.

use super::check::Check;
use crate::operator::{self, Operator};
use crate::stopped;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

/// A daemon that is well answers within a thousandth of it.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(2);

/// A check for each machine; one that nothing runs if there is none.
pub(crate) fn machines() -> Vec<Check> {
    let own = pvm::locate::runtime_directory();
    let folders = own.parent().map(operator::entries).unwrap_or_default();
    let mut checks: Vec<Check> =
        folders.iter().filter(|folder| folder.is_dir()).map(|folder| machine(folder)).collect();
    if !own.exists() {
        let name = own.file_name().unwrap_or_default().to_string_lossy();
        checks.push(Check::ok("machine", format!("{name} does not run; start it with `pvm up`")));
    }
    checks
}

fn machine(folder: &Path) -> Check {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (mut well, mut silent, mut pids, mut dead) = (0, Vec::new(), Vec::new(), Vec::new());
    for host in operator::entries(folder) {
        let socket = host.join("pvmd.sock");
        let connected = stopped::connect(&socket);
        if connected.as_ref().is_err_and(|error| error.kind() != ErrorKind::WouldBlock) {
            dead.push(host.display().to_string());
            continue;
        }
        if Operator::answers(&socket, ANSWER_TIME_MAX) {
            well += 1;
        } else {
            silent.push(host.display().to_string());
            pids.extend(stopped::daemon(&socket).map(|pid| pid.as_raw_nonzero().to_string()));
        }
    }
    if !silent.is_empty() {
        return Check::failed(
            "machine",
            format!("{name}: the daemon in {} does not answer", silent.join(", ")),
            format!(
                "`kill -CONT` or `kill -KILL` the process {}; its log is {}/pvml",
                pids.join(", "),
                silent[0]
            ),
        );
    }
    if !dead.is_empty() {
        return Check::warning(
            "machine",
            format!("{name}: a daemon that has ended left {}", dead.join(", ")),
            format!("`rm -r {}` (`pvm up` cleans its own folder by itself)", dead.join(" ")),
        );
    }
    let hosts = if well == 1 { "1 host" } else { &format!("{well} hosts") };
    Check::ok("machine", format!("{name} runs, {hosts} of it here"))
}
