//! The trace file. `doc/trace.md` defines its bytes.

mod chapter;
mod index;
mod merged;
mod reader;
mod section;
mod timeline;
mod writer;

pub use index::BlockEntry;
pub use merged::{Lane, Merged, lanes};
pub use reader::Reader;
pub use timeline::{Edge, Happening, Timeline};
pub use writer::{Limits, Writer};
