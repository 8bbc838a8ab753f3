//! `pvm run`: a program on a machine that is there only for it.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, Output, Place, Running, eventually, process};
use rustix::process::Signal;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(90);

fn start(place: &Place, options: &[&str], arguments: &[&str]) -> Running {
    let program = place.compile("runner.c");
    let mut command = place.installed("pvm");
    command.arg("run").args(options).arg(program).args(arguments);
    command.env("E2E_VARIABLE", "passed on");
    Running::start(command)
}

fn run(place: &Place, options: &[&str], arguments: &[&str]) -> Output {
    let output = start(place, options, arguments).finish(LIMIT);
    assert!(output.status.is_some(), "pvm run {arguments:?} does not end: {output:?}");
    place.assert_nothing_left();
    output
}

#[test]
fn the_exit_status_of_the_tasks_is_that_of_pvm_run() {
    let place = Place::new();
    assert_eq!(run(&place, &["-n", "3"], &["status", "0"]).code(), 0);
    assert_eq!(run(&place, &["-n", "2"], &["status", "7"]).code(), 7);
    assert_eq!(run(&place, &[], &["signal", "11"]).code(), 128 + 11);
}

#[test]
fn a_master_takes_itself_for_the_master_and_keeps_directory_and_environment() {
    let place = Place::new();
    let output = run(&place, &[], &["master"]);
    assert_eq!(output.code(), 0, "{output:?}");
    let home = place.home().canonicalize().expect("a folder");
    let expected = ["parent -23".to_owned(), format!("here {}", home.display())];
    for line in expected.iter().map(String::as_str).chain(["variable passed on", "slave 42"]) {
        assert!(output.out.lines().any(|said| said == line), "no `{line}` in {output:?}");
    }
}

#[test]
fn standard_input_goes_to_the_first_task() {
    let place = Place::new();
    let mut running = start(&place, &["-n", "2", "--quiet"], &["input"]);
    running.write("one\ntwo\n");
    running.close_input();
    let output = running.finish(LIMIT);
    assert_eq!((output.code(), output.out.as_str()), (0, "got one\ngot two\n"), "{output:?}");
    place.assert_nothing_left();
}

#[test]
fn every_line_of_every_task_arrives_whole_and_with_its_prefix() {
    let place = Place::new();
    let output = run(&place, &["-n", "4"], &["say", "2000"]);
    assert_eq!(output.code(), 0, "{}", output.err);
    assert_eq!(output.out.lines().count(), 4 * 2000);
    let mut prefixes: Vec<&str> = Vec::new();
    for line in output.out.lines() {
        let at = line.find("line ").unwrap_or_else(|| panic!("torn: {line}"));
        assert!(line.ends_with(" of many"), "torn: {line}");
        prefixes.push(&line[..at]);
    }
    prefixes.sort_unstable();
    prefixes.dedup();
    assert_eq!(prefixes.len(), 4, "{prefixes:?}");
}

fn interrupted(signal: Signal, status: i32) {
    let place = Place::new();
    let running = start(&place, &["-n", "2"], &["wait"]);
    let waiting = || running.so_far().matches("waiting").count() >= 2;
    assert!(eventually(LIMIT, waiting), "{}{}", running.so_far(), running.errors_so_far());
    process::send(running.pid(), signal);
    let output = running.finish(LIMIT);
    assert_eq!(output.code(), status, "{output:?}");
    place.assert_nothing_left();
}

#[test]
fn ctrl_c_kills_the_tasks_and_what_they_spawned() {
    interrupted(Signal::INT, 128 + 2);
}

#[test]
fn a_signal_to_a_run_ends_the_shell_as_well_as_the_task_behind_it() {
    let place = Place::new();
    let script = format!("{} wait; echo went on", place.compile("runner.c").display());
    let mut command = place.installed("pvm");
    command.args(["run", "sh", "-c", &script]);
    let running = Running::start(command);
    assert!(eventually(LIMIT, || running.so_far().contains("waiting")));
    process::send(running.pid(), Signal::TERM);
    let output = running.finish(LIMIT);
    assert_eq!(output.code(), 128 + 15, "{output:?}");
    assert!(!output.out.contains("went on"), "{output:?}");
    place.assert_nothing_left();
}

#[test]
fn a_polite_end_kills_the_tasks_too() {
    interrupted(Signal::TERM, 128 + 15);
}

#[test]
fn nothing_is_left_when_pvm_run_itself_is_killed() {
    let place = Place::new();
    let mut running = start(&place, &["-n", "2"], &["wait"]);
    assert!(eventually(LIMIT, || running.so_far().contains("waiting")));
    process::kill(running.pid());
    assert!(eventually(LIMIT, || !running.is_running()));
    place.assert_nothing_left();
}

#[test]
fn a_missing_program_is_answered_with_the_paths_tried() {
    let place = Place::new();
    let mut command = place.installed("pvm");
    command.args(["run", "no-such-program"]);
    let output = Running::start(command).finish(LIMIT);
    assert!(output.status.is_some() && output.code() != 0, "{output:?}");
    let looked = place.bin().display().to_string();
    assert!(output.err.contains("no-such-program"), "{output:?}");
    assert!(output.err.contains(&looked), "{looked} is not named: {output:?}");
    place.assert_nothing_left();
}

#[test]
fn pvm_run_joins_a_machine_that_runs_and_leaves_it_running() {
    let machine = Machine::start();
    let program = machine.place().compile("runner.c");
    let mut command = machine.place().installed("pvm");
    command.args(["run", "-n", "2"]).arg(&program).args(["status", "5"]);
    assert_eq!(machine.finish(command, LIMIT).code(), 5);
    machine.run("exits.c", &["2"]);
    machine.halt();
}
