//! What the probe points of a task note: records of `pvm_shm::recorder`, made from envelopes.

use crate::pattern::Pattern;
use pvm_shm::recorder::{Point, Record, Way};
use pvm_wire::Envelope;

/// How far the negotiation of a direct route is: [`Record::result`] of [`Point::Route`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum Negotiation {
    /// The host was asked for one.
    Asked = 1,
    /// It stands.
    Stands = 2,
    /// There will be none for now.
    Refused = 3,
    /// It ended.
    Broke = 4,
}

/// A record about nothing but its point.
pub(crate) fn at(point: Point) -> Record {
    Record { point: point as u8, thread: crate::sys::thread_number().get(), ..Record::default() }
}

/// Daemons on the way between two hosts: that of the sender and that of the receiver.
const HOPS: u8 = 2;

/// A message on its way to `peer`.
pub(crate) fn sending(point: Point, peer: u32, way: Way, envelope: &Envelope) -> Record {
    Record {
        way: way as u8,
        hops: if way == Way::Daemons { HOPS } else { 0 },
        peer,
        tag: envelope.tag,
        context: envelope.context,
        bytes: envelope.data_size,
        sequence: envelope.sequence,
        ..at(point)
    }
}

/// A message that was taken, and what was asked for.
pub(crate) fn received(envelope: &Envelope, way: Way, pattern: &Pattern) -> Record {
    Record {
        asked_source: pattern.source.map_or(0, |source| source.0),
        asked_tag: pattern.tag.unwrap_or(-1),
        ..sending(Point::Received, envelope.src.0, way, envelope)
    }
}
