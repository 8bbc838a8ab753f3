//! Documentation of an item says what the item is. "The same" says it only to a reader who has
//! just read what stands above, and says nothing in a list of items.

use super::finding::Finding;
use crate::source::Source;

/// How the documentation of an item may not begin.
const BEGINNINGS: [&str; 2] = ["/// The same", "//! The same"];

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    sources.iter().filter(|source| source.is_rust()).flat_map(findings).collect()
}

fn findings(source: &Source) -> Vec<Finding> {
    // Only the first line of a comment begins what it documents.
    let is_documentation = |line: &str| line.trim_start().starts_with(&BEGINNINGS[0][..3]);
    let lines: Vec<&str> = source.text.lines().collect();
    let begins = |at: usize| at == 0 || !is_documentation(lines[at - 1]);
    let bare = |at: &usize| {
        let line = lines[*at].trim_start();
        begins(*at) && BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
    };
    let finding = |at| {
        let what = "\"The same\" as what? Name the item that this one is like, or say what it is";
        Finding::error(format!("{}:{}", source.path, at + 1), what)
    };
    (0..lines.len()).filter(bare).map(finding).collect()
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
}
