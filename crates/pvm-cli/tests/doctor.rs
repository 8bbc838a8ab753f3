//! `pvm doctor` without a host: each fault is made here, found, and told with what to do.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/place.rs"]
mod place;

use place::Place;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Command;

/// The exit status, and the checks of one kind as `state: detail | remedy`.
fn doctor(place: &Place, kind: &str, set: &[(&str, &str)]) -> (i32, String) {
    let mut command = place.command(&["doctor", "--json"]);
    command.envs(set.iter().copied());
    let output = command.output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let code = output.status.code().unwrap();
    assert_eq!(told["ok"] == true, code == 0, "{told}");
    let checks = told["checks"].as_array().unwrap().iter();
    let mine = checks.filter(|check| check["check"] == kind).map(|check| {
        let text = |field: &str| check[field].as_str().unwrap_or("-").to_owned();
        format!("{}: {} | {}\n", text("state"), text("detail"), text("remedy"))
    });
    (code, mine.collect())
}

/// The folder of this user's machines.
fn machines(place: &Place) -> PathBuf {
    let user = rustix::process::getuid().as_raw();
    place.runtime().join(format!("neopvm-{user}"))
}

#[test]
fn a_computer_that_is_well_is_told_so() {
    let place = Place::new();
    let output = place.command(&["doctor"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    for line in ["pvmd     ok       ", "folder   ok       ", "machine  ok       "] {
        assert!(text.contains(line), "{text}");
    }
    assert!(doctor(&place, "machine", &[]).1.contains("does not run; start it with `pvm up`"));
    assert!(place.command(&["up"]).output().unwrap().status.success());
    assert!(doctor(&place, "machine", &[]).1.contains(" runs, 1 host of it here"));
}

#[test]
fn a_folder_that_no_machine_can_use_is_found() {
    let place = Place::new();
    let missing = place.home().join("missing");
    let (code, told) = doctor(&place, "folder", &[("PVM_TMP", missing.to_str().unwrap())]);
    assert!(code == 1 && told.starts_with("failed: ") && told.contains("mkdir -p"), "{told}");
    let long = "v".repeat(100);
    let (code, told) = doctor(&place, "folder", &[("PVM_VMID", &long)]);
    assert!(code == 1 && told.contains("too long for the path"), "{told}");
    std::fs::create_dir(machines(&place)).unwrap();
    std::fs::set_permissions(machines(&place), PermissionsExt::from_mode(0o755)).unwrap();
    let (code, told) = doctor(&place, "folder", &[]);
    assert!(code == 1 && told.contains("is accessible to other users"), "{told}");
    let output = place.command(&["doctor"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "pvm: 1 check failed\n");
    assert!(String::from_utf8(output.stdout).unwrap().contains("\n                  try: "));
}

#[test]
fn what_a_dead_daemon_left_is_found() {
    let place = Place::new();
    let folder = machines(&place).join("old/1");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::set_permissions(machines(&place), PermissionsExt::from_mode(0o700)).unwrap();
    let (code, told) = doctor(&place, "machine", &[]);
    let text = folder.display();
    let wanted = format!("warning: old: a daemon that has ended left {text} | `rm -r {text}`");
    assert!(code == 0 && told.contains(&wanted), "{told}");
}

#[test]
fn a_daemon_that_does_not_answer_is_found_with_its_process() {
    let place = Place::new();
    assert!(place.command(&["up"]).output().unwrap().status.success());
    let status = place.command(&["status", "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    let pid = status["parent_pid"].to_string();
    let signal = |name| Command::new("kill").args(["-s", name, &pid]).status().unwrap();
    assert!(signal("STOP").success());
    let (code, told) = doctor(&place, "machine", &[]);
    assert!(signal("CONT").success());
    assert!(code == 1 && told.contains("does not answer") && told.contains(&pid), "{told}");
}

#[test]
fn another_pvm_is_found() {
    let place = Place::new();
    let folder = place.home().join("theirs");
    std::fs::create_dir(&folder).unwrap();
    let user = rustix::process::getuid().as_raw();
    let address = folder.join(format!("pvmd.{user}"));
    let socket = folder.join("socket");
    std::fs::write(&address, format!("{}\n", socket.display())).unwrap();
    let set = [("PVM_TMP", folder.to_str().unwrap()), ("PVM_ROOT", folder.to_str().unwrap())];
    let (code, told) = doctor(&place, "others", &set);
    assert!(code == 0 && told.contains("a daemon of another PVM that has ended left"), "{told}");
    let _listener = UnixListener::bind(&socket).unwrap();
    assert!(doctor(&place, "others", &set).1.contains("a daemon of another PVM runs"));
    assert!(doctor(&place, "PVM_ROOT", &set).1.contains("contains no NeoPVM"));
}

#[test]
fn the_program_that_starts_other_hosts_is_looked_for() {
    let place = Place::new();
    let (_, told) = doctor(&place, "ssh", &[("PVM_RSH", "/nowhere/ssh")]);
    assert!(told.starts_with("warning: /nowhere/ssh is not installed"), "{told}");
    let (_, told) = doctor(&place, "ssh", &[("PVM_RSH", "/bin/sh")]);
    assert_eq!(told, "ok: /bin/sh (PVM_RSH) | -\n");
}
