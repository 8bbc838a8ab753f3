//! Lines of documents have at most 100 columns, but in tables and blocks of code, which cannot be
//! broken.

use super::super::finding::Finding;
use super::prose;
use crate::source::Source;

const COLUMNS_MAX: usize = 100;

pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    sources.iter().filter_map(check_page).collect()
}

fn check_page(page: &Source) -> Option<Finding> {
    let long = if page.path.ends_with(".md") {
        first_long(prose::outside_blocks(&page.text).into_iter())
    } else if page.path.starts_with("doc/man/") {
        first_long(filled(&page.text).into_iter())
    } else {
        return None;
    };
    long.map(|line| {
        let what = format!("more than {COLUMNS_MAX} columns: break the line");
        Finding::error(format!("{}:{line}", page.path), what)
    })
}

/// The lines of a man page that are filled, which those between `.nf` and `.fi` are not.
fn filled(page: &str) -> Vec<(usize, &str)> {
    let mut inside = true;
    let numbered = page.lines().enumerate().map(|(at, line)| (at + 1, line));
    numbered
        .filter(|(_, line)| {
            inside = if inside { !line.starts_with(".nf") } else { line.starts_with(".fi") };
            inside
        })
        .collect()
}

/// The first line that could be broken and is too long.
fn first_long<'a>(mut lines: impl Iterator<Item = (usize, &'a str)>) -> Option<usize> {
    let long = lines.find(|(_, line)| {
        let breakable =
            line.trim().contains(' ') && !line.trim_start().starts_with(['|', '.', '#']);
        breakable && line.chars().count() > COLUMNS_MAX
    });
    long.map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Option<String> {
        check_page(&Source::new(path, text)).map(|finding| finding.place)
    }

    #[test]
    fn a_long_line_is_found_where_it_can_be_broken() {
        let long = "word ".repeat(21);
        assert_eq!(found("a.md", &format!("short\n{long}\n")), Some("a.md:2".to_owned()));
        assert_eq!(found("doc/man/a.1", &long), Some("doc/man/a.1:1".to_owned()));
        assert_eq!(found("a.md", &format!("| {long} |\n```\n{long}\n```\n")), None);
        assert_eq!(found("doc/man/a.1", &format!(".B {long}\n")), None);
        assert_eq!(found("doc/man/a.1", &format!(".nf\n{long}\n.fi\nshort\n")), None);
        assert_eq!(found("a.rs", &long), None);
        assert_eq!(found("doc/wire.md", "short\n"), None);
    }

    #[test]
    fn columns_are_counted_and_not_bytes() {
        assert_eq!(found("a.md", &"é ".repeat(50)), None);
    }
}
