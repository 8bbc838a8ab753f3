//! Messages whose sender or receiver ends, sleeps, or is not there yet.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, Place, eventually, process};
use std::time::Duration;

#[test]
fn a_wait_for_one_sender_kept_that_one_waiting_for_a_task_whose_messages_lay_unread() {
    let machine = Machine::start();
    assert_eq!(machine.run("for_one.c", &["60000"]).out, "all\n");
    machine.halt();
}

#[test]
fn a_wait_for_one_sender_that_signals_interrupt_often_took_in_no_other_sender_s_messages() {
    let machine = Machine::start();
    assert_eq!(machine.run("for_one.c", &["60000", "10"]).out, "all\n");
    machine.halt();
}

#[test]
fn a_thousand_messages_are_read_after_their_sender_exited() {
    let machine = Machine::start();
    machine.run("outlive.c", &["exit"]);
    machine.run("outlive.c", &["return"]);
    machine.halt();
}

#[test]
fn a_thousand_messages_are_read_after_their_sender_was_killed() {
    let machine = Machine::start();
    machine.run("outlive.c", &["kill"]);
    machine.halt();
}

#[test]
fn a_second_thread_that_calls_at_any_moment_shares_nothing_with_what_the_first_has_in_hand() {
    let machine = Machine::start();
    machine.run("bias.c", &["64"]);
    machine.halt();
}

#[test]
fn items_of_any_length_are_told_as_their_twins_in_buffers_are() {
    let machine = Machine::start();
    machine.run("items.c", &[]);
    machine.halt();
}

#[test]
fn messages_sent_before_a_child_enrols_reach_it() {
    let machine = Machine::start();
    machine.run("early.c", &[]);
    machine.halt();
}

#[test]
fn messages_reach_a_child_that_enrols_after_their_sender_left() {
    let machine = Machine::start();
    let done = machine.place().home().join("done");
    machine.run("early.c", &[done.to_str().expect("text")]);
    let came = eventually(Duration::from_secs(60), || done.exists());
    assert!(came, "the child did not get its messages\n{}", machine.log());
    machine.halt();
}

#[test]
fn a_process_that_leaves_and_comes_back_keeps_no_descriptors() {
    let machine = Machine::start();
    let output = machine.run("comings.c", &[]);
    assert!(output.number("last ") <= output.number("first "), "{}", output.out);
    machine.halt();
}

#[test]
fn a_full_queue_blocks_no_send_and_keeps_its_order() {
    let machine = Machine::start();
    let output = machine.run("flood.c", &["200000"]);
    eprintln!("200000 messages to a task that sleeps: {}", output.out.replace('\n', ", "));
    machine.halt();
}

#[test]
fn a_task_that_is_killed_stops_none_of_its_senders_and_leaves_no_memory() {
    let machine = Machine::start();
    let (segments, kib) = process::segments(machine.parent());
    let mut running = machine.begin("vanish.c", &[]);
    let ready = eventually(Duration::from_secs(60), || {
        running.so_far().contains("ready\n") || !running.is_running()
    });
    assert!(ready && running.is_running(), "{}{}", running.so_far(), running.errors_so_far());
    let (while_segments, while_kib) = process::segments(machine.parent());
    running.write("\n");
    let output = machine.expect_success(running);
    // A busy computer keeps one or the other waiting; a send to a dead task that waits would keep
    // all of the senders.
    let (longest, of_each) = (output.number("longest send "), output.number("at least "));
    assert!(longest < 20e6 && of_each < 1e6, "sends took long: {}", output.out);
    let returned = eventually(Duration::from_secs(60), || {
        let (now_segments, now_kib) = process::segments(machine.parent());
        now_segments <= segments && now_kib <= kib + 64
    });
    let (end_segments, end_kib) = process::segments(machine.parent());
    eprintln!(
        "segments of the host: {segments} ({kib} KiB) at the start, {while_segments} ({while_kib} \
         KiB) \
         after the kill, {end_segments} ({end_kib} KiB) at the end; {}",
        output.out.lines().next().unwrap_or_default()
    );
    assert!(returned, "segments stay");
    assert!(while_kib < 64 << 10, "what a dead task did not read stays: {while_kib} KiB");
    machine.halt();
}

#[test]
fn megabyte_messages_cross_in_both_directions_in_every_encoding() {
    let machine = Machine::start();
    let output = machine.run("bothways.c", &[]);
    eprintln!("1 MB both ways: {}", output.out.replace('\n', ", "));
    machine.halt();
}

#[test]
fn the_descriptor_is_readable_when_a_message_came_during_a_barrier_a_question_or_a_full_send() {
    let machine = Machine::start_with(Place::new(), &[("PVM_SLAB_MB", "16".as_ref())]);
    machine.run("readable.c", &[]);
    machine.halt();
}
