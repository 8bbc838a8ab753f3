//! The state of a space that moves: see `moves`.

use pvm_wire::Tid;

/// The move of a space from or to this server.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Moving {
    /// The server that is to be the primary.
    pub(super) to: Option<Tid>,
    /// It was taken in as a copy.
    pub(super) is_taken_in: bool,
    /// It was told.
    pub(super) is_told: bool,
    /// The primary that has told this server to be the next one.
    pub(super) former: Option<Tid>,
}

impl Moving {
    /// The server that was told to be the next primary.
    pub(super) fn told(&self) -> Option<Tid> {
        self.to.filter(|_| self.is_told)
    }
}
