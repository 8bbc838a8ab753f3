//! Lines of Rust have at most 100 columns. rustfmt sees to it in code, but leaves comments, strings
//! and what stands in macros as they are.

use super::finding::Finding;
use crate::source::Source;

/// `max_width` of rustfmt.toml.
const COLUMNS_MAX: usize = 100;

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    sources.iter().filter(|source| source.is_rust()).flat_map(long_lines).collect()
}

fn long_lines(source: &Source) -> Vec<Finding> {
    let numbered = source.text.lines().enumerate();
    let long = numbered.filter(|(_, line)| line.chars().count() > COLUMNS_MAX && can_break(line));
    let finding = |(at, _)| {
        let what = format!("more than {COLUMNS_MAX} columns: break the line");
        Finding::error(format!("{}:{}", source.path, at + 1), what)
    };
    long.map(finding).collect()
}

/// A row of a table cannot be broken, nor can a word.
fn can_break(line: &str) -> bool {
    let text = line.trim_start().trim_start_matches("///").trim_start_matches("//!").trim();
    text.contains(' ') && !text.starts_with('|')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&[Source::new(path, text)]).into_iter().map(|finding| finding.place).collect()
    }

    #[test]
    fn a_long_comment_or_string_is_found() {
        let words = "wörd ".repeat(19);
        let text = format!("// {words}.\n// {words}too long\nlet a = \"{words}\";\n");
        assert_eq!(
            found("crates/x/src/a.rs", &text),
            ["crates/x/src/a.rs:2", "crates/x/src/a.rs:3"]
        );
    }

    #[test]
    fn what_cannot_be_broken_may_be_long() {
        let (row, word) = ("a | ".repeat(30), "a".repeat(120));
        let text = format!("//! | {row}\n/// {word}\n{word}\n");
        assert_eq!(found("crates/x/src/a.rs", &text), [""; 0]);
        assert_eq!(found("a.c", &"a b ".repeat(30)), [""; 0]);
    }

    #[test]
    fn the_limit_is_that_of_rustfmt() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let text = std::fs::read_to_string(root.join("rustfmt.toml")).unwrap();
        assert!(text.contains(&format!("max_width = {COLUMNS_MAX}\n")));
    }
}
