//! Files, folders, crates and modules that a page names are there.
//!
//! A path may begin at the root, at the page's own folder, at a crate (`pvm-core/machine` is the
//! module) or in the middle (`machine/opinion.rs`). `*` and words in capitals stand for anything.

use super::inventory::Inventory;

/// Endings by which a word without a slash is known as a file of ours.
const ENDINGS: [&str; 9] = [".rs", ".c", ".h", ".f", ".f90", ".py", ".java", ".sh", ".md"];

/// First parts of paths that lie below an installation, a build or a system, and not in the
/// workspace.
const ELSEWHERE: [&str; 12] = [
    "bin", "lib", "share", "conf", "target", "META-INF", "usr", "tmp", "etc", "proc", "dev", "var",
];

/// Folders of the workspace that runs fill.
const MADE: [&str; 2] = ["fuzz/corpus", "fuzz/artifacts"];

/// Names of others that look like ours: a package of Debian's.
const FOREIGN: [&str; 1] = ["pvm-dev"];

/// The faults of a text in backticks as a path; none if it is no path.
pub(super) fn faults(text: &str, page: &str, inventory: &Inventory<'_>) -> Vec<String> {
    let command = text.contains(' ');
    let words = text.split(' ').filter(|word| !command || is_file(word) && word.contains('/'));
    let names = words.flat_map(|word| alternatives(word.trim_end_matches('/')));
    let missing = names.filter(|name| is_place(name) && !exists(name, page, inventory));
    missing.map(|name| format!("{name} is not there")).collect()
}

/// As `faults`, for a word of plain prose, of which only crates' modules and, in ARCHITECTURE, all
/// paths count.
pub(super) fn bare_faults(word: &str, page: &str, inventory: &Inventory<'_>) -> Vec<String> {
    let Some((first, _)) = word.split_once('/') else { return Vec::new() };
    let of_crate = inventory.has_crate(first) || inventory.has_crate(&format!("pvm-{first}"));
    let counts = of_crate || page == "ARCHITECTURE.md";
    if counts { faults(word, page, inventory) } else { Vec::new() }
}

/// `a/{b,c}.rs` is `a/b.rs` and `a/c.rs`.
fn alternatives(word: &str) -> Vec<String> {
    let parts = word.split_once('{').and_then(|(before, rest)| {
        let (inside, after) = rest.split_once('}')?;
        Some((before, inside, after))
    });
    match parts {
        Some((before, inside, after)) if inside.contains(',') => {
            inside.split(',').map(|part| format!("{before}{part}{after}")).collect()
        }
        _ => vec![word.to_owned()],
    }
}

fn is_file(word: &str) -> bool {
    ENDINGS.iter().any(|ending| word.ends_with(ending))
}

/// Whether a word can be nothing but the name of a place of ours.
fn is_place(word: &str) -> bool {
    let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./*".contains(c));
    let first = word.split('/').next().unwrap_or(word);
    let begins = word.starts_with(|c: char| c.is_ascii_alphanumeric()) || word.starts_with(".ci");
    let stands = first == "*" || first.chars().any(|c| c.is_ascii_lowercase());
    let short = word.len() <= 3;
    let named = word.contains('/') || is_file(word) || is_crate_name(word);
    plain && begins && stands && !short && named && !ELSEWHERE.contains(&first)
}

/// Names such as `pvm-core`: only crates of ours and man pages are called so.
fn is_crate_name(word: &str) -> bool {
    let rest = word.strip_prefix("pvm-").unwrap_or("");
    !rest.is_empty() && rest.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
}

fn exists(name: &str, page: &str, inventory: &Inventory<'_>) -> bool {
    if FOREIGN.contains(&name) || MADE.iter().any(|folder| name.starts_with(folder)) {
        return true;
    }
    if is_crate_name(name) {
        let command = name.trim_start_matches("pvm-");
        return inventory.has_crate(name) || inventory.commands.contains_key(command);
    }
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let near = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    let (first, rest) = name.split_once('/').unwrap_or(("", name));
    let crates = [first.to_owned(), format!("pvm-{first}")];
    match crates.iter().find(|name| inventory.has_crate(name)) {
        Some(name) => in_crate(name, rest, inventory) || there(&near, inventory),
        None => there(name, inventory) || there(&near, inventory) || ends_one(name, inventory),
    }
}

fn in_crate(name: &str, rest: &str, inventory: &Inventory<'_>) -> bool {
    let root = if name == "xtask" { name.to_owned() } else { format!("crates/{name}") };
    let places = [format!("{root}/{rest}"), format!("{root}/src/{rest}")];
    places.iter().any(|place| there(place, inventory))
}

/// Whether a path is one of a file, a module's file or a folder.
fn there(path: &str, inventory: &Inventory<'_>) -> bool {
    let module = format!("{path}.rs");
    if inventory.has(path) || inventory.has(&module) {
        return true;
    }
    let wild = is_wild(path);
    wild && inventory.files.iter().chain(&inventory.folders).any(|file| fits(path, file))
}

/// Whether some file or folder ends with these parts.
fn ends_one(name: &str, inventory: &Inventory<'_>) -> bool {
    let plain = [format!("/{name}"), format!("/{name}.rs")];
    let wild = is_wild(name);
    let parts = name.split('/').count();
    inventory.files.iter().chain(&inventory.folders).any(|file| {
        plain.iter().any(|end| file.ends_with(end)) || wild && fits(name, last_parts(file, parts))
    })
}

fn last_parts(file: &str, count: usize) -> &str {
    let cut = file.rmatch_indices('/').nth(count - 1);
    cut.map_or(file, |(at, _)| &file[at + 1..])
}

fn is_wild(path: &str) -> bool {
    path.contains('*') || path.split('/').any(|part| stands_for_any(stem(part)))
}

fn stem(part: &str) -> &str {
    part.split('.').next().unwrap_or(part)
}

fn stands_for_any(stem: &str) -> bool {
    stem.len() > 1 && stem.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

/// Whether a path fits a pattern, part by part.
fn fits(pattern: &str, path: &str) -> bool {
    let (mut wanted, mut parts) = (pattern.split('/'), path.split('/'));
    loop {
        match (wanted.next(), parts.next()) {
            (None, None) => return true,
            (Some(wanted), Some(part)) if part_fits(wanted, part) => {}
            _ => return false,
        }
    }
}

fn part_fits(wanted: &str, part: &str) -> bool {
    if stands_for_any(stem(wanted)) && wanted != part {
        return part_fits(&wanted.replacen(stem(wanted), "*", 1), part);
    }
    match wanted.split_once('*') {
        Some((before, after)) => {
            let enough = part.len() >= before.len() + after.len();
            enough && part.starts_with(before) && part.ends_with(after)
        }
        None => wanted == part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    const THERE: [&str; 6] = [
        "crates/pvm-core/src/machine/opinion.rs",
        "crates/pvm-core/tests/restore.rs",
        "crates/pvm/src/route.rs",
        "conformance/c/causes.c",
        "doc/adr/0004-keys.md",
        "doc/wire.md",
    ];

    fn missing(text: &str) -> bool {
        let sources = THERE.map(|path| Source::new(path, ""));
        !faults(text, "doc/a.md", &Inventory::of(&sources)).is_empty()
    }

    #[test]
    fn what_is_there_is_found_from_every_side() {
        for there in [
            "crates/pvm-core/src/machine/opinion.rs",
            "pvm-core/machine/opinion",
            "pvm-core/tests/restore.rs",
            "core/machine/opinion",
            "machine/opinion",
            "opinion.rs",
            "pvm/route",
            "wire.md",
            "machine/*",
            "c/NAME.c",
            "doc/adr/*",
            "conformance/",
            "crates/{pvm,pvm-core}",
            "pvm-core",
        ] {
            assert!(!missing(there), "{there}");
        }
    }

    #[test]
    fn what_is_not_there_is_named() {
        for gone in [
            "crates/pvm-core/src/machine/view.rs",
            "pvm/send",
            "pvm/router",
            "machine/view",
            "core/route",
            "sending.rs",
            "pvm-predict",
            "crates/{pvm,pvm-x}",
            "bash conformance/none.sh all",
            "route/*",
        ] {
            assert!(missing(gone), "{gone}");
        }
    }

    #[test]
    fn what_is_no_place_of_ours_is_left_alone() {
        for other in [
            "b/a",
            "104/R,c",
            "lib/pvmd",
            "/tmp/x",
            "PREFIX/share/x.jar",
            "a | b/c",
            "~/.ssh/config",
        ] {
            assert!(!missing(other), "{other}");
        }
    }

    #[test]
    fn plain_words_with_a_slash_count_where_they_name_a_crate() {
        let sources = THERE.map(|path| Source::new(path, ""));
        let inventory = Inventory::of(&sources);
        assert!(bare_faults("and/or", "doc/a.md", &inventory).is_empty());
        assert_eq!(bare_faults("pvm/send", "doc/a.md", &inventory).len(), 1);
        assert_eq!(bare_faults("route/shm", "ARCHITECTURE.md", &inventory).len(), 1);
    }
}
