//! Messages that find no credit in memory and go into a file of the sender's.

use super::{Outbox, Outgoing, Sent};
use crate::broker::Broker;
use crate::lane;
use crate::slab::Slab;
use crate::spill::Draft;
use pvm_wire::{Code, Envelope, Tid};

impl Outbox {
    /// Room for a message without credit, if this sender spills.
    fn draft(
        &mut self,
        broker: &mut dyn Broker,
        size: usize,
        readers: usize,
    ) -> Result<Option<Draft>, Code> {
        let drafted =
            if self.spills { self.spill.begin(broker, size, readers) } else { Err(Code::OutOfRes) };
        match drafted {
            Ok(draft) => {
                self.has_grown = true;
                Ok(Some(draft))
            }
            Err(Code::OutOfRes) => {
                // The next try asks and counts anew.
                (self.lacks_cells, self.refused, self.uncounted) = (false, 0, 0);
                Ok(None)
            }
            // A full disk: no credit will come of waiting.
            Err(Code::Overflow) => Err(Code::OutOfRes),
            Err(code) => Err(code),
        }
    }

    /// Room in a file for a body whose parts come later, for `readers` receivers.
    ///
    /// # Errors
    /// [`Code::OutOfRes`] if there is no credit now or the disk is full; [`Code::NoMem`].
    pub fn spill(
        &mut self,
        broker: &mut dyn Broker,
        size: usize,
        readers: usize,
    ) -> Result<Draft, Code> {
        self.draft(broker, size, readers)?.ok_or(Code::OutOfRes)
    }

    pub(super) fn send_draft(
        &mut self,
        broker: &mut dyn Broker,
        to: Tid,
        envelope: &Envelope,
        draft: &mut Draft,
    ) -> Result<Sent, Code> {
        let descriptor = draft.hold_for(to).ok_or(Code::NoMem)?;
        let payload = &descriptor.to_array();
        let sent = self.push(broker, to, Outgoing { kind: lane::Kind::Slab, envelope, payload });
        if sent != Ok(Sent::Delivered) {
            draft.release(descriptor);
        }
        sent
    }

    /// Sends a message that found no credit in memory: from a file, if this sender spills.
    #[cold]
    pub(super) fn send_spilled(
        &mut self,
        broker: &mut dyn Broker,
        to: Tid,
        envelope: &Envelope,
        (slab, parts): (Option<&Slab>, &[&[u8]]),
    ) -> Result<Sent, Code> {
        let in_slab = slab.map_or(0, |_| usize::try_from(envelope.body_size()).unwrap_or(0));
        let size = in_slab + parts.iter().map(|part| part.len()).sum::<usize>();
        let Some(mut draft) = self.draft(broker, size, 1)? else { return Ok(Sent::Full) };
        let full = |_| Code::OutOfRes;
        if let Some(slab) = slab {
            draft.write_slab(slab, in_slab).map_err(full)?;
        }
        let mut at = in_slab;
        for part in parts {
            draft.write(at, part).map_err(full)?;
            at += part.len();
        }
        self.send_draft(broker, to, envelope, &mut draft)
    }
}
