//! Another host, as this daemon sees it: its place in the queue for the network, and what came
//! from it. One queue per peer, so that a slow one holds up nobody else.

use crate::inbox::Inbox;
use crate::link::connection::Connection;
use crate::link::frames::{CHUNK_BYTES, LinkFrame, SAID_BYTES_MAX};
use crate::link::incoming::{Assembly, Nonsense};
use crate::link::session::Outgoing;
use pvm_shm::Payload;
use pvm_wire::peer::{HostFacts, PeerMessage};
use pvm_wire::{Blob, Bytes as _, Envelope, HostIndex, Wire as _, write_frame};
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
    messages: Outgoing<(Envelope, Payload)>,
    /// How many messages were queued so far.
    queued: u64,
    /// What machines say, each behind the messages that were queued before.
    said: VecDeque<(u64, PeerMessage)>,
    /// How far the current message is sent.
    sending: Option<Sending>,
    /// The last message that is sent as a whole on this connection.
    sent_through: u64,
    /// Something was delivered that the peer has not been told of.
    delivered: bool,
    incoming: Assembly,
    /// Pieces of what the machine there says.
    pieces: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Sending {
    sequence: u64,
    offset: usize,
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
            messages: Outgoing::new(),
            queued: 0,
            said: VecDeque::new(),
            sending: None,
            sent_through: 0,
            delivered: false,
            incoming: Assembly::default(),
            pieces: Vec::new(),
        }
    }

    /// True while frames can go there.
    pub(crate) fn is_up(&self) -> bool {
        matches!(self.connection, Some((_, true)))
    }

    /// What to say of what came from it so far: its incarnation and the last message.
    pub(crate) fn progress(&self) -> (u64, u64) {
        self.incoming.session.progress()
    }

    /// The peer said hello: what it has not heard is sent again.
    pub(crate) fn resume(&mut self, incarnation: u64, through: Option<u64>) {
        self.incoming.resume(incarnation);
        self.messages.resume(through);
        self.sending = None;
        self.sent_through = self.messages.confirmed();
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
        self.sending = None;
        self.down_since = Some(now);
    }

    /// Queues a message of a task.
    pub(crate) fn forward(&mut self, envelope: Envelope, payload: Payload) {
        self.queued += 1;
        self.messages.push((envelope, payload));
        self.pump();
    }

    /// Queues what the machine says; without a link it is not kept.
    pub(crate) fn say(&mut self, message: PeerMessage) {
        if self.is_up() {
            self.said.push_back((self.queued, message));
            self.pump();
        }
    }

    /// True while something that the machine said waits for the network.
    pub(crate) fn has_unsaid(&self) -> bool {
        self.is_up() && !self.said.is_empty()
    }

    /// Sends as much as the connection takes.
    pub(crate) fn pump(&mut self) {
        while let Some((connection, true)) = &self.connection {
            let Some(room) = connection.room() else { return };
            let mut batch = Vec::new();
            fill(
                &mut batch,
                &mut self.messages,
                &mut self.said,
                &mut self.sending,
                &mut self.sent_through,
            );
            if std::mem::take(&mut self.delivered) {
                let through = self.incoming.session.progress().1;
                write_frame(&mut batch, 0, &LinkFrame::Delivered { through });
            }
            if batch.is_empty() {
                return;
            }
            room.send(batch);
        }
    }

    /// The peer has delivered messages.
    pub(crate) fn confirm(&mut self, through: u64) {
        // Not the one that is still being sent.
        let complete = through.min(self.sent_through);
        self.messages.delivered(complete);
        self.pump();
    }

    /// A message begins.
    pub(crate) fn begin(
        &mut self,
        inbox: &mut Inbox,
        way: (HostIndex, HostIndex),
        message: (u64, Envelope),
    ) -> Result<(), Nonsense> {
        let complete = self.incoming.begin(inbox, way, message)?;
        self.acknowledge(complete);
        Ok(())
    }

    /// More of a message.
    pub(crate) fn more(&mut self, inbox: &mut Inbox, bytes: &[u8]) -> Result<(), Nonsense> {
        let complete = self.incoming.more(inbox, bytes)?;
        self.acknowledge(complete);
        Ok(())
    }

    fn acknowledge(&mut self, complete: bool) {
        self.delivered |= complete;
        if complete {
            self.pump();
        }
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

/// Puts frames into a batch: the rest of the current message, what machines said before it was
/// queued, the next message.
fn fill(
    batch: &mut Vec<u8>,
    messages: &mut Outgoing<(Envelope, Payload)>,
    said: &mut VecDeque<(u64, PeerMessage)>,
    sending: &mut Option<Sending>,
    sent_through: &mut u64,
) {
    while batch.len() < CHUNK_BYTES {
        if let Some(now) = sending {
            let Some((_, payload)) = messages.current() else { return };
            let size = (payload.size() - now.offset).min(CHUNK_BYTES);
            if size > 0 {
                let mut bytes = vec![0; size];
                payload.copy_to(now.offset, &mut bytes);
                write_frame(batch, 0, &LinkFrame::More { bytes: Blob(bytes) });
                now.offset += size;
            }
            if now.offset == payload.size() {
                *sent_through = now.sequence;
                *sending = None;
            }
        } else if said.front().is_some_and(|(behind, _)| *behind <= *sent_through) {
            let Some((_, message)) = said.pop_front() else { return };
            write_said(batch, message);
        } else if let Some((sequence, (envelope, _))) = messages.next() {
            write_frame(batch, 0, &LinkFrame::Begin { sequence, envelope: *envelope });
            *sending = Some(Sending { sequence, offset: 0 });
        } else {
            return;
        }
    }
}
