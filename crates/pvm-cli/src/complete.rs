//! `pvm complete WORDS`: what may come next on a command line, for the shells' completion.
//!
//! The first line of the answer says what the shell is to add by itself: `files`, `programs` or
//! `nothing`; then comes a candidate a line, with a tab and a word about it. The scripts in
//! [`scripts`] hand their words over and show what comes back, so that everything that is known of
//! the command line is known in one place. Errors are not reported.

mod ground;
mod live;
pub(crate) mod scripts;

use crate::options::{CompleteOptions, Options};
use crate::show::show;
use clap::{Arg, Command, CommandFactory as _};
use ground::{Candidate, Kind, Shell};

/// Prints the candidates for the last of the words.
pub(crate) fn complete(options: &CompleteOptions) -> std::io::Result<()> {
    let words: Vec<String> =
        options.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (shell, candidates) = candidates(&words, &live::of);
    let mut text = format!("{}\n", shell.text());
    for candidate in candidates {
        text += &format!("{}\t{}\n", candidate.word, candidate.about);
    }
    show(text)
}

/// The words that may stand in the place of the last one, and those that the shell adds. `live`
/// knows the machine.
fn candidates(words: &[String], live: &dyn Fn(Kind) -> Vec<Candidate>) -> (Shell, Vec<Candidate>) {
    let mut command = Options::command();
    command.build();
    let Some((last, before)) = words.split_last() else { return (Shell::Nothing, Vec::new()) };
    let Some((name, before)) = before.split_first() else {
        return begin(&command, &in_progress(last));
    };
    let Some(mut command) = command.find_subcommand(name) else {
        return (Shell::Files, Vec::new());
    };
    let mut before = before;
    if command.has_subcommands() {
        let Some((name, rest)) = before.split_first() else {
            return begin(command, &in_progress(last));
        };
        match command.find_subcommand(name) {
            Some(below) => (command, before) = (below, rest),
            // Where a command takes arguments as well, this is one of them.
            None if command.get_positionals().next().is_some() => (),
            None => return (Shell::Nothing, Vec::new()),
        }
    }
    // Shells take words apart at `=`, `@` and `:`; what stands behind one is a word of its own.
    let current = in_progress(last);
    let place = Position::of(command, before, last);
    let (kind, current) = match place {
        Position::Value(arg) if let Some(found) = choices(arg, &current) => return found,
        Position::Behind(arg, value) if let Some(found) = choices(arg, &value) => return found,
        Position::Value(arg) => (kind_of(command, arg), current),
        Position::Behind(arg, value) => (kind_of(command, arg), value),
        Position::Argument(arg) if let Some(found) = choices(arg, &current) => return found,
        Position::Argument(arg) if !current.starts_with('-') => (kind_of(command, arg), current),
        Position::Arguments if !current.starts_with('-') => return (Shell::Files, Vec::new()),
        Position::Done if !current.starts_with('-') => return (Shell::Nothing, Vec::new()),
        Position::Arguments => return (Shell::Files, Vec::new()),
        Position::Argument(_) | Position::Done => {
            return (Shell::Nothing, flags(command, &current));
        }
    };
    let mut found = live(kind);
    found.retain(|candidate| candidate.word.starts_with(&current));
    (kind.shell(), found)
}

/// The word that is being written, if it is one.
fn in_progress(word: &str) -> String {
    if ["=", "@", ":"].contains(&word) { String::new() } else { word.to_owned() }
}

/// The first word: a command, or the console's host file.
fn begin(command: &Command, current: &str) -> (Shell, Vec<Candidate>) {
    if current.starts_with('-') {
        return (Shell::Nothing, flags(command, current));
    }
    let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
    let named = shown.filter(|one| one.get_name().starts_with(current));
    let found: Vec<Candidate> =
        named.map(|one| Candidate::new(one.get_name(), &first_words(one.get_about()))).collect();
    let shell = if found.is_empty() { Shell::Files } else { Shell::Nothing };
    (shell, found)
}

fn flags(command: &Command, current: &str) -> Vec<Candidate> {
    let mut found = Vec::new();
    for arg in command.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set()) {
        let long = arg.get_long().map(|long| format!("--{long}"));
        let short = arg.get_short().map(|short| format!("-{short}"));
        let wanted =
            if current == "-" || current.is_empty() { [long, short] } else { [long, None] };
        let named = wanted.into_iter().flatten().filter(|flag| flag.starts_with(current));
        found.extend(named.map(|flag| Candidate::new(&flag, &first_words(arg.get_help()))));
    }
    found
}

fn first_words(about: Option<&clap::builder::StyledStr>) -> String {
    let text = about.map(ToString::to_string).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

/// The position of the word on a command's line.
enum Position<'a> {
    /// It is the value of this option, which stands in front.
    Value(&'a Arg),
    /// It is an option and the beginning of its value, `--host=va`.
    Behind(&'a Arg, String),
    /// It is an argument.
    Argument(&'a Arg),
    /// It is an argument of the program that is to be run.
    Arguments,
    /// There is room for options only.
    Done,
}

impl<'a> Position<'a> {
    fn of(command: &'a Command, before: &[String], last: &str) -> Self {
        let positionals: Vec<&Arg> = command.get_positionals().collect();
        let mut taken = 0;
        let mut words = before.iter().peekable();
        while let Some(word) = words.next() {
            if let Some(arg) = option_named(command, word) {
                words.next_if(|word| *word == "=");
                if words.next().is_none() {
                    return Self::Value(arg);
                }
            } else if !word.starts_with('-') {
                if positionals.get(taken).is_some_and(|arg| arg.is_trailing_var_arg_set()) {
                    return Self::Arguments;
                }
                taken += 1;
            }
        }
        if let Some((flag, value)) = last.split_once('=')
            && let Some(arg) = option_named(command, flag)
        {
            return Self::Behind(arg, value.to_owned());
        }
        let many = |arg: &&Arg| matches!(arg.get_action(), clap::ArgAction::Append);
        let next = positionals.get(taken).or_else(|| positionals.last().filter(|arg| many(arg)));
        next.map_or(Self::Done, |arg| Self::Argument(arg))
    }
}

/// The option of this name, if it takes a value.
fn option_named<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    let named = |arg: &&Arg| {
        arg.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long))
            || arg.get_short().is_some_and(|short| word == format!("-{short}"))
    };
    let takes_value = |arg: &&Arg| arg.get_action().takes_values();
    command.get_opts().find(named).filter(takes_value)
}

/// The values of an option that has a few only; of a list the last word is completed.
fn choices(arg: &Arg, current: &str) -> Option<(Shell, Vec<Candidate>)> {
    let values = arg.get_possible_values();
    if values.is_empty() {
        return None;
    }
    let list = arg.get_value_delimiter().and_then(|comma| current.rsplit_once(comma));
    let (before, last) =
        list.map_or(("", current), |(before, last)| (&current[..=before.len()], last));
    let matches = |value: &&clap::builder::PossibleValue| {
        let name = value.get_name();
        name.get(..last.len()).is_some_and(|start| start.eq_ignore_ascii_case(last))
    };
    let found = values.iter().filter(matches);
    let found = found.map(|value| {
        Candidate::new(&format!("{before}{}", value.get_name()), &first_words(value.get_help()))
    });
    Some((Shell::Nothing, found.collect()))
}

/// The kind of value that the value's name in the help stands for.
fn kind_of(command: &Command, arg: &Arg) -> Kind {
    let name =
        arg.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
    match (command.get_name(), name) {
        ("add" | "doctor", "HOST") => Kind::NewHost,
        ("del", "HOST") => Kind::OtherHost,
        (_, "HOST") => Kind::Host,
        ("kill", "TID") => Kind::Victim,
        ("bench", "SUITE") => Kind::Suite,
        (_, "FILE" | "HOSTFILE" | "DIR") => Kind::File,
        (_, "PROGRAM [ARGS]") => Kind::Program,
        (_, "SIGNAL") => Kind::Signal,
        (_, "PATTERN") => Kind::Name,
        (_, "SPACE") => Kind::Space,
        _ => Kind::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(kind: Kind) -> Vec<Candidate> {
        let words: &[&str] = match kind {
            Kind::Host => &["here", "there"],
            Kind::OtherHost => &["there"],
            Kind::NewHost => &["local", "lab2"],
            Kind::Victim => &["all", "t40002"],
            Kind::Signal => &["TERM", "KILL"],
            Kind::Suite => &["echo", "primitives"],
            _ => &[],
        };
        words.iter().map(|word| Candidate::new(word, "")).collect()
    }

    fn of(line: &str) -> (Shell, Vec<String>) {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let (shell, found) = candidates(&words, &live);
        (shell, found.into_iter().map(|candidate| candidate.word).collect())
    }

    fn words(line: &str) -> String {
        of(line).1.join(" ")
    }

    #[test]
    fn commands_options_and_names_are_found() {
        assert_eq!(words("ha"), "halt");
        assert!(words("").starts_with("run up add del conf ps kill") && !words("").contains("gen"));
        assert_eq!(of("hosts.tx"), (Shell::Files, vec![]));
        assert_eq!(words("ps "), "here there");
        assert_eq!(words("ps th"), "there");
        assert_eq!(words("ps here "), "");
        assert_eq!(words("del here t"), "there");
        assert_eq!(words("add --push l"), "local lab2");
        assert_eq!(words("kill t"), "t40002");
        assert_eq!(words("kill -s "), "TERM KILL");
        assert_eq!(words("kill -s KILL t40002 a"), "all");
        assert_eq!(words("conf --j"), "--json");
        assert_eq!(words("run --host t"), "there");
        assert_eq!(words("bench pri"), "primitives");
        assert_eq!(words("bench echo --q"), "--quick");
        assert_eq!(words("bench nas --class "), "S W A B");
        assert_eq!(words("bench nas --class S,"), "S,S S,W S,A S,B");
        assert_eq!(words("bench nas --only CG,b"), "CG,BT");
        assert_eq!(words("bench nas --shape=th"), "thesis");
        assert_eq!(of("bench nas --peer "), (Shell::Files, vec![]));
    }

    #[test]
    fn commands_below_a_command_are_found() {
        assert_eq!(words("trace pro"), "profile");
        assert_eq!(words("trace export x --to c"), "chrome csv");
        assert_eq!(words("trace draw x --what=sp"), "spacetime");
        assert_eq!(words("trace show --ev"), "--events");
        assert_eq!(of("trace show "), (Shell::Files, vec![]));
        assert_eq!(of("trace nonsense x"), (Shell::Nothing, vec![]));
        assert_eq!(words("predict ch"), "check");
        assert_eq!(words("predict generate st"), "stencil star");
        assert_eq!(words("predict x --model=th"), "thesis");
        assert_eq!(of("predict check "), (Shell::Files, vec![]));
    }

    #[test]
    fn values_behind_an_equals_sign_are_found_however_the_shell_splits() {
        assert_eq!(words("run --host=th"), "there");
        assert_eq!(words("run --host = th"), "there");
        assert_eq!(words("run --host ="), "here there");
        assert_eq!(words("add me @ la"), "lab2");
    }

    #[test]
    fn the_shell_adds_files_where_files_belong() {
        assert_eq!(of("run -n 4 ./pr").0, Shell::Programs);
        assert_eq!(of("run prog -").0, Shell::Files);
        assert_eq!(of("add --hostfile f").0, Shell::Files);
        assert_eq!(of("up ").0, Shell::Files);
        assert_eq!(of("halt ").0, Shell::Nothing);
        assert_eq!(of("nonsense x").0, Shell::Files);
    }
}
