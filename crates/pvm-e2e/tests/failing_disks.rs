//! Spaces whose servers cannot read or write their files any more, while all processes live.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, Output};
use std::fs::{OpenOptions, read_dir, read_link};

fn succeed(machine: &Machine, words: &[&str]) -> String {
    let done = machine.pvm(words);
    assert_eq!(done.code(), 0, "pvm {words:?}: {}{}\n{}", done.out, done.err, machine.log());
    done.out
}

/// The process of the server that answers for the first space, as `pvm ps` says.
fn server(machine: &Machine) -> u32 {
    let list = succeed(machine, &["space", "list"]);
    let tid = list.lines().nth(1).and_then(|line| line.split_whitespace().nth(1));
    let tid = tid.unwrap_or_else(|| panic!("no space: {list}"));
    let tasks = succeed(machine, &["ps", "-a"]);
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let row = tasks.lines().map(words).find(|row| row.first().is_some_and(|first| first == tid));
    let pid = row.as_ref().and_then(|row| row.get(2)).and_then(|pid| pid.parse().ok());
    pid.unwrap_or_else(|| panic!("no {tid}: {tasks}"))
}

/// Takes away what lies in the files of a server that have no names.
fn empty_files(of: u32) {
    let mut emptied = 0;
    for file in read_dir(format!("/proc/{of}/fd")).expect("it lives").filter_map(Result::ok) {
        let named = read_link(file.path()).unwrap_or_default();
        if named.to_string_lossy().contains("/spilled/") {
            OpenOptions::new().write(true).truncate(true).open(file.path()).expect("our file");
            emptied += 1;
        }
    }
    assert!(emptied > 0, "nothing was spilled");
}

/// A machine whose servers spill into a folder of their own; its spaces have room for one text.
fn spilling(hosts: u32) -> (Machine, String) {
    let folder = std::env::temp_dir().join(format!("neopvm-{}/spilled", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let folder = folder.to_string_lossy().into_owned();
    let machine = Machine::local_with(hosts, &[("PVM_SPILL_DIR", &folder)]);
    (machine, "x".repeat(40_000))
}

fn fill(machine: &Machine, text: &str) {
    for number in ["1", "2", "3"] {
        succeed(machine, &["out", "full", number, text]);
    }
}

#[test]
fn the_tuples_of_a_living_copy_were_lost_when_the_disk_of_the_primary_failed() {
    let (machine, text) = spilling(2);
    succeed(
        &machine,
        &["space", "create", "full", "--full", "spill", "--limit", "60K", "--copies", "1"],
    );
    fill(&machine, &text);
    empty_files(server(&machine));
    assert_eq!(succeed(&machine, &["take", "full", "3", "?text"]), format!("3\t{text}\n"));
    let again = machine.pvm(&["space", "create", "full"]);
    assert!(again.code() != 0 && again.err.contains("exists"), "{}", again.err);
    assert_eq!(succeed(&machine, &["space", "dump", "full"]).lines().count(), 2);
    machine.halt();
}

#[test]
fn a_look_at_a_space_whose_disk_had_failed_never_ended_and_it_could_not_be_deleted() {
    let (machine, text) = spilling(1);
    succeed(&machine, &["space", "create", "full", "--full", "spill", "--limit", "60K"]);
    succeed(&machine, &["space", "create", "other"]);
    succeed(&machine, &["out", "other", "1"]);
    fill(&machine, &text);
    empty_files(server(&machine));
    let is_refused = |done: &Output| done.code() != 0 && done.err.contains("fails");
    for words in [&["read", "full", "3", "?text"][..], &["space", "show", "full"]] {
        let done = machine.pvm(words);
        assert!(is_refused(&done), "{words:?}: {}{}", done.out, done.err);
    }
    assert!(succeed(&machine, &["space", "list"]).contains("lost"));
    assert_eq!(succeed(&machine, &["read", "other", "1"]), "1\n", "a space of the same server");
    succeed(&machine, &["space", "delete", "full"]);
    succeed(&machine, &["space", "create", "full"]);
    machine.halt();
}

#[test]
fn a_users_limit_for_files_ended_the_server_of_a_durable_space_with_all_its_others() {
    let machine = Machine::local(1);
    let directory = machine.place().home().join("disk");
    std::fs::create_dir(&directory).expect("a directory");
    succeed(&machine, &["space", "create", "other"]);
    succeed(&machine, &["out", "other", "1"]);
    let pid = i32::try_from(server(&machine)).expect("small");
    let limit = rustix::process::Rlimit { current: Some(2 << 20), maximum: None };
    let pid = rustix::process::Pid::from_raw(pid);
    rustix::process::prlimit(pid, rustix::process::Resource::Fsize, limit).expect("our process");
    succeed(&machine, &["space", "create", "kept", "--durable", &directory.to_string_lossy()]);
    let text = "x".repeat(100_000);
    let put = |_: &u32| machine.pvm(&["out", "kept", &text]).code() == 0;
    let fit = (0..30).take_while(put).count();
    assert!(fit < 30, "no limit");
    succeed(&machine, &["take", "kept", "?text"]);
    assert_eq!(succeed(&machine, &["space", "dump", "kept"]).lines().count(), fit - 1);
    assert_eq!(succeed(&machine, &["read", "other", "1"]), "1\n");
    machine.halt();
}
