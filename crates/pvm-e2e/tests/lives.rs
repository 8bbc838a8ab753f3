//! Lives that begin and end while a process goes on: its own, and those of the tasks that it talks
//! to. Nothing is kept of them, and nothing of one is taken for another's.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, long};
use std::process::Command;

#[test]
fn answers_that_come_too_late_are_not_taken_for_others() {
    let machine = Machine::start();
    let parent = machine.parent().to_string();
    let mut program = machine.program("late.c", &[&parent]);
    program.env("NEOPVM_ANSWER_MS", "100");
    assert_eq!(machine.succeed(program).number("failed "), 6.0);
    machine.halt();
}

#[test]
fn a_master_of_many_brief_workers_keeps_nothing_of_them() {
    let machine = Machine::start();
    let parent = machine.parent().to_string();
    let count = if long() { "20000" } else { "400" };
    let output = machine.run("brief.c", &[count, &parent]);
    eprintln!("mappings gained: {}", output.out.replace('\n', ", "));
    // Each of the workers had two in either process.
    assert!(output.number("master ") < 200.0, "{}", output.out);
    assert!(output.number("parent ") < 200.0, "{}", output.out);
    machine.halt();
}

#[test]
fn who_enrols_and_leaves_again_and_again_keeps_nothing_open() {
    let machine = Machine::start();
    for (mode, count, kept) in [
        ("alone", "1000", 0.0),
        ("messages", "40", 0.0),
        ("idle", "1000", 0.0),
        ("waiting", "400", 12.0),
    ] {
        let output = machine.run("cycles.c", &[count, mode]);
        eprintln!("{mode}: {}", output.out.replace('\n', ", "));
        assert_eq!(output.number("descriptors "), 0.0, "{mode}");
        // One inbox and one count of the host for each life that there was at the same time.
        assert!(output.number("mappings ") <= kept, "{mode}: {}", output.out);
    }
    machine.halt();
}

/// The path of gcc's detector of leaks, if it is installed.
fn detector() -> Option<String> {
    let found = Command::new("cc").arg("-print-file-name=liblsan.so").output().ok()?;
    let path = String::from_utf8(found.stdout).ok()?.trim().to_owned();
    path.starts_with('/').then_some(path)
}

#[test]
fn a_detector_of_leaks_finds_none_of_a_program_that_enrolled_and_left() {
    let Some(detector) = detector() else {
        return eprintln!("skipped: liblsan.so is not there (apt install gcc)");
    };
    let machine = Machine::start();
    let mut program = machine.program("cycles.c", &["3", "alone"]);
    // Its own status for leaks is 23.
    machine.succeed({
        program.env("LD_PRELOAD", detector);
        program
    });
    machine.halt();
}
