//! The options on a man page are those of its program, both ways: the page names no other one, and
//! leaves none out.
//!
//! `pvm` makes the pages of its commands from its command line, so only their notes
//! (`pvm-cli/options/notes`) can name an option that is none. The other pages are written by hand,
//! beside programs in sh and Rust ([`PROGRAMS`]) and the console ([`CONSOLE`]).

use super::super::finding::Finding;
use super::commands;
use super::inventory::{Inventory, option_name};
use crate::source::Source;
use std::collections::BTreeSet;

/// A page that is written by hand, and the source of its program.
const PROGRAMS: [(&str, &str); 6] = [
    ("doc/man/neopvm-clc.1", "crates/pvm-clc/src/main.rs"),
    ("doc/man/neopvm-cps.1", "personalities/cps/bin/cps"),
    ("doc/man/neopvm-cubix.1", "personalities/express/bin/cubix"),
    ("doc/man/neopvm-ntsnet.1", "personalities/linda/bin/ntsnet"),
    ("doc/man/neopvm-parallel.1", "personalities/tcgmsg/parallel"),
    ("doc/man/pvmgs.1", "crates/pvm-cli/src/bin/pvmgs.rs"),
];
/// Programs whose options another rule compares, or that take none of their own.
const OTHERS: [&str; 2] = ["doc/man/pvmd.1", CONSOLE.0];
/// The console's page, and its own help.
const CONSOLE: (&str, &str) = ("doc/man/pvm-console.1", "crates/pvm-cli/src/console/help.rs");
/// Notes of the commands' generated pages.
const NOTES: &str = "crates/pvm-cli/src/options/notes.rs";

pub(super) fn check(sources: &[Source], inventory: &Inventory<'_>) -> Vec<Finding> {
    let text = |path: &str| sources.iter().find(|s| s.path == path).map(|s| s.text.as_str());
    let mut findings = unlisted(sources);
    for (page, program) in PROGRAMS {
        if let (Some(page_text), Some(program)) = (text(page), text(program)) {
            findings.extend(compare(page, page_text, program));
        }
    }
    if let (Some(page), Some(help)) = (text(CONSOLE.0), text(CONSOLE.1)) {
        findings.extend(check_console(page, help));
    }
    if let Some(notes) = text(NOTES) {
        findings.extend(check_notes(notes, inventory));
    }
    findings
}

/// A page of a command that no rule compares.
fn unlisted(sources: &[Source]) -> Vec<Finding> {
    let known =
        |path: &str| OTHERS.contains(&path) || PROGRAMS.iter().any(|(page, _)| *page == path);
    let pages = sources.iter().filter(|s| s.path.starts_with("doc/man/") && s.path.ends_with(".1"));
    let new = pages.filter(|page| !known(&page.path));
    new.map(|page| {
        let what = "is compared with no program: name its source in \
                    xtask/src/tidy/documents/usages.rs";
        Finding::error(&page.path, what)
    })
    .collect()
}

fn compare(path: &str, page: &str, program: &str) -> Vec<Finding> {
    let page = without_fonts(page);
    let (told, named) = (options(&page), options(program));
    let wrong = told.difference(&named).map(|option| format!("{option}: the program has no such"));
    let left_out = taken(program).into_iter().filter(|option| !told.contains(option));
    let left_out = left_out.map(|option| format!("has no word of {option}, which it takes"));
    wrong.chain(left_out).map(|what| Finding::error(path, what)).collect()
}

/// `\fB\-\-name\fP` as a reader sees it.
fn without_fonts(page: &str) -> String {
    ["\\fB", "\\fI", "\\fR", "\\fP"]
        .iter()
        .fold(page.replace("\\-", "-"), |text, font| text.replace(font, " "))
}

/// Every `-word` and `--word` in a text.
fn options(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| c.is_whitespace() || "\"'`[](),;:|=*./".contains(c));
    words.filter(|word| is_option(word)).map(str::to_owned).collect()
}

fn is_option(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    (1..=2).contains(&(word.len() - name.len()))
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// The options that a program takes: the patterns of a script's `case`, or the lines of a usage.
fn taken(program: &str) -> BTreeSet<String> {
    let usage =
        program.split("const USAGE: &str = \"").nth(1).and_then(|rest| rest.split("\";").next());
    let Some(usage) = usage else { return program.lines().filter_map(pattern).flatten().collect() };
    let lines = usage.lines().filter(|line| line.starts_with("  -"));
    // A summary stands behind two blanks.
    lines.flat_map(|line| options(line.trim().split("  ").next().unwrap_or(line))).collect()
}

/// The options in a line such as `'' | -h | --help)`.
fn pattern(line: &str) -> Option<BTreeSet<String>> {
    let (alternatives, _) = line.trim().split_once(')')?;
    let plain = |one: &str| one == "''" || one.starts_with('-');
    alternatives.split(" | ").all(plain).then(|| options(alternatives))
}

/// The console's page has each command and option of its help, and its words in bold are commands.
fn check_console(page: &str, help: &str) -> Vec<Finding> {
    let names = command_names(help);
    let listed = page.split(".SH COMMANDS").nth(1).and_then(|rest| rest.split(".SH ").next());
    let bold: BTreeSet<&str> = listed.unwrap_or("").lines().flat_map(bold_words).collect();
    let told = options(&without_fonts(page));
    let silent = help_options(help).into_iter().filter(|option| !told.contains(*option));
    let silent = silent.map(|option| format!("has no word of {option}, which help shows"));
    let wrong = bold.iter().filter(|word| !names.contains(**word));
    let wrong = wrong.map(|word| format!("{word}: the console has no such command"));
    let left_out = names.iter().filter(|name| !bold.contains(**name));
    let left_out = left_out.map(|name| format!("has no word of {name}, which help lists"));
    wrong.chain(left_out).chain(silent).map(|what| Finding::error(CONSOLE.0, what)).collect()
}

/// The names in `("add", "Add hosts ...` that are not in the list of hidden ones.
fn command_names(help: &str) -> BTreeSet<&str> {
    let hidden =
        help.split("HIDDEN: ").nth(1).and_then(|rest| rest.split("];").next()).unwrap_or("");
    let names = help.lines().filter_map(|line| line.strip_prefix("    (\"")?.split('"').next());
    names.filter(|name| !hidden.contains(&format!("\"{name}\""))).collect()
}

/// The options in lines such as `Options:  -l   with the state of each task`.
fn help_options(help: &str) -> BTreeSet<&str> {
    let lines = help.lines().map(|line| line.trim_start_matches("Options:").trim_start());
    lines.filter_map(|line| line.split_whitespace().next()).filter(|word| is_option(word)).collect()
}

/// The words that `.BR` prints bold: every second of its arguments.
fn bold_words(line: &str) -> Vec<&str> {
    let Some(arguments) = line.strip_prefix(".BR ") else { return Vec::new() };
    let outside = arguments.split('"').step_by(2).flat_map(str::split_whitespace);
    outside.filter(|word| word.chars().all(|c| c.is_ascii_lowercase())).collect()
}

/// The notes of a command name only options of that command, or of those below it; the commands
/// that they quote, or show as an example, exist.
fn check_notes(notes: &str, inventory: &Inventory<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for note in notes.split("pub(crate) const ").skip(1) {
        let Some((name, rest)) = note.split_once(": &str = \"") else { continue };
        let command = command_of(name);
        let below = |one: &str| one == command || one.starts_with(&format!("{command} "));
        // The page of `pvm` itself speaks of all.
        let own = inventory.commands.iter().filter(|(one, _)| command == "pvm" || below(one));
        let own: BTreeSet<&String> = own.flat_map(|(_, options)| options).collect();
        if own.is_empty() {
            findings.push(Finding::error(NOTES, format!("{name}: pvm has no such command")));
            continue;
        }
        let text = rest.split("\";").next().unwrap_or(rest).replace("\\\n", "");
        let (examples, prose): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|line| line.starts_with("  pvm "));
        let prose = prose.join("\n");
        let (quoted, plain): (Vec<_>, Vec<_>) =
            prose.split('`').enumerate().partition(|(at, _)| at % 2 == 1);
        let commands = quoted.into_iter().map(|(_, span)| span).chain(examples);
        let faults = commands.flat_map(|span| commands::faults(span, inventory));
        let others = plain.into_iter().flat_map(|(_, span)| others_of(span, &own));
        let say = |what| Finding::error(NOTES, format!("{name}: {what}"));
        findings.extend(faults.chain(others).map(say));
    }
    findings
}

/// `predict whatif` of `PREDICT_WHAT_IF`.
fn command_of(name: &str) -> String {
    let lower = name.to_lowercase();
    let (command, inner) = lower.split_once('_').unwrap_or((&lower, ""));
    format!("{command} {}", inner.replace('_', "")).trim_end().to_owned()
}

/// Options outside of quotations that the command does not have.
fn others_of(text: &str, own: &BTreeSet<&String>) -> Vec<String> {
    let named =
        text.match_indices("--").map(|(at, _)| format!("--{}", option_name(&text[at + 2..])));
    let gone = named.filter(|name| name.len() > 2 && !own.contains(name));
    gone.map(|name| format!("{name}: the command has no such option")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: &str = "enum Command {\n    Up(UpOptions),\n    Trace(TraceOptions),\n}\n\
        enum TraceCommand {\n    Show(ShowOptions),\n}\nstruct UpOptions {\n    \
        #[arg(long)]\n    pub(crate) json: bool,\n}\nstruct ShowOptions {\n    \
        #[arg(long)]\n    pub(crate) raw: bool,\n}\n";

    fn found(path: &str, text: &str, program: (&str, &str)) -> Vec<String> {
        let sources = [
            Source::new(path, text),
            Source::new(program.0, program.1),
            Source::new("crates/pvm-cli/src/options.rs", OPTIONS),
        ];
        let found = check(&sources, &Inventory::of(&sources));
        found.into_iter().map(|finding| finding.what).collect()
    }

    const SCRIPT: &str = "case $1 in\n'' | -h | --help)\n    echo 'usage: x'\n    ;;\n\
                          -n* | --count*)\n    x ;;\n-*) y ;;\n--) z ;;\nesac\n\
                          exec pvm run --quiet \"$@\"\n";

    #[test]
    fn a_page_has_the_options_of_its_script_and_no_others() {
        let cubix = |page| found("doc/man/neopvm-cubix.1", page, (PROGRAMS[2].1, SCRIPT));
        let right = ".BR \\-h \", \" \\-\\-help\n.BR \\-n \", \" \\-\\-count\n\
                     calls \\fBpvm run \\-\\-quiet\\fP\n";
        assert_eq!(cubix(right), [""; 0]);
        let wrong = cubix("\\-h, \\-\\-help, \\-\\-count and \\-\\-bogus\n");
        assert_eq!(wrong.len(), 2, "{wrong:?}");
        assert!(wrong[0].starts_with("--bogus") && wrong[1].contains("no word of -n"));
    }

    #[test]
    fn a_page_has_the_options_of_a_usage() {
        let usage = "const USAGE: &str = \"usage: clc\n\n  -c, -S   compile only, not -x\n\";\n";
        let clc = |page| found("doc/man/neopvm-clc.1", page, (PROGRAMS[0].1, usage));
        assert_eq!(clc("\\-c and \\-S\n"), [""; 0]);
        assert_eq!(clc("\\-c\n"), ["has no word of -S, which it takes"]);
    }

    #[test]
    fn the_page_of_the_console_has_its_commands_and_their_options() {
        let help = "    (\"ps\", \"List tasks\", \"\\\nSyntax:  ps [ -a ]\n\
                    Options:  -a  all\n\"),\n\x20   \
                    (\"tickle\", \"\", \"\"),\nconst HIDDEN: [&str; 1] = [\"tickle\"];\n";
        let console = |page| found(CONSOLE.0, page, (CONSOLE.1, help));
        assert_eq!(
            console(".SH COMMANDS\n.BR ps \" [\" \\-a ]\n.SH FILES\n.BR pvmd (1)\n"),
            [""; 0]
        );
        assert_eq!(console(".SH COMMANDS\n.BR ps \", \" fly\n").len(), 2);
        assert_eq!(console(".SH COMMANDS\n\\-a\n"), ["has no word of ps, which help lists"]);
    }

    #[test]
    fn notes_name_options_of_their_command_and_commands_that_exist() {
        let notes = |text: &str| {
            let text = format!("pub(crate) const {text}\";\n");
            found(NOTES, &text, ("x", ""))
        };
        assert_eq!(
            notes("UP: &str = \"\\\n--json and `pvm trace show --raw`\n\n  pvm up"),
            [""; 0]
        );
        assert_eq!(notes("TRACE: &str = \"with --raw"), [""; 0]);
        assert_eq!(notes("PVM: &str = \"with --raw"), [""; 0]);
        assert_eq!(notes("UP: &str = \"with --raw").len(), 1);
        assert_eq!(notes("TRACE_SHOW: &str = \"--json").len(), 1);
        assert_eq!(notes("UP: &str = \"\n  pvm up --raw").len(), 1);
        assert_eq!(notes("DOWN: &str = \"").len(), 1);
    }

    #[test]
    fn a_page_that_is_compared_with_nothing_is_found() {
        assert_eq!(found("doc/man/new.1", "", ("x", "")).len(), 1);
    }
}
