//! Names that others have chosen, as a person may see them: programs, mailboxes, groups and hosts
//! may be called anything, and what a terminal obeys, or what looks like one more line, is shown
//! and not done.

use pvm_wire::Blob;
use std::fmt::Write as _;

/// Characters that a terminal does not show but obeys: controls, and what turns the direction of
/// writing.
fn is_obeyed(letter: char) -> bool {
    let turns = matches!(letter,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    letter.is_control() || turns || matches!(letter, '\u{2028}' | '\u{2029}')
}

/// The text with every such character as its escape: `\n`, `\u{1b}`.
pub(crate) fn plain(text: &str) -> String {
    plain_but(text, |_| false)
}

/// Makes several lines of our own printable; their ends and tabs stay.
pub(crate) fn plain_lines(text: &str) -> String {
    plain_but(text, |letter| matches!(letter, '\n' | '\t'))
}

fn plain_but(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_obeyed(letter) && !stays(letter) {
            // Writing into a string does not fail.
            let _ = write!(shown, "{}", letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Makes bytes printable.
pub(crate) fn of(name: &Blob) -> String {
    plain(&name.to_text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown() {
        assert_eq!(plain("x\u{1b}[31m\ny\u{9b}\u{202e}"), r"x\u{1b}[31m\ny\u{9b}\u{202e}");
        assert_eq!(plain_lines("a\u{1b}\n\tb"), "a\\u{1b}\n\tb");
        assert_eq!(plain("Zürich 東京"), "Zürich 東京");
    }
}
