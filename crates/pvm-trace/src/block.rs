//! A block: records of one task in few bytes.
//!
//! ```text
//! task varint  count varint  base varint (the end of the first record)
//! summaries    one for each 64 records
//! records      manner varint  [a new manner]  end signed  length varint  result signed
//!              moving values signed, by kind  [tail]
//! ```
//! The fields that many records have in common (kind, call, thread, depth, peer, tag ...) are a
//! *manner*: a manner is written once, and later records name it by its number. The end is the
//! difference from the record before; the result and the changing fields are the differences from
//! the last record of the same manner. So a call takes six bytes, a message about ten.

mod builder;
mod manner;

pub use builder::{BLOCK_RECORDS_MAX, BlockBuilder};

use crate::error::Fault;
use crate::levels::{SUMMARY_RECORDS, Summary};
use crate::varint::Input;
use manner::{MOVING, Manner};
use pvm_wire::record::Record;

/// A block that is read, record by record.
///
/// ```
/// use pvm_trace::{Block, BlockBuilder, Record};
///
/// let mut builder = BlockBuilder::new(3);
/// builder.push(&Record::call(17, 1000, 20));
/// let bytes = builder.take();
/// let mut block = Block::new(&bytes)?;
/// assert_eq!((block.task(), block.left()), (3, 1));
/// assert_eq!(block.read_next(&bytes)?, Some(Record::call(17, 1000, 20)));
/// # Ok::<(), pvm_trace::Fault>(())
/// ```
#[derive(Clone, Debug)]
pub struct Block {
    task: u32,
    left: u32,
    summaries: Vec<Summary>,
    end: u64,
    at: usize,
    known: Vec<MannerHistory>,
}

#[derive(Clone, Debug)]
struct MannerHistory {
    manner: Manner,
    result: i32,
    moving: [u64; MOVING],
}

impl Block {
    /// Reads the part in front of the records. The block does not keep the bytes: the caller gives
    /// them again for each record.
    pub fn new(bytes: &[u8]) -> Result<Self, Fault> {
        let mut input = Input::new(bytes);
        let task = input.number_of()?;
        let left: u32 = input.number_of()?;
        let base = input.number()?;
        if left as usize > BLOCK_RECORDS_MAX {
            return Err(Fault::Range);
        }
        let summaries = (0..(left as usize).div_ceil(SUMMARY_RECORDS))
            .map(|_| Summary::decode(base, &mut input))
            .collect::<Result<_, _>>()?;
        let at = bytes.len() - input.rest.len();
        Ok(Self { task, left, summaries, end: base, at, known: Vec::new() })
    }

    /// The number of the task in the file.
    pub const fn task(&self) -> u32 {
        self.task
    }

    /// The number of records that were not read yet.
    pub const fn left(&self) -> u32 {
        self.left
    }

    /// The summaries of each 64 records.
    pub fn summaries(&self) -> &[Summary] {
        &self.summaries
    }

    /// The next record. `bytes` are the bytes that [`Block::new`] got.
    pub fn read_next(&mut self, bytes: &[u8]) -> Result<Option<Record>, Fault> {
        let mut input = Input::new(bytes.get(self.at..).ok_or(Fault::Short)?);
        if self.left == 0 {
            return if input.rest.is_empty() { Ok(None) } else { Err(Fault::Trailing) };
        }
        let record = self.record(&mut input)?;
        self.at = bytes.len() - input.rest.len();
        self.left -= 1;
        Ok(Some(record))
    }

    #[inline]
    fn record(&mut self, input: &mut Input<'_>) -> Result<Record, Fault> {
        let number: usize = input.number_of()?;
        if number == self.known.len() {
            let manner = Manner::decode(input)?;
            self.known.push(MannerHistory { manner, result: 0, moving: [0; MOVING] });
        }
        let known = self.known.get_mut(number).ok_or(Fault::Range)?;
        self.end = self.end.wrapping_add(input.signed()?.cast_unsigned());
        let length = input.number()?;
        let result = i64::from(known.result).wrapping_add(input.signed()?);
        known.result = i32::try_from(result).map_err(|_| Fault::Range)?;
        for value in known.moving.iter_mut().take(known.manner.moving()) {
            *value = value.wrapping_add(input.signed()?.cast_unsigned());
        }
        let begin = self.end.checked_sub(length).ok_or(Fault::Range)?;
        known.manner.record((begin, length), known.result, &known.moving, input)
    }
}
