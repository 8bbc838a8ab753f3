//! Traces of the tasks of a machine: the file, and what can be computed from it.
//!
//! A trace is made of [`Record`]s, whose times are nanoseconds of their host's clock here. A
//! [`Writer`] streams them into a file (`doc/trace.md`), a [`Reader`] opens any window of it
//! without the rest. [`matching`] finds for each message its send and its receive, [`clocks`] makes
//! times of different hosts comparable, [`profile`] says where the time went, and [`export`] writes
//! files for other tools. Nothing here reads a clock, and no bytes of a file are trusted: each
//! fault has a name and a place, and costs bounded memory.

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
