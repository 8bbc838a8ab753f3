//! Memory that the program frees with the C library: single pieces, and environments.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use crate::guard::plain;

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn realloc(old: *mut c_void, size: usize) -> *mut c_void;
    fn free(old: *mut c_void);
}

/// # Safety
/// The text ends with 0.
unsafe fn bytes<'a>(text: *const c_char) -> &'a [u8] {
    // SAFETY: `text` is not null and ends with 0, by the call's contract.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

/// As `malloc`; the second argument names the purpose and is not used.
///
/// # Safety
/// None; the result is the caller's to free.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_alloc(size: usize, _purpose: *const c_char) -> *mut c_void {
    // SAFETY: malloc takes any size.
    unsafe { malloc(size) }
}

/// As `realloc`.
///
/// # Safety
/// `old` is null or came from `pvm_alloc` or `pvm_realloc`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_realloc(
    old: *mut c_void,
    size: usize,
    _purpose: *const c_char,
) -> *mut c_void {
    // SAFETY: `old` is null or came from malloc, by `pvm_alloc` or `pvm_realloc`, and was not
    // freed.
    unsafe { realloc(old, size) }
}

/// As `free`.
///
/// # Safety
/// `old` is null or came from `pvm_alloc` or `pvm_realloc`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvm_free(old: *mut c_void) {
    // SAFETY: `old` is null or came from malloc, by `pvm_alloc` or `pvm_realloc`, and was not
    // freed.
    unsafe { free(old) }
}

/// A copy of text in memory of the C library, which the program frees.
pub(crate) fn c_copy(text: &[u8]) -> *mut c_char {
    // SAFETY: malloc takes any size.
    let copy = unsafe { malloc(text.len() + 1) }.cast::<u8>();
    if !copy.is_null() {
        // SAFETY: the memory is fresh and long enough.
        unsafe { ptr::copy_nonoverlapping(text.as_ptr(), copy, text.len()) };
        // SAFETY: as above.
        unsafe { copy.add(text.len()).write(0) };
    }
    copy.cast()
}

/// # Safety
/// `list` is an array of texts that ends with null.
unsafe fn list_length(list: *const *mut c_char) -> usize {
    let mut length = 0;
    // SAFETY: the element exists, as the one before was not the last.
    while !unsafe { list.add(length).read() }.is_null() {
        length += 1;
    }
    length
}

/// A copy of an environment.
///
/// # Safety
/// `list` is an array of texts that ends with null.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvmcopyenv(list: *const *mut c_char) -> *mut *mut c_char {
    if list.is_null() {
        return ptr::null_mut();
    }
    plain(ptr::null_mut(), || {
        // SAFETY: `list` is an array of texts that ends with null.
        let length = unsafe { list_length(list) };
        // SAFETY: malloc takes any size.
        let copy = unsafe { malloc((length + 1) * size_of::<*mut c_char>()) };
        let copy = copy.cast::<*mut c_char>();
        if copy.is_null() {
            return copy;
        }
        for i in 0..length {
            // SAFETY: within the list.
            let text = unsafe { bytes(list.add(i).read()) };
            // SAFETY: within the fresh memory.
            unsafe { copy.add(i).write(c_copy(text)) };
        }
        // SAFETY: one more element was allocated.
        unsafe { copy.add(length).write(ptr::null_mut()) };
        copy
    })
}

/// Sets a variable in an environment made by `pvmcopyenv`.
///
/// # Safety
/// `list` points to such an environment; `setting` is null or ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvmenvinsert(list: *mut *mut *mut c_char, setting: *const c_char) -> c_int {
    if list.is_null() || setting.is_null() {
        return -1;
    }
    plain(-1, || {
        // SAFETY: `setting` is null or ends with 0, by the call's contract.
        let setting = unsafe { bytes(setting) };
        let Some(name) = setting.iter().position(|&c| c == b'=') else { return -1 };
        // SAFETY: `list` points to an environment that `pvmcopyenv` made, so to a pointer.
        let entries = unsafe { list.read() };
        // SAFETY: an environment of `pvmcopyenv`'s ends with null.
        let length = unsafe { list_length(entries) };
        for i in 0..length {
            // SAFETY: within the list.
            let entry = unsafe { entries.add(i) };
            // SAFETY: an element of the list.
            let old = unsafe { entry.read() };
            // SAFETY: a text.
            if unsafe { bytes(old) }.starts_with(&setting[..=name]) {
                // SAFETY: it came from malloc in pvmcopyenv.
                unsafe { free(old.cast()) };
                // SAFETY: an element of the list.
                unsafe { entry.write(c_copy(setting)) };
                return 0;
            }
        }
        // SAFETY: the list came from malloc in pvmcopyenv.
        let longer = unsafe { realloc(entries.cast(), (length + 2) * size_of::<*mut c_char>()) };
        let longer = longer.cast::<*mut c_char>();
        if longer.is_null() {
            return -1;
        }
        // SAFETY: the last but one of the longer list.
        unsafe { longer.add(length).write(c_copy(setting)) };
        // SAFETY: the last of the longer list.
        unsafe { longer.add(length + 1).write(ptr::null_mut()) };
        // SAFETY: the caller's variable.
        unsafe { list.write(longer) };
        0
    })
}

/// Frees an environment made by `pvmcopyenv`.
///
/// # Safety
/// `list` is null or such an environment.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvmfreeenv(list: *mut *mut c_char) {
    if list.is_null() {
        return;
    }
    // SAFETY: not null, and an environment of `pvmcopyenv`'s ends with null.
    for i in 0..unsafe { list_length(list) } {
        // SAFETY: within the list.
        let text = unsafe { list.add(i).read() };
        // SAFETY: it came from malloc.
        unsafe { free(text.cast()) };
    }
    // SAFETY: it came from malloc.
    unsafe { free(list.cast()) };
}
