//! Tuple spaces in messages: this crate sends and receives what [`pvm_tuples`] decides.
//!
//! [`Spaces`] is the side of a task: it opens spaces and sends requests to their servers.
//! [`server`] is the program `pvmtuples`, a task that keeps spaces on each host. Both use the
//! messages of [`pvm_tuples::frames`]. The machine's named messages list the servers of each space
//! ([`registry`]).

#![forbid(unsafe_code)]

mod carry;
mod error;
pub mod registry;
pub mod server;
mod spaces;
mod starting;

pub use error::Error;
pub use spaces::{Found, Limit, Plan, Rest, Space, Spaces, Ticket, directory};
