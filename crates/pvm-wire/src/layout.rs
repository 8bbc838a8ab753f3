//! Differences between machines in the layout of items: byte order and the width of a long.

use crate::{DecodeError, Reader, Wire};

/// The layout of items on the sender's machine. Receiver makes right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Layout {
    /// Little-endian, 8-byte longs.
    Little64 = 1,
    /// Little-endian, 4-byte longs.
    Little32 = 2,
    /// Big-endian, 8-byte longs.
    Big64 = 3,
    /// Big-endian, 4-byte longs.
    Big32 = 4,
}

impl Layout {
    /// This machine's.
    pub const NATIVE: Self = match (cfg!(target_endian = "big"), size_of::<usize>() == 8) {
        (false, true) => Self::Little64,
        (false, false) => Self::Little32,
        (true, true) => Self::Big64,
        (true, false) => Self::Big32,
    };
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Little64, Self::Little32, Self::Big64, Self::Big32];

    /// From the number in an envelope.
    #[inline(always)]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Little64),
            2 => Some(Self::Little32),
            3 => Some(Self::Big64),
            4 => Some(Self::Big32),
            _ => None,
        }
    }

    /// True where the highest byte of a number comes first.
    pub const fn is_big(self) -> bool {
        matches!(self, Self::Big64 | Self::Big32)
    }

    /// Bytes of a long.
    #[inline(always)]
    pub const fn long_size(self) -> usize {
        match self {
            Self::Little64 | Self::Big64 => 8,
            Self::Little32 | Self::Big32 => 4,
        }
    }

    /// True where numbers of the other layout lie the other way round.
    pub const fn is_swapped_to(self, other: Self) -> bool {
        self.is_big() != other.is_big()
    }

    /// The data signature of PVM 3.4.6 (`hi_dsig`), by which it tells whether raw data can be read.
    ///
    /// The fields, found by asking its x86-64, i386 and s390x builds (0x408c41, 0x408841,
    /// 0x658ef59):
    ///
    /// ```text
    /// bit   0      5    10     15      21       27
    ///       short  int  long   float   double
    /// whole numbers: the binary logarithm of the size, then two bits of byte order (0 little,
    ///                3 big)
    /// reals: 1 for four bytes and 2 for eight bytes of IEEE 754 in four bits, then the byte order
    /// ```
    pub const fn signature(self) -> i32 {
        let order = if self.is_big() { 3 } else { 0 };
        let long = self.long_size().trailing_zeros() as i32;
        (order << 3 | 1)
            | (order << 3 | 2) << 5
            | (order << 3 | long) << 10
            | (order << 4 | 1) << 15
            | (order << 4 | 2) << 21
    }
}

impl Wire for Layout {
    fn encode(&self, out: &mut Vec<u8>) {
        (*self as u8).encode(out);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::from_number(u8::decode(input)?).ok_or(DecodeError::Range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_that_pvm_tells_on_these_machines() {
        let told = Layout::ALL.map(Layout::signature);
        // The first three by `pvmgetdsig` of Debian's amd64, i386 and s390x; the last follows from
        // the fields.
        assert_eq!(told, [0x0040_8c41, 0x0040_8841, 0x0658_ef59, 0x0658_eb59]);
    }

    #[test]
    fn numbers_come_back_and_others_are_refused() {
        for layout in Layout::ALL {
            assert_eq!(Layout::from_number(layout as u8), Some(layout));
        }
        assert_eq!((Layout::from_number(0), Layout::from_number(5)), (None, None));
    }
}
