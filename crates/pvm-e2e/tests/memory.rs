//! Memory that tasks expose, data that they do not copy, and what their probe points note.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, Running, eventually, has, prefix, process};
use std::time::Duration;

/// A tracer and what it traces have done with it, also on a busy computer.
const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn exposed_memory_is_read_and_written_without_its_owner() {
    let machine = Machine::start();
    let (segments, kib) = process::segments(machine.parent());
    machine.run("exposed.c", &["1"]);
    let returned = eventually(LIMIT, || {
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
    let begun = eventually(LIMIT, || running.so_far().contains("begun"));
    assert!(begun, "{}{}", running.so_far(), running.errors_so_far());
    let mut kills = 0;
    while running.is_running() {
        let rest = Duration::from_millis(50 + kills as u64 % 5 * 40);
        kills += usize::from(machine.kill_daemon(kills, rest));
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
    let ready = eventually(LIMIT, || running.so_far().contains("ready\n") || !running.is_running());
    assert!(ready && running.is_running(), "{}{}", running.so_far(), running.errors_so_far());
    // Each of the twenty held 200 kB of the same sender; only slabs that can be used again are
    // left.
    let kib = || process::segments(machine.parent()).1;
    assert!(eventually(LIMIT, || kib() < 8 * 1024), "{} KiB", kib());
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

/// PVM's own library for tracers is linked into it, ours is what it talks to.
#[test]
fn debians_tracer_sees_tasks_come_and_go_and_its_file_is_imported() {
    if !has("tracer", "pvm-dev") {
        return;
    }
    let machine = Machine::start();
    let file = machine.place().home().join("run.trc");
    // Line by line, although nobody's terminal reads it.
    let mut command = machine.place().command("stdbuf");
    command.args(["-oL", "tracer", "-T"]).arg(&file).env("LD_LIBRARY_PATH", prefix().join("lib"));
    let mut tracer = Running::start(command);
    let connected = eventually(LIMIT, || tracer.so_far().contains("Tracer connected"));
    assert!(connected, "{}{}", tracer.so_far(), tracer.errors_so_far());
    machine.run("exits.c", &["2"]);
    let complete = eventually(LIMIT, || tracer.so_far().contains("Trace File Complete"));
    assert!(complete, "{}{}", tracer.so_far(), tracer.errors_so_far());
    tracer.write("quit\n");
    let said = tracer.finish(LIMIT);
    assert!(!format!("{}{}", said.out, said.err).contains("Missing DID List"), "{said:?}");
    let text = std::fs::read_to_string(&file).expect("the tracer's file");
    for event in ["newtask(", "spntask(", "endtask("] {
        assert!(text.contains(event), "no {event}\n{text}");
    }
    let trace = machine.place().home().join("run.trace");
    let (file, trace) = (file.display().to_string(), trace.display().to_string());
    machine.pvm(&["trace", "import", "--form", "sddf", &file, "-o", &trace]);
    let profile = machine.pvm(&["trace", "profile", &trace]);
    assert!(profile.out.contains("exits"), "{profile:?}");
    machine.halt();
}
