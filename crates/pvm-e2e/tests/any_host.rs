//! Any host may die, the first one too.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, eventually, process};
use std::time::{Duration, Instant};

/// The machine goes on long before this; a busy computer may take longer.
const GOES_ON: Duration = Duration::from_secs(90);

/// After so long the new hosts vote, if they did not take long to join.
const SETTLED: Duration = Duration::from_secs(3);

/// The parent process of the host that began the machine: the others were told to join it.
fn first_parent(machine: &Machine) -> u32 {
    let processes = machine.place().processes();
    let parent = processes.iter().find(|(_, line)| {
        line.contains("pvmd") && !line.contains("--daemon") && !line.contains("--join")
    });
    parent.unwrap_or_else(|| panic!("no first host among {processes:#?}")).0
}

/// A machine in which `hosts` hosts vote. The voters are chosen after hosts have joined; if joining
/// took long, this takes long, too. Who votes is arranged when hosts have joined, and where that
/// took long, it takes long, too.
fn voting(hosts: u32) -> Machine {
    let begun = Instant::now();
    let machine = Machine::local(hosts);
    assert!(eventually(GOES_ON, || has_hosts(&machine, hosts as usize)), "{}", state(&machine));
    std::thread::sleep(SETTLED.max(2 * begun.elapsed()));
    machine
}

fn has_hosts(machine: &Machine, count: usize) -> bool {
    let listed = machine.pvm(&["conf", "--json"]);
    listed.code() == 0 && listed.out.matches("\"name\"").count() == count
}

fn state(machine: &Machine) -> String {
    let listed = machine.pvm(&["conf", "--json"]);
    format!("{}{}\n{}\n{:#?}", listed.out, listed.err, machine.log(), machine.place().processes())
}

#[test]
fn the_machine_goes_on_when_the_first_host_is_killed() {
    let machine = voting(3);
    process::kill(first_parent(&machine));
    assert!(eventually(GOES_ON, || has_hosts(&machine, 2)), "{}", state(&machine));
    let ran = machine.pvm(&["run", "-n", "2", "/bin/echo", "alive"]);
    assert_eq!((ran.code(), ran.out.matches("alive").count()), (0, 2), "{}{}", ran.out, ran.err);
    // A host that comes now is let in by one that was not there first.
    let added = machine.pvm(&["up", "--local", "3"]);
    assert_eq!(added.code(), 0, "{}{}", added.out, added.err);
    assert!(eventually(GOES_ON, || has_hosts(&machine, 3)), "{}", state(&machine));
    machine.halt();
}

#[test]
fn of_two_hosts_the_second_goes_on_when_the_first_says_that_it_ends() {
    let machine = voting(2);
    process::kill(first_parent(&machine));
    assert!(eventually(GOES_ON, || has_hosts(&machine, 1)), "{}", state(&machine));
    let ran = machine.pvm(&["run", "-n", "1", "/bin/echo", "alive"]);
    assert_eq!((ran.code(), ran.out.matches("alive").count()), (0, 1), "{}{}", ran.out, ran.err);
    machine.halt();
}

#[test]
fn the_first_host_can_be_deleted() {
    let machine = Machine::local(3);
    assert!(eventually(GOES_ON, || has_hosts(&machine, 3)), "{}", state(&machine));
    let listed = machine.pvm(&["conf"]);
    let first = listed.out.lines().nth(1).and_then(|line| line.split_whitespace().next());
    let first = first.unwrap_or_default().to_owned();
    let deleted = machine.pvm(&["del", &first]);
    assert_eq!(deleted.code(), 0, "{}{}", deleted.out, deleted.err);
    assert!(eventually(GOES_ON, || has_hosts(&machine, 2)), "{}", state(&machine));
    machine.halt();
}
