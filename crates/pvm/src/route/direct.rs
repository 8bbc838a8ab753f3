//! One direct route: a connected socket and the keys of its records.

mod writing;

use crate::buffer::Store;
use crate::order::{Life, Stamp};
use crate::probe::{self, waits};
use crate::route::records::{DATA_MAX, Opener, Sealed, Sealer};
use crate::route::stream::{MESSAGE_HEAD, Sink, Stream, confirmation, message_head};
use crate::sys;
use pvm_shm::probe::Probes;
use pvm_shm::{PairLane, Slab};
use pvm_wire::congestion::Ahead;
use pvm_wire::record::RouteKind;
use pvm_wire::route::Route;
use pvm_wire::{Envelope, Tid};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::RecvFlags;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Records that go with one call: the other end opens them while the next ones are sealed.
const RECORDS_AT_ONCE: usize = 4;
/// Room for the bytes that one call reads.
pub(crate) const INPUT_BYTES: usize = 256 << 10;
/// Reads that one look at a route may take: others have their turn.
const READS: usize = 8;
/// A receiver that takes nothing for this long gets the rest by the daemons.
const PATIENCE: Duration = Duration::from_millis(50);
/// Messages are confirmed after this many of them, or after this many bytes in large ones; the lane
/// of a route holds four times as much. A task that answers, or that finds nothing more, confirms
/// anyway.
const CONFIRM_EACH: u64 = 64;
const CONFIRM_BYTES: usize = 1 << 20;

/// The route is of no more use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Broken;

/// The parts of its task that a look at a route needs.
pub(crate) struct Around<'a> {
    /// Scratch memory of [`INPUT_BYTES`].
    pub(crate) scratch: &'a mut Vec<u8>,
    /// Messages that came.
    pub(crate) arrived: &'a mut Vec<(Envelope, Store)>,
    /// Gives room for large ones.
    pub(crate) slab: &'a mut dyn FnMut(usize) -> Option<Slab>,
}

/// One route.
#[derive(Debug)]
pub(crate) struct Direct {
    peer: Tid,
    me: Tid,
    pub(crate) socket: OwnedFd,
    sealer: Sealer,
    opener: Opener,
    /// The messages that were sent and are not confirmed.
    pub(crate) pair: PairLane,
    stream: Stream,
    /// Bytes of a record that has not come as a whole.
    rest: Vec<u8>,
    out: Sealed,
    /// The other end listens: it has said something, or this one speaks first.
    may_speak: bool,
    /// A message went by the daemons since this route stands: the other task knows where the
    /// numbers are.
    has_begun: bool,
    /// The life of this task.
    life: Life,
    /// The last message that was confirmed to the other task.
    told: Stamp,
    /// Bytes of large messages that came since.
    untold: usize,
    /// Records that may be sealed with this key.
    limit: u64,
    /// A new route was asked for.
    renewing: bool,
    /// The other task confirms in time, so it is worth waiting for.
    prompt: bool,
    /// Whether the network takes more.
    ahead: Ahead,
    /// The probes that note waits and pieces.
    probes: Arc<Probes>,
}

struct Taken<'a, 'b> {
    peer: Tid,
    me: Tid,
    life: Life,
    pair: &'a mut PairLane,
    untold: &'a mut usize,
    prompt: &'a mut bool,
    around: &'a mut Around<'b>,
}

impl Sink for Taken<'_, '_> {
    fn confirmed(&mut self, through: u64) {
        let through = Stamp::from_raw(through);
        // Until it hears from this task, it tells of the one that had this id before.
        if through.life() == self.life {
            *self.prompt |= self.pair.confirm(through.direct().raw());
        }
    }
    fn is_sound(&self, envelope: &Envelope) -> bool {
        envelope.src == self.peer && envelope.dst == self.me && !envelope.is_spread()
    }
    fn slab(&mut self, size: usize) -> Option<Slab> {
        *self.untold += size;
        (self.around.slab)(size)
    }
    fn message(&mut self, envelope: Envelope, store: Store) {
        self.around.arrived.push((envelope, store));
    }
}

impl Direct {
    /// Takes over an end of a route.
    ///
    /// # Errors
    /// The socket, if its keys are none.
    pub(crate) fn new(
        me: Tid,
        route: &Route,
        (socket, pair, probes): (OwnedFd, PairLane, Arc<Probes>),
        (life, limit): (Life, u64),
    ) -> Result<Self, OwnedFd> {
        let keys = (Sealer::new(&route.seal), Opener::new(&route.open));
        let (Some(sealer), Some(opener)) = keys else { return Err(socket) };
        Ok(Self {
            peer: route.peer,
            me,
            socket,
            sealer,
            opener,
            pair,
            stream: Stream::new(),
            rest: Vec::new(),
            out: Sealed::new(),
            may_speak: route.first,
            has_begun: false,
            life,
            told: Stamp::from_raw(0),
            untold: 0,
            limit,
            renewing: false,
            prompt: true,
            ahead: Ahead::default(),
            probes,
        })
    }

    /// True once messages may be sent.
    pub(crate) const fn may_speak(&self) -> bool {
        self.may_speak && self.has_begun
    }

    /// A message went by the daemons.
    pub(crate) const fn begin(&mut self) {
        self.has_begun = true;
    }

    /// True once, when the keys have been used for long.
    pub(crate) fn wants_renewal(&mut self) -> bool {
        let due = !self.renewing && self.sealer.records() > self.limit / 2;
        self.renewing |= due;
        due
    }

    /// True where the other task waits to hear that its messages came.
    pub(crate) fn owes(&self, heard: Stamp, idle: bool) -> bool {
        let told = if heard.life() == self.told.life() { self.told.number() } else { 0 };
        let news = heard.number().saturating_sub(told);
        self.may_speak && news > 0 && (idle || self.untold >= CONFIRM_BYTES || news >= CONFIRM_EACH)
    }

    /// Tells the other task which messages have come.
    pub(crate) fn confirm(&mut self, heard: Stamp, around: &mut Around<'_>) -> Result<(), Broken> {
        self.note_told(heard);
        let frame = confirmation(heard.raw());
        self.sealer.seal(&mut self.out, frame.len(), |out| out.copy_from_slice(&frame));
        self.write(around)
    }

    const fn note_told(&mut self, heard: Stamp) {
        self.told = heard;
        self.untold = 0;
    }

    /// Sends a message, with a confirmation of those that have come. `put` puts the bytes of the
    /// body from an offset on.
    pub(crate) fn send(
        &mut self,
        envelope: &Envelope,
        put: &mut dyn FnMut(usize, &mut [u8]),
        heard: Stamp,
        around: &mut Around<'_>,
    ) -> Result<(), Broken> {
        self.note_told(heard);
        let size = usize::try_from(envelope.body_size()).map_err(|_| Broken)?;
        if self.sealer.records() + (size / DATA_MAX) as u64 + 2 >= self.limit {
            return Err(Broken);
        }
        let head = message_head(heard.raw(), envelope);
        let mut sent = size.min(DATA_MAX - MESSAGE_HEAD);
        let mut piece = self.piece(0).filter(|_| size > sent);
        self.sealer.seal(&mut self.out, MESSAGE_HEAD + sent, |out| {
            out[..MESSAGE_HEAD].copy_from_slice(&head);
            put(0, &mut out[MESSAGE_HEAD..]);
        });
        let mut records = 1;
        while sent < size {
            if records == RECORDS_AT_ONCE {
                self.write(around)?;
                piece = self.note_piece(piece, envelope, sent);
                records = 0;
            }
            let part = (size - sent).min(DATA_MAX);
            self.sealer.seal(&mut self.out, part, |out| put(sent, out));
            sent += part;
            records += 1;
        }
        self.write(around)?;
        self.note_piece(piece, envelope, sent);
        Ok(())
    }

    /// The moment and the byte at which a piece of a message begins; none if it is not to be noted.
    fn piece(&self, at: usize) -> Option<(u64, usize)> {
        probe::moment(&self.probes).map(|begin| (begin, at))
    }

    /// A piece that ends at this byte was written; where the next one begins.
    fn note_piece(
        &self,
        piece: Option<(u64, usize)>,
        envelope: &Envelope,
        end: usize,
    ) -> Option<(u64, usize)> {
        let (begin, from) = piece?;
        let number = Stamp::from_raw(envelope.sequence).number();
        let told = Envelope { sequence: number, ..*envelope };
        probe::note_piece(&self.probes, begin, (self.peer, RouteKind::Direct), (&told, end - from));
        self.piece(end)
    }

    /// A wait begins, if it has not begun yet and is to be noted.
    fn begin_wait(&self, since: &mut Option<u64>) {
        if since.is_none() {
            waits::forget_sleep();
            *since = probe::moment(&self.probes);
        }
    }

    /// A wait is over, if there was one.
    fn note_wait(&self, since: &mut Option<u64>) {
        if let Some(begin) = since.take() {
            waits::note_for_room(&self.probes, begin);
        }
    }

    /// Too much is unconfirmed: waits a little for the other task. False if it says nothing, now
    /// or since the last time.
    pub(crate) fn await_confirmation(&mut self, around: &mut Around<'_>) -> Result<bool, Broken> {
        if !self.prompt {
            return Ok(false);
        }
        let mut since = None;
        self.begin_wait(&mut since);
        let heard = self.hear_confirmation(since.is_some(), around);
        self.note_wait(&mut since);
        heard
    }

    fn hear_confirmation(
        &mut self,
        is_noted: bool,
        around: &mut Around<'_>,
    ) -> Result<bool, Broken> {
        self.prompt = false;
        let end = Instant::now() + PATIENCE;
        while !self.prompt {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let mut fds = [PollFd::new(&self.socket, PollFlags::IN)];
            let _ = waits::sleep(is_noted, || poll(&mut fds, Some(&sys::timespec(left))));
            self.receive(around)?;
        }
        Ok(self.prompt)
    }

    /// Takes what has come.
    pub(crate) fn receive(&mut self, around: &mut Around<'_>) -> Result<(), Broken> {
        for _ in 0..READS {
            let mut scratch = std::mem::take(around.scratch);
            scratch.resize(INPUT_BYTES, 0);
            let read = self.read(&mut scratch, around);
            *around.scratch = scratch;
            if !read? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// One read; true if there may be more.
    fn read(&mut self, scratch: &mut [u8], around: &mut Around<'_>) -> Result<bool, Broken> {
        let before = self.rest.len();
        scratch[..before].copy_from_slice(&self.rest);
        let room = &mut scratch[before..];
        let got = match rustix::net::recv(&self.socket, &mut *room, RecvFlags::DONTWAIT) {
            Ok((_, 0)) => return Err(Broken),
            Ok((_, n)) => n,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(false),
            Err(_) => return Err(Broken),
        };
        let more = got == room.len();
        let mut bytes = &mut scratch[..before + got];
        let (peer, me, life) = (self.peer, self.me, self.life);
        let mut sink = Taken {
            peer,
            me,
            life,
            pair: &mut self.pair,
            untold: &mut self.untold,
            prompt: &mut self.prompt,
            around,
        };
        while let Some((data, used)) = self.opener.open(bytes).map_err(|_| Broken)? {
            self.may_speak = true;
            self.stream.take(data, &mut sink).map_err(|_| Broken)?;
            bytes = &mut bytes[used..];
        }
        self.rest.clear();
        self.rest.extend_from_slice(bytes);
        Ok(more)
    }
}
