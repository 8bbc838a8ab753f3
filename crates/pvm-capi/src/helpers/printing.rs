//! Output that PVM's library prints for a program: messages, errors, bytes.

use std::ffi::{c_char, c_int};

use super::bytes;
use crate::guard::plain;
use crate::say::{say, who};

unsafe extern "C" {
    fn strerror(number: c_int) -> *const c_char;
}

/// Prints a message of this library.
///
/// # Safety
/// `text` is null or ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvmlogerror(text: *const c_char) -> c_int {
    plain(-1, || {
        // SAFETY: `text` is null or ends with 0, by the call's contract.
        let text = unsafe { bytes(text) };
        say(&[format!("libpvm {}: ", who()).as_bytes(), text].concat());
        0
    })
}

/// Prints a message and what `errno` means.
///
/// # Safety
/// `text` is null or ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvmlogperror(text: *const c_char) -> c_int {
    let number = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    plain(-1, || {
        // SAFETY: the C library knows every number.
        let reason = unsafe { strerror(number) };
        // SAFETY: it answers with a text.
        let reason = unsafe { bytes(reason) };
        // SAFETY: `text` is null or ends with 0, by the call's contract.
        let text = unsafe { bytes(text) };
        say(&[format!("libpvm {} ", who()).as_bytes(), text, b": ", reason, b"\n"].concat());
        0
    })
}

/// Prints what the shim has formatted.
///
/// # Safety
/// `text` ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn _neopvm_log(text: *const c_char) -> c_int {
    plain(-1, || {
        // SAFETY: `text` is null or ends with 0, by the call's contract.
        let text = unsafe { bytes(text) };
        say(&[format!("libpvm {} ", who()).as_bytes(), text].concat());
        c_int::try_from(text.len()).unwrap_or(c_int::MAX)
    })
}

/// Keeps and tells a result as a call of the library does, and returns it.
///
/// # Safety
/// `call` is null or ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn lpvmerr(call: *const c_char, number: c_int) -> c_int {
    let name = plain(String::new(), || {
        // SAFETY: `call` is null or ends with 0, by the call's contract.
        String::from_utf8_lossy(unsafe { bytes(call) }).into_owned()
    });
    match pvm_wire::Code::from_number(number) {
        Some(code) => crate::guard::failed(&name, code),
        None => number,
    }
}

/// Prints a line of bytes in hexadecimal.
fn say_bytes(prefix: &[u8], line: &[u8]) {
    let digits: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
    let (begin, digits) = (format!("libpvm {}: ", who()), digits.join(" "));
    say(&[begin.as_bytes(), prefix, digits.as_bytes(), b"\n"].concat());
}

/// Prints bytes in hexadecimal, sixteen to a line.
///
/// # Safety
/// `data` has `length` bytes; `prefix` is null or ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvmhdump(data: *const u8, length: c_int, prefix: *const c_char) -> c_int {
    plain(-1, || {
        let length = usize::try_from(length).unwrap_or(0);
        if data.is_null() || length == 0 {
            return 0;
        }
        // SAFETY: not null, and it has `length` bytes, which is not negative.
        let data = unsafe { std::slice::from_raw_parts(data, length) };
        // SAFETY: `prefix` is null or ends with 0, by the call's contract.
        let prefix = if prefix.is_null() { b"" } else { unsafe { bytes(prefix) } };
        data.chunks(16).for_each(|line| say_bytes(prefix, line));
        0
    })
}
