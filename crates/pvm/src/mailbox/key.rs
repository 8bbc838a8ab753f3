//! The name of a waiting message.

/// Names a message while it waits: they are numbered as they arrive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MessageKey(pub u64);

impl MessageKey {
    /// The name of the first message that waits, and so before all others.
    pub const FIRST: Self = Self(0);
}
