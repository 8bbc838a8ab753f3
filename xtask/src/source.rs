//! Reading the workspace as text: which files there are, and what in them is code.
//!
//! Not a Rust parser. It knows comments, strings, characters and lifetimes, which is enough to tell
//! a word in the code from the same word in a sentence.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders that hold nothing written by hand.
const NOT_OURS: [&str; 6] =
    [".git", "target", "node_modules", "__pycache__", "corpus", "artifacts"];

/// A text file of the workspace.
pub(crate) struct Source {
    /// Relative to the workspace, with `/` between the parts.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// The text without comments, without what strings contain, and without the tests at the file's
    /// end. Line numbers stay as they are.
    pub(crate) fn code(&self) -> String {
        blank_prose(before_tests(&self.text))
    }
}

/// Every text file below `root`, in a stable order.
pub(crate) fn read_all(root: &Path) -> io::Result<Vec<Source>> {
    let mut files = Vec::new();
    collect(root, &mut files)?;
    files.sort();
    let mut sources = Vec::new();
    for file in files {
        // What is not UTF-8 is a picture or a recording, and no file of ours to read.
        if let Ok(text) = fs::read_to_string(&file) {
            let path =
                file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            sources.push(Source::new(path, text));
        }
    }
    Ok(sources)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let ours = !NOT_OURS.contains(&entry.file_name().to_string_lossy().as_ref());
        if kind.is_dir() && ours {
            collect(&entry.path(), files)?;
        } else if kind.is_file() && ours {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// Unit tests stand at the end of a file behind a `cfg` that names `test`.
fn before_tests(text: &str) -> &str {
    let mut offset = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let opens_tests = line.starts_with("#[cfg(")
            && line.contains("test")
            && lines.peek().is_some_and(|next| next.starts_with("mod ") && next.contains('{'));
        if opens_tests {
            return &text[..offset];
        }
        offset += line.len();
    }
    text
}

/// Replaces comments and the insides of strings by spaces.
fn blank_prose(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let prose = prose_length(rest);
        if prose > 0 {
            out.extend(rest[..prose].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = &rest[prose..];
        } else {
            // A word is taken whole, so that the r of `for` does not open a raw string.
            let word = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
            let step = word.max(first.len_utf8());
            out.push_str(&rest[..step]);
            rest = &rest[step..];
        }
    }
    out
}

/// The number of bytes at the start of `text` that are a comment, a string or a character; 0 if it
/// is code.
fn prose_length(text: &str) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return block_comment_length(text);
    }
    let unprefixed = text.trim_start_matches(['b', 'c']);
    let prefix = text.len() - unprefixed.len();
    if prefix <= 1 {
        if unprefixed.starts_with('"') {
            return prefix + quoted_length(unprefixed, '"');
        }
        if unprefixed.starts_with("r\"") || unprefixed.starts_with("r#") {
            return raw_string_length(unprefixed).map_or(0, |length| prefix + length);
        }
    }
    if text.starts_with('\'') { character_length(text) } else { 0 }
}

fn block_comment_length(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

fn quoted_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return at + c.len_utf8();
        }
    }
    text.len()
}

/// `None` for a raw identifier such as `r#type`.
fn raw_string_length(text: &str) -> Option<usize> {
    let hashes = text[1..].chars().take_while(|c| *c == '#').count();
    let body = text[1 + hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(2 + hashes + length)
}

/// 0 for a lifetime.
fn character_length(text: &str) -> usize {
    let mut inside = text.chars().skip(1);
    match (inside.next(), inside.next()) {
        (Some('\\'), _) => quoted_length(text, '\''),
        (Some(c), Some('\'')) => 2 + c.len_utf8(),
        _ => 0,
    }
}

/// Whether `c` can stand in an identifier.
pub(crate) fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// The lines (from 1) on which `word` stands as a whole word.
pub(crate) fn lines_with(code: &str, word: &str) -> Vec<usize> {
    let has = |line: &str| {
        line.match_indices(word).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + word.len()..].chars().next();
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
    };
    code.lines().enumerate().filter(|(_, line)| has(line)).map(|(at, _)| at + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        Source::new("x.rs", text).code()
    }

    #[test]
    fn comments_and_strings_are_blanked_and_lines_kept() {
        let text = "a // unsafe\n/* unsafe /* unsafe */\nunsafe */ b \"un\\\"safe\nunsafe\" c \
                    r#\"unsafe\"# d";
        let code = code(text);
        assert!(!code.contains("unsafe"), "{code}");
        assert_eq!(code.lines().count(), text.lines().count());
        for kept in ["a", "b", "c", "d"] {
            assert_eq!(lines_with(&code, kept).len(), 1, "{kept} in {code}");
        }
    }

    #[test]
    fn lifetimes_and_raw_names_are_code_and_characters_are_not() {
        let text = "fn f<'a>(x: &'a u8, r#type: char) { x == '\"' || '\\'' ; for y in b\"unsafe\" \
                    { kept } }";
        let code = code(text);
        assert_eq!(lines_with(&code, "kept"), [1]);
        assert_eq!(lines_with(&code, "type"), [1]);
        assert!(!code.contains("unsafe"));
    }

    #[test]
    fn tests_at_the_end_are_left_out() {
        assert!(
            !code("fn a() {}\n#[cfg(test)]\nmod tests {\n    unsafe {}\n}\n").contains("unsafe")
        );
        assert!(
            !code("fn a() {}\n#[cfg(all(test, not(loom)))]\nmod tests { unsafe {} }\n")
                .contains("unsafe")
        );
        assert!(code("#[cfg(test)]\nmod outside;\nfn a() { unsafe {} }\n").contains("unsafe"));
    }

    #[test]
    fn a_word_is_a_whole_word() {
        assert_eq!(lines_with("unsafe_code\n#[unsafe(no_mangle)]\nnot_unsafe\n", "unsafe"), [2]);
    }

    #[test]
    fn the_file_git_of_a_worktree_is_not_read() {
        let root = std::env::temp_dir().join(format!("xtask-worktree-{}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        fs::write(root.join(".git"), "gitdir: elsewhere\n").unwrap();
        fs::write(root.join("lib.rs"), "\n").unwrap();
        let found = read_all(&root).unwrap();
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(found.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["lib.rs"]);
    }
}
