//! `pvm run` between its tasks and whoever reads: slow readers, full disks, signals that are
//! ignored, Ctrl-Z.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/place.rs"]
mod place;

use place::Place;
use std::fs::File;
use std::io::{BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Nothing here takes a tenth of it.
const TIME_MAX: Duration = Duration::from_secs(60);
/// The memory that the command may take beside its program, libraries and threads.
const RESIDENT_KB_MAX: u64 = 64 << 10;

/// Waits for `condition` without a chance to hang for ever.
fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + TIME_MAX;
    while !condition() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn end_of(child: &mut Child) -> Option<i32> {
    let mut status = None;
    until("its end", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    status.unwrap().code()
}

/// `pvm run ARGS`, by a shell that does `before` first.
fn run_after(place: &Place, before: &str, args: &[&str]) -> Command {
    let pvm = place.command(&[]);
    let script = format!("{before}; exec \"$@\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, "sh"]).arg(pvm.get_program()).arg("run").args(args);
    shell.current_dir(place.home()).env_clear().stdin(Stdio::null());
    let envs: Vec<_> =
        pvm.get_envs().map(|(n, v)| (n.to_owned(), v.map(ToOwned::to_owned))).collect();
    shell.envs(envs.into_iter().filter_map(|(name, value)| Some((name, value?))));
    shell
}

fn piped(command: &mut Command) -> (Child, BufReader<ChildStdout>) {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    (child, out)
}

fn line_of(out: &mut impl std::io::BufRead) -> String {
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

fn send(signal: &str, pid: &str) {
    assert!(Command::new("kill").args(["-s", signal, pid]).status().unwrap().success());
}

/// A field of `/proc/PID/status`.
fn status_field(pid: u32, field: &str) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field).map(str::trim));
    line.unwrap_or_default().to_owned()
}

fn resident_kb_max(pid: u32) -> u64 {
    status_field(pid, "VmHWM:").trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn signals_that_were_ignored_stay_ignored() {
    let place = Place::new();
    let script = "echo ready; read line; echo more; exit 3";
    for signal in ["HUP", "INT", "QUIT"] {
        let mut command = run_after(&place, &format!("trap '' {signal}"), &["sh", "-c", script]);
        let (mut child, mut out) = piped(command.stdin(Stdio::piped()));
        assert_eq!(line_of(&mut out), "ready");
        send(signal, &child.id().to_string());
        // What is passed on would come before this input.
        drop(child.stdin.take());
        assert_eq!(line_of(&mut out), "more", "{signal}");
        assert_eq!(end_of(&mut child), Some(3), "{signal}");
    }
}

#[test]
fn a_slow_reader_does_not_fill_the_memory() {
    const BYTES: usize = 400_000_000;
    let place = Place::new();
    let script = format!("head -c {BYTES} /dev/zero");
    let (mut child, mut out) = piped(&mut place.command(&["run", "sh", "-c", &script]));
    // Time for everything to pile up.
    std::thread::sleep(Duration::from_secs(2));
    let mut bytes = vec![0; 1 << 20];
    let mut count = 0;
    while count < BYTES {
        let part = bytes.len().min(BYTES - count);
        out.read_exact(&mut bytes[..part]).unwrap();
        count += part;
        let resident = resident_kb_max(child.id());
        assert!(resident <= RESIDENT_KB_MAX, "{resident} KiB after {count} bytes");
    }
    assert_eq!(end_of(&mut child), Some(0));
}

/// The most memory of `pvm run ARGS` in the first seconds, in which nobody reads what it prints.
fn resident_kb_without_a_reader(args: &[&str]) -> u64 {
    let place = Place::new();
    let mut command = place.command(&["run"]);
    let (mut child, mut out) = piped(command.args(args));
    // The first bytes are there: the tasks print.
    out.read_exact(&mut [0]).unwrap();
    std::thread::sleep(Duration::from_secs(3));
    let resident = resident_kb_max(child.id());
    send("INT", &child.id().to_string());
    assert_eq!(end_of(&mut child), Some(130));
    resident
}

#[test]
fn marks_and_lines_that_have_begun_do_not_fill_the_memory() {
    let empty_lines = ["-n", "2", "sh", "-c", "yes '' | head -c 60000000; sleep 60"];
    let resident = resident_kb_without_a_reader(&empty_lines);
    assert!(resident <= RESIDENT_KB_MAX, "{resident} KiB for empty lines");
    let begun = ["-n", "80", "sh", "-c", "echo; head -c 1000000 /dev/zero; sleep 60"];
    let resident = resident_kb_without_a_reader(&begun);
    assert!(resident <= RESIDENT_KB_MAX, "{resident} KiB for lines that have begun");
}

#[test]
fn the_console_does_not_fill_the_memory_for_a_slow_reader() {
    let place = Place::new();
    let (mut child, mut out) = piped(place.command(&[]).stdin(Stdio::piped()));
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"spawn -> /bin/sh -c \"yes | head -c 300000000\"\n").unwrap();
    until("output", || line_of(&mut out).ends_with("] y"));
    // Time for everything to pile up.
    std::thread::sleep(Duration::from_secs(2));
    let resident = resident_kb_max(child.id());
    assert!(resident <= RESIDENT_KB_MAX, "{resident} KiB");
    assert!(place.command(&["halt"]).status().unwrap().success());
    // It has much to write before it sees that.
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_reader_that_stands_still_does_not_keep_a_signal_away() {
    let place = Place::new();
    let (mut child, mut out) = piped(&mut place.command(&["run", "yes"]));
    assert_eq!(line_of(&mut out), "y");
    // Nobody reads on: the pipe fills, and everything behind it.
    send("INT", &child.id().to_string());
    assert_eq!(end_of(&mut child), Some(130));
}

#[test]
fn a_full_disk_is_told_as_what_it_is() {
    let place = Place::new();
    let script = "echo one; read line; echo two";
    let mut command = place.command(&["run", "sh", "-c", script]);
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cannot be written: No space left on device"), "{said}");
    assert_eq!(output.status.code(), Some(1));
    // Where not even that can be told, the status tells it.
    let mut command = place.command(&["run", "sh", "-c", "echo one >&2"]);
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let status = command.stdout(full()).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn what_a_terminal_stops_stops_with_its_tasks() {
    let place = Place::new();
    let script = "echo $$; read line; echo on";
    let mut command = place.command(&["run", "sh", "-c", script]);
    let (mut child, mut out) = piped(command.stdin(Stdio::piped()));
    let task: u32 = line_of(&mut out).parse().unwrap();
    send("TSTP", &child.id().to_string());
    until("we stop", || status_field(child.id(), "State:").starts_with('T'));
    until("the task stops", || status_field(task, "State:").starts_with('T'));
    send("CONT", &child.id().to_string());
    until("the task goes on", || !status_field(task, "State:").starts_with('T'));
    drop(child.stdin.take());
    assert_eq!(line_of(&mut out), "on");
    assert_eq!(end_of(&mut child), Some(0));
}

#[test]
fn a_temporary_folder_that_is_missing_stops_nothing() {
    let place = Place::new();
    let mut command = place.command(&["run", "echo", "here"]);
    let output = command.env("TMPDIR", "/nonexistent").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "here\n");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn too_few_descriptors_are_not_told_as_too_large_an_environment() {
    let place = Place::new();
    let output = run_after(&place, "ulimit -n 24", &["-n", "1", "true"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    if output.status.code() != Some(0) {
        assert!(!said.contains("environment"), "{said}");
        assert!(said.contains("open") && said.contains("files"), "{said}");
    }
    let output = run_after(&place, "ulimit -n 64", &["-n", "60", "sleep", "60"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("were not started") && said.contains("ulimit -Hn"), "{said}");
}

#[test]
fn several_ups_at_once_start_the_hosts_that_are_asked_for_once() {
    let place = Place::new();
    let ups: Vec<Child> = (0..5)
        .map(|_| place.command(&["up", "--local", "3"]).stdout(Stdio::null()).spawn().unwrap())
        .collect();
    ups.into_iter().for_each(|mut up| assert_eq!(end_of(&mut up), Some(0)));
    let conf = place.command(&["conf", "--json"]).output().unwrap();
    let hosts = String::from_utf8(conf.stdout).unwrap().matches("\"arch\"").count();
    assert_eq!(hosts, 3);
}

#[test]
fn a_limit_of_the_size_of_files_is_told_as_what_it_is() {
    let place = Place::new();
    let output = run_after(&place, "ulimit -f 1", &["true"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("ulimit -f"), "{said}");
    place.is_cleared();
}

#[test]
fn of_several_ups_at_once_all_find_the_machine() {
    let place = Place::new();
    for _ in 0..3 {
        let ups: Vec<Child> = (0..5)
            .map(|_| {
                let mut up = place.command(&["up"]);
                up.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        let outputs: Vec<_> = ups.into_iter().map(|up| up.wait_with_output().unwrap()).collect();
        for output in &outputs {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{said}");
            assert_eq!(output.stdout, outputs[0].stdout);
        }
        assert!(place.command(&["halt"]).status().unwrap().success());
        place.is_cleared();
    }
}
