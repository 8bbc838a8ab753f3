//! `testbed` with real machines: what scripts get, and that none is left when they are killed.

use pvm_e2e::{Running, eventually, prefix, process};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The time within which a process has started or ended.
const LIMIT: Duration = Duration::from_secs(60);

/// A script that has a machine or hosts, tells where they lie, and waits for its input's end.
fn script(words: &str, told: &str, then: &str) -> Running {
    let program = testbed::keeper::program();
    let text = format!(
        "set -e; lines=$({} {words} --for $$); eval \"$lines\"; {told}; read -r line || true; \
         {then}",
        program.display()
    );
    let mut command = Command::new("bash");
    command.args(["-c", &text]);
    let mut running = Running::start(command);
    let ready = eventually(LIMIT, || running.so_far().ends_with('\n') || !running.is_running());
    assert!(ready, "{}", running.errors_so_far());
    running
}

fn kill(mut script: Running) {
    process::kill(script.pid());
    script.wait(LIMIT);
}

fn machine(hosts: u32, then: &str) -> (Running, testbed::Place) {
    let words = format!("up {hosts} --prefix {}", prefix().display());
    // A command that came only after the halt would begin a machine of its own.
    let told = "[ \"$(pvm conf | wc -l)\" = $1 ]; pvm run sleep 1000 >/dev/null 2>&1 & \
                until pvm ps | grep -q sleep; do sleep 0.05; done; echo \"$TESTBED\"";
    let told = told.replace("$1", &(hosts + 1).to_string());
    let script = script(&words, &told, then);
    let said = script.so_far();
    let folder = said.lines().last().unwrap_or_default();
    assert!(folder.starts_with('/'), "{said}{}", script.errors_so_far());
    (script, testbed::Place::found(PathBuf::from(folder)))
}

#[test]
fn a_killed_script_leaves_no_machine() {
    for hosts in [1, 3] {
        let (script, place) = machine(hosts, "");
        assert!(place.processes().len() > hosts as usize, "{:?}", place.processes());
        kill(script);
        assert!(eventually(LIMIT, || place.processes().is_empty()), "{:?}", place.processes());
        assert!(eventually(LIMIT, || !place.folder().exists()), "{place:?}");
    }
}

#[test]
fn down_halts_a_machine_and_names_what_it_leaves() {
    let tool = testbed::keeper::program();
    let (mut script, place) = machine(2, &format!("{} down", tool.display()));
    let output = script.wait(LIMIT);
    assert_eq!((output.code(), output.err.as_str()), (0, ""), "{}", output.out);
    assert!(!place.folder().exists() && place.processes().is_empty());

    let leave = "setsid sleep 1000 </dev/null >/dev/null 2>&1 & touch \"$PVM_TMP/left\"";
    let (mut script, place) = machine(1, &format!("{leave}; {} down", tool.display()));
    let output = script.wait(LIMIT);
    assert_eq!(output.code(), 1, "{}", output.err);
    assert!(
        output.err.contains("/run/left") && output.err.contains("sleep 1000"),
        "{}",
        output.err
    );
    assert!(!place.folder().exists() && place.processes().is_empty());
}

/// The hosts' namespaces, links and folders go with the script, too.
#[test]
fn a_killed_script_leaves_no_hosts() {
    let mut script = script("hosts 2", "echo \"$HOSTS_DIR\"", "");
    if !script.is_running() {
        let output = script.wait(LIMIT);
        assert_eq!(output.code(), testbed::hosts::SKIPPED, "{}", output.err);
        return eprint!("{}", output.err);
    }
    let said = script.so_far();
    let folder = Path::new(said.trim_end());
    let state = std::fs::read_to_string(folder.join("state")).expect("of hosts.sh");
    let name = state.split_whitespace().next().and_then(|word| word.strip_prefix("PRE="));
    let name = name.expect("the begin of the names of the namespaces").to_owned();
    let spaces = || {
        let entries = std::fs::read_dir("/run/netns").into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|space| space.starts_with(&name)).count()
    };
    assert_eq!(spaces(), 3);
    kill(script);
    assert!(eventually(LIMIT, || !folder.exists() && spaces() == 0), "{} spaces", spaces());
}
