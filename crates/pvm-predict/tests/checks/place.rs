//! Several tasks on a host: its cores are shared, and messages go through its memory.

use super::{Verdict, is};
use pvm_predict::platform::{Host, Placement, Platform, named};
use pvm_predict::report::{Report, Unwatched};
use pvm_predict::source::Ranks;
use pvm_predict::what_if::{Change, Lighter};
use pvm_predict::{Time, model};
use std::io::Cursor;

fn run(text: &str, platform: &Platform) -> Result<Report, String> {
    let source = Ranks::new(vec![Cursor::new(text)], 1e9);
    let mut source = source.map_err(|error| error.to_string())?;
    let run = model::packet::run(&mut source, platform, 1, &mut Unwatched);
    let report = run.map_err(|error| error.to_string())?;
    let uneven = report.stations.iter().find(|station| station.total() != station.execution);
    match uneven {
        Some(station) => Err(format!("times do not sum up: {station:?}")),
        None => Ok(report),
    }
}

fn on(place: &str, cores: u32, computers: Option<u32>) -> Result<Platform, String> {
    let mut platform = named("switch-1000").ok_or("it is built in")?;
    platform.place = Placement::parse(place)?;
    platform.host = Host { cores: Some(cores), computers, ..Host::default() };
    Ok(platform)
}

const FOUR: &str = "0 compute 1000\n1 compute 1000\n2 compute 1000\n3 compute 1000\n";

/// Four tasks that compute for a microsecond, on two cores.
pub(crate) fn tasks_share_the_cores_of_their_host() -> Verdict {
    for (place, cores, computers, expected) in [
        ("each", 1, None, 1),
        ("block:4", 4, None, 1),
        ("block:4", 2, None, 2),
        ("round:2", 1, None, 2),
        ("0,1,1,1", 1, None, 3),
        // Four hosts that are namespaces of one computer.
        ("each", 1, Some(1), 4),
        ("each", 2, Some(1), 2),
    ] {
        let report = run(FOUR, &on(place, cores, computers)?)?;
        is(&format!("{place} on {cores}"), report.time, Time::microseconds(expected))?;
    }
    Ok(())
}

/// Through memory: a microsecond, and 200 ps a byte; the second one does not overtake the first.
pub(crate) fn a_message_stays_on_its_host() -> Verdict {
    let text = "0 send 1 0 1000000\n0 send 1 0 0\n1 recv 0 0 1000000\n1 recv 0 0 0\n";
    let report = run(text, &on("block:2", 2, None)?)?;
    is("two of one host", report.time, Time::microseconds(201))?;
    is("nothing was on the network", report.stations[0].net, Time::ZERO)
}

/// Factors change what they name, and no more.
pub(crate) fn factors_change_what_they_name() -> Verdict {
    let platform = on("each", 1, None)?;
    let change = Change { speed: 4.0, ..Change::default() };
    let changed = change.of(&platform).map_err(|error| error.to_string())?;
    is("four times as fast", run(FOUR, &changed)?.time, Time::nanoseconds(250))?;
    let text = "0 send 1 0 1000000\n1 recv 0 0 1000000\n";
    let slow = Change { rate: 0.1, ..Change::default() };
    let slow = run(text, &slow.of(&platform).map_err(|error| error.to_string())?)?;
    let hundred = run(text, &named("switch-100").ok_or("it is built in")?)?;
    is("a tenth of the rate", slow.time, hundred.time)?;
    let source = Ranks::new(vec![Cursor::new(text)], 1e9);
    let mut source = source.map_err(|error| error.to_string())?;
    let host = Host { send: Time::microseconds(100), ..Host::default() };
    let heavy = Platform { host, ..platform };
    let light = Change { overhead: 0.1, ..Change::default() };
    let light = light.of(&heavy).map_err(|error| error.to_string())?;
    let mut lighter = Lighter::new(&mut source, 0.1);
    let run = model::packet::run(&mut lighter, &light, 1, &mut Unwatched);
    let report = run.map_err(|error| error.to_string())?;
    is("a tenth of a call", report.stations[0].sending, Time::microseconds(10))
}

/// Each send and receive takes longer by chance, up to a bound: other times with each seed, and the
/// same ones with the same seed.
pub(crate) fn jitter_differs_by_seed_alone() -> Verdict {
    let mut platform = named("switch-1000").ok_or("it is built in")?;
    let text =
        "0 send 1 0 10\n0 recv 1 0 10\n".repeat(50) + &"1 recv 0 0 10\n1 send 0 0 10\n".repeat(50);
    let mut at = |jitter: u64, seed: u64| -> Result<Time, String> {
        platform.host.jitter = Time::microseconds(jitter);
        let source = Ranks::new(vec![Cursor::new(text.as_str())], 1e9);
        let mut source = source.map_err(|error| error.to_string())?;
        let run = model::packet::run(&mut source, &platform, seed, &mut Unwatched);
        run.map(|report| report.time).map_err(|error| error.to_string())
    };
    let (plain, some, same, other) = (at(0, 1)?, at(20, 1)?, at(20, 1)?, at(20, 2)?);
    is("one seed, one time", some, same)?;
    // 200 calls, each 10 us longer on average.
    let longer = some.since(plain).seconds();
    if (1.6e-3..2.4e-3).contains(&longer) && some != other {
        Ok(())
    } else {
        Err(format!("{longer:.6} s longer; another seed {other}, this one {some}"))
    }
}
