//! Large tuples in memory that other processes have mapped, such as a slab of the server's.
//!
//! Such a tuple is sent from where it lies, so the server copies it once. Another task may write to
//! that memory. So no reference to it is formed, and all that decides where the tuple is found (its
//! heads, its first small fields and its marks) is copied when the tuple comes. A receiver checks
//! the bytes that it gets, as it checks those of any message, and asks again if it refuses them. So
//! before a tuple is sent, the bytes that can be wrong are written anew. A task that writes to a
//! large tuple that it has read can change its values, but cannot keep others from taking it.

use crate::hash::{WHOLE_MAX, of_long_value};
use crate::kind::Kind;
use crate::layout::{ALIGNMENT, FIELD, HEAD, check, heads_of};
use crate::marks::{KEY, Marks, key, key_by_length};
use pvm_wire::DecodeError;
use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

/// The most bytes of fields that are copied together with the heads.
const BEGINNING_MAX: usize = 4096;

/// A message in memory that other processes have mapped.
pub trait Parcel: fmt::Debug + Send + Sync {
    /// The number of its bytes.
    fn size(&self) -> usize;
    /// Copies a part.
    fn read(&self, offset: usize, out: &mut [u8]);
    /// The parcel itself, for the crate that has made it.
    fn as_any(&self) -> &dyn Any;
}

/// A message in memory of this process.
impl Parcel for Vec<u8> {
    fn size(&self) -> usize {
        self.len()
    }

    fn read(&self, offset: usize, out: &mut [u8]) {
        out.copy_from_slice(&self[offset..offset + out.len()]);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A tuple in a parcel.
#[derive(Debug)]
pub struct Outside {
    parcel: Box<dyn Parcel>,
    /// The offset of the tuple in the parcel.
    start: usize,
    /// The heads, and the first fields as far as they are small.
    beginning: Vec<u8>,
    marks: Marks,
    /// All bytes, once they were needed.
    whole: OnceLock<Vec<u8>>,
}

impl Outside {
    /// Checks a tuple and copies its beginning.
    pub(crate) fn new(parcel: Box<dyn Parcel>, start: usize) -> Result<Self, DecodeError> {
        let size = parcel.size().checked_sub(start).ok_or(DecodeError::Short)?;
        let mut beginning = heads(&*parcel, start, size);
        check(size, |range| part(&beginning, &*parcel, start, range))?;
        let arity = usize::from(beginning[0]);
        let marks = Marks::of(arity, heads_of(&beginning), |head, range| {
            let by_length = || key_by_length(head.kind, head.shape, range.len());
            if range.len() <= WHOLE_MAX {
                return key(head.kind, head.shape, &part(&beginning, &*parcel, start, range));
            }
            by_length().unwrap_or_else(|| {
                let first = start + range.start;
                of_long_value(KEY, range.len(), |at, out| parcel.read(first + at, out))
            })
        });
        let most = beginning.len() + BEGINNING_MAX;
        let ends = heads_of(&beginning).map(|(_, range)| range.end);
        let small = ends.take_while(|end| *end <= most).max();
        let more = beginning.len()..small.unwrap_or(0).max(beginning.len());
        let more = part(&[], &*parcel, start, more).into_owned();
        beginning.extend(more);
        Ok(Self { parcel, start, beginning, marks, whole: OnceLock::new() })
    }

    /// The parcel.
    pub fn parcel(&self) -> &dyn Parcel {
        &*self.parcel
    }

    /// The offset of the tuple in its parcel.
    pub const fn start(&self) -> usize {
        self.start
    }

    pub(crate) fn size(&self) -> usize {
        self.parcel.size() - self.start
    }

    pub(crate) fn beginning(&self) -> &[u8] {
        &self.beginning
    }

    pub(crate) const fn marks(&self) -> Marks {
        self.marks
    }

    /// All bytes. They are copied at the first call.
    pub(crate) fn encoded(&self) -> &[u8] {
        self.whole.get_or_init(|| {
            let mut whole = vec![0; self.size()];
            self.parcel.read(self.start, &mut whole);
            for (at, bytes) in self.checked_parts() {
                whole[at..at + bytes.len()].copy_from_slice(&bytes);
            }
            whole
        })
    }

    /// The parts that a receiver refuses if they are damaged, each with its place in the tuple: the
    /// beginning, the filling behind each later field, and truth values.
    pub fn checked_parts(&self) -> impl Iterator<Item = (usize, Cow<'_, [u8]>)> {
        let later = heads_of(&self.beginning)
            .map(|(head, range)| (head, filling(&range), range))
            .filter(|(_, filling, _)| filling.end > self.beginning.len());
        let parts = later.flat_map(|(head, filling, range)| {
            let bools = (head.kind == Kind::Bool).then(|| (range.start, self.bools(range)));
            let zeros = Cow::Borrowed(&[0; ALIGNMENT][..filling.len()]);
            [Some((filling.start, zeros)), bools].into_iter().flatten()
        });
        std::iter::once((0, Cow::Borrowed(&*self.beginning))).chain(parts)
    }

    fn bools(&self, range: Range<usize>) -> Cow<'_, [u8]> {
        let mut bytes = part(&self.beginning, &*self.parcel, self.start, range).into_owned();
        bytes.iter_mut().for_each(|byte| *byte = (*byte).min(1));
        Cow::Owned(bytes)
    }
}

/// The bytes between a field and the next one.
fn filling(field: &Range<usize>) -> Range<usize> {
    field.end..field.end.next_multiple_of(ALIGNMENT)
}

/// The first bytes of a tuple up to the end of the heads, as far as they are there.
fn heads(parcel: &dyn Parcel, start: usize, size: usize) -> Vec<u8> {
    let mut arity = [0; 1];
    parcel.read(start, &mut arity[..size.min(1)]);
    let mut heads = vec![0; size.min(HEAD + FIELD * usize::from(arity[0]))];
    parcel.read(start, &mut heads);
    // The bytes may have changed between the two reads.
    heads.iter_mut().take(1).for_each(|first| *first = arity[0]);
    heads
}

/// A part of a tuple: of its beginning if it is there, otherwise out of the parcel.
fn part<'a>(
    beginning: &'a [u8],
    parcel: &dyn Parcel,
    start: usize,
    range: Range<usize>,
) -> Cow<'a, [u8]> {
    match beginning.get(range.clone()) {
        Some(bytes) => Cow::Borrowed(bytes),
        None => {
            let mut bytes = vec![0; range.len()];
            parcel.read(start + range.start, &mut bytes);
            Cow::Owned(bytes)
        }
    }
}
