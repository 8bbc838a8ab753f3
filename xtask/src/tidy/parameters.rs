//! A tuple is no way round the limit of clippy.toml: each of its parts counts as a parameter.
//!
//! The functions that take more parameters than the limit so are counted for each crate, and the
//! number in [`MOST`] is only ever lowered. A struct with named fields, or types that cannot be
//! confused, are the cure.

use super::finding::Finding;
use crate::source::{Source, is_word};
use std::collections::BTreeMap;

/// `too-many-arguments-threshold` of clippy.toml.
const PARAMETERS_MAX: usize = 5;
/// By how many functions a crate falls below its number before the number is to be lowered.
const STEP: usize = 4;

/// Crate, and how many of its functions may have more.
const MOST: &[(&str, usize)] = &[
    ("bindings/python", 10),
    ("crates/pvm", 5),
    ("crates/pvm-capi", 8),
    ("crates/pvm-cli", 3),
    ("crates/pvm-predict", 7),
    ("crates/pvm-quorum", 4),
    ("crates/pvm-shm", 3),
    ("crates/pvm-sim", 3),
    ("crates/pvm-trace", 3),
    ("crates/pvmd", 6),
];

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    judge(&found(sources), MOST)
}

/// The places of such functions, for each crate.
type PlacesByCrate = BTreeMap<String, Vec<String>>;

fn judge(found: &PlacesByCrate, most: &[(&str, usize)]) -> Vec<Finding> {
    let allowed = |folder: &str| most.iter().find(|entry| entry.0 == folder).map_or(0, |e| e.1);
    let mut findings = Vec::new();
    for (folder, places) in found.iter().filter(|(folder, places)| places.len() > allowed(folder)) {
        let what = format!(
            "{} functions take more than {PARAMETERS_MAX} parameters if the parts of tuples count, \
             at most {}: {}",
            places.len(),
            allowed(folder),
            places.join(" ")
        );
        findings.push(Finding::error(format!("{folder}/src"), what));
    }
    for (folder, most) in most {
        let count = found.get(*folder).map_or(0, Vec::len);
        if count + STEP <= *most {
            let what = format!(
                "{count} functions with long tuples, {most} are allowed: lower it in parameters.rs"
            );
            findings.push(Finding::warning(format!("{folder}/src"), what));
        }
    }
    findings
}

fn found(sources: &[Source]) -> PlacesByCrate {
    let mut places = PlacesByCrate::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        let Some((folder, file)) = source.path.split_once("/src/") else { continue };
        let long = functions(&source.code()).into_iter().filter(|(_, parameters)| {
            let (count, tuples) = measure(parameters);
            tuples && count > PARAMETERS_MAX
        });
        let names = long.map(|(name, _)| format!("{file}:{name}"));
        places.entry(folder.to_owned()).or_default().extend(names);
    }
    places
}

/// The name and the parameters of each function.
fn functions(code: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        if code[..at].ends_with(is_word) {
            continue;
        }
        let rest = &code[at + 3..];
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        if let (false, Some(inside)) = (name.is_empty(), parameters(behind)) {
            found.push((name.to_owned(), parts(inside)));
        }
    }
    found
}

/// The text between the parentheses behind a name and its generic parameters.
fn parameters(behind: &str) -> Option<&str> {
    let mut angles = 0;
    let open = behind.char_indices().find(|&(at, c)| {
        match c {
            '<' => angles += 1,
            '>' if !behind[..at].ends_with('-') => angles -= 1,
            _ => {}
        }
        c == '(' && angles == 0
    })?;
    inside(&behind[open.0..])
}

/// The text inside of the brackets with which `text` begins.
fn inside(text: &str) -> Option<&str> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[1..at]);
        }
    }
    None
}

/// The parts between the commas that are in no brackets.
fn parts(text: &str) -> Vec<String> {
    let (mut depth, mut all, mut part) = (0, Vec::new(), String::new());
    let mut last = ' ';
    for c in text.chars() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if last != '-' && last != '=' => depth -= 1,
            _ => {}
        }
        last = c;
        if c == ',' && depth == 0 {
            all.push(std::mem::take(&mut part));
        } else {
            part.push(c);
        }
    }
    all.push(part);
    all.retain(|part| !part.trim().is_empty());
    all
}

/// The number of parameters if the parts of tuples count, and whether there is a tuple.
fn measure(parameters: &[String]) -> (usize, bool) {
    let (mut count, mut tuples) = (0, false);
    for parameter in parameters.iter().filter(|one| !is_self(one)) {
        let kind = type_of(parameter).trim();
        let tuple =
            kind.starts_with('(').then(|| inside(kind)).flatten().map_or(1, |all| parts(all).len());
        tuples |= tuple > 1;
        count += tuple.max(1);
    }
    (count, tuples)
}

fn is_self(parameter: &str) -> bool {
    parameter.split(|c: char| !is_word(c)).any(|word| word == "self")
}

/// The type behind the colon, of which a path has two.
fn type_of(parameter: &str) -> &str {
    let one = |&(at, _): &(usize, &str)| {
        !parameter[..at].ends_with(':') && !parameter[at + 1..].starts_with(':')
    };
    parameter.match_indices(':').find(one).map_or("", |(at, _)| &parameter[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "fn a(&self, x: u8, (b, c): (u8, Vec<(u8, u8)>), d: (u8, u8, u8)) {}\n";
    const SHORT: &str = "fn b<F: Fn(u8, u8) -> u8>(x: u8, f: impl Fn(u8, u8), y: &[(u8, u8)]) {}\n\
                         fn c(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8) {}\n";

    fn findings(text: &str, most: &[(&str, usize)]) -> Vec<bool> {
        let found = found(&[Source::new("crates/x/src/a.rs", text)]);
        judge(&found, most).iter().map(|finding| finding.warning).collect()
    }

    #[test]
    fn the_parts_of_tuples_are_counted() {
        assert_eq!(findings(LONG, &[]), [false]);
        assert_eq!(findings(LONG, &[("crates/x", 1)]), []);
        assert_eq!(findings(LONG, &[("crates/x", STEP)]), []);
        assert_eq!(findings(LONG, &[("crates/x", 1 + STEP)]), [true]);
    }

    #[test]
    fn clippy_counts_what_is_no_tuple() {
        assert_eq!(findings(SHORT, &[]), []);
    }

    #[test]
    fn the_limit_is_that_of_clippy() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let text = std::fs::read_to_string(root.join("clippy.toml")).unwrap();
        assert!(text.contains(&format!("too-many-arguments-threshold = {PARAMETERS_MAX}\n")));
    }
}
