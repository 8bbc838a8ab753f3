//! The console against transcripts of PVM 3.4.6's: `console/*.txt`.
//!
//! Each script is fed line by line, the next line when the output has come as far as the
//! transcript has it before that line, so nothing depends on the speed of the computer.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/place.rs"]
mod place;

use place::Place;
use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The time for which a line waits for the output before it; then the transcripts differ anyway.
const LINE_TIME_MAX: Duration = Duration::from_secs(60);
const LONG_HEADER: &str = "HOST      TID     PTID    PID";

struct Transcript {
    rc: String,
    lines: Vec<String>,
    output: String,
}

impl Transcript {
    fn read(name: &str) -> Self {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/console");
        let text = std::fs::read_to_string(format!("{folder}/{name}.txt")).unwrap();
        let section = |wanted: &str| {
            let start = text.find(&format!("--- {wanted}\n")).map(|at| at + wanted.len() + 5);
            let rest = start.map_or("", |start| &text[start..]);
            rest.find("\n--- ").filter(|_| wanted != "output").map_or(rest, |end| &rest[..=end])
        };
        let is_line = |line: &&str| !line.starts_with("%sleep ");
        let lines = section("script").lines().filter(is_line).map(str::to_owned).collect();
        Self { rc: section("rc").to_owned(), lines, output: normal(section("output")) }
    }
}

/// Without what differs from run to run: process ids.
fn normal(text: &str) -> String {
    let mut long = false;
    let lines = text.split_inclusive('\n').map(|line| {
        if line.starts_with("                    HOST") {
            long = line.contains(LONG_HEADER);
        } else if long && line.len() > 50 && line.starts_with("      ") {
            return format!("{}   PID{}", &line[..43], &line[49..]);
        }
        line.to_owned()
    });
    lines.collect()
}

fn check(name: &str) {
    let transcript = Transcript::read(name);
    let place = Place::new();
    std::fs::write(place.home().join(".pvmrc"), &transcript.rc).unwrap();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command = place.command(&["-nvm"]);
    command.stdin(Stdio::piped()).stdout(writer.try_clone().unwrap()).stderr(writer);
    let mut console = command.spawn().unwrap();
    drop(command);
    let said = Arc::new(Mutex::new(Vec::new()));
    let to = Arc::clone(&said);
    let reading = std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = reader.read(&mut bytes) {
            to.lock().unwrap().extend_from_slice(&bytes[..count]);
        }
    });
    let home = place.home().display().to_string();
    let so_far = || {
        let text = String::from_utf8_lossy(&said.lock().unwrap()).replace(&home, "$HOME");
        normal(&text)
    };
    let mut input = console.stdin.take().unwrap();
    let mut before = 0;
    for line in &transcript.lines {
        // What was killed does not show in the output: as many tasks shall be left.
        if let Some(tasks) = line.strip_prefix("%tasks ") {
            place.await_tasks(tasks.parse().unwrap());
            continue;
        }
        let echo = format!("{line}\n");
        let at = transcript.output[before..].find(&echo).map_or(before, |at| before + at);
        let end = Instant::now() + LINE_TIME_MAX;
        let runs = |console: &mut Child| console.try_wait().unwrap().is_none();
        while so_far() != transcript.output[..at] && Instant::now() < end && runs(&mut console) {
            std::thread::sleep(Duration::from_millis(1));
        }
        before = at + echo.len();
        // A console that has ended reads no more.
        let _ = input.write_all(echo.as_bytes());
    }
    drop(input);
    let status = console.wait().unwrap();
    reading.join().unwrap();
    let output = so_far() + &ending(status);
    assert!(output == transcript.output, "{name}:\n{}", difference(&transcript.output, &output));
}

fn ending(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("[ended by signal {signal}]\n"),
        (None, code) => format!("[exit status {}]\n", code.unwrap_or(-1)),
    }
}

/// The first line that differs, with those around it.
fn difference(wanted: &str, got: &str) -> String {
    let (wanted, got): (Vec<&str>, Vec<&str>) = (wanted.lines().collect(), got.lines().collect());
    let same = wanted.iter().zip(&got).take_while(|(a, b)| a == b).count();
    let part = |lines: &[&str]| {
        let around = lines.iter().skip(same.saturating_sub(3)).take(10);
        around.map(|line| format!("  {line}\n")).collect::<String>()
    };
    format!("PVM 3.4.6, from line {same}:\n{}ours:\n{}", part(&wanted), part(&got))
}

macro_rules! transcripts {
    ($($name:ident),*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name));
        }
    )*};
}

transcripts!(
    aliases,
    end_of_input,
    halt,
    help,
    hosts,
    lines,
    names,
    output,
    quit_in_rc,
    rc,
    settings,
    spawn,
    tasks,
    trace,
    variables
);

/// With `script`, which makes a terminal. What is shown depends on the terminal's kind, so only
/// the words are looked at.
#[test]
fn on_a_terminal_lines_are_not_echoed_twice_and_output_does_not_cut_them() {
    let place = Place::new();
    let inside = place.command(&["-nvm"]);
    let mut script = Command::new("script");
    script.args(["-qefc", &format!("exec {}", env!("CARGO_BIN_EXE_pvm")), "/dev/null"]);
    script.env_clear().env("TERM", "xterm");
    script.envs(inside.get_envs().filter_map(|(name, value)| Some((name, value?))));
    script.stdin(Stdio::piped()).stdout(Stdio::piped()).current_dir(place.home());
    let Ok(mut terminal) = script.spawn() else {
        eprintln!("skipped: there is no `script` (package bsdutils)");
        return;
    };
    let mut input = terminal.stdin.take().unwrap();
    let mut output = terminal.stdout.take().unwrap();
    let mut text = String::new();
    let mut until = |wanted: &str| {
        let mut bytes = [0; 4096];
        while !text.contains(wanted) {
            let count = output.read(&mut bytes).unwrap();
            assert!(count > 0, "no {wanted:?} in {text:?}");
            text += &String::from_utf8_lossy(&bytes[..count]);
        }
        let rest = text.split_off(text.find(wanted).unwrap() + wanted.len());
        std::mem::replace(&mut text, rest)
    };
    until("pvm> ");
    let task = "until [ -e go ]; do sleep 0.1; done; echo out";
    input.write_all(format!("spawn -> /bin/sh -c '{task}'\r").as_bytes()).unwrap();
    until("1 successful");
    // Half a line, output above it, the other half.
    input.write_all(b"vers").unwrap();
    until("vers");
    std::fs::write(place.home().join("go"), "").unwrap();
    let between = until("finished");
    assert!(between.contains("[1:t40002] out"), "{between:?}");
    input.write_all(b"ion\r").unwrap();
    until("3.4.6");
    input.write_all(b"halt\r").unwrap();
    let mut rest = Vec::new();
    // The terminal's end is an error on some systems.
    let _ = output.read_to_end(&mut rest);
    assert_eq!(terminal.wait().unwrap().code(), Some(128 + 15));
    let history = std::fs::read_to_string(place.home().join(".pvm_history")).unwrap();
    assert!(history.ends_with("version\nhalt\n"), "{history}");
}
