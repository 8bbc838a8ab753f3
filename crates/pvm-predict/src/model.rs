//! How sources, hosts, transports and links are put together.

pub mod line;
pub mod packet;
pub mod thesis;
