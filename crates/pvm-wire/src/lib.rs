//! What crosses a process boundary in NeoPVM.
//!
//! Task ids and error numbers (PVM's own), the envelope of a message, how items lie in it and
//! how they are read, frames on a socket, and everything that tasks and daemons ask of each
//! other. Nothing here does I/O, reads a clock or trusts a byte: every decoder is bounded.
//! Start with [`Envelope`] for messages and with [`request`] for the rest.

#![forbid(unsafe_code)]

mod code;
mod codec;
mod encoding;
mod envelope;
pub mod events;
pub mod foreign;
mod frame;
pub mod hostfile;
mod layout;
pub mod peer;
pub mod plug;
pub mod proxy;
pub mod record;
pub mod request;
pub mod route;
pub mod spread;
mod tid;
mod unpack;

pub use code::Code;
pub use codec::{Blob, DecodeError, Reader, Wire};
pub use encoding::{Encoding, Kind, Run, RunList, Shape};
pub use envelope::{Envelope, Message};
pub use frame::{FRAME_BYTES_MAX, FrameBuffer, write_frame, write_frame_within};
pub use layout::Layout;
pub use tid::{HostIndex, Tid};
pub use unpack::{Body, Bytes, Cursor};

/// The version of everything in this crate. Peers of another version are refused by name.
pub const PROTOCOL_VERSION: u16 = 9;
