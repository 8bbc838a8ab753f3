//! The commands that ask the machine one thing, print a table or JSON, and end.

pub(crate) mod machine;
pub(crate) mod names;
pub(crate) mod tasks;
