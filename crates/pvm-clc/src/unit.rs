//! A whole file: the words that are operations of Linda, and the functions that it declares.

use std::collections::HashMap;

use crate::cursor::Cursor;
use crate::declaration::{Function, Takes, is_specifier};

/// The operations by the names that a program may also use for its own functions.
pub(crate) const OPERATIONS: [&str; 6] = ["out", "eval", "in", "rd", "inp", "rdp"];
/// The prefix of the operations' names that no program uses.
pub(crate) const ALWAYS: &str = "__linda_";

/// The declarations of a file that were read so far.
#[derive(Debug, Default)]
pub(crate) struct Unit<'a> {
    /// The tokens that are operations, each before its parenthesis.
    pub(crate) operations: Vec<usize>,
    /// Functions of the file.
    pub(crate) functions: HashMap<&'a str, Function>,
    /// The names at the end of the file, and whether each is a type.
    pub(crate) types: HashMap<&'a str, bool>,
    /// For each function with a body: its first token, and the closing brace.
    pub(crate) bodies: Vec<(usize, usize)>,
}

struct Walk<'c, 'a> {
    cursor: &'c Cursor<'a>,
    /// The names of each scope, and whether each is a type.
    scopes: Vec<HashMap<&'a str, bool>>,
    unit: Unit<'a>,
}

/// Reads a file.
pub(crate) fn unit<'a>(cursor: &Cursor<'a>) -> Unit<'a> {
    let mut walk = Walk { cursor, scopes: vec![HashMap::new()], unit: Unit::default() };
    let mut i = 0;
    while i < cursor.len() {
        i = walk.external(i).max(i + 1);
    }
    walk.unit.types = walk.scopes.swap_remove(0);
    walk.unit
}

impl<'a> Walk<'_, 'a> {
    fn is_type(&self, word: &str) -> bool {
        self.scopes.iter().rev().find_map(|scope| scope.get(word)).copied().unwrap_or(false)
    }

    fn is_declared(&self, word: &str) -> bool {
        self.scopes.iter().any(|scope| scope.contains_key(word))
    }

    fn declare(&mut self, name: usize, is_type: bool) {
        let text = self.cursor.text(name);
        self.scopes.last_mut().expect("the file's scope stays").insert(text, is_type);
    }

    /// Reads a declaration or a function outside of all functions; returns the token behind it.
    fn external(&mut self, from: usize) -> usize {
        let cursor = self.cursor;
        if cursor.is(from, ";") {
            return from + 1;
        }
        let (specifiers, mut i) = cursor.specifiers(from, |word| self.is_type(word));
        loop {
            let declarator = cursor.declarator(i, cursor.len());
            if let Some(name) = declarator.name {
                self.declare(name, specifiers.is_typedef);
            }
            let next = declarator.next;
            if let (Some(name), Some(parameters), false) =
                (declarator.name, declarator.parameters, specifiers.is_typedef)
            {
                let is_void = specifiers.is_void && !declarator.is_pointer;
                self.function(name, parameters, next, is_void);
                if let Some(body) = self.body_of(next) {
                    if let Some(function) = self.unit.functions.get_mut(cursor.text(name)) {
                        function.has_body = true;
                    }
                    return self.body(from, parameters, body);
                }
            }
            let end = cursor.find_end(next);
            if !cursor.is(end, ",") {
                return end + 1;
            }
            i = end + 1;
        }
    }

    fn function(&mut self, name: usize, parameters: (usize, usize), next: usize, is_void: bool) {
        let takes = self.cursor.takes(parameters, next, &|word| self.is_type(word));
        let found = Function { takes, is_void, at: name, has_body: false };
        let known =
            self.unit.functions.entry(self.cursor.text(name)).or_insert_with(|| found.clone());
        if known.takes == Takes::Unknown {
            known.takes = found.takes;
        }
    }

    /// The opening brace of a function's body, which may come after declarations of its parameters.
    fn body_of(&self, next: usize) -> Option<usize> {
        let cursor = self.cursor;
        let mut i = next;
        while i < cursor.len() && !cursor.is(i, "{") {
            if !is_specifier(cursor.text(i)) && !self.is_type(cursor.text(i)) {
                return None;
            }
            while !cursor.is(i, ";") {
                if i >= cursor.len() || cursor.is(i, "=") {
                    return None;
                }
                i = cursor.find_end(i);
                if cursor.is(i, ",") {
                    i += 1;
                } else if !cursor.is(i, ";") {
                    return None;
                }
            }
            i += 1;
        }
        (i < cursor.len()).then_some(i)
    }

    fn body(&mut self, from: usize, parameters: (usize, usize), body: usize) -> usize {
        let cursor = self.cursor;
        self.scopes.push(HashMap::new());
        for (at, to) in cursor.split(parameters.0 + 1, parameters.1) {
            let (specifiers, i) = cursor.specifiers(at, |word| self.is_type(word));
            let name = cursor.declarator(i, to).name;
            if let Some(name) = name.filter(|_| specifiers.has_type || to - at == 1) {
                self.declare(name, false);
            }
        }
        let end = self.block(body);
        self.scopes.pop();
        self.unit.bodies.push((from, cursor.partner(body)));
        end
    }

    /// Reads a block with its braces; returns the token behind it.
    fn block(&mut self, open: usize) -> usize {
        let cursor = self.cursor;
        let end = cursor.partner(open);
        // For each open brace the number of open parentheses in it.
        let mut parentheses: Vec<u32> = Vec::new();
        let mut begins = false;
        let mut i = open;
        while i < end.min(cursor.len()) {
            let begun = std::mem::replace(&mut begins, false);
            match cursor.text(i) {
                "{" => {
                    self.scopes.push(HashMap::new());
                    parentheses.push(0);
                    begins = true;
                }
                "}" => {
                    self.scopes.pop();
                    parentheses.pop();
                    begins = true;
                }
                "(" => {
                    if let Some(count) = parentheses.last_mut() {
                        *count += 1;
                    }
                    begins = i > 0 && cursor.is(i - 1, "for");
                }
                ")" => {
                    if let Some(count) = parentheses.last_mut() {
                        *count = count.saturating_sub(1);
                    }
                }
                ";" => begins = parentheses.last() == Some(&0),
                _ => {
                    if begun && self.begins_declaration(i) {
                        self.local(i);
                    }
                    if self.is_operation(i) {
                        self.unit.operations.push(i);
                    }
                }
            }
            i += 1;
        }
        for _ in parentheses {
            self.scopes.pop();
        }
        end + 1
    }

    fn begins_declaration(&self, i: usize) -> bool {
        let cursor = self.cursor;
        let word = cursor.text(i);
        if is_specifier(word) {
            return true;
        }
        self.is_type(word)
            && (cursor.is_word(i + 1) || cursor.is(i + 1, "*") || cursor.is(i + 1, "("))
    }

    /// Notes the names of a declaration in a block. The search for operations reads its tokens
    /// again afterwards.
    fn local(&mut self, from: usize) {
        let cursor = self.cursor;
        let (specifiers, mut i) = cursor.specifiers(from, |word| self.is_type(word));
        loop {
            let declarator = cursor.declarator(i, cursor.len());
            if let Some(name) = declarator.name {
                self.declare(name, specifiers.is_typedef);
                if let (Some(parameters), false) = (declarator.parameters, specifiers.is_typedef) {
                    let is_void = specifiers.is_void && !declarator.is_pointer;
                    self.function(name, parameters, declarator.next, is_void);
                }
            }
            let end = cursor.find_end(declarator.next);
            if !cursor.is(end, ",") || end <= i {
                return;
            }
            i = end + 1;
        }
    }

    fn is_operation(&self, i: usize) -> bool {
        let cursor = self.cursor;
        let word = cursor.text(i);
        if !cursor.is(i + 1, "(") || i > 0 && matches!(cursor.text(i - 1), "." | "->" | "goto") {
            return false;
        }
        match word.strip_prefix(ALWAYS) {
            Some(name) => OPERATIONS.contains(&name),
            None => OPERATIONS.contains(&word) && !self.is_declared(word),
        }
    }
}
