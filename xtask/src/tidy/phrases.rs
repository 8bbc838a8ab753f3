//! Documentation of an item says what the item is, in a phrase that begins with a noun or a verb.
//! "The same" says it only to a reader who has just read what stands above. "What the task has
//! sent" is "the messages that ..." with its noun left out, and "How many hosts there are" is "the
//! number of hosts". The heading of a section stands alone on its line, as rustdoc reads it.

use super::finding::Finding;
use crate::source::Source;
use std::collections::BTreeMap;

/// Beginnings that the documentation of an item may not have.
const NEVER: [&str; 2] = ["/// The same", "//! The same"];
/// First words that it may not have.
const NO_NOUN: [&str; 8] = ["What", "How", "Where", "Which", "Who", "Whose", "Whom", "Why"];
/// The headings of sections.
const HEADINGS: [&str; 5] = ["Errors", "Panics", "Safety", "Example", "Examples"];

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    let rust = || sources.iter().filter(|source| source.is_rust());
    let never = rust().flat_map(|source| {
        let what = "\"The same\" as what? Name the item that this one is like, or say what it is";
        let lines = beginning(source, |line| NEVER.iter().any(|never| line.starts_with(never)));
        lines.into_iter().map(move |line| Finding::error(format!("{}:{line}", source.path), what))
    });
    let mut without: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in rust() {
        let lines = beginning(source, |line| NO_NOUN.contains(&first_word(line)));
        if lines.is_empty() {
            continue;
        }
        let places = lines.into_iter().map(|line| format!("{}:{line}", source.path));
        without.entry(folder(&source.path)).or_default().extend(places);
    }
    let say = |(folder, places): (String, Vec<String>)| {
        let what = format!(
            "the documentation of {} items begins with \"What\", \"How\" or the like: begin with \
             the noun that it stands for (\"The number of ...\"); {}",
            places.len(),
            places.join(" ")
        );
        Finding::error(folder, what)
    };
    let headings = rust().flat_map(|source| {
        let what =
            "text behind the heading of a section becomes a part of the heading: begin a line";
        let lines = source.text.lines().zip(1..).filter(|(line, _)| goes_on_behind_heading(line));
        let places: Vec<String> = lines.map(|(_, at)| format!("{}:{at}", source.path)).collect();
        places.into_iter().map(move |place| Finding::error(place, what))
    });
    never.chain(headings).chain(without.into_iter().map(say)).collect()
}

/// True for `/// # Errors There is no memory.`
fn goes_on_behind_heading(line: &str) -> bool {
    let line = line.trim_start();
    let Some(text) = line.strip_prefix("/// # ").or_else(|| line.strip_prefix("//! # ")) else {
        return false;
    };
    text.split_once(' ').is_some_and(|(first, _)| HEADINGS.contains(&first))
}

/// `crates/pvm` of `crates/pvm/src/task.rs`.
fn folder(path: &str) -> String {
    path.split('/').take(2).collect::<Vec<_>>().join("/")
}

/// `What` of `/// What, if anything`.
fn first_word(line: &str) -> &str {
    let word = line.get(3..).and_then(|text| text.split_whitespace().next()).unwrap_or("");
    word.trim_end_matches(['.', ',', ':', ';'])
}

/// The lines in which documentation begins so. Only the first line of a comment begins what it
/// documents.
fn beginning(source: &Source, is_such: impl Fn(&str) -> bool) -> Vec<usize> {
    let is_documentation =
        |line: &str| ["///", "//!"].iter().any(|c| line.trim_start().starts_with(c));
    let lines: Vec<&str> = source.text.lines().collect();
    let first = |at: usize| at == 0 || !is_documentation(lines[at - 1]);
    let begins =
        |at: &usize| is_documentation(lines[*at]) && first(*at) && is_such(lines[*at].trim_start());
    (0..lines.len()).filter(begins).map(|at| at + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_that_only_points_upwards_is_found() {
        let text = "/// Sends.\nfn a() {}\n/// The same of many.\nfn b() {}\n\
                    /// Like `a`, for many.\n/// The same bytes go to all.\nfn c() {}\n\
                    // The same again.\n";
        let found = check(&[Source::new("crates/x/src/a.rs", text)]);
        let places: Vec<&str> = found.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, ["crates/x/src/a.rs:3"]);
    }

    #[test]
    fn the_text_of_a_section_stands_below_its_heading() {
        let text = "/// Sends.\n///\n/// # Errors\n/// It is full.\nfn a() {}\n\
                    /// Takes.\n///\n/// # Errors It is empty.\nfn b() {}\n";
        let found = check(&[Source::new("crates/x/src/a.rs", text)]);
        let places: Vec<&str> = found.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, ["crates/x/src/a.rs:8"]);
    }

    #[test]
    fn a_crate_has_no_items_that_are_documented_without_their_noun() {
        let text = "//! What it does.\n\n/// How it is sent:\n/// What follows counts not.\n\
                    fn a() {}\n/// Which.\nfn b() {}\n/// Whichever comes first.\nfn c() {}\n";
        let found = |path: &str| check(&[Source::new(path, text)]);
        let new = found("crates/x/src/a.rs");
        assert_eq!(new.len(), 1);
        assert!(new[0].what.contains("of 3 items"), "{}", new[0].what);
        assert!(
            new[0].what.contains("crates/x/src/a.rs:1 crates/x/src/a.rs:3 crates/x/src/a.rs:6")
        );
    }
}
