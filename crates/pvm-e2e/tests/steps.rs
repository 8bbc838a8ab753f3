//! Tasks of one host that are stopped, or killed, in the middle of a send or a receive, at places all over the call.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, eventually, long, process};
use std::time::Duration;

#[test]
fn a_task_stopped_or_killed_anywhere_in_a_call_holds_up_nobody_and_leaves_no_half_message() {
    let machine = Machine::start();
    let before = process::segments(machine.parent()).0;
    let file = machine.place().home().join("shared");
    let (places, steps, limit) =
        if long() { ("300", "400000", 1800) } else { ("24", "20000", 300) };
    let program = machine.program("steps.c", &[places, steps, file.to_str().expect("text")]);
    let output = machine.finish(program, Duration::from_secs(limit));
    assert!(output.code() == 0, "{}{}{}", output.out, output.err, machine.log());
    eprintln!("{}", output.out.replace('\n', ", "));
    if output.out.contains("skipped: ptrace") {
        return;
    }
    assert!(output.number("places ") >= 90.0, "{}", output.out);
    let returned =
        eventually(Duration::from_secs(20), || process::segments(machine.parent()).0 <= before);
    let after = process::segments(machine.parent()).0;
    assert!(returned, "{before} segments before, {after} after\n{}", machine.log());
    machine.halt();
}
