//! Lines against the published table and sums that can be added up by hand.

use super::{Verdict, is, near};
use pvm_predict::platform::{Host, Line, built_in};
use pvm_predict::report::{Report, Unwatched};
use pvm_predict::source::{Pattern, Ranks, Shape};
use pvm_predict::{Time, model};
use std::io::Cursor;

fn pairs(line: Line, bytes: u64, rounds: u32) -> Result<Report, String> {
    let pattern = Pattern::new(Shape::Pairs, 2, rounds, bytes, Time::ZERO);
    let mut pattern = pattern.map_err(|error| error.to_string())?;
    let run = model::line::run(&mut pattern, line, Host::default(), &mut Unwatched);
    run.map_err(|error| error.to_string())
}

/// Each machine of table 1: half the time there and back of 0 B and of 1 MB within 1 % of its row.
pub(crate) fn the_published_table() -> Verdict {
    let mut rows = 0;
    for known in built_in() {
        let Some(row) = known.row() else { continue };
        rows += 1;
        let line = known.platform().line();
        let half = |bytes| pairs(line, bytes, 10).map(|run| run.time.seconds() / 20.0);
        near(&format!("{}, 0 B", known.name), half(0)?, row.latency * 1e-6, 0.01)?;
        let rate = 1.0 / half(1_000_000)?;
        near(&format!("{}, 1 MB", known.name), rate, row.bandwidth, 0.01)?;
    }
    is("rows", rows, 28)
}

/// LogGP: messages of one sender follow one another at its door, and the latency of all but the
/// last is hidden.
pub(crate) fn messages_follow_one_another() -> Verdict {
    let line = Line::new(Time::microseconds(100), 1e6);
    let text = "0 send 1 0 50\n0 send 1 0 50\n0 send 1 0 50\n1 recv 0 0 50\n1 recv 0 0 50\n1 recv \
                0 0 50\n";
    let mut source = Ranks::new(vec![Cursor::new(text)], 1e9).map_err(|error| error.to_string())?;
    let host =
        Host { send: Time::microseconds(7), receive: Time::microseconds(3), ..Host::default() };
    let run = model::line::run(&mut source, line, host, &mut Unwatched);
    let report = run.map_err(|error| error.to_string())?;
    is("the sender ends", report.stations[0].execution, Time::microseconds(21))?;
    is("the receiver ends", report.time, Time::microseconds(7 + 3 * 50 + 100 + 3))
}
