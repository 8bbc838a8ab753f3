//! Lines from a person: editing, history, completion.

use crate::console::help;
use crate::threads;
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{Context, Editor, ExternalPrinter, Helper};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};

const HISTORY: &str = ".pvm_history";

/// The words of the machine that completion knows; the session keeps them up to date.
pub(crate) type WordList = Arc<Mutex<Vec<String>>>;

/// The input of a person.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Typed {
    /// A line.
    Line(String),
    /// The end of input.
    End,
}

/// The reading side; it reads one line for each request.
pub(crate) struct Terminal {
    /// Prints above the line that is being typed.
    pub(crate) printer: Box<dyn ExternalPrinter + Send>,
    go_on: Sender<()>,
}

impl Terminal {
    /// Starts the reader; lines go to `tell`.
    pub(crate) fn open(
        prompt: &'static str,
        known: WordList,
        tell: impl Fn(Typed) -> bool + Send + 'static,
    ) -> Option<Self> {
        let (ready, printer) = sync_channel(1);
        let (go_on, next) = channel();
        let reader = threads::start(move || {
            let Ok(mut editor) = Editor::<Completions, FileHistory>::new() else { return };
            editor.set_helper(Some(Completions { known }));
            let Ok(printer) = editor.create_external_printer() else { return };
            let boxed: Box<dyn ExternalPrinter + Send> = Box::new(printer);
            if ready.send(boxed).is_ok() {
                read(&mut editor, prompt, &next, &tell);
            }
        });
        reader.ok()?;
        Some(Self { printer: printer.recv().ok()?, go_on })
    }

    /// Asks for the next line.
    pub(crate) fn go_on(&self) {
        // A reader that has ended has reported it.
        let _ = self.go_on.send(());
    }
}

fn history_file() -> Option<PathBuf> {
    Some(PathBuf::from(std::env::var_os("HOME")?).join(HISTORY))
}

fn read(
    editor: &mut Editor<Completions, FileHistory>,
    prompt: &str,
    next: &Receiver<()>,
    tell: &dyn Fn(Typed) -> bool,
) {
    let file = history_file();
    if let Some(file) = &file {
        // There is none the first time.
        let _ = editor.load_history(file);
    }
    while next.recv().is_ok() {
        let typed = loop {
            match editor.readline(prompt) {
                Ok(line) => break Typed::Line(line),
                // Ctrl-C throws the line away, as the original's terminal does.
                Err(ReadlineError::Interrupted) => {}
                Err(_) => break Typed::End,
            }
        };
        if let Typed::Line(line) = &typed {
            let _ = editor.add_history_entry(line.as_str());
            let _ = file.as_ref().map(|file| editor.append_history(file));
        }
        let ended = typed == Typed::End;
        if !tell(typed) || ended {
            break;
        }
    }
}

/// Completes commands at the start of a line, hosts and tasks after it.
struct Completions {
    known: WordList,
}

impl Completer for Completions {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = &line[..position];
        let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let known = self.known.lock().map(|known| known.clone()).unwrap_or_default();
        let found = candidates(before, start, &known);
        // The only one is a whole word.
        let end = if found.len() == 1 { " " } else { "" };
        let pair = |word: String| Pair { replacement: format!("{word}{end}"), display: word };
        Ok((start, found.into_iter().map(pair).collect()))
    }
}

fn candidates(before: &str, start: usize, known: &[String]) -> Vec<String> {
    let word = &before[start..];
    let is_command = before[..start].trim().is_empty();
    // `help` is followed by a command too.
    if is_command || before[..start].trim() == "help" {
        return help::names().filter(|name| name.starts_with(word)).map(str::to_owned).collect();
    }
    // `spawn -HOST` has the host behind a dash.
    let (dash, name) = word.strip_prefix('-').map_or(("", word), |name| ("-", name));
    let found = known.iter().filter(|known| known.starts_with(name));
    found.map(|known| format!("{dash}{known}")).collect()
}

impl Hinter for Completions {
    type Hint = String;
}
impl Highlighter for Completions {}
impl Validator for Completions {}
impl Helper for Completions {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_come_first_then_hosts_and_tasks() {
        let known = ["vm".to_owned(), "t40002".to_owned()];
        assert_eq!(candidates("pst", 0, &known), ["pstat"]);
        assert_eq!(candidates("help pst", 5, &known), ["pstat"]);
        assert_eq!(candidates("kill t4", 5, &known), ["t40002"]);
        assert_eq!(candidates("spawn -v", 6, &known), ["-vm"]);
        assert_eq!(candidates("x", 0, &known), Vec::<String>::new());
    }
}
