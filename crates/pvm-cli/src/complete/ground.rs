//! The vocabulary of completion.

/// The kinds of words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A host of the machine.
    Host,
    /// One of those but the one that we are on.
    OtherHost,
    /// A host that may be added.
    NewHost,
    /// A task, or all.
    Victim,
    /// The name of a named message.
    Name,
    /// A tuple space.
    Space,
    /// A signal.
    Signal,
    /// A suite of `pvm bench`.
    Suite,
    /// A file.
    File,
    /// A program.
    Program,
    /// A word that cannot be completed.
    Nothing,
}

impl Kind {
    /// The candidates that the shell adds.
    pub(crate) fn shell(self) -> Shell {
        match self {
            Self::File => Shell::Files,
            Self::Program => Shell::Programs,
            _ => Shell::Nothing,
        }
    }
}

/// The candidates that the shell adds by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shell {
    /// Nothing.
    Nothing,
    /// Files and folders.
    Files,
    /// Commands, files and folders.
    Programs,
}

impl Shell {
    /// As the scripts know it.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Files => "files",
            Self::Programs => "programs",
        }
    }
}

/// A word that may stand there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Candidate {
    /// The word.
    pub(crate) word: String,
    /// A description in a few words.
    pub(crate) about: String,
}

impl Candidate {
    /// A candidate of these two texts.
    pub(crate) fn new(word: &str, about: &str) -> Self {
        Self { word: word.to_owned(), about: about.to_owned() }
    }
}
