//! Signals by name and number.

/// The signals that a person may want to send, with Linux's numbers.
const NAMES: [(&str, i32); 13] = [
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ABRT", 6),
    ("KILL", 9),
    ("USR1", 10),
    ("SEGV", 11),
    ("USR2", 12),
    ("PIPE", 13),
    ("ALRM", 14),
    ("TERM", 15),
    ("CONT", 18),
    ("STOP", 19),
];

/// The number of `text`, which is a number or a name with or without `SIG`.
pub fn number(text: &str) -> Result<i32, String> {
    let upper = text.to_uppercase();
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    let named = NAMES.iter().find(|(known, _)| *known == name).map(|&(_, number)| number);
    let numbered = || name.parse().ok().filter(|number| (1..=64).contains(number));
    named.or_else(numbered).ok_or_else(|| "not a signal".to_owned())
}

/// The names that are known, without `SIG`.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|&(name, _)| name)
}

/// The signals that this process ignores, as the kernel reports them. Read before any handler is
/// installed, they are those that the parent process wanted ignored.
pub fn ignored() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignored_in(&status)
}

fn ignored_in(status: &str) -> Vec<i32> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|text| u64::from_str_radix(text.trim(), 16).ok()).unwrap_or(0);
    (1..=64).filter(|signal| mask >> (signal - 1) & 1 == 1).collect()
}

/// A signal as people call it.
pub fn name(number: i32) -> String {
    let named = NAMES.iter().find(|&&(_, known)| known == number);
    named.map_or_else(|| format!("signal {number}"), |(name, _)| format!("SIG{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_what_is_ignored() {
        assert_eq!(ignored_in("Name:\tx\nSigIgn:\t0000000000001003\nSigCgt:\tff\n"), [1, 2, 13]);
        assert!(ignored_in("").is_empty());
    }

    #[test]
    fn names_and_numbers_are_both_understood() {
        assert_eq!(number("TERM"), Ok(15));
        assert_eq!(number("sigkill"), Ok(9));
        assert_eq!(number("10"), Ok(10));
        assert!(number("0").is_err() && number("NOPE").is_err());
        assert_eq!((name(9), name(40)), ("SIGKILL".to_owned(), "signal 40".to_owned()));
    }
}
