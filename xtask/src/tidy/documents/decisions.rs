//! Each ADR says its status and its date, names what replaced it, and has its line in the index.

use super::super::finding::Finding;
use super::inventory::text_of;
use crate::source::Source;

const FOLDER: &str = "doc/adr/";
const INDEX: &str = "doc/adr/README.md";
const STATUS: [&str; 3] = ["proposed", "accepted", "replaced"];

pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let is_one = |source: &&Source| {
        let name = source.path.strip_prefix(FOLDER);
        name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_digit()))
    };
    let all: Vec<&Source> = sources.iter().filter(is_one).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let mut findings: Vec<Finding> = all.iter().flat_map(|one| check_one(one, &all)).collect();
    match text_of(sources, INDEX) {
        Ok(index) => findings.extend(all.iter().filter_map(|one| index_fault(one, index))),
        Err(gone) => findings.push(gone),
    }
    findings
}

/// The faults of the lines between the title and the text.
fn check_one(one: &Source, all: &[&Source]) -> Vec<Finding> {
    let value = |name: &str| line_value(one, name);
    let status = value("Status").unwrap_or("");
    let mut faults = Vec::new();
    if !STATUS.contains(&status) {
        faults.push(format!("no line `- Status:` with one of {}", STATUS.join(", ")));
    }
    if !value("Date").is_some_and(is_date) {
        faults.push("no line `- Date: YYYY-MM-DD`".to_owned());
    }
    match value("Replaced by") {
        None if status == "replaced" => faults.push("no line `- Replaced by:`".to_owned()),
        Some(by) => faults.extend(missing(by, all)),
        None => {}
    }
    faults.extend(value("Amended by").map(|by| missing(by, all)).unwrap_or_default());
    faults.into_iter().map(|what| Finding::error(&one.path, what)).collect()
}

/// The text behind `- Name: ` below the title.
fn line_value<'a>(one: &'a Source, name: &str) -> Option<&'a str> {
    let begin = format!("- {name}: ");
    one.text.lines().take(8).find_map(|line| line.strip_prefix(&begin))
}

fn is_date(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "0000-00-00"
}

/// The ADRs among `ADR 15, ADR 22` that do not exist.
fn missing(list: &str, all: &[&Source]) -> Vec<String> {
    let exists = |name: &str| {
        let number = name.strip_prefix("ADR ").and_then(|number| number.parse::<u32>().ok());
        number.is_some_and(|number| {
            let begin = format!("{FOLDER}{number:04}-");
            all.iter().any(|one| one.path.starts_with(&begin))
        })
    };
    let names = list.split(", ").filter(|name| !exists(name));
    names.map(|name| format!("{name} is no ADR")).collect()
}

/// An ADR's line in the index links its file, with its number, title and status.
fn index_fault(one: &Source, index: &str) -> Option<Finding> {
    let title = one.text.lines().next().unwrap_or("").trim_start_matches("# ");
    let (number, title) = title.split_once(". ").unwrap_or(("", title));
    let file = one.path.strip_prefix(FOLDER).unwrap_or(&one.path);
    let status = line_value(one, "Status").unwrap_or("");
    let line = format!("| [ADR {number}]({file}) | {title} | {status} |");
    let what = format!("{file} has no line that begins with {line}");
    (!index.lines().any(|found| found.starts_with(&line))).then(|| Finding::error(INDEX, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEXT: &str = "# 2. Doors\n\n- Status: accepted\n- Date: 2026-11-22\n\ntext\n";
    const LINES: &str = "| [ADR 1](0001-a.md) | Lanes | accepted | one |\n| [ADR 2](0002-b.md) | \
                         Doors | accepted | two |\n";

    fn found(first: &str, index: &str) -> usize {
        let sources = [
            Source::new("doc/adr/0001-a.md", format!("# 1. Lanes\n\n{first}\ntext\n")),
            Source::new("doc/adr/0002-b.md", NEXT),
            Source::new(INDEX, index),
        ];
        check(&sources).len()
    }

    #[test]
    fn a_decision_in_order_is_one() {
        assert_eq!(found("- Status: accepted\n- Date: 2026-11-21\n", LINES), 0);
        let replaced = "- Status: replaced\n- Date: 2026-11-21\n- Replaced by: ADR 2\n";
        assert_eq!(found(replaced, &LINES.replacen("accepted", "replaced", 1)), 0);
    }

    #[test]
    fn what_a_decision_does_not_say_is_found() {
        // Without a status its line in the index is another one, too.
        assert_eq!(found("", LINES), 3);
        assert_eq!(found("- Status: done\n- Date: soon\n", LINES), 3);
        assert_eq!(found("- Status: accepted\n- Date: soon\n", LINES), 1);
        assert_eq!(found("- Status: replaced\n- Date: 2026-11-21\n", LINES), 2);
        let nobody = "- Status: replaced\n- Date: 2026-11-21\n- Replaced by: ADR 7\n";
        assert_eq!(found(nobody, LINES), 2);
    }

    #[test]
    fn a_decision_that_the_index_leaves_out_or_calls_otherwise_is_found() {
        let good = "- Status: accepted\n- Date: 2026-11-21\n";
        assert_eq!(found(good, &LINES.replace("Doors", "Gates")), 1);
        assert_eq!(found(good, ""), 2);
    }
}
