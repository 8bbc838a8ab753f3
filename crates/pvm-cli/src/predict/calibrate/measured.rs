//! The results of a calibration's measurements.

use pvm_predict::fit::Seen;
use pvm_wire::Encoding;

/// The route of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Route {
    /// Through the memory of one host.
    Memory,
    /// Between tasks, by a connection of their own.
    Direct,
    /// Through the daemons.
    Daemons,
}

impl Route {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Direct => "direct",
            Self::Daemons => "daemons",
        }
    }
}

pub(super) const fn encoding_word(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Raw => "raw",
        _ => "default",
    }
}

/// Messages forth and back: half of each round trip, by size.
#[derive(Clone, Debug)]
pub(super) struct Echoes {
    pub(super) route: Route,
    pub(super) encoding: Encoding,
    pub(super) seen: Vec<Seen>,
}

/// A host as a computer.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Computer {
    pub(super) host: String,
    /// Seconds of a step of arithmetic, and of a byte of memory: alone, and with all cores.
    pub(super) step: f64,
    pub(super) byte: f64,
    pub(super) byte_together: f64,
    pub(super) cores: u64,
    /// Seconds of a record of a trace.
    pub(super) record: f64,
    /// The computer, by two numbers.
    pub(super) is: (u64, u64),
}

/// A size and a number of messages, and how long they took from the first one to the last one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) route: Route,
    pub(super) count: u64,
    pub(super) seconds: f64,
}

/// Times of the calls of one message, in seconds, by size: nobody waits in them.
#[derive(Clone, Debug)]
pub(super) struct Calls {
    pub(super) route: Route,
    pub(super) sends: Vec<Seen>,
    pub(super) receives: Vec<Seen>,
}

/// All that was measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    pub(super) hosts: Vec<String>,
    pub(super) echoes: Vec<Echoes>,
    pub(super) calls: Vec<Calls>,
    pub(super) streams: Vec<Stream>,
    /// Seconds of each round of everybody to everybody: of the slowest task.
    pub(super) exchange: Vec<f64>,
    pub(super) computers: Vec<Computer>,
    /// A message of one byte from the first host to another one.
    pub(super) pairs: Vec<(String, Seen)>,
    /// Series for which no time was left.
    pub(super) missed: Vec<String>,
    pub(super) seconds: f64,
}

impl Measured {
    /// True if nothing was measured.
    pub(super) const fn is_empty(&self) -> bool {
        self.echoes.is_empty() && self.calls.is_empty()
    }
}
