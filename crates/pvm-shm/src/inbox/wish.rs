//! The message that the owner of an inbox waits for, as senders of much data see it.

use crate::sync::{AtomicU64, Ordering};
use pvm_wire::{Envelope, Tid};

/// The message that the owner waits for, on a cache line of its own behind the header. This is a
/// hint: a sender that believes an outdated one loses time, nothing else.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Wish {
    /// 0 none | bit 32: waits | bit 33: any tag | bits 0-31: the sender, 0 any.
    from: AtomicU64,
    /// The context in the upper half, the tag in the lower.
    what: AtomicU64,
}

const WAITS: u64 = 1 << 32;
const ANY_TAG: u64 = 1 << 33;

impl Wish {
    /// Owner: waits for such a message, or for none (any more).
    pub fn set(&self, wanted: Option<(i32, Option<Tid>, Option<i32>)>) {
        let Some((context, from, tag)) = wanted else {
            return self.from.store(0, Ordering::Relaxed);
        };
        let any = if tag.is_none() { ANY_TAG } else { 0 };
        let what =
            u64::from(context.cast_unsigned()) << 32 | u64::from(tag.unwrap_or(0).cast_unsigned());
        self.what.store(what, Ordering::Relaxed);
        self.from.store(WAITS | any | from.map_or(0, |tid| tid.0.into()), Ordering::Relaxed);
    }

    /// Sender: true if this message is waited for.
    pub fn fits(&self, envelope: &Envelope) -> bool {
        let (from, what) = (self.from.load(Ordering::Relaxed), self.what.load(Ordering::Relaxed));
        from & WAITS != 0
            && (from as u32 == 0 || from as u32 == envelope.src.0)
            && (what >> 32) as u32 == envelope.context.cast_unsigned()
            && (from & ANY_TAG != 0 || what as u32 == envelope.tag.cast_unsigned())
    }
}
