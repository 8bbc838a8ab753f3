//! Any host may die, the first one too.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, eventually, process};
use std::time::Duration;

/// The machine goes on long before this; a busy computer may take longer.
const GOES_ON: Duration = Duration::from_secs(30);

/// The parent process of the host that began the machine: the others were told to join it.
fn first_parent(machine: &Machine) -> u32 {
    let processes = machine.place().processes();
    let parent = processes.iter().find(|(_, line)| {
        line.contains("pvmd") && !line.contains("--daemon") && !line.contains("--join")
    });
    parent.unwrap_or_else(|| panic!("no first host among {processes:#?}")).0
}

#[test]
fn the_machine_goes_on_when_the_first_host_is_killed() {
    let machine = Machine::local(3);
    let hosts = |count: usize| {
        let listed = machine.pvm(&["conf", "--json"]);
        listed.code() == 0 && listed.out.matches("\"name\"").count() == count
    };
    assert!(eventually(GOES_ON, || hosts(3)), "{}", machine.pvm(&["conf", "--json"]).out);
    process::kill(first_parent(&machine));
    let goes_on = eventually(GOES_ON, || hosts(2));
    assert!(goes_on, "{}\n{}", machine.pvm(&["conf", "--json"]).out, machine.log());
    // What all hosts agree on can still be changed, and tasks start and end.
    machine.run("exits.c", &["4"]);
    // A host that comes now is told everything by one that came later than the dead one.
    let added = machine.pvm(&["up", "--local", "3"]);
    assert_eq!(added.code(), 0, "{}{}", added.out, added.err);
    assert!(eventually(GOES_ON, || hosts(3)), "{}", machine.log());
    machine.halt();
}
