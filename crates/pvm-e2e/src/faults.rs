//! What tasks see while hosts, daemons and links of a real machine fail: each function makes one kind of fault again
//! and again on hosts of [`Hosts`] and gives a [`Row`] of what was seen.
//!
//! `cargo run -p pvm-e2e --bin faults` runs them all and prints the table; the tests of `networks` run short forms.
//! The watching is done by `programs/faults.c`; its moments and ours are of the same clock, as all hosts are of one
//! computer.

mod links;
mod removals;
mod row;
mod tasks;
mod watchers;

pub use links::{flaps, lossy};
pub use removals::{Fault, daemons_killed, one_by_one, silent_beside_healthy, taken_out};
pub use row::{Row, to_json, to_table};
pub use tasks::{exits, flood};

use crate::Hosts;
use rustix::time::{ClockId, clock_gettime};

/// The program that watches.
const PROGRAM: &str = "faults.c";

/// Seconds of the monotonic clock.
fn now_s() -> f64 {
    let moment = clock_gettime(ClockId::Monotonic);
    moment.tv_sec as f64 + moment.tv_nsec as f64 / 1e9
}

/// The names of the machine's hosts as `host` sees them, sorted; none if it cannot say.
fn members(hosts: &Hosts, host: &str) -> Vec<String> {
    let output = hosts.finish(host, &["pvm", "conf"]);
    let words = output.out.lines().filter_map(|line| line.split_whitespace().next());
    let mut names: Vec<String> = words
        .filter(|word| hosts.names().iter().any(|name| name == word))
        .map(str::to_owned)
        .collect();
    names.sort();
    names
}
