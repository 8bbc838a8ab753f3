//! Amounts as SimGrid writes them.

use crate::unit::{BYTES_MAX, Time};

/// The time of a number of flops.
pub(super) fn computing(words: &[&str], flop: f64) -> Result<Time, String> {
    let word = words.first().ok_or("how much it computes is missing")?;
    let flops: f64 = word.parse().map_err(|_| format!("{word:?} is no number of flops"))?;
    let seconds = flops * flop;
    if !(0.0..=1e6).contains(&seconds) {
        return Err(format!("{word} flops take less than nothing or more than 10^6 s"));
    }
    Ok(Time::of_seconds(seconds))
}

/// The size of this many elements of a type. SimGrid gives types as numbers.
pub(super) fn size(elements: &str, kind: Option<&str>) -> Result<u64, String> {
    let count: f64 = elements.parse().map_err(|_| format!("{elements:?} is no size"))?;
    let each = match kind {
        None | Some("2" | "6") => 1.0,
        Some("0" | "4") => 8.0,
        Some("1" | "5") => 4.0,
        Some("3") => 2.0,
        Some(other) => {
            return Err(format!("{other:?} is no type of an element that is known here"));
        }
    };
    let bytes = count * each;
    if !(0.0..=BYTES_MAX as f64).contains(&bytes) {
        return Err(format!("a size of {elements} is negative or above {BYTES_MAX} B"));
    }
    Ok(bytes as u64)
}
