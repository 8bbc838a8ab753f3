//! The figures of README are those of doc/performance.md: each row of its table stands there with
//! the same numbers, and its date is that of the measurement.

use super::super::finding::Finding;
use super::inventory::text_of;
use crate::source::Source;

const SHORT: &str = "README.md";
const LONG: &str = "doc/performance.md";
/// Both tables have columns for these.
const COLUMNS: [&str; 2] = ["NeoPVM", "PVM 3.4.6"];
const DATED: &str = "Measured by `make bench-messages` on ";
/// The words in front of the date in the long text.
const MEASURED: &str = "`make bench-messages` on ";

type Table<'a> = Vec<(usize, Vec<&'a str>)>;

pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let (Ok(short), Ok(long)) = (text_of(sources, SHORT), text_of(sources, LONG)) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    let date = short.split(DATED).nth(1).map(|rest| words(rest, 3));
    if let Some(date) = date.filter(|date| !long.contains(&format!("{MEASURED}{date}"))) {
        let what = format!("{LONG} has no {MEASURED}{date}");
        findings.push(Finding::error(SHORT, what));
    }
    let (told, measured) = (table(short), table(long));
    let Some(((_, head), rows)) = told.split_first() else { return findings };
    for (line, row) in rows {
        let place = format!("{SHORT}:{line}");
        findings.extend(fault(head, row, &measured).map(|what| Finding::error(place, what)));
    }
    findings
}

fn words(text: &str, count: usize) -> String {
    text.split_whitespace()
        .take(count)
        .collect::<Vec<_>>()
        .join(" ")
        .trim_end_matches([',', ':'])
        .to_owned()
}

/// The rows of the first table with both columns, its head first and without the line below that.
fn table(text: &str) -> Table<'_> {
    let lines = text.lines().enumerate();
    let is_head =
        |line: &str| line.starts_with('|') && COLUMNS.iter().all(|name| line.contains(name));
    let block =
        lines.skip_while(|(_, line)| !is_head(line)).take_while(|(_, line)| line.starts_with('|'));
    let rows = block.filter(|(_, line)| !line.starts_with("|-"));
    rows.map(|(at, line)| (at + 1, line.trim_matches('|').split('|').map(str::trim).collect()))
        .collect()
}

/// The fault of a row beside the measured one of this name.
fn fault(head: &[&str], row: &[&str], measured: &Table<'_>) -> Option<String> {
    let (_, names) = measured.first()?;
    let found = measured.iter().find(|(_, cells)| cells.first() == row.first());
    let Some((_, cells)) = found else { return Some(format!("{LONG} has no row {}", row[0])) };
    let columns = head.iter().zip(row).skip(1).filter(|(name, _)| !name.is_empty());
    let wrong = columns.filter(|(name, cell)| {
        let at = names.iter().position(|other| other == *name);
        at.and_then(|at| cells.get(at)) != Some(*cell)
    });
    let wrong: Vec<String> = wrong.map(|(name, cell)| format!("{name} {cell}")).collect();
    (!wrong.is_empty())
        .then(|| format!("{}: {LONG} has other figures than {}", row[0], wrong.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG_TEXT: &str = "## Times\n\n`make bench-messages` on 23 November 2026: so.\n\n\
        | | NeoPVM | Open MPI | PVM 3.4.6 | goal |\n|---|---:|---:|---:|---|\n| 8 B, us | 0.13 | \
        0.14 | 29.8 | met |\n";

    fn found(short: &str) -> Vec<String> {
        let sources = [Source::new(SHORT, short), Source::new(LONG, LONG_TEXT)];
        check(&sources).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn figures_that_were_measured_may_be_told() {
        let short = "Measured by `make bench-messages` on 23 November 2026: here\n\n\n| | NeoPVM | \
                     PVM 3.4.6 |\n|---|---|---|\n| 8 B, us | 0.13 | 29.8 |\n";
        assert_eq!(found(short), [""; 0]);
        assert_eq!(found("nothing is told\n"), [""; 0]);
    }

    #[test]
    fn a_figure_a_row_and_a_date_that_nobody_measured_are_found() {
        let head = "| | NeoPVM | PVM 3.4.6 |\n|---|---|---|\n";
        let wrong = found(&format!("{head}| 8 B, us | 1.06 | 29.8 |\n| 9 B, us | 1 | 2 |\n"));
        assert_eq!(wrong.len(), 2);
        assert!(wrong[0].contains("NeoPVM 1.06") && wrong[1].contains("no row 9 B"));
        assert_eq!(found("Measured by `make bench-messages` on 21 November 2026, so\n").len(), 1);
    }
}
