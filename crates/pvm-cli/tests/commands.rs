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
    let (code, _, said) = pvm(&place, &["nonsense"]);
    assert_eq!(code, 2);
    assert!(said.contains("neither a command nor a host file"), "{said}");
    assert_eq!(pvm(&place, &["kill"]).0, 2);
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
    assert_eq!(rows.next().unwrap(), ["HOST", "TID", "ARCH", "CORES", "SPEED"]);
    assert_eq!(rows.next().unwrap()[..2], ["here", "t40000"]);
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
    assert!(code == 1 && said.contains("`pvm add local`"), "{said}");
    assert_eq!(pvm(&place, &["add", "local"]).0, 0);
    assert_eq!(pvm(&place, &["conf"]).1.lines().count(), 3);
    assert_eq!(pvm(&place, &["halt"]), (0, String::new(), String::new()));
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

#[test]
fn man_pages_and_completions_are_written() {
    let place = Place::new();
    let folder = place.home().join("made");
    let folder = folder.to_str().unwrap();
    assert_eq!(pvm(&place, &["generate", "man", folder]).0, 0);
    assert_eq!(pvm(&place, &["generate", "completions", folder]).0, 0);
    for name in ["pvm.1", "pvm-run.1", "pvm-up.1", "pvm.bash", "_pvm", "pvm.fish"] {
        assert!(place.home().join("made").join(name).exists(), "{name}");
    }
    assert!(!place.home().join("made/pvm-generate.1").exists());
    let page = std::fs::read_to_string(place.home().join("made/pvm-add.1")).unwrap();
    assert!(page.contains("pvm add") && page.contains("SEE ALSO"), "{page}");
}
