//! Recorders that are killed again and again, at any moment of their lives: what they lose is told.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, Running, eventually, process};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);
const TASKS: usize = 5;

fn json(machine: &Machine, words: &[&str], file: &Path) -> Value {
    let mut command = machine.place().installed("pvm");
    command.args(words).arg(file);
    serde_json::from_str(&machine.succeed(command).out).expect("JSON")
}

/// What each task has counted itself: sent and taken, by its tid as a trace writes it.
fn tallies(bytes: &[u8]) -> BTreeMap<String, (u64, u64)> {
    let word = |row: &[u8], n: usize| {
        u64::from_ne_bytes(row[8 * n..8 * n + 8].try_into().expect("eight bytes"))
    };
    let rows = bytes.chunks_exact(24).filter(|row| word(row, 0) != 0);
    rows.map(|row| (format!("t{:x}", word(row, 0)), (word(row, 1), word(row, 2)))).collect()
}

/// Kills a recorder of the machine every now and then, for so many times.
fn kill_recorders(machine: &Machine, times: u64) -> u64 {
    let mut killed = 0;
    for time in 0..times {
        std::thread::sleep(Duration::from_millis(60 + time * 53 % 290));
        let all = machine.place().processes();
        let recorders: Vec<u32> =
            all.iter().filter(|(_, line)| line.contains("pvm recorder")).map(|row| row.0).collect();
        if let Some(recorder) = recorders.get(time as usize % recorders.len().max(1)) {
            process::kill(*recorder);
            killed += 1;
        }
    }
    killed
}

#[test]
fn a_recorder_that_was_killed_before_anybody_had_asked_it_lost_records_without_a_word() {
    let machine = Machine::local(2);
    let (file, counts) = (machine.place().home().join("run.trace"), "counts");
    let program = machine.place().compile("tallies.c");
    let counts = machine.place().home().join(counts);
    let mut command = machine.place().installed("pvm");
    command.args(["run", "--quiet", "--trace"]).arg(&file).arg(program);
    command.args([&(TASKS - 1).to_string(), "6"]).arg(&counts);
    let running = Running::start(command);
    let has_begun = || tallies(&std::fs::read(&counts).unwrap_or_default()).len() == TASKS;
    assert!(eventually(LIMIT, has_begun), "{}", running.errors_so_far());
    let killed = kill_recorders(&machine, 16);
    machine.expect_success(running);
    let shown = json(&machine, &["trace", "show", "--json"], &file);
    let profile = json(&machine, &["trace", "profile", "--json"], &file);
    let said = tallies(&std::fs::read(&counts).expect("counts"));
    let rows = |all: &Value| all["tasks"].as_array().expect("tasks").clone();
    let mut whole = 0;
    for (task, sums) in rows(&shown).iter().zip(rows(&profile)) {
        let own = said[task["tid"].as_str().expect("a tid")];
        let told = ["sent", "received"].map(|name| sums[name].as_u64().expect("a number"));
        if (told[0], told[1]) == own {
            whole += 1;
        } else {
            assert!(told[0] <= own.0 && told[1] <= own.1, "{task}: {own:?} {told:?}");
            let missing = own.0 - told[0] + own.1 - told[1];
            let lost = task["lost"].as_u64().expect("a number");
            assert!(missing <= lost, "{task}: {own:?} {told:?}");
        }
    }
    eprintln!("{killed} recorders were killed, {whole} of {TASKS} tasks are whole");
    assert!(killed > 4 && said.len() == TASKS);
    machine.halt();
}

fn recorder(machine: &Machine) -> Option<u32> {
    let all = machine.place().processes();
    all.iter().find(|(_, line)| line.contains("pvm recorder")).map(|row| row.0)
}

#[test]
fn records_that_found_no_room_were_told_again_by_each_recorder_that_came_later() {
    const CALLS: u64 = 3_000_000;
    let machine = Machine::start();
    let home = machine.place().home();
    let [file, done, go] = ["run.trace", "done", "go"].map(|name| home.join(name));
    let program = machine.place().compile("calls.c");
    let mut command = machine.place().installed("pvm");
    command.args(["run", "--quiet", "--trace"]).arg(&file).arg(program);
    command.arg(CALLS.to_string()).args([&done, &go]);
    let running = Running::start(command);
    assert!(eventually(LIMIT, || recorder(&machine).is_some()), "{}", running.errors_so_far());
    let stopped = recorder(&machine).expect("it is there");
    process::send(stopped, Signal::STOP);
    assert!(eventually(LIMIT, || done.exists()), "{}", running.errors_so_far());
    process::send(stopped, Signal::CONT);
    for _ in 0..2 {
        std::thread::sleep(Duration::from_secs(1));
        process::kill(recorder(&machine).expect("a recorder"));
        assert!(eventually(LIMIT, || recorder(&machine).is_some()));
    }
    // It appears with what is in it.
    std::fs::write(home.join("go.new"), "1\n").expect("a file");
    std::fs::rename(home.join("go.new"), &go).expect("a name");
    machine.expect_success(running);
    let shown = json(&machine, &["trace", "show", "--json"], &file);
    let records = shown["records"].as_u64().expect("a number");
    let gaps = shown["gaps"].as_array().expect("gaps").iter();
    let full = gaps.filter(|gap| gap["reason"] == "the ring was full");
    let lost: u64 = full.map(|gap| gap["lost"].as_u64().expect("a number")).sum();
    eprintln!("{records} records, {lost} found no room");
    assert!(lost > 0, "all found room");
    assert!(records + lost <= CALLS + 100, "{}", shown["gaps"]);
    machine.halt();
}
