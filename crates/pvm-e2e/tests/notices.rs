//! A task that has the notice of another task's end finds nothing of it any more, on every host.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, long};
use std::time::Duration;

fn rounds() -> String {
    if long() { "1000".to_owned() } else { "60".to_owned() }
}

#[test]
fn a_notice_does_not_overtake_the_end_of_names_and_memberships() {
    let machine = Machine::local(3);
    for keep in ["nothing", "names"] {
        let output = machine.run("noticed.c", &[&rounds(), keep]);
        eprintln!("{keep} left: {}", output.out.replace('\n', ", "));
        assert_eq!(output.number("wrong "), 0.0, "{keep}: {}", output.out);
    }
    machine.halt();
}

#[test]
fn daemons_killed_meanwhile_lose_and_repeat_no_notice() {
    let machine = Machine::local(3);
    let mut running = machine.begin("noticed.c", &[&rounds(), "names"]);
    let mut kills = 0;
    while running.is_running() {
        kills += usize::from(machine.kill_daemon(kills, Duration::from_millis(150)));
    }
    let output = machine.expect_success(running);
    eprintln!("daemons killed: {}", output.out.replace('\n', ", "));
    assert_eq!(output.number("wrong "), 0.0, "{}", output.out);
    machine.halt();
}
