//! The platform of a program: hosts, the network between them, the transport over it.
//!
//! A platform is a TOML file, or one of the built-in ones, which are such files, too. Whatever is
//! wrong with it is told with its line.

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
pub use transport::{Congestion, Datagrams, Rdma, Route, Session, Tcp, Transport};
pub(crate) use transport::{IP, UDP};
