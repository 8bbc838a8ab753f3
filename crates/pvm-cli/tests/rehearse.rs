//! `pvm predict rehearse` on a machine of its own.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/folder.rs"]
mod folder;
#[path = "support/place.rs"]
mod place;

use folder::Folder;
use place::Place;
use serde_json::Value;
use std::fs;
use std::process::Output;
use std::time::Duration;
use testbed::eventually;

/// A machine with two hosts, and a folder.
fn machine(name: &str) -> (Place, Folder) {
    let place = Place::new();
    let up = place.command(&["up", "--local", "2"]).output().unwrap();
    assert!(up.status.success(), "{}", String::from_utf8_lossy(&up.stderr));
    (place, Folder::new(name))
}

fn rehearse(place: &Place, args: &[&str]) -> Output {
    place.command(&[&["predict", "rehearse"], args].concat()).output().unwrap()
}

fn told(place: &Place, args: &[&str]) -> Value {
    let output = rehearse(place, &[args, &["--json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Four tasks on two hosts compute 10 ms in each of five rounds, and exchange messages that fill
/// lanes and that do not.
#[test]
fn a_pattern_is_rehearsed_over_either_route() {
    let (place, folder) = machine("rehearsed");
    let ranks = folder.file("exchange.ti");
    for bytes in ["0", "100", "300000"] {
        let make = ["exchange", "--tasks", "4", "--rounds", "5", "--compute", "10000"];
        let more = ["--bytes", bytes, "-o", &ranks];
        folder::printed("predict", &[&["generate"], &make[..], &more[..]].concat());
        for route in [&[][..], &["--routed"]] {
            let told = told(&place, &[&[ranks.as_str()], route].concat());
            assert_eq!(told["tasks"].as_array().unwrap().len(), 4);
            for task in told["tasks"].as_array().unwrap() {
                let (slept, all) = (task["slept"].as_f64(), task["seconds"].as_f64());
                assert!(slept.unwrap() >= 0.0498 && all >= slept, "{told}");
            }
        }
        fs::remove_file(&ranks).unwrap();
    }
}

/// Lines of the thesis take bytes, not messages: two receives share a message, one takes two.
#[test]
fn receives_of_bytes_take_parts_of_messages() {
    let (place, folder) = machine("bytes");
    let stations = folder.0.join("stations");
    fs::create_dir(&stations).unwrap();
    fs::write(stations.join("station.0"), "c 1000 0 0\ns 10 48 0 1\ns 10 20 0 1\n").unwrap();
    fs::write(stations.join("station.1"), "r 10 16 0 1\nr 10 42 0 1\nr 10 10 0 1\n").unwrap();
    let told = told(&place, &[stations.to_str().unwrap()]);
    assert_eq!(told["tasks"].as_array().unwrap().len(), 2);
}

#[test]
fn what_does_not_start_or_dies_is_told() {
    let (place, folder) = machine("dies");
    let ranks = folder.file("long.ti");
    fs::write(&ranks, "0 compute 60000000000\n1 compute 60000000000\n").unwrap();
    let output = rehearse(&place, &[&ranks, "--on", "nowhere"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("does not start on nowhere"), "{said}");
    let mut child = place.command(&["predict", "rehearse", &ranks]);
    let child = child.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut parts = Vec::new();
    let all_run = eventually(Duration::from_secs(60), || {
        parts = place.started();
        parts.len() == 2
    });
    assert!(all_run, "{parts:?}");
    let last = parts.pop().unwrap();
    assert!(place.command(&["kill", &last]).output().unwrap().status.success());
    let said = child.wait_with_output().unwrap();
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("has ended before its part was over"), "{said}");
    assert!(eventually(Duration::from_secs(60), || place.started().is_empty()), "parts stay");
}

/// A hostile trace ends with an error that names the fault, before any task is started.
#[test]
fn a_trace_that_cannot_be_played_is_refused_before_it_begins() {
    let (place, folder) = machine("hostile");
    let flood = "0 send 1 0 1000000000\n".repeat(9) + &"1 recv 0 0 1000000000\n".repeat(9);
    let circle = "0 recv 1 0 1\n0 send 1 0 1\n1 recv 0 0 1\n1 send 0 0 1\n";
    let many: String = (0..1_025).map(|task| format!("{task} compute 1\n")).collect();
    for (name, text, told) in [
        ("nothing sent", "0 recv 1 0 1\n1 compute 1\n", "task 0 waits for task 1"),
        ("circle", circle, "standstill: 2 tasks wait"),
        ("flood", &flood, "4096 MiB would wait"),
        (
            "long",
            "0 send 1 0 1000000000000\n1 recv 0 0 1000000000000\n",
            "sends 1073741824 at most",
        ),
        ("nobody", "0 send 7 0 1\n", "7"),
        ("many", &many, "1025 tasks are more than 1024"),
        ("words", "0 flies 1\n", "flies"),
        ("below none", "0 compute -5\n", "-5"),
        ("no number", "0 send 1 0 NaN\n1 recv 0 0 1\n", "NaN"),
    ] {
        let file = folder.file(&format!("{name}.ti"));
        fs::write(&file, text).unwrap();
        let output = rehearse(&place, &[&file]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(told), "{name}: {said}");
    }
    assert_eq!(place.started(), Vec::<String>::new());
}
