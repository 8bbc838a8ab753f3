//! Short names for commands.

use std::collections::BTreeMap;

/// The aliases and what they stand for.
#[derive(Debug, Default)]
pub(crate) struct Aliases(BTreeMap<String, Vec<String>>);

/// An alias stands for itself round a corner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Loop;

impl Aliases {
    /// Makes `name` stand for `words`.
    pub(crate) fn define(&mut self, name: &str, words: &[String]) {
        self.0.insert(name.to_owned(), words.to_vec());
    }

    /// Forgets a name, if it is known.
    pub(crate) fn forget(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// `NAME<tab>WORDS` for all, or for one.
    pub(crate) fn list(&self, only: Option<&str>) -> String {
        let wanted = self.0.iter().filter(|(name, _)| only.is_none_or(|only| only == *name));
        wanted.map(|(name, words)| format!("{name}\t{}\n", words.join(" "))).collect()
    }

    /// Replaces the first word as long as it is an alias. One that stands for a command of its own
    /// name is replaced once.
    pub(crate) fn expand(&self, mut words: Vec<String>) -> Result<Vec<String>, Loop> {
        let mut used: Vec<String> = Vec::new();
        while let Some(first) = words.first().cloned() {
            let Some(meaning) = self.0.get(&first) else { break };
            if used.last() == Some(&first) {
                break;
            }
            if used.contains(&first) {
                return Err(Loop);
            }
            used.push(first);
            words.splice(..1, meaning.iter().cloned());
        }
        Ok(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_first_word_is_replaced_until_it_is_a_command() {
        let mut aliases = Aliases::default();
        for (name, meaning) in
            [("y", "x hello"), ("x", "echo a"), ("a", "b"), ("b", "a"), ("r", "r 1")]
        {
            aliases.define(name, &words(meaning));
        }
        assert_eq!(aliases.expand(words("y world")), Ok(words("echo a hello world")));
        assert_eq!(aliases.expand(words("a")), Err(Loop));
        assert_eq!(aliases.expand(words("r 2")), Ok(words("r 1 2")));
        aliases.forget("x");
        assert_eq!(aliases.expand(words("y")), Ok(words("x hello")));
        assert_eq!(aliases.list(Some("r")), "r\tr 1\n");
    }
}
