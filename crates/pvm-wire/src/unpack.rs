//! Reading the items of a message, as what they were packed as or through the XDR view.

mod view;

use crate::{Code, Encoding, Kind, Run, RunList, Shape};

/// The memory that holds the bytes of a message: ordinary memory, or memory that the sender can
/// still write, of which no reference may be formed.
pub trait Bytes {
    /// The number of bytes of data.
    fn size(&self) -> usize;
    /// Copies `out.len()` bytes from `offset`; the caller has checked that they exist.
    fn copy_to(&self, offset: usize, out: &mut [u8]);
}

impl Bytes for Vec<u8> {
    fn size(&self) -> usize {
        self.len()
    }
    fn copy_to(&self, offset: usize, out: &mut [u8]) {
        out.copy_from_slice(&self[offset..offset + out.len()]);
    }
}

/// The position up to which a message has been read.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    /// The run being read.
    run: usize,
    /// Bytes of the XDR view of that run that are read.
    xdr_in_run: usize,
    /// The offset of that run in the data.
    base: usize,
    /// Bytes of the XDR view that are read in all (of the data, without a run list).
    done: usize,
}

/// A message's data with its description, for [`Cursor::read`].
#[derive(Clone, Copy)]
pub struct Body<'a> {
    /// The data.
    pub data: &'a dyn Bytes,
    /// Its runs, where the encoding has them.
    pub runs: &'a RunList,
    /// The encoding.
    pub encoding: Encoding,
}

impl Body<'_> {
    /// Bytes as `pvm_bufinfo` counts them.
    pub fn reported_size(&self) -> usize {
        if self.encoding.has_runs() { self.runs.xdr_size() } else { self.data.size() }
    }
}

impl Cursor {
    /// Before the first item.
    pub const fn new() -> Self {
        Self { run: 0, xdr_in_run: 0, base: 0, done: 0 }
    }

    /// Bytes of the message (as `pvm_bufinfo` counts them) that are read.
    pub const fn done(&self) -> usize {
        self.done
    }

    /// Passes over `bytes` of native items of `kind`, and returns where they begin: the fast path
    /// of [`Cursor::read`]. With `None` the cursor has not moved, and the caller reads with
    /// `Cursor::read`.
    #[inline(always)]
    pub fn pass(
        &mut self,
        runs: &RunList,
        (encoding, size): (Encoding, usize),
        kind: Kind,
        bytes: usize,
    ) -> Option<usize> {
        if !encoding.has_runs() {
            let from = self.done;
            if bytes > size.checked_sub(from)? {
                return None;
            }
            self.done += bytes;
            return Some(from);
        }
        let run = runs.get(self.run)?;
        let shape = kind.shape().0;
        // Items that begin in the middle of a run, or are a part of it, may have paddings.
        if self.xdr_in_run != 0 || run.shape as u8 != shape as u8 {
            return None;
        }
        // The run gets a shape that the compiler knows.
        let run = Run { shape, ..run };
        if run.size() != bytes {
            return None;
        }
        let from = self.base;
        self.done += run.xdr_size();
        self.base += bytes;
        self.run += 1;
        Some(from)
    }

    /// Passes over `bytes` bytes of a message without runs, which has at least as many left.
    #[inline(always)]
    pub const fn pass_raw(&mut self, bytes: usize) {
        self.done += bytes;
    }

    /// Reads items of `kind` into `out`, whose length is a multiple of the item's size.
    ///
    /// # Errors
    /// [`Code::NoData`] if the message holds less; as in PVM, the items that are there are read,
    /// and the message is at its end, or where it was if they are bytes that go with a run list.
    pub fn read(&mut self, body: Body<'_>, kind: Kind, out: &mut [u8]) -> Result<(), Code> {
        if !body.encoding.has_runs() {
            let left = body.data.size() - self.done;
            if out.len() > left {
                let whole = left - left % kind.size();
                body.data.copy_to(self.done, &mut out[..whole]);
                self.done = body.data.size();
                return Err(Code::NoData);
            }
            body.data.copy_to(self.done, out);
            self.done += out.len();
            return Ok(());
        }
        let shape = kind.shape().0;
        let needed = Run { shape, count: out.len() / shape.size() }.xdr_size();
        let left = body.runs.xdr_size() - self.done;
        if needed > left {
            let before = self.clone();
            let items = left / kind_xdr_size(kind);
            // Shorter now, so it does not come here again.
            self.read(body, kind, &mut out[..items * kind.size()])?;
            if shape == Shape::Byte {
                *self = before;
            } else {
                self.advance(body.runs, body.runs.xdr_size() - self.done);
            }
            return Err(Code::NoData);
        }
        let mut filled = 0;
        while filled < out.len() {
            filled += self.read_some(body, shape, &mut out[filled..]);
        }
        if shape == Shape::Byte && !self.xdr_in_run.is_multiple_of(4) {
            // As in PVM, the padding belongs to the call and not to the item.
            self.advance(body.runs, 4 - self.xdr_in_run % 4);
        }
        Ok(())
    }

    /// Takes out a part as a message of its own: `size` bytes of the XDR view (of the data, in a
    /// message without runs), native bytes and runs.
    ///
    /// # Errors
    /// [`Code::NoData`] if there are fewer; then nothing is read.
    pub fn extract(&mut self, body: Body<'_>, size: usize) -> Result<(Vec<u8>, RunList), Code> {
        if size > body.reported_size() - self.done {
            return Err(Code::NoData);
        }
        let mut runs = RunList::new();
        if !body.encoding.has_runs() {
            let mut data = vec![0; size];
            body.data.copy_to(self.done, &mut data);
            self.done += size;
            return Ok((data, runs));
        }
        let mut data = Vec::new();
        let end = self.done + size;
        while self.done < end {
            let run = body.runs.get(self.run).expect("the XDR view has bytes left");
            let each = run.shape.xdr_size();
            let at = self.xdr_in_run / each;
            let left = end - self.done;
            let n = run.count.saturating_sub(at).min(left / each);
            if n == 0 || !self.xdr_in_run.is_multiple_of(each) {
                // In the middle of an item or of padding: what is there as four bytes.
                let mut word = [0; 4];
                self.read(body, Kind::Int, &mut word)?;
                data.extend(word);
                runs.push(Kind::Int, 1);
                continue;
            }
            let start = data.len();
            data.resize(start + n * run.shape.size(), 0);
            body.data.copy_to(self.base + at * run.shape.size(), &mut data[start..]);
            runs.push_run(Run { shape: run.shape, count: n });
            let taken = Run { shape: run.shape, count: n }.xdr_size();
            self.advance(body.runs, taken.min(left));
        }
        Ok((data, runs))
    }

    /// The rest of the XDR view as bytes.
    pub fn rest_as_xdr(&mut self, body: Body<'_>) -> Vec<u8> {
        let mut out = vec![0; body.runs.xdr_size() - self.done];
        self.read_xdr(body, &mut out);
        out
    }

    /// Reads at least one item; there are enough.
    fn read_some(&mut self, body: Body<'_>, shape: Shape, out: &mut [u8]) -> usize {
        let run = body.runs.get(self.run).expect("the XDR view has bytes left");
        let each = run.shape.xdr_size();
        let at = self.xdr_in_run / each;
        if run.shape.same_bits(shape) && self.xdr_in_run.is_multiple_of(each) && at < run.count {
            let n = (run.count - at).min(out.len() / shape.size());
            let bytes = n * shape.size();
            body.data.copy_to(self.base + at * shape.size(), &mut out[..bytes]);
            self.advance(body.runs, n * each);
            return bytes;
        }
        let signed = shape == Shape::Long && run.shape == Shape::NarrowLong && at < run.count;
        let mut xdr = [0; 8];
        let xdr = &mut xdr[..shape.xdr_size()];
        self.read_xdr(body, xdr);
        let item = &mut out[..shape.size()];
        match (shape, &*xdr) {
            (Shape::Short | Shape::Ushort, &[_, _, a, b]) => {
                item.copy_from_slice(&u16::from_be_bytes([a, b]).to_ne_bytes());
            }
            (Shape::Word | Shape::NarrowLong | Shape::NarrowUlong, &[a, b, c, d]) => {
                item.copy_from_slice(&u32::from_be_bytes([a, b, c, d]).to_ne_bytes());
            }
            (Shape::Long, &[a, b, c, d]) if signed => {
                item.copy_from_slice(&i64::from(i32::from_be_bytes([a, b, c, d])).to_ne_bytes());
            }
            // As in PVM, what was no long is not sign-extended.
            (Shape::Long, &[a, b, c, d]) => {
                item.copy_from_slice(&u64::from(u32::from_be_bytes([a, b, c, d])).to_ne_bytes());
            }
            (Shape::Double, &[a, b, c, d, e, f, g, h]) => {
                item.copy_from_slice(&u64::from_be_bytes([a, b, c, d, e, f, g, h]).to_ne_bytes());
            }
            (_, bytes) => item.copy_from_slice(&bytes[..item.len()]),
        }
        shape.size()
    }

    /// Moves on in the XDR view, over run borders.
    fn advance(&mut self, runs: &RunList, xdr: usize) {
        self.done += xdr;
        self.xdr_in_run += xdr;
        while let Some(run) = runs.get(self.run) {
            if self.xdr_in_run < run.xdr_size() {
                break;
            }
            self.xdr_in_run -= run.xdr_size();
            self.base += run.size();
            self.run += 1;
        }
    }

    /// Reads bytes of the XDR view.
    fn read_xdr(&mut self, body: Body<'_>, out: &mut [u8]) {
        let mut filled = 0;
        while filled < out.len() {
            let run = body.runs.get(self.run).expect("the XDR view has bytes left");
            let each = if run.shape == Shape::Byte { 4 } else { run.shape.xdr_size() };
            let at = self.xdr_in_run / each;
            let unit = xdr_unit(body.data, run, self.base, at);
            let from = self.xdr_in_run % each;
            let n = (each - from).min(out.len() - filled);
            out[filled..filled + n].copy_from_slice(&unit[from..from + n]);
            filled += n;
            self.advance(body.runs, n);
        }
    }
}

/// Bytes of one item in the XDR view, its padding left out.
const fn kind_xdr_size(kind: Kind) -> usize {
    let (shape, each) = kind.shape();
    shape.xdr_size() * each
}

/// The XDR form of item `at` of a run (of four bytes at a time in a run of bytes).
fn xdr_unit(data: &dyn Bytes, run: Run, base: usize, at: usize) -> [u8; 8] {
    let mut native = [0; 8];
    let mut unit = [0; 8];
    let mut take = |n: usize, size: usize| {
        data.copy_to(base + at * size, &mut native[..n]);
        native
    };
    let word = match run.shape {
        Shape::Byte => {
            let n = (run.count - at * 4).min(4);
            unit[..4].copy_from_slice(&take(n, 4)[..4]);
            return unit;
        }
        Shape::Double => return u64::from_ne_bytes(take(8, 8)).to_be_bytes(),
        Shape::Short => {
            let [a, b, ..] = take(2, 2);
            i32::from(i16::from_ne_bytes([a, b])).cast_unsigned()
        }
        Shape::Ushort => {
            let [a, b, ..] = take(2, 2);
            u16::from_ne_bytes([a, b]).into()
        }
        Shape::Word | Shape::NarrowLong | Shape::NarrowUlong => {
            let [a, b, c, d, ..] = take(4, 4);
            u32::from_ne_bytes([a, b, c, d])
        }
        Shape::Long => u64::from_ne_bytes(take(8, 8)) as u32,
    };
    unit[..4].copy_from_slice(&word.to_be_bytes());
    unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Packs as a task does: native bytes and runs.
    #[derive(Default, Debug)]
    struct Packed {
        data: Vec<u8>,
        runs: RunList,
        xdr: Vec<u8>,
    }

    impl Packed {
        fn bytes(mut self, bytes: &[u8]) -> Self {
            self.data.extend(bytes);
            self.runs.push(Kind::Byte, bytes.len());
            self.xdr.extend(bytes);
            self.xdr.resize(self.xdr.len().next_multiple_of(4), 0);
            self
        }
        fn ints(mut self, ints: &[i32]) -> Self {
            self.data.extend(ints.iter().flat_map(|i| i.to_ne_bytes()));
            self.runs.push(Kind::Int, ints.len());
            self.xdr.extend(ints.iter().flat_map(|i| i.to_be_bytes()));
            self
        }
        fn shorts(mut self, shorts: &[i16]) -> Self {
            self.data.extend(shorts.iter().flat_map(|i| i.to_ne_bytes()));
            self.runs.push(Kind::Short, shorts.len());
            self.xdr.extend(shorts.iter().flat_map(|i| i32::from(*i).to_be_bytes()));
            self
        }
        fn longs(mut self, longs: &[i64]) -> Self {
            self.data.extend(longs.iter().flat_map(|i| i.to_ne_bytes()));
            // As a machine with wide longs packs them, which this one need not be.
            self.runs.push_run(Run { shape: Shape::Long, count: longs.len() });
            self.xdr.extend(longs.iter().flat_map(|i| (*i as u32).to_be_bytes()));
            self
        }
        fn doubles(mut self, doubles: &[f64]) -> Self {
            self.data.extend(doubles.iter().flat_map(|i| i.to_ne_bytes()));
            self.runs.push(Kind::Double, doubles.len());
            self.xdr.extend(doubles.iter().flat_map(|i| i.to_be_bytes()));
            self
        }
        fn body(&self) -> Body<'_> {
            Body { data: &self.data, runs: &self.runs, encoding: Encoding::Default }
        }
        fn read<const N: usize>(&self, cursor: &mut Cursor, kind: Kind) -> Result<[u8; N], Code> {
            let mut out = [0; N];
            cursor.read(self.body(), kind, &mut out).map(|()| out)
        }
        fn read_long(&self, cursor: &mut Cursor) -> Result<Vec<u8>, Code> {
            let mut out = vec![0; Kind::Long.size()];
            cursor.read(self.body(), Kind::Long, &mut out).map(|()| out)
        }
    }

    /// A long as this machine has it.
    fn native(value: i64) -> Vec<u8> {
        match Kind::Long.size() {
            4 => (value as i32).to_ne_bytes().to_vec(),
            _ => value.to_ne_bytes().to_vec(),
        }
    }

    #[test]
    fn lengths_are_those_of_pvm() {
        assert_eq!(Packed::default().bytes(b"12345").body().reported_size(), 8);
        assert_eq!(Packed::default().bytes(b"1").bytes(b"2").body().reported_size(), 8);
        assert_eq!(Packed::default().shorts(&[1, 2, 3]).body().reported_size(), 12);
        assert_eq!(Packed::default().longs(&[1, 2, 3]).body().reported_size(), 12);
        assert_eq!(Packed::default().doubles(&[1., 2., 3.]).body().reported_size(), 24);
    }

    #[test]
    fn five_bytes_read_as_three_and_two_lose_one() {
        let packed = Packed::default().bytes(&[1, 2, 3, 4, 5]);
        let cursor = &mut Cursor::new();
        assert_eq!(packed.read::<3>(cursor, Kind::Byte), Ok([1, 2, 3]));
        assert_eq!(packed.read::<2>(cursor, Kind::Byte), Ok([5, 0]));
        assert_eq!(packed.read::<1>(cursor, Kind::Byte), Err(Code::NoData));
    }

    #[test]
    fn bytes_that_are_not_all_there_leave_the_message_where_it_was() {
        let packed = Packed::default().ints(&[7]).bytes(&[1, 2, 3]).ints(&[8]);
        let cursor = &mut Cursor::new();
        assert_eq!(packed.read::<4>(cursor, Kind::Int), Ok(7i32.to_ne_bytes()));
        let mut out = [9; 40];
        assert_eq!(cursor.read(packed.body(), Kind::Byte, &mut out), Err(Code::NoData));
        assert_eq!(out[..3], [1, 2, 3], "what is there is read all the same");
        assert_eq!(packed.read::<3>(cursor, Kind::Byte), Ok([1, 2, 3]));
        assert_eq!(packed.read::<4>(cursor, Kind::Int), Ok(8i32.to_ne_bytes()));
    }

    #[test]
    fn a_read_past_the_end_gets_what_is_there_and_ends_the_message() {
        let packed = Packed::default().ints(&[1, 2]).bytes(&[3]);
        let cursor = &mut Cursor::new();
        let mut out = [9; 16];
        assert_eq!(cursor.read(packed.body(), Kind::Int, &mut out), Err(Code::NoData));
        assert_eq!(out[..8], [1i32, 2].map(i32::to_ne_bytes).concat());
        assert_eq!(packed.read::<1>(cursor, Kind::Byte), Err(Code::NoData));
    }

    #[test]
    fn a_part_taken_out_reads_like_the_whole() {
        let packed = Packed::default().ints(&[1]).longs(&[-1]).bytes(b"xyz").ints(&[5, 6]);
        let cursor = &mut Cursor::new();
        packed.read::<4>(cursor, Kind::Int).expect("an int");
        let (data, runs) = cursor.extract(packed.body(), 12).expect("long, bytes, int");
        let part = Body { data: &data, runs: &runs, encoding: Encoding::Default };
        assert_eq!(part.reported_size(), 12);
        let mut out = vec![0; Kind::Long.size()];
        Cursor::new().read(part, Kind::Long, &mut out).expect("a long");
        assert_eq!(out, native(-1));
        assert_eq!(packed.read::<4>(cursor, Kind::Int), Ok(6i32.to_ne_bytes()));
        assert!(cursor.extract(packed.body(), 4).is_err());
    }

    #[test]
    fn longs_keep_their_upper_half_unless_read_as_ints() {
        let packed = Packed::default().longs(&[-5, 0x12_3456_789a]);
        let cursor = &mut Cursor::new();
        assert_eq!(packed.read_long(cursor), Ok(native(-5)));
        assert_eq!(packed.read::<4>(cursor, Kind::Int), Ok(0x3456_789au32.to_ne_bytes()));
    }

    #[test]
    fn ints_read_as_longs_are_not_sign_extended() {
        let packed = Packed::default().ints(&[-5]);
        assert_eq!(packed.read_long(&mut Cursor::new()), Ok(native(4_294_967_291)));
    }

    fn packed() -> impl Strategy<Value = Packed> {
        let call = (0..5u8, prop::collection::vec(any::<i64>(), 1..6));
        prop::collection::vec(call, 1..8).prop_map(|calls| {
            calls.into_iter().fold(Packed::default(), |packed, (kind, values)| match kind {
                0 => packed.bytes(&values.iter().map(|v| *v as u8).collect::<Vec<_>>()),
                1 => packed.ints(&values.iter().map(|v| *v as i32).collect::<Vec<_>>()),
                2 => packed.shorts(&values.iter().map(|v| *v as i16).collect::<Vec<_>>()),
                3 => packed.longs(&values),
                _ => packed.doubles(&values.iter().map(|v| *v as f64).collect::<Vec<_>>()),
            })
        })
    }

    proptest! {
        /// Whatever is read as something else is what real XDR bytes would have given.
        #[test]
        fn any_reading_agrees_with_the_xdr_bytes(
            packed in packed(),
            reads in prop::collection::vec((0..3u8, 1..5usize), 1..20),
        ) {
            let mut cursor = Cursor::new();
            let mut at = 0;
            prop_assert_eq!(packed.body().reported_size(), packed.xdr.len());
            for (kind, n) in reads {
                let mut out = vec![0; n * [1, 4, 8][usize::from(kind)]];
                let kind = [Kind::Byte, Kind::Int, Kind::Double][usize::from(kind)];
                let size = out.len().next_multiple_of(4);
                let result = cursor.read(packed.body(), kind, &mut out);
                if at + size > packed.xdr.len() {
                    prop_assert_eq!(result, Err(Code::NoData));
                    if kind != Kind::Byte {
                        at = packed.xdr.len();
                    }
                    prop_assert_eq!(cursor.done(), at);
                    continue;
                }
                prop_assert_eq!(result, Ok(()));
                let mut expected = packed.xdr[at..at + out.len()].to_vec();
                if kind != Kind::Byte && cfg!(target_endian = "little") {
                    expected.chunks_exact_mut(kind.size()).for_each(<[u8]>::reverse);
                }
                prop_assert_eq!(out, expected);
                at += size;
                prop_assert_eq!(cursor.done(), at);
            }
        }
    }
}
