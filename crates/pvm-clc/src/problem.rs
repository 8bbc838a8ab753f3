//! Faults of a file, printed in the form of a compiler.

use std::fmt;

use crate::token::{Token, tokens};

/// A fault of the user's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The user's file.
    pub file: String,
    /// The line of it.
    pub line: u32,
    /// The column, from 1; 0 if it is not known because the token comes from a macro.
    pub column: usize,
    /// The description of the fault.
    pub what: String,
    /// The line's text, if the file can be read.
    pub source: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:", self.file, self.line)?;
        if self.column > 0 {
            write!(f, "{}:", self.column)?;
        }
        write!(f, " error: {}", self.what)?;
        if !self.source.is_empty() {
            write!(f, "\n{:5} | {}", self.line, self.source)?;
        }
        if self.column > 0 && !self.source.is_empty() {
            let before: String = self
                .source
                .chars()
                .take(self.column - 1)
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            write!(f, "\n      | {before}^")?;
        }
        Ok(())
    }
}

/// Describes a fault at a token. It finds the column in the user's own line, because the
/// preprocessor may have moved the token. `before` are the tokens of that line in front of it.
/// `read` returns the text of a file.
pub(crate) fn problem(
    token: &Token<'_>,
    before: &[Token<'_>],
    what: String,
    read: impl Fn(&str) -> Option<String>,
) -> Problem {
    let text = read(&token.file);
    let number = token.line as usize;
    let source = text
        .as_deref()
        .and_then(|text| text.lines().nth(number.saturating_sub(1)))
        .unwrap_or("")
        .to_string();
    let nth = before.iter().filter(|other| other.text == token.text).count();
    let column = column(&source, token.text, nth);
    Problem { file: token.file.to_string(), line: token.line, column, what, source }
}

fn column(source: &str, wanted: &str, nth: usize) -> usize {
    // The line may end within a string or a comment; tokens before that are found nevertheless.
    let words = match tokens(source, "") {
        Ok(words) => words,
        Err((unfinished, ..)) => tokens(&source[..unfinished.at], "").unwrap_or_default(),
    };
    let places: Vec<usize> =
        words.iter().filter(|word| word.text == wanted).map(|word| word.at).collect();
    places.get(nth).map_or(0, |at| source[..*at].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_is_that_of_the_users_line() {
        let all = tokens("in ( a , a )", "x.cl").unwrap();
        let read = |_: &str| Some("  in(a /* a */, a)\n".to_string());
        let found = problem(&all[4], &all[..4], "expected that".into(), read);
        assert_eq!((found.line, found.column), (1, 17));
        assert_eq!(
            found.to_string(),
            "x.cl:1:17: error: expected that\n    1 |   in(a /* a */, a)\n      |                 ^"
        );
    }

    #[test]
    fn what_a_macro_made_has_no_column() {
        let all = tokens("in ( b )", "x.cl").unwrap();
        let found = problem(&all[2], &all[..2], "no".into(), |_| Some("IN(c)".into()));
        assert_eq!(found.to_string(), "x.cl:1: error: no\n    1 | IN(c)");
        let found = problem(&all[2], &all[..2], "no".into(), |_| None);
        assert_eq!(found.to_string(), "x.cl:1: error: no");
    }
}
