//! The protocol between the recorder of a host and a listener to its records: frames of
//! [`crate::write_frame`] on a stream.
//!
//! ```text
//! listener                       recorder
//! Start   ---------------------> (a listener gets what is noted from now on)
//!         <--------------------- Head      the host, once
//!         <--------------------- Task      a task, before its first block
//!         <--------------------- Block     what it noted, in the order of its ring
//!         <--------------------- Gap       what is missing of a task or of the host
//!         <--------------------- Clock     another host's clock beside this one's
//!         <--------------------- Ended     a task has no more
//! Stop    --------------------->
//!         <--------------------- End       the last frame
//! ```
//! A listener that reads too slowly loses blocks, and is told so by a gap. A stream that ends
//! without [`Frame::End`] broke off.
//!
//! Each record that is read from a ring has a number, from 0 on. Blocks and gaps tell the number of
//! their first record, so a listener sees what never came to it, and what came although the next
//! recorder takes it for lost: a recorder may be killed between sending a block and marking in the
//! ring that it was sent.

use super::{Cell, Loss, Moment};
use crate::{Blob, DecodeError, HostIndex, Reader, Tid, Wire, choice, record};

/// In this context both say it, in messages of raw bytes: a frame each, under any tag.
pub const CONTEXT: i32 = 0x7ec0_4de5;

/// The most cells of a block: 512 KiB.
pub const BLOCK_CELLS_MAX: usize = 1 << 14;

record! {
    /// The facts about a host in the head of a trace.
    pub struct HostFacts {
        /// Its place in the machine.
        pub host: HostIndex,
        /// Its name.
        pub name: Blob,
        /// Its architecture, as `pvm_config` has it.
        pub architecture: Blob,
        /// The version of NeoPVM, as text.
        pub version: Blob,
        /// Its cores.
        pub cores: u32,
        /// The cost of a record for the task that notes it, in picoseconds; 0 if it was not
        /// measured.
        pub probe_cost_ps: u64,
        /// The congestion control of connections to other hosts: `reno`, `cubic`, `bbr`.
        pub congestion: Blob,
        /// The largest packet of its network, 0 if it is not known.
        pub mtu: u32,
        /// When recording began, by its clock, in nanoseconds since 1970.
        pub began: u64,
    }

    /// The facts about a task in the head of a trace.
    pub struct TaskFacts {
        /// The task.
        pub tid: Tid,
        /// The task that spawned it, [`Tid`] 0 for none.
        pub parent: Tid,
        /// Its process id.
        pub process: u32,
        /// Its program.
        pub program: Blob,
        /// When recording of it began, by its host's clock.
        pub began: u64,
    }

    /// Another host's clock, beside that of the host that says this.
    pub struct ClockPair {
        /// The other host.
        pub other: HostIndex,
        /// When, by the clock of the host that says this.
        pub at: u64,
        /// The other one's clock less this one's, at that moment, in nanoseconds.
        pub offset: i64,
        /// The largest error of the offset: half of the round trip.
        pub error: u64,
    }

    /// Counts of one task.
    #[derive(Copy)]
    pub struct Counts {
        /// Records that it noted.
        pub noted: u64,
        /// Records among them that found no room or could not be passed on.
        pub lost: u64,
    }
}

choice! {
    /// From a listener.
    pub enum Ask {
        /// Records of these tasks, none for all, now and those to come.
        1 => Start {
            /// [`super::RECORD_VERSION`].
            version: u16,
            /// The tasks.
            tasks: Vec<Tid>,
        },
        /// The records up to now, then the end.
        2 => Stop,
        /// The time of the recorder's clock: [`Frame::Shows`].
        3 => Clock {
            /// The asker's number, to be sent back.
            number: u64,
        },
    }

    /// From the recorder.
    pub enum Frame {
        /// The first frame.
        1 => Head {
            /// [`super::RECORD_VERSION`].
            version: u16,
            /// The host.
            host: HostFacts,
        },
        /// A task whose blocks follow.
        2 => Task {
            /// The task.
            task: TaskFacts,
        },
        /// Whole records of one task. Where both looks are the same one they are names that were
        /// told before, repeated for later listeners, and do not count.
        3 => Block {
            /// The task.
            tid: Tid,
            /// The number of the first one.
            first: u64,
            /// The look at its ring before this one,
            from: Moment,
            /// and this one.
            to: Moment,
            /// At most [`BLOCK_CELLS_MAX`] of them.
            cells: Cells,
        },
        /// Records are missing.
        4 => Gap {
            /// The task; [`Tid`] 0 for all tasks of the host.
            tid: Tid,
            /// The number of the first one. Those without room ([`Loss::Full`]) have numbers of
            /// their own.
            first: u64,
            /// From this time of the host on,
            from: u64,
            /// up to this one.
            to: u64,
            /// The number of lost records; 0 if it is not known.
            lost: u64,
            /// The reason of the loss.
            reason: Loss,
        },
        /// Clocks of two hosts.
        5 => Clock {
            /// The clocks' times.
            pair: ClockPair,
        },
        /// A task has ended, or is recorded no more.
        6 => Ended {
            /// The task.
            tid: Tid,
            /// When, by its host's clock.
            at: u64,
            /// As `wait` tells it; -1 if it is not known.
            status: i32,
            /// The records that were read from its ring since that began.
            read: u64,
        },
        /// To [`Ask::Clock`].
        8 => Shows {
            /// The number of the question.
            number: u64,
            /// The clock of the recorder's host.
            at: u64,
        },
        /// The last frame.
        7 => End {
            /// When, by the host's clock.
            at: u64,
            /// The counts of all records.
            counts: Counts,
        },
    }
}

/// Cells as they lay in a ring, without their stamps.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cells(pub Vec<Cell>);

impl Wire for Cells {
    fn encode(&self, out: &mut Vec<u8>) {
        u32::try_from(self.0.len()).expect("a block fits a frame").encode(out);
        self.0.iter().for_each(|cell| out.extend_from_slice(&cell.to_bytes()));
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let count = u32::decode(input)? as usize;
        if count > BLOCK_CELLS_MAX {
            return Err(DecodeError::Range);
        }
        let (cells, _) = input.bytes(count * Cell::SIZE)?.as_chunks();
        Ok(Self(cells.iter().map(Cell::from_bytes).collect()))
    }
}

impl Wire for Loss {
    fn encode(&self, out: &mut Vec<u8>) {
        (*self as u8).encode(out);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::from_number(u8::decode(input)?).ok_or(DecodeError::Range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;

    #[test]
    fn frames_survive_the_way_there_and_back() {
        let mut cells = Cells::default();
        Record::call(17, 5, 6).encode(|cell| cells.0.push(cell));
        let moment = |ticks| Moment { ticks, nanoseconds: 2 * ticks };
        for frame in [
            Frame::Block { tid: Tid(0x40002), first: 7, from: moment(1), to: moment(8), cells },
            Frame::Gap { tid: Tid(0), first: 0, from: 1, to: 2, lost: 0, reason: Loss::Link },
            Frame::Ended { tid: Tid(0x40002), at: 9, status: -1, read: 8 },
        ] {
            assert_eq!(Frame::from_bytes(&frame.to_bytes()), Ok(frame));
        }
        let ask = Ask::Start { version: super::super::RECORD_VERSION, tasks: vec![Tid(1)] };
        assert_eq!(Ask::from_bytes(&ask.to_bytes()), Ok(ask));
    }

    #[test]
    fn a_block_that_lies_about_its_length_reserves_nothing() {
        let lie = (BLOCK_CELLS_MAX as u32 + 1).to_bytes();
        assert_eq!(Cells::from_bytes(&lie), Err(DecodeError::Range));
        assert_eq!(Cells::from_bytes(&[2, 0, 0, 0, 1]), Err(DecodeError::Short));
    }
}
