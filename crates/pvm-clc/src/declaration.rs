//! Declarations: the names of types, the names of the program's own functions and variables, and
//! the parameters of functions.

use crate::cursor::Cursor;

/// The specifiers of a declaration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Specifiers {
    /// True for `typedef`.
    pub(crate) is_typedef: bool,
    /// True if there is a type; without one it is int, as in old C.
    pub(crate) has_type: bool,
    /// True if the type is `void`.
    pub(crate) is_void: bool,
    /// The text without a storage class.
    pub(crate) text: String,
}

/// A declarator: `*name[3]`, `(*name)(int)`, or one without a name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Declarator {
    /// The token of the name.
    pub(crate) name: Option<usize>,
    /// The index of the name, or of the place for it.
    pub(crate) hole: usize,
    /// True for a pointer, or a function that returns one.
    pub(crate) is_pointer: bool,
    /// The parentheses of a function's parameters.
    pub(crate) parameters: Option<(usize, usize)>,
    /// The token behind it.
    pub(crate) next: usize,
}

/// A parameter, as a declaration around a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameter {
    before: String,
    after: String,
}

impl Parameter {
    /// The declaration of a variable of this parameter's type.
    pub(crate) fn declare(&self, name: &str) -> String {
        format!("{} {name}{}", self.before, self.after)
    }

    fn int() -> Self {
        Self { before: "int".into(), after: String::new() }
    }
}

/// The parameters of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Takes {
    /// The function has exactly these parameters.
    These(Vec<Parameter>),
    /// The function has these parameters and others.
    More,
    /// The declaration does not list the parameters: `int f();`
    Unknown,
}

/// A function that is declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Function {
    /// Its parameters.
    pub(crate) takes: Takes,
    /// True if it returns nothing.
    pub(crate) is_void: bool,
    /// The token of its first declaration.
    pub(crate) at: usize,
    /// True if its body is in the file.
    pub(crate) has_body: bool,
}

const STORAGE: [&str; 8] =
    ["typedef", "extern", "static", "auto", "register", "_Thread_local", "__thread", "_Noreturn"];
const INLINE: [&str; 4] = ["inline", "__inline", "__inline__", "__extension__"];
const QUALIFIERS: [&str; 12] = [
    "const",
    "volatile",
    "restrict",
    "_Atomic",
    "__const",
    "__const__",
    "__volatile",
    "__volatile__",
    "__restrict",
    "__restrict__",
    "_Nonnull",
    "_Nullable",
];
const TYPES: [&str; 27] = [
    "void",
    "char",
    "short",
    "int",
    "long",
    "float",
    "double",
    "signed",
    "unsigned",
    "_Bool",
    "bool",
    "_Complex",
    "__signed__",
    "__signed",
    "__complex__",
    "__int128",
    "_Float128",
    "__float128",
    "_Float64",
    "_Float32",
    "_Float64x",
    "_Float32x",
    "_Float16",
    "__builtin_va_list",
    "_Imaginary",
    "__int128_t",
    "__uint128_t",
];
const TAGGED: [&str; 3] = ["struct", "union", "enum"];
const TYPEOF: [&str; 3] = ["typeof", "__typeof__", "__typeof"];
const ATTRIBUTES: [&str; 6] =
    ["__attribute__", "__attribute", "__asm__", "__asm", "asm", "_Alignas"];

/// True for a word that can only be part of a declaration's specifiers.
pub(crate) fn is_specifier(word: &str) -> bool {
    STORAGE.contains(&word)
        || INLINE.contains(&word)
        || QUALIFIERS.contains(&word)
        || is_type_word(word)
        || word == "_Alignas"
}

/// True for a word with which a type begins.
pub(crate) fn is_type_word(word: &str) -> bool {
    TYPES.contains(&word) || TAGGED.contains(&word) || TYPEOF.contains(&word)
}

/// True for a word that restricts the use of a type.
pub(crate) fn is_qualifier(word: &str) -> bool {
    QUALIFIERS.contains(&word)
}

impl Cursor<'_> {
    /// The index behind attributes and assembler names.
    pub(crate) fn skip_attributes(&self, mut i: usize) -> usize {
        loop {
            if ATTRIBUTES.contains(&self.text(i)) && self.is(i + 1, "(") {
                i = self.behind(i + 1);
            } else if self.is(i, "[") && self.is(i + 1, "[") {
                i = self.behind(i);
            } else {
                return i;
            }
        }
    }

    /// The specifiers from a token on, and the token behind them.
    pub(crate) fn specifiers(
        &self,
        from: usize,
        is_type: impl Fn(&str) -> bool,
    ) -> (Specifiers, usize) {
        let mut found = Specifiers::default();
        let mut i = from;
        loop {
            i = self.skip_attributes(i);
            let word = self.text(i);
            let from = i;
            if STORAGE.contains(&word) || INLINE.contains(&word) {
                found.is_typedef |= word == "typedef";
                i += 1;
                continue;
            } else if QUALIFIERS.contains(&word) && !(word == "_Atomic" && self.is(i + 1, "(")) {
                i += 1;
            } else if TAGGED.contains(&word) {
                i = self.behind_tagged(i);
                found.has_type = true;
            } else if (TYPEOF.contains(&word) || word == "_Atomic") && self.is(i + 1, "(") {
                i = self.behind(i + 1);
                found.has_type = true;
            } else if TYPES.contains(&word) {
                found.is_void = word == "void" && !found.has_type;
                found.has_type = true;
                i += 1;
            } else if !found.has_type && self.is_word(i) && is_type(word) {
                found.has_type = true;
                i += 1;
            } else {
                return (found, i);
            }
            found.text.push_str(&self.join(from, i));
            found.text.push(' ');
        }
    }

    /// The index behind `struct tag`, `enum { A, B }` and so on.
    fn behind_tagged(&self, from: usize) -> usize {
        let mut i = self.skip_attributes(from + 1);
        if self.is_word(i) {
            i += 1;
        }
        i = self.skip_attributes(i);
        if self.is(i, "{") { self.behind(i) } else { i }
    }

    /// A declarator from a token on; `end` is the token that it must not pass.
    pub(crate) fn declarator(&self, from: usize, end: usize) -> Declarator {
        let mut i = from;
        let mut found = Declarator::default();
        while i < end {
            if self.is(i, "*") {
                found.is_pointer = true;
            } else if !is_qualifier(self.text(i)) {
                let behind = self.skip_attributes(i);
                if behind == i {
                    break;
                }
                i = behind;
                continue;
            }
            i += 1;
        }
        let mut inner_pointer = false;
        if self.is(i, "(") && self.is_nested(i + 1) {
            let inner = self.declarator(i + 1, end);
            found.name = inner.name;
            found.hole = inner.hole;
            inner_pointer = inner.is_pointer;
            // `int *(f(int))` and `(*f(int))(long)` have the parameters inside.
            found.parameters = inner.parameters;
            i = self.behind(i);
        } else {
            found.hole = i;
            if self.is_word(i) && i < end {
                found.name = Some(i);
                i += 1;
            }
        }
        self.suffixes(i, inner_pointer, &mut found);
        found
    }

    /// True if a parenthesis begins a declarator and not a list of parameters.
    fn is_nested(&self, i: usize) -> bool {
        let word = self.text(i);
        matches!(word, "*" | "(" | "[")
            || ATTRIBUTES.contains(&word)
            || self.is_word(i) && !is_specifier(word)
    }

    fn suffixes(&self, from: usize, inner_pointer: bool, found: &mut Declarator) {
        let mut i = self.skip_attributes(from);
        let mut first = true;
        while self.is(i, "(") || self.is(i, "[") {
            let behind = self.behind(i);
            if self.is(i, "(") && first && !inner_pointer && found.parameters.is_none() {
                found.parameters = Some((i, behind - 1));
            }
            first = false;
            i = self.skip_attributes(behind);
        }
        found.is_pointer |= inner_pointer;
        found.next = i;
    }

    /// The parameters between the tokens `open` and `close`, which are parentheses. The types of an
    /// old definition's parameters are in the declarations from `old` on.
    pub(crate) fn takes(
        &self,
        (open, close): (usize, usize),
        old: usize,
        is_type: &dyn Fn(&str) -> bool,
    ) -> Takes {
        let parts = self.split(open + 1, close);
        match parts.as_slice() {
            [] => return if self.is(old, "{") { Takes::These(Vec::new()) } else { Takes::Unknown },
            [(from, to)] if self.is(*from, "void") && to - from == 1 => {
                return Takes::These(Vec::new());
            }
            _ => {}
        }
        if parts.iter().any(|(from, _)| self.is(*from, "...")) {
            return Takes::More;
        }
        let only_names = parts.iter().all(|(from, to)| {
            to - from == 1
                && self.is_word(*from)
                && !is_specifier(self.text(*from))
                && !is_type(self.text(*from))
        });
        if only_names {
            return Takes::These(self.old_parameters(&parts, old, is_type));
        }
        Takes::These(parts.iter().map(|(from, to)| self.parameter(*from, *to, is_type)).collect())
    }

    fn parameter(&self, from: usize, to: usize, is_type: &dyn Fn(&str) -> bool) -> Parameter {
        let (specifiers, i) = self.specifiers(from, is_type);
        self.parameter_of(&specifiers, i, to)
    }

    fn parameter_of(&self, specifiers: &Specifiers, from: usize, to: usize) -> Parameter {
        let declarator = self.declarator(from, to);
        let base = if specifiers.has_type { specifiers.text.trim_end() } else { "int" };
        let mut behind = declarator.hole + usize::from(declarator.name.is_some());
        let mut before = format!("{base} {}", self.join(from, declarator.hole));
        // A parameter that is an array or a function is a pointer.
        if self.is(behind, "[") && behind < to {
            behind = self.behind(behind);
            before.push('*');
        }
        Parameter { before, after: self.join(behind, to) }
    }

    fn old_parameters(
        &self,
        names: &[(usize, usize)],
        old: usize,
        is_type: &dyn Fn(&str) -> bool,
    ) -> Vec<Parameter> {
        let mut all = vec![Parameter::int(); names.len()];
        let mut i = old;
        while i < self.len() && !self.is(i, "{") {
            let (specifiers, mut next) = self.specifiers(i, is_type);
            loop {
                let end = self.find_end(next);
                let declarator = self.declarator(next, end);
                let name = declarator.name.map_or("", |name| self.text(name));
                if let Some(place) = names.iter().position(|(at, _)| self.text(*at) == name) {
                    all[place] = self.parameter_of(&specifiers, next, end);
                }
                next = end + 1;
                if !self.is(end, ",") {
                    break;
                }
            }
            i = next.max(i + 1);
        }
        all
    }

    /// The `,` or `;` at which a declarator with its initial value ends.
    pub(crate) fn find_end(&self, from: usize) -> usize {
        let mut i = from;
        while i < self.len() && !self.is(i, ",") && !self.is(i, ";") && !self.is_closing(i) {
            i = if self.is_opening(i) { self.behind(i) } else { i + 1 };
        }
        i
    }
}
