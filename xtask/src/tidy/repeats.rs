//! A comment says each thing once. An edit by a program can leave the last sentence of a comment
//! twice, and no compiler sees it.

use super::finding::Finding;
use crate::source::Source;

/// Shorter parts, such as `e.g.`, may come again.
const LENGTH_MIN: usize = 18;

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    let found = |source: &Source| -> Vec<Finding> {
        let what = |sentence: &str| format!("the comment says twice: \"{sentence}\"");
        let at = |line: usize| format!("{}:{line}", source.path);
        let comments = comments(&source.text).into_iter();
        comments
            .filter_map(|(line, text)| Some(Finding::error(at(line), what(repeated(&text)?))))
            .collect()
    };
    sources.iter().filter(|source| source.is_rust()).flat_map(found).collect()
}

/// The comments of a file, each as one line, with the number of its first line.
fn comments(text: &str) -> Vec<(usize, String)> {
    let mut all: Vec<(usize, String)> = Vec::new();
    let mut open = None;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let mark = ["///", "//!", "//"].into_iter().find(|mark| line.starts_with(mark));
        let Some(mark) = mark else {
            open = None;
            continue;
        };
        if open != Some(mark) {
            all.push((at + 1, String::new()));
        }
        open = Some(mark);
        if let Some((_, comment)) = all.last_mut() {
            comment.push_str(line[mark.len()..].trim());
            comment.push(' ');
        }
    }
    all
}

/// A sentence, or a part of one, that follows itself.
fn repeated(comment: &str) -> Option<&str> {
    let sentences: Vec<&str> = comment.split_inclusive(['.', ':', ';']).map(str::trim).collect();
    let again = |pair: &&[&str]| pair[1].len() > LENGTH_MIN && pair[0] == pair[1];
    Some(sentences.windows(2).find(again)?[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_that_an_edit_has_left_twice_is_found() {
        let text = "/// The cause: a peer has left.\n/// It is tried again. A peer has left early. \
                    A\n/// peer has left early.\nfn a() {}\n";
        let found = check(&[Source::new("crates/x/src/a.rs", text)]);
        let places: Vec<&str> = found.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, ["crates/x/src/a.rs:1"]);
    }

    #[test]
    fn comments_of_two_items_may_say_one_thing() {
        let text = "/// Returns the number of hosts.\nfn a() {}\n/// Returns the number of hosts.\n\
                    // A peer has left early.\n// And a peer has left late.\nfn b() {}\n";
        assert!(check(&[Source::new("crates/x/src/a.rs", text)]).is_empty());
    }
}
