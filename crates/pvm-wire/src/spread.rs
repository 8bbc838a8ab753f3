//! A message to several tasks of one other host: it crosses once, with the list of its receivers.

use crate::{Tid, record};

record! {
    /// One receiver of a message to several.
    pub struct Receiver {
        /// The task.
        pub tid: Tid,
        /// The number of the message among those to this task.
        pub sequence: u64,
    }
}

impl Receiver {
    /// Bytes of the fixed form: `tid u32`, `sequence u64`.
    pub const SIZE: usize = 12;
}

/// The list in its fixed form, without a count in front.
pub fn to_bytes(receivers: &[Receiver]) -> Vec<u8> {
    let mut out = Vec::with_capacity(receivers.len() * Receiver::SIZE);
    for receiver in receivers {
        crate::Wire::encode(receiver, &mut out);
    }
    out
}

/// Reads the list; none if the bytes are not whole entries.
pub fn from_bytes(bytes: &[u8]) -> Option<Vec<Receiver>> {
    if !bytes.len().is_multiple_of(Receiver::SIZE) {
        return None;
    }
    bytes
        .chunks_exact(Receiver::SIZE)
        .map(|entry| <Receiver as crate::Wire>::from_bytes(entry).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_comes_back_and_a_cut_one_does_not() {
        let receivers: Vec<_> =
            (1..20).map(|n| Receiver { tid: Tid(n), sequence: u64::MAX - u64::from(n) }).collect();
        let bytes = to_bytes(&receivers);
        assert_eq!(bytes.len(), 19 * Receiver::SIZE);
        assert_eq!(from_bytes(&bytes), Some(receivers));
        assert_eq!(from_bytes(&bytes[1..]), None);
    }
}
