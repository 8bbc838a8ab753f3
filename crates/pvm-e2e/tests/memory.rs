//! Memory that tasks expose, data that they do not copy, and what their probe points note.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, eventually, process};
use std::time::Duration;

#[test]
fn exposed_memory_is_read_and_written_without_its_owner() {
    let machine = Machine::start();
    let (segments, kib) = process::segments(machine.parent());
    machine.run("exposed.c", &["1"]);
    let returned = eventually(Duration::from_secs(10), || {
        let (now, now_kib) = process::segments(machine.parent());
        now <= segments + 2 && now_kib <= kib + 1024
    });
    assert!(returned, "{:?}", process::segments(machine.parent()));
    machine.halt();
}

#[test]
fn exposed_memory_of_other_hosts_is_reached_by_the_same_calls() {
    let machine = Machine::local(3);
    machine.run("exposed.c", &["3"]);
    machine.halt();
}

#[test]
fn words_of_exposed_memory_are_changed_once_whatever_becomes_of_the_daemons() {
    let machine = Machine::local(3);
    let mut running = machine.begin("counter.c", &["3", "2000"]);
    let begun = eventually(Duration::from_secs(60), || running.so_far().contains("begun"));
    assert!(begun, "{}{}", running.so_far(), running.errors_so_far());
    let mut kills = 0;
    while running.is_running() {
        let processes = machine.place().processes();
        let daemons: Vec<u32> = processes
            .iter()
            .filter(|(_, line)| line.contains("--daemon"))
            .map(|&(pid, _)| pid)
            .collect();
        if let Some(&daemon) = daemons.get(kills % daemons.len().max(1)) {
            process::kill(daemon);
            kills += 1;
        }
        std::thread::sleep(Duration::from_millis(50 + kills as u64 % 5 * 40));
    }
    let output = machine.expect_success(running);
    eprintln!("killed daemons {kills} times");
    assert!(kills > 0 && output.out.contains("counted"), "{kills} kills: {}", output.out);
    machine.halt();
}

#[test]
fn data_are_viewed_where_they_lie_and_sent_from_where_they_were_made() {
    let machine = Machine::start();
    machine.run("views.c", &[]);
    machine.halt();
}

#[test]
fn tasks_killed_with_views_open_leave_no_memory() {
    let machine = Machine::start();
    let mut running = machine.begin("views.c", &["hold"]);
    let ready = eventually(Duration::from_secs(60), || {
        running.so_far().contains("ready\n") || !running.is_running()
    });
    assert!(ready && running.is_running(), "{}{}", running.so_far(), running.errors_so_far());
    // Each of the twenty held 200 kB of the same sender; only slabs that can be used again are left.
    let (_, kib) = process::segments(machine.parent());
    assert!(kib < 8 * 1024, "{kib} KiB");
    running.write("\n");
    machine.expect_success(running);
    machine.halt();
}

#[test]
fn probe_points_note_what_two_tasks_do() {
    let machine = Machine::start();
    machine.run("probes.c", &[]);
    machine.halt();
}

#[test]
fn a_tracer_gets_the_events_of_the_original() {
    let machine = Machine::start();
    machine.run("tracer.c", &[]);
    machine.halt();
}
