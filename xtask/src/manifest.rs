//! The packages of this repository, as far as their Cargo.toml files tell: name, folder, and what
//! they depend on.

use crate::source::Source;
use std::collections::{BTreeMap, BTreeSet};

/// The name of the package of a Cargo.toml; a workspace has none.
pub(crate) fn package_name(manifest: &str) -> Option<&str> {
    let line = manifest.lines().find(|line| line.starts_with("name = "))?;
    line.split('"').nth(1)
}

/// The names under every kind of dependency table, development ones included.
pub(crate) fn dependencies(manifest: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            inside = header.ends_with("dependencies");
            if let Some((_, name)) = header.rsplit_once("dependencies.") {
                names.push(name);
            }
        } else if inside && !line.starts_with('#') {
            names.extend(line.split(['.', '=', ' ']).next().filter(|name| !name.is_empty()));
        }
    }
    names
}

/// Every package here, those outside of the workspace included.
pub(crate) struct Packages {
    /// By name: the folder, and all that the package depends on, directly or not.
    all: BTreeMap<String, (String, BTreeSet<String>)>,
}

impl Packages {
    pub(crate) fn new(sources: &[Source]) -> Self {
        let direct: BTreeMap<&str, (&str, Vec<&str>)> = sources
            .iter()
            .filter_map(|source| {
                let folder = source.path.strip_suffix("/Cargo.toml")?;
                Some((package_name(&source.text)?, (folder, dependencies(&source.text))))
            })
            .collect();
        let closed = |name: &str| {
            let mut found = BTreeSet::new();
            let mut open = vec![name];
            while let Some(name) = open.pop() {
                let Some((_, dependencies)) = direct.get(name) else { continue };
                let new = dependencies.iter().filter(|one| found.insert((**one).to_owned()));
                open.extend(new);
            }
            found
        };
        let entry = |(name, (folder, _)): (&&str, &(&str, Vec<&str>))| {
            ((*name).to_owned(), ((*folder).to_owned(), closed(name)))
        };
        Self { all: direct.iter().map(entry).collect() }
    }

    /// The package in whose folder a file lies.
    pub(crate) fn owner(&self, file: &str) -> Option<&str> {
        let holds =
            |folder: &str| file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let owners = self.all.iter().filter(|(_, (folder, _))| holds(folder));
        owners.max_by_key(|(_, (folder, _))| folder.len()).map(|(name, _)| name.as_str())
    }

    /// Whether a package is the other one or depends on it, for its tests at least.
    pub(crate) fn uses(&self, package: &str, other: &str) -> bool {
        package == other || self.all.get(package).is_some_and(|(_, uses)| uses.contains(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_use_what_their_dependencies_use() {
        let package = |folder: &str, name: &str, tables: &str| {
            let text = format!("[package]\nname = \"{name}\"\n{tables}");
            Source::new(format!("{folder}/Cargo.toml"), text)
        };
        let packages = Packages::new(&[
            package("crates/low", "low", "[dependencies]\nserde = \"1\"\n"),
            package("crates/middle", "middle", "[dev-dependencies]\nlow.workspace = true\n"),
            package("bindings/high", "high", "[dependencies.middle]\npath = \"x\"\n"),
            Source::new("Cargo.toml", "[workspace]\n"),
        ]);
        assert!(packages.uses("high", "low") && packages.uses("low", "low"));
        assert!(!packages.uses("low", "middle"));
        assert_eq!(packages.owner("crates/low/src/lib.rs"), Some("low"));
        assert_eq!(packages.owner("crates/lower/src/lib.rs"), None);
        assert_eq!(packages.owner("Makefile"), None);
    }
}
