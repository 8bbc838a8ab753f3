//! The end-to-end tests once more, as an ordinary user.
//!
//! Root may do things nobody else may, and much of what goes wrong for users (folders, sockets, signals,
//! limits) goes right for root. The tests are compiled by whoever runs this and executed as `nobody`.

use crate::{hosts, outside};
use std::path::{Path, PathBuf};

/// The script that becomes another user; it says in its head what it takes care of.
const SCRIPT: &str = "xtask/second-user.sh";

/// The command lines to run, each a program with its arguments, to be run in the checkout.
pub(crate) fn commands(root: &Path, stage: &str) -> Result<Vec<Vec<String>>, String> {
    let as_other = |words: &[&str]| -> Vec<String> {
        let head = ["bash", SCRIPT, stage];
        head.iter().chain(words).map(|word| (*word).to_owned()).collect()
    };
    let mut commands = vec![
        as_other(&["conformance/run.sh", "ours", stage]),
        as_other(&["conformance/debian.sh", stage]),
    ];
    for test in test_programs(root)? {
        commands.push(as_other(&[&test.to_string_lossy()]));
    }
    Ok(commands)
}

/// Compiles the end-to-end tests and returns the programs cargo made.
fn test_programs(root: &Path) -> Result<Vec<PathBuf>, String> {
    // Those with hosts of their own need root.
    let others = hosts::other_tests(root)?;
    let mut arguments = vec!["test", "--no-run", "--message-format=json"];
    arguments.extend(others.iter().map(String::as_str));
    let messages = outside::output(root, "cargo", &arguments)?;
    let programs: Vec<PathBuf> = messages
        .lines()
        .filter_map(executable)
        .map(PathBuf::from)
        .filter(|program| is_test(program))
        .collect();
    if programs.is_empty() { Err("pvm-e2e has no tests".to_owned()) } else { Ok(programs) }
}

/// Programs that tests start lie elsewhere.
fn is_test(program: &Path) -> bool {
    program.parent().is_some_and(|folder| folder.ends_with("deps"))
}

/// The value of `"executable"` in one of cargo's messages about a test.
fn executable(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("\"executable\":\"")?;
    rest.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_that_name_a_program_count() {
        assert_eq!(
            executable(r#"{"reason":"x","executable":"/t/d/e2e-1","fresh":true}"#),
            Some("/t/d/e2e-1")
        );
        assert_eq!(executable(r#"{"reason":"x","executable":null}"#), None);
    }
}
