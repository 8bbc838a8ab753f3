//! The program's command line.

use std::process::{Command, Output};

fn testbed(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_testbed"));
    command.args(words).output().expect("testbed runs")
}

#[test]
fn a_question_for_the_usage_was_called_wrong_use() {
    for words in [&["--help"][..], &["-h"], &["up", "--help"]] {
        let output = testbed(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        assert!(output.stdout.starts_with(b"usage: ") && output.stderr.is_empty(), "{words:?}");
    }
}

#[test]
fn wrong_use_has_a_status_of_its_own() {
    for words in [&[][..], &["nonsense"]] {
        let output = testbed(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{words:?}");
    }
}
