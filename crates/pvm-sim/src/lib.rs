//! Many daemons in one thread: virtual time, links that are cut and heal, daemons that crash,
//! hosts that die.
//!
//! Drives [`pvm_core::Machine`] as the parents and shells of a real machine would, so that the
//! conversation of N hosts can be read, and any failure be replayed from its seed. It has no
//! clock, no thread and no socket. Start with [`World`]; [`script`] turns text into a run,
//! [`random`] a seed.

#![forbid(unsafe_code)]

mod actors;
mod agreement;
mod archive;
mod cable;
pub mod check;
mod clock;
pub mod crowd;
mod dice;
pub mod faults;
mod host_set;
mod link;
mod node;
pub mod random;
pub mod script;
mod show;
mod sums;
mod tally;
mod time;
mod world;

pub use cable::Cables;
pub use link::Links;
pub use node::{Node, Process};
pub use tally::{Fault, Tally};
pub use time::MS;
pub use world::{Crash, Happening, World};
