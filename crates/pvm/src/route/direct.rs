//! One direct route: a connected socket and the keys of its records.

use crate::buffer::Store;
use crate::route::records::{DATA_MAX, Opener, RECORDS_MAX, Sealer};
use crate::route::stream::{MESSAGE_HEAD, Sink, Stream, confirmation, message_head};
use crate::sys;
use pvm_shm::{PairLane, Slab};
use pvm_wire::route::Route;
use pvm_wire::{Envelope, Tid};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use std::time::{Duration, Instant};

/// Records that go with one call.
const RECORDS_AT_ONCE: usize = 16;
/// Room for what is read with one call.
pub(crate) const INPUT_BYTES: usize = 256 << 10;
/// Reads that one look at a route may take: others have their turn.
const READS: usize = 8;
/// A receiver that takes nothing for so long gets the rest by the daemons.
const PATIENCE: Duration = Duration::from_millis(50);
/// A message that comes in so many bytes is confirmed at once, smaller ones by the dozen.
const LARGE_BYTES: usize = 64 << 10;
const CONFIRM_EACH: u64 = 64;
/// From this record on a new route is asked for.
const RENEW_AT: u64 = RECORDS_MAX / 2;

/// The route is of no more use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Broken;

/// The body of a message on its way.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    /// Two pieces, one behind the other.
    Bytes(&'a [u8], &'a [u8]),
    /// In a slab.
    Slab(&'a Slab),
}

impl Source<'_> {
    fn copy_to(&self, offset: usize, out: &mut [u8]) {
        match self {
            Self::Bytes(first, second) => {
                let split = first.len().saturating_sub(offset).min(out.len());
                let (front, back) = out.split_at_mut(split);
                front.copy_from_slice(&first[offset.min(first.len())..][..split]);
                let from = (offset + split).saturating_sub(first.len());
                back.copy_from_slice(&second[from..from + back.len()]);
            }
            Self::Slab(slab) => slab.read(offset, out),
        }
    }
}

/// What a look at a route needs of its task.
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
    /// What was sent and not confirmed.
    pub(crate) pair: PairLane,
    stream: Stream,
    /// Bytes of a record that has not come as a whole.
    rest: Vec<u8>,
    out: Vec<u8>,
    /// The other end listens: it has said something, or this one speaks first.
    may_speak: bool,
    /// What was confirmed to the other task last.
    told: u64,
    /// A large message came since.
    large: bool,
    /// A new route was asked for.
    renewing: bool,
    /// The other task confirms in time, so it is worth waiting for.
    prompt: bool,
}

struct Taken<'a, 'b> {
    peer: Tid,
    me: Tid,
    pair: &'a mut PairLane,
    large: &'a mut bool,
    prompt: &'a mut bool,
    around: &'a mut Around<'b>,
}

impl Sink for Taken<'_, '_> {
    fn confirmed(&mut self, through: u64) {
        *self.prompt |= self.pair.confirm(through);
    }
    fn is_sound(&self, envelope: &Envelope) -> bool {
        envelope.src == self.peer && envelope.dst == self.me && !envelope.is_spread()
    }
    fn slab(&mut self, size: usize) -> Option<Slab> {
        *self.large |= size >= LARGE_BYTES;
        (self.around.slab)(size)
    }
    fn message(&mut self, envelope: Envelope, store: Store) {
        self.around.arrived.push((envelope, store));
    }
}

impl Direct {
    /// Takes over an end of a route; none if its keys are none.
    pub(crate) fn new(me: Tid, route: &Route, socket: OwnedFd, pair: PairLane) -> Option<Self> {
        Some(Self {
            peer: route.peer,
            me,
            socket,
            sealer: Sealer::new(&route.seal)?,
            opener: Opener::new(&route.open)?,
            pair,
            stream: Stream::new(),
            rest: Vec::new(),
            out: Vec::new(),
            may_speak: route.first,
            told: 0,
            large: false,
            renewing: false,
            prompt: true,
        })
    }

    /// True once something may be sent.
    pub(crate) const fn may_speak(&self) -> bool {
        self.may_speak
    }

    /// True once, when the keys have been used for long.
    pub(crate) const fn wants_renewal(&mut self) -> bool {
        let due = !self.renewing && self.sealer.records() > RENEW_AT;
        self.renewing |= due;
        due
    }

    /// True where the other task waits to hear that its messages came.
    pub(crate) const fn owes(&self, heard: u64, idle: bool) -> bool {
        self.may_speak
            && heard > self.told
            && (idle || self.large || heard - self.told >= CONFIRM_EACH)
    }

    /// Tells the other task what has come.
    pub(crate) fn confirm(&mut self, heard: u64, around: &mut Around<'_>) -> Result<(), Broken> {
        self.note_told(heard);
        let frame = confirmation(heard);
        self.sealer.seal(&mut self.out, frame.len(), |out| out.copy_from_slice(&frame));
        self.write(around)
    }

    const fn note_told(&mut self, heard: u64) {
        self.told = heard;
        self.large = false;
    }

    /// Sends a message, with a confirmation of what has come.
    pub(crate) fn send(
        &mut self,
        envelope: &Envelope,
        body: Source<'_>,
        heard: u64,
        around: &mut Around<'_>,
    ) -> Result<(), Broken> {
        self.note_told(heard);
        let size = usize::try_from(envelope.body_size()).map_err(|_| Broken)?;
        if self.sealer.records() + (size / DATA_MAX) as u64 + 2 >= RECORDS_MAX {
            return Err(Broken);
        }
        let head = message_head(heard, envelope);
        let first = size.min(DATA_MAX - MESSAGE_HEAD);
        self.sealer.seal(&mut self.out, MESSAGE_HEAD + first, |out| {
            out[..MESSAGE_HEAD].copy_from_slice(&head);
            body.copy_to(0, &mut out[MESSAGE_HEAD..]);
        });
        let mut sent = first;
        while sent < size {
            for _ in 1..RECORDS_AT_ONCE {
                let part = (size - sent).min(DATA_MAX);
                if part == 0 {
                    break;
                }
                self.sealer.seal(&mut self.out, part, |out| body.copy_to(sent, out));
                sent += part;
            }
            self.write(around)?;
        }
        self.write(around)
    }

    /// Writes what is sealed. While there is no room, takes in what comes: the other task may be
    /// doing the same.
    fn write(&mut self, around: &mut Around<'_>) -> Result<(), Broken> {
        let mut written = 0;
        let mut since = None;
        while written < self.out.len() {
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            match rustix::net::send(&self.socket, &self.out[written..], flags) {
                Ok(n) => {
                    written += n;
                    since = None;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let now = Instant::now();
                    if now - *since.get_or_insert(now) > PATIENCE {
                        return Err(Broken);
                    }
                    self.receive(around)?;
                    let wanted = PollFlags::IN | PollFlags::OUT;
                    let mut fds = [PollFd::new(&self.socket, wanted)];
                    let _ = poll(&mut fds, Some(&sys::timespec(PATIENCE / 4)));
                }
                Err(_) => return Err(Broken),
            }
        }
        self.out.clear();
        self.out.shrink_to(RECORDS_AT_ONCE * (DATA_MAX + 64));
        Ok(())
    }

    /// Too much is unconfirmed: waits a little for the other task. False if it says nothing, now
    /// or since the last time.
    pub(crate) fn await_confirmation(&mut self, around: &mut Around<'_>) -> Result<bool, Broken> {
        if !self.prompt {
            return Ok(false);
        }
        self.prompt = false;
        let end = Instant::now() + PATIENCE;
        while !self.prompt {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let mut fds = [PollFd::new(&self.socket, PollFlags::IN)];
            let _ = poll(&mut fds, Some(&sys::timespec(left)));
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
        let (peer, me) = (self.peer, self.me);
        let mut sink = Taken {
            peer,
            me,
            pair: &mut self.pair,
            large: &mut self.large,
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
