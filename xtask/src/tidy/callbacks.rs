//! A function pointer that is kept is an import that nobody sees.
//!
//! A file that keeps a function of others, in a field or in a static, calls files that it does not
//! import. If one of those imports it, that is a circle, and [`super::circles`] does not see it. So
//! each file that keeps one stands in [`KNOWN`] with its reason; the list is only ever shortened. A
//! function that is passed as an argument and not kept goes down with its call, and is no circle.

use super::finding::Finding;
use crate::source::{Source, is_word};

/// Files that keep function pointers, and why they may.
const KNOWN: &[(&str, &str)] = &[
    ("crates/pvm/src/source.rs", "a circle: buffers call the task, which imports them"),
    (
        "crates/pvm-capi/src/thread/parcels.rs",
        "a circle: a thread sends parcels of files that import it",
    ),
    ("crates/pvm-capi/src/waiting.rs", "a circle: a wait runs errands of files that import it"),
    ("crates/pvm-bench/src/case.rs", "a table: each suite's file makes its own cases"),
];

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    judge(sources, KNOWN)
}

fn judge(sources: &[Source], known: &[(&str, &str)]) -> Vec<Finding> {
    let crates = |source: &&Source| source.is_rust() && source.path.starts_with("crates/");
    let mut findings = Vec::new();
    let mut kept: Vec<&str> = Vec::new();
    for source in sources.iter().filter(crates).filter(|source| source.path.contains("/src/")) {
        let Some(line) = first_kept(&source.code()) else { continue };
        kept.push(&source.path);
        if !known.iter().any(|(path, _)| *path == source.path) {
            let what = "keeps a function pointer, which hides an import: pass it as an argument, \
                        or import what it calls";
            findings.push(Finding::error(format!("{}:{line}", source.path), what));
        }
    }
    let gone = known.iter().filter(|(path, _)| !kept.contains(path));
    findings.extend(gone.map(|(path, _)| {
        Finding::warning(*path, "keeps no function pointer any more: take it off callbacks.rs")
    }));
    findings
}

/// The line of the first field or static of a module whose type has a Rust function pointer in it.
fn first_kept(code: &str) -> Option<usize> {
    let mut in_struct = false;
    for (at, line) in code.lines().enumerate() {
        let declares = line.trim_start().trim_start_matches("pub").trim_start_matches("(crate)");
        let declares = declares.trim_start_matches("(super)").trim_start();
        in_struct = match line {
            _ if declares.starts_with("struct ") => !line.contains(';') && !line.contains('}'),
            _ => in_struct && !line.starts_with('}'),
        };
        let holds = in_struct || declares.starts_with("static ");
        if holds && has_pointer(line) {
            return Some(at + 1);
        }
    }
    None
}

/// Whether `fn(` stands in a line as a type; one of C is for the system, which is below everything.
fn has_pointer(line: &str) -> bool {
    line.match_indices("fn(").any(|(at, _)| {
        let before = &line[..at];
        !before.ends_with(is_word) && !before.contains("extern")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str, known: &[(&str, &str)]) -> Vec<bool> {
        let source = Source::new("crates/x/src/a.rs", text);
        judge(&[source], known).iter().map(|finding| finding.warning).collect()
    }

    const KEPT: [&str; 3] = [
        "static SOURCE: OnceLock<fn(usize) -> u8> = OnceLock::new();\n",
        "pub(crate) struct Parcel {\n    pub(crate) send: fn(Self),\n}\n",
        "struct A<'a> {\n    b: u8,\n    run: Option<fn(&Self)>,\n}\n",
    ];

    #[test]
    fn a_function_pointer_in_a_field_or_a_static_is_found() {
        for text in KEPT {
            assert_eq!(findings(text, &[]), [false], "{text}");
            assert_eq!(findings(text, &[("crates/x/src/a.rs", "why")]), []);
        }
    }

    #[test]
    fn an_argument_a_constant_and_one_for_c_are_not_kept() {
        let text = "fn set(f: fn(u8)) {}\nconst MS: fn(u64) -> u8 = x;\nstruct A {\n    b: u8,\n}\n\
                    fn g() {\n    let a: fn(u8) = f;\n}\n\
                    struct C {\n    h: Option<extern \"C\" fn()>,\n}\n";
        assert_eq!(findings(text, &[]), []);
        assert_eq!(findings(text, &[("crates/x/src/a.rs", "why")]), [true]);
    }
}
