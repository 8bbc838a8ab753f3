//! Words that only some files may use: `unsafe`, clocks and I/O in the crates that have neither,
//! bare atomics.

use super::finding::Finding;
use crate::source::{Source, lines_with};

/// One fence: inside `folders`, none of `words` may stand in the code, except in `but_not` files.
struct Fence {
    folders: &'static [&'static str],
    but_not: &'static [&'static str],
    words: &'static [&'static str],
    why: &'static str,
}

const FENCES: [Fence; 5] = [
    Fence {
        folders: &["crates/", "xtask/", "fuzz/", "bindings/"],
        but_not: &[
            "crates/pvm-shm/",
            "crates/pvm-capi/",
            "crates/pvm/src/sys.rs",
            "crates/pvm/src/sys/",
            "crates/pvmd/src/sys.rs",
            "crates/pvmd/src/launch/child.rs",
            "bindings/python/src/memory.rs",
            "bindings/python/src/interpreter.rs",
        ],
        words: &["unsafe"],
        why: "unsafe code lives in pvm-shm, pvm-capi, the sys files and two files of Python's \
              binding only",
    },
    Fence {
        folders: &[
            "crates/pvm-core/src/",
            "crates/pvm-wire/src/",
            "crates/pvm-sim/src/",
            "crates/pvm-predict/src/",
            "crates/pvm-tuples/src/",
        ],
        but_not: &[],
        words: &["Instant", "SystemTime", "std::net", "std::thread", "std::process", "getrandom"],
        why: "no clock, no thread and no network here: time is an argument, randomness a seed",
    },
    Fence {
        folders: &["crates/pvm-core/src/", "crates/pvm-wire/src/"],
        but_not: &[],
        words: &["std::fs", "std::io", "println", "eprintln"],
        why: "no I/O here: what happened is an output",
    },
    Fence {
        folders: &["crates/pvm-core/src/", "crates/pvm-sim/src/"],
        but_not: &[],
        words: &["HashMap", "HashSet"],
        why: "what is iterated must have one order, or a seed does not replay: use BTreeMap",
    },
    Fence {
        folders: &["crates/pvm-shm/src/"],
        but_not: &["crates/pvm-shm/src/sync.rs"],
        words: &["std::sync::atomic", "core::sync::atomic"],
        why: "sync.rs is the only door to atomics, so that loom sees all of them",
    },
];

/// Crates whose root must forbid unsafe code outright.
const FORBID: [&str; 11] = [
    "pvm-wire",
    "pvm-core",
    "pvm-sim",
    "pvm-predict",
    "pvm-tuples",
    "pvm-space",
    "pvm-clc",
    "pvm-cli",
    "pvm-bench",
    "testbed",
    "xtask",
];

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    let rust = || sources.iter().filter(|s| s.is_rust());
    rust().flat_map(check_fences).chain(rust().filter_map(check_forbid)).collect()
}

fn check_fences(source: &Source) -> Vec<Finding> {
    let inside = |folders: &[&str]| folders.iter().any(|folder| source.path.starts_with(folder));
    let code = source.code();
    let mut findings = Vec::new();
    for fence in FENCES.iter().filter(|f| inside(f.folders) && !inside(f.but_not)) {
        for word in fence.words {
            for line in lines_with(&code, word) {
                let place = format!("{}:{line}", source.path);
                findings.push(Finding::error(place, format!("{word}: {}", fence.why)));
            }
        }
    }
    findings
}

fn check_forbid(source: &Source) -> Option<Finding> {
    let (folder, file) = source.path.split_once("/src/")?;
    let name = folder.rsplit('/').next().unwrap_or(folder);
    let is_root = matches!(file, "lib.rs" | "main.rs");
    let missing =
        is_root && FORBID.contains(&name) && !source.text.contains("#![forbid(unsafe_code)]");
    missing.then(|| Finding::error(&source.path, "the crate's root lacks #![forbid(unsafe_code)]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(path: &str, text: &str) -> Vec<String> {
        check(&[Source::new(path, text)]).into_iter().map(|finding| finding.place).collect()
    }

    #[test]
    fn unsafe_outside_its_homes_is_found_with_its_line() {
        let text = "// unsafe\nfn f() {\n    unsafe { g() }\n}\n";
        assert_eq!(places("crates/pvm/src/send.rs", text), ["crates/pvm/src/send.rs:3"]);
        assert_eq!(places("crates/pvm/src/sys.rs", text), [""; 0]);
        assert_eq!(places("crates/pvm-shm/src/ring.rs", text), [""; 0]);
        assert_eq!(places("crates/pvmd/src/launch/child.rs", text), [""; 0]);
        assert_eq!(places("bindings/python/src/memory.rs", text), [""; 0]);
        assert_eq!(places("bindings/python/src/task.rs", text), ["bindings/python/src/task.rs:3"]);
    }

    #[test]
    fn a_clock_in_the_core_is_found() {
        assert_eq!(places("crates/pvm-core/src/hosts.rs", "use std::time::Instant;\n").len(), 1);
        assert_eq!(places("crates/pvmd/src/shell.rs", "use std::time::Instant;\n").len(), 0);
    }

    #[test]
    fn a_hashed_map_in_the_core_is_found() {
        assert_eq!(
            places("crates/pvm-core/src/hosts.rs", "use std::collections::HashMap;\n").len(),
            1
        );
    }

    #[test]
    fn an_atomic_outside_sync_is_found() {
        let text = "use std::sync::atomic::AtomicU32;\n";
        assert_eq!(places("crates/pvm-shm/src/ring.rs", text).len(), 1);
        assert_eq!(places("crates/pvm-shm/src/sync.rs", text).len(), 0);
    }

    #[test]
    fn a_root_without_the_forbid_line_is_found() {
        assert_eq!(places("crates/pvm-wire/src/lib.rs", "//! Text.\n").len(), 1);
        assert_eq!(places("crates/pvm-wire/src/lib.rs", "#![forbid(unsafe_code)]\n").len(), 0);
        assert_eq!(places("crates/pvm-shm/src/lib.rs", "//! Text.\n").len(), 0);
    }
}
