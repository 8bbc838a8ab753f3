//! Writes C in place of operations. The C compiler finds the types: `_Generic` gives each its
//! number of `neotuple.h`, and a field without one is an error in the user's line.

use std::collections::HashMap;
use std::fmt::Write;

use crate::cursor::Cursor;
use crate::declaration::{Parameter, Takes};
use crate::operation::{Field, Length, Operation, Span};
use crate::unit::{OPERATIONS, Unit};

/// The runtime's side, in every translated file. The names of C-Linda follow unless the program
/// declares them.
const RUNTIME: &str = "\
struct __linda_function { const char *name; void (*run)(void *); struct __linda_function *next; };
extern void *__linda_begin(const char *file, int line, int operation, int fields);
extern void __linda_actual(void *, int type, const void *value, unsigned long size);
extern void __linda_array(void *, int type, const void *items, unsigned long size, long count);
extern void __linda_formal(void *, int type, void *place, unsigned long size, int kind);
extern void __linda_formal_array(void *, int type, void *place, unsigned long size, long room, int \
kind);
extern void __linda_call(void *, const char *name, int arguments);
extern void __linda_argument(void *, int type, const void *value, unsigned long size);
extern int __linda_do(void *);
extern long __linda_length(void *, int field);
extern int __linda_end(void *);
extern int __linda_main(int, char **, int (*)(int, char **));
extern void __linda_register(struct __linda_function *);
extern void __linda_parameter(void *, int number, int type, void *place, unsigned long size);
extern void __linda_result(void *, int type, const void *value, unsigned long size);
";
const CALLS: [(&str, &str); 6] = [
    ("lexit", "extern void lexit(int);"),
    ("lhalt", "extern void lhalt(int);"),
    ("lprocs", "extern int lprocs(void);"),
    ("start_timer", "extern void start_timer(void);"),
    ("timer_split", "extern void timer_split(char *);"),
    ("print_times", "extern void print_times(void);"),
];

/// Types with their numbers; those of a string are only for values.
const SCALARS: &str = "char: 1, signed char: 2, unsigned char: 3, short: 4, unsigned short: 5, \
                       int: 6, unsigned: 7, \
    long: 8, unsigned long: 9, long long: 10, unsigned long long: 11, float: 12, double: 13, long \
    double: 14, _Bool: 15, \
    float _Complex: 16, double _Complex: 17";

/// Where the runtime puts what has come.
mod kind {
    /// At the address.
    pub(super) const PLACE: u8 = 0;
    /// Where the pointer at the address points; a null pointer gets memory.
    pub(super) const POINTER: u8 = 1;
}

fn item_type(value: &str) -> String {
    format!("__extension__ _Generic(({value}), {SCALARS}, default: 34)")
}

fn value_type(value: &str) -> String {
    format!(
        "__extension__ _Generic(({value}), char *: 32, const char *: 32, {SCALARS}, default: 34)"
    )
}

/// Gives a type's number a name, and makes an error in this line if the type has none: only a
/// struct has no entry in the list and may have none.
fn checked(name: &str, number: &str, value: &str, what: &str) -> String {
    let classes =
        format!("__builtin_classify_type({value}) == 12 || __builtin_classify_type({value}) == 13");
    format!(
        "enum {{ {name} = {number} }}; \
         __extension__ _Static_assert({name} != 34 || {classes}, \"{what}\");"
    )
}

/// In each field's block: the number of its type.
const TYPE: &str = "__linda_k";

struct Emitter<'c, 'a> {
    cursor: &'c Cursor<'a>,
    unit: &'c Unit<'a>,
    text: &'a str,
    operations: &'c HashMap<usize, Operation>,
    out: String,
    /// What is behind the file's end: the functions that eval runs.
    tail: String,
    lives: usize,
    /// The user's line that the output is in.
    line: u32,
}

/// The file with C in place of its operations.
pub(crate) fn emit<'a>(
    text: &'a str,
    cursor: &Cursor<'a>,
    unit: &Unit<'a>,
    operations: &HashMap<usize, Operation>,
) -> String {
    let out = String::with_capacity(text.len() + 4096 * operations.len());
    let mut emitter =
        Emitter { cursor, unit, text, operations, out, tail: String::new(), lives: 0, line: 0 };
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
        for (name, declaration) in CALLS {
            if !self.unit.types.contains_key(name) {
                self.put(format_args!("{declaration}\n"));
            }
        }
    }

    /// A program begins in the runtime, which calls its `real_main`. One that returns nothing ends
    /// with 0.
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

    /// Copies text, of which the tokens are given, with its operations replaced.
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

    /// The address of a variable is taken, so none is `register`. Where that is its whole type it
    /// is an int.
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
        self.line = self.cursor.token(to - 1).line;
    }

    fn raw(&self, (from, to): Span) -> String {
        self.cursor.join(from, to)
    }

    /// An expression with its operations replaced, which the output does not have yet.
    fn expression(&mut self, span: Span) -> String {
        let kept = std::mem::take(&mut self.out);
        self.copy(span);
        std::mem::replace(&mut self.out, kept)
    }

    fn quoted_file(&self, i: usize) -> String {
        self.cursor.token(i).file.replace('\\', "\\\\").replace('"', "\\\"")
    }

    /// What follows is in the line of a token.
    fn move_to(&mut self, i: usize) {
        let line = self.cursor.token(i).line;
        if line != self.line {
            let file = self.quoted_file(i);
            self.put(format_args!("\n# {line} \"{file}\"\n"));
            self.line = line;
        }
    }

    fn operation(&mut self, operation: &Operation) {
        let first = self.cursor.token(operation.at);
        self.line = first.line;
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
        // `in` and `rd` return with a tuple only: a compiler must see that lengths are set.
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
        // The rest of the user's line is in the line of the closing parenthesis.
        self.move_to(operation.close);
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

    fn actual(&mut self, span: Span, what: &str, call: &str) {
        self.put(format_args!("{{ __auto_type __linda_a = ("));
        self.move_to(span.0);
        self.copy(span);
        let number = value_type("__linda_a");
        let check = checked(
            TYPE,
            &number,
            "__linda_a",
            &format!("{what} has no type of a tuple; write an array as a: or a:n"),
        );
        self.put(format_args!(
            "); {check} {call}(__linda_t, {TYPE}, &__linda_a, sizeof __linda_a); }} "
        ));
    }

    fn array(&mut self, span: Span, length: Length, what: &str) {
        // Its address, so that it is evaluated once; a pointer that was computed has none.
        let whole = length == Length::Whole && self.is_place(span);
        self.put(format_args!("{{ __auto_type __linda_a = {}(", if whole { "&" } else { "" }));
        self.move_to(span.0);
        self.copy(span);
        self.put(format_args!("); long __linda_n = "));
        match length {
            Length::Said(count) => {
                self.put(format_args!("("));
                self.move_to(count.0);
                self.copy(count);
                self.put(format_args!("); "));
            }
            Length::Whole => {
                let array = if whole { "(*__linda_a)".to_string() } else { self.raw(span) };
                self.put(format_args!(
                    "sizeof({array}) / (unsigned long)sizeof(({array})[0]); {} ",
                    is_array(&array, what)
                ));
            }
        }
        let items = if whole { "(*__linda_a)" } else { "__linda_a" };
        let item = format!("{items}[0]");
        let number = item_type(&item);
        let check =
            checked(TYPE, &number, &item, &format!("{what} is an array of what no tuple holds"));
        self.put(format_args!(
            "{check} __linda_array(__linda_t, {TYPE}, {items}, sizeof {item}, __linda_n); }} "
        ));
    }

    /// Opens a formal's block with the address of its place: so the place is evaluated once, and
    /// never only for its type.
    fn address(&mut self, span: Span, operator: &str) {
        self.put(format_args!("{{ __auto_type __linda_p = {operator}("));
        self.move_to(span.0);
        self.copy(span);
        self.put(format_args!("); "));
    }

    fn formal(&mut self, span: Span, what: &str) {
        self.address(span, "&");
        let number = value_type("*__linda_p");
        let check = checked(
            TYPE,
            &number,
            "(*__linda_p)",
            &format!("{what} has no type of a tuple; write an array as ?a:"),
        );
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
        self.address(span, if has_address { "&" } else { "" });
        let array = if has_address { "(*__linda_p)" } else { "__linda_p" };
        let number = item_type(&format!("{array}[0]"));
        let check = checked(
            TYPE,
            &number,
            &format!("({array}[0])"),
            &format!("{what} is an array of what no tuple holds"),
        );
        let pointer =
            format!("__builtin_types_compatible_p(__typeof__({array}), __typeof__(&{array}[0]))");
        let place = if has_address {
            format!("{pointer} ? -1 : (long)sizeof({array}), {pointer}")
        } else {
            format!("-1, {}", kind::PLACE)
        };
        self.put(format_args!(
            "{check} __linda_formal_array(__linda_t, {TYPE}, (void *)__linda_p, sizeof({array}[0]), \
             {place}); }} "
        ));
    }

    /// True for what has an address: a name, an element, a member, what a pointer points to.
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
        self.move_to(span.0);
        let name = self.raw(span);
        let value = format!("*(__typeof__({name}) *)0");
        let number = if is_array { item_type(&value) } else { value_type(&value) };
        let check = checked(
            TYPE,
            &number,
            &format!("({value})"),
            &format!("{what} is no type of a tuple; write an array as ?int:"),
        );
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
        let label = format!("{}:{name}:{}", self.quoted_file(at), self.lives);
        self.move_to(function);
        self.put(format_args!("{{ "));
        if known.at < at {
            // The compiler compares the arguments with the prototype.
            let all: Vec<String> = arguments.iter().map(|span| self.expression(*span)).collect();
            self.line = self.cursor.token(function).line;
            let check = format!(
                "if (0) {{ __auto_type __linda_u = {name}({}); (void)__linda_u; }} ",
                all.join(", ")
            );
            self.out.push_str(&check);
            if check.contains('\n') {
                self.line = 0;
            }
        }
        self.put(format_args!("__linda_call(__linda_t, \"{label}\", {}); ", arguments.len()));
        for (index, span) in arguments.iter().enumerate() {
            self.actual(*span, &format!("argument {} of {name}", index + 1), "__linda_argument");
        }
        self.put(format_args!("}} "));
        if let Takes::These(parameters) = &known.takes {
            let tail = self.runner(function, name, &label, parameters);
            self.tail.push_str(&tail);
        }
    }

    /// The function that runs a live field in its process, and its entry in the runtime's list.
    fn runner(&self, at: usize, name: &str, label: &str, parameters: &[Parameter]) -> String {
        let (line, file, number) = (self.cursor.token(at).line, self.quoted_file(at), self.lives);
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
                checked(&kind, &value, &variable, &what)
            ));
            arguments.push(variable);
        }
        let value = value_type("__linda_r");
        let check = checked(
            TYPE,
            &value,
            "__linda_r",
            &format!("eval of {name}: its result has no type of a tuple"),
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

fn is_array(array: &str, what: &str) -> String {
    format!(
        "__extension__ _Static_assert(!__builtin_types_compatible_p(__typeof__({array}), \
         __typeof__(&({array})[0])), \
         \"{what} is a pointer and no declared array; write a:n\");"
    )
}
