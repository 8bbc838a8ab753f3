//! No process of a task outlives its machine, whatever became of its parents.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, Place, Running, eventually, process};
use std::path::Path;
use std::time::Duration;

/// A task that leaves processes behind in every way: a child, one that has left its session, one
/// whose parents are gone, one that starts others all the time, and one that heeds no signal.
const LITTER: &str = "sleep 1000 & setsid sleep 1001 & \
    (setsid sh -c '(sleep 1002 &) ; exit 0' &) ; \
    (setsid sh -c 'while :; do sleep 0.01; done' &) ; \
    (setsid sh -c 'trap \"\" TERM HUP INT; while :; do sleep 1; done' &) ; \
    echo littered; sleep 1003";

fn littered(machine: &Machine) -> Running {
    let mut command = machine.place().installed("pvm");
    command.args(["run", "-n", "2", "--", "sh", "-c", LITTER]);
    let running = Running::start(command);
    let there = || running.so_far().matches("littered").count() == 2;
    assert!(eventually(Duration::from_secs(60), there), "{}", running.errors_so_far());
    running
}

/// The sleeping processes of all that was started here.
fn sleepers(place: &Place) -> Vec<(u32, String)> {
    let ours = |line: &str| line.contains("sleep") && !line.contains("pvm");
    place.processes().into_iter().filter(|(_, line)| ours(line)).collect()
}

#[test]
fn a_halt_ends_what_tasks_have_left_behind() {
    let machine = Machine::start();
    let running = littered(&machine);
    assert!(sleepers(machine.place()).len() >= 8);
    machine.halt();
    drop(running);
}

#[test]
fn the_end_of_a_run_that_started_its_machine_leaves_nothing() {
    let place = Place::new();
    // What writes where the tasks wrote belongs to them: a run waits for its last words.
    let quiet = format!("({LITTER}) >/dev/null 2>&1").replace("sleep 1003", "true");
    let mut command = place.installed("pvm");
    command.args(["run", "-n", "2", "--", "sh", "-c", &quiet]);
    let mut running = Running::start(command);
    let output = running.wait(Duration::from_secs(60));
    assert_eq!(output.code(), 0, "{}{}", output.out, output.err);
    place.assert_nothing_left();
}

/// Processes that had left their parents lived on.
#[test]
fn a_parent_killed_outright_takes_all_with_it() {
    let machine = Machine::start();
    let running = littered(&machine);
    process::kill(machine.parent());
    let place = machine.place();
    let gone = eventually(Duration::from_secs(60), || sleepers(place).is_empty());
    assert!(gone, "alive: {:#?}", place.processes());
    drop(running);
}

#[test]
fn what_both_processes_of_a_host_left_ends_with_the_next_start() {
    let machine = Machine::start();
    let running = littered(&machine);
    let daemon = machine.daemon().expect("a daemon");
    // Stopped first, so that neither sees the other one's end.
    process::send(daemon, rustix::process::Signal::STOP);
    process::kill(machine.parent());
    process::kill(daemon);
    drop(running);
    assert!(!sleepers(machine.place()).is_empty());
    let mut again = machine.place().installed("pvm");
    again.args(["run", "--", "true"]);
    let output = Running::start(again).finish(Duration::from_secs(60));
    assert_eq!(output.code(), 0, "{}{}", output.out, output.err);
    let gone = eventually(Duration::from_secs(60), || sleepers(machine.place()).is_empty());
    assert!(gone, "alive: {:#?}", machine.place().processes());
}

#[test]
fn who_asks_to_outlive_the_machine_does() {
    let machine = Machine::start();
    let mut command = machine.place().installed("pvm");
    let script = "(PVM_OUTLIVE=1 setsid sleep 1005 >/dev/null 2>&1 &) ; (setsid sleep 1006 \
                  >/dev/null 2>&1 &)";
    command.args(["run", "--", "sh", "-c", script]);
    machine.succeed(command);
    let halted = machine.pvm(&["halt"]);
    assert_eq!(halted.code(), 0, "{}", halted.err);
    let left = sleepers(machine.place());
    assert_eq!(left.len(), 1, "{left:#?}");
    assert!(left[0].1.contains("1005"), "{left:#?}");
    machine.place().kill_all();
}

/// A process that waited for a pipe or a lock of the shell in which a machine was started waited
/// for the end of the machine.
#[test]
fn nobody_keeps_open_what_was_open_where_a_machine_was_started() {
    let task = "pvm run -n 2 -- sh -c 'echo begun; sleep 1009'";
    for starter in [
        task.to_owned(),
        format!("pvm up; {task}"),
        "\"$BEGIN\"; pvm run -n 2 -- sh -c 'echo begun; sleep 1009'".to_owned(),
    ] {
        let place = Place::new();
        let mut command = place.command("sh");
        command.env("PATH", format!("{}:/usr/bin:/bin", pvm_e2e::prefix().join("bin").display()));
        command.env("BEGIN", place.compile("begins.c"));
        command.args(["-c", &format!("exec 9>\"$HOME/held\"; {starter}")]);
        let running = Running::start(command);
        let there = || running.so_far().matches("begun").count() == 2;
        assert!(eventually(Duration::from_secs(60), there), "{}", running.errors_so_far());
        let held = place.home().join("held");
        let (ours, theirs): (Vec<_>, Vec<_>) =
            place.processes().into_iter().partition(|(pid, _)| holds(*pid, &held));
        // The shell, and the command that it waits for.
        assert!(!ours.is_empty(), "{starter}: nobody holds it");
        let starts = |line: &str| line.contains("exec 9") || line.contains("pvm run");
        assert!(ours.iter().all(|(_, line)| starts(line)), "{starter}: {ours:#?}");
        assert!(theirs.iter().any(|(_, line)| line.contains("sleep 1009")), "{theirs:#?}");
        assert!(theirs.iter().any(|(_, line)| line.contains("--daemon")), "{theirs:#?}");
        drop(running);
        place.kill_all();
    }
}

fn holds(pid: u32, file: &Path) -> bool {
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    descriptors.flatten().any(|entry| std::fs::read_link(entry.path()).is_ok_and(|to| to == file))
}
