//! Files for other tools. Each export is a stream: it keeps one block of each task and the open
//! calls in memory.
//!
//! Times are corrected by [`Clocks`]; with [`Clocks::raw`] they are the times of the hosts' clocks.

mod chrome;
mod csv;
mod names;
mod otf2;
mod perfetto;
mod proto;
mod sddf;
mod stations;
mod thesis;
mod ti;

pub use chrome::chrome;
pub use csv::csv;
pub use names::{function, own, what};
pub use otf2::otf2;
pub use perfetto::perfetto;
pub use sddf::sddf;
pub use stations::Untold;
pub use thesis::{ThesisFile, thesis};
pub use ti::ti;

#[cfg(doc)]
use crate::clocks::Clocks;
