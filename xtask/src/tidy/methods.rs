//! No type becomes the whole program: how many methods a type has, in all files of its crate.
//!
//! A type may have [`METHODS_MAX`]. Those that had more when this rule was made stand in [`LARGE`]
//! with the number that they may have. A number there is only ever lowered, in steps, so that work
//! beside it is not held up.

use super::finding::Finding;
use crate::source::{Source, is_word};
use std::collections::BTreeMap;

const METHODS_MAX: usize = 45;
/// By how many methods a type falls below its number before the number is to be lowered.
const STEP: usize = 10;

/// Crate, type, and how many methods it may have until somebody divides it.
const LARGE: &[(&str, &str, usize)] = &[
    ("bindings/python", "Message", 55),
    ("bindings/python", "Task", 75),
    ("crates/pvm", "Buffer", 80),
    ("crates/pvm", "Task", 130),
    ("crates/pvm-core", "Handler", 310),
    ("crates/pvm-quorum", "Core", 130),
    ("crates/pvm-shm", "Inlet", 55),
    ("crates/pvm-shm", "Keeper", 60),
    ("crates/pvm-sim", "Run", 75),
    ("crates/pvm-sim", "World", 65),
    ("crates/pvmd", "Links", 60),
    ("crates/pvmd", "Parent", 85),
];

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    judge(&count(sources), LARGE)
}

type Counts = BTreeMap<(String, String), usize>;

fn judge(counts: &Counts, large: &[(&str, &str, usize)]) -> Vec<Finding> {
    let entry = |name: &(String, String)| large.iter().find(|e| (e.0, e.1) == (&*name.0, &*name.1));
    let grown = counts.iter().filter_map(|(name, &count)| {
        let most = entry(name).map_or(METHODS_MAX, |entry| entry.2);
        let what = format!("{} has {count} methods, at most {most}: divide it by noun", name.1);
        (count > most).then(|| Finding::error(format!("{}/src", name.0), what))
    });
    let shrunk = large.iter().filter_map(|(folder, name, most)| {
        let count = counts.get(&((*folder).to_owned(), (*name).to_owned())).copied().unwrap_or(0);
        let what =
            format!("{name} has {count} methods, {most} are allowed: lower it in methods.rs");
        (count + STEP <= *most).then(|| Finding::warning(format!("{folder}/src"), what))
    });
    grown.chain(shrunk).collect()
}

/// The methods of each type of each crate: the functions in its own `impl` blocks, not those of
/// traits.
fn count(sources: &[Source]) -> Counts {
    let mut counts = Counts::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        let Some((folder, _)) = source.path.split_once("/src/") else { continue };
        for (name, methods) in blocks(&source.code()) {
            *counts.entry((folder.to_owned(), name)).or_default() += methods;
        }
    }
    counts
}

/// The type and the number of functions of each `impl` block that is of no trait. Its first line
/// and the brace that ends it stand in the first column, as rustfmt puts them.
fn blocks(code: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        let Some(rest) = line.strip_prefix("impl") else { continue };
        if rest.starts_with(is_word) {
            continue;
        }
        let mut head = rest.to_owned();
        while !head.contains('{') {
            let Some(line) = lines.next() else { break };
            head.push(' ');
            head.push_str(line);
        }
        let is_empty = head.trim_end().ends_with('}');
        let body = lines.by_ref().take_while(|line| !is_empty && !line.starts_with('}'));
        let methods = body.filter(|line| is_function(line)).count();
        found.extend(own_type(&head).map(|name| (name, methods)));
    }
    found
}

/// The type that a block without a trait is for.
fn own_type(head: &str) -> Option<String> {
    let head = head.split(['{']).next()?.split(" where ").next()?;
    let after = behind_angles(head.trim_start());
    if after.contains(" for ") {
        return None;
    }
    let path = after.trim_start().trim_start_matches('&');
    let end = path.find(|c: char| !is_word(c) && c != ':').unwrap_or(path.len());
    path[..end].rsplit("::").next().map(str::to_owned)
}

/// The text behind `<...>` at the start.
fn behind_angles(text: &str) -> &str {
    let mut depth = 0;
    if !text.starts_with('<') {
        return text;
    }
    for (at, c) in text.char_indices() {
        let is_arrow = c == '>' && (text[..at].ends_with('-') || text[..at].ends_with('='));
        match c {
            '<' => depth += 1,
            '>' if !is_arrow => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[at + 1..];
        }
    }
    ""
}

/// Whether a function begins on a line of a block, one step inside.
fn is_function(line: &str) -> bool {
    let Some(inside) = line.strip_prefix("    ") else { return false };
    let before = inside.split('(').next().unwrap_or_default();
    !inside.starts_with([' ', '}']) && before.split_whitespace().any(|word| word == "fn")
        || inside.starts_with("pub(") && inside.split_whitespace().any(|word| word == "fn")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "struct A;\nimpl A {\n    pub(crate) const fn a(&self) {\n        fn b() \
                       {}\n    }\n\
                       \n    unsafe fn c() {}\n}\nimpl Drop for A {\n    fn drop(&mut self) {}\n\
                       }\n";
    const GENERIC: &str =
        "impl<T: Fn(u8) -> u8> x::A<T>\nwhere\n    T: Copy,\n{\n    fn d() {}\n}\nimpl B {}\n";

    fn counts() -> Counts {
        count(&[Source::new("crates/x/src/a.rs", TWO), Source::new("crates/x/src/b.rs", GENERIC)])
    }

    #[test]
    fn the_methods_of_a_type_are_counted_in_all_files() {
        let name = |name: &str| ("crates/x".to_owned(), name.to_owned());
        assert_eq!(counts(), Counts::from([(name("A"), 3), (name("B"), 0)]));
    }

    #[test]
    fn a_type_may_not_grow_and_what_has_shrunk_is_told() {
        let findings = |most| -> Vec<bool> {
            judge(&counts(), &[("crates/x", "A", most)]).iter().map(|f| f.warning).collect()
        };
        assert_eq!((findings(2), findings(3)), (vec![false], vec![]));
        assert_eq!((findings(2 + STEP), findings(3 + STEP)), (vec![], vec![true]));
        let large: String = (0..=METHODS_MAX).map(|n| format!("    fn f{n}() {{}}\n")).collect();
        let source = Source::new("crates/y/src/lib.rs", format!("impl Large {{\n{large}}}\n"));
        assert_eq!(judge(&count(&[source]), &[]).len(), 1);
    }
}
