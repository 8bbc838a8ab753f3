//! Documents cannot lie: what Markdown pages, man pages and C headers name is there, and the
//! numbers in them are those of the code.
//!
//! [`prose`] takes a page apart, [`inventory`] knows what exists. The rules, one file each:
//! [`places`] (files, folders, crates, modules), [`paths`] (Rust paths and other names of the
//! code), [`commands`] (`make`, `cargo`, `pvm` and their options), [`calls`] (what man pages and
//! headers say of C calls), [`usages`] (the options on a man page are those of its program),
//! [`numbers`] (numbers that come from a constant), [`figures`] (README's table), [`columns`]
//! (lines are not too long), [`tables`] (no row falls out of its table), [`rooms`] (ARCHITECTURE's
//! list of modules) and [`decisions`] (status, date and index of the ADRs).
//!
//! A rule prefers silence to a false alarm: a word counts as a name of ours only where nothing else
//! is likely.

mod calls;
mod columns;
mod commands;
mod decisions;
mod figures;
mod inventory;
mod numbers;
mod paths;
mod places;
mod prose;
mod rooms;
mod tables;
mod usages;

use super::finding::Finding;
use crate::source::Source;
use inventory::Inventory;

/// Pages that tell what was, and so name what is no more.
const HISTORY: [&str; 1] = ["CHANGELOG.md"];

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    let inventory = Inventory::of(sources);
    let mut findings = Vec::new();
    for page in sources.iter().filter(|source| source.path.ends_with(".md")) {
        findings.extend(tables::check(page));
        if !HISTORY.contains(&page.path.as_str()) {
            findings.extend(check_names(page, &inventory));
        }
    }
    findings.extend(calls::check(sources, &inventory));
    findings.extend(usages::check(sources, &inventory));
    findings.extend(numbers::check(sources));
    findings.extend(figures::check(sources));
    findings.extend(columns::check(sources));
    findings.extend(rooms::check(sources));
    findings.extend(decisions::check(sources));
    findings
}

/// All names on a page of Markdown: in backticks, in blocks of commands, and paths in plain prose.
fn check_names(page: &Source, inventory: &Inventory<'_>) -> Vec<Finding> {
    let spans = prose::spans(&page.text);
    let quoted = spans.iter().flat_map(|span| {
        let faults = [
            commands::faults(&span.text, inventory),
            places::faults(&span.text, &page.path, inventory),
            paths::faults(&span.text, inventory),
        ];
        faults.into_iter().flatten().map(|what| (span.line, what)).collect::<Vec<_>>()
    });
    let blocks = prose::commands(&page.text).into_iter().flat_map(|span| {
        let faults = commands::faults(&span.text, inventory);
        faults.into_iter().map(move |what| (span.line, what)).collect::<Vec<_>>()
    });
    let bare = prose::bare_words(&page.text).into_iter().flat_map(|span| {
        let faults = places::bare_faults(&span.text, &page.path, inventory);
        faults.into_iter().map(move |what| (span.line, what)).collect::<Vec<_>>()
    });
    let all = quoted.chain(blocks).chain(bare);
    all.map(|(line, what)| Finding::error(format!("{}:{line}", page.path), what)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lie_is_found_wherever_on_a_page_it_stands() {
        let page = "`crates/pvm/src/route.rs` and `crates/pvm/src/router.rs`\n\n\
                    pvm_send goes to pvm/route and pvm/send\n\n```\nmake lint   # fine\nmake \
                    believe\n```\n";
        let sources = [
            Source::new("doc/a.md", page),
            Source::new("crates/pvm/src/route.rs", ""),
            Source::new("Makefile", "lint: ## look\n\techo\n"),
        ];
        let found = check(&sources);
        let places: Vec<&str> = found.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, ["doc/a.md:1", "doc/a.md:7", "doc/a.md:3"]);
    }

    #[test]
    fn what_was_may_be_named_in_the_change_log() {
        let sources = [Source::new("CHANGELOG.md", "`crates/pvm/src/router.rs` is gone\n")];
        assert!(check(&sources).iter().all(|finding| !finding.what.contains("router")));
    }
}
