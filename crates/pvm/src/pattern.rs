//! The messages that a receive asks for.

use pvm_wire::{Envelope, Tid};

/// A context, and a source and a tag that may be left open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// Only messages of this context are seen.
    pub context: i32,
    /// The sender, or any.
    pub source: Option<Tid>,
    /// The tag, or any.
    pub tag: Option<i32>,
}

impl Pattern {
    /// True for a message that the receive may have.
    #[inline]
    pub fn matches(&self, envelope: &Envelope) -> bool {
        self.context == envelope.context
            && self.source.is_none_or(|source| source == envelope.src)
            && self.tag.is_none_or(|tag| tag == envelope.tag)
    }
}
