//! Failures end in a sentence, with status 1, and nothing is left.

use crate::programs::{self, Build, LIMIT, command, run};
use pvm_e2e::{Hosts, Machine, Place, Running, eventually, process};
use std::time::{Duration, Instant};

/// The time within which a program that has lost a task has ended, with all others. A busy computer
/// may take longer than the ten seconds that are promised.
const ENDED: Duration = Duration::from_secs(60);

/// One sentence of the program's own.
fn assert_refused(name: &str, words: &[&str], part: &str) {
    let machine = Machine::start();
    let output = run(&machine, &Build::Ours, name, words);
    assert_eq!((output.code(), &*output.out), (1, ""), "nas-{name} {words:?}: {output:?}");
    let lines: Vec<&str> = output.err.lines().collect();
    let is_one = lines.len() == 1 && lines[0].starts_with(&format!("nas-{name}: "));
    assert!(is_one && lines[0].contains(part), "nas-{name} {words:?}: {output:?}");
    machine.halt();
}

#[test]
fn nonsense_on_the_command_line_is_refused_in_a_sentence() {
    assert_refused("ep", &["Q"], "class 'Q'");
    assert_refused("ep", &["S", "0"], "the number of tasks");
    assert_refused("mg", &["S", "1", "--iterations", "0"], "--iterations");
    assert_refused("mg", &["--size", "x"], "--size");
    assert_refused("is", &["S", "1", "--encoding", "morse"], "--encoding");
    assert_refused("cg", &["S", "1", "--fish"], "--fish");
}

#[test]
fn a_number_of_tasks_that_cannot_be_is_refused_with_the_nearest() {
    for (name, tasks) in [("ft", "7"), ("lu", "1000"), ("mg", "1000"), ("sp", "1000")] {
        let part = if tasks == "7" { "8" } else { "tasks" };
        assert_refused(name, &["S", tasks], part);
    }
}

#[test]
fn without_a_machine_a_program_says_so() {
    let place = Place::new();
    let mut command = place.command(programs::build(&Build::Ours).join("nas-ep"));
    command.args(["S", "1"]);
    let output = Running::start(command).finish(LIMIT);
    assert_eq!(output.code(), 1, "{output:?}");
    assert!(output.err.contains("nas-ep: no PVM is running here"), "{output:?}");
}

/// The machine's processes that run this program.
fn tasks_of(machine: &Machine, name: &str) -> Vec<u32> {
    let program = format!("nas-{name}");
    let all = machine.place().processes().into_iter();
    all.filter(|(_, line)| line.contains(&program)).map(|(process, _)| process).collect()
}

/// One sentence that names the task.
fn is_told(name: &str, said: &str) -> bool {
    let begin = format!("nas-{name}: a task (rank ");
    said.lines().filter(|line| line.starts_with(&begin) && line.contains(" on host ")).count() == 1
}

/// Each in its own way of exchanging: planes with neighbours, everybody with everybody, with a
/// master.
#[test]
fn a_task_that_dies_in_the_middle_ends_the_others_with_its_name() {
    let machine = Machine::start();
    let cases: [(&str, &[&str]); 4] = [
        ("ep", &["B", "4"]),
        ("cg", &["B", "4"]),
        ("ft", &["A", "4", "--iterations", "1000"]),
        ("lu", &["4", "--size", "64", "--shape", "thesis", "--iterations", "100000"]),
    ];
    for (name, words) in cases {
        let mut running = Running::start(command(&machine, &Build::Ours, name, words));
        let first = running.pid();
        let all = || tasks_of(&machine, name).into_iter().filter(move |&one| one != first);
        let at_work = |one: u32| process::processor_ns(one) > 50_000_000;
        let many = eventually(LIMIT, || all().filter(|&one| at_work(one)).count() >= 3);
        assert!(many && running.is_running(), "{name}: {}", running.errors_so_far());
        process::kill(all().next().expect("a worker"));
        assert!(eventually(ENDED, || !running.is_running()), "{name}: {}", running.errors_so_far());
        let output = running.finish(LIMIT);
        assert_eq!(output.code(), 1, "{name}: {output:?}");
        assert!(is_told(name, &output.err), "{output:?}");
        let gone = eventually(ENDED, || tasks_of(&machine, name).is_empty());
        assert!(gone, "{name}: {:?}", machine.place().processes());
    }
    machine.halt();
}

/// The first task is on h1; the host that loses its power has one or two of the others.
#[test]
fn a_host_that_dies_in_the_middle_ends_all_with_the_name_of_a_lost_task() {
    let Some(hosts) = Hosts::up(3) else { return };
    hosts.machine("h1", &["h2", "h3"]);
    for (name, victim) in [("cg", "h2"), ("lu", "h3")] {
        let program = programs::build(&Build::Ours).join(format!("nas-{name}"));
        let words = [program.to_str().expect("a path"), "B", "4"];
        let mut running = Running::start(hosts.on("h1", &words));
        let works = |host: &str| {
            let all = hosts.processes(host);
            all.iter().any(|line| line.contains(&format!("nas-{name}")))
        };
        let begun = eventually(LIMIT, || works("h2") && works("h3") || !running.is_running());
        assert!(begun && running.is_running(), "{name}: {}", running.errors_so_far());
        hosts.tool(&["power-off", victim]);
        let begin = Instant::now();
        assert!(eventually(ENDED, || !running.is_running()), "{name}: {}", running.errors_so_far());
        eprintln!(
            "nas-{name}: ended {:.1} s after {victim} had lost its power",
            begin.elapsed().as_secs_f64()
        );
        let output = running.finish(LIMIT);
        assert_eq!(output.code(), 1, "{name}: {output:?}");
        assert!(is_told(name, &output.err), "{output:?}");
        let gone = || ["h1", "h2", "h3"].iter().all(|&host| host == victim || !works(host));
        assert!(eventually(ENDED, gone), "nas-{name} is left");
        hosts.tool(&["boot", victim]);
        hosts.run("h1", &["pvm", "add", victim]);
    }
    hosts.halt("h1");
}
