//! The NAS Parallel Benchmarks of `benchmarks/nas`: every answer is the official one on any number
//! of tasks, a planted error is caught, and what goes wrong ends in a sentence. How fast anything
//! is stands nowhere here.
#![forbid(unsafe_code)]

mod bad;
mod command;
mod long;
mod official;
mod profile;
mod programs;
mod recorded;
mod report;

use programs::{ALL, Build, one};
use pvm_e2e::Machine;
use report::Report;

#[test]
fn all_eight_are_verified_at_class_s_on_one_task_and_on_four() {
    let machine = Machine::start();
    for name in ALL {
        for tasks in [1, 4] {
            let report = Report::of(&machine, &Build::Ours, name, &["S", &tasks.to_string()]);
            assert_eq!((report.verified, report.tasks), (Some(true), tasks), "{report:#?}");
            official::check(&report, name, "S");
        }
    }
    machine.halt();
}

#[test]
fn all_eight_are_verified_in_the_shape_of_the_thesis() {
    let machine = Machine::start();
    for name in ALL {
        let report = Report::of(&machine, &Build::Ours, name, &["4", "--shape", "thesis"]);
        assert_eq!((report.verified, report.tasks), (Some(true), 4), "{report:#?}");
        assert_eq!((&*report.shape, &*report.encoding), ("thesis", "default"), "{report:#?}");
        // Keys of the thesis are no class.
        if name != "is" {
            official::check(&report, name, if name == "mg" { "W" } else { "S" });
        }
    }
    machine.halt();
}

/// Sizes of no class; what comes out hangs on no number of tasks.
const SIZES: [(&str, &[&str]); 5] = [
    ("mg", &["--size", "16", "--iterations", "2"]),
    ("ft", &["--size", "32x32x8", "--iterations", "2"]),
    ("lu", &["--size", "10", "--iterations", "3", "--step", "0.4"]),
    ("sp", &["--size", "10", "--iterations", "3", "--step", "0.01"]),
    ("bt", &["--size", "10", "--iterations", "3", "--step", "0.005"]),
];

#[test]
fn a_size_of_no_class_has_the_same_norms_on_one_task_and_on_four() {
    let machine = Machine::start();
    for (name, words) in SIZES {
        let [one, four] = ["1", "4"].map(|tasks| {
            let report = Report::of(&machine, &Build::Ours, name, &[&[tasks], words].concat());
            assert_eq!(report.verified, None, "nobody knows the answer: {report:#?}");
            report
        });
        one.assert_same_as(&four);
    }
    machine.halt();
}

#[test]
fn every_route_and_encoding_has_the_same_answer() {
    let machine = Machine::start();
    for (encoding, route) in [("default", "default"), ("raw", "direct"), ("inplace", "default")] {
        let words = ["S", "4", "--encoding", encoding, "--route", route];
        let report = Report::of(&machine, &Build::Ours, "cg", &words);
        assert_eq!((report.verified, &*report.encoding), (Some(true), encoding), "{report:#?}");
    }
    machine.halt();
}

/// The test of the verification.
#[test]
fn a_planted_error_of_each_is_caught() {
    let machine = Machine::start();
    for name in ALL {
        for tasks in ["1", "4"] {
            let output = programs::run(&machine, &Build::Planted, name, &["S", tasks, "--json"]);
            let report = Report::in_output(&output);
            let told = (output.code(), report.verified);
            assert_eq!(told, (1, Some(false)), "{name} on {tasks}: {report:#?}");
        }
    }
    machine.halt();
}

#[test]
fn tasks_that_are_started_all_at_once_find_one_another() {
    let machine = Machine::start();
    let program = one(Build::Ours, "is");
    let words = ["run", "-n", "4", program.to_str().expect("a path"), "S", "--json"];
    let output = machine.pvm(&words);
    let report = Report::in_output(&output);
    assert_eq!((output.code(), report.verified, report.tasks), (0, Some(true), 4), "{report:#?}");
    machine.halt();
}
