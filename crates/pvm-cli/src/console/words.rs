//! A line of the console taken apart as PVM's console does it.
//!
//! Words stand between blanks; `'...'`, `"..."` and a backslash quote; `#` at the start of a word
//! begins a comment. Nothing is expanded: `$NAME`, `*` and `;` are ordinary text.

/// The reason why a line is no command: a quote or backslash that nothing follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unmatched(pub(crate) char);

/// The words of a line.
pub(crate) fn split(line: &str) -> Result<Vec<String>, Unmatched> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars();
    while let Some(next) = rest.next() {
        match next {
            '#' if word.is_none() => break,
            blank if blank.is_ascii_whitespace() => words.extend(word.take()),
            quote @ ('\'' | '"') => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next() {
                        None => return Err(Unmatched(quote)),
                        Some(end) if end == quote => break,
                        Some(inside) => word.push(inside),
                    }
                }
            }
            '\\' => {
                let quoted = rest.next().ok_or(Unmatched('\\'))?;
                word.get_or_insert_default().push(quoted);
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

/// The number at the start of `text` as C's `atoi` reads it.
pub(crate) fn integer(text: &str) -> i32 {
    let text = text.trim_start();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let value = digits[..end].parse::<i64>().unwrap_or(0);
    let value = if text.starts_with('-') { -value } else { value };
    i32::try_from(value).unwrap_or(if value < 0 { i32::MIN } else { i32::MAX })
}

/// A task id as the console reads it: hexadecimal, with or without `t`, up to the first other
/// letter.
pub(crate) fn tid(text: &str) -> pvm_wire::Tid {
    let digits = text.strip_prefix('t').unwrap_or(text);
    let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
    pvm_wire::Tid(u32::from_str_radix(&digits[..end], 16).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_apart_as_the_original_does() {
        let good = [
            ("  conf  ", vec!["conf"]),
            ("echo 'a  b' \"c  d\" e\\ f", vec!["echo", "a  b", "c  d", "e f"]),
            ("echo x\"y z\"w a\\\\b", vec!["echo", "xy zw", "a\\b"]),
            ("echo a#b # c", vec!["echo", "a#b"]),
            ("echo \\#x $HOME *", vec!["echo", "#x", "$HOME", "*"]),
            ("put '' 0", vec!["put", "", "0"]),
            ("# all", vec![]),
        ];
        for (line, words) in good {
            assert_eq!(split(line).unwrap(), words, "{line}");
        }
        assert_eq!(split("echo 'abc"), Err(Unmatched('\'')));
        assert_eq!(split("echo \"a\\\"b\""), Err(Unmatched('"')));
        assert_eq!(split("echo back\\"), Err(Unmatched('\\')));
    }

    #[test]
    fn numbers_are_read_as_far_as_they_go() {
        assert_eq!([integer("12x"), integer("-5"), integer("x"), integer("0x10")], [12, -5, 0, 0]);
        assert_eq!(integer("99999999999999999999"), 0);
        assert_eq!(tid("t40001").0, 0x40001);
        assert_eq!([tid("foo").0, tid("0x40001").0, tid("").0], [0xf, 0, 0]);
    }
}
