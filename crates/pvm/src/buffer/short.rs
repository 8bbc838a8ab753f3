//! The short ways of a buffer: of messages that ride in a lane and have one run or none.

use super::{Buffer, Store};
use pvm_shm::bytes::copy_slice;
use pvm_wire::{Cursor, Encoding, Envelope, Kind, Layout, Run, Tid};

impl Buffer {
    /// True if all that it has is the memory of a small message.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        matches!(self.store, Store::Small(_)) && self.in_place.is_empty()
    }

    /// [`Buffer::begin`] where nothing is to be given back or to be had for it; false if it did nothing.
    #[inline(always)]
    pub fn begin_again(&mut self, encoding: Encoding) -> bool {
        let plain = self.is_plain();
        if plain {
            self.envelope = Envelope::new(Tid::NONE, Tid::NONE, 0, 0);
            self.encoding = encoding;
            self.size = 0;
            self.runs.set(None);
            self.cursor = Cursor::new();
            self.sealed = false;
        }
        plain
    }

    /// [`Buffer::pack`] of what still fits its memory, by a list of one run; false if it did nothing.
    #[inline(always)]
    pub fn pack_inline(&mut self, kind: Kind, items: &[u8]) -> bool {
        let Store::Small(small) = &mut self.store else { return false };
        let Some(room) = small.get_mut(self.size..self.size + items.len()) else { return false };
        match self.encoding {
            Encoding::Raw => {}
            Encoding::Default => {
                if !self.runs.push_alike(kind, items.len() / kind.size()) {
                    return false;
                }
            }
            Encoding::InPlace | Encoding::Trace => return false,
        }
        copy_slice(items, room);
        self.size += items.len();
        true
    }

    /// [`Buffer::unpack`] of items that lie in memory of its own as they are wanted; false if it did nothing.
    #[inline(always)]
    pub fn unpack_inline(&mut self, kind: Kind, out: &mut [u8]) -> bool {
        let Store::Small(bytes) = &self.store else { return false };
        if self.envelope.layout != Layout::NATIVE {
            return false;
        }
        let (told, length) = ((self.encoding, self.size), out.len());
        let Some(from) = self.cursor.pass(&self.runs, told, kind, length) else { return false };
        let Some(from) = bytes.get(from..from + length) else { return false };
        copy_slice(from, out);
        true
    }

    /// All items of a message in private memory, where they are of one type and laid out as here; raw ones are bytes.
    #[inline]
    pub fn only_items(&self) -> Option<(Kind, &[u8])> {
        const ONE_OF_A_SHAPE: [Kind; 6] =
            [Kind::Int, Kind::Double, Kind::Byte, Kind::Long, Kind::Short, Kind::Ushort];
        let data = match &self.store {
            Store::Small(bytes) => bytes.get(..self.size)?,
            Store::Heap(bytes) => bytes.get(..self.size)?,
            Store::Slab(_) | Store::Received(_) | Store::Spilled(_) | Store::Unmapped(_) => {
                return None;
            }
        };
        let plain = self.envelope.layout == Layout::NATIVE && self.in_place.is_empty();
        let kind = match self.encoding {
            _ if !plain => return None,
            Encoding::Raw => Kind::Byte,
            Encoding::Default if data.is_empty() => Kind::Byte,
            Encoding::Default if self.runs.len() == 1 => {
                let shape = self.runs.iter().next()?.shape;
                ONE_OF_A_SHAPE.into_iter().find(|kind| kind.shape().0 == shape)?
            }
            _ => return None,
        };
        Some((kind, data))
    }

    /// The memory for a message that rides in its lane, where there is such.
    #[inline(always)]
    pub(crate) fn room(&mut self) -> Option<&mut [u8]> {
        match &mut self.store {
            Store::Small(room) => Some(room),
            _ => None,
        }
    }

    /// The only run of a message that [`Buffer::fill_inline`] takes: bytes as they are, of this layout.
    #[inline(always)]
    pub(crate) fn plain_run(envelope: &Envelope) -> Option<Option<Run>> {
        if envelope.layout != Layout::NATIVE {
            return None;
        }
        if envelope.encoding.has_runs() {
            return envelope.only_run().ok();
        }
        (envelope.first_run == 0).then_some(None)
    }

    /// Becomes a message whose bytes lie in [`Buffer::room`]. It is plain.
    #[inline(always)]
    pub(crate) fn fill_inline(&mut self, envelope: Envelope, size: usize, run: Option<Run>) {
        self.envelope = envelope;
        self.encoding = envelope.encoding;
        self.size = size;
        self.runs.set(run);
        self.cursor = Cursor::new();
        self.in_place.clear();
        self.sealed = false;
    }

    /// What a message that rides in its lane sends: its description and its data. None if it does not,
    /// or if it is more than that.
    #[inline(always)]
    pub(crate) fn inline(&self) -> Option<(Envelope, &[u8])> {
        let Store::Small(bytes) = &self.store else { return None };
        if self.encoding == Encoding::InPlace || self.encoding.has_runs() && self.runs.len() > 1 {
            return None;
        }
        let mut envelope = self.envelope;
        envelope.describe(self.encoding, self.size, &self.runs);
        Some((envelope, bytes.get(..self.size)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_items_of_one_type_are_told_as_such() {
        let mut buffer = Buffer::new(Encoding::Default);
        assert_eq!(buffer.only_items(), Some((Kind::Byte, &[][..])));
        buffer.pack(Kind::Float, &[1, 2, 3, 4]).expect("room");
        buffer.pack(Kind::Int, &[5, 6, 7, 8]).expect("room");
        assert_eq!(buffer.only_items(), Some((Kind::Int, &[1, 2, 3, 4, 5, 6, 7, 8][..])));
        buffer.pack(Kind::Byte, &[9]).expect("room");
        assert_eq!(buffer.only_items(), None);
        buffer.begin(Encoding::Raw);
        buffer.pack(Kind::Double, &[1; 8]).expect("room");
        buffer.pack(Kind::Byte, &[1]).expect("room");
        assert_eq!(buffer.only_items(), Some((Kind::Byte, &[1; 9][..])));
        buffer.envelope_mut().layout = Layout::Big32;
        assert_eq!(buffer.only_items(), None);
    }

    #[test]
    fn the_short_ways_of_packing_and_reading_do_what_the_long_ones_do() {
        let kinds = [Kind::Byte, Kind::Int, Kind::Double, Kind::Long, Kind::Short];
        let mut state = 3u64;
        let mut draw = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % n
        };
        let mut short = Buffer::new(Encoding::Raw);
        for _ in 0..2000 {
            let encoding = [Encoding::Default, Encoding::Raw][draw(2) as usize];
            let mut long = Buffer::new(encoding);
            assert!(!matches!(short.store, Store::Small(_)) || short.begin_again(encoding));
            short.begin(encoding);
            for _ in 0..1 + draw(4) {
                let kind = kinds[draw(5) as usize];
                let items: Vec<u8> =
                    (0..(1 + draw(12)) as usize * kind.size()).map(|i| i as u8).collect();
                long.pack(kind, &items).expect("room");
                if !short.pack_inline(kind, &items) {
                    short.pack(kind, &items).expect("room");
                }
            }
            assert_eq!((&short.runs, short.size), (&long.runs, long.size));
            let body = |of: &Buffer| of.to_message().expect("memory").body.0;
            assert_eq!(body(&short), body(&long));
            for _ in 0..6 {
                let kind = kinds[draw(5) as usize];
                let (mut a, mut b) = (vec![0; (1 + draw(12)) as usize * kind.size()], Vec::new());
                b.resize(a.len(), 0);
                let read = long.unpack(kind, &mut a);
                let read_shortly = if short.unpack_inline(kind, &mut b) {
                    Ok(())
                } else {
                    short.unpack(kind, &mut b)
                };
                assert_eq!((read, short.read_size()), (read_shortly, long.read_size()));
                assert!(read.is_err() || a == b);
            }
        }
    }
}
