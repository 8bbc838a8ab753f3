//! Making a tuple or a template, field by field.

use crate::kind::{Kind, Shape};
use crate::layout::{ALIGNMENT, FIELD, HEAD, Head, is_sound};
use crate::tuple::{FIELDS_MAX, Tuple};

/// Free bytes in front of the data, enough for the heads of this many fields. With them a large
/// tuple is finished without copying its data.
const ROOM: usize = HEAD + FIELD * 16;
/// A tuple with more bytes of data than this is finished without a copy.
const LARGE: usize = 16 << 10;

/// The reason why a field cannot be added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuildError {
    /// A tuple has at most [`FIELDS_MAX`] fields.
    TooMany,
    /// The type cannot have this shape, or the bytes are not a whole number of items.
    Misfit,
    /// The memory allocation failed.
    NoMemory,
}

/// A tuple in the making.
#[derive(Clone, Default, Debug)]
pub struct Builder {
    heads: Vec<u8>,
    /// The data, behind [`ROOM`] free bytes; empty until the first data come.
    data: Vec<u8>,
}

impl Builder {
    /// Returns a builder without fields.
    pub const fn new() -> Self {
        Self { heads: Vec::new(), data: Vec::new() }
    }

    /// Returns a builder with the fields of a tuple.
    ///
    /// # Errors
    /// [`BuildError::NoMemory`] if the data cannot be copied.
    pub fn of(tuple: &Tuple) -> Result<Self, BuildError> {
        let mut builder = Self::new();
        for field in tuple.fields() {
            match field.data {
                Some(data) => builder.actual(field.kind, field.shape, data)?,
                None => builder.formal(field.kind, field.shape, field.count)?,
            }
        }
        Ok(builder)
    }

    /// Removes all fields.
    pub fn clear(&mut self) {
        self.heads.clear();
        self.data.clear();
    }

    /// The number of fields.
    pub const fn arity(&self) -> usize {
        self.heads.len() / FIELD
    }

    fn add(&mut self, head: &Head) -> Result<(), BuildError> {
        if self.arity() == FIELDS_MAX {
            return Err(BuildError::TooMany);
        }
        head.write(&mut self.heads);
        Ok(())
    }

    fn reserve(&mut self, bytes: usize) -> Result<(), BuildError> {
        let room = ROOM * usize::from(self.data.is_empty() && bytes > 0);
        self.data.try_reserve(room + bytes).map_err(|_| BuildError::NoMemory)?;
        self.data.resize(self.data.len() + room, 0);
        Ok(())
    }

    /// The data without the room in front of them.
    fn stored(&self) -> &[u8] {
        self.data.get(ROOM..).unwrap_or_default()
    }

    /// Adds an actual; its items are little-endian.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn actual(&mut self, kind: Kind, shape: Shape, items: &[u8]) -> Result<(), BuildError> {
        let count = items.len() / kind.size();
        let is_one = !kind.has_shape() || shape == Shape::Array || count == 1;
        if !items.len().is_multiple_of(kind.size()) || !is_one {
            return Err(BuildError::Misfit);
        }
        if !kind.has_shape() && shape == Shape::Array {
            return Err(BuildError::Misfit);
        }
        let mut head = Head { kind, shape, formal: false, number: count as u64 };
        let is_inline = head.is_inline();
        if is_inline {
            let mut wide = [0; 8];
            wide[..items.len()].copy_from_slice(items);
            head.number = u64::from_le_bytes(wide);
        }
        let stored = if is_inline { &[] } else { items };
        if !is_sound(&head, stored) {
            return Err(BuildError::Misfit);
        }
        let filled = stored.len().next_multiple_of(ALIGNMENT);
        self.reserve(filled)?;
        self.add(&head)?;
        if filled > 0 {
            let end = self.data.len() + filled;
            self.data.extend_from_slice(stored);
            self.data.resize(end, 0);
        }
        Ok(())
    }

    /// Adds a formal. `size` is the size of a struct, and has no meaning for other types.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn formal(&mut self, kind: Kind, shape: Shape, size: u64) -> Result<(), BuildError> {
        if !kind.has_shape() && shape == Shape::Array {
            return Err(BuildError::Misfit);
        }
        let number = if kind == Kind::Struct { size } else { 0 };
        self.add(&Head { kind, shape, formal: true, number })
    }

    /// Adds a text.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn text(&mut self, text: &str) -> Result<(), BuildError> {
        self.actual(Kind::Text, Shape::Scalar, text.as_bytes())
    }

    /// Adds an `int`.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn int(&mut self, value: i32) -> Result<(), BuildError> {
        self.actual(Kind::Int, Shape::Scalar, &value.to_le_bytes())
    }

    /// The first bytes of the tuple; none if there are no fields.
    fn beginning(&self) -> Option<[u8; HEAD]> {
        let mut bytes = [0; HEAD];
        bytes[0] = u8::try_from(self.arity()).ok().filter(|count| *count > 0)?;
        Some(bytes)
    }

    /// Returns the tuple; none if there are no fields.
    pub fn tuple(&self) -> Option<Tuple> {
        let size = HEAD + self.heads.len() + self.stored().len();
        let mut bytes = Vec::with_capacity(size);
        bytes.extend(self.beginning()?);
        bytes.extend_from_slice(&self.heads);
        bytes.extend_from_slice(self.stored());
        Some(if size > LARGE { Tuple::lying(bytes, 0..size) } else { Tuple::alone(&bytes) })
    }

    /// Returns the tuple, as [`Builder::tuple`] does. The data of a large tuple are not copied:
    /// they move into the tuple, and the builder is empty afterwards.
    pub fn finish(&mut self) -> Option<Tuple> {
        let heads = HEAD + self.heads.len();
        let Some(start) = ROOM.checked_sub(heads) else { return self.tuple() };
        let beginning = self.beginning()?;
        if self.data.is_empty() {
            self.data.resize(ROOM, 0);
        }
        self.data[start..start + HEAD].copy_from_slice(&beginning);
        self.data[start + HEAD..ROOM].copy_from_slice(&self.heads);
        if self.stored().len() <= LARGE {
            return Some(Tuple::alone(&self.data[start..]));
        }
        self.heads.clear();
        let data = std::mem::take(&mut self.data);
        let end = data.len();
        Some(Tuple::lying(data, start..end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_tuple_is_the_same_one_made_with_or_without_a_copy() {
        for size in [100, LARGE, LARGE + 1, 1 << 20] {
            for fields in [1, 15, 16, 40] {
                let mut builder = Builder::new();
                for number in 1..fields {
                    builder.int(number).expect("fits");
                }
                builder.actual(Kind::Bytes, Shape::Scalar, &vec![7; size]).expect("fits");
                let copied = builder.tuple();
                let made = builder.finish();
                assert_eq!(made, copied);
                let again = made.as_ref().map(|tuple| Builder::of(tuple).expect("fits"));
                assert_eq!(again.and_then(|builder| builder.tuple()), copied);
                let bytes = made.expect("has fields").encoded().to_vec();
                assert_eq!(Tuple::from_encoded(&bytes).ok(), copied);
                let is_taken = size > LARGE && fields <= 16;
                assert_eq!(builder.arity() == 0, is_taken, "{size} bytes, {fields} fields");
            }
        }
    }
}
