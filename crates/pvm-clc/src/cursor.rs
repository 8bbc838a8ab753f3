//! Navigation among tokens.

use crate::token::Token;

/// The tokens of a file without the preprocessor's lines.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    tokens: Vec<Token<'a>>,
    /// For each opening parenthesis, brace or bracket the index of the closing one; 0 for other
    /// tokens.
    partners: Vec<usize>,
}

impl<'a> Cursor<'a> {
    /// Matches parentheses. An opening one without a closing one reaches to the end.
    pub(crate) fn new(tokens: Vec<Token<'a>>) -> Self {
        let mut partners = vec![0; tokens.len()];
        let mut open = Vec::new();
        for (i, token) in tokens.iter().enumerate() {
            match token.text {
                "(" | "[" | "{" => open.push(i),
                ")" | "]" | "}" => {
                    let fits = |at: &usize| closing(tokens[*at].text) == token.text;
                    if let Some(depth) = open.iter().rposition(fits) {
                        partners[open[depth]] = i;
                        for lost in open.drain(depth..).skip(1) {
                            partners[lost] = i;
                        }
                    }
                }
                _ => {}
            }
        }
        for lost in open {
            partners[lost] = tokens.len();
        }
        Self { tokens, partners }
    }

    /// The first token that is inside of more than `most` parentheses, braces and brackets.
    pub(crate) fn too_deep(&self, most: usize) -> Option<usize> {
        let mut ends = Vec::new();
        (0..self.len()).find(|i| {
            while ends.last().is_some_and(|end| end <= i) {
                ends.pop();
            }
            if self.is_opening(*i) {
                ends.push(self.partner(*i));
            }
            ends.len() > most
        })
    }

    /// The number of tokens.
    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// A token; beyond the end the last one.
    pub(crate) fn token(&self, i: usize) -> &Token<'a> {
        &self.tokens[i.min(self.tokens.len() - 1)]
    }

    /// The text of a token; empty beyond the end.
    pub(crate) fn text(&self, i: usize) -> &'a str {
        self.tokens.get(i).map_or("", |token| token.text)
    }

    /// True for a token with this text.
    pub(crate) fn is(&self, i: usize, text: &str) -> bool {
        self.tokens.get(i).is_some_and(|token| token.is(text))
    }

    /// True for a name or a keyword.
    pub(crate) fn is_word(&self, i: usize) -> bool {
        self.tokens.get(i).is_some_and(Token::is_word)
    }

    /// True for `(`, `[` and `{`.
    pub(crate) fn is_opening(&self, i: usize) -> bool {
        matches!(self.text(i), "(" | "[" | "{")
    }

    /// True for `)`, `]` and `}`.
    pub(crate) fn is_closing(&self, i: usize) -> bool {
        matches!(self.text(i), ")" | "]" | "}")
    }

    /// The closing token of an opening one; the end if there is none.
    pub(crate) fn partner(&self, open: usize) -> usize {
        self.partners[open]
    }

    /// True if this opening token is closed by a token of its kind.
    pub(crate) fn is_closed(&self, open: usize) -> bool {
        closing(self.text(open)) == self.text(self.partner(open))
    }

    /// The index behind the closing token of this opening one.
    pub(crate) fn behind(&self, open: usize) -> usize {
        (self.partner(open) + 1).min(self.len())
    }

    /// The parts between commas in a range of tokens. An empty range has no parts.
    pub(crate) fn split(&self, from: usize, to: usize) -> Vec<(usize, usize)> {
        let mut parts = Vec::new();
        let mut begin = from;
        let mut i = from;
        while i < to {
            if self.is(i, ",") {
                parts.push((begin, i));
                begin = i + 1;
            }
            i = if self.is_opening(i) { self.behind(i) } else { i + 1 };
        }
        if begin < to || !parts.is_empty() {
            parts.push((begin, to));
        }
        parts
    }

    /// The text of tokens, with blanks between them.
    pub(crate) fn join(&self, from: usize, to: usize) -> String {
        self.tokens[from.min(to)..to.min(self.len())]
            .iter()
            .map(|token| token.text)
            .collect::<Vec<_>>()
            .join(" ")
    }
}

fn closing(opening: &str) -> &'static str {
    match opening {
        "(" => ")",
        "[" => "]",
        "{" => "}",
        _ => "\0",
    }
}
