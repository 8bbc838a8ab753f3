//! Recorded programs: what their traces say is what they did, whatever is killed meanwhile.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, Running, eventually, process};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A recorded program is at work, also on a busy computer.
const LIMIT: Duration = Duration::from_secs(60);

/// A host starts sixteen recorders a minute.
const KILLS_MAX: usize = 12;

/// Begins `pvm run --trace FILE tokens ...`.
fn begin(machine: &Machine, file: &Path, arguments: &[&str]) -> Running {
    begin_program(machine, file, "tokens.c", arguments)
}

fn begin_program(machine: &Machine, file: &Path, source: &str, arguments: &[&str]) -> Running {
    let program = machine.place().compile(source);
    let mut command = machine.place().installed("pvm");
    command.args(["run", "--quiet", "--trace"]).arg(file).arg(program).args(arguments);
    Running::start(command)
}

fn file(machine: &Machine) -> PathBuf {
    machine.place().home().join("run.trace")
}

/// The counts of a task in a trace: messages sent and taken, records noted and lost.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    sent: u64,
    taken: u64,
    noted: u64,
    lost: u64,
}

fn number(text: &str, name: &str) -> u64 {
    let from =
        text.split(&format!("\"{name}\":")).nth(1).unwrap_or_else(|| panic!("{name}: {text}"));
    let digits: String = from.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

/// The counts of a trace's tasks: each record that was noted is in the file or counted as lost.
fn lines(machine: &Machine, file: &Path) -> Vec<Line> {
    let (records, lines) = read(machine, file);
    let noted: u64 = lines.iter().map(|line| line.noted - line.lost).sum();
    assert_eq!(noted, records, "{lines:?}");
    lines
}

/// The messages that each task has sent and taken, as the file of a running recording has them.
fn so_far(machine: &Machine, file: &Path) -> Vec<(u64, u64)> {
    let profile = machine.pvm(&["trace", "profile", "--json", &file.to_string_lossy()]);
    let Some(tasks) = profile.out.split("\"tasks\":").nth(1) else { return Vec::new() };
    let tasks = &tasks[..tasks.find(']').unwrap_or_default()];
    let rows = tasks.split('}').filter(|row| row.contains('{'));
    rows.map(|row| (number(row, "sent"), number(row, "received"))).collect()
}

/// The number of records in a file, and what it tells of its tasks.
fn read(machine: &Machine, file: &Path) -> (u64, Vec<Line>) {
    let mut command = machine.place().installed("pvm");
    command.args(["trace", "show", "--json"]).arg(file);
    let shown = machine.succeed(command).out;
    let mut command = machine.place().installed("pvm");
    command.args(["trace", "profile", "--json"]).arg(file);
    let profile = machine.succeed(command).out;
    let tasks = |text: &str| -> Vec<String> {
        let all = text.split("\"tasks\":").nth(1).expect("tasks").to_owned();
        let end = all.find(']').expect("an end");
        all[..end].split('}').filter(|part| part.contains('{')).map(str::to_owned).collect()
    };
    let records = number(&shown, "records");
    let (shown, profile) = (tasks(&shown), tasks(&profile));
    assert_eq!(shown.len(), profile.len());
    let line = |(shown, profile): (&String, &String)| Line {
        sent: number(profile, "sent"),
        taken: number(profile, "received"),
        noted: number(shown, "noted"),
        lost: number(shown, "lost"),
    };
    (records, shown.iter().zip(&profile).map(line).collect())
}

/// The counts that the tasks themselves have printed.
fn said(output: &str) -> Vec<(u64, u64)> {
    let words = |line: &str| -> Option<(u64, u64)> {
        let mut words = line.split_once("sent ")?.1.split(" taken ");
        Some((words.next()?.parse().ok()?, words.next()?.trim().parse().ok()?))
    };
    let mut all: Vec<(u64, u64)> = output.lines().filter_map(words).collect();
    all.sort_unstable();
    all
}

fn told(lines: &[Line]) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = lines.iter().map(|line| (line.sent, line.taken)).collect();
    all.sort_unstable();
    all
}

/// `pvm trace record --all`, which has begun.
fn record_all(machine: &Machine, file: &Path) -> Running {
    let mut command = machine.place().installed("pvm");
    command.args(["trace", "record", "--all", "-o"]).arg(file);
    let recording = Running::start(command);
    let begun = eventually(LIMIT, || recording.errors_so_far().contains("recording into"));
    assert!(begun, "{}", recording.errors_so_far());
    recording
}

/// The recorders of all hosts.
fn recorders(machine: &Machine) -> Vec<u32> {
    let processes = machine.place().processes();
    let is_one = |line: &str| line.contains("pvm recorder");
    processes.iter().filter(|(_, line)| is_one(line)).map(|&(pid, _)| pid).collect()
}

#[test]
fn a_trace_has_every_message_of_every_task_on_all_hosts() {
    let machine = Machine::local(3);
    let file = file(&machine);
    let running = begin(&machine, &file, &["6", "300"]);
    let output = machine.expect_success(running);
    let lines = lines(&machine, &file);
    assert_eq!(told(&lines), said(&output.out), "{lines:?}");
    assert!(lines.iter().all(|line| line.lost == 0), "{lines:?}");
    let mode = std::fs::metadata(&file).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // Nobody records any more, so the recorders end.
    assert!(eventually(LIMIT, || recorders(&machine).is_empty()));
    machine.halt();
}

#[test]
fn recorders_and_daemons_that_are_killed_lose_nothing_that_is_not_told() {
    let machine = Machine::local(2);
    let file = file(&machine);
    let mut running = begin(&machine, &file, &["4", "400", "2000"]);
    let mut kills = 0;
    while running.is_running() && kills < KILLS_MAX {
        let recorders = recorders(&machine);
        kills += usize::from(!recorders.is_empty());
        recorders.into_iter().for_each(process::kill);
        if kills % 3 == 1
            && let Some((daemon, _)) =
                machine.place().processes().iter().find(|(_, line)| line.contains("--daemon"))
        {
            process::kill(*daemon);
        }
        // What comes after them has told something, or the program is over.
        let before = so_far(&machine, &file);
        eventually(LIMIT, || so_far(&machine, &file) != before || !running.is_running());
        std::thread::sleep(Duration::from_millis(300));
    }
    let output = machine.expect_success(running);
    let lines = lines(&machine, &file);
    assert!(kills > 0, "nothing was killed");
    eprintln!("killed recorders {kills} times: {lines:?}");
    if machine.pvm(&["trace", "show", &file.to_string_lossy()]).out.contains("MISSING OF") {
        return machine.halt();
    }
    assert_eq!(told(&lines), said(&output.out), "{lines:?}");
    machine.halt();
}

#[test]
fn what_a_task_noted_before_it_was_killed_is_in_the_trace() {
    let machine = Machine::start();
    let file = file(&machine);
    let mut running = begin(&machine, &file, &["3", "1000000"]);
    let tasks = || tasks_of(&machine, "tokens");
    let is_at_work = || {
        let told = so_far(&machine, &file);
        told.len() == 3 && told.iter().all(|(sent, _)| *sent > 100)
    };
    assert!(eventually(LIMIT, is_at_work), "{}", running.errors_so_far());
    // Stopped first, so that no one goes on while the others are killed.
    let tasks = tasks();
    tasks.iter().for_each(|pid| process::send(*pid, Signal::STOP));
    tasks.into_iter().for_each(process::kill);
    assert!(eventually(LIMIT, || !running.is_running()), "{}", running.errors_so_far());
    let lines = lines(&machine, &file);
    assert!(lines.iter().all(|line| line.lost == 0), "{lines:?}");
    // The first one has sent two messages before the ring began, and one more while the token is on
    // its way; a task that was stopped between a send and its record has noted one less.
    let most = lines.iter().map(|line| line.sent).max().unwrap_or(0);
    let shown = || machine.pvm(&["trace", "show", &file.to_string_lossy()]).out;
    assert!(most > 20 && lines.iter().all(|line| line.sent + 4 >= most), "{}", shown());
    machine.halt();
}

/// Processes of a program that was started from here, but for the one that started it.
fn tasks_of(machine: &Machine, program: &str) -> Vec<u32> {
    let processes = machine.place().processes();
    let is_task = |line: &str| line.contains(program) && !line.contains("pvm run");
    processes.iter().filter(|(_, line)| is_task(line)).map(|&(pid, _)| pid).collect()
}

#[test]
fn tasks_that_ended_while_the_recorder_stood_still_were_in_no_trace_and_in_no_gap() {
    let machine = Machine::start();
    let file = file(&machine);
    let parent = machine.parent().to_string();
    let mut running = begin_program(&machine, &file, "brief.c", &["400", &parent]);
    let has_begun = || !tasks_of(&machine, "brief").is_empty();
    assert!(eventually(LIMIT, has_begun), "{}", running.errors_so_far());
    let recorders = recorders(&machine);
    recorders.iter().for_each(|pid| process::send(*pid, Signal::STOP));
    let is_over = || tasks_of(&machine, "brief").is_empty();
    let ended = eventually(LIMIT, is_over);
    recorders.iter().for_each(|pid| process::send(*pid, Signal::CONT));
    assert!(ended, "{}", running.errors_so_far());
    assert!(eventually(LIMIT, || !running.is_running()), "{}", running.errors_so_far());
    let lines = lines(&machine, &file);
    let unread = lines.iter().filter(|line| line.lost > 0 && line.lost == line.noted).count();
    eprintln!("{} tasks, {unread} of them unread", lines.len());
    // The master and its workers, each of which is in the trace or in a gap.
    assert_eq!(lines.len(), 401);
    assert!((50..=145).contains(&unread), "{unread}");
    machine.halt();
}

#[test]
fn a_task_that_had_left_before_it_ended_had_no_status_in_its_trace() {
    let machine = Machine::start();
    let file = file(&machine);
    let running = begin_program(&machine, &file, "endings.c", &[]);
    machine.expect_success(running);
    let mut command = machine.place().installed("pvm");
    command.args(["trace", "show", "--json"]).arg(&file);
    let shown = machine.succeed(command).out;
    let statuses = shown.split("\"status\":").skip(1);
    let mut statuses: Vec<i32> = statuses
        .map(|rest| rest.trim_start().split([',', '}']).next().expect("a number"))
        .map(|text| text.trim().parse().unwrap_or_else(|_| panic!("{text}: {shown}")))
        .collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [0, 9, 3 << 8, 4 << 8]);
    machine.halt();
}

#[test]
fn a_fortran_program_says_what_it_does() {
    let machine = Machine::start();
    let file = file(&machine);
    machine.expect_success(begin_program(&machine, &file, "marks_f.f", &[]));
    let mut command = machine.place().installed("pvm");
    command.args(["trace", "show", "--events"]).arg(&file);
    let shown = machine.succeed(command).out;
    let of = |name: &str| shown.lines().filter(|line| line.contains(name)).collect::<Vec<_>>();
    let (states, progress, marks) = (of("neopvm_state"), of("neopvm_progress"), of("neopvm_mark"));
    assert!(states.len() == 2 && states[0].contains("\"sorting\""), "{shown}");
    assert!(!states[1].contains('"'), "{shown}");
    assert!(progress.len() == 1 && progress[0].ends_with("\"rows\": 40 of 100"), "{shown}");
    assert!(marks.len() == 1 && marks[0].ends_with("\"done\": -7"), "{shown}");
    assert!(of("pvm_send").len() == 1 && of("pvm_recv").iter().any(|line| line.contains("from")));
    machine.halt();
}

#[test]
fn what_is_missing_of_a_host_that_died_is_told_and_the_recording_goes_on() {
    let machine = Machine::local(3);
    let file = file(&machine);
    let mut recording = record_all(&machine, &file);
    let before = machine.run("tokens.c", &["3", "50", "1000"]);
    let is_told = |told: &[(u64, u64)]| said(&before.out).iter().all(|row| told.contains(row));
    assert!(eventually(LIMIT, || is_told(&so_far(&machine, &file))), "{:?}", before.out);
    let lost = machine.begin("tokens.c", &["6", "100000", "1000"]);
    let is_at_work = || {
        let told = so_far(&machine, &file);
        told.len() == 9 && told.iter().all(|(sent, _)| *sent > 10)
    };
    assert!(eventually(LIMIT, is_at_work), "{}", lost.errors_so_far());
    let processes = machine.place().processes();
    let is_parent = |line: &str| line.contains("--join") && !line.contains("--daemon");
    let parent = processes.iter().rev().find(|(_, line)| is_parent(line));
    process::kill(parent.unwrap_or_else(|| panic!("no host has joined: {processes:#?}")).0);
    let hosts = || machine.pvm(&["conf", "--json"]).out.matches("\"name\"").count();
    assert!(eventually(LIMIT, || hosts() == 2), "{}", machine.log());
    let after = machine.run("tokens.c", &["3", "50", "1000"]);
    tasks_of(&machine, "tokens").into_iter().for_each(process::kill);
    drop(lost);
    assert!(recording.is_running(), "{}", recording.errors_so_far());
    machine.pvm(&["trace", "stop"]);
    assert!(eventually(LIMIT, || !recording.is_running()), "{}", recording.errors_so_far());
    let mut command = machine.place().installed("pvm");
    command.args(["trace", "show", "--json"]).arg(&file);
    let shown = machine.succeed(command).out;
    let gaps = shown.split("\"gaps\":").nth(1).expect("gaps");
    assert!(gaps.contains("was not reached"), "nothing tells of the host: {shown}");
    let told = told(&read(&machine, &file).1);
    for (sent, taken) in said(&before.out).into_iter().chain(said(&after.out)) {
        assert!(told.contains(&(sent, taken)), "({sent}, {taken}): {told:?}");
    }
    machine.halt();
}

#[test]
fn running_tasks_are_recorded_and_the_recording_is_stopped_by_a_command() {
    let machine = Machine::local(2);
    let file = file(&machine);
    let mut program = machine.begin("tokens.c", &["4", "1000000", "1000"]);
    let mut recording = record_all(&machine, &file);
    let is_told = |file: &Path| {
        let told = so_far(&machine, file);
        told.len() == 4 && told.iter().all(|(sent, _)| *sent > 10)
    };
    assert!(eventually(LIMIT, || is_told(&file)), "{}", recording.errors_so_far());
    machine.pvm(&["trace", "stop"]);
    assert!(eventually(LIMIT, || !recording.is_running()), "{}", recording.errors_so_far());
    let lines = lines(&machine, &file);
    assert!(lines.iter().filter(|line| line.sent > 10).count() == 4, "{lines:?}");
    // They work as before.
    assert!(program.is_running(), "{}", program.errors_so_far());
    let file = machine.place().home().join("again.trace");
    let mut again = record_all(&machine, &file);
    assert!(eventually(LIMIT, || is_told(&file)), "{}", again.errors_so_far());
    machine.pvm(&["trace", "stop"]);
    assert!(eventually(LIMIT, || !again.is_running()), "{}", again.errors_so_far());
    drop(program);
    machine.halt();
}

/// The records of each task in the file, without the times, and the remarks of the reader.
fn events(machine: &Machine, file: &Path) -> (BTreeMap<String, Vec<String>>, String) {
    let file = file.to_string_lossy();
    let shown = machine.pvm(&["trace", "show", "--events", "--raw", &file]);
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in shown.out.lines() {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let [_, _, _, task, ..] = words[..] else { panic!("{line}") };
        all.entry(task.to_owned()).or_default().push(words.join(" "));
    }
    assert!(shown.code() == 0 || all.is_empty(), "{}", shown.err);
    (all, shown.err)
}

#[test]
fn a_file_that_is_still_written_is_read_up_to_there() {
    let machine = Machine::local(2);
    let file = file(&machine);
    let mut recording = record_all(&machine, &file);
    let tokens = machine.begin("tokens.c", &["4", "1000000", "500"]);
    let (mut before, mut grown) = (BTreeMap::new(), 0);
    let is_enough = || {
        let (now, remark) = events(&machine, &file);
        assert!(now.is_empty() || remark.contains("is still written"), "{remark}");
        for (task, told) in &before {
            let told: &Vec<String> = told;
            assert!(now[task].starts_with(told), "{task}: {told:#?} {:#?}", now[task]);
        }
        grown += usize::from(now != before);
        before = now;
        grown >= 5 && before.len() == 4
    };
    assert!(eventually(LIMIT, is_enough), "{}", recording.errors_so_far());
    drop(tokens);
    machine.pvm(&["trace", "stop"]);
    assert!(eventually(LIMIT, || !recording.is_running()), "{}", recording.errors_so_far());
    let (now, remark) = events(&machine, &file);
    assert!(!remark.contains("written"), "{remark}");
    assert!(before.iter().all(|(task, told)| now[task].starts_with(told)));
    machine.halt();
}

#[test]
fn a_task_that_scribbles_over_its_own_ring_harms_no_trace_of_others_and_no_recorder() {
    let machine = Machine::start();
    let file = file(&machine);
    let mut recording = record_all(&machine, &file);
    let recorder = recorders(&machine);
    let tokens = machine.begin("tokens.c", &["3", "1000", "2000"]);
    for mode in 0..=6 {
        let used = process::processor_ns(recorder[0]);
        let mode = mode.to_string();
        machine.run("scribbles.c", &[&mode, "2"]);
        if mode == "5" {
            std::thread::sleep(Duration::from_secs(2));
        }
        assert!(recording.is_running(), "mode {mode}: {}", recording.errors_so_far());
        assert_eq!(recorders(&machine), recorder, "mode {mode}: {}", machine.log());
        let used = Duration::from_nanos(process::processor_ns(recorder[0]) - used);
        let memory = process::memory_kib(recorder[0]);
        eprintln!("mode {mode}: {used:?} of the recorder, {memory:?} KiB");
        assert!(used < Duration::from_secs(1), "mode {mode}: {used:?}");
    }
    let output = machine.expect_success(tokens);
    machine.pvm(&["trace", "stop"]);
    assert!(eventually(LIMIT, || !recording.is_running()), "{}", recording.errors_so_far());
    let told = told(&read(&machine, &file).1);
    for (sent, taken) in said(&output.out) {
        assert!(told.contains(&(sent, taken)), "({sent}, {taken}): {told:?}");
    }
    machine.halt();
}

#[test]
fn one_who_records_and_stands_still_took_the_records_of_another_one_without_a_word() {
    let machine = Machine::start();
    let files = [file(&machine), machine.place().home().join("other.trace")];
    let mut recordings = files.each_ref().map(|file| record_all(&machine, file));
    process::send(recordings[0].pid(), Signal::STOP);
    let output = machine.run("tokens.c", &["3", "10000", "50"]);
    process::send(recordings[1].pid(), Signal::INT);
    assert!(eventually(LIMIT, || !recordings[1].is_running()));
    process::send(recordings[0].pid(), Signal::CONT);
    process::send(recordings[0].pid(), Signal::INT);
    assert!(eventually(LIMIT, || !recordings[0].is_running()));
    let [first, second] = files.each_ref().map(|file| lines(&machine, file));
    assert!(told(&second).contains(&said(&output.out)[0]), "{second:?}");
    assert!(second.iter().all(|line| line.lost == 0), "{second:?}");
    // What is not in the first one is in its gaps.
    let noted = |lines: &[Line]| lines.iter().map(|line| line.noted).collect::<Vec<u64>>();
    assert_eq!(noted(&first), noted(&second));
    eprintln!("{first:?}");
    machine.halt();
}

#[test]
fn whoever_sent_frames_of_a_recorder_ended_a_recording_and_invented_losses() {
    let machine = Machine::start();
    let file = file(&machine);
    let mut recording = record_all(&machine, &file);
    let tokens = machine.begin("tokens.c", &["3", "1000", "1000"]);
    machine.run("imposter.c", &["2"]);
    assert!(recording.is_running(), "{}", recording.errors_so_far());
    let output = machine.expect_success(tokens);
    machine.pvm(&["trace", "stop"]);
    assert!(eventually(LIMIT, || !recording.is_running()), "{}", recording.errors_so_far());
    let said_all = eventually(LIMIT, || recording.errors_so_far().contains("records"));
    let errors = recording.errors_so_far();
    assert!(said_all && !errors.contains(" lost "), "{errors}");
    let lines = lines(&machine, &file);
    assert!(lines.iter().all(|line| line.lost == 0), "{lines:?}");
    let told = told(&lines);
    for (sent, taken) in said(&output.out) {
        assert!(told.contains(&(sent, taken)), "({sent}, {taken}): {told:?}");
    }
    machine.halt();
}

#[test]
fn a_task_that_was_recorded_before_had_no_program_and_no_names_in_the_second_trace() {
    let machine = Machine::start();
    let program = machine.begin("tokens.c", &["3", "1000000", "1000"]);
    for round in 0..2 {
        // The recorder of the first round has ended by then, with what it knew.
        assert!(eventually(LIMIT, || recorders(&machine).is_empty()));
        let file = machine.place().home().join(format!("{round}.trace"));
        let mut recording = record_all(&machine, &file);
        let events = || machine.pvm(&["trace", "show", "--events", &file.to_string_lossy()]).out;
        let is_told = eventually(LIMIT, || events().contains("neopvm_progress"));
        assert!(is_told, "{}", recording.errors_so_far());
        machine.pvm(&["trace", "stop"]);
        assert!(eventually(LIMIT, || !recording.is_running()), "{}", recording.errors_so_far());
        let shown = events();
        let progress = shown.lines().find(|line| line.contains("neopvm_progress")).expect("a line");
        assert!(progress.contains("tokens t") && progress.contains("\"rounds\""), "{progress}");
        assert!(progress.ends_with(" of 1000000"), "{progress}");
        // What the first recording has read counts there.
        let lines = lines(&machine, &file);
        assert!(lines.len() == 3 && lines.iter().all(|line| line.lost == 0), "{lines:?}");
    }
    drop(program);
    machine.halt();
}
