//! The fast path of a buffer: messages that ride in a lane and have one run or none. Other messages
//! are left as they are, and the functions without `fast` in their names take them.

use super::form::Form;
use super::{Buffer, Store};
use crate::sys::memory::ProgramMemory;
use pvm_shm::bytes::{FEW, copy_few, copy_slice};
use pvm_shm::lane::{Head, SPANNING_MAX, try_room_for};
use pvm_wire::{Cursor, Encoding, Kind, Run};

impl Buffer {
    /// Its form: calls without `few` in their names may change it.
    // Inlined: pvm_recv of 1000 bytes takes 70 instructions less, with `Task::fast_take`.
    #[inline(always)]
    pub fn form(&self) -> Form {
        match (&self.store, self.encoding) {
            (Store::Small(_), _) if !self.head.is_native() => Form::Other,
            (Store::Small(_), Encoding::Default) => Form::Default,
            (Store::Small(_), Encoding::Raw) if self.runs.is_empty() => Form::Raw,
            (Store::Small(_), Encoding::Raw) => Form::Typed,
            (Store::Small(_), Encoding::InPlace) => Form::InPlace,
            _ => Form::Other,
        }
    }

    /// [`Buffer::fast_pack`] of at most [`FEW`] bytes into a buffer of this form.
    // Inlined: pvm_pkint of 8 bytes takes 38 instructions less, with what calls it.
    #[inline(always)]
    pub fn pack_few(&mut self, form: Form, kind: Kind, items: &[u8]) -> bool {
        let Store::Small(small) = &mut self.store else { return false };
        let Some(room) = small.get_mut(self.size..).and_then(|room| room.get_mut(..items.len()))
        else {
            return false;
        };
        let is_noted = match form {
            Form::Raw => true,
            Form::Default => self.runs.push_alike(kind, items.len() / kind.size()),
            Form::Typed | Form::InPlace | Form::Other => false,
        };
        is_noted && copy_few(items, room) && {
            self.size += items.len();
            true
        }
    }

    /// [`Buffer::fast_unpack`] of at most [`FEW`] bytes out of a buffer of this form.
    // Inlined: pvm_upkint of 8 bytes takes 26 instructions less, with what calls it.
    #[inline(always)]
    pub fn unpack_few(&mut self, form: Form, kind: Kind, out: &mut [u8]) -> bool {
        let Store::Small(small) = &self.store else { return false };
        let Some(data) = small.get(..self.size) else { return false };
        let from = match form {
            Form::Default => {
                let all = (Encoding::Default, data.len());
                self.cursor.pass(&self.runs, all, kind, out.len())
            }
            _ => Some(self.cursor.done()),
        };
        let Some(items) = from.and_then(|from| data.get(from..)?.get(..out.len())) else {
            return false;
        };
        if form != Form::Default {
            self.cursor.pass_raw(out.len());
        }
        copy_few(items, out)
    }

    /// True if all that it has is the memory of a small message.
    #[inline]
    pub fn is_plain(&self) -> bool {
        matches!(self.store, Store::Small(_)) && self.in_place.is_empty()
    }

    /// [`Buffer::begin`] where nothing is to be given back or to be had for it; false if it did
    /// nothing.
    #[inline]
    pub fn fast_begin(&mut self, encoding: Encoding) -> bool {
        let is_small = matches!(self.store, Store::Small(_));
        if is_small {
            self.head = Head::NEW;
            self.encoding = encoding;
            self.clear(0, None);
        }
        is_small
    }

    /// Makes it a buffer of `size` bytes and of this run alone, which is read from its first item.
    #[inline]
    fn clear(&mut self, size: usize, run: Option<Run>) {
        self.size = size;
        self.runs.set(run);
        self.cursor = Cursor::new();
        self.in_place.clear();
        self.sealed = false;
    }

    /// [`Buffer::pack`] of items that still fit its memory, by a list of one run; false if it did
    /// nothing.
    #[inline]
    pub fn fast_pack(&mut self, kind: Kind, items: &[u8]) -> bool {
        let Some(room) = self.room_behind(kind, items.len()) else { return false };
        copy_slice(items, room);
        self.size += items.len();
        true
    }

    /// The place for `bytes` bytes of items, which are noted.
    // Inlined: packing 1000 bytes takes 41 instructions less, with what calls it.
    #[inline(always)]
    fn room_behind(&mut self, kind: Kind, bytes: usize) -> Option<&mut [u8]> {
        let Store::Small(small) = &mut self.store else { return None };
        let room = small.get_mut(self.size..self.size + bytes)?;
        let noted = match self.encoding {
            Encoding::Raw => true,
            Encoding::Default => self.runs.push_alike(kind, bytes / kind.size()),
            Encoding::InPlace | Encoding::Trace => false,
        };
        noted.then_some(room)
    }

    /// [`Buffer::pack_in_place`] of items, where the list of places has room; false if it did
    /// nothing.
    #[inline]
    pub fn fast_pack_in_place(&mut self, items: ProgramMemory) -> bool {
        let may =
            self.encoding == Encoding::InPlace && self.in_place.len() < self.in_place.capacity();
        if may {
            self.in_place.push(items);
        }
        may
    }

    /// [`Buffer::unpack`] of items that lie in memory of its own as they are wanted; false if it
    /// did nothing.
    #[inline]
    pub fn fast_unpack(&mut self, kind: Kind, out: &mut [u8]) -> bool {
        let Some(from) = self.next_items(kind, out.len()) else { return false };
        copy_slice(from, out);
        true
    }

    /// The next `bytes` bytes of items, which are passed over.
    // Inlined: unpacking 1000 bytes takes 21 instructions less, with what calls it.
    #[inline(always)]
    fn next_items(&mut self, kind: Kind, bytes: usize) -> Option<&[u8]> {
        let Store::Small(small) = &self.store else { return None };
        if !self.head.is_native() {
            return None;
        }
        // None of its data lie outside of its memory.
        let size = self.size.min(small.len());
        let from = self.cursor.pass(&self.runs, (self.encoding, size), kind, bytes)?;
        small.get(from..from + bytes)
    }

    /// All items of a message in private memory, where they are of one type and laid out as here;
    /// raw ones are bytes.
    #[inline]
    pub fn only_items(&self) -> Option<(Kind, &[u8])> {
        let data = match &self.store {
            Store::Small(bytes) => bytes.get(..self.size)?,
            Store::Heap(bytes) => bytes.get(..self.size)?,
            Store::Slab(_) | Store::Received(_) | Store::Spilled(_) | Store::Unmapped(_) => {
                return None;
            }
        };
        let plain = self.head.is_native() && self.in_place.is_empty();
        let kind = match self.encoding {
            _ if !plain => return None,
            Encoding::Raw => Kind::Byte,
            Encoding::Default if data.is_empty() => Kind::Byte,
            Encoding::Default if self.runs.len() == 1 => {
                Kind::of_shape(self.runs.iter().next()?.shape)?
            }
            _ => return None,
        };
        Some((kind, data))
    }

    /// The places for the head and the data of a message that rides in its lane, if there is memory
    /// for one. A caller that puts one there then calls [`Buffer::fill_small`].
    #[inline]
    pub(crate) fn room(&mut self) -> Option<(&mut Head, &mut [u8])> {
        match &mut self.store {
            Store::Small(room) => Some((&mut self.head, room)),
            _ => None,
        }
    }

    /// A message of `size` bytes was put into [`Buffer::room`].
    // Inlined: pvm_recv of 8 bytes in the default encoding takes 34 instructions less, with
    // `fill_few`.
    #[inline(always)]
    pub(crate) fn fill_small(&mut self, size: usize) {
        self.encoding = self.head.encoding();
        self.clear(size, self.head.run());
    }

    /// [`Buffer::fill_small`], and the form of the buffer then.
    // Inlined: pvm_recv of 8 bytes takes 14 instructions less.
    #[inline(always)]
    pub(crate) fn fill_few(&mut self, (size, is_untyped): (usize, bool)) -> Form {
        if !is_untyped {
            self.fill_small(size);
            return if self.encoding == Encoding::Default { Form::Default } else { Form::Typed };
        }
        self.encoding = Encoding::Raw;
        self.clear(size, None);
        Form::Raw
    }

    /// The head, but for the receiver, and the data of a message that rides in its lane. None if it
    /// does not ride, or if it is more than that.
    // Inlined: pvm_send of 1000 bytes takes 12 instructions less.
    #[inline(always)]
    pub(crate) fn small(&mut self) -> Option<(&mut Head, &[u8])> {
        if self.encoding == Encoding::InPlace {
            return self.in_place();
        }
        let run = self.only_run(self.size)?;
        // A message of another layout keeps it, and a trace is not small.
        if self.encoding == Encoding::Trace || !self.head.is_native() {
            return None;
        }
        let Store::Small(bytes) = &self.store else { return None };
        let data = bytes.get(..self.size)?;
        self.head.describe(self.encoding, data.len(), run);
        Some((&mut self.head, data))
    }

    /// [`Buffer::small`] of a message of this form, of at most [`FEW`] bytes.
    #[inline]
    pub(crate) fn few(&mut self, form: Form) -> Option<(&mut Head, &[u8])> {
        if form == Form::InPlace {
            return self.few_in_place();
        }
        let Store::Small(bytes) = &self.store else { return None };
        let size = self.size;
        let data = bytes.get(..size).filter(|data| data.len() <= FEW)?;
        match form {
            Form::Raw => self.head.describe(Encoding::Raw, size, 0),
            Form::Default => {
                let run = self.only_run(size)?;
                self.head.describe(Encoding::Default, size, run);
            }
            Form::Typed | Form::InPlace | Form::Other => return None,
        }
        Some((&mut self.head, data))
    }

    #[inline]
    fn few_in_place(&mut self) -> Option<(&mut Head, &[u8])> {
        let [piece] = &self.in_place[..] else { return None };
        if piece.size() > FEW {
            return None;
        }
        let run = self.only_run(piece.size())?;
        self.head.describe(Encoding::Raw, piece.size(), run);
        Some((&mut self.head, piece.bytes()))
    }

    /// The run that describes all of `size` bytes, as [`Run::to_word`]; 0 if nothing does, none if
    /// it takes several.
    #[inline]
    fn only_run(&self, size: usize) -> Option<u64> {
        let word = self.runs.get(0).map_or(0, Run::to_word);
        match self.runs.len() {
            0 => Some(0),
            1 if self.runs.size() == size => Some(word),
            // Raw data that were said to be items, and have others behind them.
            _ if !self.encoding.has_runs() => Some(0),
            _ => None,
        }
    }

    /// Like `small`, for an in-place message, whose data are as they are now.
    #[inline]
    fn in_place(&mut self) -> Option<(&mut Head, &[u8])> {
        if self.in_place.len() != 1 {
            return self.gathered();
        }
        let [piece] = &self.in_place[..] else { return None };
        let run = self.only_run(piece.size())?;
        self.head.describe(Encoding::Raw, piece.size(), run);
        (piece.size() <= SPANNING_MAX).then_some((&mut self.head, piece.bytes()))
    }

    /// Like `in_place`, for one that lies in several places, or in none.
    #[inline(never)]
    fn gathered(&mut self) -> Option<(&mut Head, &[u8])> {
        let size = self.sent_size();
        let run = self.only_run(size)?;
        if size > SPANNING_MAX {
            return None;
        }
        self.head.describe(Encoding::Raw, size, run);
        let Store::Small(room) = &mut self.store else { return None };
        if room.len() < size {
            *room = try_room_for(size)?;
        }
        let mut rest = room.get_mut(..size)?;
        for piece in &self.in_place {
            let (front, behind) = rest.split_at_mut_checked(piece.size())?;
            front.copy_from_slice(piece.bytes());
            rest = behind;
        }
        Some((&mut self.head, room.get(..size)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::Layout;

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
        buffer.edit(|about| about.layout = Layout::Big32);
        assert_eq!(buffer.only_items(), None);
    }

    #[test]
    fn the_fast_path_of_packing_and_reading_does_what_the_long_way_does() {
        let kinds = [Kind::Byte, Kind::Int, Kind::Double, Kind::Long, Kind::Short];
        let mut state = 3u64;
        let mut draw = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % n
        };
        let mut fast = Buffer::new(Encoding::Raw);
        for _ in 0..2000 {
            let encoding = [Encoding::Default, Encoding::Raw][draw(2) as usize];
            let mut long = Buffer::new(encoding);
            assert!(!matches!(fast.store, Store::Small(_)) || fast.fast_begin(encoding));
            fast.begin(encoding);
            for _ in 0..1 + draw(4) {
                let kind = kinds[draw(5) as usize];
                let items: Vec<u8> =
                    (0..(1 + draw(12)) as usize * kind.size()).map(|i| i as u8).collect();
                long.pack(kind, &items).expect("room");
                if !fast.fast_pack(kind, &items) {
                    fast.pack(kind, &items).expect("room");
                }
            }
            assert_eq!((&fast.runs, fast.size), (&long.runs, long.size));
            let body = |of: &Buffer| of.to_message().expect("memory").body.0;
            assert_eq!(body(&fast), body(&long));
            for _ in 0..6 {
                let kind = kinds[draw(5) as usize];
                let (mut a, mut b) = (vec![0; (1 + draw(12)) as usize * kind.size()], Vec::new());
                b.resize(a.len(), 0);
                let read = long.unpack(kind, &mut a);
                let fast_read =
                    if fast.fast_unpack(kind, &mut b) { Ok(()) } else { fast.unpack(kind, &mut b) };
                assert_eq!((read, fast.read_size()), (fast_read, long.read_size()));
                assert!(read.is_err() || a == b);
            }
        }
    }

    #[test]
    fn what_rides_in_a_lane_is_what_the_long_way_sends() {
        use crate::buffer::sending::Prepared;
        for (encoding, sizes) in [
            (Encoding::Default, &[8usize, 4][..]),
            (Encoding::Raw, &[8, 300]),
            (Encoding::InPlace, &[]),
            (Encoding::InPlace, &[16]),
            (Encoding::InPlace, &[4, 0, 600, 8]),
        ] {
            let data: Vec<Vec<u8>> = sizes
                .iter()
                .map(|size| (0..*size).map(|i| (i * 3 + size) as u8).collect())
                .collect();
            let mut buffer = Buffer::new(encoding);
            for part in &data {
                if encoding == Encoding::InPlace {
                    let place = ProgramMemory::of_a_test(part.clone().leak());
                    buffer.pack_in_place(Kind::Int, place).expect("ints");
                } else {
                    buffer.pack(Kind::Int, part).expect("room");
                }
            }
            let (head, small) = buffer.small().expect("small and of one type");
            let about = head.envelope().expect("our own");
            let told = (about.encoding, about.first_run, small.to_vec());
            let (envelope, body) = buffer.prepare().expect("memory");
            let Prepared::Bytes(front, behind) = body else { panic!("it is small") };
            let sent = (envelope.encoding, envelope.first_run, [front, &behind].concat());
            assert_eq!(told, sent, "{encoding:?} {sizes:?}");
            assert_eq!(told.2, data.concat());
        }
        let mut two_types = Buffer::new(Encoding::Default);
        two_types.pack(Kind::Int, &[0; 4]).expect("room");
        two_types.pack(Kind::Double, &[0; 8]).expect("room");
        assert!(two_types.small().is_none(), "its list lies behind the data");
    }
}
