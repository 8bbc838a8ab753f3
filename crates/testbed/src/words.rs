//! The words of the command line.

use std::collections::VecDeque;
use std::path::PathBuf;
use testbed::HomeFolder;

/// The words that are not read yet.
pub(crate) struct Arguments(VecDeque<String>);

impl Arguments {
    pub(crate) fn of_this_process() -> Self {
        let words = std::env::args_os().skip(1);
        Self(words.map(|word| word.to_string_lossy().into_owned()).collect())
    }

    /// True if one of the words is the option for the usage.
    pub(crate) fn asks_for_help(&self) -> bool {
        self.0.iter().any(|word| ["--help", "-h"].contains(&word.as_str()))
    }

    pub(crate) fn next(&mut self) -> Option<String> {
        self.0.pop_front()
    }

    pub(crate) fn rest(self) -> Vec<String> {
        self.0.into()
    }
}

/// The operands and options of `up` and `hosts`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UpOptions {
    /// Operands: a number of hosts, a rate.
    pub(crate) operands: Vec<String>,
    pub(crate) prefix: Option<PathBuf>,
    pub(crate) home: HomeFolder,
    /// The process with which all ends.
    pub(crate) caller: Option<u32>,
}

impl UpOptions {
    pub(crate) fn read(mut words: Arguments) -> Result<Self, String> {
        let mut wanted =
            Self { operands: Vec::new(), prefix: None, home: HomeFolder::Own, caller: None };
        while let Some(word) = words.next() {
            if !word.starts_with("--") {
                wanted.operands.push(word);
                continue;
            }
            let value = words.next().ok_or_else(|| format!("testbed: {word} needs a value"))?;
            wanted.option(&word, value)?;
        }
        Ok(wanted)
    }

    fn option(&mut self, name: &str, value: String) -> Result<(), String> {
        let wrong =
            || format!("testbed: {name} {value}: not understood; `testbed --help` shows the usage");
        match (name, value.as_str()) {
            ("--prefix", _) => {
                let found = std::fs::canonicalize(&value);
                self.prefix = Some(found.map_err(|error| format!("testbed: {value}: {error}"))?);
            }
            ("--home", "own") => self.home = HomeFolder::Own,
            ("--home", "callers") => self.home = HomeFolder::Callers,
            ("--for", _) => self.caller = Some(value.parse().map_err(|_| wrong())?),
            _ => return Err(wrong()),
        }
        Ok(())
    }

    /// The number of hosts.
    pub(crate) fn count(&self) -> Result<u32, String> {
        let word = self.operands.first().map_or("1", String::as_str);
        word.parse().map_err(|_| format!("testbed: {word}: not a number of hosts"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<UpOptions, String> {
        UpOptions::read(Arguments(line.split_whitespace().map(str::to_owned).collect()))
    }

    #[test]
    fn operands_and_options_come_in_any_order() {
        let wanted = read("--for 7 3 --prefix / 10mbit --home callers").unwrap();
        assert_eq!(wanted.operands, ["3", "10mbit"]);
        assert_eq!(
            (wanted.caller, wanted.home, wanted.count()),
            (Some(7), HomeFolder::Callers, Ok(3))
        );
        assert_eq!(read("").unwrap().count(), Ok(1));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, named) in [
            ("--for x", "--for x"),
            ("--home his", "--home his"),
            ("--prefix", "--prefix needs"),
            ("--prefix /none/such", "/none/such: No such file"),
            ("--nonsense 1", "--nonsense"),
        ] {
            let error = read(line).unwrap_err();
            assert!(error.contains(named), "{error}");
        }
        assert!(read("two").unwrap().count().unwrap_err().contains("two"));
    }
}
