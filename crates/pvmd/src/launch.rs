//! Starting programs and other daemons.

pub(crate) mod child;
