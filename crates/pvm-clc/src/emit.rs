//! Writes C in place of operations. The C compiler finds the types: `_Generic` gives each type its
//! number of `neotuple.h`, and a field without a number is an error in the user's line.

use std::collections::HashMap;
use std::fmt::Write;

use crate::cursor::Cursor;
use crate::declaration::{Parameter, Takes};
use crate::operation::{Field, Length, Operation, Span};
use crate::pieces::{
    CALLS, DIMENSIONS_MAX, FALLBACKS, INNERMOST, INNERMOST_ITEM, RUNTIME, checked, has_bytes,
    has_items, indent, innermost, is_array, is_from_clang, item_type, kind, value_type,
};
use crate::unit::{OPERATIONS, Unit};

/// The variable, in each field's block, for the number of its type.
const TYPE: &str = "__linda_k";

struct Emitter<'c, 'a> {
    cursor: &'c Cursor<'a>,
    unit: &'c Unit<'a>,
    text: &'a str,
    operations: &'c HashMap<usize, Operation>,
    out: String,
    /// The text that follows the file's end: the functions that eval runs.
    tail: String,
    lives: usize,
    /// True while only types matter. Operations are then written as ints, because a nested call
    /// would otherwise be written twice for each level around it.
    only_types: bool,
}

/// The file with C in place of its operations.
pub(crate) fn emit<'a>(
    text: &'a str,
    cursor: &Cursor<'a>,
    unit: &Unit<'a>,
    operations: &HashMap<usize, Operation>,
) -> String {
    let out = String::with_capacity(text.len() + 4096 * operations.len());
    let mut emitter = Emitter {
        cursor,
        unit,
        text,
        operations,
        out,
        tail: String::new(),
        lives: 0,
        only_types: false,
    };
    emitter.runtime();
    emitter.copy_text(0, text.len(), 0, cursor.len());
    let tail = std::mem::take(&mut emitter.tail);
    emitter.out.push_str(&tail);
    emitter.main();
    emitter.out
}

impl Emitter<'_, '_> {
    fn put(&mut self, arguments: std::fmt::Arguments<'_>) {
        self.out.write_fmt(arguments).expect("a string takes everything");
    }

    fn runtime(&mut self) {
        self.out.push_str("# 1 \"<linda>\" 3\n");
        self.out.push_str(RUNTIME);
        if !is_from_clang(self.text) {
            self.out.push_str(FALLBACKS);
        }
        for (name, declaration) in CALLS {
            if !self.unit.types.contains_key(name) {
                self.put(format_args!("{declaration}\n"));
            }
        }
    }

    /// Renames the program's `main` to `real_main`, which the runtime's `main` calls. If it returns
    /// nothing, the program ends with 0.
    fn main(&mut self) {
        let own = self.unit.functions.get("real_main").filter(|function| function.has_body);
        let Some(function) = own else { return };
        let call = "__linda_main(__linda_argc, __linda_argv, (int (*)(int, char **))real_main)";
        let end = if function.is_void {
            format!("(void){call}; return 0;")
        } else {
            format!("return {call};")
        };
        self.put(format_args!(
            "\n# 1 \"<linda>\" 3\nint main(int __linda_argc, char **__linda_argv) {{ {end} }}\n"
        ));
    }

    /// Copies the text between two positions, with its tokens `first` to `last`, and replaces its
    /// operations.
    fn copy_text(&mut self, from: usize, to: usize, first: usize, last: usize) {
        let mut at = from;
        let mut i = first;
        while i < last {
            if let Some(operation) = self.operations.get(&i) {
                let begin = self.cursor.token(i).at;
                self.out.push_str(&self.text[at..begin]);
                self.operation(operation);
                at = self.cursor.token(operation.close).end();
                i = operation.close + 1;
            } else {
                if let Some(word) = self.without_register(i) {
                    let token = self.cursor.token(i);
                    self.out.push_str(&self.text[at..token.at]);
                    self.out.push_str(word);
                    at = token.end();
                }
                i += 1;
            }
        }
        self.out.push_str(&self.text[at..to]);
    }

    /// The text that replaces `register`, because the addresses of variables are taken. If it is
    /// the only specifier, it becomes `int`.
    fn without_register(&self, i: usize) -> Option<&'static str> {
        let cursor = self.cursor;
        if !cursor.is(i, "register") || cursor.token(i).system {
            return None;
        }
        let untyped = cursor.is_word(i + 1) && matches!(cursor.text(i + 2), "," | ";" | "=" | ")");
        let before = i.checked_sub(1).map_or("", |before| cursor.text(before));
        let first = matches!(before, "" | ";" | "{" | "}" | "(" | "," | ")");
        Some(if untyped && first { "int" } else { "" })
    }

    fn copy(&mut self, (from, to): Span) {
        let (begin, end) = (self.cursor.token(from).at, self.cursor.token(to - 1).end());
        self.copy_text(begin, end, from, to);
    }

    fn raw(&self, (from, to): Span) -> String {
        self.cursor.join(from, to)
    }

    /// An expression of the same type, which is not evaluated.
    fn of_type(&mut self, span: Span) -> String {
        let out = std::mem::take(&mut self.out);
        let only_types = std::mem::replace(&mut self.only_types, true);
        self.copy(span);
        self.only_types = only_types;
        std::mem::replace(&mut self.out, out)
    }

    fn quoted_file(&self, i: usize) -> String {
        self.cursor.token(i).file.replace('\\', "\\\\").replace('"', "\\\"")
    }

    /// The line directive and blanks after which the C compiler is at a token, or at its end.
    fn place(&self, i: usize, is_end: bool) -> String {
        let token = self.cursor.token(i);
        let (line, file) = (token.line, self.quoted_file(i));
        let at = if is_end { token.end() } else { token.at };
        format!("\n# {line} \"{file}\"\n{}", indent(self.text, at))
    }

    /// Moves the C compiler's position to a token.
    fn move_to(&mut self, i: usize) {
        let place = self.place(i, false);
        self.out.push_str(&place);
    }

    fn operation(&mut self, operation: &Operation) {
        if self.only_types {
            return self.out.push('1');
        }
        let first = self.cursor.token(operation.at);
        let file = self.quoted_file(operation.at);
        let (line, number, count) = (first.line, operation.number, operation.fields.len());
        self.put(format_args!(
            "(__extension__ ({{ void *__linda_t = __linda_begin(\"{file}\", {line}, {number}, \
             {count}); "
        ));
        for (index, field) in operation.fields.iter().enumerate() {
            let what = format!("field {} of {}", index + 1, OPERATIONS[operation.number]);
            self.field(operation, field, &what);
        }
        // `in` and `rd` return only with a tuple; the compiler must see that, to know that lengths
        // are set.
        let may_fail = OPERATIONS[operation.number].ends_with('p');
        self.put(format_args!(
            "{}",
            if may_fail { "if (__linda_do(__linda_t)) { " } else { "__linda_do(__linda_t); { " }
        ));
        for (index, field) in operation.fields.iter().enumerate() {
            if let Field::FormalArray(_, Length::Said(length))
            | Field::TypeArray(_, Length::Said(length)) = field
            {
                self.put(format_args!("("));
                self.move_to(length.0);
                self.copy(*length);
                self.put(format_args!(") = __linda_length(__linda_t, {index}); "));
            }
        }
        self.put(format_args!("}} __linda_end(__linda_t); }}))"));
        // The rest of the user's line is behind the closing parenthesis.
        let rest = self.place(operation.close, true);
        self.out.push_str(&rest);
    }

    fn field(&mut self, operation: &Operation, field: &Field, what: &str) {
        match field {
            Field::Actual(span) => self.actual(*span, what, "__linda_actual"),
            Field::Array(span, length) => self.array(*span, *length, what),
            Field::Formal(span) => self.formal(*span, what),
            Field::FormalArray(span, _) => self.formal_array(*span, what),
            Field::Type(span) | Field::TypeArray(span, _) => {
                self.formal_type(*span, matches!(field, Field::TypeArray(..)), what);
            }
            Field::Live(function, arguments) => self.live(operation.at, *function, arguments),
        }
    }

    /// Opens a field's block with the field's value or address in a variable, so that the field is
    /// evaluated once. Errors of all three parts are reported at the field.
    fn begin_field(&mut self, variable: &str, operator: &str, span: Span) {
        let place = self.place(span.0, false);
        self.put(format_args!("{{ __auto_type{place}{variable} ={place}{operator}({place}"));
        self.copy(span);
        self.put(format_args!("); "));
    }

    /// Opens the block of an array's field. Returns its variable, which has the array's address if
    /// the array has one, and the array as an expression.
    fn begin_array(&mut self, has_address: bool, span: Span) -> (&'static str, &'static str) {
        let (variable, operator, array) = if has_address {
            ("__linda_w", "&", "(*__linda_w)")
        } else {
            ("__linda_v", "", "__linda_v")
        };
        self.begin_field(variable, operator, span);
        (variable, array)
    }

    fn actual(&mut self, span: Span, what: &str, call: &str) {
        self.begin_field("__linda_a", "", span);
        let number = value_type("__linda_a");
        let check = checked(
            TYPE,
            &number,
            "__linda_a",
            &format!("{what} has no type of a tuple; write an array as a: or a:n"),
            &self.place(span.0, false),
        );
        self.put(format_args!(
            "{check} {call}(__linda_t, {TYPE}, &__linda_a, sizeof __linda_a); }} "
        ));
    }

    fn array(&mut self, span: Span, length: Length, what: &str) {
        // The field's address is taken, so that the field is evaluated once. A computed pointer has
        // no address.
        let whole = length == Length::Whole && self.is_place(span);
        let (_, items) = self.begin_array(whole, span);
        let check = has_items(items, what, &self.place(span.0, false));
        self.out.push_str(&check);
        self.put(format_args!("long __linda_n = "));
        match length {
            Length::Said(count) => {
                self.put(format_args!("("));
                self.move_to(count.0);
                self.copy(count);
                self.put(format_args!("); "));
            }
            Length::Whole => {
                let array = if whole { items.to_string() } else { self.of_type(span) };
                let check = is_array(&array, what, &self.place(span.0, false));
                self.put(format_args!(
                    "sizeof({array}) / (unsigned long)sizeof(({array})[0]); {check} "
                ));
            }
        }
        let check = self.item(items, span, what);
        // A count of rows becomes a count of items; a count that is too large becomes invalid.
        self.put(format_args!(
            "{check} if (__builtin_mul_overflow(__linda_n, (long)(sizeof {items}[0] / \
             sizeof({INNERMOST})), &__linda_n)) __linda_n = -1; \
             __linda_array(__linda_t, {TYPE}, {items}, sizeof({INNERMOST}), __linda_n); }} "
        ));
    }

    fn formal(&mut self, span: Span, what: &str) {
        self.begin_field("__linda_p", "&", span);
        let number = value_type("*__linda_p");
        let check = checked(
            TYPE,
            &number,
            "(*__linda_p)",
            &format!("{what} has no type of a tuple; write an array as ?a:"),
            &self.place(span.0, false),
        );
        // For a string its characters are stored, for a pointer the pointer itself.
        self.put(format_args!("{}", innermost("__linda_p", 1)));
        self.writable("(__linda_i1 *)__linda_p", span);
        self.put(format_args!(
            "{check} __linda_formal(__linda_t, {TYPE}, (void *)__linda_p, sizeof *__linda_p, \
             __extension__ _Generic(__linda_p, char **: {p}, const char **: {p}, default: {a})); \
             }} ",
            p = kind::POINTER,
            a = kind::PLACE
        ));
    }

    fn formal_array(&mut self, span: Span, what: &str) {
        let has_address = self.is_place(span);
        let (variable, array) = self.begin_array(has_address, span);
        let check = has_items(array, what, &self.place(span.0, false));
        self.out.push_str(&check);
        let check = self.item(array, span, what);
        self.put(format_args!("{check} "));
        self.writable(&format!("({INNERMOST} *){array}"), span);
        let pointer =
            format!("__builtin_types_compatible_p(__typeof__({array}), __typeof__(&{array}[0]))");
        let place = if has_address {
            format!("{pointer} ? -1 : (long)sizeof({array}), {pointer}")
        } else {
            format!("-1, {}", kind::PLACE)
        };
        self.put(format_args!(
            "__linda_formal_array(__linda_t, {TYPE}, (void *){variable}, \
             sizeof({array}[0]), {place}); }} "
        ));
    }

    /// An assignment that is never executed: with it the compiler refuses a field that cannot be
    /// assigned.
    fn writable(&mut self, pointer: &str, span: Span) {
        let place = self.place(span.0, false);
        self.put(format_args!("0 ? (void)({place}*{pointer} = *{pointer}) : (void)0; "));
    }

    /// The number of the type of an array's items. For arrays of arrays it is the type of the
    /// innermost items.
    fn item(&self, items: &str, span: Span, what: &str) -> String {
        let place = self.place(span.0, false);
        let number = item_type(INNERMOST_ITEM);
        let fault = format!("{what} is an array of a type that no tuple can hold");
        let check = checked(TYPE, &number, INNERMOST_ITEM, &fault, &place);
        format!(
            "{} {check} {}",
            innermost(items, DIMENSIONS_MAX),
            has_bytes(INNERMOST, what, &place)
        )
    }

    /// True for an expression with an address: a name, an element, a member, or what a pointer
    /// points to.
    fn is_place(&self, (from, to): Span) -> bool {
        let cursor = self.cursor;
        if cursor.is(from, "*") {
            return true;
        }
        if cursor.is(from, "(") && cursor.behind(from) == to {
            return self.is_place((from + 1, to - 1));
        }
        let mut i = if cursor.is(from, "(") { cursor.behind(from) } else { from + 1 };
        if !cursor.is(from, "(") && !cursor.is_word(from) {
            return false;
        }
        while i < to {
            i = match cursor.text(i) {
                "[" => cursor.behind(i),
                "." | "->" => i + 2,
                _ => return false,
            };
        }
        true
    }

    fn formal_type(&mut self, span: Span, is_array: bool, what: &str) {
        let name = self.raw(span);
        let check = if is_array {
            self.item(&format!("((__typeof__({name}) *)0)"), span, what)
        } else {
            let value = format!("(*(__typeof__({name}) *)0)");
            let fault = format!("{what} is no type of a tuple; write an array as ?int:");
            checked(TYPE, &value_type(&value), &value, &fault, &self.place(span.0, false))
        };
        let call = if is_array { "__linda_formal_array" } else { "__linda_formal" };
        let room = if is_array { "-1, " } else { "" };
        self.put(format_args!(
            "{{ {check} {call}(__linda_t, {TYPE}, (void *)0, sizeof({name}), {room}0); }} "
        ));
    }

    fn live(&mut self, at: usize, function: usize, arguments: &[Span]) {
        let name = self.cursor.text(function);
        let known = self.unit.functions.get(name).expect("checked by the operation's parser");
        self.lives += 1;
        // An argument may have an eval of its own, so the number is taken first.
        let number = self.lives;
        let label = format!("{}:{name}:{number}", self.quoted_file(at));
        self.put(format_args!("{{ "));
        if known.at < at {
            // The compiler compares the types of the arguments with the prototype.
            let all: Vec<String> = arguments.iter().map(|span| self.of_type(*span)).collect();
            self.put(format_args!("if (0) {{ __auto_type __linda_u = "));
            self.move_to(function);
            self.put(format_args!("{name}({}); (void)__linda_u; }} ", all.join(", ")));
        }
        self.put(format_args!("__linda_call(__linda_t, \"{label}\", {}); ", arguments.len()));
        for (index, span) in arguments.iter().enumerate() {
            self.actual(*span, &format!("argument {} of {name}", index + 1), "__linda_argument");
        }
        self.put(format_args!("}} "));
        let parameters = match &known.takes {
            Takes::These(parameters) => parameters.as_slice(),
            Takes::Unknown | Takes::More => &[],
        };
        let tail = self.runner(function, (name, number), &label, parameters);
        self.tail.push_str(&tail);
    }

    /// Writes the function that runs a live field in its process, and its entry in the runtime's
    /// list.
    fn runner(
        &self,
        at: usize,
        (name, number): (&str, usize),
        label: &str,
        parameters: &[Parameter],
    ) -> String {
        let (line, file) = (self.cursor.token(at).line, self.quoted_file(at));
        let mut body = String::new();
        let mut arguments = Vec::new();
        for (index, parameter) in parameters.iter().enumerate() {
            let variable = format!("__linda_{index}");
            let value = value_type(&variable);
            let kind = format!("{TYPE}{index}");
            let what = format!("eval of {name}: parameter {} has no type of a tuple", index + 1);
            body.push_str(&format!(
                "{}; {} __linda_parameter(__linda_c, {index}, {kind}, (void *)&{variable}, sizeof \
                 {variable}); ",
                parameter.declare(&variable),
                checked(&kind, &value, &variable, &what, "")
            ));
            arguments.push(variable);
        }
        let value = value_type("__linda_r");
        let check = checked(
            TYPE,
            &value,
            "__linda_r",
            &format!("eval of {name}: its result has no type of a tuple"),
            "",
        );
        format!(
            "\n# {line} \"{file}\"\nstatic void __linda_run_{number}(void *__linda_c) {{ \
             __extension__ ({{ {body}\
             __auto_type __linda_r = {name}({}); {check} __linda_result(__linda_c, {TYPE}, \
             &__linda_r, sizeof __linda_r); }}); }} \
             static struct __linda_function __linda_entry_{number} = {{ \"{label}\", \
             __linda_run_{number}, 0 }}; \
             static void __attribute__((constructor)) __linda_enter_{number}(void) \
             {{ __linda_register(&__linda_entry_{number}); }}\n",
            arguments.join(", ")
        )
    }
}
