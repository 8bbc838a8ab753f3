//! The platform of a program: its hosts, the network between them, and the transport on it.
//!
//! A platform is a TOML file. The built-in platforms are such files, too. An error names the line
//! of its cause.

mod built_in;
mod facts;
mod network;
mod placement;
mod reading;
mod transport;

pub use built_in::{BuiltIn, built_in, named};
pub use facts::{Host, Platform};
pub use network::{Fabric, Line, Medium, Network};
pub use placement::Placement;
pub use transport::{Buffer, Congestion, Datagrams, Rdma, Route, Session, TENTHS, Tcp, Transport};
pub(crate) use transport::{IP, UDP};
