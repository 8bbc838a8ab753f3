//! The way from a cell to a message for another host.

use super::Transit;
use super::parcel::{Parcel, read_list, receivers, sizes};
use crate::Payload;
use crate::broker::Broker;
use crate::lane::{Kind, Popped, Room};
use crate::slab::{Descriptor, SlabView};
use crate::spill::SpillView;
use pvm_wire::spread::Receiver;
use pvm_wire::{Code, Tid};
use std::sync::{Arc, Weak};

impl Transit {
    /// The message that a cell leads to.
    ///
    /// # Errors
    /// [`Code::BadMsg`] where that makes no sense; a code that [may pass](crate::inlet::may_pass)
    /// where it is out of reach now.
    pub(super) fn open_message(
        &mut self,
        broker: &mut dyn Broker,
        (sender, host): (Tid, Tid),
        popped: Popped,
        room: Room,
    ) -> Result<Parcel, Code> {
        let envelope = popped.envelope.ok_or(Code::BadMsg)?;
        if envelope.src != sender || envelope.dst.host() != host.host() {
            return Err(Code::BadMsg);
        }
        let sizes @ (size, list_size) = sizes(&envelope).ok_or(Code::BadMsg)?;
        if popped.kind == Kind::Slab as u8 {
            let (payload, receivers, list) =
                self.open_data(broker, host, sizes, &room[..popped.size])?;
            return Ok(Parcel { envelope, payload, receivers, list });
        }
        let lies_here = popped.kind == Kind::Inline as u8 || popped.kind == Kind::Spanning as u8;
        if !lies_here || popped.size != size + list_size {
            return Err(Code::BadMsg);
        }
        let receivers = receivers(&room[size..popped.size])?;
        Ok(Parcel::new(envelope, Payload::Inline { bytes: room, size }, receivers))
    }

    /// The body and the list of receivers to which the descriptors in a cell lead, and the view of
    /// a list that lies apart.
    fn open_data(
        &mut self,
        broker: &mut dyn Broker,
        host: Tid,
        (size, list_size): (usize, usize),
        bytes: &[u8],
    ) -> Result<(Payload, Vec<Receiver>, Option<SlabView>), Code> {
        let body = Descriptor::from_slice(bytes).ok_or(Code::BadMsg)?;
        let behind = bytes.get(Descriptor::SIZE..).ok_or(Code::BadMsg)?;
        if body.is_in_file() {
            let view = self.spilled(broker, host, body, size + list_size)?;
            let mut list = vec![0; list_size];
            view.read(size, &mut list)?;
            return Ok((Payload::Spilled(view.cut(size)), receivers(&list)?, None));
        }
        if list_size == 0 || behind.len() == list_size {
            let list = if list_size == 0 { &[] } else { behind };
            let payload = Payload::Slab(self.view(broker, host, body, size)?);
            return Ok((payload, receivers(list)?, None));
        }
        if behind.is_empty() {
            // The list lies behind the body.
            let view = self.view(broker, host, body, size + list_size)?;
            let list = read_list(&view, size, list_size)?;
            return Ok((Payload::Slab(view.cut(size)), list, None));
        }
        let at = Descriptor::from_slice(behind).ok_or(Code::BadMsg)?;
        // A view that is given up strikes its note out: none is made before both can be.
        let list_mapping = self.slabs.find(broker, at.segment)?;
        let view = self.view(broker, host, body, size)?;
        let list_view =
            SlabView::new(list_mapping, host, at, list_size as u64).ok_or(Code::BadMsg)?;
        let list = read_list(&list_view, 0, list_size)?;
        Ok((Payload::Slab(view), list, Some(list_view)))
    }

    fn spilled(
        &mut self,
        broker: &mut dyn Broker,
        host: Tid,
        descriptor: Descriptor,
        size: usize,
    ) -> Result<SpillView, Code> {
        let mapping = self.slabs.find(broker, descriptor.segment)?;
        let id = descriptor.segment;
        let known = self.files.get(&id).and_then(Weak::upgrade);
        let fd = match known {
            Some(fd) => fd,
            None => {
                let fd = Arc::new(broker.map_spill(id)?.1);
                self.files.retain(|_, fd| fd.strong_count() > 0);
                self.files.insert(id, Arc::downgrade(&fd));
                fd
            }
        };
        let view = SpillView::new(mapping, host, descriptor, size as u64).ok_or(Code::BadMsg)?;
        view.with_file(fd).ok_or(Code::BadMsg)
    }

    fn view(
        &mut self,
        broker: &mut dyn Broker,
        host: Tid,
        descriptor: Descriptor,
        size: usize,
    ) -> Result<SlabView, Code> {
        let mapping = self.slabs.find(broker, descriptor.segment)?;
        SlabView::new(mapping, host, descriptor, size as u64).ok_or(Code::BadMsg)
    }
}
