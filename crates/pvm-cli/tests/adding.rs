//! `pvm add` while hosts take their time: what a person sees, what a script sees, and the limit.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/place.rs"]
mod place;

use place::Place;
use std::process::{Command, Output, Stdio};

/// A machine whose ssh takes `seconds` and then fails.
fn machine_with_slow_ssh(seconds: u32) -> Place {
    let place = Place::new();
    let program = place.home().join("slow-ssh");
    testbed::write_program(&program, format!("#!/bin/sh\nsleep {seconds}\nexit 255\n"));
    let up = place.command(&["up"]).env("PVM_RSH", &program).output().unwrap();
    assert!(up.status.success());
    place
}

fn said(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_script_sees_nothing_but_the_end() {
    let place = machine_with_slow_ssh(3);
    let (code, out, err) = said(&place.command(&["add", "localhost"]).output().unwrap());
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.starts_with("pvm: localhost was not added: "), "{err}");
    assert!(!err.contains("is being started"), "{err}");
}

#[test]
fn a_person_sees_a_line_for_each_host_that_changes() {
    let place = machine_with_slow_ssh(4);
    let inside = place.command(&[]);
    let mut script = Command::new("script");
    let line = format!("exec {} add localhost local", env!("CARGO_BIN_EXE_pvm"));
    script.args(["-qefc", &line, "/dev/null"]).env_clear().env("TERM", "xterm");
    script.envs(inside.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let Ok(output) = script.stdin(Stdio::null()).current_dir(place.home()).output() else {
        eprintln!("skipped: there is no `script` (package bsdutils)");
        return;
    };
    let (code, out, _) = said(&output);
    assert_eq!(code, 1, "{out}");
    let lines: Vec<&str> = out.lines().map(str::trim_end).collect();
    // On a busy computer the local host may take its time, too.
    let of = |host: &str| {
        let about = lines.iter().filter_map(|line| line.strip_prefix(&format!("pvm: {host} ")));
        about.map(|said| said.split([':', '(']).next().unwrap().trim()).collect::<Vec<_>>()
    };
    assert_eq!(of("localhost"), ["is being started", "cannot be added", "was not added"], "{out}");
    assert_eq!(of("local").last(), Some(&"is in"), "{out}");
}

#[test]
fn waiting_has_an_end_and_the_host_is_named() {
    let place = machine_with_slow_ssh(20);
    let add = ["add", "--timeout", "1", "local", "localhost"];
    let (code, _, err) = said(&place.command(&add).output().unwrap());
    let late = |host: &str| {
        format!(
            "pvm: {host} was not added: Can't start pvmd\n  it has not joined within 1 s\n  try: \
             `pvm conf`, because it may still join\n"
        )
    };
    // On a busy computer the local host may be late, too.
    assert_eq!((code, err.replace(&late("local"), "")), (1, late("localhost")));
}

#[test]
fn a_host_file_is_read_before_anything_is_asked() {
    let place = machine_with_slow_ssh(0);
    let file = place.home().join("hosts");
    std::fs::write(&file, "local\nlab2 bogus=1\n").unwrap();
    let file = file.to_str().unwrap();
    let (code, _, err) = said(&place.command(&["add", "--hostfile", file]).output().unwrap());
    assert_eq!((code, err), (2, format!("pvm: {file}: line 2: unknown option \"bogus=1\"\n")));
    std::fs::write(file, "local\n&lab2 sp=7\n").unwrap();
    let (code, out, err) =
        said(&place.command(&["add", "-v", "--hostfile", file]).output().unwrap());
    assert_eq!((code, out.as_str(), err.as_str()), (0, "local was added: t80000\n", ""));
}
