//! Groups whose members die.
#![forbid(unsafe_code)]

use pvm_e2e::Machine;

#[test]
fn whoever_is_left_at_a_barrier_or_a_reduce_is_told_of_the_death() {
    let machine = Machine::start();
    for (members, seed) in [("4", "1"), ("9", "2"), ("2", "3")] {
        let output = machine.run("mourners.c", &[members, "6", seed]);
        eprint!("{members} members: {}", output.out);
    }
    machine.halt();
}

#[test]
fn members_on_several_hosts_are_told_of_a_death() {
    let machine = Machine::local(3);
    let output = machine.run("mourners.c", &["7", "4", "5"]);
    eprint!("three hosts: {}", output.out);
    machine.halt();
}

/// More members than a barrier in shared memory has places.
#[test]
fn a_large_group_meets_and_is_told_of_a_death() {
    let machine = Machine::start();
    let output = machine.run("mourners.c", &["40", "2", "7"]);
    eprint!("forty members: {}", output.out);
    machine.halt();
}

#[test]
fn a_member_that_looks_while_its_group_is_being_written_hears_of_the_one_that_left() {
    let machine = Machine::start();
    let output = machine.run("unfinished.c", &[]);
    eprint!("{}", output.out);
    machine.halt();
}
