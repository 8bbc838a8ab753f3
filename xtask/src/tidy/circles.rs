//! No import circles: inside a crate, no file imports a file that imports it back, directly or
//! round a corner.
//!
//! An import is a path that starts with `crate::`, `super::`, `self::` or the name of a child
//! module, in a `use` or in the middle of a line. It counts for the file that the longest part of
//! the path names as a module, so `crate::tid::Tid` is an import of `tid.rs`; so is `crate::Tid` if
//! the root says `pub use tid::Tid`.

use super::finding::Finding;
use crate::source::{Source, is_word};
use std::collections::{BTreeMap, BTreeSet};

/// A module is named by its path from the crate's root: `["route", "shm"]`; the root is empty.
type Module = Vec<String>;
type Graph = BTreeMap<Module, BTreeSet<Module>>;
/// The origin of each name that a module passes on (`pub use`).
type PassedOn = BTreeMap<(Module, String), Module>;

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut roots: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in sources.iter().filter(|s| s.is_rust()) {
        if let Some((root, _)) = source.path.split_once("/src/") {
            roots.entry(root).or_default().push(source);
        }
    }
    roots.iter().flat_map(|(root, files)| check_crate(root, files)).collect()
}

fn check_crate(root: &str, files: &[&Source]) -> Vec<Finding> {
    let modules: BTreeSet<Module> = files.iter().map(|file| module_of(&file.path)).collect();
    let texts: Vec<(Module, String)> =
        files.iter().map(|f| (module_of(&f.path), f.code())).collect();
    let passed_on: PassedOn =
        texts.iter().flat_map(|(module, code)| passed_on_by(module, code, &modules)).collect();
    let mut graph = Graph::new();
    for (module, code) in &texts {
        let imports = imports_of(code, module, &modules, &passed_on);
        graph.entry(module.clone()).or_default().extend(imports);
    }
    let circles = graph.keys().filter_map(|start| circle_through(&graph, start));
    let mut seen = BTreeSet::new();
    let new = circles.filter(|circle| seen.insert(circle.iter().cloned().collect::<BTreeSet<_>>()));
    new.map(|circle| {
        let names: Vec<String> = circle.iter().map(|module| name_of(module)).collect();
        Finding::error(format!("{root}/src"), format!("import circle: {}", names.join(" -> ")))
    })
    .collect()
}

fn module_of(path: &str) -> Module {
    let inside = path.split_once("/src/").map_or(path, |(_, inside)| inside);
    let stem = inside.trim_end_matches(".rs").trim_end_matches("/mod");
    match stem {
        "lib" | "main" => Vec::new(),
        // A further program of the crate stands for itself.
        _ => stem.split('/').map(str::to_owned).collect(),
    }
}

fn name_of(module: &[String]) -> String {
    if module.is_empty() { "the root".to_owned() } else { module.join("/") }
}

/// The modules that `code`, the text of `module`, imports.
fn imports_of(
    code: &str,
    module: &Module,
    modules: &BTreeSet<Module>,
    passed_on: &PassedOn,
) -> BTreeSet<Module> {
    let mut imports = BTreeSet::new();
    for (base, path) in paths_in(code, module, modules) {
        if let Some((found, item)) = resolve(&base, &path, modules) {
            let origin = item.and_then(|item| passed_on.get(&(found.clone(), item)));
            imports.insert(origin.cloned().unwrap_or(found));
        }
    }
    imports.remove(module);
    imports
}

/// The names that `module` passes on, and the module each is taken from.
fn passed_on_by(module: &Module, code: &str, modules: &BTreeSet<Module>) -> PassedOn {
    let statements = code.match_indices("pub").filter_map(|(at, _)| {
        let statement = &code[at..at + code[at..].find(';')?];
        let (before, paths) = statement.split_once(" use ")?;
        (!before.contains(['{', '}', ' '])).then_some(paths)
    });
    let mut names = PassedOn::new();
    for (base, path) in statements.flat_map(|paths| paths_in(paths, module, modules)) {
        if let Some((from, Some(item))) = resolve(&base, &path, modules) {
            names.insert((module.clone(), item), from);
        }
    }
    names
}

/// Every path in `code` that leads into the crate, as where it starts from and the words that
/// follow.
fn paths_in(code: &str, module: &Module, modules: &BTreeSet<Module>) -> Vec<(Module, Vec<String>)> {
    let mut found = Vec::new();
    for (at, first) in path_starts(code) {
        if let Some(base) = base_of(first, module, modules) {
            let mut paths = Vec::new();
            expand(&code[at + first.len()..], &[], &mut paths);
            found.extend(paths.into_iter().map(|path| (base.clone(), path)));
        }
    }
    found
}

/// Every word that is followed by `::` and does not follow one. `$crate`, which a macro writes into
/// the files of others, is none.
fn path_starts(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.match_indices("::").filter_map(|(at, _)| {
        let before = &code[..at];
        let start = before.rfind(|c: char| !is_word(c)).map_or(0, |i| i + 1);
        let word = &before[start..];
        let continues = before[..start].ends_with("::") || before[..start].ends_with('$');
        (!word.is_empty() && !continues).then_some((start, word))
    })
}

/// The module at which a path that begins with `first` starts; `None` if it is not a path inside
/// the crate.
fn base_of(first: &str, module: &Module, modules: &BTreeSet<Module>) -> Option<Module> {
    match first {
        "crate" => Some(Vec::new()),
        "self" => Some(module.clone()),
        "super" => module.split_last().map(|(_, parent)| parent.to_vec()),
        _ => {
            let mut child = module.clone();
            child.push(first.to_owned());
            modules.contains(&child).then_some(child)
        }
    }
}

/// Reads `::a::{b, c::d}` at the start of `rest` into the paths `[a, b]` and `[a, c, d]`; returns
/// what follows.
fn expand<'a>(rest: &'a str, before: &[String], paths: &mut Vec<Vec<String>>) -> &'a str {
    let mut path = before.to_vec();
    let mut rest = rest.trim_start();
    while let Some(after) = rest.strip_prefix("::") {
        rest = after.trim_start();
        if let Some(mut group) = rest.strip_prefix('{') {
            loop {
                // Behind the last comma of a list there may be nothing.
                if let Some(after) = group.trim_start().strip_prefix('}') {
                    return after;
                }
                let (word, after) = split_word(group.trim_start());
                let mut inner = path.clone();
                inner.extend((!word.is_empty()).then(|| word.to_owned()));
                group = expand(after, &inner, paths);
                match group.find([',', '}', '{', ';']) {
                    Some(at) if group[at..].starts_with(',') => group = &group[at + 1..],
                    Some(at) => return &group[at + 1..],
                    None => return group,
                }
            }
        }
        let (word, after) = split_word(rest);
        path.push(word.to_owned());
        rest = after;
    }
    // `crate::mark!(..)` names an exported macro, which belongs to no file.
    if !rest.starts_with('!') {
        paths.push(path);
    }
    rest
}

fn split_word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !is_word(c)).unwrap_or(text.len()))
}

/// The longest module that `path`, taken from `base`, goes through, and the name that comes after
/// it.
fn resolve(
    base: &Module,
    path: &[String],
    modules: &BTreeSet<Module>,
) -> Option<(Module, Option<String>)> {
    let mut here = base.clone();
    let mut item = None;
    for word in path {
        match word.as_str() {
            "self" => {}
            "super" => {
                here.pop();
            }
            _ => {
                here.push(word.clone());
                if !modules.contains(&here) {
                    item = here.pop();
                    break;
                }
            }
        }
    }
    modules.contains(&here).then_some((here, item))
}

/// A shortest way from `start` back to `start`.
fn circle_through(graph: &Graph, start: &Module) -> Option<Vec<Module>> {
    let mut ways = vec![vec![start.clone()]];
    let mut seen = BTreeSet::new();
    let mut next = 0;
    while next < ways.len() {
        let way = ways[next].clone();
        next += 1;
        for to in graph.get(way.last()?).into_iter().flatten() {
            let mut longer = way.clone();
            longer.push(to.clone());
            if to == start {
                return Some(longer);
            }
            if seen.insert(to.clone()) {
                ways.push(longer);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files
            .iter()
            .map(|(path, text)| Source::new(format!("crates/x/src/{path}"), *text))
            .collect();
        check(&sources).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_tree_has_no_circle() {
        let files = [
            ("lib.rs", "pub mod a;\npub mod b;\npub use a::A;\n"),
            ("a.rs", "use crate::b::{self, B};\n"),
            ("b.rs", "use std::fmt; // crate::a::A\n"),
        ];
        assert_eq!(circles(&files), [""; 0]);
    }

    #[test]
    fn a_direct_circle_is_found_once() {
        let files = [("a.rs", "use crate::b::B;"), ("b.rs", "fn f() { crate::a::g() }")];
        assert_eq!(circles(&files), ["import circle: a -> b -> a"]);
    }

    #[test]
    fn a_list_over_two_lines_was_an_import_of_the_root() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\npub use a::A;\n"),
            ("a.rs", "use crate::{\n    b::B,\n};"),
        ];
        assert_eq!(circles(&[files[0], files[1], ("b.rs", "")]), [""; 0]);
    }

    #[test]
    fn a_circle_round_a_corner_is_found() {
        let files = [
            ("a.rs", "use crate::{b::B, c::{self}};"),
            ("b.rs", "use super::c;\nfn f() { super::d::g(); }"),
            ("d.rs", "use crate::{\n    a,\n};\nfn f<T:crate::c::C>() {}"),
            ("c.rs", ""),
        ];
        assert_eq!(circles(&files), ["import circle: a -> b -> d -> a"]);
    }

    #[test]
    fn a_child_that_uses_its_parent_which_uses_it_is_a_circle() {
        let files =
            [("route.rs", "mod shm;\nuse shm::Shm;"), ("route/shm.rs", "use super::Route;")];
        assert_eq!(circles(&files), ["import circle: route -> route/shm -> route"]);
        let files = [("route.rs", "mod shm;\n"), ("route/shm.rs", "use super::Route;")];
        assert_eq!(circles(&files), [""; 0]);
    }

    #[test]
    fn a_name_that_the_root_passes_on_counts_for_the_file_it_comes_from() {
        let root = ("lib.rs", "mod a;\nmod b;\npub use a::{A, C};\npub(crate) use b::B;\n");
        let files = [root, ("a.rs", "pub struct A;"), ("b.rs", "use crate::A;")];
        assert_eq!(circles(&files), [""; 0]);
        let files = [root, ("a.rs", "use crate::B;"), ("b.rs", "use crate::A;")];
        assert_eq!(circles(&files), ["import circle: a -> b -> a"]);
    }

    #[test]
    fn an_item_that_lives_in_the_root_counts_for_the_root() {
        let root = ("lib.rs", "mod a;\npub use crate::a::A;\npub struct Error;");
        assert_eq!(circles(&[root, ("a.rs", "use crate::Error;")]).len(), 1);
        assert_eq!(circles(&[root, ("a.rs", "crate::mark!(seen); $crate::Error")]), [""; 0]);
    }
}
