//! The command line, divided among clc, the preprocessor and the compiler.

use std::ffi::{OsStr, OsString};

/// Options whose value is the next word.
const WITH_VALUE: [&str; 24] = [
    "-o",
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-x",
    "-T",
    "-u",
    "-z",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-isysroot",
    "-MF",
    "-MT",
    "-MQ",
    "-Xlinker",
    "-Xpreprocessor",
    "-Xassembler",
    "-target",
    "--param",
];
/// The options among these that the preprocessor must not get.
const NOT_FOR_PREPROCESSOR: [&str; 8] = ["-o", "-L", "-l", "-x", "-T", "-u", "-z", "-Xlinker"];

/// Options for the preprocessor alone; the value is in the same word or in the next one.
const ONLY_PREPROCESSOR: [&str; 8] =
    ["-I", "-D", "-U", "-include", "-imacros", "-isystem", "-iquote", "-idirafter"];
/// The suffixes of files that the compiler preprocesses itself.
const PREPROCESSED: [&str; 8] = [".c", ".C", ".cc", ".cpp", ".cxx", ".h", ".S", ".m"];

/// A command line.
#[derive(Debug)]
pub(crate) struct Arguments {
    /// All words.
    pub(crate) words: Vec<OsString>,
    /// The indices of the words that are C-Linda files.
    pub(crate) sources: Vec<usize>,
    /// True if a program is linked.
    pub(crate) links: bool,
    /// True if the C is printed instead of compiled (`-E`).
    pub(crate) only_shows: bool,
    /// True if the headers of a file are listed instead (`-M`, `-MM`).
    pub(crate) only_depends: bool,
    output: Option<usize>,
    /// Words for the preprocessor.
    preprocessor: Vec<usize>,
    /// The words among these that only the preprocessor gets.
    only_preprocessor: Vec<usize>,
    /// True if there are files beside C-Linda's that are preprocessed.
    pub(crate) has_others: bool,
}

impl Arguments {
    /// Reads a command line.
    pub(crate) fn of(words: Vec<OsString>) -> Self {
        let mut found = Self {
            words,
            sources: Vec::new(),
            links: true,
            only_shows: false,
            only_depends: false,
            output: None,
            preprocessor: Vec::new(),
            only_preprocessor: Vec::new(),
            has_others: false,
        };
        let mut i = 0;
        while i < found.words.len() {
            i = found.word(i);
        }
        found
    }

    fn word(&mut self, i: usize) -> usize {
        let word = self.words[i].to_string_lossy().into_owned();
        let takes_next = WITH_VALUE.contains(&word.as_str());
        if !word.starts_with('-') || word == "-" {
            if word.ends_with(".cl") {
                self.sources.push(i);
            }
            self.has_others |= PREPROCESSED.iter().any(|end| word.ends_with(end));
            return i + 1;
        }
        match word.as_str() {
            "-c" | "-S" => self.links = false,
            "-E" => self.only_shows = true,
            "-M" | "-MM" => {
                self.only_shows = true;
                self.only_depends = true;
                self.preprocessor.push(i);
            }
            "-o" => self.output = Some(i + 1),
            _ if NOT_FOR_PREPROCESSOR.contains(&word.as_str()) => {}
            _ if word.starts_with("-l") || word.starts_with("-L") || word.starts_with("-Wl,") => {}
            _ => {
                let all = i..=(i + usize::from(takes_next)).min(self.words.len() - 1);
                if ONLY_PREPROCESSOR.iter().any(|option| word.starts_with(option)) {
                    self.only_preprocessor.extend(all.clone());
                }
                self.preprocessor.extend(all);
            }
        }
        i + 1 + usize::from(takes_next)
    }

    /// Refuses a command line that cannot be carried out.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.output.is_some_and(|at| at >= self.words.len()) {
            return Err("clc: expected a file name after -o".into());
        }
        if self.output.is_some() && self.sources.len() > 1 && (self.only_shows || !self.links) {
            return Err("clc: -o cannot name one file for several".into());
        }
        Ok(())
    }

    /// The file that `-o` names.
    pub(crate) fn output(&self) -> Option<&OsString> {
        self.output.and_then(|at| self.words.get(at))
    }

    /// True for a word that has no use when translated files are compiled; clang would warn of it.
    pub(crate) fn is_used_up(&self, word: usize) -> bool {
        !self.has_others && self.only_preprocessor.contains(&word)
    }

    /// The options for the preprocessor.
    pub(crate) fn for_preprocessor(&self) -> impl Iterator<Item = &OsStr> {
        self.preprocessor.iter().map(|at| self.words[*at].as_os_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Arguments {
        Arguments::of(line.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn each_word_goes_where_it_belongs() {
        let found = arguments(
            "-O2 -I inc -Dx=1 -include a.h -o prog a.cl b.c -x c -Llib -lm -l z -Wl,-s -std=c99 \
             b.cl",
        );
        assert_eq!(
            found.sources.iter().map(|at| found.words[*at].to_str().unwrap()).collect::<Vec<_>>(),
            ["a.cl", "b.cl"]
        );
        assert!(found.links && !found.only_shows);
        assert_eq!(found.output().unwrap(), "prog");
        let preprocessor: Vec<_> =
            found.for_preprocessor().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(preprocessor, ["-O2", "-I", "inc", "-Dx=1", "-include", "a.h", "-std=c99"]);
    }

    /// clang warned of each `-I`, because the translated file is preprocessed already.
    #[test]
    fn options_of_the_preprocessor_are_not_given_twice() {
        let kept = |line: &str| {
            let found = arguments(line);
            let words = found.words.iter().enumerate();
            let kept = words.filter(|(i, _)| !found.is_used_up(*i)).map(|(_, word)| word.to_str());
            kept.collect::<Option<Vec<_>>>().unwrap().join(" ")
        };
        assert_eq!(kept("-O2 -I inc -Dx=1 -include a.h -Iinc a.cl b.o -lm"), "-O2 a.cl b.o -lm");
        assert_eq!(kept("-I inc -Dx a.cl b.c"), "-I inc -Dx a.cl b.c");
    }

    #[test]
    fn what_cannot_be_is_told() {
        assert!(arguments("a.cl -o").check().is_err());
        assert!(arguments("-c a.cl b.cl -o c.o").check().is_err());
        assert!(arguments("a.cl b.cl -o c").check().is_ok());
        assert!(!arguments("-c a.cl").links);
        assert!(arguments("-E a.cl").only_shows);
        assert!(arguments("-I").check().is_ok());
    }
}
