//! The state of a space that moves: see `moves`.

use pvm_wire::Tid;

/// The state of a move from or to this server.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Moving {
    /// The server that becomes the primary.
    pub(super) to: Option<Tid>,
    /// True once this server has been added as a copy.
    pub(super) is_taken_in: bool,
    /// True once it has been told to become the primary.
    pub(super) is_told: bool,
    /// The primary that has told this server to become the next one.
    pub(super) former: Option<Tid>,
}

impl Moving {
    /// The server that was told to become the next primary.
    pub(super) fn told(&self) -> Option<Tid> {
        self.to.filter(|_| self.is_told)
    }
}
