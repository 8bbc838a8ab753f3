//! Absurd platforms: a run ends, with a result or a named error.

use pvm_predict::platform::Platform;
use pvm_predict::report::{Report, Unwatched};
use pvm_predict::source::{Pattern, Ranks, Shape};
use pvm_predict::{Error, Time, model};
use std::io::Cursor;

fn platform(network: &str, transport: &str) -> Platform {
    let text = format!("[network]\n{network}\n[transport]\n{transport}\n");
    Platform::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn run(platform: &Platform, shape: Shape, (tasks, bytes): (u32, u64)) -> Result<Report, Error> {
    let mut source = Pattern::new(shape, tasks, 1, bytes, Time::ZERO).expect("it has such tasks");
    model::packet::run(&mut source, platform, 1, &mut Unwatched)
}

/// The time of one message between two tasks.
fn stream(network: &str, transport: &str) -> Time {
    let platform = platform(network, transport);
    run(&platform, Shape::Pairs, (2, 100_000)).unwrap_or_else(|error| panic!("{error}")).time
}

#[test]
fn a_network_that_lets_nothing_through_is_told() {
    for (network, transport) in [
        ("kind = \"switch\"\nrate = \"1 Gb/s\"\nloss = 0.99", "kind = \"tcp\""),
        ("kind = \"switch\"\nrate = \"1 Gb/s\"\nlatency = \"1000000 s\"", "kind = \"tcp\""),
        ("kind = \"switch\"\nrate = \"1 b/s\"", "kind = \"tcp\""),
        ("kind = \"switch\"\nrate = \"1 Gb/s\"\nloss = 0.99", "kind = \"pvm3\""),
    ] {
        let told = run(&platform(network, transport), Shape::Ring, (3, 100_000));
        let told = told.expect_err("nothing gets through").to_string();
        assert!(told.contains("a real connection would be given up"), "{network}: {told}");
    }
}

#[test]
fn a_token_that_never_comes_in_time_is_refused() {
    let network = "kind = \"fddi\"\nrate = \"1 Gb/s\"\nlatency = \"1 ms\"\ntarget = \"100 us\"";
    let told = run(&platform(network, "kind = \"rdma\""), Shape::Ring, (3, 10));
    let told = told.expect_err("the token is always late").to_string();
    assert!(told.contains("the token takes 3.0 ms") || told.contains("3000.0 us"), "{told}");
}

/// A beat takes 10 s here, and is due each 180 ms.
#[test]
fn beats_do_not_pile_up_on_a_link_that_is_too_slow_for_them() {
    for transport in ["kind = \"rdma\"", "kind = \"tcp\"", "kind = \"pvm3\""] {
        let platform = platform(
            "kind = \"hippi\"\nrate = \"100 b/s\"",
            &format!("{transport}\nbeat = \"180 ms\""),
        );
        let text = "0 send 1 0 1\n0 compute 1000000000000\n1 recv 0 0 1\n";
        let mut source = Ranks::new(vec![Cursor::new(text)], 1e9).expect("two ranks");
        match model::packet::run(&mut source, &platform, 1, &mut Unwatched) {
            Ok(report) => assert!(report.events < 100_000, "{report:?}"),
            Err(error) => assert!(matches!(error, Error::GaveUp { .. }), "{transport}: {error}"),
        }
    }
}

#[test]
fn a_faster_link_never_makes_one_stream_slower() {
    let kinds = ["switch", "switch\"\ntopology = \"ring", "atm", "fddi", "hippi", "cable"];
    for kind in kinds {
        for transport in [
            "kind = \"tcp\"\ncongestion = \"reno\"",
            "kind = \"tcp\"\ncongestion = \"cubic\"",
            "kind = \"tcp\"",
            "kind = \"pvm3\"",
        ] {
            let mut last = Time::END;
            for rate in ["1 Mb/s", "10 Mb/s", "100 Mb/s", "1 Gb/s", "10 Gb/s", "1000000 Gb/s"] {
                if kind == "cable" && !["10 Mb/s", "100 Mb/s"].contains(&rate) {
                    continue;
                }
                let took = stream(&format!("kind = \"{kind}\"\nrate = \"{rate}\""), transport);
                assert!(took <= last, "{kind}, {transport}: {took} at {rate}, {last} below");
                last = took;
            }
        }
    }
}

#[test]
fn a_longer_cable_never_makes_one_message_faster() {
    for kind in ["switch", "atm", "fddi", "hippi"] {
        let mut last = Time::ZERO;
        for latency in ["0 s", "1 ps", "1 us", "1 ms", "1 s"] {
            if kind == "fddi" && latency == "1 s" {
                continue; // its token never comes in time
            }
            let network =
                format!("kind = \"{kind}\"\nrate = \"100 Mb/s\"\nlatency = \"{latency}\"");
            let took = stream(&network, "kind = \"tcp\"\ncongestion = \"reno\"");
            assert!(took >= last, "{kind}: {took} with {latency}, {last} with less");
            last = took;
        }
    }
}

#[test]
fn a_stencil_of_the_most_tasks_is_refused_with_its_neighbours() {
    let told = Pattern::new(Shape::Stencil, u32::MAX, 1, 1, Time::ZERO);
    let told = told.expect_err("it is no square").to_string();
    assert!(told.contains("4294836225 and 4294967296 are"), "{told}");
}
