//! The end-to-end tests once more, as an ordinary user.
//!
//! Root may do things nobody else may, and much of what goes wrong for users (folders, sockets, signals,
//! limits) goes right for root. The tests are compiled by whoever runs this and executed as `nobody`.

/// The script that becomes another user; it says in its head what it takes care of.
const SCRIPT: &str = "xtask/second-user.sh";

/// The command lines to run in the checkout, each a program with its arguments: conformance, and these tests.
pub(crate) fn commands(stage: &str, tests: &[&str]) -> Vec<Vec<String>> {
    let scripts = [vec!["conformance/run.sh", "ours", stage], vec!["conformance/debian.sh", stage]];
    let tests = tests.iter().map(|test| vec![*test]);
    let as_other = |words: Vec<&str>| {
        let head = ["bash", SCRIPT, stage];
        head.into_iter().chain(words).map(str::to_owned).collect()
    };
    scripts.into_iter().chain(tests).map(as_other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conformance_and_every_test_runs_as_the_other_user() {
        let commands = commands("/stage", &["/t/deps/e2e-1"]);
        assert_eq!(commands.len(), 3);
        assert!(commands.iter().all(|words| words[..3] == ["bash", SCRIPT, "/stage"]));
        assert_eq!(commands[2][3..], ["/t/deps/e2e-1"]);
    }
}
