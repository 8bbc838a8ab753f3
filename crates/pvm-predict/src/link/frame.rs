//! A frame as links see it.

/// A frame on its way from host to host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The number by which the sender of the frame knows it.
    pub token: u32,
    /// Its source.
    pub from: u32,
    /// Its destination.
    pub to: u32,
    /// Its bytes as the link counts them.
    pub bytes: u64,
}
