//! The one bounded decoder, and the encoder beside it.
//!
//! Everything that daemons and tasks ask of each other is made of the few shapes below: fixed
//! width little-endian numbers, byte strings and lists with a length in front, options and
//! tagged choices. A length is checked against the bytes that are really there *before* memory
//! is reserved for it, so a hostile length costs nothing.

use crate::{Code, HostIndex, Tid};
use std::num::NonZeroU64;
use std::sync::Arc;

/// The reason why bytes cannot be decoded. The peer that sent them is to be dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// Fewer bytes than the value needs.
    #[error("the message ends too early")]
    Short,
    /// Bytes are left over after the last value.
    #[error("the message is longer than its content")]
    Trailing,
    /// A choice that this version does not know.
    #[error("unknown kind {0}")]
    UnknownKind(u32),
    /// A value outside its range.
    #[error("value out of range")]
    Range,
}

/// Reads values from the front of a byte string.
#[derive(Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Starts at the first of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next `n` bytes.
    pub fn bytes(&mut self, n: usize) -> Result<&'a [u8], DecodeError> {
        let (head, rest) = self.rest.split_at_checked(n).ok_or(DecodeError::Short)?;
        self.rest = rest;
        Ok(head)
    }

    /// The number of bytes that are left.
    pub const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// A length in front of a list; every element takes at least one byte.
    fn length(&mut self) -> Result<usize, DecodeError> {
        let n = u32::decode(self)? as usize;
        if n > self.rest.len() { Err(DecodeError::Short) } else { Ok(n) }
    }
}

/// A value that can cross a process boundary.
pub trait Wire: Sized {
    /// Appends the value.
    fn encode(&self, out: &mut Vec<u8>);
    /// Reads the value, checking everything.
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError>;

    /// The value alone, as bytes.
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut out);
        out
    }

    /// The value that these bytes are, to the last one.
    fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let value = Self::decode(&mut reader)?;
        if reader.remaining() == 0 { Ok(value) } else { Err(DecodeError::Trailing) }
    }
}

macro_rules! numbers {
    ($($t:ty),*) => {$(
        impl Wire for $t {
            fn encode(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
                let bytes = input.bytes(size_of::<Self>())?;
                Ok(Self::from_le_bytes(bytes.try_into().map_err(|_| DecodeError::Short)?))
            }
        }
    )*};
}
numbers!(u8, u16, u32, u64, i32, i64);

impl Wire for bool {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match u8::decode(input)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(DecodeError::Range),
        }
    }
}

/// Bytes that mean nothing to the machine: bodies of messages, names, arguments, output.
/// Names and arguments come from C programs in any 8-bit encoding, so they are no `String`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Blob(pub Vec<u8>);

impl Blob {
    /// For messages to people: what is no UTF-8 is replaced.
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

impl std::fmt::Debug for Blob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

impl From<&str> for Blob {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl From<String> for Blob {
    fn from(text: String) -> Self {
        Self(text.into_bytes())
    }
}

impl From<Vec<u8>> for Blob {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl Wire for Blob {
    fn encode(&self, out: &mut Vec<u8>) {
        u32::try_from(self.0.len()).expect("a byte string fits a frame").encode(out);
        out.extend_from_slice(&self.0);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let n = input.length()?;
        Ok(Self(input.bytes(n)?.to_vec()))
    }
}

impl Wire for String {
    fn encode(&self, out: &mut Vec<u8>) {
        Blob(self.as_bytes().to_vec()).encode(out);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::from_utf8(Blob::decode(input)?.0).map_err(|_| DecodeError::Range)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.is_some().encode(out);
        if let Some(value) = self {
            value.encode(out);
        }
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        if bool::decode(input)? { T::decode(input).map(Some) } else { Ok(None) }
    }
}

/// A number that is never 0, or none. The bytes are those of the number; 0 stands for none.
impl Wire for Option<NonZeroU64> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.map_or(0, NonZeroU64::get).encode(out);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        u64::decode(input).map(NonZeroU64::new)
    }
}

/// A shared value is written like an owned one.
impl<T: Wire> Wire for Arc<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        T::encode(self, out);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        T::decode(input).map(Self::new)
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        // No list in the machine comes near 2^32 elements: the frame's bound is far below.
        u32::try_from(self.len()).expect("a list fits a frame").encode(out);
        for value in self {
            value.encode(out);
        }
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let n = input.length()?;
        (0..n).map(|_| T::decode(input)).collect()
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
        self.1.encode(out);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok((A::decode(input)?, B::decode(input)?))
    }
}

impl Wire for Tid {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        u32::decode(input).map(Self)
    }
}

impl Wire for HostIndex {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let index = Self(u16::decode(input)?);
        if index > Self::MAX { Err(DecodeError::Range) } else { Ok(index) }
    }
}

impl Wire for Code {
    fn encode(&self, out: &mut Vec<u8>) {
        self.number().encode(out);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::from_number(i32::decode(input)?).ok_or(DecodeError::Range)
    }
}

/// Declares structs that can cross a process boundary: their fields in order.
#[macro_export]
macro_rules! record {
    ($($(#[$attr:meta])* pub struct $name:ident {
        $($(#[$fattr:meta])* pub $field:ident: $ty:ty),* $(,)?
    })*) => {$(
        $(#[$attr])*
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct $name { $($(#[$fattr])* pub $field: $ty),* }

        impl $crate::Wire for $name {
            fn encode(&self, _out: &mut Vec<u8>) {
                $($crate::Wire::encode(&self.$field, _out);)*
            }
            fn decode(_input: &mut $crate::Reader<'_>) -> Result<Self, $crate::DecodeError> {
                Ok(Self { $($field: $crate::Wire::decode(_input)?),* })
            }
        }
    )*};
}

/// Declares choices that can cross a process boundary: a number, then the fields in order.
/// Numbers are never given a second meaning.
#[macro_export]
macro_rules! choice {
    ($($(#[$attr:meta])* pub enum $name:ident {
        $($(#[$vattr:meta])* $tag:literal => $variant:ident $({
            $($(#[$fattr:meta])* $field:ident: $ty:ty),* $(,)?
        })?),* $(,)?
    })*) => {$(
        $(#[$attr])*
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub enum $name { $($(#[$vattr])* $variant $({ $($(#[$fattr])* $field: $ty),* })?),* }

        impl $crate::Wire for $name {
            fn encode(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant $({ $($field),* })? => {
                        $crate::Wire::encode(&($tag as u16), out);
                        $($($crate::Wire::encode($field, out);)*)?
                    })*
                }
            }
            fn decode(input: &mut $crate::Reader<'_>) -> Result<Self, $crate::DecodeError> {
                match <u16 as $crate::Wire>::decode(input)? {
                    $($tag => Ok(Self::$variant $({
                        $($field: $crate::Wire::decode(input)?),*
                    })?),)*
                    other => Err($crate::DecodeError::UnknownKind(other.into())),
                }
            }
        }
    )*};
}

#[cfg(test)]
mod tests {
    #![allow(unreachable_pub, reason = "the macros are made for public items")]

    use super::*;

    record! {
        /// For the tests below.
        pub struct Sample {
            /// A list.
            pub names: Vec<String>,
            /// An option.
            pub code: Option<Code>,
        }
    }
    choice! {
        /// For the tests below.
        pub enum Pick {
            /// Nothing more.
            1 => Plain,
            /// With a value.
            7 => Rich { /// The value.
                sample: Sample },
        }
    }

    #[test]
    fn a_number_that_is_never_0_has_the_bytes_of_a_number() {
        let numbers: [Option<NonZeroU64>; 2] = [None, NonZeroU64::new(7)];
        assert_eq!(numbers.map(|one| one.to_bytes()), [0_u64, 7].map(|one| one.to_bytes()));
        assert_eq!(numbers.map(|one| Wire::from_bytes(&one.to_bytes())), numbers.map(Ok));
    }

    #[test]
    fn values_survive_the_way_there_and_back() {
        let sample = Sample { names: vec!["a".into(), String::new()], code: Some(Code::NoHost) };
        for pick in [Pick::Plain, Pick::Rich { sample }] {
            assert_eq!(Pick::from_bytes(&pick.to_bytes()), Ok(pick));
        }
    }

    #[test]
    fn a_length_that_lies_reserves_nothing() {
        let bytes = u32::MAX.to_bytes();
        assert_eq!(Vec::<u64>::from_bytes(&bytes), Err(DecodeError::Short));
        assert_eq!(Pick::from_bytes(&[9, 0]), Err(DecodeError::UnknownKind(9)));
        assert_eq!(Pick::from_bytes(&[1, 0, 0]), Err(DecodeError::Trailing));
    }
}
