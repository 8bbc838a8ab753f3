//! The tokens that are good: each lets one host in, once, for a while.
//!
//! Only the SHA-256 of a secret is kept. A token is gone from the records before its bearer hears
//! that it was good, and after a few wrong secrets.

use pvm_wire::{Blob, record};
use ring::digest;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Wrong secrets that one token survives.
const WRONG_MAX: u32 = 5;

record! {
    /// One of them.
    pub struct StoredToken {
        /// Its number, which is no secret.
        pub id: u64,
        /// The machine's number for the host that is waited for.
        pub ticket: u64,
        /// SHA-256 of its secret.
        pub digest: Blob,
        /// Until when it is good: nanoseconds since 1970 on the host's clock.
        pub until: u64,
        /// Wrong secrets so far.
        pub wrong: u32,
    }
}

/// The outcome of a try.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Tried {
    /// It was good, for this ticket, and is no more.
    Good(u64),
    /// It was wrong.
    Wrong,
    /// It was wrong once too often: the token of this ticket cannot be used any more.
    Revoked(u64),
}

/// All of them. The door checks whether there are any before it lets a bearer try.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tokens(Arc<Mutex<Vec<StoredToken>>>);

impl Tokens {
    fn lock(&self) -> MutexGuard<'_, Vec<StoredToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more.
    pub(crate) fn add(&self, (id, ticket): (u64, u64), secret: &[u8], until: u64) {
        let digest = Blob(digest_of(secret));
        self.lock().push(StoredToken { id, ticket, digest, until, wrong: 0 });
    }

    /// Takes over the tokens of an earlier daemon.
    pub(crate) fn set(&self, kept: Vec<StoredToken>) {
        *self.lock() = kept;
    }

    /// To be kept for the next daemon.
    pub(crate) fn kept(&self) -> Vec<StoredToken> {
        self.lock().clone()
    }

    /// False if no token can be good.
    pub(crate) fn any(&self) -> bool {
        !self.lock().is_empty()
    }

    /// A bearer tries a token.
    pub(crate) fn redeem(&self, id: u64, secret: &[u8], now: u64) -> Tried {
        let mut all = self.lock();
        all.retain(|kept| kept.until > now);
        let Some(at) = all.iter().position(|kept| kept.id == id) else { return Tried::Wrong };
        // Digests are compared, so that the time of the comparison tells nothing of the secret.
        if all[at].digest.0 == digest_of(secret) {
            return Tried::Good(all.swap_remove(at).ticket);
        }
        all[at].wrong += 1;
        if all[at].wrong >= WRONG_MAX {
            return Tried::Revoked(all.swap_remove(at).ticket);
        }
        Tried::Wrong
    }
}

fn digest_of(secret: &[u8]) -> Vec<u8> {
    digest::digest(&digest::SHA256, secret).as_ref().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_good_once_and_not_for_ever() {
        let tokens = Tokens::default();
        assert!(!tokens.any());
        tokens.add((1, 10), b"one", 100);
        tokens.add((2, 20), b"two", 200);
        assert_eq!(tokens.redeem(1, b"one", 50), Tried::Good(10));
        assert_eq!(tokens.redeem(1, b"one", 50), Tried::Wrong);
        assert_eq!(tokens.redeem(2, b"two", 200), Tried::Wrong);
        assert!(!tokens.any());
    }

    #[test]
    fn five_wrong_secrets_end_a_token() {
        let tokens = Tokens::default();
        tokens.add((1, 10), b"one", 100);
        for _ in 0..4 {
            assert_eq!(tokens.redeem(1, b"guess", 0), Tried::Wrong);
            assert_eq!(tokens.redeem(9, b"one", 0), Tried::Wrong);
        }
        let again = Tokens::default();
        again.set(tokens.kept());
        assert_eq!(again.redeem(1, b"guess", 0), Tried::Revoked(10));
        assert_eq!(again.redeem(1, b"one", 0), Tried::Wrong);
    }
}
