//! Every promise names its test: what the pages promise carries a mark, and one table has a row for
//! each mark, with tests that exist.

use super::finding::Finding;
use crate::source::Source;
use std::collections::{BTreeMap, BTreeSet};

/// A page, the heading above its promises, and how each of them begins.
const PAGES: [(&str, &str, &str); 7] = [
    ("doc/reliability.md", "## What is promised", "* "),
    ("doc/interfaces.md", "## What is promised", "* "),
    ("SECURITY.md", "## What an attacker can and cannot do", "| "),
    ("SECURITY.md", "## How it is protected", "* "),
    ("doc/tuples.md", "## What programs are promised", "* "),
    ("doc/tuples.md", "## What a space guarantees", "* "),
    ("doc/tuples.md", "## Durable spaces", "* "),
];
const TABLE: (&str, &str) = ("doc/testing.md", "## Promises and their tests");
const MARK: &str = "<!-- promise: ";
const END: &str = " -->";

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    let text = |path: &str| sources.iter().find(|s| s.path == path).map(|s| s.text.as_str());
    let Some(table) = text(TABLE.0) else { return Vec::new() };
    let mut findings = Vec::new();
    let mut promised = BTreeSet::new();
    for (path, heading, begin) in PAGES {
        for (line, promise) in
            text(path).map(|text| statements(text, heading, begin)).unwrap_or_default()
        {
            let marks = marks(&promise);
            if marks.is_empty() {
                let what = "a promise without a mark that names its tests";
                findings.push(Finding::error(format!("{path}:{line}"), what));
            }
            promised.extend(marks);
        }
    }
    let rows: BTreeMap<String, (usize, String)> =
        statements(table, TABLE.1, "| ").into_iter().filter_map(row).collect();
    for mark in promised.iter().filter(|mark| !rows.contains_key(*mark)) {
        findings
            .push(Finding::error(TABLE.0, format!("the promise {mark} has no row with its tests")));
    }
    for (mark, (line, tests)) in &rows {
        let place = format!("{}:{line}", TABLE.0);
        if !promised.contains(mark) {
            findings.push(Finding::error(&place, format!("nobody promises {mark}")));
        }
        findings
            .extend(missing(sources, tests).into_iter().map(|what| Finding::error(&place, what)));
    }
    findings
}

/// The promises below a heading, each with all its lines, and the line on which it begins.
fn statements(text: &str, heading: &str, begin: &str) -> Vec<(usize, String)> {
    let lines = text.lines().enumerate().skip_while(|(_, line)| *line != heading).skip(1);
    let mut all: Vec<(usize, String)> = Vec::new();
    for (number, line) in lines.take_while(|(_, line)| !line.starts_with("## ")) {
        if line.starts_with(begin) {
            all.push((number + 1, line.to_owned()));
        } else if let Some((_, last)) = all.last_mut().filter(|_| line.starts_with("  ")) {
            last.push_str(line);
        }
    }
    // A table's own first line is no statement.
    let skipped = usize::from(begin == "| ");
    all.into_iter().skip(skipped).collect()
}

fn marks(promise: &str) -> Vec<String> {
    let marks = promise.split(MARK).skip(1).filter_map(|rest| rest.split(END).next());
    marks.flat_map(|names| names.split(", ")).map(str::to_owned).collect()
}

/// The mark of a row, its line, and the words in it that name tests.
fn row((line, text): (usize, String)) -> Option<(String, (usize, String))> {
    let (mark, tests) = text.trim_start_matches("| ").split_once(" | ")?;
    Some((mark.to_owned(), (line, tests.to_owned())))
}

/// The tests that a row names in backticks and that do not exist: functions, or files of tests.
fn missing(sources: &[Source], tests: &str) -> Vec<String> {
    let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
    if names.is_empty() {
        return vec!["a row that names no test".to_owned()];
    }
    let exists = |name: &&&str| match name.contains('/') {
        true => sources.iter().any(|source| source.path == **name),
        false => sources.iter().any(|source| is_test_of(source, name)),
    };
    let missing = names.iter().filter(|name| !exists(name));
    missing.map(|name| format!("{name} is no test of the workspace")).collect()
}

/// True where a file has a test of this name: Rust's, JUnit's or pytest's.
fn is_test_of(source: &Source, name: &str) -> bool {
    if source.path.ends_with(".java") {
        let declared = format!("@Test\n    void {name}(");
        return source.text.contains(&declared);
    }
    if source.path.ends_with(".py") {
        return name.starts_with("test_") && source.text.contains(&format!("\ndef {name}("));
    }
    source.is_rust() && is_test(&source.text, name)
}

/// True where a text has a test of this name.
fn is_test(text: &str, name: &str) -> bool {
    let declared = format!("fn {name}(");
    let Some(at) = text.find(&declared) else { return false };
    let before = text[..at].lines().rev().map(str::trim);
    let mut attached = before.take_while(|line| line.is_empty() || line.starts_with(['#', '/']));
    attached.any(|line| line == "#[test]")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: &str = "#[test]\nfn it_works() {}\nfn no_test() {}\n";

    fn found(promise: &str, row: &str) -> Vec<String> {
        let page = format!("# A\n\n## What is promised\n\n{promise}\n\n## More\n\n* else\n");
        let table =
            format!("## Promises and their tests\n\n| promise | tests |\n|---|---|\n{row}\n");
        let sources = [
            Source::new("doc/reliability.md", page),
            Source::new(TABLE.0, table),
            Source::new("crates/a/tests/a.rs", TEST),
        ];
        check(&sources).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_promise_with_a_test_is_one() {
        let promise = "* It works,\n  always. <!-- promise: works -->";
        assert!(found(promise, "| works | `it_works`, `crates/a/tests/a.rs` |").is_empty());
    }

    #[test]
    fn tests_of_java_and_python_are_tests() {
        let java = Source::new("a/A.java", "    @Test\n    void works() {}\n    void helps() {}\n");
        let python = Source::new("a/test_a.py", "x = 1\n\ndef test_it():\ndef it():\n");
        assert!(is_test_of(&java, "works") && is_test_of(&python, "test_it"));
        assert!(!is_test_of(&java, "helps") && !is_test_of(&python, "it"));
        assert!(!is_test_of(&python, "works"));
    }

    #[test]
    fn a_promise_without_a_mark_or_a_row_is_found() {
        assert_eq!(found("* It works.", "").len(), 1);
        assert_eq!(found("* It works. <!-- promise: works -->", "").len(), 1);
        assert_eq!(
            found("* It works. <!-- promise: works, more -->", "| works | `it_works` |").len(),
            1
        );
    }

    #[test]
    fn a_row_without_a_promise_or_with_a_test_that_is_none_is_found() {
        let promise = "* It works. <!-- promise: works -->";
        assert_eq!(found(promise, "| works | `it_works` |\n| more | `it_works` |").len(), 1);
        assert_eq!(found(promise, "| works | `it_was` |").len(), 1);
        assert_eq!(found(promise, "| works | `no_test` |").len(), 1);
        assert_eq!(found(promise, "| works | `a/tests/b.rs` |").len(), 1);
        assert_eq!(found(promise, "| works | by hand |").len(), 1);
    }
}
