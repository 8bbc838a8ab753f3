//! The layout of a message's items in memory, and PVM's way of counting their bytes.
//!
//! With [`Encoding::Default`] items are stored as the sender's machine has them, and a list of
//! [`Run`]s says which items they are. Reading a run as what it was packed as is a copy. Any
//! other reading goes through the *XDR view*: the bytes that PVM 3 would have put on the wire,
//! in which every call's bytes are padded to four, a short takes four and a long takes four
//! (its lower half). Lengths that programs see are those of the XDR view.
//!
//! Machines differ in the width of a long, so a run tells it: a list means the same on every
//! machine.
//!
//! [`Encoding::Raw`] is bytes without a list; [`Encoding::InPlace`] is raw data that is read
//! from the program's memory only when the message is sent.

use crate::{DecodeError, Layout, Reader, Wire};

/// The encodings of `pvm_initsend`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Encoding {
    /// `PvmDataDefault` (0): readable on every machine.
    #[default]
    Default = 0,
    /// `PvmDataRaw` (1): bytes as they are.
    Raw = 1,
    /// `PvmDataInPlace` (2): as raw, read at the send.
    InPlace = 2,
    /// `PvmDataTrace` (4): the encoding of trace events; laid out as the default.
    Trace = 4,
}

impl Encoding {
    /// From the number that `pvm_initsend` takes.
    #[inline(always)]
    pub const fn from_number(number: i32) -> Option<Self> {
        match number {
            0 => Some(Self::Default),
            1 => Some(Self::Raw),
            2 => Some(Self::InPlace),
            4 => Some(Self::Trace),
            _ => None,
        }
    }

    /// The name of PVM 3.4.6 for the encoding of a message in its head (`pvm_getminfo`,
    /// `pvm_pkmesg`): raw data has the signature of its layout.
    pub const fn mark(self, layout: Layout) -> i32 {
        match self {
            Self::Default | Self::Trace => 0x1000_0000,
            Self::Raw => layout.signature(),
            Self::InPlace => 0x2000_0000,
        }
    }

    /// The encoding that a head tells, and the layout if it does.
    pub fn from_mark(mark: i32) -> Option<(Self, Option<Layout>)> {
        let raw = Layout::ALL.into_iter().find(|layout| layout.signature() == mark);
        match mark {
            0x1000_0000 => Some((Self::Default, None)),
            0x2000_0000 => Some((Self::InPlace, None)),
            _ => raw.map(|layout| (Self::Raw, Some(layout))),
        }
    }

    /// True where a run list goes with the data.
    #[inline(always)]
    pub const fn has_runs(self) -> bool {
        matches!(self, Self::Default | Self::Trace)
    }
}

/// The types of items that programs pack, with PVM's numbers (`pvm_psend`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// `PVM_BYTE`
    Byte = 1,
    /// `PVM_SHORT`
    Short = 2,
    /// `PVM_INT`
    Int = 3,
    /// `PVM_FLOAT`
    Float = 4,
    /// `PVM_CPLX`: two floats.
    Cplx = 5,
    /// `PVM_DOUBLE`
    Double = 6,
    /// `PVM_DCPLX`: two doubles.
    Dcplx = 7,
    /// `PVM_LONG`
    Long = 8,
    /// `PVM_USHORT`
    Ushort = 9,
    /// `PVM_UINT`
    Uint = 10,
    /// `PVM_ULONG`
    Ulong = 11,
}

impl Kind {
    /// From PVM's number.
    pub const fn from_number(number: i32) -> Option<Self> {
        Some(match number {
            1 => Self::Byte,
            2 => Self::Short,
            3 => Self::Int,
            4 => Self::Float,
            5 => Self::Cplx,
            6 => Self::Double,
            7 => Self::Dcplx,
            8 => Self::Long,
            9 => Self::Ushort,
            10 => Self::Uint,
            11 => Self::Ulong,
            _ => return None,
        })
    }

    /// A type of this machine whose items are of this shape, the first of the types with this
    /// shape.
    pub const fn of_shape(shape: Shape) -> Option<Self> {
        Some(match shape {
            Shape::Word => Self::Int,
            Shape::Double => Self::Double,
            Shape::Byte => Self::Byte,
            Shape::Short => Self::Short,
            Shape::Ushort => Self::Ushort,
            Shape::Long if Layout::NATIVE.long_size() == 8 => Self::Long,
            Shape::NarrowLong if Layout::NATIVE.long_size() == 4 => Self::Long,
            Shape::Long | Shape::NarrowLong | Shape::NarrowUlong => return None,
        })
    }

    /// The run of `bytes` bytes of whole items.
    #[inline(always)]
    pub const fn run_of(self, bytes: usize) -> Run {
        let shape = self.shape().0;
        Run { shape, count: bytes / shape.size() }
    }

    /// Bytes of one item in this machine's memory.
    #[inline(always)]
    pub const fn size(self) -> usize {
        self.size_in(Layout::NATIVE)
    }

    /// Bytes of one item in the memory of a machine of this layout.
    #[inline(always)]
    pub const fn size_in(self, layout: Layout) -> usize {
        let (shape, each) = self.shape_in(layout);
        shape.size() * each
    }

    /// The shape an item is made of on this machine, and how many of them.
    #[inline(always)]
    pub const fn shape(self) -> (Shape, usize) {
        self.shape_in(Layout::NATIVE)
    }

    /// The shape an item is made of on a machine of this layout, and how many of them.
    #[inline(always)]
    pub const fn shape_in(self, layout: Layout) -> (Shape, usize) {
        match self {
            Self::Byte => (Shape::Byte, 1),
            Self::Short => (Shape::Short, 1),
            Self::Ushort => (Shape::Ushort, 1),
            Self::Int | Self::Uint | Self::Float => (Shape::Word, 1),
            Self::Cplx => (Shape::Word, 2),
            Self::Double => (Shape::Double, 1),
            Self::Dcplx => (Shape::Double, 2),
            Self::Long if layout.long_size() == 4 => (Shape::NarrowLong, 1),
            Self::Ulong if layout.long_size() == 4 => (Shape::NarrowUlong, 1),
            Self::Long | Self::Ulong => (Shape::Long, 1),
        }
    }
}

/// The items of a run: kinds of equal size and equal XDR form are one shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Shape {
    /// One byte, padded to four per call in the XDR view.
    Byte = 1,
    /// Two bytes, sign-extended to four in the XDR view.
    Short = 2,
    /// Four bytes.
    Word = 3,
    /// Eight bytes.
    Double = 6,
    /// Eight bytes, of which the XDR view holds the lower four.
    Long = 8,
    /// Two bytes, zero-extended to four in the XDR view.
    Ushort = 9,
    /// A long of four bytes: sign-extended where it is read as one of eight.
    NarrowLong = 12,
    /// An unsigned long of four bytes: zero-extended where it is read as one of eight.
    NarrowUlong = 13,
}

impl Shape {
    #[inline(always)]
    const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Byte,
            2 => Self::Short,
            3 => Self::Word,
            6 => Self::Double,
            8 => Self::Long,
            9 => Self::Ushort,
            12 => Self::NarrowLong,
            13 => Self::NarrowUlong,
            _ => return None,
        })
    }

    /// Bytes of one in memory.
    #[inline(always)]
    pub const fn size(self) -> usize {
        match self {
            Self::Byte => 1,
            Self::Short | Self::Ushort => 2,
            Self::Word | Self::NarrowLong | Self::NarrowUlong => 4,
            Self::Double | Self::Long => 8,
        }
    }

    /// Bytes of one in the XDR view; bytes are padded as a whole run.
    #[inline(always)]
    pub const fn xdr_size(self) -> usize {
        match self {
            Self::Byte => 1,
            Self::Short | Self::Ushort | Self::Word | Self::Long => 4,
            Self::NarrowLong | Self::NarrowUlong => 4,
            Self::Double => 8,
        }
    }

    /// True for a long of four bytes.
    pub const fn is_narrow_long(self) -> bool {
        matches!(self, Self::NarrowLong | Self::NarrowUlong)
    }

    /// True where items of one can be copied as the other.
    pub const fn same_bits(self, other: Self) -> bool {
        self as u8 == other as u8
            || matches!((self, other), (Self::Short, Self::Ushort) | (Self::Ushort, Self::Short))
            || self.is_narrow_long() && other.is_narrow_long()
    }
}

/// `count` items of one shape that lie behind one another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// Their shape.
    pub shape: Shape,
    /// The number of items.
    pub count: usize,
}

impl Run {
    const COUNT_BITS: u32 = 56;

    /// Bytes in memory.
    #[inline(always)]
    pub const fn size(self) -> usize {
        self.count * self.shape.size()
    }

    /// Bytes in the XDR view.
    #[inline(always)]
    pub const fn xdr_size(self) -> usize {
        (self.count * self.shape.xdr_size()).next_multiple_of(4)
    }

    /// The run as it lies in a message: the shape in the upper 8 bits, the count below.
    #[inline(always)]
    pub const fn to_word(self) -> u64 {
        (self.shape as u64) << Self::COUNT_BITS | self.count as u64
    }

    /// The run that a message holds.
    #[inline(always)]
    pub fn from_word(word: u64) -> Result<Self, DecodeError> {
        let number = (word >> Self::COUNT_BITS) as u8;
        let shape = Shape::from_number(number).ok_or(DecodeError::Range)?;
        let count = usize::try_from(word & ((1 << Self::COUNT_BITS) - 1));
        Ok(Self { shape, count: count.map_err(|_| DecodeError::Range)? })
    }
}

/// The runs of a message. One run needs no memory of its own.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunList {
    first: Option<Run>,
    more: Vec<Run>,
    xdr_size: usize,
    size: usize,
}

impl RunList {
    /// An empty list.
    pub const fn new() -> Self {
        Self { first: None, more: Vec::new(), xdr_size: 0, size: 0 }
    }

    /// Empties it; its memory is kept.
    #[inline]
    pub fn clear(&mut self) {
        self.first = None;
        self.more.clear();
        (self.xdr_size, self.size) = (0, 0);
    }

    /// Notes that one call packed `count` items of `kind`.
    #[inline]
    pub fn push(&mut self, kind: Kind, count: usize) {
        if count == 0 {
            return;
        }
        let (shape, each) = kind.shape();
        self.push_run(Run { shape, count: count * each });
    }

    /// [`RunList::push`] where no memory is needed for it: into an empty list, or as more of its
    /// only run. False says that nothing was noted.
    #[inline(always)]
    pub fn push_alike(&mut self, kind: Kind, count: usize) -> bool {
        let (shape, each) = kind.shape();
        let run = Run { shape, count: count * each };
        match &mut self.first {
            None => self.first = Some(run),
            Some(first)
                if first.shape as u8 == shape as u8
                    && self.more.is_empty()
                    && (shape as u8 != Shape::Byte as u8 || first.count.is_multiple_of(4)) =>
            {
                first.count += run.count;
            }
            Some(_) => return false,
        }
        self.xdr_size += run.xdr_size();
        self.size += run.size();
        true
    }

    /// Becomes the list of this run alone, or of none. Its memory is kept.
    #[inline(always)]
    pub fn set(&mut self, run: Option<Run>) {
        self.first = run;
        self.more.clear();
        (self.xdr_size, self.size) = match run {
            Some(run) => (run.xdr_size(), run.size()),
            None => (0, 0),
        };
    }

    /// Notes a run as it stands in another message.
    #[inline]
    pub fn push_run(&mut self, run: Run) {
        self.xdr_size += run.xdr_size();
        self.size += run.size();
        if run.count == 0 {
            return;
        }
        let last = self.more.last_mut().or(self.first.as_mut());
        match last {
            // The padding of a call's bytes must stay visible in the XDR view.
            Some(last)
                if last.shape == run.shape
                    && (run.shape != Shape::Byte || last.count.is_multiple_of(4)) =>
            {
                last.count += run.count;
            }
            Some(_) => self.more.push(run),
            None => self.first = Some(run),
        }
    }

    /// Bytes in the XDR view: what `pvm_bufinfo` tells.
    pub const fn xdr_size(&self) -> usize {
        self.xdr_size
    }

    /// Bytes in memory.
    pub const fn size(&self) -> usize {
        self.size
    }

    /// The number of runs.
    #[inline(always)]
    pub const fn len(&self) -> usize {
        self.first.is_some() as usize + self.more.len()
    }

    /// True before anything is packed.
    pub const fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// The run at `index`.
    #[inline]
    pub fn get(&self, index: usize) -> Option<Run> {
        match index.checked_sub(1) {
            None => self.first,
            Some(index) => self.more.get(index).copied(),
        }
    }

    /// The runs in order.
    pub fn iter(&self) -> impl Iterator<Item = Run> + '_ {
        self.first.iter().chain(&self.more).copied()
    }

    /// The list that `words` spell; it must describe exactly `data_size` bytes.
    pub fn from_words(
        words: impl Iterator<Item = u64>,
        data_size: usize,
    ) -> Result<Self, DecodeError> {
        let mut list = Self::new();
        for word in words {
            let run = Run::from_word(word)?;
            // Checked as it grows, so that no sum overflows, with numbers of four bytes neither.
            let fits = run.count > 0 && run.count <= (data_size - list.size) / run.shape.size();
            let xdr_left = (usize::MAX - 4).saturating_sub(list.xdr_size);
            let xdr_fits = run.count <= xdr_left / run.shape.xdr_size();
            if !fits || !xdr_fits {
                return Err(DecodeError::Range);
            }
            // Runs are kept as they came: merging them again would move the padding.
            list.xdr_size += run.xdr_size();
            list.size += run.size();
            if list.first.is_none() { list.first = Some(run) } else { list.more.push(run) }
        }
        if list.size == data_size { Ok(list) } else { Err(DecodeError::Range) }
    }
}

impl Wire for Encoding {
    fn encode(&self, out: &mut Vec<u8>) {
        (*self as u8).encode(out);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::from_number(u8::decode(input)?.into()).ok_or(DecodeError::Range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_no_memory_is_noted_as_ever() {
        let kinds = [Kind::Byte, Kind::Int, Kind::Long, Kind::Dcplx, Kind::Float];
        for first in kinds {
            for second in kinds {
                for (a, b) in [(1, 2), (4, 1), (3, 8)] {
                    let (mut short, mut long) = (RunList::new(), RunList::new());
                    assert!(short.push_alike(first, a));
                    long.push(first, a);
                    assert_eq!(short, long);
                    let noted = short.push_alike(second, b);
                    long.push(second, b);
                    assert_eq!(noted, long.len() == 1, "{first:?} {a} {second:?} {b}");
                    assert!(!noted || short == long);
                }
            }
        }
    }
}
