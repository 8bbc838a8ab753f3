//! Rust paths and long identifiers that a page names are in the code.

use super::inventory::Inventory;
use crate::source::is_word;

/// The faults of a text in backticks as a name of the code; none if it is no such name.
pub(super) fn faults(text: &str, inventory: &Inventory<'_>) -> Vec<String> {
    if let Some(parts) = rust_path(text) {
        return path_fault(text, &parts, inventory).into_iter().collect();
    }
    let gone = is_identifier_of_ours(text) && !inventory.words.contains(text);
    gone.then(|| format!("{text} is not in the code")).into_iter().collect()
}

/// The parts of `a::b::c`, arguments left out; `None` for anything else.
fn rust_path(text: &str) -> Option<Vec<&str>> {
    let text = text.split('(').next().unwrap_or(text);
    let parts: Vec<&str> = text.split("::").collect();
    let plain = |part: &&str| !part.is_empty() && part.chars().all(is_word);
    (parts.len() > 1 && parts.iter().all(plain)).then_some(parts)
}

fn path_fault(text: &str, parts: &[&str], inventory: &Inventory<'_>) -> Option<String> {
    let name = parts[0].replace('_', "-");
    let (folder, inside) = if inventory.has_crate(&name) {
        (format!("crates/{name}/"), &parts[1..])
    } else {
        (String::new(), parts)
    };
    let texts: Vec<&str> = inventory.code_below(&folder).collect();
    let gone = inside.iter().find(|part| !texts.iter().any(|text| declares(text, part)))?;
    // `std::fs` and the like: the first part is nothing of ours.
    let foreign = folder.is_empty() && **gone == *inside[0] && gone.starts_with(char::is_lowercase);
    (!foreign).then(|| format!("{text}: no {gone} is declared in the code"))
}

/// Whether a text declares a name: behind a keyword, or as a variant at the beginning of a line.
fn declares(text: &str, name: &str) -> bool {
    const KEYWORDS: [&str; 11] = [
        "fn ",
        "struct ",
        "enum ",
        "trait ",
        "mod ",
        "const ",
        "type ",
        "class ",
        "static ",
        "interface ",
        "use ",
    ];
    text.match_indices(name).any(|(at, _)| {
        let after = text[at + name.len()..].chars().next();
        let before = &text[..at];
        let line = before.rsplit('\n').next().unwrap_or(before);
        let keyword =
            KEYWORDS.iter().any(|word| before.ends_with(word)) || line.contains("pub use ");
        let variant =
            !line.is_empty() && line.trim().is_empty() && name.starts_with(char::is_uppercase);
        !after.is_some_and(is_word) && (keyword || variant)
    })
}

/// Names of the kernel and of others that pages speak of.
const FOREIGN: [&str; 2] = ["process_vm_readv", "memfd_secret"];

/// Names that the code must have: words with an underscore in them, but those of constants only
/// where they are ours.
fn is_identifier_of_ours(text: &str) -> bool {
    const BEGINNINGS: [&str; 2] = ["PVM_", "NEOPVM_"];
    let inside = text.trim_matches('_');
    let word = inside.contains('_') && text.chars().all(is_word) && inside.len() == text.len();
    let constant = !text.contains(char::is_lowercase);
    let ours = BEGINNINGS.iter().any(|begin| text.starts_with(begin)) || !constant;
    word && ours && !FOREIGN.contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    const CODE: &str = "pub enum Scene {\n    Two,\n}\nimpl Gate {\n    pub fn enter(&self) {}\n}\n\
                        mod quorum {}\nstruct Gate;\n\
                        fn a_test_of_many_words() {}\nconst X: &str = \"NEOPVM_LONG\";\n";

    fn lie(text: &str) -> bool {
        let sources = [Source::new("crates/pvm-core/src/lib.rs", CODE)];
        !faults(text, &Inventory::of(&sources)).is_empty()
    }

    #[test]
    fn what_is_declared_may_be_named() {
        for right in [
            "Scene::Two",
            "Gate::enter()",
            "pvm_core::quorum",
            "a_test_of_many_words",
            "NEOPVM_LONG",
            "std::fs",
        ] {
            assert!(!lie(right), "{right}");
        }
    }

    #[test]
    fn what_nothing_declares_is_named() {
        for wrong in [
            "Scene::Three",
            "Gate::leave",
            "pvm_core::order",
            "a_test_of_other_words",
            "NEOPVM_SHORT",
            "pvm_fly",
        ] {
            assert!(lie(wrong), "{wrong}");
        }
    }
}
