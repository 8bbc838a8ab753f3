//! The messages that a program selects with its numbers.

use std::ffi::c_int;

use crate::session;
use pvm::Pattern;
use pvm_wire::{Address, Context, Envelope, Tag, Tid};

/// The task and the tag that a program gives to a send or a receive; a receive takes -1 for any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Partner {
    pub(crate) tid: c_int,
    pub(crate) tag: c_int,
}

/// -1 stands for any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Selection {
    pub(crate) source: c_int,
    pub(crate) tag: c_int,
    pub(crate) context: c_int,
}

impl Selection {
    /// True if some message fits both.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        let meet = |a: c_int, b: c_int| a == b || a == -1 || b == -1;
        meet(self.source, other.source)
            && meet(self.tag, other.tag)
            && meet(self.context, other.context)
    }

    /// True for a message that is meant.
    pub(crate) fn fits(self, envelope: &Envelope) -> bool {
        (self.source == -1 || self.source == envelope.src.as_c_int())
            && (self.tag == -1 || self.tag == envelope.tag)
            && (self.context == -1 || self.context == envelope.context)
    }

    /// The sender and the tag alone.
    pub(crate) const fn partner(self) -> Partner {
        Partner { tid: self.source, tag: self.tag }
    }

    /// The pattern of a receive. Its context is this one and no other: here -1 is not any context.
    #[inline]
    pub(crate) fn pattern(self) -> Pattern {
        let tag = (self.tag != -1).then_some(self.tag);
        Pattern { context: self.context, source: source(self.source), tag }
    }
}

/// The address of a message, of the numbers of a call.
#[inline]
pub(crate) const fn address(tid: c_int, tag: c_int, context: c_int) -> Address {
    Address { to: Tid::from_c_int(tid), tag: Tag(tag), context: Context(context) }
}

impl Partner {
    /// The pattern of a receive from this partner, in the task's current context.
    #[inline]
    pub(crate) fn pattern(self) -> Pattern {
        let Self { tid, tag } = self;
        Selection { source: tid, tag, context: session::context() }.pattern()
    }
}

/// The sender that a program's number means.
#[inline]
pub(crate) fn source(number: c_int) -> Option<Tid> {
    (number != -1).then(|| Tid::from_c_int(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections_overlap_as_in_pvm() {
        let s = |source, tag, context| Selection { source, tag, context };
        assert!(s(-1, 5, -1).overlaps(s(-1, 5, 0)));
        assert!(s(-1, -1, -1).overlaps(s(0x40001, 6, 3)));
        assert!(!s(-1, 5, -1).overlaps(s(-1, 6, -1)));
        assert!(!s(1, 5, 0).overlaps(s(2, 5, 0)));
        assert!(s(-5, 5, 0).overlaps(s(-1, 5, -1)));
        assert!(!s(c_int::MIN, 5, 0).overlaps(s(0x40001, 5, -1)));
    }
}
