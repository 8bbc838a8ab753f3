//! The items of a message that are left to be read.

use pvm::Buffer;
use pvm_wire::{Code, Kind, Run};

/// The run that the next item is in; none for raw data and behind the end.
pub(crate) fn next_run(buffer: &Buffer) -> Option<Run> {
    if !buffer.encoding().has_runs() {
        return None;
    }
    let mut end = 0;
    buffer.runs().iter().find(|run| {
        end += run.xdr_size();
        end > buffer.read_size()
    })
}

/// Items are read as what they were packed as, unless the caller wants PVM's conversion.
pub(crate) fn check_type(buffer: &Buffer, kind: Kind, convert: bool) -> Result<(), Code> {
    if convert {
        return Ok(());
    }
    let same = |run: Run| {
        let long = matches!(kind, Kind::Long | Kind::Ulong);
        run.shape.same_bits(kind.shape().0) || long && run.shape.is_narrow_long()
    };
    if next_run(buffer).is_none_or(same) { Ok(()) } else { Err(Code::Mismatch) }
}

/// Whether the message has so many items left. PVM reads those that are there and is at the end
/// then; here nothing is read, and a count that lies reserves no memory.
pub(crate) fn check_left(buffer: &Buffer, kind: Kind, count: usize) -> Result<(), Code> {
    let left = buffer.reported_size().saturating_sub(buffer.read_size());
    // No item takes less than half a byte per byte of its size in either form.
    if count > buffer.data_size().saturating_mul(2) {
        return Err(Code::NoData);
    }
    let (shape, each) = kind.shape();
    let needed = match buffer.encoding().has_runs() {
        true => Run { shape, count: count.saturating_mul(each) }.xdr_size(),
        false => count.saturating_mul(kind.size()),
    };
    if needed > left { Err(Code::NoData) } else { Ok(()) }
}
