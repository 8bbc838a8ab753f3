//! Traces of the tasks of a machine: the file, and what can be computed from it.
//!
//! A trace is made of [`Record`]s, with times in nanoseconds of their host's clock. A [`Writer`]
//! streams them into a file (`doc/trace.md`), and a [`Reader`] reads any window of it without the
//! rest. [`matching`] finds the send and the receive of each message, [`clocks`] makes times of
//! different hosts comparable, [`profile`] shows where the time went, and [`export`] writes files
//! for other tools. No code here reads a clock. The bytes of a file are not trusted: each fault is
//! reported with its place, and memory is bounded.

#![forbid(unsafe_code)]

mod block;
pub mod clocks;
mod error;
pub mod export;
mod file;
pub mod import;
pub mod intake;
mod levels;
pub mod matching;
pub mod profile;
mod tables;
mod varint;

pub use block::{BLOCK_RECORDS_MAX, Block, BlockBuilder};
pub use error::{Error, Fault};
pub use file::{
    BlockEntry, Edge, Happening, Lane, Limits, Merged, Reader, Timeline, Writer, lanes,
};
pub use levels::Summary;
pub use tables::{Ended, Gap, Host, Names, Tables, Task, TaskIndex};

pub use pvm_wire::record::{
    Class, Loss, Processor, Reason, Record, RouteKind, RouteStep, Transfer, What, calls,
    frames::{ClockPair, Counts, HostFacts, TaskFacts},
};
pub use pvm_wire::{Encoding, Tid};
