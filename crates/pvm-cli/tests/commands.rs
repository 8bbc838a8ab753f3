//! The commands beside the console, one machine each.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/place.rs"]
mod place;

use place::Place;
use std::process::Output;

fn pvm(place: &Place, args: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = place.command(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

#[test]
fn without_a_machine_each_command_says_what_to_do() {
    let place = Place::new();
    for command in [&["ps"][..], &["conf", "--json"], &["halt"], &["kill", "t40001"], &["add", "x"]]
    {
        let (code, out, said) = pvm(&place, command);
        assert_eq!((code, out.as_str()), (3, ""), "{command:?}");
        assert!(said.contains("no virtual machine is running") && said.contains("`pvm up`"));
    }
    assert_eq!(pvm(&place, &["kill"]).0, 2);
}

#[test]
fn a_wrong_word_is_told_with_the_nearest_right_one() {
    let place = Place::new();
    let (code, _, said) = pvm(&place, &["nonsense"]);
    assert!(code == 2 && said.contains("neither a command nor a host file"), "{said}");
    let (code, _, said) = pvm(&place, &["hlat"]);
    assert!(code == 2 && said.contains("did you mean `pvm halt`?"), "{said}");
    let (code, _, said) = pvm(&place, &["conf", "--jsn"]);
    assert!(code == 2 && said.contains("'--json'"), "{said}");
    let (code, _, said) = pvm(&place, &["-z"]);
    assert!(code == 2 && said.contains("-z: the console has no such option"), "{said}");
    let (code, _, said) = pvm(&place, &["add", "lab2:2222"]);
    assert!(code == 2 && said.contains("~/.ssh/config"), "{said}");
    let (code, _, said) = pvm(&place, &["add", "lab2", "-o", "px=1"]);
    assert!(code == 2 && said.contains("unknown option \"px=1\""), "{said}");
}

#[test]
fn a_machine_goes_up_is_shown_and_halts() {
    let place = Place::new();
    let (code, address, said) = pvm(&place, &["up", "--name", "here"]);
    assert_eq!((code, said.as_str()), (0, ""));
    assert_eq!(address.lines().count(), 1);
    assert_eq!(pvm(&place, &["up"]), (0, address.clone(), String::new()));
    let (_, conf, _) = pvm(&place, &["conf"]);
    let mut rows = conf.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let columns = ["HOST", "TID", "ARCH", "CORES", "SPEED", "VERSION", "STATE", "ADDRESS"];
    assert_eq!(rows.next().unwrap(), columns);
    let row = rows.next().unwrap();
    assert_eq!((&row[..2], row[6]), (&["here", "t40000"][..], "up"));
    let (_, json, _) = pvm(&place, &["conf", "--json"]);
    assert!(json.starts_with("{\"hosts\":[{") && json.ends_with("}]}\n"), "{json}");
    assert_eq!(pvm(&place, &["names", "--json"]).1, "{\"names\":[]}\n");
    assert_eq!(pvm(&place, &["groups", "--json"]).1, "{\"groups\":[]}\n");
    assert!(pvm(&place, &["status"]).1.contains(address.trim()));
    let (code, _, said) = pvm(&place, &["kill", "t40077"]);
    assert_eq!((code, said.as_str()), (1, "pvm: no such task: t40077\n  `pvm ps` lists them\n"));
    assert_eq!(pvm(&place, &["ps", "nowhere"]).0, 1);
    assert_eq!(pvm(&place, &["del", "nowhere"]).0, 1);
    let (code, _, said) = pvm(&place, &["del", "here"]);
    assert!(code == 1 && said.contains("`pvm halt`"), "{said}");
    let (code, _, said) = pvm(&place, &["add", "nowhere.invalid"]);
    assert!(code == 1 && said.starts_with("pvm: nowhere.invalid was not added: "), "{said}");
    assert!(said.lines().count() > 1, "no reason: {said}");
    assert_eq!(pvm(&place, &["add", "local"]), (0, String::new(), String::new()));
    assert_eq!(pvm(&place, &["conf"]).1.lines().count(), 3);
    let (code, stopped, said) = pvm(&place, &["halt"]);
    assert_eq!((code, said.as_str()), (0, ""));
    assert!(stopped.starts_with("stopped 2 hosts (here, ") && stopped.ends_with("; no task ran\n"));
    assert_eq!(pvm(&place, &["halt"]).0, 3);
    place.is_cleared();
}

#[test]
fn several_hosts_on_this_computer_are_one_machine() {
    let place = Place::new();
    let (code, _, said) = pvm(&place, &["up", "--local", "3"]);
    assert_eq!((code, said.as_str()), (0, ""));
    let (_, conf, _) = pvm(&place, &["conf"]);
    let names: Vec<&str> =
        conf.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    let [first, second, third] = names[..] else { panic!("not three: {conf}") };
    assert_eq!((second, third), (&*format!("{first}.2"), &*format!("{first}.3")));
    let args = ["run", "-q", "--host", third, "sh", "-c", "echo $PVMSOCK"];
    let (code, out, said) = pvm(&place, &args);
    assert_eq!((code, said.as_str()), (0, ""));
    assert!(out.ends_with("/pvmd.sock\n") && !out.contains("/1/"), "{out}");
    assert_eq!(pvm(&place, &["del", second]).0, 0);
    assert_eq!(pvm(&place, &["conf"]).1.lines().count(), 3);
    assert_eq!(pvm(&place, &["halt"]).0, 0);
    place.is_cleared();
}

#[test]
fn another_machine_that_runs_is_named() {
    let place = Place::new();
    assert_eq!(pvm(&place, &["up"]).0, 0);
    let mut elsewhere = place.command(&["ps"]);
    let output = elsewhere.env("PVM_VMID", "elsewhere").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("running under another PVM_VMID: t"), "{said}");
}
