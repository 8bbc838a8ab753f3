//! Cables with a rate: what a host says goes out one piece after the other, the links in turn.
//!
//! Each link has a queue in the daemon, of which the shortest words of the order overtake its
//! longer ones, those what the machines say, and that what tasks send; in front of it what the
//! kernel has taken already: nothing overtakes that. All links of a host share its cable.

use pvm_core::planted::{self, Bug};
use pvm_wire::peer::PeerMessage;
use pvm_wire::{HostIndex, Wire as _};
use std::collections::{BTreeMap, VecDeque};

/// The kernel takes more while it has fewer bytes than this that it has not sent.
const KERNEL_BYTES: usize = 32 << 10;
/// The bytes that go at a time.
const PACKET_BYTES: usize = 8 << 10;
/// A daemon writes what is longer in pieces.
const PIECE_BYTES: usize = 64 << 10;
/// The longer words of the order that wait on one link; more are dropped.
pub(crate) const ORDER_BYTES_MAX: usize = 1 << 20;
/// The bytes of a message besides its own.
const HEAD_BYTES: usize = 60;

/// A message on its way to the wire.
#[derive(Clone, Debug)]
struct Parcel {
    message: PeerMessage,
    /// Bytes that have not gone to the kernel.
    left: usize,
}

/// The messages to one host.
#[derive(Debug, Default)]
struct Line {
    /// The link that it is for.
    made: u64,
    waiting: [VecDeque<Parcel>; 4],
    /// Bytes, and the messages that end with them.
    kernel: VecDeque<(usize, Option<PeerMessage>)>,
    /// Longer words of the order that wait.
    order_bytes: usize,
}

impl Line {
    /// The kernel takes what it takes.
    fn fill(&mut self) {
        while self.kernel.iter().map(|(bytes, _)| bytes).sum::<usize>() < KERNEL_BYTES {
            let Some(class) = (0..4).find(|class| !self.waiting[*class].is_empty()) else { return };
            let Some(mut parcel) = self.waiting[class].pop_front() else { return };
            let piece = parcel.left.min(PIECE_BYTES);
            parcel.left -= piece;
            self.order_bytes -= if class == 1 { piece } else { 0 };
            if parcel.left == 0 {
                self.kernel.push_back((piece, Some(parcel.message)));
            } else {
                self.kernel.push_back((piece, None));
                self.waiting[class].push_front(parcel);
            }
        }
    }
}

/// The messages that one host sends.
#[derive(Debug, Default)]
struct Cable {
    lines: BTreeMap<HostIndex, Line>,
    /// The host whose packet went last.
    turn: HostIndex,
    busy: bool,
}

/// All cables.
#[derive(Debug, Default)]
pub struct Cables {
    cables: BTreeMap<HostIndex, Cable>,
    /// Bytes in a second; 0 for as many as one likes.
    pub rate: u64,
    /// All bytes that went.
    pub sent: u64,
    /// The most that waited on one link of longer words of the order.
    pub most_waiting: usize,
    /// Words of the order that found no place.
    pub dropped: u64,
}

/// A packet is through.
#[derive(Debug)]
pub(crate) struct Sent {
    /// The message that is whole with it: for whom, by which link.
    pub(crate) whole: Option<(HostIndex, u64, PeerMessage)>,
    /// Nanoseconds until the next one is through, if there is one.
    pub(crate) next: Option<u64>,
}

impl Cables {
    /// Something is said by this link; nanoseconds until the first packet is through, if the cable
    /// was at rest.
    pub(crate) fn say(
        &mut self,
        (from, to, made): (HostIndex, HostIndex, u64),
        message: PeerMessage,
    ) -> Option<u64> {
        let left = message.to_bytes().len() + HEAD_BYTES;
        let class = match &message {
            PeerMessage::Hasty { .. } => 0,
            PeerMessage::Quorum { .. } => 1,
            PeerMessage::Forward { .. } => 3,
            _ => 2,
        };
        let cable = self.cables.entry(from).or_default();
        let line = cable.lines.entry(to).or_default();
        if line.made != made {
            *line = Line { made, ..Line::default() };
        }
        if class == 1 && line.order_bytes > 0 && line.order_bytes + left > ORDER_BYTES_MAX {
            self.dropped += 1;
            return None;
        }
        let behind = class < 2 && planted::is(Bug::BeatsBehindBulk);
        let class = if behind { 3 } else { class };
        line.order_bytes += if class == 1 { left } else { 0 };
        self.most_waiting = self.most_waiting.max(line.order_bytes);
        line.waiting[class].push_back(Parcel { message, left });
        line.fill();
        if cable.busy {
            return None;
        }
        cable.busy = true;
        cable.next_packet().map(|bytes| self.time_of(bytes))
    }

    /// Bytes of what tasks send that wait on a link.
    pub(crate) fn bulk(&self, from: HostIndex, to: HostIndex) -> usize {
        let line = self.cables.get(&from).and_then(|cable| cable.lines.get(&to));
        line.map_or(0, |line| line.waiting[3].iter().map(|parcel| parcel.left).sum())
    }

    fn time_of(&self, bytes: usize) -> u64 {
        (bytes as u64 * 1_000_000_000).div_ceil(self.rate.max(1))
    }

    /// A packet of a host is through.
    pub(crate) fn sent(&mut self, from: HostIndex) -> Sent {
        let Some(cable) = self.cables.get_mut(&from) else {
            return Sent { whole: None, next: None };
        };
        let (bytes, whole) = cable.take_packet();
        self.sent += bytes as u64;
        let next = cable.next_packet();
        cable.busy = next.is_some();
        Sent { whole, next: next.map(|bytes| self.time_of(bytes)) }
    }
}

impl Cable {
    /// The host whose packet goes next: the links take turns.
    fn next_line(&self) -> Option<HostIndex> {
        let has = |(&to, line): (&HostIndex, &Line)| (!line.kernel.is_empty()).then_some(to);
        let behind = self.lines.iter().filter_map(has).find(|to| *to > self.turn);
        behind.or_else(|| self.lines.iter().find_map(has))
    }

    fn next_packet(&self) -> Option<usize> {
        let line = self.lines.get(&self.next_line()?)?;
        line.kernel.front().map(|(bytes, _)| (*bytes).min(PACKET_BYTES))
    }

    /// The packet that is through, and the message that is whole with it.
    fn take_packet(&mut self) -> (usize, Option<(HostIndex, u64, PeerMessage)>) {
        let to = self.next_line();
        let Some((to, line)) = to.and_then(|to| Some((to, self.lines.get_mut(&to)?))) else {
            return (0, None);
        };
        self.turn = to;
        let Some((left, _)) = line.kernel.front_mut() else { return (0, None) };
        let bytes = (*left).min(PACKET_BYTES);
        *left -= bytes;
        let done = *left == 0;
        let whole = if done { line.kernel.pop_front().and_then(|(_, whole)| whole) } else { None };
        line.fill();
        (bytes, whole.map(|message| (to, line.made, message)))
    }
}
