//! Makes traces from the files of other tools.

mod sddf;
mod thesis;

pub use sddf::sddf;
pub use thesis::thesis;
