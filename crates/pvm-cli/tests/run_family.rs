//! `pvm run` with a program that spawns: what its tasks start belongs to the run.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/place.rs"]
mod place;

use place::Place;
use pvm::Task;
use pvm_wire::request::{Inherited, Reply, Request, SpawnRequest, Target, TraceOptions};
use pvm_wire::{Blob, Tid};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};
use testbed::eventually;

/// Nothing here takes a tenth of it.
const TIME_MAX: Duration = Duration::from_secs(60);
/// The part that this program plays, if it is a task.
const PART: &str = "PVM_TEST_PART";
/// Children tell here that they have begun, each by a file: the master ends when both have.
const BEGUN: &str = "PVM_TEST_BEGUN";
/// The time for which a child goes on, and for which the master goes on, in milliseconds.
const CHILD_MS: &str = "PVM_TEST_CHILD_MS";
const MASTER_MS: &str = "PVM_TEST_MASTER_MS";
const PART_ARGS: [&str; 4] = ["part", "--exact", "--ignored", "--nocapture"];

fn pause(name: &str) {
    let text = std::env::var(name).unwrap();
    std::thread::sleep(Duration::from_millis(text.parse().unwrap()));
}

/// The tasks of these tests: this very program, started again.
#[test]
#[ignore = "run as a task by the others"]
fn part() {
    let Ok(part) = std::env::var(PART) else { return };
    let task = Task::enrol(b"part", true).unwrap();
    if part == "child" {
        println!("\nchild here");
        let name = std::process::id().to_string();
        std::fs::write(Path::new(&std::env::var(BEGUN).unwrap()).join(name), "").unwrap();
        pause(CHILD_MS);
        println!("child ends");
        std::process::exit(9);
    }
    let kept = |name: &str| format!("{name}={}", std::env::var(name).unwrap()).as_str().into();
    let nobody = || Target { tid: Tid::NONE, context: 0, tag: 0 };
    let trace = TraceOptions { target: nobody(), buffer: 0, options: 0, mask: Blob::default() };
    let spawn = SpawnRequest {
        file: std::env::current_exe().unwrap().to_str().unwrap().into(),
        args: PART_ARGS.map(Blob::from).to_vec(),
        flags: 0,
        place: Blob::default(),
        count: 2,
        environment: vec![format!("{PART}=child").as_str().into(), kept(CHILD_MS), kept(BEGUN)],
        whole_environment: false,
        directory: Blob::default(),
        inherited: Inherited { context: 0, output: nobody(), trace },
    };
    let reply = task.request(&Request::Spawn { spawn }).unwrap();
    let Reply::Spawned { outcomes, .. } = reply else { panic!("{reply:?}") };
    assert!(outcomes.iter().all(|&outcome| outcome > 0), "{outcomes:?}");
    println!("\nmaster here");
    let begun = std::env::var(BEGUN).unwrap();
    assert!(eventually(TIME_MAX, || std::fs::read_dir(&begun).unwrap().count() == 2));
    pause(MASTER_MS);
    std::process::exit(3);
}

fn command(place: &Place, child_ms: u32, master_ms: u32) -> Command {
    let program = std::env::current_exe().unwrap();
    let mut args = vec!["run", program.to_str().unwrap()];
    args.extend(PART_ARGS);
    let mut command = place.command(&args);
    let begun = place.home().join("begun");
    std::fs::create_dir(&begun).unwrap();
    command.env(PART, "master").env(BEGUN, begun);
    command.env(CHILD_MS, child_ms.to_string()).env(MASTER_MS, master_ms.to_string());
    command
}

fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
}

/// The number of lines of a child, with its mark, that say this.
fn said(lines: &[String], what: &str) -> usize {
    let of_child = |line: &&String| line.starts_with("[t") && line.ends_with(what);
    lines.iter().filter(of_child).count()
}

/// Starts it, and returns when the master and both children have spoken.
fn started(place: &Place) -> (Child, BufReader<ChildStdout>) {
    let mut command = command(place, 60_000, 60_000);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut heard = 0;
    while heard < 3 {
        let mut line = String::new();
        assert!(out.read_line(&mut line).unwrap() > 0, "it ended early");
        heard += u32::from(line.contains(" here"));
    }
    (child, out)
}

fn tasks_end(place: &Place) {
    let end = Instant::now() + TIME_MAX;
    loop {
        let Output { stdout, .. } = place.command(&["ps", "--json"]).output().unwrap();
        if stdout == b"{\"tasks\":[]}\n" {
            return;
        }
        assert!(Instant::now() < end, "{}", String::from_utf8_lossy(&stdout));
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn what_children_print_and_how_long_they_take_belongs_to_the_run() {
    // Children have a second behind their master. On a busy computer those of one run or another
    // need more for the rest of their 200 ms.
    let mut late = Vec::new();
    for _ in 0..20 {
        let place = Place::new();
        let output = command(&place, 200, 0).output().unwrap();
        let out = lines(&output.stdout);
        assert!(out.iter().any(|line| line == "master here"), "{out:?}");
        // The children's statuses are not the program's.
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(place.files(), Vec::<std::path::PathBuf>::new());
        late = lines(&output.stderr);
        if late.is_empty() {
            assert_eq!((said(&out, "child here"), said(&out, "child ends")), (2, 2), "{out:?}");
            break;
        }
    }
    assert_eq!(late, [""; 0]);
}

#[test]
fn children_that_go_on_are_ended_and_named() {
    let place = Place::new();
    let start = Instant::now();
    let output = command(&place, 600_000, 0).output().unwrap();
    let err = lines(&output.stderr);
    assert_eq!(err.len(), 1, "{err:?}");
    assert!(err[0].starts_with("pvm: ended what the program left running: t4"), "{err:?}");
    assert_eq!(output.status.code(), Some(3));
    assert!((1..600).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
}

#[test]
fn a_signal_ends_the_children_too_on_all_hosts() {
    let place = Place::new();
    assert!(place.command(&["up", "--local", "2"]).output().unwrap().status.success());
    let (mut child, _out) = started(&place);
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &pid]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    tasks_end(&place);
}

#[test]
fn a_killed_run_takes_the_children_along_on_all_hosts() {
    let place = Place::new();
    assert!(place.command(&["up", "--local", "2"]).output().unwrap().status.success());
    let (mut child, _out) = started(&place);
    child.kill().unwrap();
    child.wait().unwrap();
    tasks_end(&place);
}
