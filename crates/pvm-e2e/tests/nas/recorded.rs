//! Recorded while they run: the trace of each, in C and in Fortran, has the messages and the bytes
//! that PVM's own tracing counts.

use crate::profile::{BYTES_MIN, counted, tasks};
use crate::programs::{ALL, Build, LIMIT, build};
use crate::report::Report;
use pvm_e2e::Machine;
use std::path::Path;

/// Messages and bytes of each pair that exchanges more than a few words, in order.
type Pairs = Vec<(u64, u64)>;

fn number(text: &str, name: &str) -> u64 {
    let from =
        text.split(&format!("\"{name}\":")).nth(1).unwrap_or_else(|| panic!("{name}: {text}"));
    let digits: String = from.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|error| panic!("{name}: {error}: {text}"))
}

/// Runs it in the shape of the thesis, recorded; its answer is the official one.
fn record(machine: &Machine, program: &str, trace: &Path) {
    let path = build(&Build::Ours).join(format!("nas-{program}"));
    let mut command = machine.place().installed("pvm");
    command.args(["run", "--quiet", "-n", tasks(program), "--trace"]).arg(trace);
    command.arg(path).args(["--shape", "thesis", "--json"]);
    let output = machine.finish(command, LIMIT);
    let report = Report::in_output(&output);
    assert_eq!((output.code(), report.verified), (0, Some(true)), "{program}: {output:?}");
}

fn told(machine: &Machine, what: &str, trace: &Path) -> String {
    let mut command = machine.place().installed("pvm");
    command.args(["trace", what, "--json"]).arg(trace);
    machine.succeed(command).out
}

fn recorded(machine: &Machine, trace: &Path) -> Pairs {
    let shown = told(machine, "show", trace);
    assert!(shown.contains("\"gaps\":[]"), "{shown}");
    let told = told(machine, "profile", trace);
    let pairs = told.split("\"pairs\":").nth(1).unwrap_or_else(|| panic!("{told}"));
    let pairs = &pairs[..pairs.find(']').expect("an end")];
    let pair = |text: &str| (number(text, "messages"), number(text, "bytes"));
    let mut all: Pairs = pairs.split('}').filter(|text| text.contains('{')).map(pair).collect();
    all.retain(|(_, bytes)| *bytes >= BYTES_MIN);
    all.sort_unstable();
    all
}

#[test]
fn the_trace_of_each_has_the_messages_that_pvms_own_tracing_counts() {
    let machine = Machine::start();
    for program in ALL {
        let trace = machine.place().home().join(format!("{program}.trace"));
        record(&machine, program, &trace);
        let counted = counted(&machine, program, &[]);
        let mut expected: Pairs = counted.iter().map(|one| (one.messages, one.bytes)).collect();
        expected.sort_unstable();
        assert_eq!(recorded(&machine, &trace), expected, "{program}");
    }
    machine.halt();
}
