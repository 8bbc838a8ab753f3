//! Names and sizes: files that would become a drawer for everything, types that say nothing, texts
//! that only make sense on one computer, links that lead nowhere, files that have grown too long.

use super::finding::Finding;
use crate::source::{Source, is_word};
use std::path::{Component, Path, PathBuf};

const REFUSED_FILES: [&str; 4] = ["mod.rs", "utils.rs", "util.rs", "common.rs"];
const REFUSED_IN_TYPES: [&str; 4] = ["Manager", "Helper", "Util", "Misc"];
/// Spelled in two parts, so that this file passes its own check.
const LEFT_UNDONE: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X:")];
const FILE_LINES_MAX: usize = 600;

/// Parents of a checkout that a text may well name.
const SHARED_PLACES: [&str; 8] =
    ["/", "/tmp", "/var/tmp", "/root", "/home", "/usr/src", "/usr/local/src", "/opt"];

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources {
        if source.is_rust() {
            findings.extend(check_file_name(source));
            findings.extend(check_type_names(source));
            findings.extend(check_size(source));
        }
        findings.extend(check_left_undone(source));
        if source.path.ends_with(".md") {
            findings.extend(check_links(source, sources));
        }
    }
    findings
}

/// No text may name the place where this checkout happens to lie.
pub(crate) fn check_places(sources: &[Source], root: &Path) -> Vec<Finding> {
    let mut places = vec![root.to_path_buf()];
    places.extend(
        root.parent()
            .filter(|p| !SHARED_PLACES.iter().any(|s| Path::new(s) == *p))
            .map(PathBuf::from),
    );
    let mut findings = Vec::new();
    for place in places.iter().map(|place| format!("{}/", place.display())) {
        for source in sources {
            if let Some(line) = source.text.lines().position(|line| line.contains(&place)) {
                let what = format!("names {place}, which exists on this computer only");
                findings.push(Finding::error(format!("{}:{}", source.path, line + 1), what));
            }
        }
    }
    findings
}

fn check_file_name(source: &Source) -> Option<Finding> {
    let name = source.path.rsplit('/').next().unwrap_or(&source.path);
    let refused = REFUSED_FILES.contains(&name);
    refused
        .then(|| Finding::error(&source.path, format!("{name}: name the file after what is in it")))
}

fn check_type_names(source: &Source) -> Vec<Finding> {
    let code = source.code();
    let mut findings = Vec::new();
    for (at, line) in code.lines().enumerate() {
        let words: Vec<&str> = line.split(|c| !is_word(c)).filter(|w| !w.is_empty()).collect();
        for pair in words.windows(2).filter(|p| ["struct", "enum", "trait", "type"].contains(&p[0]))
        {
            if let Some(refused) = REFUSED_IN_TYPES.iter().find(|r| pair[1].ends_with(**r)) {
                let what = format!("{}: {refused} says nothing about what it does", pair[1]);
                findings.push(Finding::error(format!("{}:{}", source.path, at + 1), what));
            }
        }
    }
    findings
}

fn check_size(source: &Source) -> Option<Finding> {
    let lines = source.code().lines().count();
    let long = lines > FILE_LINES_MAX && source.path.contains("/src/");
    long.then(|| {
        let what =
            format!("{lines} lines without tests, more than {FILE_LINES_MAX}: split by noun");
        Finding::warning(&source.path, what)
    })
}

fn check_left_undone(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, line) in source.text.lines().enumerate() {
        for mark in LEFT_UNDONE.iter().filter(|mark| line.contains(**mark)) {
            let what = format!("{mark}: do it or write down why not");
            findings.push(Finding::warning(format!("{}:{}", source.path, at + 1), what));
        }
    }
    findings
}

/// Links to files of the workspace must lead somewhere.
fn check_links(source: &Source, sources: &[Source]) -> Vec<Finding> {
    let folder = Path::new(&source.path).parent().unwrap_or_else(|| Path::new(""));
    let exists = |target: &str| {
        let wanted = plain(&folder.join(target)).to_string_lossy().into_owned();
        sources.iter().any(|s| s.path == wanted || s.path.starts_with(&format!("{wanted}/")))
    };
    let mut findings = Vec::new();
    for (at, line) in source.text.lines().enumerate() {
        for link in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or(link);
            let elsewhere = link.contains("://") || target.is_empty() || target.contains(' ');
            // Pictures are not read as text, so they are not in the list.
            if !elsewhere && !target.ends_with(".png") && !exists(target) {
                let place = format!("{}:{}", source.path, at + 1);
                findings
                    .push(Finding::error(place, format!("link to {target}, which is not there")));
            }
        }
    }
    findings
}

/// `a/./b/../c` becomes `a/c`.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::Normal(name) => out.push(name),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(path: &str, text: &str) -> Vec<Finding> {
        check(&[Source::new(path, text)])
    }

    #[test]
    fn a_drawer_for_everything_is_found() {
        assert_eq!(one("crates/pvm/src/utils.rs", "").len(), 1);
        assert_eq!(one("crates/pvm/src/route/mod.rs", "").len(), 1);
        assert_eq!(one("crates/pvm/src/router.rs", "").len(), 0);
    }

    #[test]
    fn a_type_that_says_nothing_is_found() {
        assert_eq!(one("crates/pvm/src/a.rs", "pub struct SlabManager {\n").len(), 1);
        assert_eq!(
            one("crates/pvm/src/a.rs", "// the struct SlabManager\nstruct Slab;\n").len(),
            0
        );
    }

    #[test]
    fn a_long_file_is_a_warning_and_its_tests_do_not_count() {
        let long = "fn f() {}\n".repeat(FILE_LINES_MAX + 1);
        let found = one("crates/pvm/src/a.rs", &long);
        assert!(found.len() == 1 && found[0].warning);
        let tested = format!("#[cfg(test)]\nmod tests {{\n{long}}}\n");
        assert_eq!(one("crates/pvm/src/a.rs", &tested).len(), 0);
    }

    #[test]
    fn work_left_undone_is_a_warning() {
        let text = format!("// {} later\n", LEFT_UNDONE[0]);
        assert!(one("crates/pvm/src/a.rs", &text)[0].warning);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let page =
            Source::new("doc/a.md", "[b](b.md#part) [c](../c.md) [web](https://example.org/x)\n");
        let both = [page, Source::new("c.md", "")];
        let found = check(&both);
        assert_eq!(found.len(), 1);
        assert!(found[0].what.contains("b.md"));
    }

    #[test]
    fn the_place_of_the_checkout_is_found() {
        let sources = [Source::new("doc/a.md", "fine\nsee /srv/people/me/neopvm/doc\n")];
        let found = check_places(&sources, Path::new("/srv/people/me/neopvm"));
        assert!(found.iter().all(|f| f.place == "doc/a.md:2"));
        assert_eq!(found.len(), 2);
        assert_eq!(check_places(&sources, Path::new("/tmp/neopvm")).len(), 0);
    }
}
