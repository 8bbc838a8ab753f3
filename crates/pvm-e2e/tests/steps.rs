//! Tasks of one host that are stopped, or killed, in the middle of a send or a receive, at places
//! all over the call.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, eventually, long, process};
use std::time::Duration;

/// The limit against hanging. Each of a hundred thousand instructions is a turn of two processes,
/// for which a busy computer lets them wait: 300 s were not enough at a load of 80.
const LIMIT: Duration = Duration::from_secs(1200);

#[test]
fn a_task_stopped_or_killed_anywhere_in_a_call_holds_up_nobody_and_leaves_no_half_message() {
    let machine = Machine::start();
    let before = process::segments(machine.parent()).0;
    if !stop_everywhere(&machine, "12", 150.0) {
        return;
    }
    let returned =
        eventually(Duration::from_secs(60), || process::segments(machine.parent()).0 <= before);
    let after = process::segments(machine.parent()).0;
    assert!(returned, "{before} segments before, {after} after\n{}", machine.log());
    machine.halt();
}

#[test]
fn a_task_stopped_or_killed_before_it_wakes_the_daemon_holds_up_nothing_for_another_host() {
    let machine = Machine::local(2);
    if !stop_everywhere(&machine, "24", 20.0) {
        return;
    }
    // What a daemon sends in is its own and stays; of its victims each had three and more.
    let few = eventually(Duration::from_secs(60), || segments(&machine) <= 20);
    assert!(few, "{} segments\n{}", segments(&machine), machine.log());
    machine.halt();
}

/// The number of segments that the parents of all hosts hold.
fn segments(machine: &Machine) -> usize {
    let processes = machine.place().processes().into_iter();
    let parents = processes.filter(|(_, line)| line.contains("pvmd") && !line.contains("--daemon"));
    parents.map(|(pid, _)| process::segments(pid).0).sum()
}

/// At so many places of each kind, if few are enough; false where nobody may trace others.
fn stop_everywhere(machine: &Machine, few: &str, places_min: f64) -> bool {
    let file = machine.place().home().join("shared");
    let (places, steps) = if long() { ("300", "400000") } else { (few, "24000") };
    let program = machine.program("steps.c", &[places, steps, file.to_str().expect("text")]);
    let limit = if long() { Duration::from_secs(1800) } else { LIMIT };
    let output = machine.finish(program, limit);
    assert!(output.code() == 0, "{}{}{}", output.out, output.err, machine.log());
    eprintln!("{}", output.out.replace('\n', ", "));
    let may = !output.out.contains("skipped: ptrace");
    assert!(!may || output.number("places ") >= places_min, "{}", output.out);
    may
}

#[test]
fn a_thread_that_a_handler_begins_in_the_middle_of_a_call_shares_no_lock_with_it() {
    let machine = Machine::start();
    let file = machine.place().home().join("midcall");
    let places = if long() { "200" } else { "24" };
    let program = machine.program("midcall.c", &[places, file.to_str().expect("text")]);
    let output = machine.finish(program, LIMIT);
    assert!(output.code() == 0, "{}{}{}", output.out, output.err, machine.log());
    eprintln!("{}", output.out.replace('\n', ", "));
    machine.halt();
}

#[test]
fn a_handler_that_waits_or_leaves_at_any_instruction_of_a_threads_first_wait_spoils_nothing() {
    let machine = Machine::start();
    let file = machine.place().home().join("interrupted");
    let stride = if long() { "1" } else { "25" };
    let program = machine.program("interrupted.c", &[stride, file.to_str().expect("text")]);
    let output = machine.finish(program, LIMIT);
    assert!(output.code() == 0, "{}{}{}", output.out, output.err, machine.log());
    eprintln!("{}", output.out.replace('\n', ", "));
    machine.halt();
}

/// Messages of another host and deaths of members, shown by the daemon; and direct routes.
#[test]
fn a_daemon_or_a_route_stopped_or_killed_before_it_wakes_a_sleeper_silences_nobody_else() {
    let machine = Machine::local(2);
    let file = machine.place().home().join("wakers");
    let program = machine.program("wakers.c", &[file.to_str().expect("text")]);
    let output = machine.finish(program, LIMIT);
    assert!(output.code() == 0, "{}{}{}", output.out, output.err, machine.log());
    eprintln!("{}", output.out.replace('\n', ", "));
    machine.halt();
}
