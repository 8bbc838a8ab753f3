//! Links with routes, cells, a token ring and a crossbar, against times that can be added up by
//! hand and against published efficiencies.

use super::{Verdict, is, near, packets};
use pvm_predict::link::cells::{self, Cells};
use pvm_predict::link::fddi::{self, Fddi};
use pvm_predict::link::hippi::{self, Hippi};
use pvm_predict::link::port::{self, Output};
use pvm_predict::link::{Frame, Link};
use pvm_predict::platform::Platform;
use pvm_predict::report::{Report, Unwatched};
use pvm_predict::source::Ranks;
use pvm_predict::{Rate, Time, model};
use std::collections::BTreeSet;
use std::io::Cursor;

/// 10 Mb/s; frames and segments have nothing beside their data, so 1000 bytes take 800 us on each
/// link.
fn run(network: &str, text: &str) -> Result<Report, String> {
    let file = format!(
        "[network]\nrate = \"10 Mb/s\"\n{network}\n[transport]\nkind = \"tcp\"\ncongestion = \
         \"reno\"\nsegment = \"1000 B\"\nheader = \"0 B\"\ntick = \"0 s\"\n"
    );
    let platform = Platform::parse(&file).map_err(|error| error.to_string())?;
    packets(&platform, text)
}

fn on_switch(network: &str, text: &str) -> Result<Report, String> {
    run(&format!("kind = \"switch\"\nframe = \"0 B\"\nshortest = \"0 B\"\n{network}"), text)
}

/// Tasks 0 to `tasks` - 1, of which two exchange a segment.
fn segment(tasks: u32, from: u32, to: u32) -> String {
    let others: String = (0..tasks).map(|task| format!("{task} compute 0\n")).collect();
    format!("{others}{from} send {to} 0 1000\n{to} recv {from} 0 1000\n")
}

/// The second link begins when the frame's head is there: 22 bytes, 17.6 us.
pub(crate) fn a_switch_cuts_through() -> Verdict {
    let text = segment(2, 0, 1);
    let cut = on_switch("forwarding = \"cut-through\"", &text)?;
    is("cut through", cut.time, Time::nanoseconds(817_600))?;
    is("stored", on_switch("", &text)?.time, Time::microseconds(1_600))
}

/// A frame is on one link after the other, each with its latency.
pub(crate) fn each_link_of_a_route_takes_its_time() -> Verdict {
    for (network, tasks, to, links) in [
        ("topology = \"ring\"", 8, 3, 3),
        ("topology = \"ring\"", 8, 6, 2),
        ("topology = \"hypercube\"", 8, 7, 3),
        ("topology = \"mesh\"\nshape = \"4x4\"", 16, 15, 6),
        ("topology = \"torus\"\nshape = \"4x4\"", 16, 15, 2),
        ("topology = \"torus\"\nshape = \"3x3x3\"", 27, 26, 3),
        ("topology = \"fat-tree\"", 17, 3, 2),
        ("topology = \"fat-tree\"", 17, 15, 4),
        ("topology = \"fat-tree\"", 17, 16, 6),
    ] {
        let network = format!("{network}\nlatency = \"7 us\"");
        let took = on_switch(&network, &segment(tasks, 0, to))?.time;
        is(&network, took, Time::microseconds(807 * links))?;
    }
    Ok(())
}

/// From 0 to 3 of a hypercube by way of 1, whose own frames are in front.
pub(crate) fn the_lowest_bit_goes_first() -> Verdict {
    let text = "0 send 3 0 1000\n1 send 3 1 2000\n2 compute 0\n3 recv 0 0 1000\n3 recv 1 1 2000\n";
    let took = on_switch("topology = \"hypercube\"", text)?.time;
    is("behind two frames", took, Time::microseconds(800 * 3))
}

/// Four hosts below one switch send to four below another one: no link carries two frames. With a
/// fourth of the links upwards, one link carries all four.
pub(crate) fn a_fat_tree_carries_all_that_crosses_it() -> Verdict {
    let text: String = (0..4)
        .map(|task| format!("{task} send {0} 0 1000\n{0} recv {task} 0 1000\n", task + 4))
        .collect();
    let whole = on_switch("topology = \"fat-tree\"", &text)?.time;
    is("side by side", whole, Time::microseconds(800 * 4))?;
    let thin = on_switch("topology = \"fat-tree\"\ntaper = 4", &text)?.time;
    is("one after the other", thin, Time::microseconds(800 * 7))
}

/// Two pairs have half of a bus each.
pub(crate) fn a_bus_carries_one_frame_at_a_time() -> Verdict {
    let text = segment(2, 0, 1) + "2 send 3 0 1000\n3 recv 2 0 1000\n";
    is("one link", on_switch("topology = \"bus\"", &text)?.time, Time::microseconds(1_600))
}

/// 1000 bytes and 16 of AAL5 and LLC are 22 cells, of which the switch forwards each when it is
/// there: 23 times 42.4 us.
pub(crate) fn a_packet_is_cut_into_cells() -> Verdict {
    is("bytes", cells::length(1000), 22 * 53)?;
    is("a whole cell", cells::length(32), 53)?;
    let took = run("kind = \"atm\"", &segment(2, 0, 1))?.time;
    is("cut into cells", took, Time::nanoseconds(23 * 42_400))
}

const CELL: u64 = 42_400_000;

fn cells(queue: u64) -> Link {
    let (rate, latency) = (Rate::megabits(10), Time::ZERO);
    Link::Cells(Cells::new(port::Rules { rate, latency, queue, burst: None, late: Time::ZERO }))
}

/// The first of two packets of 22 cells leaves with the 43rd cell, and not with the 22nd.
pub(crate) fn cells_of_two_packets_alternate() -> Verdict {
    let frame = |token| (Time::ZERO, Frame { token, from: token, to: 9, bytes: 22 * 53 });
    let ends = carried(&mut cells(256_000), &[frame(0), frame(1)]);
    is("packets", ends, vec![Some(Time(43 * CELL)), Some(Time(44 * CELL))])
}

/// A queue of two cells: of three packets that come at once two lose cells.
pub(crate) fn a_lost_cell_takes_its_packet_with_it() -> Verdict {
    let frame = |token| (Time::ZERO, Frame { token, from: token, to: 9, bytes: 22 * 53 });
    let ends = carried(&mut cells(2 * 53), &[frame(0), frame(1), frame(2)]);
    is("packets that crossed", ends.iter().flatten().count() < 3, true)?;
    is(
        "all of them, one after the other",
        {
            let late = |token: u32| (Time(u64::from(token) * 30 * CELL), frame(token).1);
            carried(&mut cells(2 * 53), &[late(0), late(1), late(2)]).iter().flatten().count()
        },
        3,
    )
}

/// Runs frames through a link: when each arrives.
fn carried(link: &mut Link, frames: &[(Time, Frame)]) -> Vec<Option<Time>> {
    let mut ends = vec![None; frames.len()];
    let mut wakes = BTreeSet::new();
    let mut frames = frames.iter().peekable();
    loop {
        while let Some(output) = link.poll_output() {
            match output {
                Output::Wake(at) => drop(wakes.insert(at)),
                Output::Dropped { .. } => (),
                Output::Sent { token, arrives, .. } => ends[token as usize] = Some(arrives),
            }
        }
        let wake = wakes.first().copied();
        match frames.peek() {
            Some((at, frame)) if wake.is_none_or(|wake| *at <= wake) => {
                link.handle(*at, *frame);
                frames.next();
            }
            _ => match wakes.pop_first() {
                Some(wake) => link.handle_timeout(wake),
                None => return ends,
            },
        }
    }
}

const TARGET: Time = Time::microseconds(5_000);

fn ring(stations: usize) -> Link {
    let (rate, latency) = (Rate::megabits(100), Time::microseconds(20));
    let rules = fddi::Rules { rate, latency, target: TARGET, queue: u64::MAX };
    Link::Ring(Box::new(Fddi::new(rules, stations)))
}

/// Jain, *Performance analysis of FDDI token ring networks* (1990): n stations that always have
/// frames use n (T - D) / (n T + D) of the ring, with a target time T and a latency D of the ring.
pub(crate) fn a_token_ring_as_published() -> Verdict {
    for stations in [1, 3, 10, 30] {
        let (bytes, each) = (100, 20_000);
        let mut frames = Vec::new();
        for token in 0..stations * each {
            let from = token % stations;
            let frame = Frame { token, from, to: (from + 1) % stations, bytes };
            frames.push((Time::ZERO, frame));
        }
        let ends = carried(&mut ring(stations as usize), &frames);
        // Half of all frames: no station has run out of them by then.
        let mut ends: Vec<Time> = ends.into_iter().flatten().collect();
        ends.sort_unstable();
        let half = ends.len() / 2;
        let used = half as f64 * 8e-6 / ends[half].seconds();
        let (n, target) = (f64::from(stations), TARGET.seconds());
        // The token itself takes 0.88 us wherever it is taken from the ring.
        let latency = n * 20.88e-6;
        let expected = n * (target - latency) / (n * target + latency);
        near(&format!("{stations} stations"), used, expected, 0.01)?;
    }
    Ok(())
}

/// The token of an idle ring of 10 stations comes within a round of 200 us, whenever it is wanted.
pub(crate) fn a_token_that_nobody_wants_comes_in_time() -> Verdict {
    for (token, micro) in [3, 1_234, 777_777, 9_999_999].into_iter().enumerate() {
        let at = Time::microseconds(micro);
        let frame = Frame { token: 0, from: 7, to: 9, bytes: 1_250 };
        let ends = carried(&mut ring(10), &[(at, frame)]);
        let Some(end) = ends[0] else { return Err(format!("frame {token} is lost")) };
        // Station 7 has the token at 140 us, 340 us ...
        let wait = (140 + 200_000_000 - micro) % 200;
        is(&format!("at {at}"), end, at + Time::microseconds(wait + 100 + 2 * 20))?;
    }
    Ok(())
}

/// On a ring without length the token is everywhere, and a frame goes at once.
pub(crate) fn a_token_on_a_ring_without_length_waits() -> Verdict {
    let rules = fddi::Rules {
        rate: Rate::megabits(100),
        latency: Time::ZERO,
        target: Time::microseconds(8_000),
        queue: u64::MAX,
    };
    let mut ring = Link::Ring(Box::new(Fddi::new(rules, 4)));
    let at = [Time::microseconds(5), Time::microseconds(900_000)];
    let frame = |token, at| (at, Frame { token, from: 1, to: 3, bytes: 1_250 });
    let ends = carried(&mut ring, &[frame(0, at[0]), frame(1, at[1])]);
    for (end, at) in ends.into_iter().zip(at) {
        is("a frame", end, Some(at + Time::microseconds(100)))?;
    }
    Ok(())
}

/// Karol, Hluchyj and Morgan (1987): a crossbar whose sources wait with their first packet carries
/// 0.75 (2 hosts), 0.6553 (4), 0.6184 (8) of what its links could.
pub(crate) fn a_crossbar_as_published() -> Verdict {
    for (hosts, expected) in [(2u32, 0.75), (4, 0.6553), (8, 0.6184)] {
        let (rate, latency, setup) = (Rate::megabits(800), Time::ZERO, Time::ZERO);
        let rules = hippi::Rules { rate, latency, setup, queue: u64::MAX };
        let mut crossbar = Link::Crossbar(Box::new(Hippi::new(rules, hosts as usize)));
        let (mut random, mut frames) = (1u64, Vec::new());
        for token in 0..hosts * 20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let to = (random >> 33) as u32 % hosts;
            frames.push((Time::ZERO, Frame { token, from: token % hosts, to, bytes: 1_000 }));
        }
        let mut ends: Vec<Time> = carried(&mut crossbar, &frames).into_iter().flatten().collect();
        ends.sort_unstable();
        let half = ends.len() / 2;
        let slots = ends[half].seconds() / 10e-6;
        near(&format!("{hosts} hosts"), half as f64 / slots / f64::from(hosts), expected, 0.015)?;
    }
    Ok(())
}

/// 1000 bytes are 250 words in a burst, with two behind it: 10.08 us at 800 Mb/s, behind 5 us for
/// the connection.
pub(crate) fn a_connection_takes_its_time() -> Verdict {
    is("two bursts", hippi::length(1_025), 1_028 + 16)?;
    let file = "[network]\nkind = \"hippi\"\nrate = \"800 Mb/s\"\nsetup = \"5 us\"\nlatency = \"1 \
                us\"\n[transport]\nkind = \"tcp\"\nsegment = \"1000 B\"\nheader = \"0 B\"\n";
    let platform = Platform::parse(file).map_err(|error| error.to_string())?;
    let text = segment(2, 0, 1);
    let source = Ranks::new(vec![Cursor::new(text.as_str())], 1e9);
    let mut source = source.map_err(|error| error.to_string())?;
    let run = model::packet::run(&mut source, &platform, 1, &mut Unwatched);
    let report = run.map_err(|error| error.to_string())?;
    is("it takes", report.time, Time::nanoseconds(16_080))
}
