//! Tuple spaces as tasks use them: the code that carries what [`pvm_tuples`] decides.
//!
//! [`Spaces`] is a task's side: it opens spaces and carries its requests to their servers.
//! [`server`] is the program `pvmtuples`, a task on each host that keeps spaces. Both speak in
//! messages ([`pvm_tuples::frames`]); the servers of each space stand in the machine's named
//! messages ([`registry`]).

#![forbid(unsafe_code)]

mod carry;
mod error;
pub mod registry;
pub mod server;
mod spaces;
mod starting;

pub use error::Error;
pub use spaces::{Found, Limit, Rest, Space, Spaces, Ticket};
