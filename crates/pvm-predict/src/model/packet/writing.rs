//! Writes to connections, as far as there is room, and the segments that arrive at their ends.

use super::fleet::Packet;
use super::{Output, Packets, Planned, Side};
use crate::platform::Transport;
use crate::transport::tcp::{Input, Segment};
use crate::unit::Time;

impl Packets {
    /// The writer of a connection can write more.
    pub(super) fn has_room(&mut self, now: Time, number: u32) {
        match self.ends[number as usize].tasks {
            Some((task, _)) => self.out.push_back(Output::Room(task)),
            None => self.fill(now, number),
        }
    }

    /// The number of bytes that may be written to a connection now.
    pub(super) fn room(&mut self, now: Time, number: u32) -> u64 {
        let Side { end, ahead, .. } = &mut self.ends[number as usize];
        let (room, again) = ahead.room(now, end);
        self.out.extend(again.map(|at| Output::At(at, Planned::Look(number))));
        room
    }

    /// A segment has arrived at an end.
    pub(super) fn arrived(&mut self, now: Time, number: u32, (segment, packet): (Segment, Packet)) {
        let Side { end, tasks, ahead, .. } = &mut self.ends[number as usize];
        let task = tasks.map(|(task, _)| task);
        // A task that waits for room in one connection reads that one, and a daemon all of its.
        let reads = task.is_none_or(|task| self.readers.waits(task) || ahead.waits());
        if let Some(tcp) = end.tcp() {
            tcp.reads(reads);
        }
        self.handle(now, number, Input::Arrived(segment), Some(&packet));
        let tcp = self.ends[number as usize].end.tcp();
        let waits = tcp.is_some_and(|tcp| tcp.waits_for_reader());
        if let Some(task) = task.filter(|_| waits) {
            self.readers.leaves(task, number);
        }
    }

    /// A daemon hands as much to a connection as that has room for.
    pub(super) fn fill(&mut self, now: Time, end: u32) {
        loop {
            let Some(daemons) = &mut self.daemons else { return };
            if !daemons.has_more(end) {
                return;
            }
            let room = self.room(now, end);
            let Some(daemons) = &mut self.daemons else { return };
            let Some(piece) = daemons.next(end, room) else { return };
            let side = &self.ends[end as usize];
            let (written, peer) = (side.written + piece.bytes, side.peer);
            let open = &mut self.ends[peer as usize].open;
            open.extend(piece.whole.map(|parcel| (written, parcel)));
            self.write(now, end, piece.bytes);
        }
    }

    pub(super) fn write(&mut self, now: Time, end: u32, bytes: u64) {
        self.hears_late(now, end, bytes);
        let side = &mut self.ends[end as usize];
        side.written += bytes;
        side.ahead.went(bytes);
        self.handle(now, end, Input::Written(bytes), None);
    }

    /// A writer handles what comes for its connection when its write is over. That is a while if
    /// the write is longer than a segment.
    fn hears_late(&mut self, now: Time, end: u32, bytes: u64) {
        let (Transport::Tcp(rules), Some(times)) = (&self.transport, self.session.alone) else {
            return;
        };
        if bytes > rules.segment {
            let time = times[self.dice.below(times.len() as u64) as usize];
            self.handle(now, end, Input::Writes(time), None);
        }
    }
}
