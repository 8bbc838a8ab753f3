//! A tuple as it lies in memory, in messages and on disk.

use crate::kind::{Kind, Shape};
use crate::layout::{Head, check, heads_of};
use crate::marks::{Marks, key};
use crate::outside::{Outside, Parcel};
use pvm_wire::{DecodeError, Reader, Wire};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The most fields of a tuple.
pub const FIELDS_MAX: usize = 255;

/// A tuple or a template whose bytes have been checked. Clones share the bytes.
#[derive(Clone)]
pub struct Tuple(Lying);

/// The memory of a tuple's bytes.
#[derive(Clone)]
enum Lying {
    /// Memory of its own.
    Alone(Arc<[u8]>),
    /// A part of other memory: a large tuple stays where it was built or received.
    Within { memory: Arc<Vec<u8>>, start: usize, end: usize },
    /// Memory of which other processes have a mapping.
    Outside(Arc<Outside>),
}

impl PartialEq for Tuple {
    fn eq(&self, other: &Self) -> bool {
        self.encoded() == other.encoded()
    }
}

impl Eq for Tuple {}

/// A field of a tuple.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FieldView<'a> {
    /// The type of the field.
    pub kind: Kind,
    /// The shape of the field.
    pub shape: Shape,
    /// The items, little-endian; none for a formal.
    pub data: Option<&'a [u8]>,
    /// The number of items; for a formal struct its size.
    pub count: u64,
}

fn check_bytes(bytes: &[u8]) -> Result<(), DecodeError> {
    check(bytes.len(), |range| Cow::Borrowed(&bytes[range]))
}

impl Tuple {
    /// Checks bytes that another process has sent.
    ///
    /// # Errors
    /// The bytes are not a tuple.
    pub fn from_encoded(bytes: &[u8]) -> Result<Self, DecodeError> {
        check_bytes(bytes)?;
        Ok(Self(Lying::Alone(bytes.into())))
    }

    /// Like `from_encoded`, for the bytes from `start` on in some memory, which are not copied.
    ///
    /// # Errors
    /// The bytes are not a tuple.
    pub(crate) fn behind(memory: Vec<u8>, start: usize) -> Result<Self, DecodeError> {
        check_bytes(memory.get(start..).ok_or(DecodeError::Short)?)?;
        let end = memory.len();
        Ok(Self::lying(memory, start..end))
    }

    /// Makes a tuple of a part of some memory whose bytes have been checked.
    pub(crate) fn lying(memory: Vec<u8>, Range { start, end }: Range<usize>) -> Self {
        Self(Lying::Within { memory: Arc::new(memory), start, end })
    }

    /// Makes a tuple by copying bytes that have been checked.
    pub(crate) fn alone(bytes: &[u8]) -> Self {
        Self(Lying::Alone(bytes.into()))
    }

    /// Takes a tuple whose bytes lie in a parcel. They are read once, to be checked.
    ///
    /// # Errors
    /// The bytes are not a tuple.
    pub(crate) fn outside(parcel: Box<dyn Parcel>, start: usize) -> Result<Self, DecodeError> {
        Ok(Self(Lying::Outside(Arc::new(Outside::new(parcel, start)?))))
    }

    /// The bytes of the tuple. Those of a tuple in a parcel are copied at the first call.
    pub fn encoded(&self) -> &[u8] {
        match &self.0 {
            Lying::Alone(bytes) => bytes,
            Lying::Within { memory, start, end } => &memory[*start..*end],
            Lying::Outside(outside) => outside.encoded(),
        }
    }

    /// The number of its bytes.
    pub fn size(&self) -> usize {
        match &self.0 {
            Lying::Outside(outside) => outside.size(),
            _ => self.encoded().len(),
        }
    }

    /// The parcel that it lies in.
    pub fn parcel(&self) -> Option<&Outside> {
        match &self.0 {
            Lying::Outside(outside) => Some(outside),
            _ => None,
        }
    }

    /// The hashes for the index.
    pub(crate) fn marks(&self) -> Marks {
        if let Lying::Outside(outside) = &self.0 {
            return outside.marks();
        }
        let bytes = self.encoded();
        let key = |head: &Head, range: Range<usize>| key(head.kind, head.shape, &bytes[range]);
        Marks::of(bytes[0].into(), heads_of(bytes), key)
    }

    /// The first bytes: all heads, and what else is at hand.
    pub(crate) fn beginning(&self) -> &[u8] {
        match &self.0 {
            Lying::Outside(outside) => outside.beginning(),
            _ => self.encoded(),
        }
    }

    /// The number of its fields, at least one.
    pub fn arity(&self) -> usize {
        self.beginning()[0].into()
    }

    /// Its fields.
    pub fn fields(&self) -> impl Iterator<Item = FieldView<'_>> {
        let beginning = self.beginning();
        heads_of(beginning).map(move |(head, range)| FieldView {
            kind: head.kind,
            shape: head.shape,
            data: (!head.formal).then(|| self.part(beginning, range)),
            count: head.count(),
        })
    }

    /// A part of its bytes: of the first ones if it is there.
    pub(crate) fn part<'a>(&'a self, beginning: &'a [u8], range: Range<usize>) -> &'a [u8] {
        match beginning.get(range.clone()) {
            Some(bytes) => bytes,
            None => &self.encoded()[range],
        }
    }

    /// A field.
    pub fn field(&self, index: usize) -> Option<FieldView<'_>> {
        self.fields().nth(index)
    }

    /// True if one of the fields is a formal: the tuple is a template only.
    pub fn has_formals(&self) -> bool {
        heads_of(self.beginning()).any(|(head, _)| head.formal)
    }
}

impl Wire for Tuple {
    fn encode(&self, out: &mut Vec<u8>) {
        let bytes = self.encoded();
        (bytes.len() as u64).encode(out);
        out.extend_from_slice(bytes);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let size = usize::try_from(u64::decode(input)?).map_err(|_| DecodeError::Short)?;
        Self::from_encoded(input.bytes(size)?)
    }
}

/// Writes the tuple as a program would: `("task", 7, ?double[])`.
impl fmt::Display for Tuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (number, field) in self.fields().enumerate() {
            write!(f, "{}{field}", if number == 0 { "" } else { ", " })?;
        }
        f.write_str(")")
    }
}

impl fmt::Debug for Tuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The most items of an array that are shown.
const SHOWN: usize = 4;
/// The most bytes of a text that are shown.
const SHOWN_TEXT: usize = 60;

impl fmt::Display for FieldView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let brackets = if self.shape == Shape::Array { "[]" } else { "" };
        let Some(data) = self.data else {
            return match self.kind {
                Kind::Struct => write!(f, "?struct {}", self.count),
                kind => write!(f, "?{}{brackets}", kind.name()),
            };
        };
        match (self.kind, self.shape) {
            (Kind::Text, _) => {
                let shown = &data[..data.len().min(SHOWN_TEXT)];
                let more = if shown.len() < data.len() { "..." } else { "" };
                write!(f, "{:?}{more}", String::from_utf8_lossy(shown))
            }
            (Kind::Bytes | Kind::Struct, _) => {
                write!(f, "{} of {} bytes", self.kind.name(), data.len())
            }
            (kind, Shape::Scalar) => f.write_str(&item(kind, data)),
            (kind, Shape::Array) => {
                let items = data.chunks_exact(kind.size()).take(SHOWN);
                let shown: Vec<_> = items.map(|bytes| item(kind, bytes)).collect();
                let more = if self.count > SHOWN as u64 { ", ..." } else { "" };
                write!(f, "{}[{}]{{{}{more}}}", kind.name(), self.count, shown.join(", "))
            }
        }
    }
}

/// One number as text.
fn item(kind: Kind, bytes: &[u8]) -> String {
    let mut wide = [0; 8];
    let used = bytes.len().min(8);
    wide[..used].copy_from_slice(&bytes[..used]);
    let unsigned = u64::from_le_bytes(wide);
    let spare = 64 - 8 * used;
    let signed = (unsigned << spare).cast_signed() >> spare;
    let float = |at: usize| bytes[at..at + 4].try_into().map_or(0.0, f32::from_le_bytes);
    let double = |at: usize| bytes[at..at + 8].try_into().map_or(0.0, f64::from_le_bytes);
    match kind {
        Kind::Float => format!("{:?}", float(0)),
        Kind::Double => format!("{:?}", double(0)),
        Kind::FloatComplex => format!("{:?}{:+?}i", float(0), float(4)),
        Kind::DoubleComplex => format!("{:?}{:+?}i", double(0), double(8)),
        Kind::LongDouble => "long double".to_owned(),
        Kind::Bool => (unsigned != 0).to_string(),
        Kind::UnsignedChar
        | Kind::UnsignedShort
        | Kind::UnsignedInt
        | Kind::UnsignedLong
        | Kind::UnsignedLongLong => unsigned.to_string(),
        _ => signed.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::{BuildError, Builder};
    use crate::layout::HEAD;
    use proptest::prelude::*;

    fn sample() -> Tuple {
        let mut builder = Builder::new();
        builder.text("task").expect("fits");
        builder.int(-7).expect("fits");
        builder.actual(Kind::Double, Shape::Array, &[0; 40]).expect("fits");
        builder.formal(Kind::Struct, Shape::Scalar, 24).expect("fits");
        builder.formal(Kind::Float, Shape::Array, 0).expect("fits");
        builder.tuple().expect("has fields")
    }

    #[test]
    fn a_tuple_survives_the_way_there_and_back_and_is_shown_as_it_is_written() {
        let tuple = sample();
        assert_eq!(Tuple::from_bytes(&tuple.to_bytes()), Ok(tuple.clone()));
        assert_eq!(
            tuple.to_string(),
            "(\"task\", -7, double[5]{0.0, 0.0, 0.0, 0.0, ...}, ?struct 24, ?float[])"
        );
    }

    #[test]
    fn what_does_not_fit_its_type_is_refused() {
        let mut builder = Builder::new();
        let misfit = Err(BuildError::Misfit);
        assert_eq!(builder.actual(Kind::Int, Shape::Scalar, &[0; 8]), misfit);
        assert_eq!(builder.actual(Kind::Double, Shape::Array, &[0; 12]), misfit);
        assert_eq!(builder.actual(Kind::Bool, Shape::Scalar, &[2]), misfit);
        assert_eq!(builder.actual(Kind::Text, Shape::Array, &[2]), misfit);
        assert_eq!(builder.formal(Kind::Bytes, Shape::Array, 0), misfit);
        assert_eq!(builder.tuple(), None);
    }

    #[test]
    fn an_absurd_length_is_refused_before_memory_is_reserved() {
        let mut bytes = sample().encoded().to_vec();
        bytes[HEAD + 32 + 8..HEAD + 32 + 16].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(Tuple::from_encoded(&bytes), Err(DecodeError::Short));
    }

    proptest! {
        #[test]
        fn damaged_bytes_are_refused_or_are_another_tuple(at in 0..176_usize, to: u8) {
            let mut bytes = sample().encoded().to_vec();
            let at = at % bytes.len();
            bytes[at] = to;
            if let Ok(tuple) = Tuple::from_encoded(&bytes) {
                prop_assert_eq!(tuple.encoded(), &bytes[..]);
                prop_assert!(tuple.fields().count() == tuple.arity());
                drop(tuple.to_string());
            }
        }

        #[test]
        fn any_bytes_are_refused_or_are_a_tuple(bytes: Vec<u8>) {
            if let Ok(tuple) = Tuple::from_encoded(&bytes) {
                drop(tuple.to_string());
            }
        }
    }
}
