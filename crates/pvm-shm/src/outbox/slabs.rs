//! The host's memory that an outbox has taken: its slabs, and large rings after a burst.

use super::pushing::open;
use super::{LARGE_RING, Outbox, REFUSED_REST};
use crate::broker::{Broker, map};
use crate::credit::{KEPT_BYTES, PAIR_BYTES};
use crate::lane::CELLS_FIRST;
use crate::slab::{Descriptor, Slab};
use pvm_wire::{Code, Tid};

impl Outbox {
    /// A slab for `size` bytes.
    ///
    /// # Errors
    /// [`Code::OutOfRes`] if there is no credit now; [`Code::NoMem`].
    pub fn slab(&mut self, broker: &mut dyn Broker, size: usize) -> Result<Slab, Code> {
        for segment in self.pool.surplus() {
            broker.drop_segment(segment);
        }
        match self.take_slab(broker, size) {
            Err(Code::OutOfRes) if self.refused == 0 => {
                // Slabs that were read meanwhile give credit.
                self.give_back(broker, 0);
                let taken = self.take_slab(broker, size);
                self.refused = if taken.is_err() { REFUSED_REST } else { 0 };
                taken
            }
            taken => taken,
        }
    }

    fn take_slab(&mut self, broker: &mut dyn Broker, size: usize) -> Result<Slab, Code> {
        let Self { pool, refused, pressed, has_grown, .. } = self;
        let opened = &mut false;
        let slab = pool.take(size, |bytes| {
            if *refused > 0 {
                *refused -= 1;
                return Err(Code::OutOfRes);
            }
            let (segment, mapping) = map(broker.open_slab(bytes as u64)?)?;
            *opened = true;
            Ok((segment.id, mapping))
        })?;
        if *opened {
            *pressed = pool.opened() > PAIR_BYTES as u64;
            *has_grown |= pool.opened() > KEPT_BYTES;
        }
        Ok(slab)
    }

    #[cold]
    fn give_back(&mut self, broker: &mut dyn Broker, keep: u64) {
        for segment in self.pool.shrink(keep) {
            broker.drop_segment(segment);
        }
        self.pressed = self.pool.opened() > PAIR_BYTES as u64;
        self.uncounted = 0;
    }

    /// True where [`Outbox::shrink`] may give something back.
    #[inline]
    pub const fn is_large(&self) -> bool {
        self.has_large_rings || self.has_grown
    }

    /// After a burst: gives back slabs and files that have been read, and leaves large rings that
    /// are empty.
    #[cold]
    pub fn shrink(&mut self, broker: &mut dyn Broker) {
        if self.rest > 0 {
            self.rest -= 1;
            return;
        }
        // A caller that looks again and again is not to count all that is unread each time.
        self.rest = self.pool.in_flight() / 256;
        self.spill.shrink(broker);
        if self.pool.opened() > KEPT_BYTES {
            self.give_back(broker, KEPT_BYTES);
        }
        self.has_grown = !self.spill.is_empty() || self.pool.opened() > KEPT_BYTES;
        if self.has_large_rings {
            self.leave_large_rings(broker);
        }
    }

    fn leave_large_rings(&mut self, broker: &mut dyn Broker) {
        self.has_large_rings = false;
        let mut left = Vec::new();
        for (to, lane) in self.lanes.iter_mut() {
            if lane.sender.cells() < LARGE_RING {
                continue;
            }
            let next =
                if lane.sender.is_read() { open(broker, to, CELLS_FIRST).ok() } else { None };
            let Some(mut next) = next else {
                self.has_large_rings = true;
                continue;
            };
            next.number = lane.number;
            lane.sender.push_moved(next.segment);
            left.push(std::mem::replace(lane, next));
        }
        for lane in left {
            self.mark(&lane.inbox, lane.place, lane.doorbell.as_ref());
        }
    }

    /// True if a receiver has its share of this sender's slabs already.
    #[cold]
    pub(super) fn has_share(&mut self, to: Tid, size: usize) -> bool {
        if self.uncounted == 0 {
            self.unread = self.pool.unread();
            self.uncounted = 16 + self.pool.in_flight() / 8;
        }
        self.uncounted -= 1;
        let unread = self.unread.entry(to).or_default();
        let has = *unread > 0 && unread.saturating_add(size) > PAIR_BYTES;
        if !has {
            *unread += size;
        }
        has
    }

    /// Slabs that readers still hold.
    pub fn slabs_in_flight(&self) -> usize {
        self.pool.in_flight()
    }

    /// Notes a receiver in a slab; if all its places are taken, a copy takes the slab's stead.
    pub(super) fn hold(
        &mut self,
        broker: &mut dyn Broker,
        to: Tid,
        slab: &mut Slab,
    ) -> Result<Descriptor, Code> {
        if let Some(descriptor) = slab.hold_for(to) {
            return Ok(descriptor);
        }
        if slab.is_fixed() {
            // The program writes there. This receiver gets a copy in a file.
            return Err(Code::OutOfRes);
        }
        // The next receivers share the copy. The old slab is freed by its readers.
        let size = slab.capacity();
        let copy = self.slab(broker, size)?;
        let mut block = [0; 4096];
        for at in (0..size).step_by(block.len()) {
            let n = block.len().min(size - at);
            slab.read(at, &mut block[..n]);
            copy.write(at, &block[..n]);
        }
        *slab = copy;
        slab.hold_for(to).ok_or(Code::NoMem)
    }
}
