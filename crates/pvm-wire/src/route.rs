//! A direct route between two tasks: a connected socket and the secrets of its records.
//!
//! The records are those of TLS 1.3 (RFC 8446, section 5); the daemons have made the handshake.

use crate::{Blob, DecodeError, Reader, Tid, Wire, choice, record};
use std::fmt;
use zeroize::Zeroize;

/// Bytes that no log may show, and that are written over when they are dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub Vec<u8>);

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

impl Wire for Secret {
    fn encode(&self, out: &mut Vec<u8>) {
        (self.0.len() as u32).encode(out);
        out.extend_from_slice(&self.0);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Blob::decode(input).map(|blob| Self(blob.0))
    }
}

choice! {
    /// The cipher of records.
    pub enum Cipher {
        /// AES-128-GCM.
        1 => Aes128,
        /// AES-256-GCM.
        2 => Aes256,
        /// ChaCha20-Poly1305.
        3 => ChaCha20,
    }
}

record! {
    /// The key that seals or opens the records of one direction.
    pub struct RecordKey {
        /// The cipher.
        pub cipher: Cipher,
        /// The key.
        pub key: Secret,
        /// The twelve bytes that each record's number is mixed with.
        pub iv: Secret,
        /// The number of the next record.
        pub sequence: u64,
    }

    /// One end of a route. The socket comes beside it.
    pub struct Route {
        /// The other task.
        pub peer: Tid,
        /// True at the end that speaks first; the other one waits until it has heard something.
        pub first: bool,
        /// For what this end sends.
        pub seal: RecordKey,
        /// For what it receives.
        pub open: RecordKey,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_comes_back_and_shows_no_secret() {
        let key = |cipher| RecordKey {
            cipher,
            key: Secret(vec![77; 16]),
            iv: Secret(vec![77; 12]),
            sequence: 3,
        };
        let route = Route {
            peer: Tid(0x80001),
            first: true,
            seal: key(Cipher::Aes128),
            open: key(Cipher::ChaCha20),
        };
        assert_eq!(Route::from_bytes(&route.to_bytes()), Ok(route.clone()));
        assert!(!format!("{route:?}").contains("77"));
    }
}
