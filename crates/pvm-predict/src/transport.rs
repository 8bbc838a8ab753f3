//! Transports, which make packets of messages. Each transport is a small machine like a link.

pub(crate) mod server;
pub(crate) mod tcp;
