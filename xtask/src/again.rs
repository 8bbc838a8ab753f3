//! Tests of real processes that fail once: which of them are run again, and how.
//!
//! Such a test shares its computer with others, and the computer with who lends it. One that fails,
//! and at once passes [`TIMES`] times with nothing beside it, is told as unsteady with its words
//! and does not fail the check; doc/adr/0024 says why, and what is never run again.

/// The number of times that an unsteady test must pass.
pub(crate) const TIMES: usize = 3;
/// More failed tests in one part are no accident of the computer.
pub(crate) const MOST: usize = 2;

/// The word of a test program that names of tests follow.
pub(crate) const EXACT: &str = "--exact";

/// A form in which a command tells which of its tests failed, and takes the names of some.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    /// The tests that a log says failed, if nothing else did, and few of them.
    pub(crate) failed: fn(&str) -> Option<Vec<&str>>,
    /// The command that runs only these of its tests.
    pub(crate) only: for<'a> fn(&[&'a str], &[&'a str]) -> Vec<&'a str>,
}

/// `cargo test`, or one test program.
pub(crate) const PROGRAM: Form = Form { failed: failed_tests, only };

/// A script that uses `xtask/failed.sh`.
pub(crate) const SCRIPT: Form = Form { failed: failed_of_script, only: with_names };

/// The beginning of a line in which a script names a test that failed.
pub(crate) const OF_SCRIPT: &str = "failed test: ";
/// The last line of a script of which nothing but tests failed.
const NOTHING_ELSE: &str = "nothing else failed";

/// The tests that a script says failed, if that is its last word.
fn failed_of_script(log: &str) -> Option<Vec<&str>> {
    let names: Vec<&str> = log.lines().filter_map(|line| line.strip_prefix(OF_SCRIPT)).collect();
    let only_tests = log.lines().next_back() == Some(NOTHING_ELSE);
    (only_tests && (1..=MOST).contains(&names.len())).then_some(names)
}

fn with_names<'a>(words: &[&'a str], names: &[&'a str]) -> Vec<&'a str> {
    [words, names].concat()
}

/// The tests that a log of `cargo test`, or of one test program, says failed, if nothing else did:
/// no build, no crash of a test program, no hanging one, and not many tests.
fn failed_tests(log: &str) -> Option<Vec<&str>> {
    let names: Vec<&str> = log
        .lines()
        .filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"))
        .collect();
    let count = |start: &str| log.lines().filter(|line| line.starts_with(start)).count();
    // Cargo says the second for each program that ended ill, and a program the first if it came to
    // its end.
    let ended = count("test result: FAILED");
    let only_tests = match count("error: test failed") {
        0 => ended == 1,
        programs => ended == programs,
    };
    let few = (1..=MOST).contains(&names.len());
    // Tests in documentation have names with blanks; they run no processes.
    let by_name = names.iter().all(|name| !name.contains(' '));
    (only_tests && few && by_name).then_some(names)
}

/// The command that runs only these of the tests which `words` run.
fn only<'a>(words: &[&'a str], names: &[&'a str]) -> Vec<&'a str> {
    let mut all = words.to_vec();
    if words[0] == "cargo" && !words.contains(&"--") {
        all.push("--");
    }
    // They are some of the tests that were named already.
    if let Some(at) = all.iter().position(|word| *word == EXACT) {
        all.truncate(at);
    }
    all.push(EXACT);
    all.extend(names);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "test a ... ok\ntest b::c ... FAILED\n\nfailures:\n    b::c\n\n\
                       test result: FAILED. 1 passed; 1 failed;\n\
                       error: test failed, to rerun pass `-p x --test y`\n";

    #[test]
    fn a_single_failed_test_is_named() {
        assert_eq!(failed_tests(ONE), Some(vec!["b::c"]));
        let (program, _) = ONE.split_once("error:").expect("cargo's word");
        assert_eq!(failed_tests(program), Some(vec!["b::c"]), "a program without cargo");
    }

    #[test]
    fn what_is_no_failed_test_is_never_run_again() {
        let crash = "test a ... ok\nerror: test failed, to rerun pass `-p x --test z`\n\
                     Caused by:\n  process didn't exit successfully (signal: 11, SIGSEGV)\n";
        assert_eq!(failed_tests(&[ONE, crash].concat()), None);
        assert_eq!(failed_tests(crash), None);
        assert_eq!(failed_tests("test a ... ok\ntest b ... FAILED\n"), None, "it came to no end");
        assert_eq!(failed_tests("error: could not compile `x`\n"), None);
        let document = ONE.replace("b::c ...", "src/lib.rs - f (line 3) ...");
        assert_eq!(failed_tests(&document), None);
    }

    #[test]
    fn a_script_is_believed_if_its_last_word_is_that_nothing_else_failed() {
        let tests = |names: &[&'static str]| -> String {
            names.iter().map(|name| format!("failed test: {name}\n")).collect()
        };
        let log = |names: &[&'static str]| format!("FAIL x: y\n{}{NOTHING_ELSE}\n", tests(names));
        assert_eq!(
            failed_of_script(&log(&["nx chance 1", "late"])),
            Some(vec!["nx chance 1", "late"])
        );
        assert_eq!(failed_of_script(&log(&["a", "b", "c"])), None, "many");
        assert_eq!(failed_of_script(&log(&[])), None);
        assert_eq!(failed_of_script(&tests(&["a"])), None, "other faults");
        assert_eq!(failed_of_script(&(log(&["a"]) + "left: 7\n")), None, "a fault at its very end");
        assert_eq!(with_names(&["bash", "x.sh"], &["a b"]), ["bash", "x.sh", "a b"]);
    }

    #[test]
    fn many_failed_tests_are_no_accident() {
        assert_eq!(failed_tests(&ONE.repeat(2)).map(|names| names.len()), Some(2));
        assert_eq!(failed_tests(&ONE.repeat(3)), None);
    }

    #[test]
    fn the_same_command_runs_the_named_tests_only() {
        assert_eq!(
            only(&["cargo", "test", "-px"], &["a", "b"]),
            ["cargo", "test", "-px", "--", "--exact", "a", "b"]
        );
        let threads = ["cargo", "test", "--", "--test-threads=2"];
        assert_eq!(only(&threads, &["a"]), [&threads[..], &["--exact", "a"]].concat());
        assert_eq!(only(&["sh", "x", "prog"], &["a"]), ["sh", "x", "prog", "--exact", "a"]);
        assert_eq!(only(&["prog", "--exact", "a", "b"], &["b"]), ["prog", "--exact", "b"]);
    }
}
