//! ARCHITECTURE's list of modules: every module that it names below a crate's heading is one of
//! that crate.
//!
//! A module at the root of a crate that the list leaves out is a warning.

use super::super::finding::Finding;
use super::prose;
use crate::source::{Source, is_word};
use std::collections::BTreeSet;

const PAGE: &str = "ARCHITECTURE.md";
const HEADING: &str = "## Where to look for what";

pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let Some(page) = sources.iter().find(|source| source.path == PAGE) else { return Vec::new() };
    let lines = page.text.lines().enumerate().skip_while(|(_, line)| *line != HEADING).skip(1);
    let section = lines.take_while(|(_, line)| !line.starts_with("## "));
    let mut parts: Vec<(usize, &str, String)> = Vec::new();
    for (at, line) in section {
        if let Some(title) = line.strip_prefix("### ") {
            parts.push((at + 1, title.split('`').nth(1).unwrap_or(""), String::new()));
        } else if let Some((_, _, text)) = parts.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    parts.iter().flat_map(|(line, owner, text)| check_part(*line, owner, text, sources)).collect()
}

/// The faults of the part about one crate.
fn check_part(line: usize, owner: &str, text: &str, sources: &[Source]) -> Vec<Finding> {
    let named = prose::spans(text);
    let root = format!("crates/{owner}/src/");
    let files: Vec<&str> = sources.iter().filter_map(|s| s.path.strip_prefix(&root)).collect();
    if files.is_empty() {
        return Vec::new();
    }
    let place = format!("{PAGE}:{line}");
    let words: BTreeSet<&str> = named.iter().flat_map(|span| span.text.split(' ')).collect();
    let modules = words.iter().filter(|word| is_module_name(word));
    let elsewhere = |word: &str| sources.iter().any(|s| s.path.starts_with(&format!("{word}/")));
    let gone = modules.filter(|word| !is_module(word, &files) && !elsewhere(word));
    let mut findings: Vec<Finding> = gone
        .map(|word| Finding::error(&place, format!("{word} is no module of {owner}")))
        .collect();
    let left_out: Vec<&str> =
        at_root(&files).into_iter().filter(|module| !names(&words, module)).collect();
    if !left_out.is_empty() {
        let what = format!("no word here of {owner}'s {}", left_out.join(", "));
        findings.push(Finding::warning(&place, what));
    }
    findings
}

fn is_module_name(word: &str) -> bool {
    word.chars().all(|c| is_word(c) && !c.is_uppercase() || c == '/' || c == '*')
}

/// Whether a name such as `lane/*`, `lane/ring` or `ring` is a module anywhere in a crate.
fn is_module(word: &str, files: &[&str]) -> bool {
    let name = word.trim_end_matches("/*");
    let file = format!("{name}.rs");
    let folder = format!("{name}/");
    files.iter().any(|path| {
        let ends = *path == file || path.ends_with(&format!("/{file}"));
        ends || path.starts_with(&folder) || path.contains(&format!("/{folder}"))
    })
}

/// The modules at the root of a crate.
fn at_root<'a>(files: &[&'a str]) -> BTreeSet<&'a str> {
    let stems = files.iter().filter_map(|path| path.strip_suffix(".rs"));
    stems.filter(|stem| !stem.contains('/') && !["lib", "main"].contains(stem)).collect()
}

fn names(words: &BTreeSet<&str>, module: &str) -> bool {
    words.iter().any(|word| word.split('/').next() == Some(module))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(part: &str) -> Vec<(bool, String)> {
        let page = format!("# A\n\n{HEADING}\n\n{part}\n\n## More\n\n`none`\n");
        let mut sources = vec![Source::new(PAGE, page)];
        let files = ["lib.rs", "lane.rs", "lane/ring.rs", "slab.rs"];
        sources.extend(files.map(|file| Source::new(format!("crates/pvm-shm/src/{file}"), "")));
        check(&sources).into_iter().map(|finding| (finding.warning, finding.what)).collect()
    }

    #[test]
    fn rooms_that_stand_may_be_named() {
        assert!(
            found("### `pvm-shm`: shared memory\n\n`lane/*` (`ring`),\n`slab`, `Keeper`")
                .is_empty()
        );
        assert!(found("### Others\n\n`engine`").is_empty());
    }

    #[test]
    fn a_room_that_does_not_exist_is_an_error_and_one_left_out_a_warning() {
        let found = found("### `pvm-shm`\n\n`lane ring router`");
        assert_eq!(found.len(), 2);
        assert!(!found[0].0 && found[0].1.starts_with("router "));
        assert!(found[1].0 && found[1].1.ends_with(" slab"));
    }
}
