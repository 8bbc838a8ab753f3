//! The hosts on which tasks run.

pub(crate) mod cores;
pub(crate) mod station;
