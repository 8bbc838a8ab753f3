//! The decisions of NeoPVM, without I/O and without a clock.
//!
//! [`Machine`] is what a host's daemon decides: hosts, tasks, notices, named messages, groups,
//! output. Equal inputs give equal outputs, so one test can run many hosts through faults in one
//! thread, and replay any failure.
//! Start with [`io`], the machine's inputs and outputs.

#![forbid(unsafe_code)]

mod agreed;
mod barrier;
mod contexts;
mod deadline;
mod departure;
mod halt;
mod home;
mod host;
mod host_list;
pub mod io;
mod launches;
mod machine;
mod notify;
mod order;
mod output;
mod parcel;
mod pending;
mod placement;
pub mod planted;
mod plugs;
mod probes;
mod proposals;
pub mod quorum;
mod records;
mod session;
mod speed;
mod standstill;
mod tasks;
mod time;
mod tracers;

pub use agreed::Rules;
pub use machine::{Config, Machine, Setup};
pub use order::Standing;
pub use standstill::Standstill;
pub use time::Time;
