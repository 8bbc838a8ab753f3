//! The JSON of the commands: the fields that the man pages name, and no others.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/fields.rs"]
mod fields;
#[path = "support/place.rs"]
mod place;

use fields::fields;
use place::Place;
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Nothing here takes a tenth of it.
const TIME_MAX: Duration = Duration::from_secs(60);

/// The exit status, and the one object on standard output.
fn json(place: &Place, args: &[&str]) -> (i32, Value) {
    let output = place.command(args).arg("--json").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1, "{args:?}: {text}");
    (output.status.code().unwrap(), serde_json::from_str(&text).unwrap())
}

const HOST: &str = "addresses arch cores draining name signature speed suspected tid version";
const ADDED: &str = "detail error host ok remedy stage tid";
const DELETED: &str = "detail error host ok remedy stage";
const STATUS: &str =
    "address bad_peers daemon_pid folder guard host name order parent_pid restarts version";
const TASK: &str = "flags host parent pid program tid";

/// A task that lives until it is told to end, and the `pvm run` that waits for it.
fn task(place: &Place) -> (Child, Value) {
    let run = place.command(&["run", "sleep", "60"]).stderr(Stdio::null()).spawn().unwrap();
    (run, first_task(place, &["ps"]))
}

/// Waits until there is one that runs: `pvm run` looks for its program in two places, and what the
/// first one lacked was a task without a process for a moment.
fn first_task(place: &Place, args: &[&str]) -> Value {
    let end = Instant::now() + TIME_MAX;
    loop {
        let (code, tasks) = json(place, args);
        if let Some(task) = tasks["tasks"].get(0)
            && task["pid"] != 0
        {
            return task.clone();
        }
        assert!(code == 0 && Instant::now() < end, "no task");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn hosts_are_told_field_by_field() {
    let place = Place::new();
    let (code, up) = json(&place, &["up", "--name", "here"]);
    assert_eq!((code, fields(&up).as_str()), (0, "added address hosts started version"));
    assert_eq!((&up["started"], fields(&up["hosts"][0]).as_str()), (&Value::Bool(true), HOST));
    assert_eq!(json(&place, &["up"]).1["started"], false);
    let (code, added) = json(&place, &["add", "local", "nowhere.invalid"]);
    let [good, bad] = [&added["hosts"][0], &added["hosts"][1]];
    assert_eq!((code, fields(good).as_str(), fields(bad).as_str()), (1, ADDED, ADDED));
    assert!(good["ok"] == true && good["tid"] == "t80000" && good["error"].is_null());
    assert!(bad["ok"] == false && bad["tid"].is_null() && bad["detail"].is_string(), "{bad}");
    let (_, conf) = json(&place, &["conf"]);
    assert_eq!((fields(&conf), fields(&conf["hosts"][1])), ("hosts".to_owned(), HOST.to_owned()));
    assert!(conf["hosts"][1]["addresses"][0].is_string() && conf["hosts"][1]["draining"] == false);
    let second = conf["hosts"][1]["name"].as_str().unwrap();
    let (code, deleted) = json(&place, &["del", second, "nowhere"]);
    let row = &deleted["hosts"][1];
    assert_eq!((code, fields(row).as_str()), (1, DELETED));
    assert!(deleted["hosts"][0]["ok"] == true && row["error"] == "No such host");
    assert_eq!(fields(&json(&place, &["status"]).1), STATUS);
    let (_, halted) = json(&place, &["halt"]);
    assert_eq!((fields(&halted).as_str(), &halted["hosts"][0]), ("hosts tasks", &"here".into()));
    place.is_cleared();
}

/// A field that was added to the answer passed all tests while the man page did not have it.
#[test]
fn the_help_of_a_command_names_each_field_of_its_json() {
    let place = Place::new();
    let commands =
        [("conf", HOST), ("add", ADDED), ("del", DELETED), ("status", STATUS), ("ps", TASK)];
    for (command, fields) in commands {
        let output = place.command(&["help", command]).output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        let json = &help[help.find("JSON:").unwrap()..];
        let named = |field: &&str| {
            json.split(|c: char| c != '_' && !c.is_alphanumeric()).any(|word| word == *field)
        };
        let missing: Vec<&str> = fields.split(' ').filter(|field| !named(field)).collect();
        assert_eq!(missing, [""; 0], "pvm help {command}: {json}");
    }
}

#[test]
fn tasks_are_told_field_by_field() {
    let place = Place::new();
    assert_eq!(json(&place, &["up", "--name", "here"]).0, 0);
    let (mut run, task) = task(&place);
    assert_eq!(fields(&task), TASK);
    assert!(task["host"] == "here" && task["parent"].is_null() && task["pid"].is_u64(), "{task}");
    let (code, killed) = json(&place, &["kill", "t40077", task["tid"].as_str().unwrap()]);
    assert_eq!((code, fields(&killed).as_str()), (1, "signal tasks"));
    assert_eq!(fields(&killed["tasks"][0]), "error ok tid");
    assert!(killed["tasks"][0]["error"] == "No such task" && killed["tasks"][1]["ok"] == true);
    assert_eq!(run.wait().unwrap().code(), Some(128 + 15));
    assert_eq!(json(&place, &["kill", "all"]).1["tasks"], Value::Array(Vec::new()));
}

#[test]
fn all_tasks_end_but_consoles() {
    let place = Place::new();
    assert_eq!(json(&place, &["up"]).0, 0);
    let mut console = place.command(&[]);
    let mut console = console.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let (mut run, task) = task(&place);
    let end = Instant::now() + TIME_MAX;
    while json(&place, &["ps", "-a"]).1["tasks"].as_array().unwrap().len() < 2 {
        assert!(Instant::now() < end, "no console");
    }
    let output = place.command(&["kill", "-v", "all"]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said, format!("{} was sent SIGTERM\n", task["tid"].as_str().unwrap()));
    assert_eq!(run.wait().unwrap().code(), Some(128 + 15));
    assert!(console.try_wait().unwrap().is_none());
    drop(console.stdin.take());
    assert!(console.wait().unwrap().success());
}

#[test]
fn a_host_that_is_drained_leaves_when_its_last_task_has_ended() {
    let place = Place::new();
    let (code, up) = json(&place, &["up", "--local", "2"]);
    assert_eq!(code, 0);
    let second = up["hosts"][1]["name"].as_str().unwrap();
    let mut run = place.command(&["run", "--host", second, "sleep", "60"]);
    let mut run: Child = run.stderr(Stdio::null()).spawn().unwrap();
    first_task(&place, &["ps", second]);
    assert_eq!(json(&place, &["del", "--drain", second]).0, 0);
    assert_eq!(json(&place, &["conf"]).1["hosts"][1]["draining"], true);
    let conf = place.command(&["conf"]).output().unwrap();
    assert!(String::from_utf8(conf.stdout).unwrap().contains(" draining "));
    let mut wait: Command = place.command(&["del", "--drain", "--wait", "-v", second]);
    let mut wait = wait.stdout(Stdio::piped()).spawn().unwrap();
    // It has asked when it talks to the daemon; a moment later it would be gone if it did not wait.
    let talks = |link: std::io::Result<std::fs::DirEntry>| {
        let target = link.and_then(|link| std::fs::read_link(link.path()));
        target.is_ok_and(|target| target.to_string_lossy().starts_with("socket:"))
    };
    let folder = format!("/proc/{}/fd", wait.id());
    let end = Instant::now() + TIME_MAX;
    while !std::fs::read_dir(&folder).unwrap().any(talks) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(500));
    assert!(wait.try_wait().unwrap().is_none(), "it did not wait");
    assert!(place.command(&["kill", "all"]).status().unwrap().success());
    let output = wait.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{second} has left\n"));
    assert_eq!(run.wait().unwrap().code(), Some(128 + 15));
    assert_eq!(json(&place, &["conf"]).1["hosts"].as_array().unwrap().len(), 1);
}

/// The command asked the host that was leaving, which ended, and took that for a failure. A host
/// that was named `.` was not waited for at all.
#[test]
fn a_host_that_left_at_the_request_of_its_own_command_was_reported_as_a_failure() {
    for with_other in [false, true] {
        let place = Place::new();
        let (code, up) = json(&place, &["up", "--local", "3"]);
        assert_eq!(code, 0);
        let name = |at: usize| up["hosts"][at]["name"].as_str().unwrap();
        let mut run = place.command(&["run", "--host", name(1), "sleep", "60"]);
        let mut run: Child = run.stderr(Stdio::null()).spawn().unwrap();
        first_task(&place, &["ps", name(1)]);
        let named = if with_other { vec![name(0), name(1)] } else { vec!["."] };
        let mut wait = place.command(&[&["del", "--drain", "--wait", "-v"], &named[..]].concat());
        let wait = wait.stdout(Stdio::piped()).spawn().unwrap();
        // `pvm run` is an operator of the first host, which leaves when that one has ended.
        let end = Instant::now() + TIME_MAX;
        while json(&place, &["conf"]).1["hosts"][0]["draining"] != true && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(place.command(&["kill", "all"]).status().unwrap().success());
        let output = wait.wait_with_output().unwrap();
        let said: String = named.iter().map(|name| format!("{name} has left\n")).collect();
        assert_eq!(
            (output.status.code(), String::from_utf8(output.stdout).unwrap()),
            (Some(0), said)
        );
        run.wait().unwrap();
        let hosts = json(&place, &["conf"]).1["hosts"].as_array().unwrap().len();
        assert_eq!(hosts, 3 - named.len());
    }
}
