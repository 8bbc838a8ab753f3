//! Records as cells, both ways. Writing takes no memory and asks nothing twice, as a task does it
//! in each call; reading checks everything.

use super::kind;
use super::note::{
    CHILDREN_MAX, Class, DEPTH_MAX, Loss, NAME_BYTES_MAX, Processor, Reason, Record, RouteKind,
    RouteStep, Transfer, What,
};
use crate::{DecodeError, Encoding, Tid};

const SMALL_MAX: u64 = 0xff_ffff;
/// The top bit of the length's 48.
const COARSE: u64 = 1 << 47;
const COARSE_SHIFT: u32 = 16;
const PART: u8 = 1;
const SLEPT: u8 = 2;
const ANY_SOURCE: u8 = 2;
const ANY_TAG: u8 = 4;

/// 32 bytes of a record; the lower half of the first word is the ring's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C, align(32))]
pub struct Cell(pub [u64; 4]);

impl Cell {
    /// Bytes of a cell.
    pub const SIZE: usize = 32;
    /// Bytes of a further cell behind the stamp.
    const PAYLOAD: usize = 28;

    /// As bytes.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        for (place, word) in bytes.as_chunks_mut().0.iter_mut().zip(self.0) {
            *place = word.to_le_bytes();
        }
        bytes
    }

    /// From bytes; all of them are a cell.
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        let mut words = [0; 4];
        for (word, chunk) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*chunk);
        }
        Self(words)
    }

    /// The number of cells of the record that begins here, at least 1. A ring is not to be trusted:
    /// the cells may not be there. What a ring says is not to be trusted: they may not be there.
    #[inline]
    pub const fn cells(&self) -> usize {
        let count = (self.0[0] >> 40) as u8;
        if count == 0 { 1 } else { count as usize }
    }

    /// The kind of the record that begins here ([`kind`]).
    #[inline]
    pub const fn kind(&self) -> u8 {
        (self.0[0] >> 32) as u8
    }

    #[inline]
    const fn further(first: u32, words: [u64; 3]) -> Self {
        Self([(first as u64) << 32, words[0], words[1], words[2]])
    }

    fn payload(&self) -> [u8; Self::PAYLOAD] {
        let mut payload = [0; Self::PAYLOAD];
        payload.copy_from_slice(&self.to_bytes()[4..]);
        payload
    }

    fn of_payload(payload: &[u8]) -> Self {
        let mut bytes = [0; Self::SIZE];
        for (place, byte) in bytes[4..].iter_mut().zip(payload) {
            *place = *byte;
        }
        Self::from_bytes(&bytes)
    }
}

const fn pair(lower: u32, upper: u32) -> u64 {
    lower as u64 | (upper as u64) << 32
}

/// The fields of the head that depend on the kind.
struct Shape {
    kind: u8,
    cells: usize,
    small: u64,
    flags: u8,
}

const fn shape(kind: u8, cells: usize, small: u64) -> Shape {
    Shape { kind, cells, small, flags: 0 }
}

const fn sized(kind: u8, bytes: u64) -> Shape {
    if bytes < SMALL_MAX { shape(kind, 1, bytes) } else { shape(kind, 2, SMALL_MAX) }
}

const fn manner(message: &Transfer) -> u64 {
    message.encoding as u64 | (message.route as u64) << 8 | (message.hops as u64) << 16
}

impl What {
    #[inline]
    fn shape(&self) -> Shape {
        match self {
            Self::Call { bytes } => sized(kind::CALL, *bytes),
            Self::Copy { bytes } => sized(kind::COPY, *bytes),
            Self::Wait { reason, processor: None } => shape(kind::WAIT, 1, *reason as u64),
            Self::Wait { reason, processor: Some(_) } => {
                Shape { flags: SLEPT, ..shape(kind::WAIT, 2, *reason as u64) }
            }
            Self::Send { message, wire, pieces } => {
                let told = *wire != message.bytes || *pieces != 1;
                shape(kind::SEND, 2 + usize::from(told), manner(message))
            }
            Self::Receive { message, any_source, any_tag } => {
                let flags = (u8::from(*any_source) * ANY_SOURCE) | (u8::from(*any_tag) * ANY_TAG);
                Shape { flags, ..shape(kind::RECEIVE, 2, manner(message)) }
            }
            Self::Chunk { message } => shape(kind::CHUNK, 2, manner(message)),
            Self::Poll { .. } => shape(kind::POLL, 2, 0),
            Self::Group { .. } => shape(kind::GROUP, 2, 0),
            Self::Spawn { children } => {
                let count = children.len().min(CHILDREN_MAX);
                shape(kind::SPAWN, 1 + count.div_ceil(7), count as u64)
            }
            Self::Mark { name, .. } => shape(kind::MARK, 2, u64::from(*name)),
            Self::State { name } => shape(kind::STATE, 1, u64::from(*name)),
            Self::Progress { name, .. } => shape(kind::PROGRESS, 2, u64::from(*name)),
            Self::Route { step, .. } => shape(kind::ROUTE, 2, *step as u64),
            Self::Name { class, text, .. } => {
                let size = 8 + cut(text).len();
                shape(kind::NAME, 1 + size.div_ceil(Cell::PAYLOAD), *class as u64)
            }
            Self::Gap { reason, .. } => shape(kind::GAP, 2, *reason as u64),
            Self::Begin { .. } => shape(kind::BEGIN, 2, 0),
            Self::End { .. } => shape(kind::END, 2, 0),
        }
    }

    /// Its number ([`kind`]).
    pub fn kind(&self) -> u8 {
        self.shape().kind
    }

    #[inline]
    fn put_further(&self, cells: usize, mut put: impl FnMut(Cell)) {
        match self {
            Self::Call { bytes } | Self::Copy { bytes } if cells > 1 => {
                put(Cell::further(0, [*bytes, 0, 0]));
            }
            Self::Call { .. } | Self::Copy { .. } | Self::State { .. } => (),
            Self::Wait { processor, .. } => {
                if let Some(Processor { begin, end }) = processor {
                    put(Cell::further(0, [*begin, *end, 0]));
                }
            }
            Self::Send { message, wire, pieces } => {
                put(message.cell());
                if cells > 2 {
                    put(Cell::further(*pieces, [*wire, 0, 0]));
                }
            }
            Self::Receive { message, .. } | Self::Chunk { message } => put(message.cell()),
            Self::Spawn { .. } | Self::Name { .. } => self.put_long(put),
            _ => put(self.put_one()),
        }
    }

    /// Kinds that always have one further cell.
    #[inline]
    fn put_one(&self) -> Cell {
        match *self {
            Self::Poll { source, tag, context } => {
                Cell::further(source.0, [pair(tag as u32, context as u32), 0, 0])
            }
            Self::Group { name, members, instance, root, tag, count } => {
                let words = [pair(members, instance), pair(root as u32, tag as u32), count];
                Cell::further(name, words)
            }
            Self::Mark { value, .. } => Cell::further(0, [value as u64, 0, 0]),
            Self::Progress { done, total, .. } => Cell::further(0, [done, total, 0]),
            Self::Route { peer, .. } => Cell::further(peer.0, [0; 3]),
            Self::Gap { lost, .. } => Cell::further(0, [lost, 0, 0]),
            Self::Begin { parent, process, name } => {
                Cell::further(parent.0, [pair(process, name), 0, 0])
            }
            Self::End { status, noted, lost } => Cell::further(status as u32, [noted, lost, 0]),
            _ => Cell::default(),
        }
    }

    #[cold]
    fn put_long(&self, put: impl FnMut(Cell)) {
        let mut bytes = Vec::new();
        match self {
            Self::Spawn { children } => {
                let children = children.iter().take(CHILDREN_MAX);
                children.for_each(|child| bytes.extend_from_slice(&child.to_le_bytes()));
            }
            Self::Name { number, text, .. } => {
                let text = cut(text);
                bytes.extend_from_slice(&number.to_le_bytes());
                bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
                bytes.extend_from_slice(text);
            }
            _ => (),
        }
        bytes.chunks(Cell::PAYLOAD).map(Cell::of_payload).for_each(put);
    }
}

/// The longest beginning of a name that a record takes, without half a character.
fn cut(text: &[u8]) -> &[u8] {
    if text.len() <= NAME_BYTES_MAX {
        return text;
    }
    let begins = |at: &usize| text[*at] & 0xc0 != 0x80;
    let end = (NAME_BYTES_MAX - 3..=NAME_BYTES_MAX).rev().find(begins).unwrap_or(NAME_BYTES_MAX);
    &text[..end]
}

impl Transfer {
    #[inline]
    const fn cell(&self) -> Cell {
        let words = [pair(self.tag as u32, self.context as u32), self.number, self.bytes];
        Cell::further(self.peer.0, words)
    }
}

impl Record {
    /// The number of cells that [`Record::encode`] puts.
    #[inline]
    pub fn cells(&self) -> usize {
        self.what.shape().cells
    }

    /// Puts its cells, the head first.
    #[inline]
    pub fn encode(&self, mut put: impl FnMut(Cell)) {
        let Shape { kind, cells, small, flags } = self.what.shape();
        let length =
            if self.length < COARSE { self.length } else { COARSE | self.length >> COARSE_SHIFT };
        let flags = flags | (u8::from(self.part) * PART);
        let depth = if self.depth < DEPTH_MAX { self.depth } else { DEPTH_MAX };
        put(Cell([
            u64::from(kind) << 32 | (cells as u64) << 40 | u64::from(self.call) << 48,
            self.begin,
            length | u64::from(self.thread) << 48,
            u64::from(self.result as u32)
                | (small & SMALL_MAX) << 32
                | u64::from(depth | flags << 4) << 56,
        ]));
        self.what.put_further(cells, put);
    }

    /// The record at the front of `cells`, and how many of them it takes.
    pub fn decode(cells: &[Cell]) -> Result<(Self, usize), DecodeError> {
        let head = cells.first().ok_or(DecodeError::Short)?;
        let count = head.cells();
        let input = Input { cells: cells.get(..count).ok_or(DecodeError::Short)? };
        let [first, begin, middle, last] = head.0;
        let flags = (last >> 60) as u8;
        let length = middle & 0xffff_ffff_ffff;
        let record = Self {
            begin,
            length: if length < COARSE { length } else { (length ^ COARSE) << COARSE_SHIFT },
            thread: (middle >> 48) as u16,
            depth: (last >> 56) as u8 & DEPTH_MAX,
            call: (first >> 48) as u16,
            result: last as u32 as i32,
            part: flags & PART != 0,
            what: input.what((first >> 32) as u8, (last >> 32 & SMALL_MAX) as u32, flags)?,
        };
        Ok((record, count))
    }
}

/// The cells of one record.
struct Input<'a> {
    cells: &'a [Cell],
}

impl Input<'_> {
    /// The upper half of a further cell's first word, and the words behind it.
    fn further(&self, number: usize) -> Result<(u32, [u64; 3]), DecodeError> {
        let [first, a, b, c] = self.cells.get(number).ok_or(DecodeError::Short)?.0;
        Ok(((first >> 32) as u32, [a, b, c]))
    }

    fn what(&self, kind: u8, small: u32, flags: u8) -> Result<What, DecodeError> {
        Ok(match kind {
            kind::CALL => What::Call { bytes: self.bytes(small)? },
            kind::COPY => What::Copy { bytes: self.bytes(small)? },
            kind::WAIT => {
                let reason = Reason::from_number(small as u8).ok_or(DecodeError::Range)?;
                What::Wait { reason, processor: self.processor(flags)? }
            }
            kind::SEND => self.send(small)?,
            kind::RECEIVE => What::Receive {
                message: self.message(small)?,
                any_source: flags & ANY_SOURCE != 0,
                any_tag: flags & ANY_TAG != 0,
            },
            kind::CHUNK => What::Chunk { message: self.message(small)? },
            kind::SPAWN => What::Spawn { children: self.children(small as usize)? },
            kind::STATE => What::State { name: small },
            kind::NAME => self.name(small)?,
            _ => self.with_one_further(kind, small)?,
        })
    }

    fn with_one_further(&self, kind: u8, small: u32) -> Result<What, DecodeError> {
        if !(kind::POLL..=kind::END).contains(&kind) {
            return Err(DecodeError::UnknownKind(kind.into()));
        }
        let (first, [a, b, c]) = self.further(1)?;
        let (lower, upper) = (a as u32, (a >> 32) as u32);
        Ok(match kind {
            kind::POLL => {
                What::Poll { source: Tid(first), tag: lower as i32, context: upper as i32 }
            }
            kind::GROUP => What::Group {
                name: first,
                members: lower,
                instance: upper,
                root: b as u32 as i32,
                tag: (b >> 32) as u32 as i32,
                count: c,
            },
            kind::MARK => What::Mark { name: small, value: a as i64 },
            kind::PROGRESS => What::Progress { name: small, done: a, total: b },
            kind::ROUTE => {
                let step = RouteStep::from_number(small as u8).ok_or(DecodeError::Range)?;
                What::Route { peer: Tid(first), step }
            }
            kind::GAP => {
                let reason = Loss::from_number(small as u8).ok_or(DecodeError::Range)?;
                What::Gap { reason, lost: a }
            }
            kind::BEGIN => What::Begin { parent: Tid(first), process: lower, name: upper },
            kind::END => What::End { status: first as i32, noted: a, lost: b },
            _ => return Err(DecodeError::UnknownKind(kind.into())),
        })
    }

    fn bytes(&self, small: u32) -> Result<u64, DecodeError> {
        if u64::from(small) < SMALL_MAX {
            return Ok(small.into());
        }
        let (_, [bytes, ..]) = self.further(1)?;
        Ok(bytes)
    }

    fn processor(&self, flags: u8) -> Result<Option<Processor>, DecodeError> {
        if flags & SLEPT == 0 {
            return Ok(None);
        }
        let (_, [begin, end, _]) = self.further(1)?;
        Ok(Some(Processor { begin, end }))
    }

    fn message(&self, small: u32) -> Result<Transfer, DecodeError> {
        let (peer, [lower, number, bytes]) = self.further(1)?;
        let [encoding, route, hops, _] = small.to_le_bytes();
        Ok(Transfer {
            peer: Tid(peer),
            tag: lower as u32 as i32,
            context: (lower >> 32) as u32 as i32,
            number,
            bytes,
            encoding: Encoding::from_number(encoding.into()).ok_or(DecodeError::Range)?,
            route: RouteKind::from_number(route).ok_or(DecodeError::Range)?,
            hops,
        })
    }

    fn send(&self, small: u32) -> Result<What, DecodeError> {
        let message = self.message(small)?;
        if self.cells.len() == 2 {
            return Ok(What::Send { message, wire: message.bytes, pieces: 1 });
        }
        let (pieces, [wire, ..]) = self.further(2)?;
        Ok(What::Send { message, wire, pieces })
    }

    /// The payloads of all further cells, one behind the other.
    fn payload(&self) -> Vec<u8> {
        self.cells.iter().skip(1).flat_map(Cell::payload).collect()
    }

    fn children(&self, count: usize) -> Result<Vec<i32>, DecodeError> {
        let payload = self.payload();
        let bytes = payload.get(..count * 4).ok_or(DecodeError::Short)?;
        Ok(bytes.as_chunks().0.iter().map(|child| i32::from_le_bytes(*child)).collect())
    }

    fn name(&self, small: u32) -> Result<What, DecodeError> {
        let class = Class::from_number(small as u8).ok_or(DecodeError::Range)?;
        let (number, [lower, ..]) = self.further(1)?;
        let length = lower as u32 as usize;
        if length > NAME_BYTES_MAX {
            return Err(DecodeError::Range);
        }
        let payload = self.payload();
        let text = payload.get(8..8 + length).ok_or(DecodeError::Short)?.to_vec();
        Ok(What::Name { class, number, text })
    }
}

/// The records in some cells, one after the other.
///
/// After an error they go on behind the cells that the record says it has: a kind that is not known
/// costs itself alone. What is cut off at the end is an error, too, and the last one.
#[derive(Clone, Debug)]
pub struct DecodedRecords<'a> {
    rest: &'a [Cell],
}

impl<'a> DecodedRecords<'a> {
    /// Reads the records in these cells.
    pub const fn new(cells: &'a [Cell]) -> Self {
        Self { rest: cells }
    }
}

impl Iterator for DecodedRecords<'_> {
    type Item = Result<Record, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let count = self.rest.first()?.cells();
        let found = Record::decode(self.rest);
        self.rest = self.rest.get(count..).unwrap_or_default();
        Some(found.map(|(record, _)| record))
    }
}
