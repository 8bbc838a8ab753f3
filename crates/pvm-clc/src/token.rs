//! Tokens of preprocessed C. Every byte of the text is in a token or between two tokens, so
//! unchanged text can be copied.

use std::rc::Rc;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Word,
    /// A number, a character or a string.
    Literal,
    /// Any other token: `(`, `->`, `...`
    Mark,
    /// A line that begins with `#`: the preprocessor's note of file and line, or a pragma.
    Line,
}

/// A token and its position.
#[derive(Debug, Clone)]
pub(crate) struct Token<'a> {
    /// The kind of the token.
    pub(crate) kind: Kind,
    /// The text; for a digraph the mark that it stands for.
    pub(crate) text: &'a str,
    /// The offset of its begin in the whole text.
    pub(crate) at: usize,
    /// The number of its bytes.
    pub(crate) length: usize,
    /// The line of the user's file.
    pub(crate) line: u32,
    /// The user's file.
    pub(crate) file: Rc<str>,
    /// True in a header of the system.
    pub(crate) system: bool,
}

impl Token<'_> {
    /// The offset of its end in the whole text.
    pub(crate) fn end(&self) -> usize {
        self.at + self.length
    }

    /// True for a punctuator or a word with this text.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.text == text
    }

    /// True for a name or a keyword.
    pub(crate) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }
}

/// Text that cannot be a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unfinished {
    /// The offset of its begin.
    pub(crate) at: usize,
    /// The missing part.
    pub(crate) what: &'static str,
}

/// The marks of several characters, the longest first.
const MARKS: [&str; 28] = [
    "...", "<<=", ">>=", "%:%:", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
    "*=", "/=", "%=", "+=", "-=", "&=", "^=", "|=", "##", "<%", "%>", "<:", ":>",
];

/// The mark that a digraph stands for; other marks are returned unchanged.
fn meaning(mark: &str) -> &str {
    match mark {
        "<%" => "{",
        "%>" => "}",
        "<:" => "[",
        ":>" => "]",
        other => other,
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    file: Rc<str>,
    system: bool,
    fresh: bool,
}

/// Divides preprocessed text into tokens.
pub(crate) fn tokens<'a>(
    text: &'a str,
    file: &str,
) -> Result<Vec<Token<'a>>, (Unfinished, u32, Rc<str>)> {
    let mut lexer = Lexer { text, at: 0, line: 1, file: file.into(), system: false, fresh: true };
    let mut all = Vec::with_capacity(text.len() / 4);
    loop {
        match lexer.next() {
            Ok(Some(token)) => all.push(token),
            Ok(None) => return Ok(all),
            Err(what) => return Err((Unfinished { at: lexer.at, what }, lexer.line, lexer.file)),
        }
    }
}

impl<'a> Lexer<'a> {
    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn next(&mut self) -> Result<Option<Token<'a>>, &'static str> {
        self.skip_blank()?;
        if self.at >= self.text.len() {
            return Ok(None);
        }
        let (kind, length) = self.measure()?;
        let token = self.cut(kind, length);
        if kind == Kind::Line {
            self.note(token.text);
        }
        Ok(Some(token))
    }

    fn measure(&self) -> Result<(Kind, usize), &'static str> {
        let first = self.byte(0);
        if first == b'#' && self.fresh {
            let rest = &self.text[self.at..];
            return Ok((Kind::Line, rest.find('\n').unwrap_or(rest.len())));
        }
        if is_word(first) && !first.is_ascii_digit() {
            let length = self.word();
            let quoted = matches!(self.byte(length), b'"' | b'\'');
            let prefix = matches!(&self.text[self.at..self.at + length], "L" | "u" | "U" | "u8");
            return if quoted && prefix {
                Ok((Kind::Literal, self.quoted(length)?))
            } else {
                Ok((Kind::Word, length))
            };
        }
        if first.is_ascii_digit() || first == b'.' && self.byte(1).is_ascii_digit() {
            return Ok((Kind::Literal, self.number()));
        }
        if first == b'"' || first == b'\'' {
            return Ok((Kind::Literal, self.quoted(0)?));
        }
        let rest = &self.text[self.at..];
        let long = MARKS.iter().find(|mark| rest.starts_with(**mark)).map(|mark| mark.len());
        Ok((Kind::Mark, long.unwrap_or_else(|| rest.chars().next().map_or(1, char::len_utf8))))
    }

    fn word(&self) -> usize {
        self.text.as_bytes()[self.at..].iter().take_while(|byte| is_word(**byte)).count()
    }

    fn number(&self) -> usize {
        let mut length = 1;
        loop {
            let before = self.byte(length - 1);
            match self.byte(length) {
                b'+' | b'-' if matches!(before, b'e' | b'E' | b'p' | b'P') => length += 1,
                byte if is_word(byte) || byte == b'.' => length += 1,
                _ => return length,
            }
        }
    }

    fn quoted(&self, prefix: usize) -> Result<usize, &'static str> {
        let quote = self.byte(prefix);
        let mut length = prefix + 1;
        loop {
            // Compilers keep a byte 0 in a string.
            match self.text.as_bytes().get(self.at + length) {
                Some(b'\\') => length += 2,
                Some(byte) if *byte == quote => return Ok(length + 1),
                None | Some(b'\n') if quote == b'"' => {
                    return Err("expected '\"' at the end of the string");
                }
                None | Some(b'\n') => return Err("expected ''' at the end of the character"),
                Some(_) => length += 1,
            }
        }
    }

    fn cut(&mut self, kind: Kind, length: usize) -> Token<'a> {
        let end = (self.at + length).min(self.text.len());
        let text = &self.text[self.at..end];
        let token = Token {
            kind,
            text: if kind == Kind::Mark { meaning(text) } else { text },
            at: self.at,
            length: text.len(),
            line: self.line,
            file: self.file.clone(),
            system: self.system,
        };
        self.line =
            self.line.wrapping_add(text.bytes().filter(|byte| *byte == b'\n').count() as u32);
        self.at = end;
        self.fresh = false;
        token
    }

    /// Skips blanks, and comments that the preprocessor has kept.
    fn skip_blank(&mut self) -> Result<(), &'static str> {
        loop {
            let rest = &self.text[self.at..];
            if rest.starts_with("/*") {
                let length = rest.find("*/").ok_or("expected '*/' at the end of the comment")? + 2;
                self.line = self.line.wrapping_add(
                    rest[..length].bytes().filter(|byte| *byte == b'\n').count() as u32,
                );
                self.at += length;
            } else if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else {
                match self.byte(0) {
                    b'\n' => {
                        self.line = self.line.wrapping_add(1);
                        self.fresh = true;
                        self.at += 1;
                    }
                    b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                    // Compilers ignore a byte 0.
                    0 if self.at < self.text.len() => self.at += 1,
                    b'\\' if self.byte(1) == b'\n' => {
                        self.line = self.line.wrapping_add(1);
                        self.at += 2;
                    }
                    _ => return Ok(()),
                }
            }
        }
    }

    /// Reads `# LINE "FILE" FLAGS` or `#line LINE "FILE"`, which gives the file and number of the
    /// next line.
    fn note(&mut self, text: &str) {
        let rest = text.trim_start_matches('#').trim_start();
        let rest = rest.strip_prefix("line").map_or(rest, str::trim_start);
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let Ok(line) = digits.parse::<u32>() else { return };
        self.line = line.wrapping_sub(1);
        let rest = &rest[digits.len()..];
        if let (Some(from), Some(to)) = (rest.find('"'), rest.rfind('"'))
            && to > from
        {
            self.file = unescaped(&rest[from + 1..to]).into();
            self.system = rest[to + 1..].split_whitespace().any(|flag| flag == "3");
        }
    }
}

/// A file's name, with `\\` removed in front of `\\` and `"`.
fn unescaped(name: &str) -> String {
    let mut letters = name.chars().peekable();
    let mut out = String::with_capacity(name.len());
    while let Some(letter) = letters.next() {
        let escaped = (letter == '\\').then(|| letters.next_if(|next| matches!(next, '\\' | '"')));
        out.push(escaped.flatten().unwrap_or(letter));
    }
    out
}

/// Bytes above 127 are letters of names.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        tokens(text, "a").unwrap().iter().map(|token| token.text.to_string()).collect()
    }

    #[test]
    fn strings_with_keywords_and_quotes_are_one_token() {
        let text = r#"out("in(\"x\", ?y)", '"', L"rd", 1.5e-3f, .5, a->b, x+++y)
                    /* in("a") */ // rd("b")"#;
        let expected = [
            "out",
            "(",
            r#""in(\"x\", ?y)""#,
            ",",
            "'\"'",
            ",",
            "L\"rd\"",
            ",",
            "1.5e-3f",
            ",",
            ".5",
            ",",
            "a",
            "->",
            "b",
            ",",
            "x",
            "++",
            "+",
            "y",
            ")",
        ];
        assert_eq!(texts(text), expected);
    }

    #[test]
    fn lines_are_those_of_the_users_files() {
        let text = "# 7 \"a.cl\"\nx\n\ny\n# 1 \"/usr/include/h.h\" 1 3 4\nz\n# 9 \"a.cl\" 2\nw";
        let all = tokens(text, "first").unwrap();
        let words: Vec<_> = all.iter().filter(|token| token.is_word()).collect();
        let places: Vec<_> =
            words.iter().map(|word| (word.text, word.line, &*word.file, word.system)).collect();
        assert_eq!(
            places,
            [
                ("x", 7, "a.cl", false),
                ("y", 9, "a.cl", false),
                ("z", 1, "/usr/include/h.h", true),
                ("w", 9, "a.cl", false)
            ]
        );
    }

    /// An operation in braces of the 1990s was left as it was.
    #[test]
    fn digraphs_are_what_they_stand_for() {
        let all = tokens("<% a<:1:> %>;", "f").unwrap();
        let found: Vec<_> = all.iter().map(|token| (token.text, token.at, token.end())).collect();
        let marks: Vec<_> = found.into_iter().filter(|(text, ..)| "{[]}".contains(text)).collect();
        assert_eq!(marks, [("{", 0, 2), ("[", 4, 6), ("]", 7, 9), ("}", 10, 12)]);
    }

    /// A byte 0 in a string ended it.
    #[test]
    fn a_byte_0_is_kept_in_a_string_and_passed_over_elsewhere() {
        assert_eq!(texts("a \0 \"b\0c\" d"), ["a", "\"b\0c\"", "d"]);
    }

    #[test]
    fn quotes_in_a_files_name_are_its_own() {
        let all = tokens("# 3 \"a\\\"b\\\\c\"\nx", "f").unwrap();
        assert_eq!(&*all[1].file, "a\"b\\c");
    }

    #[test]
    fn what_does_not_end_is_told_with_its_line() {
        let (unfinished, line, _) = tokens("a\n\"b\n", "f").unwrap_err();
        assert_eq!((unfinished.what, line), ("expected '\"' at the end of the string", 2));
        assert_eq!(tokens("'x", "f").unwrap_err().1, 1);
        assert!(tokens("/* x", "f").is_err());
        assert!(tokens("\"x\\", "f").is_err());
    }
}
