//! The brief way out of a lane: a message of a few bytes in one cell.

use super::Receiver;
use crate::bytes::{FEW, copy_few_between};
use crate::lane::cell::Content;
use crate::lane::head::{Head, Key};
use crate::lane::kind::Kind;
use crate::sync::{Ordering, read_shared};
use pvm_wire::Tid;

impl Receiver {
    /// [`Receiver::take`] of at most [`FEW`] bytes, which lie in one cell: their size, and whether
    /// they are raw and of no type. `may` is asked when there is something.
    // Inlined: pvm_recv of 8 bytes takes 33 instructions less, with what it calls.
    #[inline(always)]
    pub fn take_few(
        &mut self,
        (source, wanted): (Tid, &Key),
        about: &mut Head,
        room: &mut [u8],
        may: impl FnOnce() -> bool,
    ) -> Option<(usize, bool)> {
        let cell = self.walk.next();
        let next = self.position + 1;
        // PAIRS WITH: `Sender::publish`.
        if cell.stamp.load(Ordering::Acquire) != next as u32 || room.len() < FEW || !may() {
            return None;
        }
        let taken = read_shared!(cell.content, |content| {
            Self::take_few_out((source, wanted), content, about, room)
        })?;
        self.position = next;
        self.walk.advance();
        self.report_now_and_then();
        Some(taken)
    }

    /// The part of [`Receiver::take_few`] for a complete cell; `room` is long enough.
    // Inlined: see `take_few`.
    #[inline(always)]
    fn take_few_out(
        (source, wanted): (Tid, &Key),
        content: *const Content,
        about: &mut Head,
        room: &mut [u8],
    ) -> Option<(usize, bool)> {
        // SAFETY: a raw read of plain bytes inside the cell.
        let head = unsafe { (&raw const (*content).head).read_unaligned() };
        let size = head.shape.size();
        let is_wanted = head.source == source.0 && wanted.fits(&head);
        if !is_wanted || !head.shape.is_plain(Kind::Inline) || size > FEW.min(room.len()) {
            return None;
        }
        let is_untyped = head.is_raw_and_untyped();
        if !is_untyped && !head.is_described(head.run_count(), size) {
            return None;
        }
        *about = head;
        // SAFETY: a raw read of plain bytes inside the cell; `size` was read once and is no more
        // than either has.
        unsafe {
            let from = (&raw const (*content).payload).cast::<u8>();
            copy_few_between(from, room.as_mut_ptr(), size);
        }
        Some((size, is_untyped))
    }
}
