//! `pvm predict` on made traces. No machine is needed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/fields.rs"]
mod fields;
#[path = "support/folder.rs"]
mod folder;

use fields::fields;
use folder::Folder;
use serde_json::Value;
use std::process::Output;

fn pvm(args: &[&str]) -> Output {
    folder::pvm("predict", args)
}

fn done(args: &[&str]) -> String {
    folder::printed("predict", args)
}

fn refused(args: &[&str]) -> String {
    let output = pvm(args);
    assert!(!output.status.success(), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_pattern_is_made_checked_and_predicted_alike_each_time() {
    let folder = Folder::new("pattern");
    let stations = folder.file("stations");
    done(&["generate", "exchange", "--tasks", "4", "--rounds", "3", "--stations", &stations]);
    let checked: Value = serde_json::from_str(&done(&["check", &stations, "--json"])).unwrap();
    assert_eq!(checked["actions"], 4 * 3 * 7);
    let args = ["--network", "ethernet-10", "--model", "thesis", "--seeds", "3", "--json"];
    let args: Vec<&str> = [stations.as_str()].into_iter().chain(args).collect();
    let told = done(&args);
    assert_eq!(told, done(&args), "the same bytes");
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        fields(&told),
        "collisions high inputs lost low path resent seconds sections stations"
    );
    assert!(told["low"].as_f64() < told["high"].as_f64(), "{told}");
    assert_eq!(
        fields(&told["stations"][0]),
        "algorithmic blocked bytes calls computing messages net own_bytes own_messages phases receiving seconds sending service station transport"
    );
    assert_eq!(told["stations"].as_array().unwrap().len(), 4);
}

#[test]
fn packets_are_simulated_where_there_are_some() {
    let folder = Folder::new("packets");
    let ranks = folder.file("pairs.ti");
    let made = ["generate", "pairs", "--tasks", "2", "--rounds", "5", "--bytes", "65536"];
    done(&[&made[..], &["--compute", "0", "-o", &ranks]].concat());
    let told = |network: &str| -> Value {
        serde_json::from_str(&done(&[&ranks, "--network", network, "--json"])).unwrap()
    };
    let (tbf, cable, line) = (told("tbf-10"), told("ethernet-10"), told("ibm-sp-2"));
    assert_eq!(tbf["inputs"]["depth"], "packet");
    assert_eq!(line["inputs"]["depth"], "line");
    // Ten messages of 46 frames and a bit, each as long as 1514 bytes at 10 Mb/s.
    let seconds = tbf["seconds"].as_f64().unwrap();
    assert!((0.53..0.55).contains(&seconds), "{seconds}");
    assert!(cable["collisions"].as_f64() > Some(0.0), "{cable}");
}

#[test]
fn a_simulated_run_is_a_trace() {
    let folder = Folder::new("trace");
    let (ranks, trace) = (folder.file("ring.ti"), folder.file("ring.trace"));
    done(&["generate", "ring", "--tasks", "3", "--rounds", "4", "-o", &ranks]);
    done(&[&ranks, "--network", "ibm-sp-2", "--as-trace", &trace]);
    let shown = folder::printed("trace", &["profile", "--json", &trace]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["matched"], 12, "{shown}");
    // What was predicted is recorded as well, and predicts itself.
    let seconds = |file: &str| -> f64 {
        let told = done(&[file, "--network", "ibm-sp-2", "--probes", "--json"]);
        serde_json::from_str::<Value>(&told).unwrap()["seconds"].as_f64().unwrap()
    };
    let (first, second) = (seconds(&ranks), seconds(&trace));
    assert!((first - second).abs() < 1e-6, "{first} {second}");
    let told = done(&["check", &trace]);
    assert!(told.contains("12 messages"), "{told}");
}

#[test]
fn what_is_wrong_is_named_with_its_place_and_what_may_be_meant() {
    let folder = Folder::new("wrong");
    let (station, other) = (folder.file("station.0"), folder.file("x.toml"));
    std::fs::write(&station, "c 5 0 0 0\nr 1 5 0 0\n").unwrap();
    std::fs::write(&other, "[network]\nkind = \"switch\"\nrate = \"-1 Mb/s\"\n").unwrap();
    let told = refused(&[&station]);
    assert!(
        told.contains("standstill: 1 tasks wait") && told.contains("task 0 waits for task 0"),
        "{told}"
    );
    let told = refused(&[&station, "--network", "swich-100"]);
    assert!(told.contains("did you mean switch-100?"), "{told}");
    let told = refused(&[&station, "--network", &other]);
    assert!(
        told.contains("x.toml: line 3 of the platform: rate: \"-1 Mb/s\" is negative"),
        "{told}"
    );
    std::fs::write(&station, "c 5 0 0 0\ns 1 5 0 9\n").unwrap();
    let told = refused(&[&station]);
    assert!(told.contains("station.0: task 0, line 2: station 9 has no file"), "{told}");
    std::fs::write(&station, "hello\n").unwrap();
    assert!(refused(&["check", &station]).contains("no trace that is known here"));
}

#[test]
fn networks_are_listed_and_can_be_begun_with() {
    let folder = Folder::new("networks");
    let all: Value = serde_json::from_str(&done(&["networks", "--json"])).unwrap();
    let (ranks, file) = (folder.file("pairs.ti"), folder.file("own.toml"));
    done(&["generate", "pairs", "--tasks", "2", "-o", &ranks]);
    for known in all.as_array().unwrap() {
        let name = known["name"].as_str().unwrap();
        std::fs::write(&file, done(&["networks", name])).unwrap();
        let seconds = |network: &str| {
            let told = done(&[&ranks, "--network", network, "--depth", "line", "--json"]);
            serde_json::from_str::<Value>(&told).unwrap()["seconds"].as_f64().unwrap()
        };
        let (own, known) = (seconds(&file), seconds(name));
        assert!((own - known).abs() < 1e-6 * known, "{name}: {own} and {known}");
    }
}
