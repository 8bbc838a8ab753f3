//! Another host, as this daemon sees it: its place in the queue for the network, and what came
//! from it. One queue per peer, so that a slow one holds up nobody else.

use crate::inbox::Inbox;
use crate::link::connection::Connection;
use crate::link::frames::{CHUNK_BYTES, LinkFrame, SAID_BYTES_MAX};
use crate::link::incoming::{Assembly, Nonsense};
use crate::link::outgoing::Streams;
use pvm_wire::peer::{HostFacts, PeerMessage};
use pvm_wire::spread::Receiver;
use pvm_wire::{Blob, Envelope, HostIndex, Wire as _, write_frame};
use std::collections::VecDeque;
use std::time::Instant;
use tokio::task::AbortHandle;

/// Longest thing that a machine may say.
const PIECES_BYTES_MAX: usize = 1 << 30;

/// Another host.
#[derive(Debug)]
pub(crate) struct Peer {
    /// What it told of itself.
    pub(crate) facts: HostFacts,
    /// The connection, and whether the peer has said hello on it.
    pub(crate) connection: Option<(Connection, bool)>,
    /// The attempt to connect, if it is this side's part.
    pub(crate) calling: Option<AbortHandle>,
    /// Since when there is no link.
    pub(crate) down_since: Option<Instant>,
    /// There was a link once.
    pub(crate) was_up: bool,
    /// It has been declared dead.
    pub(crate) dead: bool,
    /// It has said that it ends.
    pub(crate) ended: bool,
    /// What goes there.
    pub(crate) streams: Streams,
    /// What the machine here says; it goes before messages.
    said: VecDeque<PeerMessage>,
    incoming: Assembly,
    /// Pieces of what the machine there says.
    pieces: Vec<u8>,
}

impl Peer {
    /// A host without a link so far.
    pub(crate) fn new(facts: HostFacts, now: Instant) -> Self {
        Self {
            facts,
            connection: None,
            calling: None,
            down_since: Some(now),
            was_up: false,
            dead: false,
            ended: false,
            streams: Streams::default(),
            said: VecDeque::new(),
            incoming: Assembly::default(),
            pieces: Vec::new(),
        }
    }

    /// The host told something else of itself: a call that tries old addresses ends.
    pub(crate) fn learn(&mut self, facts: HostFacts) {
        if self.facts.addresses != facts.addresses
            && let Some(calling) = self.calling.take()
        {
            calling.abort();
        }
        self.facts = facts;
    }

    /// True while frames can go there.
    pub(crate) fn is_up(&self) -> bool {
        matches!(self.connection, Some((_, true)))
    }

    /// The peer said hello: what it has not confirmed is sent again.
    pub(crate) fn resume(&mut self) {
        self.incoming = Assembly::default();
        self.streams.restart();
        self.down_since = None;
        self.dead = false;
        self.was_up = true;
    }

    /// A piece of what the machine there says; the whole with the last one.
    pub(crate) fn piece(
        &mut self,
        bytes: &[u8],
        last: bool,
    ) -> Result<Option<PeerMessage>, Nonsense> {
        if self.pieces.len() + bytes.len() > PIECES_BYTES_MAX {
            return Err(Nonsense::Bytes);
        }
        self.pieces.extend_from_slice(bytes);
        if !last {
            return Ok(None);
        }
        let whole = std::mem::take(&mut self.pieces);
        PeerMessage::from_bytes(&whole).map(Some).map_err(|_| Nonsense::Bytes)
    }

    /// The connection is gone. What machines said is said again by them.
    pub(crate) fn down(&mut self, now: Instant) {
        self.connection = None;
        self.said.clear();
        self.pieces.clear();
        self.incoming = Assembly::default();
        self.down_since = Some(now);
    }

    /// True when every message that was queued has been confirmed.
    pub(crate) fn is_flushed(&self) -> bool {
        self.streams.lanes().all(|lane| self.streams.is_drained(lane))
    }

    /// Queues what the machine says; without a link it is not kept.
    pub(crate) fn say(&mut self, message: PeerMessage) {
        if self.is_up() {
            self.said.push_back(message);
        }
    }

    /// True while something that the machine said waits for the network.
    pub(crate) fn has_unsaid(&self) -> bool {
        self.is_up() && !self.said.is_empty()
    }

    /// Sends as much as the connection takes: what the machine says, what was delivered here,
    /// then messages, if there is an inbox to take them from.
    pub(crate) fn pump(&mut self, mut inbox: Option<&mut Inbox>) {
        while let Some((connection, true)) = &self.connection {
            let messages = inbox.is_some() && self.streams.has_work();
            if self.said.is_empty() && !self.incoming.has_reports() && !messages {
                return;
            }
            let Some(room) = connection.room() else { return };
            let mut batch = Vec::new();
            self.incoming.report(&mut batch);
            while batch.len() < CHUNK_BYTES
                && let Some(message) = self.said.pop_front()
            {
                write_said(&mut batch, message);
            }
            if let Some(inbox) = inbox.as_deref_mut() {
                self.streams.fill(inbox, &mut batch);
            }
            if !batch.is_empty() {
                room.send(batch);
            }
        }
    }

    /// The peer has delivered messages.
    pub(crate) fn confirm(&mut self, inbox: &mut Inbox, stream: u32, count: u32) {
        self.streams.confirm(inbox, stream, count);
    }

    /// A message begins.
    pub(crate) fn begin(
        &mut self,
        inbox: &mut Inbox,
        way: (HostIndex, HostIndex),
        stream: u32,
        message: (Envelope, Vec<Receiver>, &[u8]),
    ) -> Result<(), Nonsense> {
        self.incoming.begin(inbox, way, stream, message)
    }

    /// More of a message.
    pub(crate) fn more(
        &mut self,
        inbox: &mut Inbox,
        stream: u32,
        bytes: &[u8],
    ) -> Result<(), Nonsense> {
        self.incoming.more(inbox, stream, bytes)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Some(calling) = &self.calling {
            calling.abort();
        }
    }
}

/// What machines say may be long: a snapshot of all that they agree on.
fn write_said(batch: &mut Vec<u8>, message: PeerMessage) {
    let bytes = message.to_bytes();
    if bytes.len() <= SAID_BYTES_MAX {
        return write_frame(batch, 0, &LinkFrame::Said { message });
    }
    let mut pieces = bytes.chunks(SAID_BYTES_MAX).peekable();
    while let Some(piece) = pieces.next() {
        let last = pieces.peek().is_none();
        write_frame(batch, 0, &LinkFrame::Piece { bytes: Blob(piece.to_vec()), last });
    }
}
