//! Patterns of messages on rings, grids, hypercubes, trees and a bus, against closed forms.

use super::{Verdict, is, near, packets};
use pvm_predict::platform::Platform;
use pvm_predict::report::Unwatched;
use pvm_predict::source::Ranks;
use pvm_predict::{Time, model};
use std::fmt::Write as _;
use std::io::Cursor;

/// 10 Mb/s, nothing beside the data: 1000 bytes take 800 us on each link.
fn platform(topology: &str) -> Result<Platform, String> {
    let file = format!(
        "[network]\nkind = \"switch\"\nrate = \"10 Mb/s\"\nframe = \"0 B\"\nshortest = \"0 \
         B\"\ntopology = {topology}\n[transport]\nkind = \"tcp\"\ncongestion = \"reno\"\nsegment = \
         \"1000 B\"\nheader = \"0 B\"\ntick = \"0 s\"\nsend_buffer = \"10 MB\"\n"
    );
    Platform::parse(&file).map_err(|error| error.to_string())
}

/// Each task sends `bytes` to each of `to`, and takes what others send to it.
fn exchange(tasks: u32, bytes: u64, to: impl Fn(u32) -> Vec<u32>) -> String {
    let mut text: String = (0..tasks).map(|task| format!("{task} compute 0\n")).collect();
    for (from, to) in (0..tasks).flat_map(|from| to(from).into_iter().map(move |to| (from, to))) {
        let _ = writeln!(text, "{from} send {to} 0 {bytes}");
    }
    for (from, to) in (0..tasks).flat_map(|from| to(from).into_iter().map(move |to| (from, to))) {
        let _ = writeln!(text, "{to} recv {from} 0 {bytes}");
    }
    text
}

/// The messages on the busiest link when each of `n` hosts sends one to each other one.
///
/// Of a ring of n, even, whose messages to the opposite host all go upwards: 1 + ... + n / 2. Of a
/// torus k x k: k such rings' each, as the messages of k hosts cross a line. Of a mesh k x k: what
/// crosses the middle of a line, for each of the k others in the other dimension. Of a hypercube:
/// n / 2. Of a whole fat tree, and of a switch: those of one host. Of a tree with t times fewer
/// links upwards: all that leaves c hosts, on c / t links.
fn busiest(topology: &str, n: u64) -> Result<u64, String> {
    let k = n.isqrt();
    let ring = |n: u64| (n / 2) * (n / 2 + 1) / 2;
    Ok(match topology {
        "\"ring\"" => ring(n),
        "\"torus\"\nshape = \"4x4\"" => k * ring(k),
        "\"mesh\"\nshape = \"4x4\"" => k * (k / 2) * k.div_ceil(2),
        "\"hypercube\"" => n / 2,
        "\"fat-tree\"" | "\"star\"" => n - 1,
        "\"fat-tree\"\ntaper = 4" => 4 * (n - 4),
        "\"bus\"" => n * (n - 1),
        _ => return Err(format!("no closed form of {topology}")),
    })
}

const SHAPES: [&str; 8] = [
    "\"star\"",
    "\"bus\"",
    "\"ring\"",
    "\"hypercube\"",
    "\"mesh\"\nshape = \"4x4\"",
    "\"torus\"\nshape = \"4x4\"",
    "\"fat-tree\"",
    "\"fat-tree\"\ntaper = 4",
];

/// Everybody to everybody at depth `flow`: each flow has at least its share of the busiest link, so
/// all end when that link has carried its messages, and not before.
pub(crate) fn everybody_to_everybody_on_every_shape() -> Verdict {
    let tasks = 16;
    let text = exchange(tasks, 100_000, |own| (0..tasks).filter(|to| *to != own).collect());
    for topology in SHAPES {
        let platform = platform(topology)?;
        let source = Ranks::new(vec![Cursor::new(text.as_str())], 1e9);
        let mut source = source.map_err(|error| error.to_string())?;
        let run = model::flow::run(&mut source, &platform, 1, &mut Unwatched);
        let took = run.map_err(|error| error.to_string())?.time.seconds();
        let byte = platform.line().byte / 1e12;
        let expected = busiest(topology, u64::from(tasks))? as f64 * 100_000.0 * byte;
        near(topology, took, expected, 1e-6)?;
    }
    Ok(())
}

/// A pattern: the shape, the number of tasks, the receivers of a task, and the links of the longest
/// way.
type Form = (&'static str, u32, fn(u32) -> Vec<u32>, u64);

/// Patterns in which no two packets of one moment want the same link: a packet for each link of the
/// longest way.
///
/// To the complement of one's number, all cross dimension after dimension of a hypercube. A
/// distance of less than half a ring is that many steps, in which each link carries a packet. On
/// lines of a grid that is so upwards.
pub(crate) fn permutations_without_a_meeting() -> Verdict {
    let forms: [Form; 6] = [
        ("\"hypercube\"", 16, |own| vec![own ^ 15], 4),
        ("\"hypercube\"", 64, |own| vec![own ^ 63], 6),
        ("\"ring\"", 9, |own| vec![(own + 4) % 9], 4),
        ("\"ring\"", 9, |own| vec![(own + 5) % 9], 4),
        ("\"torus\"\nshape = \"5x5\"", 25, |own| vec![own / 5 * 5 + (own + 2) % 5], 2),
        ("\"fat-tree\"", 64, |own| vec![(own + 32) % 64], 6),
    ];
    for (topology, tasks, to, links) in forms {
        let took = packets(&platform(topology)?, &exchange(tasks, 1_000, to))?.time;
        is(topology, took, Time::microseconds(800 * links))?;
    }
    Ok(())
}

/// From (0, 0) to (2, 1) of a grid by way of (1, 0), whose own two packets for (2, 0) are in front.
pub(crate) fn the_first_dimension_goes_first() -> Verdict {
    let text = "0 send 6 0 1000\n1 send 2 1 2000\n2 recv 1 1 2000\n3 compute 0\n4 compute 0\n5 \
                compute 0\n6 recv 0 0 1000\n";
    for topology in ["\"mesh\"\nshape = \"4x4\"", "\"torus\"\nshape = \"4x4\""] {
        let took = packets(&platform(topology)?, text)?.time;
        is(topology, took, Time::microseconds(800 * 4))?;
    }
    Ok(())
}

/// A bus carries what all send, one after the other.
pub(crate) fn a_bus_carries_all_in_turn() -> Verdict {
    for tasks in [2, 5, 9] {
        let text = exchange(tasks, 1_000, |own| vec![(own + 1) % tasks]);
        let took = packets(&platform("\"bus\"")?, &text)?.time;
        is(&format!("{tasks} hosts"), took, Time::microseconds(800 * u64::from(tasks)))?;
    }
    Ok(())
}
