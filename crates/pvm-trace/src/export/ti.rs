//! SimGrid's time-independent trace: what `smpirun -replay` takes. Tasks are ranks by their number.
//!
//! A nanosecond of computing is one flop, so the simulated hosts are to have 1 Gf. A message below
//! 65536 bytes is `send` (SMPI buffers it, as PVM does), a larger one `isend`, waited for at the end.

use super::stations::{Action, Untold, stations};
use crate::error::Error;
use crate::file::Reader;
use crate::tables::TaskIndex;
use pvm_wire::record::{Transfer, calls};
use std::io::{Read, Seek, Write};

/// SMPI's default for messages that it buffers (`smpi/send-is-detached-thresh`).
const BUFFERED: u64 = 65536;

/// Writes it, all ranks in one file; what it cannot tell is counted.
pub fn ti<R: Read + Seek>(reader: &mut Reader<R>, mut out: impl Write) -> Result<Untold, Error> {
    let ranks = reader.tables().tasks.len() as u32;
    let mut begun: Option<TaskIndex> = None;
    let mut pending = false;
    let untold = stations(reader, |rank, action| {
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
                let word = if message.bytes < BUFFERED { "send" } else { "isend" };
                pending |= word == "isend";
                for to in *to {
                    writeln!(out, "{rank} {word} {to} {} {}", tag(message), message.bytes)?;
                }
            }
            Some(Action::Receive { message, from, .. }) => {
                writeln!(out, "{rank} recv {from} {} {}", tag(message), message.bytes)?;
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
    Ok(untold)
}

/// Tags of MPI are not negative, and end early in some.
const fn tag(message: &Transfer) -> u32 {
    message.tag.cast_unsigned() % 32768
}
