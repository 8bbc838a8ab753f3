//! Traces of what other tools recorded.

mod sddf;
mod thesis;

pub use sddf::sddf;
pub use thesis::thesis;
