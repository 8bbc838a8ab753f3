//! The known word that is most like a mistyped one.

/// The most alike, if it is alike enough that a slip of the finger explains the difference.
pub fn to<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let steps_max = word.chars().count().div_ceil(3);
    let rated = known.map(|name| (strsim::damerau_levenshtein(word, name), name));
    rated.min().filter(|&(steps, _)| steps <= steps_max).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_finger_are_understood_and_other_words_are_not() {
        let of = |word| to(word, ["add", "halt", "status", "doctor"].into_iter());
        assert_eq!(
            (of("hlat"), of("statsu"), of("ad")),
            (Some("halt"), Some("status"), Some("add"))
        );
        assert_eq!((of("xx"), of("hosts"), of("")), (None, None, None));
    }
}
