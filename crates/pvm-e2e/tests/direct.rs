//! Direct routes between tasks of two hosts.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, long, process};
use std::time::Duration;

fn two_hosts(arguments: &[&str]) {
    let machine = Machine::local(2);
    let output = machine.run("direct.c", arguments);
    eprintln!("{arguments:?}: {}", output.out.trim_end());
    machine.halt();
}

#[test]
fn numbered_messages_of_all_sizes_cross_both_ways() {
    two_hosts(&["talk", "400"]);
}

#[test]
fn keys_that_are_used_up_are_renewed_and_nothing_is_lost_repeated_or_reordered() {
    two_hosts(&["renew", "800"]);
}

#[test]
fn a_task_that_wants_no_routes_gets_none() {
    two_hosts(&["refuse", "300"]);
}

#[test]
fn a_route_that_is_given_up_before_the_other_task_has_its_end_swallows_no_messages() {
    two_hosts(&["regret", "300"]);
}

#[test]
fn routes_that_are_cut_under_traffic_lose_repeat_and_reorder_nothing() {
    two_hosts(&["cut", "600"]);
}

#[test]
fn what_a_task_said_before_it_left_or_was_killed_comes_before_the_notice() {
    two_hosts(&["leave"]);
}

#[test]
fn a_receiver_that_computes_holds_up_no_sender() {
    two_hosts(&["busy", "500"]);
}

#[test]
fn daemons_killed_while_tasks_talk_directly_lose_and_repeat_nothing() {
    let machine = Machine::local(2);
    let running = machine.begin("direct.c", &["cut", "800"]);
    for round in 0..6 {
        std::thread::sleep(Duration::from_millis(300));
        let processes = machine.place().processes().into_iter();
        let daemons: Vec<u32> =
            processes.filter(|(_, line)| line.contains("--daemon")).map(|(pid, _)| pid).collect();
        if let Some(daemon) = daemons.get(round % daemons.len().max(1)) {
            process::kill(*daemon);
        }
    }
    machine.expect_success(running);
    machine.halt();
}

#[test]
fn a_task_whose_direct_routes_have_ended_sleeps_while_it_waits() {
    let machine = Machine::local(2);
    let output = machine.run("ended.c", &[]);
    eprintln!("{}", output.out.trim_end());
    assert!(output.number("used ") < 0.2, "{}", output.out);
    machine.halt();
}

/// A host has so few ids here that each round takes all of them.
#[test]
fn tasks_whose_ids_come_again_on_another_host_hear_and_are_heard() {
    let machine = Machine::local_with(2, &[("NEOPVM_TASK_IDS", "8")]);
    let rounds = if long() { 60 } else { 5 };
    let program = machine.program("again.c", &[&rounds.to_string()]);
    let output = machine.finish(program, Duration::from_secs(300));
    assert!(output.code() == 0, "{}{}{}", output.out, output.err, machine.log());
    assert_eq!(output.number("again "), f64::from((rounds - 1) * 8), "{}", output.out);
    machine.halt();
}
