//! Short forms of what `cargo run -p pvm-e2e --bin faults` measures: nothing is lost, repeated, out
//! of order or wrong. How long it takes is not judged here.

use pvm_e2e::faults::{self, Fault, Row};
use pvm_e2e::{Hosts, long};
use std::time::Duration;

fn nothing_wrong(row: &Row) {
    eprintln!("{}", faults::to_table(std::slice::from_ref(row)));
    assert_eq!(row.wrong, 0, "{row:?}");
}

#[test]
fn every_daemon_killed_in_turn_is_noticed_by_no_task() {
    let Some(hosts) = Hosts::up(3) else { return };
    nothing_wrong(&faults::daemons_killed(&hosts, 1));
}

#[test]
fn the_first_host_and_another_are_switched_off_and_the_rest_goes_on() {
    let Some(hosts) = Hosts::up(3) else { return };
    nothing_wrong(&faults::taken_out(&hosts, Fault::PowerOff, 2));
}

#[test]
fn cables_that_are_out_for_a_moment_lose_repeat_and_reorder_nothing() {
    let Some(hosts) = Hosts::up(2) else { return };
    nothing_wrong(&faults::flaps(&hosts, &[10, 100, 1000].map(Duration::from_millis), 1));
}

#[test]
fn lost_packets_lose_no_message() {
    let Some(hosts) = Hosts::up(2) else { return };
    nothing_wrong(&faults::lossy(&hosts, 5, 3));
}

/// With `NEOPVM_LONG=1` also four of fifteen.
#[test]
fn two_of_seven_hosts_die_at_once_and_the_rest_is_told_and_works() {
    for (count, dead) in [(7, 2), (15, 4)].into_iter().take(if long() { 2 } else { 1 }) {
        let Some(hosts) = Hosts::up(count) else { return };
        nothing_wrong(&faults::at_once(&hosts, dead));
    }
}
