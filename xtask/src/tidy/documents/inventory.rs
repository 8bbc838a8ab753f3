//! Everything that exists: files, folders and words of the code, and the options of commands.

use super::super::finding::Finding;
use crate::source::{Source, is_word};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Endings of files whose words count as words of the code.
const CODE: [&str; 12] =
    [".rs", ".c", ".h", ".f", ".f90", ".py", ".java", ".sh", ".toml", "Makefile", ".def", ".map"];

const MAKEFILE: &str = "Makefile";
const XTASK: &str = "xtask/src/main.rs";
const PVM: &str = "crates/pvm-cli/src/options";
const PVMD: &str = "crates/pvmd/src/config.rs";

/// The names that documents may use.
pub(super) struct Inventory<'a> {
    pub(super) files: BTreeSet<&'a str>,
    pub(super) folders: BTreeSet<&'a str>,
    /// Every identifier in the code, comments included.
    pub(super) words: HashSet<&'a str>,
    pub(super) targets: BTreeSet<&'a str>,
    pub(super) chores: BTreeSet<&'a str>,
    /// The subcommands of `pvm`, each with its options.
    pub(super) commands: BTreeMap<String, BTreeSet<String>>,
    pub(super) daemon_options: BTreeSet<String>,
    /// Those of them that `pvmd --help` shows.
    pub(super) daemon_usage: BTreeSet<String>,
    /// Every `--option` that stands anywhere in the code.
    pub(super) options: BTreeSet<String>,
    code: Vec<&'a Source>,
}

impl<'a> Inventory<'a> {
    pub(super) fn of(sources: &'a [Source]) -> Self {
        let files: BTreeSet<&str> = sources.iter().map(|source| source.path.as_str()).collect();
        let code: Vec<&Source> = sources.iter().filter(|source| is_code(&source.path)).collect();
        let text = |path: &str| {
            sources.iter().find(|source| source.path == path).map_or("", |source| &source.text)
        };
        let commands = commands_of(sources);
        let mut options: BTreeSet<String> =
            code.iter().flat_map(|source| options_in(&source.text)).collect();
        options.extend(commands.values().flatten().cloned());
        Self {
            folders: files.iter().flat_map(|file| folders_of(file)).collect(),
            words: code.iter().flat_map(|source| words_of(&source.text)).collect(),
            targets: targets_of(text(MAKEFILE)),
            chores: chores_of(text(XTASK)),
            daemon_options: options_in(text(PVMD)).collect(),
            daemon_usage: options_in(usage_of(text(PVMD))).collect(),
            files,
            commands,
            options,
            code,
        }
    }

    /// Whether a crate of this name is in the workspace.
    pub(super) fn has_crate(&self, name: &str) -> bool {
        name == "xtask" || self.folders.contains(format!("crates/{name}").as_str())
    }

    /// Whether a file or folder has exactly this path.
    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains(path) || self.folders.contains(path)
    }

    /// The texts of the code below a folder, or of all code.
    pub(super) fn code_below(&self, folder: &str) -> impl Iterator<Item = &'a str> {
        let below = move |source: &&&Source| source.path.starts_with(folder);
        self.code
            .iter()
            .filter(below)
            .map(|source| source.text.as_str())
            .collect::<Vec<_>>()
            .into_iter()
    }
}

fn is_code(path: &str) -> bool {
    CODE.iter().any(|ending| path.ends_with(ending))
}

/// `a/b/c.rs` lies in `a` and in `a/b`.
fn folders_of(file: &str) -> impl Iterator<Item = &str> {
    file.match_indices('/').map(|(at, _)| &file[..at])
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty())
}

/// The targets of a Makefile: words at the beginning of a line in front of a colon.
fn targets_of(makefile: &str) -> BTreeSet<&str> {
    let heads = makefile.lines().filter_map(|line| line.split_once(':').map(|(head, _)| head));
    let plain = |head: &&str| {
        !head.is_empty()
            && head.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    heads.filter(plain).collect()
}

/// The chores that xtask lists in its usage, each in a line of its own.
fn chores_of(main: &str) -> BTreeSet<&str> {
    let usage = main.split("usage: cargo xtask CHORE").nth(1).unwrap_or("");
    let lines = usage.lines().take_while(|line| !line.starts_with("\";"));
    let chores =
        lines.filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    chores.filter_map(|line| line.split_whitespace().next()).collect()
}

/// The text that a program prints as its usage.
fn usage_of(source: &str) -> &str {
    let text = source.split("const USAGE: &str = \"").nth(1).unwrap_or("");
    text.split("\";").next().unwrap_or(text)
}

/// Every `--word` in a text.
fn options_in(text: &str) -> impl Iterator<Item = String> {
    text.match_indices("--").filter_map(move |(at, _)| {
        let name = option_name(&text[at + 2..]);
        name.starts_with(|c: char| c.is_ascii_lowercase()).then(|| format!("--{name}"))
    })
}

/// The name at the beginning of what stands behind two hyphens.
pub(super) fn option_name(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(text.len());
    text[..end].trim_end_matches('-')
}

/// The subcommands that the options of `pvm` declare, each with its own options.
fn commands_of(sources: &[Source]) -> BTreeMap<String, BTreeSet<String>> {
    let files = sources.iter().filter(|source| source.path.starts_with(PVM));
    let text: String = files.map(|source| source.text.as_str()).collect::<Vec<_>>().join("\n");
    let mut all = BTreeMap::from([("help".to_owned(), BTreeSet::new())]);
    for (name, options) in variants_of(&text, "Command") {
        // A command's own commands stand in an enum of its name: `pvm trace show`.
        for (inner, options) in variants_of(&text, &format!("{name}Command")) {
            let both = format!("{name} {inner}").to_lowercase();
            all.insert(both, options_of(&text, &options));
        }
        all.insert(name.to_lowercase(), options_of(&text, &options));
    }
    all
}

/// The variants of an enum, each with the struct of its options.
fn variants_of(text: &str, name: &str) -> Vec<(String, String)> {
    let Some((_, body)) = text.split_once(&format!("enum {name} {{")) else { return Vec::new() };
    let variants = body.lines().take_while(|line| *line != "}").filter_map(|line| {
        let (name, options) = line.trim().strip_suffix("),")?.split_once('(')?;
        Some((name.to_owned(), options.to_owned()))
    });
    variants.collect()
}

/// The long options that the fields of a struct declare.
fn options_of(text: &str, name: &str) -> BTreeSet<String> {
    let fields = text.split(&format!("struct {name} {{")).nth(1).unwrap_or("");
    let mut attribute = String::new();
    let mut found = BTreeSet::from(["--help".to_owned()]);
    for line in fields.lines().take_while(|line| *line != "}").map(str::trim) {
        let field = line.strip_prefix("pub(crate) ").or_else(|| line.strip_prefix("pub "));
        if let Some(field) = field {
            if let Some((_, inner)) =
                field.split_once(": ").filter(|_| attribute.contains("flatten"))
            {
                found.extend(options_of(text, inner.trim_end_matches(',')));
            }
            let field = field.split(':').next().unwrap_or(field).replace('_', "-");
            let named = attribute.split("long = \"").nth(1).and_then(|rest| rest.split('"').next());
            if attribute.contains("long") {
                found.insert(format!("--{}", named.unwrap_or(&field)));
            }
            attribute.clear();
        } else if !line.starts_with("///") {
            attribute.push_str(line);
        }
    }
    found
}

/// The text of a file of the workspace, or a finding that says that it is gone.
pub(super) fn text_of<'a>(sources: &'a [Source], path: &str) -> Result<&'a str, Finding> {
    let found = sources.iter().find(|source| source.path == path);
    found.map(|source| source.text.as_str()).ok_or_else(|| Finding::error(path, "is not there"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: &str = "pub(crate) enum Command {\n    /// Start\n    Up(UpOptions),\n}\n\
        pub(crate) struct UpOptions {\n    /// Hosts, and not so --long a text\n    #[arg(long, \
        value_name = \"N\",\n\
        \x20         default_value_t = 1)]\n    pub(crate) on_silence: u32,\n    #[arg(short, long \
        = \"option\")]\n\
        \x20   pub(crate) word: u32,\n    #[arg(value_name = \"FILE\")]\n    pub(crate) hostfile: \
        u32,\n\
        \x20   #[command(flatten)]\n    pub(crate) more: MoreOptions,\n}\n\
        pub(crate) struct MoreOptions {\n    #[arg(long)]\n    pub inner: bool,\n}\n";

    #[test]
    fn commands_have_the_options_that_their_fields_declare() {
        let sources = [Source::new("crates/pvm-cli/src/options.rs", OPTIONS)];
        let inventory = Inventory::of(&sources);
        let expected = ["--help", "--inner", "--on-silence", "--option"].map(str::to_owned);
        assert_eq!(inventory.commands["up"], BTreeSet::from(expected));
    }

    #[test]
    fn a_command_may_have_commands_of_its_own() {
        let options = "enum Command {\n    Trace(TraceOptions),\n}\nenum TraceCommand {\n\
                       \x20   Show(ShowOptions),\n}\nstruct ShowOptions {\n    #[arg(long)]\n\
                       \x20   pub(crate) events: bool,\n}\n";
        let sources = [Source::new("crates/pvm-cli/src/options.rs", options)];
        let commands = Inventory::of(&sources).commands;
        assert!(commands["trace show"].contains("--events"));
        assert!(!commands["trace"].contains("--events"));
    }

    #[test]
    fn targets_and_chores_are_read_from_their_texts() {
        let make = "PREFIX ?= /usr\nTARGET := $(if x,y)\n.PHONY: a\nlint: ## look\n\tcargo x: y\n\
                    bench-x: lint\n";
        assert_eq!(targets_of(make), BTreeSet::from(["lint", "bench-x"]));
        let main = "\"usage: cargo xtask CHORE\n\n  tidy     the house\n           and more\n  \
                    fuzz TARGET\n\";\n  no\n";
        assert_eq!(chores_of(main), BTreeSet::from(["tidy", "fuzz"]));
    }
}
