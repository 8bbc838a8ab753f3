//! Transports, which make packets of messages. Each transport is a small machine like a link.

pub(crate) mod beats;
mod datagrams;
mod rdma;
pub(crate) mod relay;
pub(crate) mod server;
pub(crate) mod tcp;

use self::tcp::{Clock, Input, Output};
use crate::platform::Transport;
use crate::unit::Time;
use pvm_wire::congestion::UnderWay;

/// One end of a connection of any transport: bytes that are written at one end arrive at the other
/// end in their order.
#[derive(Debug)]
pub(crate) enum End {
    Tcp(Box<tcp::End>),
    Rdma(Box<rdma::End>),
    Datagrams(Box<datagrams::End>),
}

impl End {
    /// Returns none for a platform without a transport. `base` is the round trip time of an idle
    /// network.
    pub(crate) fn new(transport: &Transport, base: Time, clock: Clock) -> Option<Self> {
        Some(match transport {
            Transport::None => return None,
            Transport::Tcp(tcp) => Self::Tcp(Box::new(tcp::End::new(tcp, base, clock))),
            Transport::Rdma(rdma) => Self::Rdma(Box::new(rdma::End::new(*rdma))),
            Transport::Datagrams(datagrams) => {
                Self::Datagrams(Box::new(datagrams::End::new(*datagrams)))
            }
        })
    }

    pub(crate) fn handle(&mut self, now: Time, input: Input) {
        match self {
            Self::Tcp(end) => end.handle(now, input),
            Self::Rdma(end) => end.handle(now, input),
            Self::Datagrams(end) => end.handle(now, input),
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Time) {
        match self {
            Self::Tcp(end) => end.handle_timeout(now),
            Self::Rdma(end) => end.handle_timeout(now),
            Self::Datagrams(end) => end.handle_timeout(now),
        }
    }

    pub(crate) fn poll_output(&mut self) -> Option<Output> {
        match self {
            Self::Tcp(end) => end.poll_output(),
            Self::Rdma(end) => end.poll_output(),
            Self::Datagrams(end) => end.poll_output(),
        }
    }

    /// The number of further bytes that a write may hand over. A card takes a message of any
    /// length.
    pub(crate) fn room(&self) -> u64 {
        match self {
            Self::Tcp(end) => end.room(),
            Self::Rdma(_) => u64::MAX,
            Self::Datagrams(end) => end.room(),
        }
    }

    /// As an end of TCP, if it is one.
    pub(crate) fn tcp(&mut self) -> Option<&mut tcp::End> {
        if let Self::Tcp(end) = self { Some(end) } else { None }
    }

    /// The bytes that were written and not confirmed; none where the transport does not tell.
    pub(crate) fn under_way(&self) -> Option<UnderWay> {
        match self {
            Self::Tcp(end) => Some(end.under_way()),
            Self::Rdma(_) | Self::Datagrams(_) => None,
        }
    }

    /// True while there is no room: a daemon sends no beat then, as those before it tell as much.
    pub(crate) fn is_behind(&self) -> bool {
        match self {
            Self::Tcp(end) => end.room() == 0,
            Self::Rdma(end) => end.is_behind(),
            Self::Datagrams(end) => end.room() == 0,
        }
    }

    /// The number of segments, or datagrams, that were sent again.
    pub(crate) const fn resent(&self) -> u64 {
        match self {
            Self::Tcp(end) => end.resent(),
            Self::Rdma(_) => 0,
            Self::Datagrams(end) => end.resent,
        }
    }
}
