//! Sources of actions. Every source is a stream: it keeps a line or a block of each task in memory.

mod lines;
mod pattern;
mod ranks;
mod recorded;
mod stations;

pub use pattern::{Pattern, Shape};
pub use ranks::Ranks;
pub use recorded::{Lacks, Recorded, Survey, Wish};
pub use stations::Stations;
