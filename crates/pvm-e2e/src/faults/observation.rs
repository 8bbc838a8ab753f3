//! The common parts of all faults: the program that watches, its clock, the members as a host sees
//! them.

use crate::Hosts;
use rustix::time::{ClockId, clock_gettime};

/// The program that watches.
pub(super) const PROGRAM: &str = "faults.c";

/// Seconds of the monotonic clock.
pub(super) fn now_s() -> f64 {
    let moment = clock_gettime(ClockId::Monotonic);
    moment.tv_sec as f64 + moment.tv_nsec as f64 / 1e9
}

/// The names of the machine's hosts as `host` sees them, sorted; none if it cannot say.
pub(super) fn members(hosts: &Hosts, host: &str) -> Vec<String> {
    let output = hosts.finish(host, &["pvm", "conf"]);
    let words = output.out.lines().filter_map(|line| line.split_whitespace().next());
    let mut names: Vec<String> = words
        .filter(|word| hosts.names().iter().any(|name| name == word))
        .map(str::to_owned)
        .collect();
    names.sort();
    names
}
