//! The commands that ask the machine one thing, print a table or JSON, and end.

pub(crate) mod add;
pub(crate) mod bench;
pub(crate) mod conf;
pub(crate) mod del;
pub(crate) mod halt;
pub(crate) mod kill;
pub(crate) mod names;
pub(crate) mod ps;
pub(crate) mod status;
pub(crate) mod token;
pub(crate) mod up;
pub(crate) mod upgrade;
