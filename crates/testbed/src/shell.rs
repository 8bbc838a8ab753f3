//! Variables as lines that a shell evaluates.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// `export NAME='value'`, each in a line.
pub fn exports<'a>(variables: impl IntoIterator<Item = &'a (String, OsString)>) -> Vec<u8> {
    let mut lines = Vec::new();
    for (name, value) in variables {
        lines.extend_from_slice(b"export ");
        lines.extend_from_slice(name.as_bytes());
        lines.push(b'=');
        lines.extend_from_slice(quoted(value).as_bytes());
        lines.push(b'\n');
    }
    lines
}

/// One word for a shell, whatever is in it.
pub fn quoted(word: &OsStr) -> OsString {
    let mut quoted = vec![b'\''];
    for byte in word.as_bytes() {
        match byte {
            b'\'' => quoted.extend_from_slice(b"'\\''"),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    OsString::from_vec(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_shell_reads_each_value_as_it_is() {
        for value in ["", "plain", "with blanks", "it's", "$HOME `id` \\ \"x\"", "two\nlines", "*"]
        {
            let lines = exports(&[("VALUE".to_owned(), OsString::from(value))]);
            let mut script = String::from_utf8(lines).unwrap();
            script.push_str("printf %s \"$VALUE\"");
            let output = Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), value);
        }
    }
}
