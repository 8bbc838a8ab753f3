//! Another host, as this daemon sees it: its place in the queue for the network, and the data that
//! came from it. There is one queue per peer, so that a slow one holds up no other one.

use crate::inbox::Inbox;
use crate::link::connection::{Class, Connection};
use crate::link::frames::LinkFrame;
use crate::link::incoming::{Assembly, Nonsense};
use crate::link::outgoing::Streams;
use crate::link::speech::Speech;
use pvm_wire::peer::{HostFacts, PeerMessage};
use pvm_wire::spread::Receiver;
use pvm_wire::{Envelope, HostIndex, Wire as _, write_frame};
use std::time::{Duration, Instant};
use tokio::task::AbortHandle;

/// Longest thing that a machine may say: all that is agreed on is a quarter of it.
const PIECES_BYTES_MAX: usize = 64 << 20;

/// A host without a link for this long is dead. A killed daemon is back in a fraction of it.
pub(crate) const DEAD_TIME: Duration = Duration::from_millis(4500);
/// Like `DEAD_TIME`, for a host to which this daemon never had a link: it may still be starting.
const START_TIME: Duration = Duration::from_secs(10);
/// A link that is not used for this long is closed, unless it is to stand.
pub(crate) const REST_TIME: Duration = Duration::from_secs(10);
/// A host with a higher place calls first. If it has not called for this long, it may not know that
/// it is to.
const CALL_TIME: Duration = Duration::from_millis(400);
/// Behind calls of both sides that crossed the lower host waits this long before it calls again: a
/// call of the other one that began sooner than a round trip is then first on both sides.
const CROSSED_TIME: Duration = Duration::from_secs(1);

/// The origin of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionOrigin {
    /// By the host with the higher place.
    pub(crate) by_higher: bool,
    pub(crate) at: Instant,
}

/// The state of an offer to close a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rest {
    /// It is needed here.
    Stay,
    /// This side says so, too, and closes it.
    Agree,
    /// Both sides have said so.
    Close,
    /// Neither side has offered that.
    Unasked,
}

/// Another host.
#[derive(Debug)]
pub(crate) struct Peer {
    /// The facts that it has told of itself.
    pub(crate) facts: HostFacts,
    /// The connection, and whether the peer has said hello on it.
    pub(crate) connection: Option<(Connection, bool)>,
    /// The attempt to connect, if it is this side's part.
    pub(crate) calling: Option<AbortHandle>,
    /// The side that made the connection, and the moment.
    pub(crate) made: Option<ConnectionOrigin>,
    /// A link is to stand at all times.
    pub(crate) near: bool,
    /// A link is wanted for now.
    wanted: bool,
    /// When the link was used last, beats apart.
    pub(crate) used_at: Instant,
    /// This side has offered to close the connection.
    pub(crate) offered: bool,
    /// When it came into the table of hosts.
    added_at: Instant,
    /// Since when there is no link, where there should be one.
    pub(crate) down_since: Option<Instant>,
    /// Since when it has said hello on no connection, where there should be a link.
    mute_since: Option<Instant>,
    /// There was a link once.
    pub(crate) was_up: bool,
    /// The last connection ended before the peer had said hello on it. Where both sides called at
    /// once, each may have taken the other one's call and given up its own.
    crossed: bool,
    /// It has been declared dead.
    pub(crate) dead: bool,
    /// It has said that it ends.
    pub(crate) ended: bool,
    /// The streams to it.
    pub(crate) streams: Streams,
    /// The messages of the machine here; they go before messages of tasks.
    said: Speech,
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
            made: None,
            near: false,
            wanted: false,
            used_at: now,
            offered: false,
            added_at: now,
            down_since: None,
            mute_since: None,
            was_up: false,
            crossed: false,
            dead: false,
            ended: false,
            streams: Streams::default(),
            said: Speech::default(),
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

    /// A link to it is to stand at all times, or need not.
    pub(crate) fn set_near(&mut self, near: bool, now: Instant) {
        self.near = near;
        self.note_lack(now);
    }

    /// There is something for it.
    pub(crate) fn want(&mut self, now: Instant) {
        self.wanted = !self.is_up();
        self.note_lack(now);
    }

    fn note_lack(&mut self, now: Instant) {
        match self.near || self.wanted {
            true if self.is_up() => {}
            true => {
                self.down_since.get_or_insert(now);
                self.mute_since.get_or_insert(now);
            }
            false => (self.down_since, self.mute_since) = (None, None),
        }
    }

    /// When this host is to call it; `higher` tells whose part that is first.
    pub(crate) fn call_at(&self, higher: bool) -> Option<Instant> {
        let since = self.down_since.filter(|_| self.connection.is_none())?;
        self.calling.is_none().then_some(())?;
        Some(match higher {
            true if self.crossed => since + CROSSED_TIME,
            true if !self.wanted && self.was_up => since + CALL_TIME,
            _ => since,
        })
    }

    /// When it counts as dead, if there is no link until then; one that is new may still be
    /// starting. Each connection that ends gives it time for another one, but not for ever.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let since = self.down_since.filter(|_| !self.dead && !self.is_up())?;
        let begun = if self.was_up { since } else { self.added_at + START_TIME - DEAD_TIME };
        let last = self.mute_since.unwrap_or(since) + START_TIME;
        Some(last.min(since.max(begun) + DEAD_TIME))
    }

    /// When it is looked whether the link is used.
    pub(crate) fn rest_at(&self) -> Option<Instant> {
        (self.is_up() && !self.near).then(|| self.used_at + REST_TIME)
    }

    /// True if there is nothing to do for it until somebody changes it.
    pub(crate) fn is_at_rest(&self) -> bool {
        let is_linked = self.connection.is_some() || self.calling.is_some();
        !is_linked && self.down_since.is_none() && self.is_flushed()
    }

    /// True while something is to go there, or is on its way.
    pub(crate) fn is_busy(&self) -> bool {
        self.has_unsaid() || self.incoming.has_reports() || !self.is_flushed()
    }

    /// The other side has said that the link may be closed; `higher`: that one offers it, otherwise
    /// it agrees.
    pub(crate) fn hears_rest(&self, higher: bool, now: Instant) -> Rest {
        match higher {
            true if self.near || self.is_busy() || self.used_at + REST_TIME / 2 > now => Rest::Stay,
            true => Rest::Agree,
            false if self.offered => Rest::Close,
            false => Rest::Unasked,
        }
    }

    /// The link is closed by agreement.
    pub(crate) fn rest(&mut self, now: Instant) {
        self.down(now);
        self.wanted = self.is_busy();
        (self.down_since, self.mute_since) = (None, None);
        self.note_lack(now);
    }

    /// The peer said hello: what it has not confirmed is sent again.
    pub(crate) fn resume(&mut self) {
        self.incoming = Assembly::default();
        self.streams.restart();
        (self.down_since, self.mute_since) = (None, None);
        self.dead = false;
        self.was_up = true;
        self.crossed = false;
        self.wanted = false;
        self.used_at = Instant::now();
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

    /// The connection is gone. What machines said is said again by them. Whatever it was made for,
    /// it is made again.
    pub(crate) fn down(&mut self, now: Instant) {
        self.crossed = self.connection.take().is_some_and(|(_, greeted)| !greeted);
        self.made = None;
        self.offered = false;
        self.wanted = true;
        self.said.clear();
        self.pieces.clear();
        self.incoming = Assembly::default();
        self.down_since = Some(now);
        self.mute_since.get_or_insert(now);
    }

    /// True when every message that was queued has been confirmed.
    pub(crate) fn is_flushed(&self) -> bool {
        self.streams.lanes().all(|lane| self.streams.is_drained(lane))
    }

    /// Queues a message of the machine; without a link it is dropped. An urgent message goes at
    /// once or not at all: its sender repeats it by itself.
    pub(crate) fn say(&mut self, message: PeerMessage) {
        let Some((connection, true)) = &self.connection else { return };
        self.used_at = Instant::now();
        if matches!(message, PeerMessage::Hasty { .. }) {
            let mut frame = Vec::new();
            write_frame(&mut frame, 0, &LinkFrame::Said { message });
            connection.urge(frame);
        } else {
            self.said.add(message);
        }
    }

    /// True while something that the machine said waits for the network.
    pub(crate) fn has_unsaid(&self) -> bool {
        self.is_up() && !self.said.is_empty()
    }

    /// Sends as much as the connection takes: what the machine says, and beside that what was
    /// delivered here, then messages, if there is an inbox to take them from.
    pub(crate) fn pump(&mut self, mut inbox: Option<&mut Inbox>) {
        let Some((connection, true)) = &self.connection else { return };
        while !self.said.is_empty()
            && let Some(room) = connection.room(Class::Said)
        {
            room.send(self.said.batch());
        }
        loop {
            let messages = inbox.is_some() && self.streams.has_work();
            if !self.incoming.has_reports() && !messages {
                return;
            }
            let Some(room) = connection.room(Class::Messages) else { return };
            let mut batch = Vec::new();
            self.incoming.report(&mut batch);
            if let Some(inbox) = inbox.as_deref_mut() {
                self.streams.fill(inbox, &mut batch, connection.part_bytes());
            }
            if !batch.is_empty() {
                self.used_at = Instant::now();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_that_says_pieces_without_an_end_made_each_other_daemon_keep_them() {
        let mut peer = Peer::new(HostFacts::default(), Instant::now());
        let piece = vec![0; PIECES_BYTES_MAX / 4];
        for _ in 0..4 {
            assert_eq!(peer.piece(&piece, false), Ok(None));
        }
        assert_eq!(peer.piece(&[0], false), Err(Nonsense::Bytes));
        peer.down(Instant::now());
        assert_eq!(peer.piece(&piece, false), Ok(None), "they went with their connection");
    }

    #[tokio::test]
    async fn two_hosts_whose_calls_crossed_called_anew_at_the_same_moment_for_ever() {
        let now = Instant::now();
        let mut peer = Peer::new(HostFacts::default(), now);
        for (greeted, lower_waits) in
            [(true, Duration::ZERO), (false, CROSSED_TIME), (true, Duration::ZERO)]
        {
            peer.connection = Some((Connection::idle(1), greeted));
            if greeted {
                peer.resume();
            }
            peer.down(now);
            assert_eq!(peer.call_at(false), Some(now), "the higher host");
            assert_eq!(peer.call_at(true), Some(now + lower_waits));
        }
    }

    #[tokio::test]
    async fn a_host_that_called_again_and_again_and_never_said_hello_was_never_dead() {
        for was_up in [true, false] {
            let begin = Instant::now();
            let mut peer = Peer::new(HostFacts::default(), begin);
            peer.was_up = was_up;
            peer.set_near(true, begin);
            let mut now = begin;
            while peer.deadline().is_some_and(|at| at > now) {
                peer.connection = Some((Connection::idle(1), false));
                now += Duration::from_secs(1);
                peer.down(now);
                assert!(now <= begin + START_TIME, "it lives for ever");
            }
            peer.resume();
            peer.down(now);
            assert_eq!(peer.deadline(), Some(now + DEAD_TIME), "it had a link meanwhile");
        }
    }

    #[test]
    fn a_link_that_is_needed_was_closed_by_who_agreed_to_what_nobody_had_offered() {
        let now = Instant::now();
        let later = now + REST_TIME;
        let mut peer = Peer::new(HostFacts::default(), now);
        assert_eq!(peer.hears_rest(false, later), Rest::Unasked);
        assert_eq!(peer.hears_rest(true, now), Rest::Stay, "it was used a moment ago");
        assert_eq!(peer.hears_rest(true, later), Rest::Agree);
        peer.offered = true;
        assert_eq!(peer.hears_rest(false, later), Rest::Close);
        peer.down(now);
        assert_eq!(peer.hears_rest(false, later), Rest::Unasked, "that was another connection");
        peer.set_near(true, now);
        assert_eq!(peer.hears_rest(true, later), Rest::Stay);
    }
}
