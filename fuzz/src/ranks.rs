//! Bytes as a time-independent trace of SimGrid, which is run on a line: all ranks in one file, or,
//! divided by `|`, a file for each.

use pvm_predict::platform::{Host, Line};
use pvm_predict::report::Unwatched;
use pvm_predict::source::Ranks;
use pvm_predict::{Source as _, Time, model};
use std::io::Cursor;

pub(crate) fn run(bytes: &[u8]) {
    let files = bytes.split(|byte| *byte == b'|').map(Cursor::new);
    let Ok(mut source) = Ranks::new(files.collect(), 1e9) else { return };
    // A call of very many ranks is very many messages, and no fault.
    if source.tasks() > 64 {
        return;
    }
    let line = Line::new(Time::nanoseconds(7), 3.0);
    let Ok(report) = model::line::run(&mut source, line, Host::default(), &mut Unwatched) else {
        return;
    };
    assert!(report.stations.iter().all(|station| station.total() == station.execution));
}
