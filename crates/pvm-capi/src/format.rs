//! The formats of `pvm_packf` and `pvm_unpackf`.
//!
//! ```text
//! format  [ "%+" ] { text | item }        "%+" takes the encoding and begins a new buffer
//! item    "%" [count] [ "." [stride] ] { "h" | "l" | "u" } type
//! count, stride: digits, or "*" for an int argument;  type: c d f x s
//! ```
//! An item with a count or a stride is an array and its argument an address; without, the argument
//! is the value itself. Complex numbers and strings are addresses always. Text between the items
//! is passed over, as in PVM.
//!
//! Variadic functions are written in C (`shim/variadic.c`), which asks here what comes next.

use std::ffi::{CStr, c_char, c_int};

/// The next argument of the call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Next {
    /// No argument is left.
    Finish,
    /// An int, the encoding of a new send buffer.
    Init,
    /// Items.
    Items(Items),
    /// The format is wrong here.
    Wrong,
}

/// Items of one type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Items {
    /// PVM's number of the type (`PVM_INT` ...).
    kind: i32,
    by_value: bool,
    count: Number,
    stride: Number,
}

/// A count or a stride.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Number {
    /// In the format, or not there at all (1).
    Given(i32),
    /// An argument of the call.
    Argument,
}

const STRING: i32 = 0;
const BYTE: i32 = 1;

/// The type that a letter and its modifiers mean; `l` outweighs `h`.
fn kind(letter: u8, modifiers: &[u8]) -> Option<i32> {
    let has = |m| modifiers.contains(&m);
    Some(match (letter, has(b'l'), has(b'h'), has(b'u')) {
        (b's', ..) => STRING,
        (b'c', ..) => BYTE,
        (b'd', true, _, false) => 8,
        (b'd', true, _, true) => 11,
        (b'd', false, true, false) => 2,
        (b'd', false, true, true) => 9,
        (b'd', false, false, false) => 3,
        (b'd', false, false, true) => 10,
        (b'f', false, ..) => 4,
        (b'f', true, ..) => 6,
        (b'x', false, ..) => 5,
        (b'x', true, ..) => 7,
        _ => return None,
    })
}

/// Reads one step of `format` from `at` on; `at` moves behind it.
fn next(format: &[u8], at: &mut usize, packing: bool) -> Next {
    if *at == 0 && packing && format.starts_with(b"%+") {
        *at = 2;
        return Next::Init;
    }
    let rest = format.get(*at..).unwrap_or_default();
    let Some(percent) = rest.iter().position(|&c| c == b'%') else {
        *at = format.len();
        return Next::Finish;
    };
    let mut cursor = &rest[percent + 1..];
    let item = item(&mut cursor);
    *at = format.len() - cursor.len();
    item.map_or(Next::Wrong, Next::Items)
}

fn item(cursor: &mut &[u8]) -> Option<Items> {
    let count = number(cursor);
    let stride = if cursor.first() == Some(&b'.') {
        *cursor = &cursor[1..];
        // A dot alone is a stride of 1.
        Some(number(cursor).unwrap_or(Number::Given(1)))
    } else {
        None
    };
    let letters = cursor.iter().take_while(|c| b"hlu".contains(c)).count();
    let (modifiers, rest) = cursor.split_at(letters);
    let (&letter, rest) = rest.split_first()?;
    *cursor = rest;
    let kind = kind(letter, modifiers)?;
    let address_always = matches!(letter, b'x' | b's');
    Some(Items {
        kind,
        by_value: count.is_none() && stride.is_none() && !address_always,
        count: count.unwrap_or(Number::Given(1)),
        stride: stride.unwrap_or(Number::Given(1)),
    })
}

fn number(cursor: &mut &[u8]) -> Option<Number> {
    if cursor.first() == Some(&b'*') {
        *cursor = &cursor[1..];
        return Some(Number::Argument);
    }
    let digits = cursor.iter().take_while(|c| c.is_ascii_digit()).count();
    let (digits, rest) = cursor.split_at(digits);
    *cursor = rest;
    // Too large a number saturates; packing it then fails for lack of items.
    (!digits.is_empty()).then(|| {
        Number::Given(
            digits
                .iter()
                .fold(0i32, |n, d| n.saturating_mul(10).saturating_add(i32::from(d - b'0'))),
        )
    })
}

/// [`Next`] in C's layout; `struct step` of the shim.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Step {
    action: c_int,
    kind: c_int,
    by_value: c_int,
    count_given: c_int,
    count: c_int,
    stride_given: c_int,
    stride: c_int,
}

impl From<Next> for Step {
    fn from(next: Next) -> Self {
        let (action, items) = match next {
            Next::Finish => (0, None),
            Next::Init => (1, None),
            Next::Items(items) => (2, Some(items)),
            Next::Wrong => (3, None),
        };
        let given = |number| match number {
            Number::Given(n) => (1, n),
            Number::Argument => (0, 1),
        };
        let one = Number::Given(1);
        let (count_given, count) = given(items.map_or(one, |i| i.count));
        let (stride_given, stride) = given(items.map_or(one, |i| i.stride));
        Self {
            action,
            kind: items.map_or(0, |i| i.kind),
            by_value: items.is_some_and(|i| i.by_value).into(),
            count_given,
            count,
            stride_given,
            stride,
        }
    }
}

/// Says what the next argument is. Called by the shim.
///
/// # Safety
/// `format` is null or ends with 0; `at` and `step` are valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn _neopvm_format_step(
    format: *const c_char,
    at: *mut usize,
    packing: c_int,
    step: *mut Step,
) -> c_int {
    let answer = if format.is_null() {
        Next::Wrong
    } else {
        // SAFETY: not null, and the shim hands on the program's format, a C string that ends with
        // 0.
        let format = unsafe { CStr::from_ptr(format) };
        // SAFETY: the shim passes its own variable, which nobody else knows.
        next(format.to_bytes(), unsafe { &mut *at }, packing != 0)
    };
    let answer = Step::from(answer);
    let action = answer.action;
    // SAFETY: as above.
    unsafe { step.write(answer) };
    action
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(format: &str, packing: bool) -> Vec<Next> {
        let (mut at, mut steps) = (0, Vec::new());
        loop {
            let step = next(format.as_bytes(), &mut at, packing);
            if step == Next::Finish {
                return steps;
            }
            steps.push(step);
            if step == Next::Wrong {
                return steps;
            }
        }
    }

    fn given(kind: i32, by_value: bool, count: i32, stride: i32) -> Next {
        let (count, stride) = (Number::Given(count), Number::Given(stride));
        Next::Items(Items { kind, by_value, count, stride })
    }

    #[test]
    fn a_plain_item_is_a_value_and_one_with_a_count_an_address() {
        assert_eq!(all("%d", true), [given(3, true, 1, 1)]);
        assert_eq!(all("%1d", true), [given(3, false, 1, 1)]);
        assert_eq!(all("%.2d", true), [given(3, false, 1, 2)]);
        assert_eq!(all("%3.d", true), [given(3, false, 3, 1)]);
        assert_eq!(all("%0d", true), [given(3, false, 0, 1)]);
    }

    #[test]
    fn strings_and_complex_numbers_are_addresses() {
        assert_eq!(all("%s%x%lx", true).len(), 3);
        assert_eq!(all("%s", true), [given(0, false, 1, 1)]);
        assert_eq!(all("%lx", true), [given(7, false, 1, 1)]);
    }

    #[test]
    fn stars_take_arguments() {
        let items =
            Items { kind: 2, by_value: false, count: Number::Argument, stride: Number::Argument };
        assert_eq!(all("%*.*hd", false), [Next::Items(items)]);
    }

    #[test]
    fn long_outweighs_short_as_in_pvm() {
        for format in ["%lhd", "%hld", "%lld"] {
            assert_eq!(all(format, true), [given(8, true, 1, 1)]);
        }
        assert_eq!(all("%uhd", true), all("%hud", true));
        assert_eq!(all("%hf", true), [given(4, true, 1, 1)]);
    }

    #[test]
    fn init_stands_only_at_the_beginning_of_a_pack() {
        assert_eq!(all("%+ %c", true), [Next::Init, given(1, true, 1, 1)]);
        assert_eq!(all("%+d", true), [Next::Init]);
        assert_eq!(all(" %+", true), [Next::Wrong]);
        assert_eq!(all("%+", false), [Next::Wrong]);
    }

    #[test]
    fn text_is_passed_over_and_nonsense_is_wrong() {
        assert_eq!(all("a, b\n", true), []);
        assert_eq!(all("%d, %d", true).len(), 2);
        for format in ["%", "%%", "%q", "%3*d", "%h3d", "%-d", "%3", "%l"] {
            assert_eq!(all(format, true), [Next::Wrong], "{format}");
        }
    }
}
