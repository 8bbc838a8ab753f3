//! The rules for a machine of two hosts, where no majority can decide.

use pvm_wire::{Blob, record};

record! {
    /// The second host's rule for the case that it hears nothing of the first one.
    pub struct Rules {
        /// `witness=`: an account (as for ssh) on a third computer where only one of the two gets
        /// a lock; empty for none. Then both need it to go on without the other.
        pub witness: Blob,
        /// `on_silence=survive`: it goes on. Both may then; when they hear of each other again the
        /// one that did not take over ends.
        pub survive: bool,
    }
}

impl Rules {
    /// The first host goes on, the second one only if the first is gone for certain.
    pub fn plain() -> Self {
        Self { witness: Blob::default(), survive: false }
    }
}
