//! The most frequent lines, read byte by byte as they lie in a buffer.

use crate::action::{Action, TaskNumber};
use crate::unit::{BYTES_MAX, Time};

/// The computing of a trace: the time of a flop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flops {
    /// The time of one flop in seconds.
    pub(super) each: f64,
    is_nanosecond: bool,
}

/// Integers below this are exact as floating-point numbers.
const PLAIN_MAX: u64 = 1 << 53;
/// Below this many nanoseconds, a product of floating-point numbers that is rounded to picoseconds
/// is the exact one: it is off by less than half a picosecond.
const EXACT_MAX: u64 = 1 << 40;

impl Flops {
    /// `count` flops take a second.
    pub(super) fn new(count: f64) -> Self {
        let each = 1.0 / count.max(1.0);
        Self { each, is_nanosecond: each == 1e-9 }
    }

    /// The time of an integer of flops, unless it is very large.
    fn of(self, flops: u64) -> Option<Time> {
        if self.is_nanosecond && flops < EXACT_MAX {
            return Some(Time::nanoseconds(flops));
        }
        let seconds = flops as f64 * self.each;
        (flops < PLAIN_MAX && seconds <= 1e6).then(|| Time::of_seconds(seconds))
    }
}

/// Reads the line with which the bytes begin, and returns its length with it, if it is one of the
/// most frequent ones: integers of flops and bytes. Returns none for other lines, wrong ones
/// included, and if its end is not there.
pub(super) fn plain(
    bytes: &[u8],
    (task, ranks): (TaskNumber, TaskNumber),
    flops: Flops,
) -> Option<(Action, usize)> {
    let (rank, rest) = number(bytes)?;
    if rank != u64::from(task) {
        return None;
    }
    let (verb, rest) = verb(rest)?;
    if verb == Verb::Compute {
        let (count, rest) = number(rest)?;
        return Some((Action::Compute(flops.of(count)?), bytes.len() - end(rest)?.len()));
    }
    let (peer, rest) = number(rest)?;
    let (tag, rest) = number(rest)?;
    let (size, rest) = number(rest)?;
    if peer >= u64::from(ranks) || size > BYTES_MAX {
        return None;
    }
    let used = bytes.len() - end(rest)?.len();
    let (time, peer, tag) = (Time::ZERO, peer as TaskNumber, i32::try_from(tag).ok()?);
    let action = match verb {
        Verb::Send => Action::Send { time, bytes: size, to: peer, tag },
        _ => Action::Receive { time, bytes: size, from: peer, tag },
    };
    Some((action, used))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Compute,
    Send,
    Receive,
}

fn skip_blanks(mut bytes: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'\r', rest @ ..] = bytes {
        bytes = rest;
    }
    bytes
}

/// The next word, if it is a number without a sign; and what follows it.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let begin = skip_blanks(bytes);
    let (mut rest, mut number) = (begin, 0u64);
    while let [digit @ b'0'..=b'9', behind @ ..] = rest {
        number = number.wrapping_mul(10).wrapping_add(u64::from(*digit - b'0'));
        rest = behind;
    }
    // More digits might not fit.
    let is_number = (1..=18).contains(&(begin.len() - rest.len()));
    let is_whole = matches!(rest, [b' ' | b'\t' | b'\r' | b'\n', ..]);
    (is_number && is_whole).then_some((number, rest))
}

fn verb(bytes: &[u8]) -> Option<(Verb, &[u8])> {
    match skip_blanks(bytes) {
        [b's', b'e', b'n', b'd', b' ', rest @ ..] => Some((Verb::Send, rest)),
        [b'r', b'e', b'c', b'v', b' ', rest @ ..] => Some((Verb::Receive, rest)),
        [b'c', b'o', b'm', b'p', b'u', b't', b'e', b' ', rest @ ..] => Some((Verb::Compute, rest)),
        _ => None,
    }
}

/// The bytes behind the line, if no more words belong to it.
fn end(bytes: &[u8]) -> Option<&[u8]> {
    match skip_blanks(bytes) {
        [b'\n', rest @ ..] => Some(rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flop_of_a_nanosecond_takes_the_time_that_seconds_would_give() {
        let flops = Flops::new(1e9);
        assert!(flops.is_nanosecond);
        for shift in 0..40 {
            for odd in [0, 1, 3, 77, 12_345, 987_654_321] {
                let count = ((1 << shift) + odd) % EXACT_MAX;
                let seconds = Time::of_seconds(count as f64 * flops.each);
                assert_eq!(flops.of(count), Some(seconds), "{count}");
            }
        }
        assert_eq!(Flops::new(2e9).of(3), Some(Time(1_500)));
        assert_eq!(flops.of(1_000_000_000_000_001), None, "more than 10^6 s");
    }

    #[test]
    fn only_whole_lines_of_plain_numbers_are_read() {
        let of = |text: &str| plain(text.as_bytes(), (7, 9), Flops::new(1e9));
        let send = Action::Send { time: Time::ZERO, bytes: 24, to: 8, tag: 5 };
        assert_eq!(of("7 send 8 5 24\n7 send"), Some((send.clone(), 14)));
        assert_eq!(of(" 7\tsend 8  5 24 \r\n"), Some((send, 18)));
        for other in [
            "7 send 8 5 24",
            "7 send 8 5 2",
            "7 send 8 5 24 1\n",
            "7 send 9 5 24\n",
            "7 send 8 -5 24\n",
            "7 send 8 5\n",
            "7 send 8 5 2.4\n",
            "7 send 8 4294967296 24\n",
            "7 send 8 5 1000000000001\n",
            "6 send 8 5 24\n",
            "7 sendx 8 5 24\n",
            "7\n",
            "7 compute 1000000000000000000000\n",
            "",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
