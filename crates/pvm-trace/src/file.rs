//! The trace file: `doc/trace.md` says what its bytes mean.

mod chapter;
mod index;
mod merged;
mod reader;
mod section;
mod writer;

pub use index::Place;
pub use merged::Merged;
pub use reader::Reader;
pub use writer::{Limits, Writer};
