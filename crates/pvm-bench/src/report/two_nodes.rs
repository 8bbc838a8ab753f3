//! The tables of the two-node report, made anew beside the printed ones.

use super::html::{details, element, escaped, number, table};
use super::seeds::{self, RoundTrip};
use crate::figures::Row;
use crate::statistics::{Summary, median};

/// A table of the report.
struct Table {
    number: &'static str,
    title: &'static str,
    /// System and variant of our rows.
    ours: (&'static str, &'static str),
}

const fn made(
    number: &'static str,
    title: &'static str,
    ours: (&'static str, &'static str),
) -> Table {
    Table { number, title, ours }
}

/// One C-Linda is measured, where the report has two releases.
const TABLES: [Table; 9] = [
    made("A.1", "CPS", ("CPS", "")),
    made("A.2", "C-Linda 2.5", ("C-Linda", "")),
    made("A.3", "C-Linda 2.4.6", ("C-Linda", "")),
    made("A.4", "P4", ("P4", "")),
    made("A.5", "POSYBL", ("POSYBL", "")),
    made("A.6", "PVM 2.4.1, vsnd/vrcv", ("PVM 2.4", "vsnd/vrcv")),
    made("A.7", "PVM 2.4.1, snd/rcv", ("PVM 2.4", "snd/rcv")),
    made("A.8", "PVM 2.4.1, snd/rcv, no buffers", ("PVM 2.4", "snd/rcv, not packed")),
    made("A.9", "TCGMSG", ("TCGMSG", "")),
];
/// Table 3.1: its columns and the tables that they summarize.
const AVERAGES: [(&str, &str); 6] = [
    ("TCGMSG", "A.9"),
    ("P4", "A.4"),
    ("PVM", "A.6"),
    ("C-Linda", "A.2"),
    ("POSYBL", "A.5"),
    ("CPS", "A.1"),
];
const MISSING: &str = "missing";

/// The nine tables and table 3.1.
pub(super) fn content(rows: &[&Row]) -> String {
    let printed = seeds::round_trips();
    let title = "Table 3.1 anew: average round trip, ms, and behind it the printed one";
    let mut text = element("h3", "", title) + &averages(rows, &printed);
    for Table { number, title: system, .. } in TABLES {
        let title =
            format!("Table {number} anew: {system}, round trips in ms, printed ones in brackets");
        text += &details(&title, &raw(rows, &printed, number));
    }
    text
}

fn averages(rows: &[&Row], printed: &[RoundTrip]) -> String {
    let sizes = sizes(printed);
    let head: Vec<&str> = std::iter::once("bytes").chain(AVERAGES.map(|one| one.0)).collect();
    let cell = |size: u64, (_, number): (&str, &str)| {
        let ours =
            measured(rows, number, size).map_or_else(|| MISSING.to_owned(), |all| ms(all.mean));
        format!("{ours} ({})", seed(printed, number, size).map_or("-", |row| &row.average))
    };
    let line = |size: u64| {
        std::iter::once(size.to_string()).chain(AVERAGES.map(|one| cell(size, one))).collect()
    };
    let lines: Vec<Vec<String>> = sizes.into_iter().map(line).collect();
    table(&head, &lines)
}

fn raw(rows: &[&Row], printed: &[RoundTrip], number: &str) -> String {
    let head = ["bytes", "average", "std dev", "median", "minimum", "maximum"];
    let line = |size: u64| {
        let seed = seed(printed, number, size);
        let old = |of: fn(&RoundTrip) -> String| seed.map_or_else(|| "-".to_owned(), of);
        let both = |ours: String, old: String| format!("{ours} [{old}]");
        let Some(all) = measured(rows, number, size) else {
            return vec![size.to_string(), MISSING.to_owned()];
        };
        let at = |value: f64, at: usize| format!("{} ({at})", ms(value));
        vec![
            size.to_string(),
            both(ms(all.mean), old(|row| row.average.clone())),
            both(ms(all.sd), old(|row| row.deviation.clone())),
            both(ms(all.median), old(|row| row.median.clone())),
            both(at(all.min, all.min_at), old(|row| row.minimum.clone())),
            both(at(all.max, all.max_at), old(|row| row.maximum.clone())),
        ]
    };
    let lines: Vec<Vec<String>> = sizes(printed).into_iter().map(line).collect();
    table(&head, &lines)
}

/// From microseconds.
fn ms(us: f64) -> String {
    escaped(&number(us / 1000.0))
}

fn sizes(printed: &[RoundTrip]) -> Vec<u64> {
    let mut all: Vec<u64> = printed.iter().map(|row| row.bytes).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn seed<'a>(printed: &'a [RoundTrip], table: &str, bytes: u64) -> Option<&'a RoundTrip> {
    printed.iter().find(|row| row.table == table && row.bytes == bytes)
}

/// The figures of the round whose median is in the middle, as the report has a hundred iterations.
fn measured(rows: &[&Row], table: &str, bytes: u64) -> Option<Summary> {
    let (system, variant) = TABLES.iter().find(|one| one.number == table)?.ours;
    let row = rows.iter().find(|row| {
        (&*row.key.system, &*row.key.variant, row.key.size) == (system, variant, bytes)
    })?;
    let typical = row.typical()?;
    let distance = |round: &&Vec<f64>| (median(round).unwrap_or(f64::MAX) - typical).abs();
    let middle = row.rounds.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    Summary::of(middle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Key;

    fn row(system: &str, variant: &str, rounds: Vec<Vec<f64>>) -> Row {
        let key = Key {
            suite: "two-nodes".to_owned(),
            test: "kernel".to_owned(),
            tasks: 2,
            size: 100,
            system: system.to_owned(),
            variant: variant.to_owned(),
        };
        Row { key, unit: "us".to_owned(), rounds }
    }

    #[test]
    fn a_table_shows_its_middle_round_beside_what_was_printed() {
        let rounds = vec![vec![9000.0; 3], vec![1000.0, 3000.0, 2000.0], vec![1.0; 3]];
        let rows =
            [row("PVM 2.4", "vsnd/vrcv", rounds), row("PVM 2.4", "snd/rcv", vec![vec![7.0]])];
        let rows: Vec<&Row> = rows.iter().collect();
        let text = content(&rows);
        let begin = text.find("Table A.6 anew").expect("the table");
        let line = text[begin..].lines().find(|line| line.contains("<td class=\"n\">100</td>"));
        let line = line.expect("the first size");
        let cells = [
            "2.00 [5.7]",
            "1.00 [1.1]",
            "2.00 [5.5]",
            "1.00 (0) [5.4 (20)]",
            "3.00 (1) [14.7 (0)]",
        ];
        for cell in cells {
            assert!(line.contains(cell), "{cell}: {line}");
        }
        assert!(text.contains("2.00 (5.7)") && text.contains("missing (7.9)"));
    }

    #[test]
    fn every_printed_table_has_its_place() {
        let printed = seeds::round_trips();
        assert_eq!(printed.len(), 79);
        assert_eq!(sizes(&printed).len(), 9);
        assert!(printed.iter().all(|row| TABLES.iter().any(|table| table.number == row.table)));
    }
}
