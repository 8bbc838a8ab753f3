//! Pieces of the written C: declarations of the runtime, and tests of types.

/// The declarations of the runtime in every translated file. The names of C-Linda follow, unless
/// the program declares them.
pub(crate) const RUNTIME: &str = "\
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

/// Variables that no object file defines, because each use is in a block with a variable of that
/// name. If a field's expression has an error, gcc does not declare the block's variable. These
/// take its place then, and the one error is the only one.
pub(crate) const FALLBACKS: &str = "\
extern int __linda_a, *__linda_p, *__linda_v, (*__linda_w)[1], __linda_u;
";

/// The bytes at the begin of a preprocessed file in which the preprocessor names itself.
const BEGIN: usize = 1000;

/// True for the output of clang's preprocessor. Clang declares a variable in spite of an error in
/// its value, and its `-Wshadow` would warn of the block's variables.
pub(crate) fn is_from_clang(text: &str) -> bool {
    let begin = &text.as_bytes()[..text.len().min(BEGIN)];
    let mark = b"\"<built-in>\" 3";
    begin.windows(mark.len()).any(|bytes| bytes == mark)
}

pub(crate) const CALLS: [(&str, &str); 6] = [
    ("lexit", "extern void lexit(int);"),
    ("lhalt", "extern void lhalt(int);"),
    ("lprocs", "extern int lprocs(void);"),
    ("start_timer", "extern void start_timer(void);"),
    ("timer_split", "extern void timer_split(char *);"),
    ("print_times", "extern void print_times(void);"),
];

/// Types with their numbers. The types of strings are for values only.
pub(crate) const SCALARS: &str = "\
    char: 1, signed char: 2, unsigned char: 3, short: 4, unsigned short: 5, int: 6, unsigned: 7, \
    long: 8, unsigned long: 9, long long: 10, unsigned long long: 11, float: 12, double: 13, \
    long double: 14, _Bool: 15, float _Complex: 16, double _Complex: 17";

/// The kinds of places where the runtime stores a received value.
pub(crate) mod kind {
    /// The value is stored at the address.
    pub(crate) const PLACE: u8 = 0;
    /// The address holds a pointer, and the value is stored where that points; a null pointer gets
    /// memory.
    pub(crate) const POINTER: u8 = 1;
}

pub(crate) fn item_type(value: &str) -> String {
    format!("__extension__ _Generic(({value}), {SCALARS}, default: 34)")
}

pub(crate) fn value_type(value: &str) -> String {
    format!(
        "__extension__ _Generic(({value}), char *: 32, const char *: 32, {SCALARS}, default: 34)"
    )
}

/// Names the number of a type, and makes an error at this place (or here) if the type has no
/// number. Only a struct has no entry in the list, and may have none.
pub(crate) fn checked(name: &str, number: &str, value: &str, what: &str, place: &str) -> String {
    let classes =
        format!("__builtin_classify_type({value}) == 12 || __builtin_classify_type({value}) == 13");
    format!(
        "enum {{ {name} = {number} }}; \
         __extension__ {place}_Static_assert({name} != 34 || {classes}, \"{what}\");"
    )
}

/// The most dimensions of an array beside its first one.
pub(crate) const DIMENSIONS_MAX: usize = 4;

/// Declares the types `__linda_i0` of the items of an array, `__linda_i1` of the items of those, if
/// they are arrays themselves, and so on. Only the compiler knows which of them are arrays: each
/// step takes the items of an array and leaves any other type unchanged.
pub(crate) fn innermost(items: &str, steps: usize) -> String {
    let mut text = format!("typedef __typeof__({items}[0]) __linda_i0; ");
    for step in 0..steps {
        let one = format!("(*(__linda_i{step} *)0)");
        let is_pointer = format!("__builtin_classify_type({one}) == 5");
        // The address of the first item has the type of a pointer, but not that of an array.
        let is_array = format!(
            "{is_pointer} && !__builtin_types_compatible_p(__typeof__({one}), \
             __typeof__(&*__builtin_choose_expr({is_pointer}, {one}, (char *)0)))"
        );
        let next = step + 1;
        text.push_str(&format!(
            "typedef __typeof__(*__builtin_choose_expr({is_array}, {one}, &{one})) \
             __linda_i{next}; "
        ));
    }
    text
}

/// The name of the last of these types.
pub(crate) const INNERMOST: &str = "__linda_i4";
/// An expression of that type, which is not evaluated.
pub(crate) const INNERMOST_ITEM: &str = "(*(__linda_i4 *)0)";

/// The largest distance from the begin of a line at which a column is computed; beyond, a place has
/// no column.
pub(crate) const COLUMN_MAX: usize = 1000;

/// Blanks that move the following text to the column of `at`.
pub(crate) fn indent(text: &str, at: usize) -> String {
    let first = at.saturating_sub(COLUMN_MAX);
    let before = &text.as_bytes()[first..at];
    let line = match before.iter().rposition(|byte| *byte == b'\n') {
        Some(newline) => &before[newline + 1..],
        None if first == 0 => before,
        None => &[],
    };
    // A letter has exactly one byte that is not a continuation byte.
    let letters = line.iter().filter(|byte| **byte & 0xc0 != 0x80);
    letters.map(|byte| if *byte == b'\t' { '\t' } else { ' ' }).collect()
}

pub(crate) fn is_array(array: &str, what: &str, place: &str) -> String {
    format!(
        "__extension__ {place}_Static_assert(!__builtin_types_compatible_p(__typeof__({array}), \
         __typeof__(&({array})[0])), \
         \"{what} is a pointer and no declared array; write a:n\");"
    )
}

/// Makes an error at a place if a field is neither an array nor a pointer (5 for the compilers).
pub(crate) fn has_items(array: &str, what: &str, place: &str) -> String {
    format!(
        "__extension__ {place}_Static_assert(__builtin_classify_type({array}) == 5, \
         \"{what} is no array; write it without a colon\"); "
    )
}

/// Makes an error at a place if a type has no bytes, because no number of items would give its
/// length.
pub(crate) fn has_bytes(item: &str, what: &str, place: &str) -> String {
    format!(
        "__extension__ {place}_Static_assert(sizeof({item}) > 0, \
         \"{what} is an array of items of no bytes\"); "
    )
}
