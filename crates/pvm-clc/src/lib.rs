//! The precompiler of C-Linda.
//!
//! [`translate`] takes preprocessed C, in which macros are expanded and typedefs are known. The
//! tokenizer (`token`) and a reader of declarations (`unit`) find the operations, and skip names
//! that the program has declared itself; `operation` finds the fields; `emit` writes C whose types
//! the compiler checks. ADR 44 has the reasons for a parser of our own.

#![forbid(unsafe_code)]

mod cursor;
mod declaration;
mod emit;
mod operation;
mod pieces;
mod problem;
mod token;
mod unit;

use std::collections::HashMap;

use cursor::Cursor;
pub use problem::Problem;
use token::{Kind, Token};

/// The deepest nesting. Compilers accept some hundreds of levels; each level uses stack here.
const DEPTH_MAX: usize = 1000;

/// Translates a preprocessed file. `read` returns the text of a file, for showing the line of an
/// error.
pub fn translate(
    text: &str,
    file: &str,
    read: &dyn Fn(&str) -> Option<String>,
) -> Result<String, Vec<Problem>> {
    let all = token::tokens(text, file).map_err(|(unfinished, line, file)| {
        let rest = &text[unfinished.at.min(text.len())..];
        let first: String = rest.chars().take(1).collect();
        let token = Token {
            kind: Kind::Mark,
            text: &first,
            at: 0,
            length: first.len(),
            line,
            file,
            system: false,
        };
        vec![problem::problem(&token, &[], unfinished.what.to_string(), read)]
    })?;
    let cursor = Cursor::new(all.into_iter().filter(|token| token.kind != Kind::Line).collect());
    if cursor.len() == 0 {
        return Ok(text.to_string());
    }
    if let Some(at) = cursor.too_deep(DEPTH_MAX) {
        return Err(vec![tell(
            &cursor,
            at,
            format!("parentheses are nested more than {DEPTH_MAX} deep"),
            read,
        )]);
    }
    let unit = unit::unit(&cursor);
    let mut operations = HashMap::new();
    let mut problems = Vec::new();
    for at in &unit.operations {
        match operation::operation(&cursor, &unit, *at) {
            Ok(operation) => drop(operations.insert(*at, operation)),
            Err((at, what)) => problems.push(tell(&cursor, at, what, read)),
        }
    }
    if problems.is_empty() {
        Ok(emit::emit(text, &cursor, &unit, &operations))
    } else {
        Err(problems)
    }
}

fn tell(
    cursor: &Cursor<'_>,
    at: usize,
    what: String,
    read: &dyn Fn(&str) -> Option<String>,
) -> Problem {
    let token = cursor.token(at);
    let mut first = at.min(cursor.len() - 1);
    while first > 0
        && cursor.token(first - 1).line == token.line
        && cursor.token(first - 1).file == token.file
    {
        first -= 1;
    }
    let before: Vec<Token<'_>> =
        (first..at.min(cursor.len() - 1)).map(|i| cursor.token(i).clone()).collect();
    problem::problem(token, &before, what, read)
}
