//! Manners: the fields that many records have in common, and the rest of a record.

use crate::error::Fault;
use crate::varint::{self, Input};
use pvm_wire::record::{CHILDREN_MAX, DEPTH_MAX, NAME_BYTES_MAX, kind};
use pvm_wire::record::{
    Class, Loss, Processor, Reason, Record, RouteKind, RouteStep, Transfer, What,
};
use pvm_wire::{Encoding, Tid};

/// The most values of a kind that change from record to record.
pub(super) const MOVING: usize = 3;
/// The most values of a kind that stay the same.
const FIXED: usize = 5;

const PART: u8 = 1;
const SLEPT: u8 = 2;
const ANY_SOURCE: u8 = 2;
const ANY_TAG: u8 = 4;

/// The numbers of fixed and of moving values of a kind.
const fn values(kind: u8) -> Option<(usize, usize)> {
    Some(match kind {
        kind::CALL | kind::COPY => (0, 1),
        kind::WAIT => (1, 2),
        kind::SEND => (5, 3),
        kind::RECEIVE | kind::CHUNK => (4, 2),
        kind::POLL => (3, 0),
        kind::GROUP => (3, 3),
        kind::SPAWN => (0, 0),
        kind::STATE => (1, 0),
        kind::MARK | kind::GAP | kind::NAME => (1, 1),
        kind::PROGRESS | kind::BEGIN | kind::END => (1, 2),
        kind::ROUTE => (2, 0),
        _ => return None,
    })
}

/// The fields that many records have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Manner {
    kind: u8,
    flags: u8,
    depth: u8,
    thread: u16,
    call: u16,
    fixed: [u32; FIXED],
}

type Split = (u8, u8, [u32; FIXED], [u64; MOVING]);

impl Manner {
    /// The manner of a record, and its moving values.
    #[inline]
    pub(super) fn of(record: &Record) -> (Self, [u64; MOVING]) {
        let (kind, flags, fixed, moving) = split(&record.what);
        let flags = flags | if record.part { PART } else { 0 };
        let depth = record.depth.min(DEPTH_MAX);
        let (thread, call) = (record.thread, record.call);
        (Self { kind, flags, depth, thread, call, fixed }, moving)
    }

    /// The number of moving values in use.
    #[inline]
    pub(super) const fn moving(&self) -> usize {
        match values(self.kind) {
            Some((_, moving)) => moving,
            None => 0,
        }
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.kind, self.depth | self.flags << 4]);
        varint::put(out, self.thread.into());
        varint::put(out, self.call.into());
        let fixed = values(self.kind).map_or(0, |(fixed, _)| fixed);
        self.fixed.iter().take(fixed).for_each(|value| varint::put(out, (*value).into()));
    }

    pub(super) fn decode(input: &mut Input<'_>) -> Result<Self, Fault> {
        let kind = input.byte()?;
        let byte = input.byte()?;
        let (count, _) = values(kind).ok_or_else(|| Fault::UnknownKind(kind.into()))?;
        let (thread, call) = (input.number_of()?, input.number_of()?);
        let mut fixed = [0; FIXED];
        for value in fixed.iter_mut().take(count) {
            *value = input.number_of()?;
        }
        let manner = Self { kind, flags: byte >> 4, depth: byte & DEPTH_MAX, thread, call, fixed };
        manner.check()?;
        Ok(manner)
    }

    /// Checks the manner, so that its records need not be checked one by one.
    fn check(&self) -> Result<(), Fault> {
        let known = match self.kind {
            kind::WAIT => Reason::from_number(self.small(0)?).is_some(),
            kind::SEND | kind::RECEIVE | kind::CHUNK => self.message(&[0; MOVING]).is_some(),
            kind::ROUTE => RouteStep::from_number(self.small(1)?).is_some(),
            kind::NAME => Class::from_number(self.small(0)?).is_some(),
            kind::GAP => Loss::from_number(self.small(0)?).is_some(),
            _ => true,
        };
        if known { Ok(()) } else { Err(Fault::Range) }
    }

    fn small(&self, number: usize) -> Result<u8, Fault> {
        u8::try_from(self.fixed[number]).map_err(|_| Fault::Range)
    }

    fn message(&self, moving: &[u64; MOVING]) -> Option<Transfer> {
        let [peer, tag, context, how, _] = self.fixed;
        let [encoding, route, hops, 0] = how.to_le_bytes() else { return None };
        Some(Transfer {
            peer: Tid(peer),
            tag: tag.cast_signed(),
            context: context.cast_signed(),
            number: moving[0],
            bytes: moving[1],
            encoding: Encoding::from_number(encoding.into())?,
            route: RouteKind::from_number(route)?,
            hops,
        })
    }

    /// Makes the record of this manner with these values.
    #[inline]
    pub(super) fn record(
        &self,
        (begin, length): (u64, u64),
        result: i32,
        moving: &[u64; MOVING],
        input: &mut Input<'_>,
    ) -> Result<Record, Fault> {
        Ok(Record {
            begin,
            length,
            thread: self.thread,
            depth: self.depth,
            call: self.call,
            result,
            part: self.flags & PART != 0,
            what: self.what(moving, input)?,
        })
    }

    #[inline]
    fn what(&self, moving: &[u64; MOVING], input: &mut Input<'_>) -> Result<What, Fault> {
        let [a, b, c] = *moving;
        Ok(match self.kind {
            kind::CALL => What::Call { bytes: a },
            kind::COPY => What::Copy { bytes: a },
            kind::WAIT => self.wait(a, b)?,
            kind::SEND => {
                let message = self.message(moving).ok_or(Fault::Range)?;
                let wire = message.bytes.wrapping_add(c);
                What::Send { message, wire, pieces: self.fixed[4] }
            }
            kind::RECEIVE => What::Receive {
                message: self.message(moving).ok_or(Fault::Range)?,
                any_source: self.flags & ANY_SOURCE != 0,
                any_tag: self.flags & ANY_TAG != 0,
            },
            kind::CHUNK => What::Chunk { message: self.message(moving).ok_or(Fault::Range)? },
            _ => self.rare(moving, input)?,
        })
    }

    fn wait(&self, begin: u64, took: u64) -> Result<What, Fault> {
        let reason = Reason::from_number(self.small(0)?).ok_or(Fault::Range)?;
        let slept = self.flags & SLEPT != 0;
        let processor = slept.then_some(Processor { begin, end: begin.wrapping_add(took) });
        Ok(What::Wait { reason, processor })
    }

    fn rare(&self, moving: &[u64; MOVING], input: &mut Input<'_>) -> Result<What, Fault> {
        let [a, b, c] = *moving;
        let [first, second, third, ..] = self.fixed;
        let narrow = |value: u64| u32::try_from(value).map_err(|_| Fault::Range);
        Ok(match self.kind {
            kind::POLL => What::Poll {
                source: Tid(first),
                tag: second.cast_signed(),
                context: third.cast_signed(),
            },
            kind::GROUP => What::Group {
                name: first,
                members: narrow(a)?,
                instance: narrow(b)?,
                root: second.cast_signed(),
                tag: third.cast_signed(),
                count: c,
            },
            kind::SPAWN => What::Spawn { children: children(input)? },
            kind::MARK => What::Mark { name: first, value: a.cast_signed() },
            kind::STATE => What::State { name: first },
            kind::PROGRESS => What::Progress { name: first, done: a, total: b },
            kind::ROUTE => {
                let step = RouteStep::from_number(self.small(1)?).ok_or(Fault::Range)?;
                What::Route { peer: Tid(first), step }
            }
            kind::NAME => {
                let class = Class::from_number(self.small(0)?).ok_or(Fault::Range)?;
                What::Name { class, number: narrow(a)?, text: text(input)? }
            }
            kind::GAP => {
                let reason = Loss::from_number(self.small(0)?).ok_or(Fault::Range)?;
                What::Gap { reason, lost: a }
            }
            kind::BEGIN => {
                What::Begin { parent: Tid(first), process: narrow(a)?, name: narrow(b)? }
            }
            kind::END => What::End { status: first.cast_signed(), noted: a, lost: b },
            other => return Err(Fault::UnknownKind(other.into())),
        })
    }

    /// Writes the part of a record behind its moving values.
    pub(super) fn put_tail(record: &Record, out: &mut Vec<u8>) {
        match &record.what {
            What::Spawn { children } => {
                let children = &children[..children.len().min(CHILDREN_MAX)];
                varint::put(out, children.len() as u64);
                children.iter().for_each(|child| varint::put_signed(out, (*child).into()));
            }
            What::Name { text, .. } => {
                let text = &text[..text.len().min(NAME_BYTES_MAX)];
                varint::put(out, text.len() as u64);
                out.extend_from_slice(text);
            }
            _ => (),
        }
    }
}

fn children(input: &mut Input<'_>) -> Result<Vec<i32>, Fault> {
    let count: usize = input.number_of()?;
    if count > CHILDREN_MAX {
        return Err(Fault::Range);
    }
    (0..count).map(|_| i32::try_from(input.signed()?).map_err(|_| Fault::Range)).collect()
}

fn text(input: &mut Input<'_>) -> Result<Vec<u8>, Fault> {
    let count: usize = input.number_of()?;
    if count > NAME_BYTES_MAX {
        return Err(Fault::Range);
    }
    Ok(input.bytes(count)?.to_vec())
}

const fn how(message: &Transfer) -> u32 {
    u32::from_le_bytes([message.encoding as u8, message.route as u8, message.hops, 0])
}

const fn address(message: &Transfer, last: u32) -> [u32; FIXED] {
    let (tag, context) = (message.tag.cast_unsigned(), message.context.cast_unsigned());
    [message.peer.0, tag, context, how(message), last]
}

#[inline]
fn split(what: &What) -> Split {
    const NONE: [u32; FIXED] = [0; FIXED];
    match what {
        What::Call { bytes } => (kind::CALL, 0, NONE, [*bytes, 0, 0]),
        What::Copy { bytes } => (kind::COPY, 0, NONE, [*bytes, 0, 0]),
        What::Wait { reason, processor } => {
            let fixed = [*reason as u32, 0, 0, 0, 0];
            match processor {
                None => (kind::WAIT, 0, fixed, [0; MOVING]),
                Some(Processor { begin, end }) => {
                    (kind::WAIT, SLEPT, fixed, [*begin, end.wrapping_sub(*begin), 0])
                }
            }
        }
        What::Send { message, wire, pieces } => {
            let around = wire.wrapping_sub(message.bytes);
            let moving = [message.number, message.bytes, around];
            (kind::SEND, 0, address(message, *pieces), moving)
        }
        What::Receive { message, any_source, any_tag } => {
            let flags = (u8::from(*any_source) * ANY_SOURCE) | (u8::from(*any_tag) * ANY_TAG);
            (kind::RECEIVE, flags, address(message, 0), [message.number, message.bytes, 0])
        }
        What::Chunk { message } => {
            (kind::CHUNK, 0, address(message, 0), [message.number, message.bytes, 0])
        }
        _ => split_rare(what),
    }
}

fn split_rare(what: &What) -> Split {
    let one = |value: u32| [value, 0, 0, 0, 0];
    match *what {
        What::Poll { source, tag, context } => {
            let fixed = [source.0, tag.cast_unsigned(), context.cast_unsigned(), 0, 0];
            (kind::POLL, 0, fixed, [0; MOVING])
        }
        What::Group { name, members, instance, root, tag, count } => {
            let fixed = [name, root.cast_unsigned(), tag.cast_unsigned(), 0, 0];
            (kind::GROUP, 0, fixed, [members.into(), instance.into(), count])
        }
        What::Mark { name, value } => (kind::MARK, 0, one(name), [value.cast_unsigned(), 0, 0]),
        What::State { name } => (kind::STATE, 0, one(name), [0; MOVING]),
        What::Progress { name, done, total } => (kind::PROGRESS, 0, one(name), [done, total, 0]),
        What::Route { peer, step } => (kind::ROUTE, 0, [peer.0, step as u32, 0, 0, 0], [0; MOVING]),
        What::Name { class, number, .. } => {
            (kind::NAME, 0, one(class as u32), [number.into(), 0, 0])
        }
        What::Gap { reason, lost } => (kind::GAP, 0, one(reason as u32), [lost, 0, 0]),
        What::Begin { parent, process, name } => {
            (kind::BEGIN, 0, one(parent.0), [process.into(), name.into(), 0])
        }
        What::End { status, noted, lost } => {
            (kind::END, 0, one(status.cast_unsigned()), [noted, lost, 0])
        }
        _ => (kind::SPAWN, 0, one(0), [0; MOVING]),
    }
}
