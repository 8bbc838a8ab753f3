//! Frames as messages have them. A frame with one large tuple has it behind the rest, so that it is
//! neither copied when it is sent nor when it has come. A message that is kept where other
//! processes can write ([`Parcel`]) is sent on with another frame in front of the tuple.
//!
//! ```text
//! 0   0, 4 bytes: where any other frame has its kind, which is never 0
//! 4   size of the frame, 4 bytes, little-endian
//! 8   the frame, in which a short tuple stands for the large one, filled up to a multiple of 16
//! ..  the large tuple
//! ```

use crate::frames::{Ask, Between, Told};
use crate::layout::{ALIGNMENT, FIELD};
use crate::ops::{Input, Op, Outcome};
use crate::outside::Parcel;
use crate::tuple::{FIELDS_MAX, Tuple};
use pvm_wire::{DecodeError, Reader, Wire};

/// Tuples from this size on are large.
pub const LARGE_BYTES: usize = 16 << 10;

/// A message between clients and servers that may carry a large tuple.
pub trait Frame: Wire + Clone {
    /// The tuple, if the frame has exactly one that may be large.
    fn sole_tuple(&mut self) -> Option<&mut Tuple>;

    /// True if that tuple is large.
    fn is_large(&self) -> bool;

    /// Writes the frame into an empty buffer. A large tuple is left out and returned: the caller
    /// sends it behind these bytes.
    fn encode_apart(&self, out: &mut Vec<u8>) -> Option<Tuple> {
        if !self.is_large() {
            self.encode(out);
            return None;
        }
        let mut frame = self.clone();
        let tuple = std::mem::replace(frame.sole_tuple()?, stand_in(1));
        frame.encode_head(out);
        // In a parcel the frame must end where the one before it ended.
        let room = tuple.parcel().and_then(|outside| outside.start().checked_sub(out.len()));
        let more = room.unwrap_or(0) / FIELD;
        if (1..FIELDS_MAX).contains(&more) {
            *frame.sole_tuple()? = stand_in(1 + more);
            out.clear();
            frame.encode_head(out);
        }
        Some(tuple)
    }

    /// Writes the frame in the form that has a large tuple behind it.
    fn encode_head(&self, out: &mut Vec<u8>) {
        let body = self.to_bytes();
        0_u32.encode(out);
        u32::try_from(body.len()).expect("its only tuple is short").encode(out);
        out.extend_from_slice(&body);
        out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
    }

    /// Decodes a message, with or without a large tuple behind the frame.
    ///
    /// # Errors
    /// The message holds no frame.
    fn decode_whole(message: Vec<u8>) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(&message);
        if u32::decode(&mut reader)? != 0 {
            return Self::from_bytes(&message);
        }
        let size = usize::try_from(u32::decode(&mut reader)?).map_err(|_| DecodeError::Short)?;
        let mut frame = Self::from_bytes(reader.bytes(size)?)?;
        let start = (message.len() - reader.remaining()).next_multiple_of(ALIGNMENT);
        let place = frame.sole_tuple().ok_or(DecodeError::Range)?;
        *place = Tuple::behind(message, start)?;
        Ok(frame)
    }

    /// Decodes the frame of a message that has a large tuple behind it, and returns the place of
    /// that tuple. `read` copies a part of the message.
    ///
    /// # Errors
    /// The message has no large tuple, or no frame.
    fn decode_head(
        size: usize,
        read: impl Fn(usize, &mut [u8]),
    ) -> Result<(Self, usize), DecodeError> {
        let mut numbers = [0; 8];
        let rest = size.checked_sub(numbers.len()).ok_or(DecodeError::Short)?;
        read(0, &mut numbers);
        let (kind, bytes) = <(u32, u32)>::from_bytes(&numbers)?;
        let bytes = usize::try_from(bytes).map_err(|_| DecodeError::Short)?;
        if kind != 0 || bytes > rest || bytes > HEAD_MAX {
            return Err(DecodeError::Range);
        }
        let mut body = vec![0; bytes];
        read(numbers.len(), &mut body);
        let mut frame = Self::from_bytes(&body)?;
        frame.sole_tuple().ok_or(DecodeError::Range)?;
        Ok((frame, (numbers.len() + bytes).next_multiple_of(ALIGNMENT)))
    }

    /// Takes the tuple of a parcel into a frame, which [`Frame::decode_head`] has read.
    ///
    /// # Errors
    /// The parcel holds no tuple at that place.
    fn with_parcel(mut self, parcel: Box<dyn Parcel>, start: usize) -> Result<Self, DecodeError> {
        *self.sole_tuple().ok_or(DecodeError::Range)? = Tuple::outside(parcel, start)?;
        Ok(self)
    }
}

/// The most bytes of a frame in front of a large tuple in a parcel.
const HEAD_MAX: usize = 4096;

/// A small tuple of so many fields that stands in the frame for the large one.
fn stand_in(fields: usize) -> Tuple {
    let mut builder = crate::Builder::new();
    (0..fields).for_each(|_| builder.int(0).expect("that many fields fit"));
    builder.tuple().expect("there is a field")
}

fn sole(tuples: &mut [Tuple]) -> Option<&mut Tuple> {
    match tuples {
        [tuple] => Some(tuple),
        _ => None,
    }
}

fn is_large(tuples: &[Tuple]) -> bool {
    matches!(tuples, [tuple] if tuple.size() >= LARGE_BYTES)
}

impl Frame for Ask {
    fn sole_tuple(&mut self) -> Option<&mut Tuple> {
        match self {
            Self::Do { op, .. } => op.puts_mut().and_then(|tuples| sole(tuples)),
            _ => None,
        }
    }

    fn is_large(&self) -> bool {
        matches!(self, Self::Do { op, .. } if op.puts().is_some_and(|tuples| is_large(tuples)))
    }
}

impl Frame for Told {
    fn sole_tuple(&mut self) -> Option<&mut Tuple> {
        match self {
            Self::Answer { outcome: Outcome::Found { tuple, .. }, .. } => Some(tuple),
            _ => None,
        }
    }

    fn is_large(&self) -> bool {
        matches!(self, Self::Answer { outcome: Outcome::Found { tuple, .. }, .. }
            if tuple.size() >= LARGE_BYTES)
    }
}

impl Frame for Between {
    fn sole_tuple(&mut self) -> Option<&mut Tuple> {
        match self {
            Self::Step { input: Input::Asked { op: Op::Put { tuples, .. }, .. }, .. } => {
                sole(tuples)
            }
            _ => None,
        }
    }

    fn is_large(&self) -> bool {
        matches!(self,
            Self::Step { input: Input::Asked { op: Op::Put { tuples, .. }, .. }, .. }
                if is_large(tuples))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{Kind, Shape};
    use proptest::prelude::*;

    fn large(bytes: usize) -> Tuple {
        let mut builder = crate::Builder::new();
        builder.text("large").expect("fits");
        builder.actual(Kind::Bytes, Shape::Scalar, &vec![5; bytes]).expect("fits");
        builder.finish().expect("has fields")
    }

    fn put(tuples: Vec<Tuple>) -> Ask {
        Ask::Do { space: 1, number: 2, settled: 2, op: Op::Put { tuples, wait: true } }
    }

    fn message(frame: &impl Frame) -> (Vec<u8>, bool) {
        let mut bytes = Vec::new();
        let behind = frame.encode_apart(&mut bytes);
        let is_apart = behind.is_some();
        bytes.extend(behind.iter().flat_map(Tuple::encoded));
        (bytes, is_apart)
    }

    #[test]
    fn a_frame_with_a_large_tuple_survives_the_way_there_and_back() {
        for bytes in [LARGE_BYTES, 1_000_003] {
            let ask = put(vec![large(bytes)]);
            let (sent, is_apart) = message(&ask);
            assert!(is_apart);
            assert_eq!(Ask::decode_whole(sent), Ok(ask));
            let outcome = Outcome::Found {
                tuple: large(bytes),
                claim: std::num::NonZeroU64::new(7),
                tries: 1,
            };
            let told = Told::Answer { number: 9, outcome };
            assert_eq!(Told::decode_whole(message(&told).0), Ok(told));
        }
    }

    #[test]
    fn small_tuples_and_several_large_ones_stay_in_the_frame() {
        for ask in [put(vec![large(10)]), put(vec![large(LARGE_BYTES), large(LARGE_BYTES)])] {
            let (sent, is_apart) = message(&ask);
            assert!(!is_apart);
            assert_eq!(Ask::from_bytes(&sent).as_ref(), Ok(&ask));
            assert_eq!(Ask::decode_whole(sent), Ok(ask));
        }
    }

    #[test]
    fn a_large_tuple_in_the_place_of_none_is_refused() {
        let (sent, _) = message(&put(vec![large(LARGE_BYTES)]));
        assert_eq!(Told::decode_whole(sent.clone()).ok(), None);
        assert_eq!(Between::decode_whole(sent).ok(), None);
    }

    proptest! {
        #[test]
        fn damaged_bytes_are_refused_or_are_another_frame(at in 0..300_usize, to: u8) {
            let (mut sent, _) = message(&put(vec![large(LARGE_BYTES)]));
            sent[at] = to;
            drop(Ask::decode_whole(sent));
        }

        #[test]
        fn any_bytes_are_refused_or_are_a_frame(bytes: Vec<u8>) {
            drop(Ask::decode_whole(bytes));
        }
    }
}
