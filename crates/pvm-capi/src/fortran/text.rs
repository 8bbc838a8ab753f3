//! Texts as Fortran passes them: characters and a length, padded with blanks.

use std::ffi::{CString, c_char, c_int};

/// The hidden length of a text. Compilers before gfortran 8 pass an int, later ones a size; on
/// every machine of ours both lie in a register or a slot of eight bytes, whose lower half this is.
pub(super) type Length = c_int;

/// # Safety
/// `text` is null or has `length` characters.
unsafe fn characters<'a>(text: *const c_char, length: Length) -> &'a [u8] {
    let length = usize::try_from(length).unwrap_or(0);
    if text.is_null() || length == 0 {
        return &[];
    }
    // SAFETY: not null, and Fortran passes the length of each text with it.
    let all = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    // Programs that pass C texts end them with 0.
    let end = all.iter().position(|&c| c == 0).unwrap_or(length);
    &all[..end]
}

/// A text that comes in, without its trailing blanks.
///
/// # Safety
/// `text` is null or has `length` characters.
pub(super) unsafe fn input(text: *const c_char, length: Length) -> CString {
    // SAFETY: `text` is null or has `length` characters: this function asks its callers for it,
    // too.
    let text = unsafe { characters(text, length) };
    let end = text.iter().rposition(|&c| c != b' ').map_or(0, |last| last + 1);
    CString::new(&text[..end]).unwrap_or_default()
}

/// A text that comes in, with all its blanks.
///
/// # Safety
/// `text` is null or has `length` characters.
pub(super) unsafe fn whole(text: *const c_char, length: Length) -> CString {
    // SAFETY: `text` is null or has `length` characters: this function asks its callers for it,
    // too.
    CString::new(unsafe { characters(text, length) }).unwrap_or_default()
}

/// Writes a text that goes out: cut or padded to the length.
///
/// # Safety
/// `out` is null or has `length` characters.
pub(super) unsafe fn output(text: &[u8], out: *mut c_char, length: Length) {
    let length = usize::try_from(length).unwrap_or(0);
    if out.is_null() {
        return;
    }
    for i in 0..length {
        let c = text.get(i).copied().unwrap_or(b' ');
        // SAFETY: not null, and `i` is below `length`, the number of characters that Fortran
        // passed.
        unsafe { out.cast::<u8>().add(i).write(c) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailing_blanks_and_what_follows_a_0_are_no_part_of_a_text() {
        let read = |text: &[u8]| {
            // SAFETY: the length is the text's.
            let input = unsafe { input(text.as_ptr().cast(), text.len() as c_int) };
            input.into_bytes()
        };
        assert_eq!(read(b"  a b  "), b"  a b");
        assert_eq!(read(b"    "), b"");
        assert_eq!(read(b"ab\0zz"), b"ab");
    }

    #[test]
    fn texts_that_go_out_are_cut_or_padded() {
        let mut out = *b"zzzzz";
        // SAFETY: five characters.
        unsafe { output(b"abc", out.as_mut_ptr().cast(), 5) };
        assert_eq!(&out, b"abc  ");
        // SAFETY: as above, with fewer.
        unsafe { output(b"abcdef", out.as_mut_ptr().cast(), 4) };
        assert_eq!(&out, b"abcd ");
    }
}
