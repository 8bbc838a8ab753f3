//! Tasks of one host that are killed and stopped at any moment while others check every message.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, eventually, long, process};
use std::time::Duration;

#[test]
fn tasks_killed_and_stopped_at_random_cost_nobody_a_message_and_leave_no_memory() {
    let machine = Machine::start();
    let before = process::segments(machine.parent()).0;
    let file = machine.place().home().join("counts");
    let (messages, limit) = amount();
    let messages = messages.to_string();
    let program = machine.program("stress.c", &[&messages, file.to_str().expect("text")]);
    let output = machine.finish(program, limit);
    assert!(output.code() == 0, "{}{}{}", output.out, output.err, machine.log());
    eprintln!("{}", output.out.replace('\n', ", "));
    assert!(output.number("deaths ") >= 20.0, "{}", output.out);
    assert!(output.number("stops ") >= 20.0, "{}", output.out);
    let returned =
        eventually(Duration::from_secs(60), || process::segments(machine.parent()).0 <= before);
    let after = process::segments(machine.parent()).0;
    assert!(returned, "{before} segments before, {after} after\n{}", machine.log());
    machine.halt();
}

/// The number of messages, and the time that they may take: as `NEOPVM_STRESS` says.
fn amount() -> (u64, Duration) {
    let wanted = std::env::var("NEOPVM_STRESS").ok();
    match wanted.map(|number| number.parse().expect("NEOPVM_STRESS is a number")) {
        Some(messages) => (messages, Duration::from_secs(90 + messages / 1000)),
        None if long() => (2_000_000, Duration::from_secs(1200)),
        None => (20_000, Duration::from_secs(240)),
    }
}
