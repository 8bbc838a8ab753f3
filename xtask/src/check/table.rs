//! The table at the end: a line for each part, then the sums, then the failures once more.

use super::part::{Outcome, Part};
use super::run::Again;
use crate::again;
use std::path::Path;
use std::time::Duration;

/// The number of lines of a failed part's log that are shown.
const LOG_TAIL_LINES: usize = 60;
/// The number of these lines that are repeated below the table, which may be all that somebody
/// keeps of a long run.
const CAUSE_LINES: usize = 12;

/// The row of one part.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) owner: &'static str,
    pub(crate) outcome: Outcome,
    /// Since the start of the check.
    pub(crate) begin: Duration,
    pub(crate) took: Duration,
    pub(crate) cpu: Duration,
    /// Tests that failed and are to be run again.
    pub(crate) again: Vec<Again>,
    /// Tests that failed once and then passed.
    pub(crate) unsteady: Vec<String>,
}

impl Row {
    pub(crate) fn new(part: &Part, outcome: Outcome) -> Self {
        let (begin, took, cpu) = Default::default();
        let (again, unsteady) = Default::default();
        Self { name: part.name, owner: part.owner, outcome, begin, took, cpu, again, unsteady }
    }

    pub(crate) fn failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed(_))
    }

    /// One line of the table.
    fn line(&self) -> String {
        let Self { name, owner, begin, took, cpu, .. } = self;
        let (word, why) = self.outcome.words();
        let [begin, took, cpu] = [begin, took, cpu].map(Duration::as_secs_f64);
        let line =
            format!("{name:<12} {word:<8} {begin:>7.1} {took:>7.1} {cpu:>7.1}  {owner:<16} {why}");
        line.trim_end().to_owned()
    }

    /// Below the table: why it failed, and which tests failed once.
    pub(crate) fn causes(&self, log: &str) -> Vec<String> {
        let name = self.name;
        let told = self.failed() || !self.unsteady.is_empty();
        let mut lines = if told { causes_in(log) } else { Vec::new() };
        if self.failed() && lines.is_empty() {
            // The log's end is better than a table whose row is all that says which part failed.
            lines = self.outcome.words().1.lines().chain(last_lines(log)).collect();
        }
        let causes = lines.iter().map(|line| format!("{name}: {line}"));
        let unsteady = self.unsteady.iter().map(|test| {
            let times = again::TIMES;
            format!("{name}: {test} is UNSTEADY: failed once, then passed {times} times alone")
        });
        causes.chain(unsteady).collect()
    }
}

/// The table of all parts, in the order in which they began.
pub(crate) fn table(rows: &[Row], wall: Duration, computer: Duration) -> String {
    let mut rows: Vec<&Row> = rows.iter().collect();
    rows.sort_by_key(|row| row.begin);
    let mut text = format!(
        "\n{:<12} {:<8} {:>7} {:>7} {:>7}  OWNER\n",
        "PART", "RESULT", "START", "TOOK", "CPU"
    );
    for row in &rows {
        text += &format!("{}\n", row.line());
    }
    let cpu: Duration = rows.iter().map(|row| row.cpu).sum();
    let [all, cpu, computer] = [wall, cpu, computer].map(|time| time.as_secs_f64());
    text += &format!(
        "{:<12} {:<8} {:>7} {all:>7.1} {cpu:>7.1}  seconds; all processors of this computer were \
         busy for {computer:.1}\n",
        "all", "", ""
    );
    let count = |word: &str| rows.iter().filter(|row| row.outcome.words().0 == word).count();
    let [passed, failed, skipped] = ["passed", "FAILED", "skipped"].map(count);
    text + &format!("{passed} passed, {failed} failed, {skipped} skipped\n")
}

/// The end of a failed part's log.
pub(crate) fn tail(text: &str, log: &Path) -> String {
    // What went well tells nothing of what did not.
    let passed = |line: &&str| line.ends_with(": ok") || line.ends_with("... ok");
    let lines: Vec<&str> = text.lines().filter(|line| !passed(line)).collect();
    let lines = &lines[lines.len().saturating_sub(LOG_TAIL_LINES)..];
    let mut text: String = lines.iter().map(|line| format!("  | {line}\n")).collect();
    text += &format!("  the whole log: {}", log.display());
    text
}

/// The lines of a log that tell why it ends as it does: tests that failed, and what a panic said.
fn causes_in(text: &str) -> Vec<&str> {
    let mut said = 0;
    let mut is_cause = |line: &&str| {
        if line.contains(" panicked at ") {
            said = 3;
        }
        said = usize::saturating_sub(said, 1);
        let begins = ["FAIL ", again::OF_SCRIPT, "error: ", "error["];
        let says = [": FAIL", "ERROR: "]; // the latter is the fuzzer's, and the address sanitizer's
        let is_told = begins.iter().any(|begin| line.starts_with(begin))
            || says.iter().any(|word| line.contains(word));
        said > 0 || is_told || line.ends_with("... FAILED")
    };
    text.lines().filter(|line| is_cause(line)).take(CAUSE_LINES).collect()
}

/// The end of a log in which no line has the form of a cause.
fn last_lines(text: &str) -> impl Iterator<Item = &str> {
    let count = text.lines().count();
    text.lines().skip(count.saturating_sub(CAUSE_LINES))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &'static str, outcome: Outcome, begin: u64) -> Row {
        let time = Duration::from_secs;
        let (took, cpu, again, unsteady) = (time(10), time(3), Vec::new(), Vec::new());
        Row { name, owner: "pvm-x", outcome, begin: time(begin), took, cpu, again, unsteady }
    }

    #[test]
    fn the_table_has_start_duration_processor_time_and_owner_in_the_order_of_begin() {
        let rows = [
            row("late", Outcome::Failed("it broke".to_owned()), 7),
            row("early", Outcome::Passed, 0),
            row("none", Outcome::Skipped("needs x".to_owned()), 20),
        ];
        let text = table(&rows, Duration::from_secs(30), Duration::from_secs(12));
        let lines: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[2], ["early", "passed", "0.0", "10.0", "3.0", "pvm-x"]);
        assert_eq!(lines[3][..6], ["late", "FAILED", "7.0", "10.0", "3.0", "pvm-x"]);
        assert_eq!(lines[5][..3], ["all", "30.0", "9.0"]);
        assert!(text.contains("it broke") && text.contains("12.0"), "{text}");
        assert!(text.ends_with("1 passed, 1 failed, 1 skipped\n"), "{text}");
    }

    #[test]
    fn what_failed_is_said_with_its_words() {
        let log = "test a ... ok\ntest b ... FAILED\n\nthread 'b' (7) panicked at b.rs:3:9:\n\
                   no answer\nstack backtrace:\ntest c ... ok\n";
        let said = ["test b ... FAILED", "thread 'b' (7) panicked at b.rs:3:9:", "no answer"];
        assert_eq!(causes_in(log), said);
        assert_eq!(row("x", Outcome::Passed, 0).causes(log), [""; 0]);
        let mut unsteady = row("x", Outcome::Passed, 0);
        unsteady.unsteady.push("b".to_owned());
        let causes = unsteady.causes(log);
        assert_eq!(causes[0], "x: test b ... FAILED");
        assert!(causes[3].starts_with("x: b is UNSTEADY"), "{causes:?}");
    }

    #[test]
    fn a_failed_part_is_never_without_words() {
        let failed = row("x", Outcome::Failed("sh ended with 1".to_owned()), 0);
        for line in [
            "FAIL p4: b",
            "failed test: p4 b",
            "error: could not compile `x`",
            "==7== ERROR: libFuzzer: timeout after 10 seconds",
        ] {
            assert_eq!(failed.causes(&format!("a\n{line}\nb\n")), [format!("x: {line}")]);
        }
        let end = failed.causes(&format!("{}the end\n", "begin\n".repeat(CAUSE_LINES)));
        assert_eq!((end.len(), &*end[0]), (1 + CAUSE_LINES, "x: sh ended with 1"));
        assert_eq!(end.last().unwrap(), "x: the end");
        assert_eq!(failed.causes(""), ["x: sh ended with 1"]);
    }

    #[test]
    fn the_tail_of_a_log_leaves_out_what_went_well() {
        let text = tail("a\ntest b ... ok\nc: ok\nd\n", Path::new("/log"));
        assert_eq!(text, "  | a\n  | d\n  the whole log: /log");
    }
}
