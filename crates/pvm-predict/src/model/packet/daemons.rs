//! Messages through daemons: through memory to the daemon of the own host, and through memory from
//! the daemon of the other host to the receiver.

use super::fleet::Packet;
use crate::action::TaskNumber;
use crate::kernel::Map;
use crate::model::run::inbox::Message;
use crate::platform::{Line, Route, Session};
use crate::transport::relay::{Piece, Relay};
use crate::unit::Time;

/// A message with its sender and its receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parcel {
    pub(super) from: TaskNumber,
    pub(super) to: TaskNumber,
    pub(super) message: Message,
}

/// The daemons of all hosts.
#[derive(Debug)]
pub(super) struct Daemons {
    turn: u64,
    memory: Line,
    /// The time in which a daemon encrypts or decrypts a byte, in picoseconds.
    cipher: f64,
    /// By end of a connection: the messages that wait for it.
    relays: Map<u32, Relay<Parcel>>,
    /// The times at which the last message of a pair has left its task, and has reached its
    /// receiver. Messages do not overtake one another.
    last: [Map<(TaskNumber, TaskNumber), Time>; 2],
    /// The messages that pass through memory, each with the packet that arrived last for it.
    parcels: Vec<(Parcel, Option<Packet>)>,
    free: Vec<u32>,
}

impl Daemons {
    /// Returns none if messages go directly.
    pub(super) fn new(session: &Session, memory: Line) -> Option<Self> {
        let Route::Daemons(turn) = session.route else { return None };
        Some(Self {
            turn,
            memory,
            cipher: session.cipher,
            relays: Map::default(),
            last: [Map::default(), Map::default()],
            parcels: Vec::new(),
            free: Vec::new(),
        })
    }

    /// The number of messages that pass through memory.
    pub(super) const fn count(&self) -> usize {
        self.parcels.len() - self.free.len()
    }

    /// A message passes through memory; `cause` is a packet if the message comes from the network.
    /// Returns the time of its arrival, and its index until then. A daemon forwards a part of a
    /// message before it has all of it.
    pub(super) fn hop(&mut self, now: Time, parcel: Parcel, cause: Option<Packet>) -> (Time, u32) {
        let bytes = parcel.message.bytes.min(self.turn);
        let cipher = Time((bytes as f64 * self.cipher).round() as u64);
        let took = self.memory.latency + self.memory.time_of(bytes) + cipher;
        let last = &mut self.last[usize::from(cause.is_some())];
        let last = last.entry((parcel.from, parcel.to)).or_default();
        *last = (*last).max(now + took);
        let entry = (parcel, cause);
        let place = match self.free.pop() {
            Some(place) => {
                self.parcels[place as usize] = entry;
                place
            }
            None => {
                self.parcels.push(entry);
                self.parcels.len() as u32 - 1
            }
        };
        (*last, place)
    }

    /// Takes out a message that has passed through memory.
    pub(super) fn take(&mut self, place: u32) -> (Parcel, Option<Packet>) {
        self.free.push(place);
        self.parcels[place as usize]
    }

    /// Queues a message for a connection.
    pub(super) fn queue(&mut self, end: u32, parcel: Parcel, bytes: u64) {
        let turn = self.turn;
        let relay = self.relays.entry(end).or_insert_with(|| Relay::new(turn));
        relay.handle((parcel.from, parcel.to), parcel, bytes);
    }

    /// True if something waits for a connection.
    pub(super) fn has_more(&self, end: u32) -> bool {
        self.relays.get(&end).is_some_and(Relay::has_more)
    }

    /// The next piece for a connection that has room for this many bytes.
    pub(super) fn next(&mut self, end: u32, room: u64) -> Option<Piece<Parcel>> {
        self.relays.get_mut(&end)?.poll_output(room)
    }
}
