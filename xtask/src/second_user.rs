//! Tests as an ordinary user.
//!
//! Root may do things nobody else may, and much of what goes wrong for users (folders, sockets,
//! signals, limits) goes right for root. The tests are compiled by whoever runs this and executed
//! as `nobody`.

use crate::programs::Program;

/// The script that becomes another user; it says in its head what it takes care of.
const SCRIPT: &str = "xtask/second-user.sh";
/// The runner of the interfaces' tests.
pub(crate) const INTERFACES: &str = "personalities/tests/run.sh";

/// The programs of conformance, each a command line to be run in the checkout.
pub(crate) fn conformance(stage: &str) -> Vec<Vec<String>> {
    let scripts = [&["conformance/run.sh", "ours", stage][..], &["conformance/debian.sh", stage]];
    scripts.map(|words| as_other(stage, words)).into()
}

/// The tests of the interfaces beside PVM, whose programs are compiled and run in a temporary
/// folder.
pub(crate) fn interfaces(stage: &str) -> Vec<String> {
    as_other(stage, &["bash", INTERFACES, stage, "-"])
}

/// Test programs as the second user, each with these arguments.
pub(crate) fn tests(stage: &str, programs: &[Program], arguments: &[&str]) -> Vec<Vec<String>> {
    let words = |program: &Program| {
        let path = program.path.to_string_lossy();
        as_other(stage, &[&[&*path], arguments].concat())
    };
    programs.iter().map(words).collect()
}

fn as_other(stage: &str, words: &[&str]) -> Vec<String> {
    let head = ["bash", SCRIPT, stage];
    head.iter().chain(words).map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn conformance_and_tests_run_as_the_other_user() {
        let (package, name) = ("pvm-e2e".to_owned(), "x".to_owned());
        let (path, folder) = (PathBuf::from("/t/deps/x-1"), PathBuf::from("/c"));
        let program =
            Program { package, name, target: crate::programs::Target::Test, path, folder };
        let commands =
            [conformance("/stage"), super::tests("/stage", &[program], &["--skip", "y"])].concat();
        assert_eq!(commands.len(), 3);
        assert!(commands.iter().all(|words| words[..3] == ["bash", SCRIPT, "/stage"]));
        assert_eq!(commands[2][3..], ["/t/deps/x-1", "--skip", "y"]);
    }
}
