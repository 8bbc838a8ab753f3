//! Hosts whose clocks differ, and jump: what a trace says of them is true within the error that it
//! states.
#![forbid(unsafe_code)]

use pvm_e2e::{Place, Running, copy_program, eventually, prefix, process, write_program};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(90);
/// All clocks begin here; each recorder's is ahead of that by what it was given.
const BASE: u64 = 1_700_000_000_000_000_000;

/// An installation whose recorders have clocks of their own: they lie, which is what a computer
/// with another time of day looks like. Each one that starts takes the next line of `shifts`, in
/// nanoseconds.
fn lying(place: &Place, shifts: &[u64]) -> PathBuf {
    let bin = place.home().join("lying/bin");
    fs::create_dir_all(&bin).expect("a folder");
    for (from, to) in [("pvmd", "pvmd"), ("pvm", "honest")] {
        copy_program(&prefix().join("bin").join(from), &bin.join(to));
    }
    let lines: String = shifts.iter().map(|shift| format!("{}\n", BASE + shift)).collect();
    fs::write(bin.join("clocks"), lines).expect("a file");
    let script = "#!/bin/bash\n\
        here=$(dirname \"$0\")\n\
        [ \"$1\" = recorder ] || exec \"$here/honest\" \"$@\"\n\
        exec 9>>\"$here/lock\"\n\
        flock 9\n\
        clock=$(head -n 1 \"$here/clocks\")\n\
        sed -i 1d \"$here/clocks\"\n\
        exec 9>&-\n\
        exec \"$here/honest\" \"${@/#--clock=*/--clock=$clock}\"\n";
    write_program(&bin.join("pvm"), script);
    bin
}

/// The part of `pvm trace show --json` on the clock that is not the reference.
#[derive(Debug)]
struct Clock {
    /// When the recording began, and in a second how much more.
    offset: i64,
    drift: f64,
    error: u64,
    /// The time for which the program ran.
    took: Duration,
    /// When its recorders were killed, and its tasks seen: from when the recording began at the
    /// earliest, at the latest.
    killed: Option<(Duration, Duration)>,
}

fn pvm(place: &Place, bin: &Path, words: &[&str]) -> String {
    let mut command = place.command(bin.join("honest"));
    command.args(words);
    let output = Running::start(command).finish(LIMIT);
    assert_eq!(output.code(), 0, "{words:?}: {output:?}");
    output.out
}

fn text<'a>(all: &'a str, name: &str) -> &'a str {
    let from = all.split(&format!("\"{name}\":")).nth(1);
    let from = from.unwrap_or_else(|| panic!("{name}: {all}")).trim_start();
    &from[..from.find([',', '}']).unwrap_or(from.len())]
}

fn number(all: &str, name: &str) -> i64 {
    text(all, name).parse().unwrap_or_else(|error| panic!("{name}: {error}: {all}"))
}

fn clock(place: &Place, bin: &Path, file: &str) -> Clock {
    let shown = pvm(place, bin, &["trace", "show", "--json", file]);
    let clocks = shown.split("\"clocks\":").nth(1).expect("clocks");
    let clocks = &clocks[..clocks.find(']').expect("an end")];
    let other = clocks.split('}').find(|clock| clock.contains("questions"));
    let other = other.unwrap_or_else(|| panic!("nobody was compared: {shown}"));
    let error = number(other, "error_ns").unsigned_abs();
    let drift = 1e3 * text(other, "drift_ppm").parse::<f64>().expect("a number");
    Clock { offset: number(other, "offset_ns"), drift, error, took: Duration::ZERO, killed: None }
}

/// Records a ring of tokens on two hosts whose recorders have these clocks; kills all recorders in
/// the midst of it if `kill` says so.
fn record(shifts: &[u64], kill: bool) -> (Clock, String) {
    let place = Place::new();
    let bin = lying(&place, shifts);
    pvm(&place, &bin, &["up", "--local", "2"]);
    let file = place.home().join("run.trace").display().to_string();
    let program = place.compile("tokens.c");
    let mut command = place.command(bin.join("honest"));
    command.args(["run", "--quiet", "--trace", &file]).arg(program).args(["4", "200", "5000"]);
    let begin = Instant::now();
    let mut running = Running::start(command);
    let mut killed = None;
    if kill {
        let tasks = || place.processes().iter().filter(|(_, line)| line.contains("tokens")).count();
        assert!(eventually(LIMIT, || tasks() >= 4), "{}", running.errors_so_far());
        let seen = begin.elapsed();
        std::thread::sleep(Duration::from_secs(2));
        killed = Some((begin.elapsed(), seen));
        for (pid, line) in place.processes() {
            if line.contains("recorder --host") {
                process::kill(pid);
            }
        }
    }
    assert!(eventually(LIMIT, || !running.is_running()), "{}", running.errors_so_far());
    let took = begin.elapsed();
    let output = running.finish(LIMIT);
    assert_eq!(output.code(), 0, "{output:?}");
    let clock = Clock { took, killed, ..clock(&place, &bin, &file) };
    let profile = pvm(&place, &bin, &["trace", "profile", "--json", &file]);
    pvm(&place, &bin, &["halt"]);
    (clock, profile)
}

/// By how much an offset is off, whichever of the two hosts is the reference.
fn off(clock: &Clock, truth: u64) -> u64 {
    clock.offset.unsigned_abs().abs_diff(truth)
}

#[test]
fn a_host_that_is_a_hundred_seconds_ahead_is_set_right_within_the_stated_error() {
    let (clock, profile) = record(&[7_000_000, 100_007_000_000], false);
    eprintln!("{clock:?}");
    assert!(off(&clock, 100_000_000_000) <= clock.error, "{clock:?}");
    // It was the worst of all comparisons, some tens of milliseconds on a busy computer.
    assert!(clock.error < 10_000_000, "{clock:?}");
    // 200 rounds of four tokens, and what the first task tells the others.
    assert_eq!(number(&profile, "matched"), 803, "{profile}");
}

#[test]
fn a_clock_that_jumps_while_it_is_recorded_is_told_with_an_error_that_covers_the_jump() {
    // All recorders are replaced once: the second of a host is three seconds behind the first one.
    let shifts = [5_000_000_000, 5_000_000_000, 5_000_000_000, 2_000_000_000];
    let (clock, profile) = record(&shifts, true);
    eprintln!("{clock:?}");
    // The two clocks agree at first, when the line begins.
    assert!(off(&clock, 0) <= clock.error, "{clock:?}");
    // They are three seconds apart at the end. If the host is the one whose clock jumped, its times
    // since then are three seconds earlier, too. When within the recording the kill was is known
    // but for the time that the recording took to begin.
    let (killed, seen) = clock.killed.expect("they were");
    let at = |time: f64| clock.offset as f64 + clock.drift * time;
    let apart = |truth: f64| {
        let since = if truth > 0.0 { -3.0 } else { 0.0 };
        let ends =
            [killed.saturating_sub(seen), clock.took].map(|time| at(time.as_secs_f64() + since));
        (truth - truth.clamp(ends[0].min(ends[1]), ends[0].max(ends[1]))).abs()
    };
    let apart = apart(3e9).min(apart(-3e9));
    assert!(apart <= clock.error as f64, "{apart} ns: {clock:?}");
    assert!(number(&profile, "matched") > 0, "{profile}");
}
