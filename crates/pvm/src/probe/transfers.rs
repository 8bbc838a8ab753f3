//! The messages of records, made from envelopes.

use crate::order::Stamp;
use pvm_wire::record::{RouteKind, Transfer};
use pvm_wire::{Encoding, Envelope, Tid};

/// Daemons on the way between two hosts: that of the sender and that of the receiver.
const HOPS: u8 = 2;

/// A message from its envelope, as its receiver sees it.
pub(super) fn taken(envelope: &Envelope, me: Tid) -> Transfer {
    Transfer {
        tag: envelope.tag,
        context: envelope.context,
        bytes: envelope.data_size,
        encoding: envelope.encoding,
        ..origin((envelope.src, envelope.sequence), me)
    }
}

/// The sender of a message and the way by which it came, found from its source and its sequence.
#[inline]
pub(super) fn origin((peer, sequence): (Tid, u64), me: Tid) -> Transfer {
    let near = peer.host() == me.host() || !peer.is_task();
    let stamp = Stamp::from_raw(sequence);
    let route = if peer == me {
        RouteKind::Own
    } else if near {
        RouteKind::Memory
    } else if stamp.is_direct() {
        RouteKind::Direct
    } else {
        RouteKind::Daemons
    };
    Transfer {
        peer,
        tag: 0,
        context: 0,
        number: if near { sequence } else { stamp.number() },
        bytes: 0,
        encoding: Encoding::Raw,
        route,
        hops: if route == RouteKind::Daemons { HOPS } else { 0 },
    }
}

/// A message to (or from) `peer`.
pub(super) fn sent(envelope: &Envelope, peer: Tid, route: RouteKind) -> Transfer {
    Transfer {
        peer,
        tag: envelope.tag,
        context: envelope.context,
        number: envelope.sequence,
        bytes: envelope.data_size,
        encoding: envelope.encoding,
        route,
        hops: if route == RouteKind::Daemons { HOPS } else { 0 },
    }
}

/// Bytes of a message with what is around it: between hosts its envelope goes along.
pub(super) const fn wire_bytes(bytes: u64, route: RouteKind) -> u64 {
    match route {
        RouteKind::Direct | RouteKind::Daemons => bytes + Envelope::SIZE as u64,
        RouteKind::None | RouteKind::Memory | RouteKind::Own => bytes,
    }
}
