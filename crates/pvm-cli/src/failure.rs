//! The message and the exit status of a command that cannot do what was asked.
//!
//! A text says what failed and where, then the likely cause (one that was looked for, not guessed),
//! then the command to try next. Exit statuses are part of the interface.

use crate::stopped;
use pvm_wire::Code;
use std::fmt;

/// The exit status of a command that did not succeed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Status {
    /// The machine was asked and refused, or a part of what was asked failed.
    Refused = 1,
    /// The command line makes no sense; clap uses the same number.
    Usage = 2,
    /// No machine is running.
    NoMachine = 3,
    /// A daemon could not be started, or it went away.
    Daemon = 4,
    /// `pvm bench`: something could not be measured; the rest was.
    Partial = 5,
    /// `pvm run`: the program cannot be started, as in a shell.
    NotExecutable = 126,
    /// `pvm run`: the program was not found, as in a shell.
    NotFound = 127,
}

/// The end of a command that did not succeed.
#[derive(Debug)]
pub struct Failure {
    /// The exit status.
    pub status: Status,
    text: String,
}

impl Failure {
    /// With its text: what and where in the first line, cause and remedy in the next ones.
    pub fn new(status: Status, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// With one more line.
    pub fn and(mut self, line: &str) -> Self {
        self.text += &format!("\n{line}");
        self
    }

    /// The machine answered with a code.
    pub fn refused(what: &str, code: Code) -> Self {
        match code {
            Code::SysErr => unanswered(what),
            _ => Self::new(Status::Refused, format!("{what}: {code}")),
        }
    }

    /// The machine answered with something that does not belong to the question.
    pub fn unexpected(what: &str) -> Self {
        Self::new(
            Status::Daemon,
            format!(
                "{what}: the daemon's answer has an unexpected kind\n  pvm and pvmd have different \
                 versions: `pvm halt; pvm up`"
            ),
        )
    }
}

/// The daemon has not answered: why, as far as it can be seen.
fn unanswered(what: &str) -> Failure {
    let Some(pid) = stopped::first() else {
        let text =
            format!("{what}: the machine ended before the answer\n  start it again: `pvm up`");
        return Failure::new(Status::Daemon, text);
    };
    if stopped::is_stopped(pid) {
        return Failure::new(Status::Daemon, stopped::words(pid));
    }
    let text = format!(
        "{what}: the daemon does not answer\n  see `pvm status`, or start the machine again: `pvm \
         halt; pvm up`"
    );
    Failure::new(Status::Daemon, text)
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pvm: {}", self.text)
    }
}

impl std::error::Error for Failure {}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::new(Status::Refused, error.to_string())
    }
}
