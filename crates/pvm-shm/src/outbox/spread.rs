//! One message for several tasks of another host.

use super::{Body, Outbox, Outgoing, Sent};
use crate::broker::Broker;
use crate::lane::{self, SLAB_PAYLOAD_MAX};
use pvm_wire::spread::{self, Receiver};
use pvm_wire::{Code, Envelope, Tid};

impl Outbox {
    /// Puts one message for several tasks of another host on the way there.
    ///
    /// # Errors
    /// The host has no memory left.
    pub fn send_spread(
        &mut self,
        broker: &mut dyn Broker,
        host: Tid,
        envelope: &Envelope,
        (body, receivers): (Body<'_>, &[Receiver]),
    ) -> Result<Sent, Code> {
        let list = &spread::to_bytes(receivers);
        let mut envelope = *envelope;
        envelope.flags |= Envelope::SPREAD;
        envelope.dst = host;
        envelope.sequence = receivers.len() as u64;
        match body {
            Body::Bytes(parts) => {
                let mut whole: Vec<&[u8]> = parts.to_vec();
                whole.push(list);
                self.send(broker, host, &envelope, Body::Bytes(&whole))
            }
            Body::Draft(_) => Err(Code::BadParam),
            Body::Slab(slab) => {
                let size = usize::try_from(envelope.body_size()).map_err(|_| Code::NoMem)?;
                if self.pressed && self.has_share(host, size) {
                    return self.send_spilled(broker, host, &envelope, (Some(slab), &[list]));
                }
                let Ok(descriptor) = self.hold(broker, host, slab) else {
                    return self.send_spilled(broker, host, &envelope, (Some(slab), &[list]));
                };
                let mut payload = descriptor.to_array().to_vec();
                let mut list_slab = None;
                if payload.len() + list.len() <= SLAB_PAYLOAD_MAX {
                    payload.extend_from_slice(list);
                } else {
                    // Two descriptors: 32 bytes are no descriptor and entries of 12.
                    let list_held = self.slab(broker, list.len()).and_then(|mut slab| {
                        slab.write(0, list);
                        let held = self.hold(broker, host, &mut slab)?;
                        Ok((slab, held))
                    });
                    let Ok((own, held)) = list_held else {
                        slab.release(descriptor);
                        return self.send_spilled(broker, host, &envelope, (Some(slab), &[list]));
                    };
                    payload.extend_from_slice(&held.to_array());
                    list_slab = Some((own, held));
                }
                let kind = lane::Kind::Slab;
                let message = Outgoing { kind, envelope: &envelope, payload: &payload };
                let sent = self.push(broker, host, message);
                if sent != Ok(Sent::Delivered) {
                    slab.release(descriptor);
                    if let Some((slab, held)) = list_slab {
                        slab.release(held);
                    }
                }
                sent
            }
        }
    }
}
