//! The messages to one other host: a stream for each lane, a part of each in turn.
//!
//! A message is kept until the other host has said that it lies in its receiver's inbox. On a new
//! connection everything that was not confirmed is sent again: the receivers drop what they had,
//! by its number. A lane is read only so far ahead, so what a slow host has not taken stays in
//! the memory of its senders.

use crate::inbox::Inbox;
use crate::link::frames::{BodyHead, CHUNK_BYTES, write_body};
use pvm_shm::transit::{LaneNumber, Parcel};
use pvm_wire::Bytes as _;
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

/// Messages of one lane that may be on their way.
const PARCELS_MAX: usize = 4096;
/// Bytes of them; one message is always allowed.
const PARCEL_BYTES_MAX: usize = 8 << 20;
/// The time for which a stream rests if the other host has no memory for it.
const REST: Duration = Duration::from_millis(100);

/// The source of messages, where they are confirmed, too: the inbox, or a stand-in in tests.
pub(crate) trait Source {
    /// The next message of a lane.
    fn next(&mut self, lane: LaneNumber) -> Option<Parcel>;
    /// The oldest unconfirmed message of a lane is safe.
    fn confirm(&mut self, lane: LaneNumber);
}

impl Source for Inbox {
    fn next(&mut self, lane: LaneNumber) -> Option<Parcel> {
        Self::next(self, lane)
    }
    fn confirm(&mut self, lane: LaneNumber) {
        Self::confirm(self, lane);
    }
}

/// A lane on its way.
#[derive(Debug)]
struct Stream {
    /// Its number on this connection.
    number: u32,
    /// Read and not confirmed, oldest first.
    parcels: VecDeque<Parcel>,
    bytes: usize,
    /// The number of these messages that are sent as a whole.
    sent: usize,
    /// The number of bytes of the next one that are sent, once it has begun.
    begun: Option<usize>,
    /// The lane has been read to its end.
    read_up: bool,
    /// It stands in the queue of turns.
    queued: bool,
    /// Not before then.
    rests: Option<Instant>,
}

impl Stream {
    fn has_work(&self) -> bool {
        self.sent < self.parcels.len() || (!self.read_up && self.has_room())
    }

    fn has_room(&self) -> bool {
        self.parcels.is_empty()
            || (self.parcels.len() < PARCELS_MAX && self.bytes < PARCEL_BYTES_MAX)
    }

    fn restart(&mut self, number: u32) {
        self.number = number;
        self.sent = 0;
        self.begun = None;
    }

    /// Puts a part of about `part` bytes into the batch, or several small messages.
    fn take_turn(
        &mut self,
        lane: LaneNumber,
        source: &mut impl Source,
        (batch, part): (&mut Vec<u8>, usize),
    ) {
        let end = batch.len() + part;
        while batch.len() < end {
            if self.sent == self.parcels.len() {
                if self.read_up || !self.has_room() {
                    return;
                }
                let Some(parcel) = source.next(lane) else {
                    self.read_up = true;
                    return;
                };
                self.bytes += parcel.payload.size();
                self.parcels.push_back(parcel);
            }
            let Parcel { envelope, payload, receivers, .. } = &self.parcels[self.sent];
            let offset = self.begun.unwrap_or(0);
            let size = (payload.size() - offset).min(part);
            let head = match self.begun {
                None => BodyHead::Begin { stream: self.number, envelope, receivers },
                Some(_) => BodyHead::More { stream: self.number },
            };
            write_body(batch, head, size, |out| payload.copy_to(offset, out));
            self.begun = Some(offset + size);
            if offset + size == payload.size() {
                self.sent += 1;
                self.begun = None;
            }
        }
    }
}

/// All streams to one host.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    streams: BTreeMap<LaneNumber, Stream>,
    lanes: BTreeMap<u32, LaneNumber>,
    turns: VecDeque<LaneNumber>,
    last: u32,
}

impl Streams {
    fn number(&mut self, lane: LaneNumber) -> u32 {
        self.last = self.last.wrapping_add(1);
        self.lanes.insert(self.last, lane);
        self.last
    }

    fn queue(&mut self, lane: LaneNumber) {
        if let Some(stream) = self.streams.get_mut(&lane)
            && !stream.queued
            && stream.rests.is_none()
            && stream.has_work()
        {
            stream.queued = true;
            self.turns.push_back(lane);
        }
    }

    /// A lane has something new.
    pub(crate) fn wake(&mut self, lane: LaneNumber) {
        if !self.streams.contains_key(&lane) {
            let number = self.number(lane);
            let stream = Stream {
                number,
                parcels: VecDeque::new(),
                bytes: 0,
                sent: 0,
                begun: None,
                read_up: false,
                queued: false,
                rests: None,
            };
            self.streams.insert(lane, stream);
        }
        if let Some(stream) = self.streams.get_mut(&lane) {
            stream.read_up = false;
        }
        self.queue(lane);
    }

    /// A new connection: what was not confirmed is sent again.
    pub(crate) fn restart(&mut self) {
        self.lanes.clear();
        self.turns.clear();
        let lanes: Vec<LaneNumber> = self.streams.keys().copied().collect();
        for lane in lanes {
            let number = self.number(lane);
            if let Some(stream) = self.streams.get_mut(&lane) {
                stream.restart(number);
                stream.queued = false;
                stream.rests = None;
            }
            self.queue(lane);
        }
    }

    /// Fills a batch with a part of about `part` bytes of each stream in turn.
    pub(crate) fn fill(&mut self, source: &mut impl Source, batch: &mut Vec<u8>, part: usize) {
        while batch.len() < CHUNK_BYTES {
            let Some(lane) = self.turns.pop_front() else { return };
            let Some(stream) = self.streams.get_mut(&lane) else { continue };
            stream.queued = false;
            stream.take_turn(lane, source, (batch, part));
            let done = stream.read_up && stream.parcels.is_empty();
            if done {
                let number = stream.number;
                self.streams.remove(&lane);
                self.lanes.remove(&number);
            } else {
                self.queue(lane);
            }
        }
    }

    /// Takes `count` further messages of a stream for delivered. A count beyond
    /// the messages that were sent is a lie.
    pub(crate) fn confirm(&mut self, source: &mut impl Source, number: u32, count: u32) {
        let Some(&lane) = self.lanes.get(&number) else { return };
        let Some(stream) = self.streams.get_mut(&lane) else { return };
        for _ in 0..(count as usize).min(stream.sent) {
            stream.sent -= 1;
            if let Some(parcel) = stream.parcels.pop_front() {
                stream.bytes -= parcel.payload.size();
                // First the data are let go of, then the mark moves.
                drop(parcel);
                source.confirm(lane);
            }
        }
        if stream.read_up && stream.parcels.is_empty() {
            self.streams.remove(&lane);
            self.lanes.remove(&number);
        } else {
            self.queue(lane);
        }
    }

    /// The other host lacks memory for a stream: from its oldest unconfirmed message on once
    /// more, a little later.
    pub(crate) fn again(&mut self, number: u32, now: Instant) {
        let Some(lane) = self.lanes.remove(&number) else { return };
        let number = self.number(lane);
        if let Some(stream) = self.streams.get_mut(&lane) {
            stream.restart(number);
            stream.rests = Some(now + REST);
            stream.queued = false;
            self.turns.retain(|turn| *turn != lane);
        }
    }

    /// When the next stream has rested.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.streams.values().filter_map(|stream| stream.rests).min()
    }

    /// Streams that have rested go on.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        let rested = |stream: &Stream| stream.rests.is_some_and(|until| until <= now);
        let lanes: Vec<LaneNumber> =
            self.streams.iter().filter(|(_, s)| rested(s)).map(|(lane, _)| *lane).collect();
        for lane in lanes {
            if let Some(stream) = self.streams.get_mut(&lane) {
                stream.rests = None;
            }
            self.queue(lane);
        }
    }

    /// True where something could be sent now.
    pub(crate) fn has_work(&self) -> bool {
        !self.turns.is_empty()
    }

    /// True if everything of a lane that was there when it was woken last is safe.
    pub(crate) fn is_drained(&self, lane: LaneNumber) -> bool {
        !self.streams.contains_key(&lane)
    }

    /// The lanes that have a stream.
    pub(crate) fn lanes(&self) -> impl Iterator<Item = LaneNumber> {
        self.streams.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: usize = CHUNK_BYTES / 4;
    use crate::link::frames::{FRAME_BYTES_MAX, LinkFrame};
    use pvm_shm::Payload;
    use pvm_wire::{Address, Envelope, FrameBuffer, Tid, Wire as _};

    /// Lanes with messages in them; those read and not confirmed come first.
    #[derive(Default)]
    struct Lanes {
        lanes: BTreeMap<LaneNumber, VecDeque<u64>>,
        /// Confirmed, by lane.
        safe: BTreeMap<LaneNumber, u64>,
    }

    impl Source for Lanes {
        fn next(&mut self, lane: LaneNumber) -> Option<Parcel> {
            let number = self.lanes.get_mut(&lane)?.pop_front()?;
            let mut envelope = Envelope::new(Tid(lane as u32), Address::untagged(Tid(0x80001)));
            envelope.sequence = number;
            envelope.data_size = 100;
            let mut bytes = pvm_shm::lane::room_for(100);
            bytes.fill(number as u8);
            let payload = Payload::Inline { bytes, size: 100 };
            Some(Parcel::new(envelope, payload, Vec::new()))
        }
        fn confirm(&mut self, lane: LaneNumber) {
            *self.safe.entry(lane).or_default() += 1;
        }
    }

    /// The frames of a batch: stream and number of each message in it.
    fn begun(batch: &[u8]) -> Vec<(u32, u64, u64)> {
        let mut frames = FrameBuffer::new(FRAME_BYTES_MAX);
        frames.push(batch);
        let mut begun = Vec::new();
        while let Some((_, payload)) = frames.next_frame().expect("whole frames") {
            match LinkFrame::from_bytes(payload).expect("a frame") {
                LinkFrame::Begin { stream, envelope, bytes, .. } => {
                    assert_eq!(bytes.0, vec![envelope.sequence as u8; 100]);
                    begun.push((stream, envelope.src.0.into(), envelope.sequence));
                }
                other => panic!("{other:?}"),
            }
        }
        begun
    }

    #[test]
    fn connections_that_break_lose_and_reorder_nothing_of_any_lane() {
        let mut lanes = Lanes::default();
        let mut streams = Streams::default();
        let mut chance = 1u64;
        let mut draw = |n: u64| {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (chance >> 33) % n
        };
        let (mut sent, mut had) = (BTreeMap::new(), BTreeMap::new());
        for round in 0..3000 {
            let lane = 1 + draw(3);
            for _ in 0..draw(40) {
                let last: &mut u64 = sent.entry(lane).or_default();
                *last += 1;
                lanes.lanes.entry(lane).or_default().push_back(*last);
            }
            streams.wake(lane);
            let mut batch = Vec::new();
            streams.fill(&mut lanes, &mut batch, PART);
            let mut delivered: BTreeMap<u32, u32> = BTreeMap::new();
            for (stream, lane, number) in begun(&batch) {
                let last: &mut u64 = had.entry(lane).or_default();
                // Again, or the next one: never one too many.
                assert!(number <= *last + 1, "{number} of lane {lane} after {last}");
                *last = number.max(*last);
                *delivered.entry(stream).or_default() += 1;
            }
            match round % 7 {
                0 => streams.restart(),
                1 => {}
                2 => delivered.keys().for_each(|s| streams.again(*s, Instant::now())),
                _ => delivered.iter().for_each(|(s, n)| streams.confirm(&mut lanes, *s, *n)),
            }
            streams.handle_timeout(Instant::now() + REST);
            for (lane, safe) in &lanes.safe {
                assert!(*safe <= had[lane], "confirmed before it was there");
            }
        }
        for _ in 0..10_000 {
            let mut batch = Vec::new();
            streams.fill(&mut lanes, &mut batch, PART);
            for (stream, lane, number) in begun(&batch) {
                let last = had.entry(lane).or_default();
                *last = number.max(*last);
                streams.confirm(&mut lanes, stream, 1);
            }
            if streams.streams.is_empty() {
                break;
            }
            streams.restart();
        }
        assert_eq!(had, sent);
        assert_eq!(lanes.safe, sent);
        assert!((1..=3).all(|lane| streams.is_drained(lane)));
    }

    #[test]
    fn a_lane_that_nobody_confirms_is_read_only_so_far_and_holds_up_no_other() {
        let mut lanes = Lanes::default();
        let mut streams = Streams::default();
        lanes.lanes.insert(1, (1..=3 * PARCELS_MAX as u64).collect());
        streams.wake(1);
        let mut count = 0;
        while streams.has_work() {
            let mut batch = Vec::new();
            streams.fill(&mut lanes, &mut batch, PART);
            count += begun(&batch).len();
        }
        assert_eq!(count, PARCELS_MAX);
        lanes.lanes.insert(2, (1..=5).collect());
        streams.wake(2);
        let mut batch = Vec::new();
        streams.fill(&mut lanes, &mut batch, PART);
        let numbers: Vec<_> = begun(&batch).iter().map(|(_, lane, n)| (*lane, *n)).collect();
        assert_eq!(numbers, [(2, 1), (2, 2), (2, 3), (2, 4), (2, 5)]);
    }

    #[test]
    fn two_lanes_that_have_much_to_say_take_turns() {
        let mut lanes = Lanes::default();
        let mut streams = Streams::default();
        for lane in [1, 2] {
            lanes.lanes.insert(lane, (1..=1000).collect());
            streams.wake(lane);
        }
        let mut batch = Vec::new();
        streams.fill(&mut lanes, &mut batch, PART);
        let of = |lane| begun(&batch).iter().filter(|(_, l, _)| *l == lane).count();
        assert!(of(1) > 50 && of(1).abs_diff(of(2)) < 10, "{} and {}", of(1), of(2));
    }

    #[test]
    fn more_than_was_sent_cannot_be_confirmed() {
        let mut lanes = Lanes::default();
        let mut streams = Streams::default();
        lanes.lanes.insert(1, (1..=2).collect());
        streams.wake(1);
        let mut batch = Vec::new();
        streams.fill(&mut lanes, &mut batch, PART);
        lanes.lanes.insert(1, (3..=4).collect());
        streams.wake(1);
        streams.confirm(&mut lanes, 1, u32::MAX);
        assert_eq!(lanes.safe[&1], 2);
        streams.confirm(&mut lanes, 77, 1);
        assert_eq!(lanes.safe[&1], 2);
    }
}
