//! The data that cross process boundaries in NeoPVM.
//!
//! This crate defines task ids and error numbers (PVM's own), the envelope of a message, the layout
//! of its items and how they are read, frames on a socket, and all requests between tasks and
//! daemons. It does no I/O, reads no clock and trusts no byte: every decoder is bounded. Start with
//! [`Envelope`] for messages and with [`request`] for the rest.

#![forbid(unsafe_code)]

mod address;
mod code;
mod codec;
pub mod congestion;
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

pub use address::{Address, Context, Tag};
pub use code::Code;
pub use codec::{Blob, DecodeError, Reader, Wire};
pub use encoding::{Encoding, Kind, Run, RunList, Shape};
pub use envelope::{Envelope, Message};
pub use frame::{FRAME_BYTES_MAX, FrameBuffer, write_frame, write_frame_within};
pub use layout::Layout;
pub use tid::{HostIndex, Tid};
pub use unpack::{Body, Bytes, Cursor};

/// The version of all definitions in this crate. A peer with another version is refused, with an
/// error that names both versions.
pub const PROTOCOL_VERSION: u16 = 11;
