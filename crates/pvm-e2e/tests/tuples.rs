//! Tuple spaces, as C programs use them.
#![forbid(unsafe_code)]

use pvm_e2e::Machine;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

#[test]
fn every_type_comes_out_as_it_went_in_and_types_are_not_mixed() {
    let machine = Machine::start();
    machine.run("tuples.c", &["fields"]);
    machine.halt();
}

#[test]
fn the_oldest_tuple_goes_first_and_waiters_are_served_in_their_order() {
    let machine = Machine::start();
    machine.run("tuples.c", &["order"]);
    machine.halt();
}

#[test]
fn the_tuple_of_a_claimer_that_is_killed_comes_back_once() {
    let machine = Machine::start();
    machine.run("tuples.c", &["claims"]);
    machine.halt();
}

#[test]
fn a_bag_of_tasks_is_emptied_though_a_worker_is_killed() {
    let machine = Machine::start();
    machine.run("tuples.c", &["bag", "4"]);
    machine.halt();
}

#[test]
fn a_task_that_forged_notices_deleted_every_space_and_took_claims_away() {
    let machine = Machine::start();
    machine.run("poison.c", &["notice"]);
    machine.halt();
}

#[test]
fn an_entry_without_a_living_primary_ended_the_server_of_all_spaces() {
    let machine = Machine::start();
    machine.run("poison.c", &["entry"]);
    machine.halt();
}

#[test]
fn bytes_under_the_name_of_a_space_kept_its_maker_waiting_for_ever() {
    let machine = Machine::start();
    machine.run("poison.c", &["bytes"]);
    machine.halt();
}

#[test]
fn bytes_in_the_place_of_the_next_entry_stopped_the_server_of_all_spaces() {
    let machine = Machine::start();
    machine.run("poison.c", &["next"]);
    machine.halt();
}

#[test]
fn a_task_answered_the_calls_of_another_one() {
    let machine = Machine::start();
    machine.run("poison.c", &["answer"]);
    machine.halt();
}

#[test]
fn a_limit_did_not_end_a_call_whose_server_was_stopped() {
    let machine = Machine::start();
    machine.run("stopped.c", &[]);
    machine.halt();
}

#[test]
fn a_flood_of_one_tasks_requests_held_up_the_one_of_another_task() {
    let machine = Machine::start();
    machine.run("flooded.c", &[]);
    machine.halt();
}

/// Large tuples lie in memory that their readers have mapped.
#[test]
fn a_task_that_wrote_over_a_large_tuple_it_had_read_kept_it_from_all_others() {
    let machine = Machine::start();
    for step in ["put", "overwrite", "take"] {
        machine.run("overwritten.c", &[step]);
    }
    machine.halt();
}

/// Each of its requests asks for 15 MB, and each request of others is served behind one of them.
#[test]
fn a_task_that_read_no_answers_stopped_the_server_of_all_spaces() {
    let machine = Machine::local_with(1, &[("PVM_SPILL_MB", "16")]);
    let succeed = |words: &[&str]| {
        let done = machine.pvm(words);
        assert_eq!(done.code(), 0, "pvm {words:?}: {}{}", done.out, done.err);
        done.out
    };
    let tuples = machine.place().home().join("tuples");
    let line = format!("[{{\"type\":\"text\",\"value\":\"{}\"}}]\n", "x".repeat(1_500_000));
    std::fs::write(&tuples, line.repeat(10)).expect("a file");
    succeed(&["space", "create", "large"]);
    succeed(&["space", "load", "large", &tuples.to_string_lossy()]);
    succeed(&["space", "create", "other"]);
    succeed(&["out", "other", "1"]);
    let looks = machine.begin("looks.c", &["large", "20"]);
    let has_said = testbed::eventually(Duration::from_secs(60), || looks.so_far().contains("said"));
    assert!(has_said, "{}", looks.errors_so_far());
    for _ in 0..20 {
        assert_eq!(succeed(&["read", "other", "1", "--timeout", "100"]), "1\n");
    }
    drop(looks);
    succeed(&["take", "large", "?text"]);
    machine.halt();
}

/// `NEOPVM_LONG=1`: an array of more than 2 GiB, which needs some 10 GiB of memory.
#[test]
fn tuples_of_many_fields_and_of_many_bytes_come_out_as_they_went_in() {
    let machine = Machine::start();
    let items = if pvm_e2e::long() { "1073741900" } else { "1000000" };
    machine.run("gigabytes.c", &[items]);
    machine.halt();
}

#[test]
fn a_tuple_went_to_a_call_whose_space_had_been_closed() {
    let machine = Machine::start();
    machine.run("opened.c", &["closed"]);
    machine.halt();
}

#[test]
fn absurd_options_are_refused_and_a_full_space_spills() {
    let machine = Machine::start();
    machine.run("opened.c", &["options"]);
    machine.halt();
}

#[test]
fn a_program_makes_a_durable_space_and_hears_what_was_damaged() {
    let machine = Machine::start();
    let folder = machine.place().home().join("kept");
    std::fs::create_dir(&folder).expect("a new directory");
    machine.run("opened.c", &["durable", &folder.to_string_lossy()]);
    machine.halt();
}

/// A program in a folder into which others write, such as /tmp, started whatever lay there under
/// that name as its user's server.
#[test]
fn a_file_beside_the_program_was_started_instead_of_the_installed_tuple_server() {
    let machine = Machine::start();
    let folder = machine.place().folder().join("elsewhere");
    std::fs::create_dir(&folder).expect("a folder");
    let program = folder.join("opened");
    std::fs::copy(machine.place().compile("opened.c"), &program).expect("a copy");
    let (planted, mark) = (folder.join("pvmtuples"), folder.join("mark"));
    let script = format!("#!/bin/sh\ntouch {}\n", mark.display());
    std::fs::write(&planted, script).expect("a script");
    std::fs::set_permissions(&planted, PermissionsExt::from_mode(0o755)).expect("a program");
    let mut opened = machine.place().command(&program);
    opened.arg("options");
    machine.succeed(opened);
    assert!(!mark.exists());
    machine.halt();
}

#[test]
fn a_claim_is_done_or_comes_back_though_the_server_stood_still_for_longer_than_the_lease() {
    for copies in ["0", "1"] {
        let machine = Machine::local(2);
        println!("{}", machine.run("leased.c", &[copies]).out);
        machine.halt();
    }
}

/// All answers behind the oldest open request of a task were kept for it.
#[test]
fn while_one_thread_waited_the_server_kept_what_all_others_had_taken() {
    let machine = Machine::start();
    println!("{}", machine.run("longest.c", &[]).out);
    machine.halt();
}
