//! `pvm bench nas`: what it measures, and what it says of peers that hang and print nonsense.

use pvm_e2e::{Output, Place, Running};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Compilers and a short run, on a computer where sixteen others want the processors as well.
const LIMIT: Duration = Duration::from_secs(600);

fn bench(place: &Place, words: &[&str]) -> Output {
    let mut command = place.installed("pvm");
    command.args(["bench", "nas", "--class", "S", "--rounds", "1"]).args(words);
    command.arg("--out").arg(place.home().join("out"));
    Running::start(command).finish(LIMIT)
}

fn figures(place: &Place) -> Value {
    let text = fs::read_to_string(place.home().join("out/figures.json")).expect("figures");
    serde_json::from_str(&text).expect("JSON")
}

/// A copy of the sources, with the errors or without.
fn copy(place: &Place) -> PathBuf {
    let to = place.home().join("copy");
    fs::create_dir_all(&to).expect("a folder");
    for entry in fs::read_dir(crate::programs::sources()).expect("sources").flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy");
        }
    }
    to
}

fn systems(figures: &Value) -> Vec<&str> {
    let rows = figures["rows"].as_array().expect("rows").iter();
    rows.filter_map(|row| row["system"].as_str()).collect()
}

#[test]
fn ours_and_the_original_are_measured_verified_and_compared() {
    let place = Place::new();
    let sources = copy(&place);
    let words =
        ["--tasks", "1,4", "--only", "CG,IS", "--sources", sources.to_str().expect("a path")];
    let output = bench(&place, &words);
    assert_eq!(output.code(), 0, "{output:?}");
    let figures = figures(&place);
    let peers = figures["peers"].as_array().expect("peers");
    let is_there =
        |name: &str| peers.iter().any(|peer| peer["system"] == name && peer["missing"].is_null());
    let mut expected = vec!["NeoPVM"];
    expected.extend(is_there("PVM 3.4.6").then_some("PVM 3.4.6"));
    // IS and CG, on one task and on four.
    assert_eq!(systems(&figures), expected.repeat(4), "{output:?}");
    let answers = figures["answers"].as_array().expect("answers");
    assert!(answers.len() == 4 * expected.len(), "{output:?}");
    assert!(answers.iter().all(|one| one["verified"] == true), "{answers:?}");
    assert!(output.out.contains("4 answers of NeoPVM verified."), "{}", output.out);
    assert!(output.err.contains("--peer DIR with programs of NPB"), "{}", output.err);
    let report = fs::read_to_string(place.home().join("out/report.html")).expect("a report");
    assert!(report.contains("NAS Parallel Benchmarks") && report.contains("zeta"));
    let csv = fs::read_to_string(place.home().join("out/figures.csv")).expect("a table");
    assert!(csv.contains("nas,CG.S,4,1400,NeoPVM,"), "{csv}");
    let file = place.home().join("out/figures.json").display().to_string();
    let mut compare = place.installed("pvm");
    compare.args(["bench", "--compare", &file, &file]);
    let compared = Running::start(compare).finish(LIMIT);
    assert_eq!(compared.code(), 0, "{compared:?}");
    place.assert_nothing_left();
}

#[test]
fn a_wrong_answer_has_no_time() {
    let place = Place::new();
    let sources = copy(&place);
    let makefile = sources.join("Makefile");
    let text = fs::read_to_string(&makefile).expect("a Makefile");
    fs::write(&makefile, format!("PLANT = 1\n{text}")).expect("a Makefile");
    let words = ["--tasks", "4", "--only", "IS", "--sources", sources.to_str().expect("a path")];
    let output = bench(&place, &words);
    assert_eq!(output.code(), 5, "{output:?}");
    assert!(output.err.contains("IS.S on 4 tasks on NeoPVM: NOT VERIFIED"), "{}", output.err);
    assert!(!systems(&figures(&place)).contains(&"NeoPVM"));
    place.assert_nothing_left();
}

/// A program of a peer's.
fn write(file: &Path, script: &str) {
    pvm_e2e::write_program(file, format!("#!/bin/sh\n{script}\n"));
}

#[test]
fn a_peer_that_prints_nonsense_and_one_that_hangs_are_named_and_the_rest_goes_on() {
    let place = Place::new();
    let (peer, sources) = (place.home().join("npb"), copy(&place));
    fs::create_dir_all(&peer).expect("a folder");
    // What starts them is not what is tried here, and need not be installed.
    let bin = place.home().join("mpi");
    fs::create_dir_all(&bin).expect("a folder");
    write(&bin.join("mpirun.openmpi"), "for word; do program=$word; done; exec \"$program\"");
    write(&peer.join("is.S.1"), "echo fish");
    write(&peer.join("is.S.x"), "sleep 1000");
    let path = std::env::var("PATH").expect("a path");
    let run = |tasks: &str| {
        let mut command = place.installed("pvm");
        command.args(["bench", "nas", "--class", "S", "--only", "IS", "--rounds", "2"]);
        command.args(["--tasks", tasks, "--limit", "10", "--peer"]).arg(&peer);
        command.arg("--sources").arg(&sources).arg("--out").arg(place.home().join("out"));
        command.env("PATH", format!("{}:{path}", bin.display()));
        Running::start(command).finish(LIMIT)
    };
    let hung = run("4");
    assert_eq!(hung.code(), 5, "{hung:?}");
    for way in ["NPB", "NPB, tasks yield"] {
        let said = format!("IS.S on 4 tasks on Open MPI, {way}: hung: no end after 10 s");
        assert_eq!(hung.err.matches(&said).count(), 2, "once meanwhile, once at the end: {hung:?}");
    }
    assert!(systems(&figures(&place)).contains(&"NeoPVM"), "{hung:?}");
    fs::remove_file(peer.join("is.S.x")).expect("a program");
    let nonsense = run("1");
    assert_eq!(nonsense.code(), 5, "{nonsense:?}");
    let said = "Open MPI, NPB: printed no line `Time in seconds = ...`";
    assert!(nonsense.err.contains(said) && nonsense.err.contains("fish"), "{}", nonsense.err);
    place.assert_nothing_left();
}

#[test]
fn wrong_use_is_explained() {
    let place = Place::new();
    let said = |words: &[&str]| {
        let mut command = place.installed("pvm");
        command.arg("bench").args(words).arg("--out").arg(place.home().join("out"));
        let output = Running::start(command).finish(LIMIT);
        (output.code(), output.err)
    };
    let (code, text) = said(&["nas", "--class", "Q"]);
    assert!(code == 2 && text.contains("'Q'") && text.contains("S, W, A, B"), "{text}");
    let (code, text) = said(&["nas", "--only", "CX"]);
    assert!(code == 2 && text.contains("'CX'"), "{text}");
    let (code, text) = said(&["nas", "--tasks", "0"]);
    assert!(code == 2 && text.contains("--tasks"), "{text}");
    let (code, text) = said(&["nas", "--shape", "thesis", "--tasks", "3"]);
    assert!(code == 2 && text.contains("has 4 tasks: not run on 3"), "{text}");
    let (code, text) = said(&["echo", "--class", "S"]);
    assert!(code == 2 && text.contains("pvm bench nas --class"), "{text}");
    let (code, text) = said(&["echo", "nas"]);
    assert!(code == 2 && text.contains("by itself"), "{text}");
    let (code, text) = said(&["nas", "--peer", "/nowhere"]);
    assert!(code == 1 && text.contains("--peer /nowhere"), "{text}");
    let (code, text) = said(&["nas", "--peer", "/"]);
    assert!(code == 1 && text.contains("ep.S.x") && text.contains("make cg CLASS=S"), "{text}");
}
