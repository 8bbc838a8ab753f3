//! What tasks run on.

pub(crate) mod station;
