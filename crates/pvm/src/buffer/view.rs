//! Data of a message without a copy: views of a received one, memory of one that will be sent.

use super::{Buffer, Data, SPANNING_MAX, Store};
use pvm_wire::{Body, Code, Encoding, Kind, foreign};

/// Room behind the data for a run list, so that a sending does not move them.
const LIST_ROOM: usize = 64;

impl Buffer {
    /// The next `count` items of `kind` where they lie, as if they had been unpacked. They stay
    /// there until the message is dropped or packed anew; they need not be aligned. The sender of a
    /// received message may still write there: read through the pointer, form no reference.
    ///
    /// # Errors
    /// [`Code::NotImpl`] where the items must be converted: packed as another kind, in several
    /// calls with others between them, or raw on a machine of another layout. [`Code::NoData`] if
    /// there are fewer, or the sender died before the message was whole. Then nothing is read, and
    /// an unpack may still do it.
    pub fn view_items(&mut self, kind: Kind, count: usize) -> Result<*const u8, Code> {
        if self.encoding == Encoding::InPlace
            || !foreign::can_read(&self.envelope(), self.encoding, kind)
        {
            return Err(Code::NotImpl);
        }
        let start = self.view()?.0;
        let data = Data { store: &self.store, size: self.size };
        let body = Body { data: &data, runs: &self.runs, encoding: self.encoding };
        let offset = self.cursor.view(body, kind, count)?;
        Ok(start.wrapping_add(offset))
    }

    /// Packs `count` items whose bytes the program fills in later, up to the sending: where they
    /// are. Data too long for a lane lie in shared memory and are sent without a copy. The place is
    /// good until more is packed or the message is dropped.
    ///
    /// # Errors
    /// As for [`Buffer::pack`]; [`Code::NoMem`] where there is no shared memory.
    pub fn allocate(&mut self, kind: Kind, count: usize) -> Result<*mut u8, Code> {
        if self.encoding == Encoding::InPlace {
            return Err(Code::NotImpl);
        }
        let bytes = count.checked_mul(kind.size()).ok_or(Code::NoMem)?;
        let end = self.size.checked_add(bytes).ok_or(Code::NoMem)?;
        if end > SPANNING_MAX {
            self.reserve(bytes.checked_add(LIST_ROOM).ok_or(Code::NoMem)?)?;
            if !matches!(self.store, Store::Slab(_)) {
                return Err(Code::NoMem);
            }
        } else {
            self.reserve(bytes)?;
        }
        let start = self.size;
        if let Store::Heap(heap) = &mut self.store {
            heap.resize(end, 0);
        }
        self.size = end;
        self.note(kind, count);
        Ok(match &mut self.store {
            Store::Small(small) => small[start..].as_mut_ptr(),
            Store::Heap(heap) => heap[start..].as_mut_ptr(),
            Store::Slab(slab) => {
                slab.fix();
                slab.address(start, bytes)
            }
            // `reserve` has made it our own.
            Store::Received(_) | Store::Spilled(_) | Store::Unmapped(_) => return Err(Code::NoMem),
        })
    }

    /// True while a receiver on this host, or the way to another one, still holds the sent data:
    /// the data must not be changed. A slab of a message that is dropped is used again by itself
    /// once this is over.
    pub fn is_being_read(&self) -> bool {
        matches!(&self.store, Store::Slab(slab) if !slab.is_unread())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_shm::inbox::Inbox;
    use pvm_shm::segment::Mapping;
    use pvm_shm::{Body as Sending, Inlet, Keeper, Outbox, Payload, Sent};
    use pvm_wire::{Address, Context, Envelope, Tag, Tid};

    #[test]
    fn views_show_the_items_and_refuse_what_needs_conversion() {
        let mut buffer = Buffer::new(Encoding::Default);
        buffer.pack(Kind::Byte, b"abc").expect("room");
        buffer.pack(Kind::Int, &[1, 0, 0, 0, 2, 0, 0, 0]).expect("room");
        assert_eq!(buffer.view_items(Kind::Int, 1), Err(Code::NotImpl));
        let start = buffer.view().expect("whole").0;
        assert_eq!(buffer.view_items(Kind::Byte, 3), Ok(start));
        assert_eq!(buffer.view_items(Kind::Double, 1), Err(Code::NotImpl));
        assert_eq!(buffer.view_items(Kind::Int, 3), Err(Code::NoData));
        assert_eq!(buffer.view_items(Kind::Int, 2), Ok(start.wrapping_add(3)));
        assert_eq!(buffer.view_items(Kind::Byte, 1), Err(Code::NoData));
        assert_eq!(buffer.view_items(Kind::Byte, usize::MAX), Err(Code::NoData));
    }

    #[test]
    fn a_view_of_a_message_whose_sender_died_in_the_middle_is_refused() {
        const FROM: Tid = Tid(0x40001);
        const TO: Tid = Tid(0x40002);
        const SIZE: usize = 100_000;
        let mut keeper = Keeper::new(1 << 30).expect("memory");
        keeper.create_inbox(FROM, "".into()).expect("memory");
        let (_, fd) = keeper.create_inbox(TO, "".into()).expect("memory");
        let mapping = Mapping::new(fd, Inbox::SIZE, true).expect("mapped");
        let mut inlet = Inlet::new(TO, Inbox::new(mapping.into()), keeper.activity().clone());
        let mut out = Outbox::new(&mut keeper.broker(FROM)).expect("memory");
        let mut envelope = Envelope::new(FROM, Address::new(TO, Tag(1), Context::FIRST));
        envelope.encoding = Encoding::Raw;
        // The first look is at everything, the second at what is told of.
        for _ in 0..2 {
            let first = out.send(&mut keeper.broker(FROM), TO, &envelope, Sending::Bytes(&[]));
            assert_eq!(first, Ok(Sent::Delivered));
            inlet.next(&mut keeper.broker(TO), true).expect("sent");
        }
        envelope.data_size = SIZE as u64;
        let mut slab = out.slab(&mut keeper.broker(FROM), SIZE).expect("memory");
        out.begin_stream(TO, &envelope, &mut slab).expect("a lane stands");
        slab.fill_stream(SIZE / 2);
        let taken = inlet.take_stream(&mut keeper.broker(TO), None, |_| true);
        let Some((envelope, Payload::Slab(view))) = taken else { panic!("it is being written") };
        let mut buffer = Buffer::new(Encoding::Raw);
        assert!(buffer.fill(envelope, Store::Received(view)));
        keeper.remove_task(FROM);
        assert_eq!(buffer.view(), Err(Code::NoData));
        assert_eq!(buffer.view_items(Kind::Byte, SIZE), Err(Code::NoData));
        assert_eq!(buffer.unpack(Kind::Byte, &mut [0; SIZE]), Err(Code::NoData));
    }

    #[test]
    fn memory_that_was_allocated_counts_as_packed() {
        let mut buffer = Buffer::new(Encoding::Default);
        buffer.pack(Kind::Int, &7i32.to_ne_bytes()).expect("room");
        let place = buffer.allocate(Kind::Double, 2).expect("room");
        assert_eq!(place.cast_const(), buffer.view().expect("whole").0.wrapping_add(4));
        assert_eq!(buffer.reported_size(), 20);
        let mut out = [0; 16];
        buffer.unpack(Kind::Int, &mut out[..4]).expect("data");
        buffer.unpack(Kind::Double, &mut out).expect("data");
        // Without a task there is no shared memory.
        assert_eq!(buffer.allocate(Kind::Double, 1000), Err(Code::NoMem));
        assert_eq!(buffer.reported_size(), 20);
        assert_eq!(buffer.allocate(Kind::Double, usize::MAX), Err(Code::NoMem));
    }
}
