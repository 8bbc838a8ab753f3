//! Features of real programs that toys do not have: threads, forks, signal handlers, select(),
//! other languages.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, has, long};
use std::time::Duration;

fn threads(way: &str) {
    let machine = Machine::start();
    machine.run("threads.c", &[way]);
    machine.halt();
}

#[test]
fn two_threads_pack_and_send_at_once() {
    threads("send");
}

#[test]
fn two_threads_receive_different_tags() {
    threads("receive");
}

#[test]
fn a_thread_blocked_in_a_receive_hinders_no_other() {
    threads("block");
}

#[test]
fn four_threads_talk_to_four_tasks_at_once() {
    threads("talk");
}

#[test]
fn a_task_that_wiped_the_inboxes_of_others_silenced_who_slept() {
    let machine = Machine::start();
    machine.run("wiped.c", &[]);
    machine.halt();
}

#[test]
fn a_sleeper_whose_inbox_was_wiped_looked_at_no_lane_where_a_timer_ended_each_sleep() {
    let machine = Machine::start();
    machine.run("wiped.c", &["often"]);
    machine.halt();
}

#[test]
fn a_thread_in_a_receive_could_not_be_cancelled() {
    let machine = Machine::start();
    machine.run("cancelled.c", &[]);
    machine.halt();
}

/// Only root may give a thread such a priority.
#[test]
fn a_thread_of_higher_priority_spun_until_the_first_thread_got_on() {
    let machine = Machine::start();
    machine.run("priority.c", &["20"]);
    machine.halt();
}

/// Of 2^18 ids a host has ten here, nine of them for workers.
#[test]
fn what_was_meant_for_a_task_reached_another_one_with_its_id() {
    let machine = Machine::local_with(1, &[("NEOPVM_TASK_IDS", "10")]);
    let rounds = if long() { 5000 } else { 100 };
    let program = machine.program("reused.c", &[&rounds.to_string()]);
    let output = machine.finish(program, Duration::from_secs(if long() { 3000 } else { 300 }));
    assert!(output.code() == 0, "{}{}{}", output.out, output.err, machine.log());
    assert!(output.number("at most ") >= f64::from(rounds * 4 / 10), "{}", output.out);
    machine.halt();
}

fn cancelled_in(call: &str) {
    let machine = Machine::start();
    assert_eq!(machine.run("cancelled_in.c", &[call]).out, "each when it came\n");
    machine.halt();
}

#[test]
fn a_thread_cancelled_in_a_barrier_kept_the_place_of_the_sleeper() {
    cancelled_in("barrier");
}

#[test]
fn a_thread_cancelled_in_a_question_kept_the_place_of_the_sleeper() {
    cancelled_in("question");
}

#[test]
fn a_thread_cancelled_in_its_own_matching_kept_the_place_of_the_sleeper() {
    cancelled_in("matching");
}

#[test]
fn a_thread_cancelled_in_a_reduction_kept_the_place_of_the_sleeper() {
    cancelled_in("reduction");
}

#[test]
fn a_thread_cancelled_in_a_send_that_waited_for_room_ended_the_program() {
    cancelled_in("send");
}

/// While it packed: a segment was mapped, and its descriptor closed.
#[test]
fn a_thread_cancelled_in_the_middle_of_a_send_ended_the_program() {
    let machine = Machine::start();
    for pause in ["0", "1", "3", "9", "20"] {
        let run = machine.run("cancelled_in.c", &["send", pause]);
        assert_eq!(run.out, "each when it came\n");
    }
    machine.halt();
}

#[test]
fn buffers_made_in_the_destructor_of_a_key_were_never_freed() {
    let machine = Machine::start();
    machine.run("lastcalls.c", &["buffers", "200"]);
    machine.halt();
}

#[test]
fn lists_asked_for_in_the_destructor_of_a_key_were_an_internal_error() {
    let machine = Machine::start();
    machine.run("lastcalls.c", &["tables", "20"]);
    machine.halt();
}

#[test]
fn a_receive_behind_a_matching_function_and_a_free_of_its_buffer_waited_for_each_other() {
    let machine = Machine::start();
    machine.run("shown.c", &["20000"]);
    machine.halt();
}

#[test]
fn a_handler_that_received_in_the_middle_of_a_wait_left_it_asleep_beside_its_message() {
    let machine = Machine::start();
    assert_eq!(machine.run("meanwhile.c", &["2000"]).out, "overslept 0\n");
    machine.halt();
}

#[test]
fn a_handler_that_received_where_a_sleep_begins_left_the_sleeper_without_its_doorbell() {
    let machine = Machine::start();
    assert_eq!(machine.run("between.c", &["20"]).out, "overslept 0\n");
    machine.halt();
}

#[test]
fn messages_by_handles_come_whole_and_in_order_alone_and_among_threads() {
    let machine = Machine::start();
    machine.run("handles.c", &["1"]);
    machine.run("handles.c", &["4"]);
    machine.halt();
}

#[test]
fn the_child_of_a_fork_is_no_task_and_may_become_one() {
    let machine = Machine::start();
    machine.run("forking.c", &[]);
    machine.halt();
}

#[test]
fn a_program_under_valgrind_is_a_task_like_others() {
    if !has("valgrind", "valgrind") {
        return;
    }
    let machine = Machine::start();
    let mut command = machine.place().command("valgrind");
    command.arg("-q").arg(machine.place().compile("early.c"));
    machine.succeed(command);
    machine.halt();
}

#[test]
fn longjmp_out_of_a_blocked_receive_loses_nothing() {
    let machine = Machine::start();
    machine.run("handlers.c", &["jump"]);
    machine.halt();
}

#[test]
fn a_signal_handler_may_call_the_library_or_is_refused() {
    let machine = Machine::start();
    let output = machine.run("handlers.c", &["call"]);
    eprintln!("from a handler: {}", output.out.trim_end());
    machine.halt();
}

#[test]
fn a_task_that_waits_at_a_barrier_with_a_message_unread_sleeps() {
    let machine = Machine::start();
    assert_eq!(machine.run("patience.c", &[]).out, "slept\n");
    machine.halt();
}

#[test]
fn a_task_that_waited_for_its_daemon_was_busy_beside_an_unread_message() {
    let machine = Machine::start();
    assert_eq!(machine.run("patience.c", &["daemon"]).out, "slept\n");
    machine.halt();
}

#[test]
fn c_cpp_and_fortran_tasks_work_in_one_machine() {
    let fortran = has("gfortran", "gfortran");
    if !(has("g++", "g++") && fortran) {
        return;
    }
    let machine = Machine::start();
    for program in ["babel_f.f", "babel_cc.cc"] {
        machine.place().compile(program);
    }
    let output = machine.run("babel.c", &[]);
    assert_eq!(output.out, "Fortran answers\nC++ answers\nall three at the barrier\n");
    machine.halt();
}
