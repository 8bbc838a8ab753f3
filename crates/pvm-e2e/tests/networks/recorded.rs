//! Three hosts are recorded while tasks, recorders, a daemon and a host are killed and a cable is
//! out: the counts in the trace are those that the tasks have kept, or a gap says what is missing.

use crate::ask::{json, members};
use pvm_e2e::{Hosts, Running, eventually};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);
const TASKS: usize = 6;
/// Nothing ends by itself before all is killed that is to be killed.
const SECONDS: u64 = 600;

/// The counts that a task has kept itself.
#[derive(Debug)]
struct Tally {
    tid: u64,
    sent: u64,
    taken: u64,
}

fn tallies(bytes: &[u8]) -> Vec<Tally> {
    let word = |row: &[u8], n: usize| {
        u64::from_ne_bytes(row[8 * n..8 * n + 8].try_into().expect("eight bytes"))
    };
    let rows = bytes.chunks_exact(24);
    let all = rows.map(|row| Tally { tid: word(row, 0), sent: word(row, 1), taken: word(row, 2) });
    all.filter(|tally| tally.tid != 0).collect()
}

/// The counts of a task in the trace.
#[derive(Debug)]
struct TracedCounts {
    index: u64,
    host: u64,
    sent: u64,
    taken: u64,
    lost: Option<u64>,
}

fn told(hosts: &Hosts, file: &str) -> (BTreeMap<u64, TracedCounts>, Vec<Value>) {
    let shown = json(&hosts.run("h1", &["pvm", "trace", "show", "--json", file]));
    let profile = json(&hosts.run("h1", &["pvm", "trace", "profile", "--json", file]));
    assert_eq!(shown["complete"], true);
    let rows = |all: &Value| all["tasks"].as_array().expect("tasks").clone();
    let both = rows(&shown).into_iter().zip(rows(&profile));
    let told = both.map(|(task, sums)| {
        let tid = task["tid"].as_str().expect("a tid").trim_start_matches('t').to_owned();
        let tid = u64::from_str_radix(&tid, 16).expect("a number");
        let number = |value: &Value| value.as_u64().expect("a number");
        let (sent, taken) = (number(&sums["sent"]), number(&sums["received"]));
        let (index, host) = (number(&task["index"]), number(&task["host"]));
        let lost = task["lost"].as_u64();
        (tid, TracedCounts { index, host, sent, taken, lost })
    });
    (told.collect(), shown["gaps"].as_array().expect("gaps").clone())
}

fn kill(hosts: &Hosts, host: &str, which: impl Fn(&str) -> bool) {
    let find = || hosts.processes(host).into_iter().find(|line| which(line));
    let there = eventually(LIMIT, || find().is_some());
    let found = find().filter(|_| there);
    let found = found.unwrap_or_else(|| panic!("nothing to kill on {host}: {}", hosts.logs()));
    let pid = found.split(' ').next().expect("a process id");
    // It may have ended in this moment.
    hosts.finish(host, &["kill", "-9", pid]);
}

fn pause(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}

/// Kills one after the other, with a cable that is out for a while in between.
fn faults(hosts: &Hosts) {
    pause(1000);
    kill(hosts, "h2", |line| line.contains("pvm recorder"));
    pause(300);
    hosts.tool(&["cut", "h3"]);
    pause(1200);
    hosts.tool(&["heal", "h3"]);
    pause(500);
    kill(hosts, "h2", |line| line.contains("--daemon"));
    pause(300);
    kill(hosts, "h1", |line| line.contains("pvm recorder"));
    kill(hosts, "h2", |line| line.contains("/tallies "));
    pause(1000);
    hosts.tool(&["power-off", "h3"]);
}

/// The recording: the programs' own words beside the trace.
struct Recorded {
    tallies: Vec<Tally>,
    /// The counts that the ring's tasks have printed: sent and taken.
    ring: Vec<(u64, u64)>,
    /// Data that the program of `faults.c` has sent and taken.
    streamed: u64,
}

fn record(hosts: &Hosts, file: &str) -> Recorded {
    let [program, ring, stream] = ["tallies.c", "tokens.c", "faults.c"].map(|c| hosts.compile(c));
    let counts = hosts.home().join("counts");
    let command = ["pvm", "trace", "record", "--all", "-o", file];
    let mut recording = Running::start(hosts.on("h1", &command));
    let begun = eventually(LIMIT, || recording.errors_so_far().contains("recording into"));
    assert!(begun, "{}", recording.errors_so_far());
    let path = counts.display().to_string();
    let words = [&program, &(TASKS - 1).to_string(), &SECONDS.to_string(), &path];
    let running = Running::start(hosts.on("h1", &words.map(String::as_str)));
    let stream =
        Running::start(hosts.on("h1", &[&stream, "stream", "h2", "mixed", &SECONDS.to_string()]));
    let are_at_work = || {
        let all = tallies(&std::fs::read(&counts).unwrap_or_default());
        all.len() == TASKS && all.iter().all(|tally| tally.sent > 100 && tally.taken > 100)
    };
    assert!(eventually(LIMIT, are_at_work), "{}", hosts.logs());
    faults(hosts);
    std::fs::write(counts.with_extension("stop"), "").expect("a file");
    let outputs = [running, stream].map(|program| program.finish(LIMIT));
    for output in &outputs {
        assert_eq!(output.code(), 0, "{output:?}\n{}", hosts.logs());
    }
    let removed = eventually(LIMIT, || members(hosts, "h1").len() == 2);
    assert!(removed, "{}", hosts.logs());
    // A ring of the hosts that are left; then everybody tells what he has.
    let ring = hosts.run("h1", &["pvm", "run", "--quiet", &ring, "4", "100"]).out;
    pause(500);
    assert!(recording.is_running(), "{}", recording.errors_so_far());
    hosts.run("h1", &["pvm", "trace", "stop"]);
    assert!(eventually(LIMIT, || !recording.is_running()), "{}", recording.errors_so_far());
    let ring = ring.lines().filter_map(|line| {
        let (sent, taken) = line.split_once("sent ")?.1.split_once(" taken ")?;
        Some((sent.parse().ok()?, taken.trim().parse().ok()?))
    });
    Recorded {
        tallies: tallies(&std::fs::read(&counts).expect("counts")),
        ring: ring.collect(),
        streamed: outputs[1].number("messages ") as u64 / 2,
    }
}

#[test]
fn kills_and_cut_cables_lose_nothing_of_a_trace_that_is_not_told() {
    let Some(hosts) = Hosts::up(3) else { return };
    hosts.machine("h1", &["h2", "h3"]);
    let file = hosts.home().join("all.trace").display().to_string();
    let recorded = record(&hosts, &file);
    let (told, gaps) = told(&hosts, &file);
    assert_eq!((recorded.tallies.len(), recorded.ring.len()), (TASKS, 4));
    let whole = recorded.tallies.iter().filter(|tally| is_whole(tally, &told, &gaps)).count();
    eprintln!("{whole} of {TASKS} tasks are whole; gaps: {gaps:?}");
    // Two of the hosts live, and no task has less than its recorder's one block to lose.
    assert!(whole >= 2, "{told:?} {gaps:?}");
    // Its death was known seconds after the last that it had told.
    let reached = |gap: &&Value| gap["reason"] == "the host was not reached";
    let dead = gaps.iter().find(reached).unwrap_or_else(|| panic!("{gaps:?}"));
    let [from, to] = ["from", "to"].map(|end| dead[end].as_u64().expect("a time"));
    assert!((1_000_000_000..60_000_000_000).contains(&to.saturating_sub(from)), "{dead}");
    // What began when nothing was killed any more is there to the last message.
    let has =
        |sent: u64, taken: u64| told.values().any(|task| (task.sent, task.taken) == (sent, taken));
    for (sent, taken) in recorded.ring {
        assert!(has(sent, taken), "({sent}, {taken}): {told:?}");
    }
    // Behind five messages of data a word to go on.
    let (data, go) = (recorded.streamed, recorded.streamed / 5);
    let lost = told.values().any(|task| task.lost.is_some_and(|lost| lost > 0));
    assert!(has(data + go, data) || lost, "{data}: {told:?} {gaps:?}");
    hosts.run("h1", &["pvm", "halt"]);
}

/// True if the trace has all that a task has counted; else it tells that something is missing.
fn is_whole(tally: &Tally, told: &BTreeMap<u64, TracedCounts>, gaps: &[Value]) -> bool {
    let trace = told.get(&tally.tid).unwrap_or_else(|| panic!("{tally:x?}: {told:x?}"));
    eprintln!("{tally:x?} {trace:x?}");
    // A task that was killed within a call has counted it, or the trace has.
    let off = tally.sent.abs_diff(trace.sent) + tally.taken.abs_diff(trace.taken);
    if off <= 1 {
        return true;
    }
    let of_it = |gap: &Value| gap["task"] == trace.index || gap["host"] == trace.host;
    let is_told = trace.lost.is_some_and(|lost| lost > 0) || gaps.iter().any(of_it);
    assert!(is_told, "{tally:?} {trace:?} {gaps:?}");
    assert!(trace.sent <= tally.sent + 1 && trace.taken <= tally.taken + 1, "{tally:?} {trace:?}");
    false
}
