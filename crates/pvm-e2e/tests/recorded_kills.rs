//! Recorders that are killed again and again, at any moment of their lives: what they lose is told.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, Running, eventually, prefix, process};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);
const TASKS: usize = 5;
/// A host starts sixteen recorders a minute.
const KILLS_MAX: usize = 12;

fn json(machine: &Machine, words: &[&str], file: &Path) -> Value {
    let mut command = machine.place().installed("pvm");
    command.args(words).arg(file);
    serde_json::from_str(&machine.succeed(command).out).expect("JSON")
}

/// The counts that each task has kept itself: sent and taken, by its tid as a trace writes it.
fn tallies(bytes: &[u8]) -> BTreeMap<String, (u64, u64)> {
    let word = |row: &[u8], n: usize| {
        u64::from_ne_bytes(row[8 * n..8 * n + 8].try_into().expect("eight bytes"))
    };
    let rows = bytes.chunks_exact(24).filter(|row| word(row, 0) != 0);
    rows.map(|row| (format!("t{:x}", word(row, 0)), (word(row, 1), word(row, 2)))).collect()
}

/// The rows of the tasks.
fn rows(all: &Value) -> Vec<Value> {
    all["tasks"].as_array().expect("tasks").clone()
}

fn sum(all: &Value, name: &str) -> u64 {
    rows(all).iter().filter_map(|task| task[name].as_u64()).sum()
}

/// The recorders of all hosts.
fn recorders(machine: &Machine) -> Vec<u32> {
    let all = machine.place().processes().into_iter();
    all.filter(|(_, line)| line.contains("pvm recorder")).map(|row| row.0).collect()
}

/// Kills so many recorders of the machine, one every now and then.
fn kill_recorders(machine: &Machine, times: u64) {
    for time in 0..times {
        std::thread::sleep(Duration::from_millis(60 + time * 53 % 290));
        assert!(eventually(LIMIT, || !recorders(machine).is_empty()), "{}", machine.log());
        let recorders = recorders(machine);
        if let Some(recorder) = recorders.get(time as usize % recorders.len().max(1)) {
            process::kill(*recorder);
        }
    }
}

#[test]
fn a_recorder_that_was_killed_before_anybody_had_asked_it_lost_records_without_a_word() {
    let machine = Machine::local(2);
    let (file, counts) = (machine.place().home().join("run.trace"), "counts");
    let program = machine.place().compile("tallies.c");
    let counts = machine.place().home().join(counts);
    let mut command = machine.place().installed("pvm");
    command.args(["run", "--quiet", "--trace"]).arg(&file).arg(program);
    command.args([&(TASKS - 1).to_string(), "600"]).arg(&counts);
    let running = Running::start(command);
    let has_begun = || tallies(&std::fs::read(&counts).unwrap_or_default()).len() == TASKS;
    assert!(eventually(LIMIT, has_begun), "{}", running.errors_so_far());
    kill_recorders(&machine, 16);
    std::fs::write(counts.with_extension("stop"), "").expect("a file");
    machine.expect_success(running);
    let shown = json(&machine, &["trace", "show", "--json"], &file);
    let profile = json(&machine, &["trace", "profile", "--json"], &file);
    let said = tallies(&std::fs::read(&counts).expect("counts"));
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
    eprintln!("{whole} of {TASKS} tasks are whole");
    assert_eq!(said.len(), TASKS);
    // What the file has and what the gaps tell is what was noted.
    let records = shown["records"].as_u64().expect("a number");
    assert_eq!(sum(&shown, "noted"), records + sum(&shown, "lost"), "{shown}");
    machine.halt();
}

fn recorder(machine: &Machine) -> Option<u32> {
    recorders(machine).first().copied()
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
        let killed = recorder(&machine).expect("a recorder");
        process::kill(killed);
        // The killed one may be seen for a moment.
        let other = || recorder(&machine).is_some_and(|pid| pid != killed);
        assert!(eventually(LIMIT, other), "{}", machine.log());
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
/// The demo's program, with the compiler's view of the installation.
fn mandelbrot(machine: &Machine) -> PathBuf {
    let program = machine.place().home().join("mandelbrot");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c");
    let library = prefix().join("lib").display().to_string();
    let mut compile = Command::new("cc");
    compile.args(["-O2", "-o"]).arg(&program).arg(format!("-I{}/include", prefix().display()));
    compile.args(["mandelbrot.c", "png.c"].map(|name| sources.join(name)));
    compile.args([format!("-L{library}"), format!("-Wl,-rpath,{library}")]);
    assert!(compile.args(["-lpvm3", "-lm"]).status().expect("a compiler").success());
    program
}

/// Its workers, each with the bands that the master has got of it, and whether it was there to the
/// end.
fn workers(output: &str) -> BTreeMap<String, (u64, bool)> {
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let rows: u64 = words.get(2)?.parse().ok()?;
        let is_worker = words[0] != "all";
        is_worker.then(|| (format!("t{}", words[1]), (rows / 4, !line.ends_with("(gone)"))))
    };
    output.lines().filter_map(row).collect()
}

#[test]
fn the_demo_program_had_its_messages_in_the_trace_or_in_gaps_whatever_was_killed() {
    let machine = Machine::local(3);
    let file = machine.place().home().join("run.trace");
    let program = mandelbrot(&machine);
    let mut command = machine.place().installed("pvm");
    command.args(["run", "--quiet", "--trace"]).arg(&file).arg(program);
    command.args(["-o", "picture.png", "-w", "400", "-h", "1200", "-i", "12000", "-n", "2"]);
    command.current_dir(machine.place().home());
    let mut running = Running::start(command);
    let sent = || {
        let told = machine.pvm(&["trace", "profile", "--json", &file.to_string_lossy()]).out;
        let told: Value = serde_json::from_str(&told).unwrap_or_default();
        let tasks = told["tasks"].as_array().cloned().unwrap_or_default();
        tasks.iter().filter(|task| task["sent"].as_u64() > Some(1)).count()
    };
    assert!(eventually(LIMIT, || sent() == 7), "{}", running.errors_so_far());
    let is_worker = |line: &str| line.contains("mandelbrot") && !line.contains("picture");
    let processes = machine.place().processes();
    let victim = processes.iter().find(|(_, line)| is_worker(line));
    process::kill(victim.unwrap_or_else(|| panic!("no worker: {processes:#?}")).0);
    let mut kills = 0;
    while running.is_running() && kills < KILLS_MAX {
        recorders(&machine).into_iter().take(1).for_each(process::kill);
        kills += usize::from(machine.kill_daemon(kills, Duration::from_millis(400)));
    }
    let output = machine.expect_success(running).out;
    let shown = json(&machine, &["trace", "show", "--json"], &file);
    let profile = json(&machine, &["trace", "profile", "--json"], &file);
    let workers = workers(&output);
    assert!(workers.len() == 6 && workers.values().filter(|worker| !worker.1).count() == 1);
    for (task, sums) in rows(&shown).iter().zip(rows(&profile)) {
        let Some((bands, lives)) = workers.get(task["tid"].as_str().expect("a tid")) else {
            continue;
        };
        let [sent, taken] = ["sent", "received"].map(|name| sums[name].as_u64().expect("one"));
        let lost = task["lost"].as_u64().expect("a number");
        if *lives {
            // A word for each band, and the last one.
            assert!(sent <= *bands && taken <= *bands + 1, "{task}: {bands} {sent} {taken}");
            assert!(2 * bands + 1 - sent - taken <= lost, "{task}: {bands} {sent} {taken}");
        } else {
            assert!(sent + lost >= *bands, "{task}: {bands} {sent}");
        }
    }
    eprintln!("{kills} daemons killed, {} lost", sum(&shown, "lost"));
    assert!(kills > 0);
    assert_eq!(sum(&shown, "noted"), shown["records"].as_u64().expect("one") + sum(&shown, "lost"));
    machine.halt();
}
