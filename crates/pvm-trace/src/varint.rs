//! Numbers in as few bytes as they need: seven bits in a byte, the lowest first; the top bit is set
//! in all bytes but the last. A number has at most ten bytes.

use crate::error::Fault;

/// Appends a number.
#[inline]
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a difference; differences near 0 are short, whatever their sign.
#[inline]
pub(crate) fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, (value << 1 ^ value >> 63) as u64);
}

/// Reads numbers from the front of some bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    pub(crate) rest: &'a [u8],
}

impl<'a> Input<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    #[inline]
    pub(crate) fn number(&mut self) -> Result<u64, Fault> {
        match self.rest {
            [byte, rest @ ..] if *byte < 0x80 => {
                self.rest = rest;
                Ok((*byte).into())
            }
            _ => self.long(),
        }
    }

    fn long(&mut self) -> Result<u64, Fault> {
        let mut value = 0;
        for (at, byte) in self.rest.iter().take(10).enumerate() {
            let bits = u64::from(byte & 0x7f);
            if at == 9 && bits > 1 {
                return Err(Fault::Range);
            }
            value |= bits << (7 * at);
            if *byte < 0x80 {
                self.rest = &self.rest[at + 1..];
                return Ok(value);
            }
        }
        Err(if self.rest.len() < 10 { Fault::Short } else { Fault::Range })
    }

    #[inline]
    pub(crate) fn signed(&mut self) -> Result<i64, Fault> {
        let value = self.number()?;
        Ok((value >> 1).cast_signed() ^ -((value & 1).cast_signed()))
    }

    pub(crate) fn number_of<T: TryFrom<u64>>(&mut self) -> Result<T, Fault> {
        T::try_from(self.number()?).map_err(|_| Fault::Range)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Fault> {
        let (byte, rest) = self.rest.split_first().ok_or(Fault::Short)?;
        self.rest = rest;
        Ok(*byte)
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or(Fault::Short)?;
        self.rest = rest;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_come_back() {
        for shift in 0..64 {
            for value in [1u64 << shift, (1 << shift) - 1, u64::MAX >> shift] {
                let mut bytes = Vec::new();
                put(&mut bytes, value);
                put_signed(&mut bytes, value.cast_signed());
                put_signed(&mut bytes, value.cast_signed().wrapping_neg());
                let mut input = Input::new(&bytes);
                assert_eq!(input.number(), Ok(value));
                assert_eq!(input.signed(), Ok(value.cast_signed()));
                assert_eq!(input.signed(), Ok(value.cast_signed().wrapping_neg()));
                assert!(input.rest.is_empty());
            }
        }
    }

    #[test]
    fn a_number_without_end_is_refused() {
        assert_eq!(Input::new(&[0x80; 9]).number(), Err(Fault::Short));
        assert_eq!(Input::new(&[0x80; 11]).number(), Err(Fault::Range));
        assert_eq!(Input::new(&[0xff; 10]).number(), Err(Fault::Range));
        assert_eq!(Input::new(&[]).number(), Err(Fault::Short));
    }
}
