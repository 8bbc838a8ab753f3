//! The daemon is killed and replaced, by itself and by other versions, while tasks talk and write.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, Running, eventually, process};
use std::path::PathBuf;
use std::time::Duration;

/// The time within which an event has come, also on a busy computer.
const LIMIT: Duration = Duration::from_secs(60);

/// Stands in every pvmd, before its version.
const MARK: &[u8] = b"NeoPVM version ";

/// The installed pvmd as another build: of another version, at a path of its own.
fn other_build(machine: &Machine, name: &str, version: &str) -> PathBuf {
    let installed = pvm_e2e::prefix().join("bin/pvmd");
    let mut bytes = std::fs::read(&installed).expect("the installed daemon");
    let found = bytes.windows(MARK.len()).position(|part| part == MARK);
    let at = found.expect("a version in pvmd") + MARK.len();
    bytes[at..at + version.len()].copy_from_slice(version.as_bytes());
    let path = machine.place().home().join(name);
    pvm_e2e::write_program(&path, bytes);
    path
}

/// Numbers, line by line, in bursts: a program that knows nothing of the machine.
fn writer(machine: &Machine, bursts: u32) -> (Running, String) {
    let mut command = machine.place().installed("pvm");
    let script =
        format!("for i in $(seq 1 {bursts}); do seq $((i*100)) $((i*100+99)); sleep 0.02; done");
    command.args(["run", "--", "sh", "-c", &script]);
    let expected = (100..bursts * 100 + 100).map(|number| format!("{number}\n")).collect();
    (Running::start(command), expected)
}

/// Kills so many daemons, each a moment after it has come.
fn kill_daemons(machine: &Machine, count: u32) {
    for _ in 0..count {
        let there = eventually(LIMIT, || machine.daemon().is_some());
        assert!(there, "no daemon comes back\n{}", machine.log());
        process::kill(machine.daemon().expect("a daemon"));
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The host gave up after the twentieth.
#[test]
fn a_daemon_killed_every_100_ms_loses_and_doubles_no_output() {
    let machine = Machine::start();
    let mut running = machine.begin("talk.c", &["6", "2", "mayflies"]);
    let talks = eventually(LIMIT, || running.so_far().contains("talking\n"));
    assert!(talks && running.is_running(), "{}", running.errors_so_far());
    let (writing, expected) = writer(&machine, 200);
    kill_daemons(&machine, 40);
    let written = machine.expect_success(writing);
    assert!(written.out == expected, "{} bytes of {}", written.out.len(), expected.len());
    machine.expect_success(running);
    machine.run("exits.c", &["4"]);
    machine.halt();
}

#[test]
fn another_version_takes_over_while_tasks_talk_and_write() {
    let machine = Machine::start();
    let new = other_build(&machine, "pvmd-new", "9.8.7");
    let running = machine.begin("talk.c", &["6", "2", "mayflies"]);
    let talks = eventually(LIMIT, || running.so_far().contains("talking\n"));
    assert!(talks, "{}", running.errors_so_far());
    let (writing, expected) = writer(&machine, 150);
    let parent = machine.parent();
    let output = machine.pvm(&["upgrade", "--program", &new.to_string_lossy()]);
    assert_eq!(output.code(), 0, "{}{}{}", output.out, output.err, machine.log());
    assert!(output.out.contains(" -> 9.8.7\n"), "{}", output.out);
    assert!(machine.pvm(&["status"]).out.contains("9.8.7"));
    // One that is killed comes back as what it was.
    process::kill(machine.daemon().expect("a daemon"));
    let back = eventually(LIMIT, || machine.pvm(&["status"]).out.contains("9.8.7"));
    assert!(back, "{}", machine.log());
    // And back, to what the host was started from.
    let output = machine.pvm(&["upgrade"]);
    assert_eq!(output.code(), 0, "{}{}", output.out, output.err);
    assert!(output.out.contains("9.8.7 -> "), "{}", output.out);
    assert_eq!(machine.parent(), parent);
    let written = machine.expect_success(writing);
    assert!(written.out == expected, "{} bytes of {}", written.out.len(), expected.len());
    machine.expect_success(running);
    machine.run("exits.c", &["4"]);
    machine.halt();
}

#[test]
fn a_program_that_is_no_daemon_is_given_up_and_the_old_one_runs_on() {
    let machine = Machine::start();
    let (writing, expected) = writer(&machine, 50);
    let silent = machine.place().compile("silent.c");
    for (program, why) in [
        ("/bin/false", "ended before it was ready"),
        ("/no/such/file", "No such file"),
        ("/etc/passwd", "not a program"),
        (&*silent.to_string_lossy(), "not ready within"),
    ] {
        let output = machine.pvm(&["upgrade", "--program", program]);
        assert_eq!(output.code(), 1, "{program}: {}{}", output.out, output.err);
        assert!(output.err.contains(why), "{program}: {}", output.err);
        machine.run("exits.c", &["2"]);
    }
    let written = machine.expect_success(writing);
    assert!(written.out == expected);
    machine.halt();
}

#[test]
fn all_hosts_of_a_machine_are_upgraded_and_started_daemons_stay_hosts() {
    let machine = Machine::local(3);
    let new = other_build(&machine, "pvmd-new", "9.8.7");
    let running = machine.begin("talk.c", &["5", "2", "mayflies"]);
    let output = machine.pvm(&["upgrade", "--program", &new.to_string_lossy()]);
    assert_eq!(output.code(), 0, "{}{}{}", output.out, output.err, machine.log());
    assert_eq!(output.out.matches("-> 9.8.7\n").count(), 3, "{}", output.out);
    machine.expect_success(running);
    // One more host, started by a daemon of the new version, is no stray of the old parent.
    assert_eq!(machine.pvm(&["add", "local"]).code(), 0);
    assert_eq!(machine.pvm(&["conf", "--json"]).out.matches("\"name\"").count(), 4);
    machine.run("exits.c", &["4"]);
    machine.halt();
}
