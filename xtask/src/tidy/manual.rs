//! The manual keeps up with the headers: every call that `pvm3.h` or `neotuple.h` declares stands
//! in the page of its calls.

use super::finding::Finding;
use crate::source::{Source, is_word};

const HEADER: &str = "include/pvm3.h";
const PAGE: &str = "doc/man/pvm3-calls.3";
const TUPLES_HEADER: &str = "include/neotuple.h";
const TUPLES_PAGE: &str = "doc/man/neotuple.3";
/// The macro around the arguments, which only declarations of functions have.
const DECLARES: &str = " NEOPVM_ARGS((";

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    let text = |path| sources.iter().find(|s: &&Source| s.path == path).map(|s| s.text.as_str());
    let compare = |header, page, declared: fn(&str) -> Vec<&str>| {
        let (Some(declares), Some(says)) = (text(header), text(page)) else { return Vec::new() };
        let missing = declared(declares).into_iter();
        let missing = missing.filter(|name| !says.contains(&format!("{name}(")));
        missing
            .map(|name| Finding::error(page, format!("{name} of {header} is not in it")))
            .collect()
    };
    let mut found = compare(HEADER, PAGE, declared);
    found.extend(compare(TUPLES_HEADER, TUPLES_PAGE, declared_plainly));
    found
}

fn declared(header: &str) -> Vec<&str> {
    names_before(header, DECLARES)
}

/// The functions whose declarations begin their lines.
fn declared_plainly(header: &str) -> Vec<&str> {
    let begins = |line: &&str| line.starts_with("int32_t ") || line.starts_with("const char ");
    header.lines().filter(begins).flat_map(|line| names_before(line, "(")).collect()
}

fn names_before<'a>(text: &'a str, end: &str) -> Vec<&'a str> {
    let names = text.match_indices(end).map(|(end, _)| {
        let start = text[..end].rfind(|c| !is_word(c)).map_or(0, |at| at + 1);
        &text[start..end]
    });
    names.filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_without_a_word_in_the_manual_is_found() {
        let header =
            "int pvm_send NEOPVM_ARGS((int tid, int tag));\nint pvm_recv NEOPVM_ARGS((int tid));\n";
        let sources = [
            Source::new(HEADER, header),
            Source::new(PAGE, ".TP\n.B int pvm_send(int tid, int tag)\n"),
        ];
        let found = check(&sources);
        assert_eq!(found.len(), 1);
        assert!(found[0].what.starts_with("pvm_recv "));
    }

    #[test]
    fn a_call_of_tuples_without_a_word_in_the_manual_is_found() {
        let header = "/* neotuple_in(x) takes. */\nint32_t neotuple_in(int32_t space);\n\
                      int32_t neotuple_rd(int32_t space,\n                    int32_t tuple);\n";
        let sources = [
            Source::new(TUPLES_HEADER, header),
            Source::new(TUPLES_PAGE, ".B int32_t neotuple_in(int32_t space)\n"),
        ];
        let found = check(&sources);
        assert_eq!(found.len(), 1);
        assert!(found[0].what.starts_with("neotuple_rd "));
    }
}
