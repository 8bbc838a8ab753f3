//! The large classes, in `make soak`:
//! `cargo test -p pvm-e2e --test nas -- --ignored --nocapture --test-threads=1`.

use crate::official;
use crate::programs::{ALL, Build, build, command};
use crate::report::Report;
use pvm_e2e::{Hosts, Machine, Place, Running, prefix};
use std::ffi::OsStr;
use std::time::Duration;

/// BT of class A takes a minute and more where nothing else is at work.
const LIMIT: Duration = Duration::from_secs(1800);

fn tell(report: &Report, tasks: &str, place: &str) {
    let Report { benchmark, class, seconds, mops, .. } = report;
    println!(
        "{benchmark}.{class} on {tasks} tasks{place}: verified, {seconds:.2} s, {mops:.0} Mop/s"
    );
}

#[test]
#[ignore = "half an hour"]
fn classes_w_and_a_are_verified_on_1_2_4_and_16_tasks() {
    let machine = Machine::start();
    for class in ["W", "A"] {
        for (name, tasks) in ALL.iter().flat_map(|name| ["1", "2", "4", "16"].map(|n| (name, n))) {
            let program = build(&Build::Fast).join(format!("nas-{name}"));
            let mut command = machine.place().command(program);
            command.args([class, tasks, "--json"]);
            let output = Running::start(command).finish(LIMIT);
            assert_eq!(output.code(), 0, "{name} {class} {tasks}: {output:?}");
            let report = Report::in_output(&output);
            assert_eq!(report.verified, Some(true), "{report:#?}");
            official::check(&report, name, class);
            tell(&report, tasks, "");
        }
    }
    machine.halt();
}

#[test]
#[ignore = "a minute, and another one for building"]
fn checks_of_bounds_and_the_sanitizers_find_nothing_at_class_s() {
    // Programs end with their arrays, and the library keeps what it has of its task until then.
    let options = ("ASAN_OPTIONS", OsStr::new("detect_leaks=0"));
    let machine = Machine::start_with(Place::new(), &[options]);
    for (name, tasks) in ALL.iter().flat_map(|name| ["1", "4"].map(|tasks| (name, tasks))) {
        for words in [&["S", tasks, "--json"][..], &["4", "--shape", "thesis", "--json"]] {
            let mut command = command(&machine, &Build::Checked, name, words);
            command.env(options.0, options.1);
            let output = Running::start(command).finish(LIMIT);
            assert_eq!((output.code(), &*output.err), (0, ""), "{name} {words:?}: {output:?}");
            let report = Report::in_output(&output);
            assert_eq!(report.verified, Some(true), "{report:#?}");
        }
    }
    machine.halt();
}

#[test]
#[ignore = "some minutes"]
fn classes_s_and_w_are_verified_on_three_hosts() {
    let Some(hosts) = Hosts::up(3) else { return };
    hosts.machine("h1", &["h2", "h3"]);
    for class in ["S", "W"] {
        for name in ALL {
            let program = build(&Build::Fast).join(format!("nas-{name}")).display().to_string();
            let running = Running::start(hosts.on("h1", &[&program, class, "4", "--json"]));
            let output = running.finish(LIMIT);
            assert_eq!(output.code(), 0, "{name} {class}: {output:?}");
            let report = Report::in_output(&output);
            assert_eq!(report.verified, Some(true), "{report:#?}");
            official::check(&report, name, class);
            tell(&report, "4", " on three hosts");
        }
    }
    hosts.halt("h1");
}

#[test]
#[ignore = "needs hosts, and compilers on them"]
fn the_command_spreads_its_tasks_over_hosts() {
    let Some(hosts) = Hosts::up(2) else { return };
    // Both hosts see this folder, unlike /tmp.
    let out = hosts.home().join("bench").display().to_string();
    let pvm = prefix().join("bin/pvm").display().to_string();
    let words = ["bench", "nas", "--quick", "--rounds", "1", "--only", "CG", "--tasks", "4"];
    let command = [&[&*pvm][..], &words, &["--hosts", "h2", "--out", &out]].concat();
    let output = Running::start(hosts.on("h1", &command)).finish(LIMIT);
    // The original may be missing or not know how to meet us: that is told and the rest is
    // measured.
    assert!([0, 5].contains(&output.code()), "{output:?}");
    assert!(output.out.contains("1 answers of NeoPVM verified."), "{output:?}");
    hosts.assert_nothing_left();
}
