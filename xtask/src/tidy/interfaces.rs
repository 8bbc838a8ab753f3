//! The coverage list of the older interfaces: every documented call (`NAME.calls`) stands in a test
//! of its interface, and what a library exports (`NAME.map`) is documented.
//!
//! That the compiled tests call them is asked of the objects by `personalities/tests/run.sh`, which
//! needs an installation. Here a name counts without the underscores around it and without regard
//! to case: tests of twins make names by macros, and Fortran writes them in capitals.

use super::finding::Finding;
use crate::source::{Source, is_word};
use std::collections::BTreeSet;

/// Tests of the interfaces that have no folder of their own for them.
const SHARED: &str = "personalities/echo/tests/";

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    sources
        .iter()
        .filter(|source| is_list(&source.path))
        .flat_map(|list| of(list, sources))
        .collect()
}

fn is_list(path: &str) -> bool {
    path.starts_with("personalities/") && path.ends_with(".calls")
}

fn of(list: &Source, sources: &[Source]) -> Vec<Finding> {
    let words = tested(&list.path, sources);
    let calls: BTreeSet<&str> = lines(&list.text).collect();
    let untested = calls.iter().filter(|name| !words.contains(&plain(name)));
    let untested = untested.map(|name| format!("no test of the interface calls {name}"));
    let map = list.path.replace(".calls", ".map");
    let exported = sources.iter().find(|source| source.path == map).into_iter();
    let exported = exported.flat_map(|map| exports(&map.text));
    let unknown = exported.filter(|name| !calls.contains(name));
    let unknown = unknown.map(|name| format!("{name} is exported by {map} and stands not here"));
    untested.chain(unknown).map(|what| Finding::error(&*list.path, what)).collect()
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Names that the linker is told; patterns and what only a precompiler calls are none.
fn exports(map: &str) -> impl Iterator<Item = &str> {
    let names = map.lines().filter_map(|line| line.trim().strip_suffix(';'));
    names.filter(|name| name.chars().all(is_word) && !name.starts_with("__"))
}

/// All words of the tests of an interface.
fn tested(list: &str, sources: &[Source]) -> BTreeSet<String> {
    let folder = list.rsplit_once('/').map_or("", |(folder, _)| folder);
    let own = format!("{folder}/tests/");
    let has_own = sources.iter().any(|source| source.path.starts_with(&own));
    let folder = if has_own { own.as_str() } else { SHARED };
    let tests = sources.iter().filter(|source| source.path.starts_with(folder));
    tests.flat_map(|test| test.text.split(|c| !is_word(c))).map(plain).collect()
}

fn plain(name: &str) -> String {
    name.trim_matches('_').to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(calls: &str, map: &str, test: &str) -> Vec<String> {
        let sources = [
            Source::new("personalities/old/old.calls", calls),
            Source::new("personalities/old/old.map", map),
            Source::new("personalities/old/tests/all.f", test),
        ];
        check(&sources).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_documented_call_that_no_test_calls_is_found() {
        let told = found("# calls\nsend_\nrecv_\n", "", "      CALL SEND(1)\n");
        assert_eq!(told, ["no test of the interface calls recv_"]);
        assert!(found("send_\n", "", "      CALL SEND(1)\n").is_empty());
    }

    #[test]
    fn an_exported_name_that_is_not_documented_is_found() {
        let map = "{\n  global:\n    send_;\n    spare_;\n    f*_;\n    __own;\n  local: *;\n};\n";
        let told = found("send_\n", map, "      CALL SEND(1)\n");
        assert_eq!(told, ["spare_ is exported by personalities/old/old.map and stands not here"]);
    }
}
