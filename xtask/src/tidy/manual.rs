//! The manual keeps up with the header: every call that `pvm3.h` declares stands in the page of all
//! calls.

use super::finding::Finding;
use crate::source::{Source, is_word};

const HEADER: &str = "include/pvm3.h";
const PAGE: &str = "doc/man/pvm3-calls.3";
/// The macro around the arguments, which only declarations of functions have.
const DECLARES: &str = " NEOPVM_ARGS((";

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    let text = |path| sources.iter().find(|s: &&Source| s.path == path).map(|s| s.text.as_str());
    let (Some(header), Some(page)) = (text(HEADER), text(PAGE)) else { return Vec::new() };
    let missing = declared(header).into_iter().filter(|name| !page.contains(&format!("{name}(")));
    missing.map(|name| Finding::error(PAGE, format!("{name} of {HEADER} is not in it"))).collect()
}

fn declared(header: &str) -> Vec<&str> {
    let ends = header.match_indices(DECLARES).map(|(end, _)| end);
    let names = ends.map(|end| {
        let start = header[..end].rfind(|c| !is_word(c)).map_or(0, |at| at + 1);
        &header[start..end]
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
}
