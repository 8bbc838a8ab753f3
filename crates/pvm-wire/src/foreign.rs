//! Messages of machines with another layout, made readable here. Receiver makes right.
//!
//! Items that a run list names are turned to this machine's order of bytes once, when the message
//! is taken out of its envelope. The width of a long stays as the sender had it, since the runs
//! tell it: the reader widens it or, as PVM's encoding has always done, takes the lower four bytes.
//! So a relay with narrow longs hands on what it could not hold itself.
//!
//! Raw data that all are of one kind (`pvm_psend`) are made native entirely. Other raw data are
//! bytes as they are: [`can_read`] says what may still be read of them.

use crate::{Body, Code, Cursor, Encoding, Envelope, Kind, Layout, Run, RunList, Shape};

/// Makes the data of a message readable here. `data` are the items without the run list; what comes
/// back takes their place. The envelope and the runs are changed to say what lies there now.
///
/// # Errors
/// [`Code::BadMsg`] if the runs are not those of the data.
pub fn make_native(
    envelope: &mut Envelope,
    runs: &mut RunList,
    mut data: Vec<u8>,
) -> Result<Vec<u8>, Code> {
    if envelope.layout == Layout::NATIVE || is_opaque(envelope, runs) {
        return Ok(data);
    }
    if runs.size() != data.len() {
        return Err(Code::BadMsg);
    }
    if envelope.layout.is_swapped_to(Layout::NATIVE) {
        turn(runs, &mut data);
    }
    envelope.layout = Layout::NATIVE;
    match runs.get(0) {
        Some(run) if !envelope.encoding.has_runs() => same_width(run, runs, data),
        _ => Ok(data),
    }
}

/// True where nothing is said of what the data are.
const fn is_opaque(envelope: &Envelope, runs: &RunList) -> bool {
    !envelope.encoding.has_runs() && runs.is_empty()
}

/// True where items of `kind` can be taken out of a message as it lies now.
///
/// Raw data of another machine are readable as bytes, and as types that both machines lay out
/// alike. PVM refuses such an unpack ([`Code::BadMsg`]), so no program takes nonsense for numbers.
#[inline(always)]
pub fn can_read(envelope: &Envelope, encoding: Encoding, kind: Kind) -> bool {
    let from = envelope.layout;
    encoding.has_runs()
        || from == Layout::NATIVE
        || kind == Kind::Byte
        || !from.is_swapped_to(Layout::NATIVE) && kind.size_in(from) == kind.size()
}

/// Turns the bytes of every item round.
fn turn(runs: &RunList, data: &mut [u8]) {
    let mut rest = data;
    for run in runs.iter() {
        let (items, behind) = rest.split_at_mut(run.size());
        match run.shape.size() {
            1 => {}
            size => items.chunks_exact_mut(size).for_each(<[u8]>::reverse),
        }
        rest = behind;
    }
}

/// Bytes that [`make_native`] will make of the `size` bytes of data of a message without a run
/// list.
pub fn native_size(envelope: &Envelope, runs: &RunList, size: usize) -> usize {
    let native = envelope.layout == Layout::NATIVE;
    match runs.get(0).and_then(|run| Some((run, other_width(run)?))) {
        Some((run, kind)) if !native => run.count.saturating_mul(kind.size()),
        _ => size,
    }
}

/// The kind of a run of longs that have not the width of this machine's.
const fn other_width(run: Run) -> Option<Kind> {
    let kind = match run.shape {
        Shape::Long | Shape::NarrowLong => Kind::Long,
        Shape::NarrowUlong => Kind::Ulong,
        _ => return None,
    };
    if run.shape.size() == kind.size() { None } else { Some(kind) }
}

/// Raw data are read without their run, so longs of another width get the width that they have
/// here.
fn same_width(run: Run, runs: &mut RunList, data: Vec<u8>) -> Result<Vec<u8>, Code> {
    let Some(kind) = other_width(run) else { return Ok(data) };
    let mut native = vec![0; run.count.checked_mul(kind.size()).ok_or(Code::NoMem)?];
    let body = Body { data: &data, runs, encoding: Encoding::Default };
    Cursor::new().read(body, kind, &mut native)?;
    *runs = RunList::new();
    runs.push(kind, run.count);
    Ok(native)
}
