//! What tasks run on.

pub(crate) mod cores;
pub(crate) mod station;
