//! Numbers that stand in headers, man pages and documents are those of the constants in the code.
//!
//! [`NUMBERS`] says which constant, and the words around its number in each text. Where the words
//! are changed the table is changed with them; where the constant is changed every text that still
//! has the old number is named.

use super::super::finding::Finding;
use super::inventory::text_of;
use crate::source::{Source, is_word};

/// A constant and the texts that repeat it.
struct Number {
    file: &'static str,
    name: &'static str,
    /// A text and the words around the number there. In place of the number stands `{}`, or `{KiB}`
    /// and so on where the text has it in that unit, or `{+1}` for the number behind it.
    says: &'static [(&'static str, &'static str)],
}

const SHM: &str = "doc/shm.md";
const WIRE: &str = "doc/wire.md";
const HEADER: &str = "include/neopvm.h";
const MEMORY: &str = "doc/man/neopvm-memory.3";
const PORTING: &str = "doc/porting-from-pvm3.md";
const RELIABILITY: &str = "doc/reliability.md";
const SECURITY: &str = "SECURITY.md";

/// A shorter way to write a row of the table.
const fn number(
    file: &'static str,
    name: &'static str,
    says: &'static [(&'static str, &'static str)],
) -> Number {
    Number { file, name, says }
}

const NUMBERS: &[Number] = &[
    number(
        "crates/pvm-shm/src/lane/cell.rs",
        "SPANNING_MAX",
        &[
            (MEMORY, "More than {} bytes are sent without a copy"),
            (HEADER, "More than {} bytes lie in shared memory"),
            (SHM, "A message of 209 to {} bytes"),
        ],
    ),
    number(
        "crates/pvm-shm/src/lane/cell.rs",
        "INLINE_MAX",
        &[(SHM, "payload {} bytes: data and run list"), (SHM, "A message of {+1} to 4096 bytes")],
    ),
    number(
        "crates/pvm-shm/src/lane/cell.rs",
        "CELL_SIZE",
        &[(SHM, "cell 0, cell 1, ... of {} bytes")],
    ),
    number(
        "crates/pvm-shm/src/lane/cell.rs",
        "FOLLOWING",
        &[(SHM, "{} bytes lie in each that follows")],
    ),
    number(
        "crates/pvm-shm/src/lane.rs",
        "CELLS_FIRST",
        &[(SHM, "A new lane has {} cells"), (SHM, "A lane's first ring ({} cells)")],
    ),
    number("crates/pvm-shm/src/outbox.rs", "SPANNED_RING", &[(SHM, "has grown to {} cells")]),
    number(
        "crates/pvm-shm/src/credit.rs",
        "SENDER_BYTES",
        &[(HEADER, "({MiB} MiB of one sender"), (SHM, "| slabs of one sender | {MiB} MiB")],
    ),
    number(
        "crates/pvm-shm/src/credit.rs",
        "HOST_BYTES",
        &[
            (HEADER, "of one sender, {MiB} MiB of all"),
            (SHM, "| slabs of all senders | {MiB} MiB"),
            ("doc/man/pvmd.1", "in mebibytes; the default is {MiB}. .TP .B PVM_ARCH"),
            (PORTING, "it waits in {MiB} MiB of a host's memory"),
            ("doc/man/pvmd.1", "in mebibytes; the default is {MiB}. .TP .B PVM_ARCH"),
        ],
    ),
    number(
        "crates/pvm-shm/src/credit.rs",
        "PAIR_BYTES",
        &[(SHM, "more than that in all | {MiB} MiB |")],
    ),
    number(
        "crates/pvm-shm/src/credit.rs",
        "FIRST_BYTES",
        &[(SHM, "the first {MiB} MiB of each are free")],
    ),
    number(
        "crates/pvm-shm/src/credit.rs",
        "SPILL_BYTES",
        &[(SHM, "| files | {GiB} GiB"), (PORTING, "beyond {GiB} GiB")],
    ),
    number(
        "crates/pvm-shm/src/credit.rs",
        "KEPT_BYTES",
        &[(SHM, "a sender keeps {MiB} MiB of slabs")],
    ),
    number(
        "crates/pvm-shm/src/spill.rs",
        "FILE_BYTES",
        &[(SHM, "{MiB} MiB, or as much as one message needs")],
    ),
    number(
        "crates/pvm-shm/src/barrier.rs",
        "PLACES",
        &[("ARCHITECTURE.md", "more than {} members")],
    ),
    number("crates/pvm-shm/src/clock.rs", "AHEAD", &[(SHM, "more than {} in front of it")]),
    number("crates/pvm-shm/src/inlet.rs", "SILENT", &[(SHM, "silent for {} messages")]),
    number(
        "crates/pvm-wire/src/request/segments.rs",
        "MEMORY_BYTES_MAX",
        &[(SHM, "at most {KiB} KiB a piece")],
    ),
    number(
        "crates/pvm/src/buffer/sending.rs",
        "STREAM_MIN",
        &[(SHM, "An in-place message of {KiB} KiB and more")],
    ),
    number("crates/pvm/src/state.rs", "STEP", &[(SHM, "copies in steps of {KiB} KiB")]),
    number("crates/pvm-wire/src/envelope.rs", "SIZE", &[(WIRE, "## Envelope ({} bytes)")]),
    number(
        "crates/pvm-wire/src/frame.rs",
        "FRAME_BYTES_MAX",
        &[
            (WIRE, "at most {MiB} MiB; 64 KiB before the hello"),
            (SECURITY, "is collected up to {MiB} MiB"),
        ],
    ),
    number(
        "crates/pvmd/src/parent/connections.rs",
        "STRANGER_BYTES_MAX",
        &[(WIRE, "MiB; {KiB} KiB before the hello")],
    ),
    number(
        "crates/pvm-wire/src/proxy.rs",
        "PART_BYTES_MAX",
        &[(WIRE, "{MiB} MiB goes ahead in *parts*")],
    ),
    number(
        "crates/pvmd/src/link/speech.rs",
        "ORDER_BYTES_MAX",
        &[(WIRE, "{MiB} MiB waits at most")],
    ),
    number(
        "crates/pvmd/src/link/redeem.rs",
        "FRAME_BYTES_MAX",
        &[(WIRE, "Frames are at most {KiB} KiB here")],
    ),
    number("crates/pvmd/src/link/outgoing.rs", "PARCELS_MAX", &[(WIRE, "At most {} messages and")]),
    number(
        "crates/pvmd/src/link/outgoing.rs",
        "PARCEL_BYTES_MAX",
        &[(WIRE, "messages and {MiB} MiB of a lane")],
    ),
    number(
        "crates/pvm-core/src/agreed/registry.rs",
        "BYTES_MAX",
        &[
            (PORTING, "{MiB} MiB in all names"),
            ("doc/java.md", "A message under a name has at most {MiB} MiB"),
        ],
    ),
    number(
        "crates/pvm-core/src/proposals.rs",
        "PIECE_BYTES",
        &[(RELIABILITY, "in pieces of {KiB} KiB")],
    ),
    number(
        "crates/pvm-core/src/proposals.rs",
        "WINDOW_BYTES",
        &[(RELIABILITY, "at most {KiB} KiB of a host")],
    ),
    number(
        "crates/pvm-core/src/session.rs",
        "OUTPUT_BYTES",
        &[(RELIABILITY, "when {MiB} MiB of it wait")],
    ),
    number("crates/pvmd/src/link/door.rs", "HALF_OPEN_MAX", &[(SECURITY, "one of {} places")]),
    number(
        "crates/pvm-capi/src/handle.rs",
        "INTERFACE",
        &[(HEADER, "#define NEOPVM_INTERFACE {}")],
    ),
    number(
        "crates/pvm-capi/src/thread/parcels.rs",
        "PARCELS",
        &[(HEADER, "up to {} sends are kept")],
    ),
    number(
        "crates/pvm-capi/src/handle/items.rs",
        "ITEMS_MAX",
        &[(HEADER, "#define NEOPVM_ITEMS_MAX {}")],
    ),
    number(
        "crates/pvmd/src/main.rs",
        "ALREADY_RUNNING",
        &[("doc/man/pvmd.1", "{} when a daemon of the machine runs here")],
    ),
];

pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    // Other trees than the workspace itself (those of tests) have none of these files.
    if text_of(sources, HEADER).is_err() {
        return Vec::new();
    }
    NUMBERS.iter().flat_map(|number| check_number(number, sources)).collect()
}

fn check_number(number: &Number, sources: &[Source]) -> Vec<Finding> {
    let Some(value) = value_of(number.name, number.file, sources) else {
        let what = format!("no constant {} with a value that this check can read", number.name);
        return vec![Finding::error(number.file, what)];
    };
    let faults = number.says.iter().filter_map(|(path, words)| match text_of(sources, path) {
        Ok(text) => fault(text, words, value).map(|what| {
            let what = format!("{what}: {} of {} is {value}", number.name, number.file);
            Finding::error(*path, what)
        }),
        Err(gone) => Some(gone),
    });
    faults.collect()
}

/// The fault of a text that should have these words with this number.
fn fault(text: &str, words: &str, value: u128) -> Option<String> {
    let (before, rest) = words.split_once('{')?;
    let (unit, after) = rest.split_once('}')?;
    let expected = in_unit(value, unit).unwrap_or_else(|| format!("{value} bytes"));
    let text = flat(text);
    let mut found = numbers_between(&text, before, after).peekable();
    if found.peek().is_none() {
        return Some(format!("does not say `{words}`"));
    }
    let wrong = found.find(|number| **number != expected)?;
    Some(format!("says `{before}{wrong}{after}`, not {expected}"))
}

fn in_unit(value: u128, unit: &str) -> Option<String> {
    let size = match unit {
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "+1" => return Some((value + 1).to_string()),
        _ => 1,
    };
    value.is_multiple_of(size).then(|| (value / size).to_string())
}

/// One line, without the stars of a comment in C.
fn flat(text: &str) -> String {
    text.replace("\n * ", " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The numbers that stand between two pieces of text.
fn numbers_between<'a>(
    text: &'a str,
    before: &'a str,
    after: &'a str,
) -> impl Iterator<Item = &'a str> {
    // A pattern that begins with the number is found by what stands behind it.
    let starts: Vec<usize> = if before.is_empty() {
        let digits = |at: usize| at - trailing_digits(&text[..at]);
        text.match_indices(after).map(|(at, _)| digits(at)).collect()
    } else {
        text.match_indices(before).map(|(at, _)| at + before.len()).collect()
    };
    starts.into_iter().filter_map(move |start| {
        let rest = &text[start..];
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        (digits > 0 && rest[digits..].starts_with(after)).then(|| &rest[..digits])
    })
}

fn trailing_digits(text: &str) -> usize {
    text.bytes().rev().take_while(u8::is_ascii_digit).count()
}

/// The value of a constant, of the file itself or else of another one of that name that is public.
fn value_of(name: &str, file: &str, sources: &[Source]) -> Option<u128> {
    let here = text_of(sources, file).ok().and_then(|text| expression(text, name));
    let (file, text) = here.map(|text| (file, text)).or_else(|| {
        let public = format!("pub const {name}:");
        let other = sources.iter().find(|s| s.is_rust() && s.text.contains(&public))?;
        Some((other.path.as_str(), expression(&other.text, name)?))
    })?;
    evaluate(text, &|name| value_of(name, file, sources))
}

/// The expression behind the equals sign of a constant.
fn expression<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let declared = text.split(&format!("const {name}: ")).nth(1)?;
    let (head, _) = declared.split_once(';')?;
    Some(head.split_once('=')?.1.trim())
}

/// Sums, products and shifts of integers and of other constants, without parentheses.
fn evaluate(text: &str, other: &dyn Fn(&str) -> Option<u128>) -> Option<u128> {
    let text = text.trim();
    for operators in [&["<<"][..], &["+", "-"], &["*", "/"]] {
        let last = operators.iter().filter_map(|op| text.rfind(op).map(|at| (at, *op))).max();
        if let Some((at, operator)) = last {
            let left = evaluate(&text[..at], other)?;
            let right = evaluate(&text[at + operator.len()..], other)?;
            return apply(left, operator, right);
        }
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        let plain = text.replace('_', "");
        let end = plain.find(|c: char| !c.is_ascii_digit()).unwrap_or(plain.len());
        return plain[..end].parse().ok();
    }
    let name = text.rsplit("::").next().unwrap_or(text);
    (!name.is_empty() && name.chars().all(is_word)).then(|| other(name)).flatten()
}

fn apply(left: u128, operator: &str, right: u128) -> Option<u128> {
    match operator {
        "<<" => left.checked_shl(u32::try_from(right).ok()?),
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        _ => left.checked_div(right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_the_number_of_the_code_is_right() {
        assert_eq!(fault("More than\n * 4096 bytes", "More than {} bytes", 4096), None);
        assert_eq!(fault("(128 MiB of one", "({MiB} MiB of", 128 << 20), None);
        assert_eq!(fault("17 when it runs", "{} when", 17), None);
        assert_eq!(fault("A message of 209 to", "of {+1} to", 208), None);
    }

    #[test]
    fn a_text_with_another_number_or_other_words_is_found() {
        let wrong = fault("More than 208 bytes", "More than {} bytes", 4096).unwrap();
        assert!(wrong.contains("says `More than 208 bytes`"), "{wrong}");
        let twice = fault("has 5 cells, has 6 cells", "has {} cells", 5).unwrap();
        assert!(twice.contains('6'), "{twice}");
        assert!(fault("Up to 4096 bytes", "More than {} bytes", 4096).is_some());
        assert!(fault("(128 MiB of one", "({MiB} MiB of", 1000).is_some());
    }

    #[test]
    fn constants_are_worked_out_from_one_another() {
        let sources = [
            Source::new(
                "a.rs",
                "const A: usize = FRAME / 4 + 2;\nconst B: u64 = 3 * 1_000 - A;\nconst C: u8 = \
                 f(1);\n",
            ),
            Source::new("b.rs", "pub const FRAME: usize = 64 << 20;\n"),
        ];
        assert_eq!(value_of("A", "a.rs", &sources), Some((16 << 20) + 2));
        assert_eq!(value_of("FRAME", "b.rs", &sources), Some(64 << 20));
        assert_eq!(value_of("C", "a.rs", &sources), None);
        assert_eq!(value_of("D", "a.rs", &sources), None);
    }

    #[test]
    fn every_row_has_one_place_for_its_number() {
        for (path, words) in NUMBERS.iter().flat_map(|number| number.says) {
            assert_eq!(words.matches('{').count(), 1, "{path}: {words}");
        }
    }
}
