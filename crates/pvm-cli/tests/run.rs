//! `pvm run`: what comes out, how it ends, and that nothing is left.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/place.rs"]
mod place;

use place::Place;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Nothing here takes a tenth of it.
const TIME_MAX: Duration = Duration::from_secs(60);

fn run(place: &Place, args: &[&str]) -> Output {
    place.command(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// Waits without a chance to hang for ever.
fn end_of(child: &mut Child) -> Option<i32> {
    let end = Instant::now() + TIME_MAX;
    while Instant::now() < end {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    panic!("it did not end");
}

/// Starts it, and returns when the program has said `ready`.
fn started(place: &Place, args: &[&str]) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = place.command(args).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("ready") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "it ended early");
    }
    (child, out)
}

fn send(signal: &str, child: &Child) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
}

#[test]
fn one_task_is_as_if_the_program_ran_here() {
    let place = Place::new();
    let script = "pwd; echo $A-$B; echo err >&2; exit 7";
    let mut command = place.command(&["run", "--env", "B=b", "sh", "-c", script]);
    let output = command.env("A", "a").output().unwrap();
    assert_eq!(text(&output.stdout), format!("{}\na-b\n", place.home().display()));
    assert_eq!(text(&output.stderr), "err\n");
    assert_eq!(code(&output), 7);
    assert_eq!(place.files(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn standard_input_goes_to_the_first_task() {
    let place = Place::new();
    let mut command = place.command(&["run", "cat"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    let mut input = child.stdin.take().unwrap();
    let sent = bytes.clone();
    let feeding = std::thread::spawn(move || input.write_all(&sent).unwrap());
    let output = child.wait_with_output().unwrap();
    feeding.join().unwrap();
    assert!(output.stdout == bytes, "{} bytes came back", output.stdout.len());
    assert_eq!(code(&output), 0);
}

#[test]
fn many_tasks_have_their_lines_marked() {
    let place = Place::new();
    let output = run(&place, &["run", "-n", "3", "sh", "-c", "echo one; printf two"]);
    let mut lines: Vec<String> = text(&output.stdout).lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines.len(), 6);
    assert!(lines.iter().all(|line| line.starts_with("[t4") && line.contains("] ")), "{lines:?}");
    assert!(lines[0].ends_with("] one") && lines[1].ends_with("] two"), "{lines:?}");
    let output = run(&place, &["run", "-q", "-n", "2", "echo", "x"]);
    assert_eq!(text(&output.stdout), "x\nx\n");
}

#[test]
fn the_first_status_that_is_not_zero_is_ours() {
    let place = Place::new();
    assert_eq!(code(&run(&place, &["run", "-n", "2", "true"])), 0);
    assert_eq!(code(&run(&place, &["run", "sh", "-c", "kill -9 $$"])), 137);
}

#[test]
fn a_missing_program_is_answered_with_the_paths_tried() {
    let place = Place::new();
    let output = run(&place, &["run", "no-such-program"]);
    assert_eq!(code(&output), 127);
    let said = text(&output.stderr);
    let tried = place.home().join("pvm3/bin/LINUX64/no-such-program");
    assert!(said.contains(&format!("tried {}", tried.display())), "{said}");
    std::fs::write(place.home().join("plain"), "text").unwrap();
    let output = run(&place, &["run", "./plain"]);
    assert_eq!(code(&output), 126);
    assert!(text(&output.stderr).contains("chmod +x"));
    for (file, reason) in [("text", "no script"), ("#!/no/such -x\n", "/no/such -x, which")] {
        let script = place.home().join("script");
        testbed::write_program(&script, file);
        let output = run(&place, &["run", "./script"]);
        assert_eq!(code(&output), 126);
        assert!(text(&output.stderr).contains(reason), "{}", text(&output.stderr));
    }
    std::fs::create_dir(place.home().join("folder")).unwrap();
    let output = run(&place, &["run", "./folder"]);
    assert_eq!(code(&output), 126);
    assert!(text(&output.stderr).contains("a folder, not a program"));
    assert_eq!(code(&run(&place, &["run", ""])), 2);
    assert_eq!(code(&run(&place, &["run", "--bogus", "true"])), 2);
    let output = run(&place, &["run", "--host", "nowhere", "true"]);
    assert_eq!(code(&output), 1);
    assert!(text(&output.stderr).contains("no such host: nowhere"));
}

#[test]
fn a_signal_is_passed_on_and_its_answer_counts() {
    let place = Place::new();
    let script = "trap 'echo got it; exit 5' TERM; echo ready; while :; do sleep 0.05; done";
    let (mut child, mut out) = started(&place, &["run", "sh", "-c", script]);
    send("TERM", &child);
    let mut rest = String::new();
    out.read_line(&mut rest).unwrap();
    assert_eq!(rest, "got it\n");
    assert_eq!(end_of(&mut child), Some(5));
    let (mut child, _out) = started(&place, &["run", "sh", "-c", "echo ready; exec sleep 60"]);
    send("INT", &child);
    assert_eq!(end_of(&mut child), Some(130));
    assert_eq!(place.files(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn the_second_signal_kills_at_once() {
    let place = Place::new();
    let script = "trap 'echo no' INT; echo ready; while :; do sleep 0.05; done";
    let (mut child, mut out) = started(&place, &["run", "sh", "-c", script]);
    send("INT", &child);
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!((line.as_str(), child.try_wait().unwrap()), ("no\n", None));
    // It would go on for ever.
    send("INT", &child);
    assert_eq!(end_of(&mut child), Some(130));
}

#[test]
fn a_killed_run_takes_its_machine_along() {
    let place = Place::new();
    let mark = place.home().join("mark");
    let touch = format!("touch {}", mark.display());
    let script = format!("{touch}; echo ready; while :; do {touch}; sleep 0.02; done");
    let (mut child, _out) = started(&place, &["run", "sh", "-c", &script]);
    child.kill().unwrap();
    child.wait().unwrap();
    let end = Instant::now() + TIME_MAX;
    while !place.files().is_empty() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(place.files(), Vec::<std::path::PathBuf>::new());
    std::fs::remove_file(&mark).unwrap();
    std::thread::sleep(Duration::from_millis(150));
    assert!(!mark.exists(), "the task lives on");
}

#[test]
fn a_reader_that_goes_away_ends_the_tasks() {
    let place = Place::new();
    let (mut child, out) = started(&place, &["run", "sh", "-c", "echo ready; exec yes"]);
    drop(out);
    assert_eq!(end_of(&mut child), Some(141));
}

#[test]
fn a_machine_that_runs_is_used_and_left_running() {
    let place = Place::new();
    assert_eq!(code(&run(&place, &["up"])), 0);
    let output = run(&place, &["run", "sh", "-c", "echo $PVM_VMID; exec sleep 0"]);
    assert_eq!(code(&output), 0);
    assert!(text(&output.stdout).starts_with('t'), "{}", text(&output.stdout));
    assert_eq!(code(&run(&place, &["ps"])), 0);
    let (mut child, _out) = started(&place, &["run", "sh", "-c", "echo ready; exec sleep 60"]);
    let tasks = text(&run(&place, &["ps", "--json"]).stdout);
    assert!(tasks.contains("\"pid\""), "{tasks}");
    child.kill().unwrap();
    child.wait().unwrap();
    let end = Instant::now() + TIME_MAX;
    while text(&run(&place, &["ps", "--json"]).stdout) != "{\"tasks\":[]}\n" {
        assert!(Instant::now() < end, "the tasks of a killed run live on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_thousand_tasks_are_run() {
    let place = Place::new();
    assert_eq!(code(&run(&place, &["run", "-n", "1000", "true"])), 0);
    // 120 MB of arguments and environments: more than one frame holds.
    let many = format!("X={}", " ".repeat(120_000));
    assert_eq!(code(&run(&place, &["run", "-n", "1000", "--env", &many, "true"])), 0);
    let output = run(&place, &["run", "-n", "262144", "true"]);
    assert_eq!(code(&output), 2);
    assert!(text(&output.stderr).contains("262143"), "{}", text(&output.stderr));
}

#[test]
fn a_run_inside_a_task_uses_its_machine() {
    let place = Place::new();
    let pvm = env!("CARGO_BIN_EXE_pvm");
    let script = format!("echo $PVM_VMID; exec {pvm} run -q -n 2 sh -c 'echo $PVM_VMID; exit 4'");
    let output = run(&place, &["run", "sh", "-c", &script]);
    let out = text(&output.stdout);
    let mut vmids: Vec<&str> = out.lines().collect();
    assert_eq!(vmids.len(), 3, "{out}");
    vmids.dedup();
    assert_eq!(vmids.len(), 1, "{out}");
    assert_eq!(code(&output), 4);
    assert_eq!(place.files(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn in_the_background_of_a_terminal_it_is_not_stopped_for_its_input() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let place = Place::new();
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let path = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let tasks_end = std::fs::File::options().read(true).write(true).open(path).unwrap();
    // Somebody types, but not for us.
    std::fs::File::from(terminal.try_clone().unwrap()).write_all(b"typed\n").unwrap();
    let script = r#""$PVM" run sh -c 'sleep 0.3; echo done' & wait $!; echo "ended with $?""#;
    let mut shell = Command::new("timeout");
    shell.args(["60", "setsid", "--ctty", "--wait", "sh", "-mc", script]);
    let ours = place.command(&[]);
    shell.current_dir(place.home()).env_clear();
    shell.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.env("PVM", ours.get_program()).stdin(tasks_end).output().unwrap();
    assert_eq!(text(&output.stdout), "done\nended with 0\n", "{}", text(&output.stderr));
}
