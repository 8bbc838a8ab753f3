//! `pvm run --trace FILE --alone`: tasks of a host compute one after the other.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, Output, Running};
use std::path::PathBuf;

const TASKS: u32 = 4;
const ROUNDS: u32 = 5;
const MS: u32 = 20;

/// From when to when a task has computed, and the processor time of that, in seconds.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    begin: f64,
    end: f64,
    processor: f64,
}

fn file(machine: &Machine) -> PathBuf {
    machine.place().home().join("run.trace")
}

fn run(machine: &Machine, options: &[&str], mode: &str) -> Output {
    let program = machine.place().compile("alone.c");
    let numbers = [TASKS, ROUNDS, MS].map(|number| number.to_string());
    let mut command = machine.place().installed("pvm");
    command.args(["run", "--quiet", "--trace"]).arg(file(machine)).args(options);
    command.arg(program).arg(mode).args(&numbers);
    machine.expect_success(Running::start(command))
}

/// The stretches that tasks have computed, in the order of their begins.
fn turns(output: &Output) -> Vec<Stretch> {
    let turn = |line: &str| {
        let mut words = line.split_once("turn ")?.1.split(' ').map(|word| word.parse().ok());
        let (begin, end, processor) = (words.next()??, words.next()??, words.next()??);
        Some(Stretch { begin, end, processor })
    };
    let mut all: Vec<Stretch> = output.out.lines().filter_map(turn).collect();
    all.sort_by(|a, b| a.begin.total_cmp(&b.begin));
    all
}

/// The number of stretches that began before the last one had ended.
fn overlaps(turns: &[Stretch]) -> usize {
    turns.windows(2).filter(|pair| pair[1].begin < pair[0].end).count()
}

#[test]
fn tasks_that_take_turns_never_compute_at_one_time() {
    let machine = Machine::start();
    for mode in ["ring", "barrier", "poll"] {
        let turns = turns(&run(&machine, &["--alone"], mode));
        assert_eq!(turns.len(), (TASKS * ROUNDS) as usize, "{mode}");
        assert_eq!(overlaps(&turns), 0, "{mode}: {turns:?}");
    }
    let others = turns(&run(&machine, &[], "ring"));
    assert!(overlaps(&others) > 0, "without turns they do: {others:?}");
    machine.halt();
}

#[test]
fn a_task_that_dies_or_stops_in_its_turn_holds_up_nobody() {
    let machine = Machine::start();
    for mode in ["killed", "stopped"] {
        let turns = turns(&run(&machine, &["--alone"], mode));
        assert_eq!(turns.len(), ((TASKS - 1) * ROUNDS) as usize, "{mode}");
        let before = overlaps(&turns);
        // One that is let go on behind its stop computes beside another one until it waits.
        assert_eq!(before, 0, "{mode}: {turns:?}");
    }
    machine.halt();
}

/// The prediction of `pvm predict` for the rounds on hosts of their own.
fn predicted(machine: &Machine) -> f64 {
    let mut command = machine.place().installed("pvm");
    command.args(["predict", "--json", "--depth", "line", "--network", "sgi"]).arg(file(machine));
    let told = machine.succeed(command).out;
    let sections = told.split("\"sections\":").nth(1).expect("sections");
    let one = sections.split('{').find(|one| one.contains("\"rounds\"")).expect("the rounds");
    let digits = one.split("\"seconds\":").nth(1).expect("its seconds").chars();
    digits.take_while(|c| c.is_ascii_digit() || *c == '.').collect::<String>().parse().expect("one")
}

#[test]
fn the_turns_of_others_are_no_time_of_a_task() {
    let machine = Machine::start();
    let turns = turns(&run(&machine, &["--alone"], "ring"));
    let seconds = predicted(&machine);
    let own = f64::from(ROUNDS * MS) / 1e3;
    // A hypervisor that takes the processor away for a while lets the task's own clock go on.
    let taken: f64 = turns.iter().map(|turn| turn.processor - f64::from(MS) / 1e3).sum();
    // All four together compute four times as long.
    assert!((own..1.5 * own + taken).contains(&seconds), "{seconds}, {taken} taken: {turns:?}");
    machine.halt();
}
