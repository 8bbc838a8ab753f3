//! Observations of tasks while hosts, daemons and links of a real machine fail: each function makes
//! one kind of fault again and again on several hosts and returns a [`Row`] of the observations.
//!
//! `cargo run -p pvm-e2e --bin faults` runs them all and prints the table; the tests of `networks`
//! run short forms. The watching is done by `programs/faults.c`; its moments and ours are of the
//! same clock, as all hosts are of one computer.

mod links;
mod observation;
mod removals;
mod row;
mod tasks;
mod watchers;

pub use links::{flaps, lossy};
pub use removals::{Fault, at_once, daemons_killed, one_by_one, silent_beside_healthy, taken_out};
pub use row::{Row, to_json, to_table};
pub use tasks::{exits, flood};
