//! Messages that share links, against times that can be added up by hand.

use super::{Verdict, is, near};
use pvm_predict::platform::{Placement, Platform, named};
use pvm_predict::report::{Report, Unwatched};
use pvm_predict::source::{Pattern, Ranks, Shape};
use pvm_predict::{Source, Time, model};
use std::io::Cursor;

/// A byte takes 10 ns, and nothing has a head.
const SWITCH: &str = r#"
[network]
kind = "switch"
rate = "800 Mb/s"
frame = "0 B"
shortest = "0 B"
latency = "500 us"
"#;

fn run_on(source: &mut dyn Source, platform: &Platform) -> Result<Report, String> {
    let run = model::flow::run(source, platform, 1, &mut Unwatched);
    let report = run.map_err(|error| error.to_string())?;
    match report.stations.iter().find(|station| station.total() != station.execution) {
        Some(station) => Err(format!("times do not sum up: {station:?}")),
        None => Ok(report),
    }
}

fn run(text: &str, platform: &str) -> Result<Report, String> {
    let platform = Platform::parse(platform).map_err(|error| error.to_string())?;
    let source = Ranks::new(vec![Cursor::new(text)], 1e9);
    run_on(&mut source.map_err(|error| error.to_string())?, &platform)
}

/// Three senders fill the cable of their receiver; each of them has a third of it.
pub(crate) fn three_share_the_way_in() -> Verdict {
    let text = "0 recv 1 0 100000\n0 recv 2 0 100000\n0 recv 3 0 100000\n\
                1 send 0 0 100000\n2 send 0 0 100000\n3 send 0 0 100000\n";
    // 3 * 100000 bytes at 10 ns, and both cables' 500 us.
    is("three into one", run(text, SWITCH)?.time, Time::microseconds(4_000))
}

/// A flow that is held up elsewhere leaves the rest of a cable to others.
pub(crate) fn a_flow_takes_what_others_leave() -> Verdict {
    let text = "0 send 1 0 300000\n0 send 2 0 300000\n0 send 3 0 300000\n4 send 3 1 300000\n\
                1 recv 0 0 300000\n2 recv 0 0 300000\n3 recv 4 1 300000\n";
    let report = run(text, SWITCH)?;
    // Out of host 0 each has a third; into host 3 two thirds are left.
    is("two thirds", report.stations[3].execution, Time::microseconds(4_500 + 1_000))?;
    is("a third", report.stations[1].execution, Time::microseconds(9_000 + 1_000))
}

/// One cable for all: two pairs have half of it each.
pub(crate) fn all_share_one_cable() -> Verdict {
    let cable = "[network]\nkind = \"cable\"\nrate = \"10 Mb/s\"\n";
    let two = "0 send 1 0 1000000\n1 recv 0 0 1000000\n2 send 3 0 1000000\n3 recv 2 0 1000000\n";
    let one = "0 send 1 0 1000000\n1 recv 0 0 1000000\n";
    let (one, two) = (run(one, cable)?.time.seconds(), run(two, cable)?.time.seconds());
    near("two pairs to one", two / one, 2.0, 1e-3)
}

/// A sender goes on once no more than its buffer is under way.
pub(crate) fn a_sender_waits_for_its_buffer() -> Verdict {
    let tcp = "[transport]\nkind = \"tcp\"\nsend_buffer = \"400 kB\"\n";
    let text = "0 send 1 0 1000000\n0 send 1 0 100000\n1 recv 0 0 1000000\n1 recv 0 0 100000\n";
    let platform = format!("{SWITCH}{tcp}");
    let report = run(text, &platform)?;
    let byte = Platform::parse(&platform).map_err(|error| error.to_string())?.line().byte / 1e12;
    // Of 1.1 MB all but 400 kB are through when the second send ends.
    near("the sender", report.stations[0].execution.seconds(), 700_000.0 * byte, 1e-6)?;
    let whole = 1_100_000.0 * byte + 1e-3;
    near("the receiver", report.stations[1].execution.seconds(), whole, 1e-3)
}

/// Messages of a byte behind a full buffer cross once each.
pub(crate) fn a_byte_behind_a_full_buffer_crosses_once() -> Verdict {
    let tcp = "[transport]\nkind = \"tcp\"\nsegment = \"88 B\"\nsend_buffer = \"176 B\"\n";
    let platform = format!("{SWITCH}{tcp}");
    let (count, mut text) = (2_000, String::new());
    for (task, call, other) in [(0, "send", 1), (1, "recv", 0)] {
        text.extend((0..count).map(|_| format!("{task} {call} {other} 0 1\n")));
    }
    let byte = Platform::parse(&platform).map_err(|error| error.to_string())?.line().byte / 1e12;
    let time = run(&text, &platform)?.time.seconds();
    near("two thousand bytes", time - 1e-3, f64::from(count) * byte, 1e-3)
}

/// If nothing is shared, a flow is a line.
pub(crate) fn a_ring_is_the_same_on_lines() -> Verdict {
    let platform = Platform::parse(SWITCH).map_err(|error| error.to_string())?;
    let ring = || Pattern::new(Shape::Ring, 7, 20, 12_345, Time::microseconds(77));
    let mut source = ring().map_err(|error| error.to_string())?;
    let flow = run_on(&mut source, &platform)?.time;
    let mut source = ring().map_err(|error| error.to_string())?;
    let (line, place) = ((platform.line(), platform.host), Placement::Each);
    let line = model::line::run_placed(&mut source, line, &place, &mut Unwatched);
    let line = line.map_err(|error| error.to_string())?.time;
    near("flow to line", flow.seconds(), line.seconds(), 1e-9)
}

/// A machine of the published table has its links: messages of an iPSC/860 that cross one link of
/// the hypercube share it, and on a Paragon's grid two rows do not meet.
pub(crate) fn rows_of_the_table_have_their_links() -> Verdict {
    let both = "0 send 3 0 1000000\n1 send 3 1 1000000\n2 compute 0\n3 recv 0 0 1000000\n3 recv 1 \
                1 1000000\n";
    let apart = "0 send 1 0 1000000\n1 recv 0 0 1000000\n2 send 3 0 1000000\n3 recv 2 0 1000000\n";
    for (name, text, times) in
        [("intel-ipsc-860", both, 2.0), ("intel-paragon-osf", apart, 1.0), ("sgi", apart, 2.0)]
    {
        let platform = named(name).ok_or("it is built in")?;
        let source = Ranks::new(vec![Cursor::new(text)], 1e9);
        let mut source = source.map_err(|error| error.to_string())?;
        let took = run_on(&mut source, &platform)?.time.seconds();
        let line = platform.line();
        let one = line.time_of(1_000_000).seconds();
        near(name, took - line.latency.seconds(), times * one, 1e-6)?;
    }
    Ok(())
}
