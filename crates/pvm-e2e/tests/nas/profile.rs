//! The traffic among tasks in the shape of the thesis: the counts of PVM's own tracing
//! (`programs/counts.c`) are those of the table in the folder's README.

use crate::programs::{ALL, Build, build, sources};
use pvm_e2e::Machine;
use std::fmt::Write as _;
use std::fs;

/// Beside a master, which comes first.
const MASTERED: [&str; 3] = ["lu", "sp", "bt"];
/// The report and the like are not told.
pub(crate) const BYTES_MIN: u64 = 1000;
/// Pairs that are so near to each other stand in one row.
const NEAR: f64 = 1.02;
const HEADING: &str = "## Who sends to whom";

/// The traffic of one task to another one.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    from: String,
    to: String,
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
}

/// The workers by their ranks, the master as `m`.
fn name(word: &str, mastered: bool) -> String {
    let place: u32 = word.parse().expect("a number");
    match (place, mastered) {
        (0, true) => "m".to_owned(),
        (place, true) => (place - 1).to_string(),
        (place, false) => place.to_string(),
    }
}

/// With four workers, and a master where it has one.
pub(crate) fn tasks(program: &str) -> &'static str {
    if MASTERED.contains(&program) { "5" } else { "4" }
}

pub(crate) fn counted(machine: &Machine, program: &str, more: &[&str]) -> Vec<Sent> {
    let mastered = MASTERED.contains(&program);
    let path = build(&Build::Ours).join(format!("nas-{program}")).display().to_string();
    let words = [&[&*path, tasks(program), "--shape", "thesis", "--json"], more].concat();
    let output = machine.run("counts.c", &words);
    let sent = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [from, to, messages, bytes] = words[..] else { panic!("{line}") };
        let number = |word: &str| word.parse().expect("a number");
        let (from, to) = (name(from, mastered), name(to, mastered));
        Sent { from, to, messages: number(messages), bytes: number(bytes) }
    };
    let mut all: Vec<Sent> = output.out.lines().map(sent).collect();
    all.retain(|one| one.bytes >= BYTES_MIN);
    all.sort_by_key(|one| one.bytes);
    all
}

/// Rows of the table, the pairs with the fewest bytes first.
fn rows(program: &str, all: &[Sent]) -> String {
    let mut groups: Vec<Vec<&Sent>> = Vec::new();
    for one in all {
        match groups.last_mut() {
            Some(group) if one.bytes as f64 <= NEAR * group[0].bytes as f64 => group.push(one),
            _ => groups.push(vec![one]),
        }
    }
    let mut text = String::new();
    for group in groups {
        let (messages, bytes) = (range(&group, |one| one.messages), range(&group, |one| one.bytes));
        let pairs = pairs(&group).join(" ");
        let _ = writeln!(text, "| {} | {pairs} | {messages} | {bytes} |", program.to_uppercase());
    }
    text
}

/// `0-1` where both send to each other, `0>1` where one does.
fn pairs(group: &[&Sent]) -> Vec<String> {
    let has = |from: &str, to: &str| group.iter().any(|one| one.from == from && one.to == to);
    let mut all: Vec<String> = Vec::new();
    for one in group {
        let (from, to) = (one.from.as_str(), one.to.as_str());
        if !has(to, from) || from == to {
            all.push(format!("{from}>{to}"));
        } else if from < to {
            all.push(format!("{from}-{to}"));
        }
    }
    all.sort();
    all
}

fn range(group: &[&Sent], of: impl Fn(&Sent) -> u64) -> String {
    let values = || group.iter().map(|one| of(one));
    let (least, most) = (values().min().unwrap_or(0), values().max().unwrap_or(0));
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}

#[test]
fn the_messages_are_those_that_the_readme_tells() {
    let machine = Machine::start();
    let mut table = String::new();
    for program in ALL {
        table += &rows(program, &counted(&machine, program, &[]));
    }
    machine.halt();
    let readme = fs::read_to_string(sources().join("README.md")).expect("a README");
    let (_, section) = readme.split_once(HEADING).unwrap_or_else(|| panic!("{HEADING}\n{table}"));
    let told = section.lines().skip_while(|line| !line.starts_with("|---"));
    let told = told.skip(1).take_while(|line| line.starts_with('|'));
    let told: String = told.map(|line| format!("{line}\n")).collect();
    assert_eq!(told, table, "the README tells otherwise than what was counted:\n{table}");
}

/// As the thesis found them doing.
#[test]
fn sp_and_bt_send_to_themselves_where_that_is_asked_for() {
    let machine = Machine::start();
    for program in ["sp", "bt"] {
        let to_itself = |more: &[&str]| {
            let sent = counted(&machine, program, more);
            sent.iter().filter(|one| one.from == one.to && one.messages > 100).count()
        };
        assert_eq!((to_itself(&[]), to_itself(&["--self"])), (0, 4), "{program}");
    }
    machine.halt();
}
