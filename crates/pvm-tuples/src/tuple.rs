//! A tuple as it lies in memory, in messages and on disk.
//!
//! ```text
//! 0   number of fields, then 15 bytes of 0
//! 16  for each field 16 bytes: type, shape, formal (0 or 1), 5 bytes of 0, then 8 bytes: the value
//!     of a scalar of at most 8 bytes, otherwise the number of items
//! ..  for each field that is neither such a scalar nor a formal: its data, filled up with 0 to a
//!     multiple of 16 bytes
//! ```
//! Numbers are little-endian. A formal struct has its size as its number of items.

use crate::kind::{Kind, Shape};
use pvm_wire::{DecodeError, Reader, Wire};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The most fields of a tuple.
pub const FIELDS_MAX: usize = 255;
pub(crate) const HEAD: usize = 16;
pub(crate) const FIELD: usize = 16;
pub(crate) const ALIGNMENT: usize = 16;

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

/// The 16 bytes of a field.
pub(crate) struct Head {
    pub(crate) kind: Kind,
    pub(crate) shape: Shape,
    pub(crate) formal: bool,
    pub(crate) number: u64,
}

impl Head {
    fn read(bytes: &[u8; FIELD]) -> Result<Self, DecodeError> {
        let [kind, shape, formal, zeros @ .., n0, n1, n2, n3, n4, n5, n6, n7] = *bytes;
        let kind = Kind::from_number(kind).ok_or_else(|| DecodeError::UnknownKind(kind.into()))?;
        let shape = match shape {
            0 => Shape::Scalar,
            1 if kind.has_shape() => Shape::Array,
            _ => return Err(DecodeError::Range),
        };
        if formal > 1 || zeros != [0; 5] {
            return Err(DecodeError::Range);
        }
        let number = u64::from_le_bytes([n0, n1, n2, n3, n4, n5, n6, n7]);
        Ok(Self { kind, shape, formal: formal == 1, number })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend([self.kind as u8, self.shape as u8, self.formal.into(), 0, 0, 0, 0, 0]);
        out.extend(self.number.to_le_bytes());
    }

    /// True if the value stands in the head itself.
    pub(crate) fn is_inline(&self) -> bool {
        self.kind.has_shape() && self.shape == Shape::Scalar && self.kind.size() <= 8
    }

    fn count(&self) -> u64 {
        let is_scalar = self.kind.has_shape() && self.shape == Shape::Scalar;
        if is_scalar { 1 } else { self.number }
    }

    /// The bytes of the data behind the heads, if their number fits into a `usize`.
    fn size(&self) -> Option<usize> {
        if self.formal || self.is_inline() {
            return Some(0);
        }
        usize::try_from(self.count()).ok()?.checked_mul(self.kind.size())
    }
}

/// Checks the bytes of a tuple: every length is compared with the bytes that are there.
fn check(bytes: &[u8]) -> Result<(), DecodeError> {
    let mut reader = Reader::new(bytes);
    let head = reader.bytes(HEAD)?;
    if head[0] == 0 || head[1..] != [0; HEAD - 1] {
        return Err(DecodeError::Range);
    }
    let (heads, _) = reader.bytes(FIELD * usize::from(head[0]))?.as_chunks::<FIELD>();
    for bytes in heads {
        let head = Head::read(bytes)?;
        let size = head.size().ok_or(DecodeError::Short)?;
        let filled = size.checked_next_multiple_of(ALIGNMENT).ok_or(DecodeError::Short)?;
        let data = reader.bytes(filled)?;
        if data[size..].iter().any(|byte| *byte != 0) || !is_sound(&head, &data[..size]) {
            return Err(DecodeError::Range);
        }
    }
    if reader.remaining() == 0 { Ok(()) } else { Err(DecodeError::Trailing) }
}

/// True if each value is one of its type, and the bytes without a meaning are 0.
pub(crate) fn is_sound(head: &Head, data: &[u8]) -> bool {
    if head.formal {
        return head.number == 0 || head.kind == Kind::Struct;
    }
    let is_small = |number: u64| head.kind.size() == 8 || number >> (8 * head.kind.size()) == 0;
    match (head.kind, head.is_inline()) {
        (Kind::Bool, true) => head.number <= 1,
        (_, true) => is_small(head.number),
        (Kind::Bool, false) => data.iter().all(|byte| *byte <= 1),
        (Kind::LongDouble | Kind::DoubleComplex, false) if head.shape == Shape::Scalar => {
            head.number == 1
        }
        _ => true,
    }
}

impl Tuple {
    /// Checks bytes that another process has sent.
    ///
    /// # Errors
    /// The bytes are not a tuple.
    pub fn from_encoded(bytes: &[u8]) -> Result<Self, DecodeError> {
        check(bytes)?;
        Ok(Self(Lying::Alone(bytes.into())))
    }

    /// Like `from_encoded`, for the bytes from `start` on in some memory, which are not copied.
    ///
    /// # Errors
    /// The bytes are not a tuple.
    pub(crate) fn behind(memory: Vec<u8>, start: usize) -> Result<Self, DecodeError> {
        check(memory.get(start..).ok_or(DecodeError::Short)?)?;
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

    /// The bytes of the tuple.
    pub fn encoded(&self) -> &[u8] {
        match &self.0 {
            Lying::Alone(bytes) => bytes,
            Lying::Within { memory, start, end } => &memory[*start..*end],
        }
    }

    /// The number of its fields, at least one.
    pub fn arity(&self) -> usize {
        self.encoded()[0].into()
    }

    /// Its fields.
    pub fn fields(&self) -> impl Iterator<Item = FieldView<'_>> {
        let bytes = self.encoded();
        let mut at = HEAD + FIELD * self.arity();
        let (heads, _) = bytes[HEAD..at].as_chunks::<FIELD>();
        heads.iter().map(move |head_bytes| {
            let head = Head::read(head_bytes).expect("checked when the tuple was made");
            let size = head.size().expect("checked when the tuple was made");
            let data = match head.is_inline() {
                true => &head_bytes[8..8 + head.kind.size()],
                false => &bytes[at..at + size],
            };
            at += size.next_multiple_of(ALIGNMENT);
            let data = (!head.formal).then_some(data);
            FieldView { kind: head.kind, shape: head.shape, data, count: head.count() }
        })
    }

    /// A field.
    pub fn field(&self, index: usize) -> Option<FieldView<'_>> {
        self.fields().nth(index)
    }

    /// True if one of the fields is a formal: the tuple is a template only.
    pub fn has_formals(&self) -> bool {
        self.fields().any(|field| field.data.is_none())
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
