//! The bytes of a tuple, in memory, in messages and on disk.
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
use pvm_wire::DecodeError;
use std::borrow::Cow;
use std::ops::Range;

pub(crate) const HEAD: usize = 16;
pub(crate) const FIELD: usize = 16;
pub(crate) const ALIGNMENT: usize = 16;

/// The head of a field, and where its data are.
pub(crate) type Part = (Head, Range<usize>);

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

    pub(crate) fn count(&self) -> u64 {
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

/// Checks the bytes of a tuple: every length is compared with the bytes that are there. `bytes`
/// gives a part of these `size` bytes.
pub(crate) fn check<'a>(
    size: usize,
    bytes: impl Fn(Range<usize>) -> Cow<'a, [u8]>,
) -> Result<(), DecodeError> {
    let within = |end: Option<usize>| end.filter(|end| *end <= size).ok_or(DecodeError::Short);
    let start = bytes(0..within(Some(HEAD))?);
    if start[0] == 0 || start[1..] != [0; HEAD - 1] {
        return Err(DecodeError::Range);
    }
    let mut at = within(Some(HEAD + FIELD * usize::from(start[0])))?;
    let heads = bytes(HEAD..at);
    for bytes_of_head in heads.as_chunks::<FIELD>().0 {
        let head = Head::read(bytes_of_head)?;
        let end = within(head.size().and_then(|size| size.checked_add(at)))?;
        let filled = within(end.checked_next_multiple_of(ALIGNMENT))?;
        // Only the values of this type can be wrong.
        let data = if head.kind == Kind::Bool { bytes(at..end) } else { Cow::Borrowed(&[][..]) };
        let is_filled = bytes(end..filled).iter().all(|byte| *byte == 0);
        if !is_filled || !is_sound(&head, &data) {
            return Err(DecodeError::Range);
        }
        at = filled;
    }
    if at == size { Ok(()) } else { Err(DecodeError::Trailing) }
}

/// The heads of the fields, and where their data are, from the first bytes of a tuple that has been
/// checked.
pub(crate) fn heads_of(beginning: &[u8]) -> impl Iterator<Item = Part> {
    let mut behind = HEAD + FIELD * usize::from(beginning[0]);
    let (heads, _) = beginning[HEAD..behind].as_chunks::<FIELD>();
    heads.iter().zip((HEAD + 8..).step_by(FIELD)).map(move |(bytes, inline)| {
        let head = Head::read(bytes).expect("checked when the tuple was made");
        let size = head.size().expect("checked when the tuple was made");
        let range = match head.is_inline() {
            true => inline..inline + head.kind.size(),
            false => behind..behind + size,
        };
        behind += size.next_multiple_of(ALIGNMENT);
        (head, range)
    })
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
