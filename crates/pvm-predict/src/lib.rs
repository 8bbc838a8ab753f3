//! The time that a program would take on another network.
//!
//! A [`Source`] gives the actions of each task: computing, sending, receiving. A model runs all
//! tasks in simulated time over hosts, transports and links, each of which is a small machine
//! without I/O, and reports where the time went ([`report`]). No code here reads a clock, and
//! random numbers come from a seed, so one input gives one result. No input is trusted: each fault
//! is reported with its place, and memory is bounded.

#![forbid(unsafe_code)]

mod action;
pub mod as_trace;
pub mod blame;
mod crew;
mod error;
pub mod fit;
mod grow;
mod host;
mod kernel;
pub mod link;
pub mod model;
pub mod planted;
pub mod platform;
mod program;
pub mod report;
mod sections;
pub mod source;
mod transport;
mod unit;
pub mod what_if;

pub use action::{Action, Matching, TaskNumber};
pub use crew::{Alone, Crew};
pub use error::{Awaited, Error, Label, Standstill, Waiting};
pub use grow::{Grown, Growth};
pub use program::Source;
pub use sections::Section;
pub use unit::{Rate, Time};
