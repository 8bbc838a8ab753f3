//! An operation and its fields.

use crate::cursor::Cursor;
use crate::declaration::{Takes, is_qualifier, is_type_word};
use crate::token::Kind;
use crate::unit::{ALWAYS, OPERATIONS, Unit};

/// The most fields of a tuple (`NEOTUPLE_FIELDS_MAX`).
const FIELDS_MAX: usize = 255;

/// A range of tokens: its first one, and the one behind its last.
pub(crate) type Span = (usize, usize);

/// The number of items of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// The whole array: `a:`
    Whole,
    /// A number of items: `a:n`
    Said(Span),
}

/// A field of a tuple.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Field {
    /// A value.
    Actual(Span),
    /// Items of an array.
    Array(Span, Length),
    /// A variable: `?x`
    Formal(Span),
    /// An array: `?a:`, `?a:n`
    FormalArray(Span, Length),
    /// A type: `?int`
    Type(Span),
    /// A type of items: `?int:`
    TypeArray(Span, Length),
    /// A call that eval runs in another process: the function and its arguments.
    Live(usize, Vec<Span>),
}

/// An operation.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    /// The index of its name in [`OPERATIONS`].
    pub(crate) number: usize,
    /// The token of its name.
    pub(crate) at: usize,
    /// The closing parenthesis.
    pub(crate) close: usize,
    /// Its fields.
    pub(crate) fields: Vec<Field>,
}

/// A fault: its token and its description.
pub(crate) type Fault = (usize, String);

/// Reads an operation and its fields.
pub(crate) fn operation(
    cursor: &Cursor<'_>,
    unit: &Unit<'_>,
    at: usize,
) -> Result<Operation, Fault> {
    let word = cursor.text(at);
    let name = word.strip_prefix(ALWAYS).unwrap_or(word);
    let number =
        OPERATIONS.iter().position(|known| *known == name).expect("the unit names operations only");
    let open = at + 1;
    if !cursor.is_closed(open) {
        return Err((open, format!("expected ')' that ends the fields of {name}")));
    }
    let close = cursor.partner(open);
    let parts = cursor.split(open + 1, close);
    if parts.is_empty() {
        return Err((close, format!("expected a field of {name} before ')'")));
    }
    if parts.len() > FIELDS_MAX {
        return Err((parts[FIELDS_MAX].0, format!("a tuple has {FIELDS_MAX} fields at most")));
    }
    let fields =
        parts.iter().map(|part| field(cursor, unit, name, *part)).collect::<Result<_, _>>()?;
    Ok(Operation { number, at, close, fields })
}

fn field(
    cursor: &Cursor<'_>,
    unit: &Unit<'_>,
    name: &str,
    (from, to): Span,
) -> Result<Field, Fault> {
    if from == to {
        return Err((from, format!("expected a field of {name} before '{}'", cursor.text(to))));
    }
    if !cursor.is(from, "?") {
        let (value, length) = length(cursor, (from, to))?;
        return match length {
            Some(length) => Ok(Field::Array(value, length)),
            None if name == "eval" => live(cursor, unit, value),
            None => Ok(Field::Actual(value)),
        };
    }
    if name == "out" || name == "eval" {
        return Err((
            from,
            format!("{name} puts values: expected one in place of the formal field"),
        ));
    }
    let (place, length) = length(cursor, (from + 1, to))?;
    let first = cursor.text(place.0);
    if cursor.token(place.0).kind == Kind::Literal {
        return Err((place.0, format!("expected a variable or a type before '{first}'")));
    }
    let is_type =
        is_type_word(first) || is_qualifier(first) || unit.types.get(first) == Some(&true);
    Ok(match (is_type, length) {
        (false, None) => Field::Formal(place),
        (false, Some(length)) => Field::FormalArray(place, length),
        (true, None) => Field::Type(place),
        (true, Some(length)) => Field::TypeArray(place, length),
    })
}

/// Finds the colon of `a:n` that belongs to no conditional expression.
fn length(cursor: &Cursor<'_>, (from, to): Span) -> Result<(Span, Option<Length>), Fault> {
    let mut conditions = Vec::new();
    let mut colon = None;
    let mut i = from;
    while i < to {
        match cursor.text(i) {
            "?" => conditions.push(i),
            ":" if conditions.pop().is_none() => {
                if colon.replace(i).is_some() {
                    return Err((i, "expected ',' or ')' before the second ':' of a field".into()));
                }
            }
            _ => adjacent(cursor, i, to)?,
        }
        i = if cursor.is_opening(i) { cursor.behind(i) } else { i + 1 };
    }
    if let Some(question) = conditions.pop() {
        return Err((
            question,
            "expected ',' before '?', or the ':' of a conditional behind it".into(),
        ));
    }
    let end = colon.unwrap_or(to);
    if end == from {
        return Err((from, format!("expected an expression before '{}'", cursor.text(from))));
    }
    let length =
        colon.map(|at| if at + 1 == to { Length::Whole } else { Length::Said((at + 1, to)) });
    Ok(((from, end), length))
}

/// Reports two expressions next to each other without an operator between them.
fn adjacent(cursor: &Cursor<'_>, i: usize, to: usize) -> Result<(), Fault> {
    if i + 1 >= to {
        return Ok(());
    }
    let (one, two) = (cursor.token(i), cursor.token(i + 1));
    let is_string = |text: &str| text.ends_with('"');
    let joined = match (one.kind, two.kind) {
        (Kind::Literal, Kind::Literal) => is_string(one.text) && is_string(two.text),
        (Kind::Literal, Kind::Word) => false,
        (Kind::Word, Kind::Literal) => {
            matches!(one.text, "sizeof" | "_Alignof" | "__extension__" | "__alignof__")
        }
        _ => true,
    };
    if joined { Ok(()) } else { Err((i + 1, format!("expected ',' or ')' before '{}'", two.text))) }
}

/// Reads a field of eval: a call is a live field, other expressions are values of the caller.
fn live(cursor: &Cursor<'_>, unit: &Unit<'_>, (from, to): Span) -> Result<Field, Fault> {
    let is_call = cursor.is_word(from) && cursor.is(from + 1, "(") && cursor.behind(from + 1) == to;
    let name = cursor.text(from);
    if !is_call
        || is_type_word(name)
        || matches!(name, "sizeof" | "_Alignof")
        || unit.operations.contains(&from)
    {
        return Ok(Field::Actual((from, to)));
    }
    let Some(function) = unit.functions.get(name) else {
        return Err((from, format!("eval of {name}, which this file does not declare")));
    };
    if function.is_void {
        return Err((from, format!("eval of {name}, which returns nothing that could be a field")));
    }
    let arguments = cursor.split(from + 2, to - 1);
    match &function.takes {
        // A call without arguments fits a function without a parameter list, as in C.
        Takes::Unknown if arguments.is_empty() => Ok(Field::Live(from, arguments)),
        Takes::Unknown => Err((
            from,
            format!("eval of {name}, whose parameters this file does not declare; write them down"),
        )),
        Takes::More => Err((from, format!("eval of {name}, which takes any number of arguments"))),
        Takes::These(parameters) if parameters.len() != arguments.len() => {
            let (wanted, given) = (parameters.len(), arguments.len());
            Err((from, format!("expected {wanted} arguments of {name}, not {given}")))
        }
        Takes::These(_) => Ok(Field::Live(from, arguments)),
    }
}
