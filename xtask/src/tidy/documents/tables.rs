//! No row falls out of its table: each has as many cells as the head, and none stands alone.

use super::super::finding::Finding;
use super::prose;
use crate::source::Source;

pub(super) fn check(page: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut block: Vec<(usize, &str)> = Vec::new();
    for (number, line) in prose::outside_blocks(&page.text) {
        let row = line.trim_start().starts_with('|');
        let goes_on = row && block.last().is_none_or(|(last, _)| last + 1 == number);
        if !goes_on {
            findings.extend(faults(&page.path, &block));
            block.clear();
        }
        if row {
            block.push((number, line));
        }
    }
    findings.extend(faults(&page.path, &block));
    findings
}

/// The faults of lines that follow one another and begin with a bar.
fn faults(path: &str, block: &[(usize, &str)]) -> Vec<Finding> {
    let Some((first, head)) = block.first() else { return Vec::new() };
    if !block.get(1).is_some_and(|(_, line)| is_rule(line)) {
        let what = "a row without the head of a table above it";
        return vec![Finding::error(format!("{path}:{first}"), what)];
    }
    let columns = cells(head);
    let wrong = block[1..].iter().filter(|(_, line)| cells(line) != columns);
    wrong
        .map(|(number, line)| {
            let what = format!("a row of {} cells in a table of {columns} columns", cells(line));
            Finding::error(format!("{path}:{number}"), what)
        })
        .collect()
}

/// The line of hyphens below the head.
fn is_rule(line: &str) -> bool {
    line.contains('-') && line.trim().chars().all(|c| "|-: ".contains(c))
}

fn cells(line: &str) -> usize {
    let line = line.trim().replace("\\|", "  ");
    line.trim_matches('|').matches('|').count() + 1 + empty_ends(&line)
}

/// Cells at the ends that trimming has taken for borders: `| a | |` has two.
fn empty_ends(line: &str) -> usize {
    let bars = line.matches('|').count();
    let trimmed = line.trim_matches('|').matches('|').count();
    bars.saturating_sub(trimmed + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        let found = check(&Source::new("a.md", text));
        found.into_iter().map(|finding| finding.place).collect()
    }

    #[test]
    fn a_table_in_order_is_one() {
        assert!(lines("| a | b |\n|---|---:|\n| 1 | `x \\| y` |\n| | |\n\ntext\n").is_empty());
        assert!(lines("```\n| no table |\n```\n").is_empty());
        assert!(lines("| a | |\n|---|---|\n| x ||\n").is_empty());
    }

    #[test]
    fn a_row_that_is_cut_off_is_found() {
        assert_eq!(lines("| a | b |\n|---|---|\n| 1 | 2 |\n\n| 3 | 4 |\n"), ["a.md:5"]);
    }

    #[test]
    fn a_row_with_another_number_of_cells_is_found() {
        assert_eq!(lines("| a | b |\n|---|---|\n| 1 | 2 | 3 |\n| 1 |\n"), ["a.md:3", "a.md:4"]);
    }
}
