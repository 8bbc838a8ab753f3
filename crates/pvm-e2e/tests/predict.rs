//! Programs that were recorded on this computer are predicted for other networks.
#![forbid(unsafe_code)]

#[allow(dead_code, reason = "the tests of the programs use the rest")]
#[path = "nas/programs.rs"]
mod programs;

use programs::{Build, LIMIT, one};
use pvm_e2e::{Machine, prefix};
use std::path::Path;
use std::process::Command;

/// Records a program with its words.
fn record(machine: &Machine, program: &Path, words: &[&str], trace: &Path) {
    let mut command = machine.place().installed("pvm");
    command.args(["run", "--quiet", "--trace"]).arg(trace).arg(program).args(words);
    let output = machine.finish(command, LIMIT);
    assert_eq!(output.code(), 0, "{output:?}");
}

/// The number behind a name in a line of JSON.
fn number(text: &str, name: &str) -> f64 {
    let from =
        text.split(&format!("\"{name}\":")).nth(1).unwrap_or_else(|| panic!("{name}: {text}"));
    let end = from.find([',', '}']).unwrap_or(from.len());
    from[..end].trim().parse().unwrap_or_else(|error| panic!("{name}: {error}: {text}"))
}

fn predict(machine: &Machine, trace: &Path, network: &str) -> String {
    let mut command = machine.place().installed("pvm");
    command.arg("predict").arg(trace).args(["--network", network, "--json"]);
    machine.succeed(command).out
}

#[test]
fn the_ring_of_the_examples_is_predicted() {
    let machine = Machine::start();
    let home = machine.place().home();
    let (ring, trace) = (home.join("ring"), home.join("ring.trace"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c/ring.c");
    let prefix = prefix();
    let mut compile = Command::new("cc");
    compile.arg("-o").arg(&ring).arg(source).arg(format!("-I{}", prefix.join("include").display()));
    let library = prefix.join("lib").display().to_string();
    compile.args([format!("-L{library}"), format!("-Wl,-rpath,{library}")]);
    compile.args(["-lgpvm3", "-lpvm3"]);
    assert!(compile.status().expect("a compiler").success());
    record(&machine, &ring, &["4", "25"], &trace);
    let (slow, fast) =
        (predict(&machine, &trace, "switch-10"), predict(&machine, &trace, "switch-1000"));
    // A hundred tokens, one after the other, cross two cables each; three and a bit packets a
    // token.
    let wire = 100.0 * 4032.0 * 8.0 / 10e6;
    let more = number(&slow, "seconds") - number(&fast, "seconds");
    assert!((wire..2.0 * wire).contains(&more), "{more} s more, {wire} s of data: {slow}");
    machine.halt();
}

#[test]
fn a_nas_program_is_predicted_with_all_its_messages() {
    let machine = Machine::start();
    let trace = machine.place().home().join("is.trace");
    record(&machine, &one(Build::Ours, "is"), &["S", "4"], &trace);
    let told = predict(&machine, &trace, "switch-10");
    // The program counts what it sends by itself: some 2.7 MB between four tasks.
    let bytes: f64 = told.split("{\"algorithmic\"").skip(1).map(|task| number(task, "bytes")).sum();
    assert!((2.6e6..2.9e6).contains(&bytes), "{bytes}: {told}");
    // A task may end before it takes the last word of the first one; but nothing was lost.
    assert!(!told.contains("records were lost") && !told.contains("gaps"), "{told}");
    let (slow, fast) =
        (number(&told, "seconds"), number(&predict(&machine, &trace, "switch-100"), "seconds"));
    // Each of the four cables carries its part, whatever this computer's tasks have computed
    // meanwhile.
    let wire = |bits: f64| bytes / 4.0 * 8.0 / bits;
    let least = (wire(10e6) - wire(100e6)) / 2.0;
    assert!(slow - fast > least, "{slow} s at 10 Mb/s, {fast} s at 100 Mb/s: {least}");
    machine.halt();
}
