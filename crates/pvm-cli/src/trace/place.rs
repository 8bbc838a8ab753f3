//! Opening traces, and the files that are made of them.

use crate::failure::{Failure, Status};
use crate::show::remark;
use pvm_trace::clocks::Clocks;
use pvm_trace::{Error, Reader};
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufReader, BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// A trace that is open.
pub(super) type Trace = Reader<BufReader<File>>;

/// Opens a trace, and says what is missing of it.
pub(super) fn open(path: &Path) -> Result<Trace, Failure> {
    let file = File::open(path).map_err(|error| at(path, &error))?;
    let reader = Reader::open(BufReader::with_capacity(1 << 16, file));
    let reader = reader.map_err(|error| wrong(path, &error))?;
    if let Some(cut) = reader.cut() {
        let path = path.display();
        remark(format_args!(
            "pvm: {path} was not completed, or is still written: it is read up to byte {cut}"
        ));
    }
    Ok(reader)
}

/// The clocks of a trace.
pub(super) fn clocks(path: &Path, trace: &mut Trace, raw: bool) -> Result<Clocks, Failure> {
    if raw {
        return Ok(Clocks::raw(trace.tables()));
    }
    Clocks::find(trace).map_err(|error| wrong(path, &error))
}

/// The first begin and the last end.
pub(super) fn extent(trace: &Trace, clocks: &Clocks) -> (u64, u64) {
    let places = || trace.places().iter();
    let first = places().map(|place| clocks.time(place.task, place.summary.first)).min();
    let last = places().map(|place| clocks.time(place.task, place.summary.last)).max();
    (first.unwrap_or(0), last.unwrap_or(0))
}

/// The clocks of a trace without what their errors are: what is drawn or converted needs none.
pub(super) fn times(path: &Path, trace: &mut Trace, raw: bool) -> Result<Clocks, Failure> {
    if raw {
        return Ok(Clocks::raw(trace.tables()));
    }
    Clocks::lines(trace).map_err(|error| wrong(path, &error))
}

/// A file that only its owner may read: a trace tells what somebody's programs do.
pub(super) fn create(path: &Path) -> Result<BufWriter<File>, Failure> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
    // An old file has the rights that it had.
    let file = file.and_then(|file| {
        if file.metadata()?.is_file() {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        Ok(file)
    });
    Ok(BufWriter::with_capacity(1 << 18, file.map_err(|error| at(path, &error))?))
}

/// Runs `write` on a file, or on standard output. That nobody reads on is no failure.
pub(super) fn into(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if let Some(path) = path {
        let mut out = create(path)?;
        write(&mut out)?;
        return out.flush().map_err(|error| at(path, &error));
    }
    let mut out = Quiet { out: io::stdout().lock(), closed: false };
    let mut buffered = BufWriter::with_capacity(1 << 16, &mut out);
    write(&mut buffered)?;
    buffered.flush()?;
    Ok(())
}

/// Standard output, whose reader may have seen enough.
struct Quiet<W> {
    out: W,
    closed: bool,
}

impl<W: Write> Write for Quiet<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.closed {
            return Ok(bytes.len());
        }
        match self.out.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(bytes.len())
            }
            other => other,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.closed { Ok(()) } else { self.out.flush() }
    }
}

/// Something of the file system failed.
pub(super) fn at(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Status::Refused, format!("{}: {error}", path.display()))
}

/// Something is wrong with a trace.
pub(super) fn wrong(path: &Path, error: &Error) -> Failure {
    Failure::new(Status::Refused, format!("{}: {error}", path.display()))
}

/// Seconds of nanoseconds.
pub(super) fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

/// A time for people.
pub(super) fn time(nanoseconds: u64) -> String {
    match nanoseconds {
        0..10_000 => format!("{nanoseconds} ns"),
        10_000..10_000_000 => format!("{:.1} us", nanoseconds as f64 / 1e3),
        10_000_000..10_000_000_000 => format!("{:.1} ms", nanoseconds as f64 / 1e6),
        _ => format!("{:.1} s", nanoseconds as f64 / 1e9),
    }
}

/// Bytes for people.
pub(super) fn bytes(bytes: u64) -> String {
    match bytes {
        0..100_000 => format!("{bytes} B"),
        100_000..100_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        100_000_000..100_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
