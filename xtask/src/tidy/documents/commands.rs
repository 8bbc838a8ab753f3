//! Commands that a page tells the reader to type exist: targets of `make`, chores of xtask,
//! packages and tests of cargo, subcommands of `pvm`, and the options of all.

use super::inventory::{Inventory, option_name};

/// Options of others' programs that pages name.
const FOREIGN: [&str; 3] = ["--enable-native-access", "--tool", "--sysroot"];

/// The faults of a text as a command; none if it is no command of ours.
pub(super) fn faults(text: &str, inventory: &Inventory<'_>) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let begin = words.iter().position(|word| !is_assignment(word)).unwrap_or(words.len());
    match &words[begin..] {
        ["make", rest @ ..] => make(rest, inventory),
        ["cargo", "xtask", chore, ..] => chore_fault(chore, inventory).into_iter().collect(),
        ["cargo", rest @ ..] => cargo(rest, inventory),
        ["pvm", rest @ ..] => pvm(rest, inventory),
        ["pvmd", rest @ ..] => pvmd(rest, inventory),
        [option, ..] if option.starts_with("--") => bare_option(option, inventory),
        _ => Vec::new(),
    }
}

/// `NAME=value` in front of a command.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    })
}

fn make(rest: &[&str], inventory: &Inventory<'_>) -> Vec<String> {
    // Other folders have Makefiles of their own.
    if rest.first() == Some(&"-C") {
        return Vec::new();
    }
    let Some(target) = rest.iter().find(|word| !word.contains('=') && !word.starts_with('-'))
    else {
        return Vec::new();
    };
    let placeholder = is_placeholder(target);
    let gone = !placeholder && !inventory.targets.contains(target);
    gone.then(|| format!("make {target}: the Makefile has no such target")).into_iter().collect()
}

fn is_placeholder(word: &str) -> bool {
    !word.chars().any(|c| c.is_ascii_lowercase())
}

fn chore_fault(chore: &str, inventory: &Inventory<'_>) -> Option<String> {
    let gone = !is_placeholder(chore) && !inventory.chores.contains(chore);
    gone.then(|| format!("cargo xtask {chore}: xtask has no such chore"))
}

fn cargo(rest: &[&str], inventory: &Inventory<'_>) -> Vec<String> {
    let behind = |flag: &'static str| {
        let pairs = rest.windows(2).take_while(|pair| pair[0] != "--");
        pairs.filter(move |pair| pair[0] == flag && !is_placeholder(pair[1])).map(|pair| pair[1])
    };
    let packages: Vec<&str> = behind("-p").chain(behind("--package")).collect();
    let gone = packages.iter().filter(|name| !inventory.has_crate(name));
    let mut faults: Vec<String> =
        gone.map(|name| format!("cargo -p {name}: no such crate")).collect();
    for (flag, folder) in [("--test", "tests"), ("--bin", "src/bin"), ("--example", "examples")] {
        let missing = behind(flag).filter(|name| !has_program(&packages, folder, name, inventory));
        faults.extend(missing.map(|name| format!("cargo {flag} {name}: no such file in {folder}")));
    }
    faults
}

/// Whether one of these packages, or any if none is named, has a test or program of this name.
fn has_program(packages: &[&str], folder: &str, name: &str, inventory: &Inventory<'_>) -> bool {
    let ends = [format!("/{folder}/{name}.rs"), format!("/{folder}/{name}/main.rs")];
    let declared = format!("name = \"{name}\"");
    let mut begins: Vec<String> = packages.iter().map(|name| format!("crates/{name}/")).collect();
    if begins.is_empty() {
        begins.push("crates/".to_owned());
    }
    begins.iter().any(|begin| {
        let mut files = inventory.files.iter().filter(|file| file.starts_with(begin));
        let there = files.any(|file| ends.iter().any(|end| file.ends_with(end)));
        there || inventory.code_below(begin).any(|text| text.contains(&declared))
    })
}

fn pvm(rest: &[&str], inventory: &Inventory<'_>) -> Vec<String> {
    let Some((command, rest)) = rest.split_first() else { return Vec::new() };
    let word = command.chars().all(|c| c.is_ascii_lowercase()) && !command.is_empty();
    if !word {
        return Vec::new();
    }
    let inner = rest.first().map(|inner| format!("{command} {inner}"));
    let inner = inner.and_then(|both| inventory.commands.get(&both));
    let Some(options) = inner.or_else(|| inventory.commands.get(*command)) else {
        return vec![format!("pvm {command}: pvm has no such command")];
    };
    let own = rest.iter().take_while(|word| *command != "run" || word.starts_with('-'));
    let named = own.filter(|word| word.starts_with("--")).map(|word| long_name(word));
    let gone = named.filter(|name| name != "--" && !options.contains(name));
    gone.map(|name| format!("pvm {command} {name}: no such option")).collect()
}

fn pvmd(rest: &[&str], inventory: &Inventory<'_>) -> Vec<String> {
    let named = rest.iter().filter(|word| word.starts_with("--")).map(|word| long_name(word));
    let gone = named.filter(|name| !inventory.daemon_options.contains(name));
    gone.map(|name| format!("pvmd {name}: no such option")).collect()
}

fn bare_option(option: &str, inventory: &Inventory<'_>) -> Vec<String> {
    let name = long_name(option);
    let known = inventory.options.contains(&name) || FOREIGN.contains(&name.as_str());
    if known || name == "--" {
        Vec::new()
    } else {
        vec![format!("{name}: no program has this option")]
    }
}

fn long_name(word: &str) -> String {
    format!("--{}", option_name(word.trim_start_matches("--")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    fn lies(text: &str) -> usize {
        let options = "enum Command {\n    Up(UpOptions),\n    Run(RunOptions),\n}\nstruct \
                       UpOptions {\n    #[arg(long)]\n\
                       \x20   pub(crate) json: bool,\n}\nstruct RunOptions {\n}\n";
        let sources = [
            Source::new("Makefile", "lint: ## look\n"),
            Source::new(
                "xtask/src/main.rs",
                "usage: cargo xtask CHORE\n\n  tidy  the house\n\";\n",
            ),
            Source::new("crates/pvm-cli/src/options.rs", options),
            Source::new("crates/pvmd/src/config.rs", "\"--join\" => x,"),
            Source::new("crates/pvm-sim/tests/scripts.rs", ""),
        ];
        faults(text, &Inventory::of(&sources)).len()
    }

    #[test]
    fn commands_that_exist_may_be_named() {
        for right in [
            "make",
            "make lint FAST=1",
            "make -C examples all",
            "cargo xtask tidy",
            "A_B=1 cargo test -p pvm-sim --test scripts -- --nocapture",
            "pvm up --json",
            "pvm run prog --its-own",
            "pvm COMMAND",
            "pvmd --join ADDRESS",
            "--json",
            "bash --anything",
        ] {
            assert_eq!(lies(right), 0, "{right}");
        }
    }

    #[test]
    fn commands_that_do_not_exist_are_named() {
        for wrong in [
            "make believe",
            "cargo xtask lint",
            "cargo test -p pvm-none",
            "cargo test -p pvm-sim --test crowds",
            "cargo test -p pvm-sim --test scripts --test more",
            "pvm fly",
            "pvm up --jsn",
            "pvm run --bogus prog",
            "pvmd --token",
            "--nothing",
        ] {
            assert_eq!(lies(wrong), 1, "{wrong}");
        }
    }
}
