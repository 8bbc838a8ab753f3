//! Names that are known to stand: each question of a reader must be answered with all that were
//! known before it.

use std::collections::BTreeMap;

/// Names in the order in which they became known. Thousands of answers are compared with thousands
/// of names, so a name is kept once, and what a question is due is a number of them.
#[derive(Debug, Default)]
pub(super) struct KnownNames {
    numbers: BTreeMap<Vec<u8>, usize>,
    names: Vec<Vec<u8>>,
}

impl KnownNames {
    /// From now on every reader must be shown this name.
    pub(super) fn add(&mut self, name: &[u8]) {
        if !self.numbers.contains_key(name) {
            self.numbers.insert(name.to_owned(), self.names.len());
            self.names.push(name.to_owned());
        }
    }

    /// The names that an answer to a question of now must show, for [`KnownNames::missing`].
    pub(super) fn count(&self) -> usize {
        self.names.len()
    }

    /// A name of the first `due` ones that is not among those shown.
    pub(super) fn missing<'a>(
        &self,
        due: usize,
        shown: impl Iterator<Item = &'a [u8]>,
    ) -> Option<String> {
        let mut is_shown = vec![false; self.names.len()];
        for number in shown.filter_map(|name| self.numbers.get(name)) {
            is_shown[*number] = true;
        }
        let at = is_shown[..due].iter().position(|is_shown| !is_shown)?;
        Some(String::from_utf8_lossy(&self.names[at]).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_known_before_a_question_is_missed_and_what_came_later_is_not() {
        let mut known = KnownNames::default();
        known.add(b"w1");
        known.add(b"w2");
        known.add(b"w1");
        let due = known.count();
        known.add(b"w3");
        let missing = |names: &[&'static [u8]]| known.missing(due, names.iter().copied());
        assert_eq!(missing(&[b"w2", b"other", b"w1"]), None);
        assert_eq!(missing(&[b"w3", b"w1"]).as_deref(), Some("w2"));
        assert_eq!(
            known.missing(known.count(), [&b"w1"[..], b"w2"].into_iter()).as_deref(),
            Some("w3")
        );
    }
}
