//! The decisions of NeoPVM, without I/O and without a clock.
//!
//! [`Machine`] is what a host's daemon decides: hosts, tasks, notices, named messages, groups,
//! output. [`Mailbox`] is where a task's unmatched messages wait. Same inputs, same outputs:
//! that lets one test run many hosts through faults in one thread and replay any failure.
//! Start with [`io`], the machine's inputs and outputs.

#![forbid(unsafe_code)]

pub mod io;
mod time;

pub use time::Time;
