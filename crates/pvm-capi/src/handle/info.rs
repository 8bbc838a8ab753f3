//! The facts of a message that the interface with handles tells.

use pvm::Head;
use pvm_wire::{Encoding, Envelope};

use crate::slot::Content;

/// `struct neopvm_info`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Info {
    source: i32,
    destination: i32,
    tag: i32,
    context: i32,
    encoding: i32,
    wait_id: i32,
    bytes: u64,
    left: u64,
}

impl Info {
    pub(super) fn new(envelope: &Envelope, encoding: Encoding, bytes: usize, left: usize) -> Self {
        Self {
            source: envelope.src.as_c_int(),
            destination: envelope.dst.as_c_int(),
            tag: envelope.tag,
            context: envelope.context,
            encoding: i32::from(encoding as u8),
            wait_id: envelope.wait_id,
            bytes: bytes as u64,
            left: left as u64,
        }
    }

    /// The facts of a message of `bytes` bytes, of which none are read.
    #[inline]
    pub(super) fn of_head(about: &Head, bytes: usize) -> Self {
        Self {
            source: about.source().as_c_int(),
            destination: about.destination().as_c_int(),
            tag: about.tag(),
            context: about.context(),
            encoding: i32::from(about.encoding() as u8),
            wait_id: about.wait_id(),
            bytes: bytes as u64,
            left: bytes as u64,
        }
    }

    /// The facts of a buffer.
    #[inline]
    pub(super) fn of(content: &Content) -> Self {
        let (bytes, buffer) = (content.size(), &content.buffer);
        let left = bytes.saturating_sub(buffer.read_size());
        Self::new(&buffer.envelope(), buffer.encoding(), bytes, left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_have_no_holes_that_a_binding_could_miss() {
        assert_eq!(size_of::<Info>(), 40);
    }
}
