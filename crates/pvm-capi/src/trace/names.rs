//! Numbers of names in records: a name is told once, when it is used first.

use std::collections::BTreeMap;

use pvm::{Forked, Gate};
use pvm_wire::record::{Class, NAME_BYTES_MAX, NAMES_MAX, What};

use crate::session;

/// Names that have numbers, of all classes together.
type Numbers = BTreeMap<(Class, Vec<u8>), u32>;

static NUMBERS: Gate<Numbers> = Gate::new(BTreeMap::new());

/// A program that makes up names without an end gets number 0, which has no name.
const MOST: usize = 1 << 16;

/// The number of a name.
pub(crate) fn number(class: Class, text: &[u8]) -> u32 {
    let text = &text[..text.len().min(NAME_BYTES_MAX)];
    let Ok(mut numbers) = NUMBERS.enter() else { return 0 };
    if let Some(number) = numbers.get(&(class, text.to_vec())) {
        return *number;
    }
    let next = numbers.len() + 1;
    let Some(number) = u32::try_from(next).ok().filter(|next| *next < NAMES_MAX) else { return 0 };
    if next > MOST {
        return 0;
    }
    numbers.insert((class, text.to_vec()), number);
    drop(numbers);
    if let Some(task) = session::current() {
        task.note(What::Name { class, number, text: text.to_vec() });
    }
    number
}

pub(crate) fn reset_after_fork(forked: &Forked) {
    NUMBERS.reset_after_fork(forked, BTreeMap::new);
}
