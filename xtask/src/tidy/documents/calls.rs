//! Man pages and C headers speak of calls that are declared, as they are declared, and each page
//! that they point to is there; pvmd(1) has the options of pvmd.

use super::super::finding::Finding;
use super::inventory::{Inventory, option_name};
use crate::source::{Source, is_word};
use std::collections::BTreeSet;

const DAEMON_PAGE: &str = "doc/man/pvmd.1";
const BEGINNINGS: [&str; 2] = ["pvm_", "neopvm_"];
const HEADERS: &str = "include/";
const PAGES: &str = "doc/man/";
const LIBRARY: &str = "crates/pvm-capi/src/";

pub(super) fn check(sources: &[Source], inventory: &Inventory<'_>) -> Vec<Finding> {
    let headers: Vec<&Source> =
        sources.iter().filter(|s| s.path.starts_with(HEADERS) && s.path.ends_with(".h")).collect();
    let texts = headers.iter().map(|header| without_comments(&header.text)).collect::<Vec<_>>();
    let mut words: BTreeSet<&str> =
        texts.iter().flat_map(|text| text.split(|c: char| !is_word(c))).collect();
    // Data that the library exports and no header declares, and names of pages.
    words.extend(inventory.code_below(LIBRARY).flat_map(|text| text.split(|c: char| !is_word(c))));
    words.extend(inventory.files.iter().filter_map(|file| page_name(file)));
    let declared = flat(&texts.join("\n"));
    let mut findings = Vec::new();
    for page in sources.iter().filter(|source| source.path.starts_with(PAGES)) {
        findings.extend(check_page(page, &words, &declared));
        findings.extend(check_references(page, sources, inventory));
        if page.path == DAEMON_PAGE {
            findings.extend(check_options(page, inventory));
        }
    }
    for header in headers {
        findings.extend(undeclared(header, &words));
    }
    findings
}

/// `pvm_intro` of `doc/man/pvm_intro.3`.
fn page_name(file: &str) -> Option<&str> {
    file.strip_prefix(PAGES)?.split('.').next()
}

fn check_page(page: &Source, words: &BTreeSet<&str>, declared: &str) -> Vec<Finding> {
    let mut findings = undeclared(page, words);
    for (at, line) in page.text.lines().enumerate() {
        let Some(prototype) = line.strip_prefix(".B int32_t ") else { continue };
        // The page of a C call repeats its declaration word for word.
        if !declared.contains(&format!("int32_t {prototype};")) {
            let what = format!("{prototype}: the header declares this otherwise");
            findings.push(Finding::error(format!("{}:{}", page.path, at + 1), what));
        }
    }
    findings
}

/// Words of a page or of a header's comments that look like calls and are declared nowhere.
fn undeclared(page: &Source, words: &BTreeSet<&str>) -> Vec<Finding> {
    if words.len() < 2 {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (at, line) in page.text.lines().enumerate() {
        let plain = line.replace("\\fB", " ").replace("\\fI", " ").replace("\\fP", " ");
        let named = plain.split(|c: char| !is_word(c) && c != '*');
        let calls = named.filter(|word| BEGINNINGS.iter().any(|begin| word.starts_with(begin)));
        for call in calls.filter(|word| !words.contains(word) && !is_family(word, words)) {
            let what = format!("{call} is declared in no header");
            findings.push(Finding::error(format!("{}:{}", page.path, at + 1), what));
        }
    }
    findings
}

/// `pvm_pk*` and `pvm_pk` stand for calls that begin so.
fn is_family(word: &str, words: &BTreeSet<&str>) -> bool {
    let begin = word.trim_end_matches('*');
    let open = word.ends_with('*') || word.ends_with('_');
    open && words.iter().any(|declared| declared.starts_with(begin))
}

/// `.BR name (section)` points to a page of ours or to one that is generated; other names are
/// others' pages.
fn check_references(page: &Source, sources: &[Source], inventory: &Inventory<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, line) in page.text.lines().enumerate() {
        let Some((name, section)) = reference(line) else { continue };
        let command = name.strip_prefix("pvm-").is_some_and(|c| inventory.commands.contains_key(c));
        let file = format!("doc/man/{name}.{section}");
        let known = command || name == "pvm" || sources.iter().any(|source| source.path == file);
        let call = BEGINNINGS.iter().any(|begin| name.starts_with(begin));
        let ours = name.starts_with("pvm") || name.starts_with("neopvm");
        if ours && !known && !call {
            let what = format!("points to {name}({section}), which is not there");
            findings.push(Finding::error(format!("{}:{}", page.path, at + 1), what));
        }
    }
    findings
}

fn reference(line: &str) -> Option<(&str, &str)> {
    let mut words = line.strip_prefix(".BR ")?.split(' ');
    let name = words.next()?;
    let section = words.next()?.strip_prefix('(')?.split(')').next()?;
    Some((name, section))
}

/// The page of pvmd has the options of its usage, and no others than the program knows.
fn check_options(page: &Source, inventory: &Inventory<'_>) -> Vec<Finding> {
    let text = page.text.replace("\\-", "-");
    let mut findings = Vec::new();
    let mut told = BTreeSet::new();
    for (at, line) in text.lines().enumerate() {
        for (start, _) in line.match_indices("--") {
            let name = format!("--{}", option_name(&line[start + 2..]));
            if name != "--" && !inventory.daemon_options.contains(&name) {
                let what = format!("{name}: pvmd has no such option");
                findings.push(Finding::error(format!("{}:{}", page.path, at + 1), what));
            }
            told.insert(name);
        }
    }
    let left_out = inventory.daemon_usage.iter().filter(|name| !told.contains(*name));
    findings.extend(left_out.map(|name| {
        Finding::error(&page.path, format!("has no word of {name}, which pvmd --help shows"))
    }));
    findings
}

fn without_comments(header: &str) -> String {
    let mut out = String::new();
    let mut rest = header;
    while let Some((code, comment)) = rest.split_once("/*") {
        out.push_str(code);
        out.push(' ');
        rest = comment.split_once("*/").map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "/* neopvm_view shows, neopvm_gone does not. */\n\
                          int32_t neopvm_view(int32_t buffer,\n                    uint64_t \
                          *bytes);\n";

    fn found(page: &str) -> Vec<String> {
        let sources = [
            Source::new("include/neopvm.h", HEADER.replace("neopvm_gone", "neopvm_view")),
            Source::new("doc/man/neopvm-memory.3", page),
        ];
        let mut found: Vec<String> = check(&sources, &Inventory::of(&sources))
            .into_iter()
            .map(|finding| finding.what)
            .collect();
        found.dedup();
        found
    }

    #[test]
    fn a_page_that_says_what_the_header_says_is_right() {
        assert_eq!(
            found(".B int32_t neopvm_view(int32_t buffer, uint64_t *bytes)\n\\fBneopvm_*\\fP\n"),
            [""; 0]
        );
        assert_eq!(found(".BR neopvm-memory (3),\n.BR ssh (1)\n"), [""; 0]);
    }

    #[test]
    fn a_page_that_says_something_else_is_found() {
        assert!(!found(".B int32_t neopvm_view(int32_t buffer, uint32_t *bytes)\n").is_empty());
        assert!(!found("call neopvm_sees\n").is_empty());
        assert!(!found(".BR pvm-none (1)\n").is_empty());
    }

    fn options(page: &str) -> Vec<String> {
        let usage = "const USAGE: &str = \"pvmd --join --name\";\n\"--again\" => x";
        let sources =
            [Source::new("crates/pvmd/src/config.rs", usage), Source::new(DAEMON_PAGE, page)];
        let found = check(&sources, &Inventory::of(&sources));
        found.into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn the_page_of_the_daemon_has_the_options_that_it_has() {
        assert_eq!(options(".B pvmd \\-\\-join\n\\-\\-name and \\-\\-again\n"), [""; 0]);
        let wrong = options(".B pvmd \\-\\-jion\n\\-\\-name\n");
        assert_eq!(wrong.len(), 2);
        assert!(wrong[0].starts_with("--jion") && wrong[1].contains("no word of --join"));
    }

    #[test]
    fn a_header_that_names_a_call_of_nobody_is_found() {
        let sources = [Source::new("include/neopvm.h", HEADER)];
        let found = check(&sources, &Inventory::of(&sources));
        assert_eq!(found.len(), 1);
        assert!(found[0].what.starts_with("neopvm_gone "));
    }
}
