//! `pvm predict calibrate` on a machine of its own.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/folder.rs"]
mod folder;
#[path = "support/place.rs"]
mod place;

use folder::Folder;
use place::Place;
use serde_json::Value;
use std::process::{Output, Stdio};
use std::time::Duration;
use testbed::eventually;

fn machine(hosts: &str) -> Place {
    let place = Place::new();
    let up = place.command(&["up", "--local", hosts]).output().unwrap();
    assert!(up.status.success(), "{}", String::from_utf8_lossy(&up.stderr));
    place
}

fn calibrate(place: &Place, args: &[&str]) -> Output {
    place.command(&[&["predict", "calibrate"], args].concat()).output().unwrap()
}

fn refused(place: &Place, args: &[&str]) -> String {
    let output = calibrate(place, args);
    assert!(!output.status.success(), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Two hosts of one computer. How long messages take is not judged here, but everything that is
/// promised was measured, fitted and compared with the model, and the file is a platform.
#[test]
fn a_machine_is_measured_and_its_file_is_a_platform() {
    let (place, folder) = (machine("2"), Folder::new("calibrated"));
    let [lab, picture, ring] =
        ["lab.toml", "residuals.svg", "ring.ti"].map(|name| folder.file(name));
    let args = ["--seconds", "600", "--json", "-o", &lab, "--picture", &picture];
    let output = calibrate(&place, &args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let series: Vec<String> = told["messages"].as_array().unwrap().iter().map(series).collect();
    let all = [
        "direct raw",
        "memory raw",
        "daemons raw",
        "direct default",
        "memory default",
        "daemons default",
    ];
    assert_eq!(series, all);
    let streams: Vec<&str> = told["streams"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["route"].as_str().unwrap())
        .collect();
    assert_eq!(streams, ["direct", "daemons"]);
    assert!(told["exchange"]["value"].as_f64().unwrap() > 0.0);
    assert_eq!(told["processors"].as_array().unwrap().len(), 2);
    // Fifteen sizes, a stream, everybody to everybody.
    assert_eq!(told["model"].as_array().unwrap().len(), 17);
    let missing = told["not_measured"].as_array().unwrap();
    assert!(!missing.iter().any(|what| what.as_str().unwrap().contains("no time")), "{missing:?}");
    assert!(std::fs::read_to_string(&picture).unwrap().starts_with("<svg"));
    let text = std::fs::read_to_string(&lab).unwrap();
    assert_eq!(told["platform"], text);
    // Namespaces and local hosts share their computer's cores.
    assert!(text.contains("\ncomputers = 1\n"), "{text}");
    folder::printed("predict", &["generate", "ring", "--tasks", "4", "-o", &ring]);
    let predicted = folder::printed("predict", &[&ring, "--network", &lab, "--json"]);
    let predicted: Value = serde_json::from_str(&predicted).unwrap();
    assert!(predicted["seconds"].as_f64().unwrap() >= 0.01, "ten rounds of 1 ms: {predicted}");
}

/// The route and the encoding of a series that is whole: each size has tries and an interval, and
/// lines go through all of them.
fn series(of: &Value) -> String {
    let sizes = of["sizes"].as_array().unwrap();
    assert_eq!(sizes.len(), 15, "{of}");
    for size in sizes {
        let [low, seconds, high] =
            ["low", "seconds", "high"].map(|key| size[key].as_f64().unwrap());
        assert!(0.0 < low && low <= seconds && seconds <= high, "{size}");
        assert!(size["tries"].as_u64().unwrap() >= 1 && size["off"].is_f64(), "{size}");
    }
    let lines = of["lines"].as_array().unwrap();
    assert_eq!((&lines[0]["from"], &lines[lines.len() - 1]["to"]), (&1.into(), &(1 << 20).into()));
    format!("{} {}", of["route"].as_str().unwrap(), of["encoding"].as_str().unwrap())
}

#[test]
fn hosts_that_cannot_be_measured_are_refused() {
    let place = machine("1");
    let said = refused(&place, &[]);
    assert!(said.contains("one host has no network") && said.contains("pvm add HOST"), "{said}");
    let said = refused(&place, &["nowhere", "elsewhere"]);
    assert!(said.contains("nowhere: no host of this machine"), "{said}");
    let conf = place.command(&["conf", "--json"]).output().unwrap();
    let conf: Value = serde_json::from_slice(&conf.stdout).unwrap();
    let name = conf["hosts"][0]["name"].as_str().unwrap();
    assert!(refused(&place, &[name, name]).contains("is named twice"));
}

/// A part that dies ends the calibration with an error, and the other parts with it.
#[test]
fn a_part_that_dies_ends_the_calibration() {
    let place = machine("2");
    let mut child = place.command(&["predict", "calibrate", "--seconds", "600"]);
    let child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut all = Vec::new();
    let begun = eventually(Duration::from_secs(60), || {
        all = place.started();
        !all.is_empty()
    });
    assert!(begun, "no part has begun");
    assert!(place.command(&["kill", &all[0]]).output().unwrap().status.success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("has ended before its part was over"), "{said}");
    // A calibration has no trace that could be checked: its hosts are to be looked at.
    assert!(said.contains("on host ") && said.contains("pvm conf"), "{said}");
    assert!(!said.contains("predict check"), "{said}");
    assert!(eventually(Duration::from_secs(60), || place.started().is_empty()), "parts stay");
}

/// Ctrl-C ends a calibration with what was measured until then, and names the rest. An earlier one,
/// before anything was measured, has nothing to tell.
#[test]
fn an_interrupted_calibration_keeps_what_it_has() {
    let (place, folder) = (machine("2"), Folder::new("interrupted"));
    let picture = folder.file("residuals.svg");
    let mut output = interrupted(&place, &picture, Duration::ZERO);
    for doubled in 0..6 {
        if !output.stdout.is_empty() {
            break;
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("interrupted"), "{said}");
        output = interrupted(&place, &picture, Duration::from_millis(500 << doubled));
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let told: Value = serde_json::from_slice(&output.stdout).expect(&said);
    let list = |key: &str| told[key].as_array().unwrap().clone();
    assert!(!list("calls").is_empty() || !list("messages").is_empty(), "{told}");
    let missing = list("not_measured");
    let is_named = |what: &Value| what.as_str().unwrap().ends_with(": interrupted");
    assert!(missing.iter().any(is_named), "{missing:?}");
    // Without a stream there is no platform, and the command says so.
    assert_eq!(told["platform"].is_null(), !output.status.success(), "{said}");
    assert!(output.status.success() || said.contains("interrupted"), "{said}");
    assert!(std::fs::read_to_string(&picture).unwrap().starts_with("<svg"));
}

/// A calibration that gets Ctrl-C a while after its parts have begun.
fn interrupted(place: &Place, picture: &str, after: Duration) -> Output {
    let args = ["predict", "calibrate", "--seconds", "600", "--json", "--picture", picture];
    let mut child = place.command(&args);
    let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    assert!(eventually(Duration::from_secs(60), || place.started().len() == 5), "no parts");
    std::thread::sleep(after);
    let pid = rustix::process::Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(eventually(Duration::from_secs(60), || place.started().is_empty()), "parts stay");
    output
}
