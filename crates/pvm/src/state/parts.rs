//! Bodies in pieces.

use crate::buffer::sending::Prepared;
use pvm_shm::{Body, Slab};

/// Copies the bytes from an offset on in two pieces, one behind the other.
pub(super) fn join(first: &[u8], second: &[u8], offset: usize, out: &mut [u8]) {
    let split = first.len().saturating_sub(offset).min(out.len());
    let (front, back) = out.split_at_mut(split);
    front.copy_from_slice(&first[offset.min(first.len())..][..split]);
    let from = (offset + split).saturating_sub(first.len());
    back.copy_from_slice(&second[from..from + back.len()]);
}

/// A prepared body as the lanes take it.
pub(super) enum Parts<'a> {
    Bytes([&'a [u8]; 2]),
    Slab(&'a mut Slab),
}

impl<'a> Parts<'a> {
    pub(super) fn of(body: &'a mut Prepared<'_>) -> Self {
        match body {
            Prepared::Bytes(data, list) => Self::Bytes([data, list]),
            Prepared::Slab(slab) => Self::Slab(slab),
            Prepared::Copy(slab) => Self::Slab(slab),
        }
    }

    pub(super) fn body(&mut self) -> Body<'_> {
        match self {
            Self::Bytes(parts) => Body::Bytes(parts),
            Self::Slab(slab) => Body::Slab(slab),
        }
    }
}
