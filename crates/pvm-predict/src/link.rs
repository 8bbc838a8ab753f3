//! The links that carry bits. Each link is a small machine: its inputs are offered data and the
//! time, and its outputs are arrivals and the moment at which it wants to be asked again.

pub mod cells;
pub mod csma;
pub mod fddi;
mod frame;
pub mod hippi;
pub mod port;
pub mod routes;
pub mod share;
mod waiting;

pub use self::frame::Frame;

use self::cells::Cells;
use self::fddi::Fddi;
use self::hippi::Hippi;
use self::port::{Output, Port};
use crate::unit::Time;

/// A link of a network that has routes.
#[derive(Debug)]
pub enum Link {
    /// One direction of a cable.
    Port(Port),
    /// One output of an ATM switch.
    Cells(Cells),
    /// A token ring: one link for all hosts.
    Ring(Box<Fddi>),
    /// A crossbar: one link for all hosts.
    Crossbar(Box<Hippi>),
}

impl Link {
    /// Takes a frame to be sent.
    pub fn handle(&mut self, now: Time, frame: Frame) {
        match self {
            Self::Port(port) => port.handle(now, frame.token, frame.bytes),
            Self::Cells(cells) => cells.handle(now, frame.token, frame.bytes),
            Self::Ring(ring) => ring.handle(now, frame),
            Self::Crossbar(crossbar) => crossbar.handle(now, frame),
        }
    }

    /// Handles the time that has passed.
    pub fn handle_timeout(&mut self, now: Time) {
        match self {
            Self::Port(port) => port.handle_timeout(now),
            Self::Cells(cells) => cells.handle_timeout(now),
            Self::Ring(ring) => ring.handle_timeout(now),
            Self::Crossbar(crossbar) => crossbar.handle_timeout(now),
        }
    }

    /// The next event, if there is one.
    pub fn poll_output(&mut self) -> Option<Output> {
        match self {
            Self::Port(port) => port.poll_output(),
            Self::Cells(cells) => cells.poll_output(),
            Self::Ring(ring) => ring.poll_output(),
            Self::Crossbar(crossbar) => crossbar.poll_output(),
        }
    }
}
