//! SimGrid's time-independent trace, which `smpirun -replay` reads. The number of a task is its
//! rank.
//!
//! A nanosecond of computing is one flop, so the simulated hosts must have 1 Gf. A message below
//! 65536 bytes is `send` (SMPI buffers it, as PVM does), a larger one `isend`, waited for at the
//! end.
//!
//! SimGrid ends a replay when a message comes to a rank that has ended, and waits for ever for a
//! message that no rank sends. So the export leaves out messages of which the trace has one end
//! only. MPI takes messages of a pair and a tag in their order, PVM also by context; so the tag
//! that is written is the message's number, and each receive gets the message that it got.

use super::stations::{Action, Untold, stations};
use crate::error::Error;
use crate::file::Reader;
use crate::matching::{self, Name};
use crate::tables::TaskIndex;
use pvm_wire::record::{Transfer, calls};
use std::io::{Read, Seek, Write};

/// SMPI's default for messages that it buffers (`smpi/send-is-detached-thresh`).
const BUFFERED: u64 = 65536;

/// Writes the file with all ranks. Returns the counts of what it cannot hold.
pub fn ti<R: Read + Seek>(reader: &mut Reader<R>, mut out: impl Write) -> Result<Untold, Error> {
    let ranks = reader.tables().tasks.len() as u64;
    let mut begun: Option<TaskIndex> = None;
    let mut pending = false;
    let halves = matching::halves(reader, |_, _| ());
    let mut left_out = 0;
    let mut whole = |name: &Name| {
        let whole = !halves.contains(name);
        left_out += u64::from(!whole);
        whole
    };
    let mut untold = stations(reader, |rank, action| {
        if begun != Some(rank) {
            begun = Some(rank);
            writeln!(out, "{rank} init")?;
        }
        match action {
            None => {
                if std::mem::take(&mut pending) {
                    writeln!(out, "{rank} waitall")?;
                }
                writeln!(out, "{rank} finalize")?;
            }
            Some(Action::Compute(time)) => writeln!(out, "{rank} compute {time}")?,
            Some(Action::Send { message, to, .. }) => {
                let (bytes, word) = (message.bytes, sending(message.bytes));
                for (to, number) in to.iter().filter(|(to, number)| whole(&(rank, *to, *number))) {
                    pending |= word == "isend";
                    writeln!(out, "{rank} {word} {to} {} {bytes}", tag(message, *number))?;
                }
            }
            Some(Action::Receive { message, from, .. }) => {
                if whole(&(*from, rank, message.number)) {
                    let tag = tag(message, message.number);
                    writeln!(out, "{rank} recv {from} {tag} {}", message.bytes)?;
                }
            }
            Some(Action::Group { call, members }) => {
                let barrier = matches!(*call, calls::BARRIER | calls::NEOPVM_BARRIER);
                if barrier && *members == ranks {
                    writeln!(out, "{rank} barrier")?;
                }
            }
        }
        Ok(())
    })?;
    out.flush()?;
    untold.halves = left_out;
    Ok(untold)
}

const fn sending(bytes: u64) -> &'static str {
    if bytes < BUFFERED { "send" } else { "isend" }
}

/// The number of the message, or its tag if the trace has no numbers. Tags of MPI are not negative,
/// and some MPIs have a small largest one.
const fn tag(message: &Transfer, number: u64) -> u64 {
    let tag = if number == 0 { message.tag.cast_unsigned() as u64 } else { number };
    tag % 32768
}
