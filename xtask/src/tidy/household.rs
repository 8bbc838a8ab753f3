//! Types are named by the field's words, and one name is for one thing.
//!
//! `Held` or `Told` can be anything that a program keeps or prints, so several types get such a
//! name, and a reader who searches for it finds all of them. The types of each such name are
//! counted over the whole workspace, and the number in [`MOST`] is only ever lowered. The cure is
//! the noun of the thing: `TaskQueue`, `RunOutput`.

use super::finding::Finding;
use crate::source::{Source, is_word};

const KINDS: [&str; 4] = ["struct", "enum", "trait", "union"];

/// Name, and how many types may have it.
const MOST: &[(&str, usize)] = &[
    ("Few", 0),
    ("Found", 3),
    ("Given", 0),
    ("Glance", 1),
    ("Held", 1),
    ("Home", 0),
    ("Kept", 2),
    ("Known", 0),
    ("Looked", 1),
    ("Lying", 1),
    ("Made", 0),
    // One thing: the private folder of a test, in testbed and in two wrappers of it.
    ("Place", 3),
    ("Places", 2),
    ("Planned", 4),
    ("Said", 2),
    ("Seat", 0),
    ("Told", 2),
    ("Turn", 0),
    ("Turns", 1),
    ("Wanted", 1),
    ("Way", 0),
    ("Word", 2),
    ("Words", 2),
];

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    judge(sources, MOST)
}

fn judge(sources: &[Source], most: &[(&str, usize)]) -> Vec<Finding> {
    let rust = sources.iter().filter(|source| source.is_rust());
    let all: Vec<(String, String)> = rust.flat_map(definitions).collect();
    let mut findings = Vec::new();
    for &(name, most) in most {
        let places: Vec<&str> =
            all.iter().filter(|(of, _)| of == name).map(|(_, place)| place.as_str()).collect();
        let count = places.len();
        if count > most {
            let what = format!(
                "{count} types are called {name}, at most {most}: name the new one after what it \
                 is; {}",
                places.join(" ")
            );
            findings.push(Finding::error("types", what));
        } else if count < most {
            let what = format!("{count} types are called {name}, not {most}: lower the number");
            findings.push(Finding::warning("xtask/src/tidy/household.rs", what));
        }
    }
    findings
}

/// The name and the place of each type that a file defines. The types that a trait demands are no
/// definitions.
fn definitions(source: &Source) -> Vec<(String, String)> {
    let code = source.code();
    let mut found = Vec::new();
    for (at, line) in code.lines().enumerate() {
        let words: Vec<&str> = line.split(|c| !is_word(c)).filter(|w| !w.is_empty()).collect();
        let kind =
            |word: &&str| KINDS.contains(word) || (*word == "type" && !line.starts_with(' '));
        let named = words.windows(2).filter(|pair| kind(&pair[0]));
        found.extend(named.map(|pair| (pair[1].to_owned(), format!("{}:{}", source.path, at + 1))));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str, most: usize) -> Vec<bool> {
        let found = judge(&[Source::new("crates/x/src/a.rs", text)], &[("Held", most)]);
        found.iter().map(|finding| finding.warning).collect()
    }

    #[test]
    fn a_second_type_of_a_household_name_is_found() {
        let two = "pub struct Held;\nmod inner {\n    enum Held {}\n}\n";
        assert_eq!(findings(two, 1), [false]);
        assert_eq!(findings(two, 2), []);
        assert_eq!(findings(two, 3), [true]);
    }

    #[test]
    fn comments_uses_and_types_of_traits_do_not_count() {
        let none = "// struct Held\nuse a::Held;\nimpl A for B {\n    type Held = u8;\n}\n\
                    struct Holder(Held);\n";
        assert_eq!(findings(none, 0), []);
    }
}
