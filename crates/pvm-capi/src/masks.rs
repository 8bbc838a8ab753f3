//! Trace masks: which kinds of events are traced, of this task and of those it spawns.

use std::sync::{Mutex, PoisonError};

use crate::globals;

/// Letters of a trace mask, without its end mark.
pub(crate) const MASK_LETTERS: usize = 35;
/// This task's mask.
pub(crate) const OWN_MASK: usize = 0;
/// The mask of tasks that it spawns.
pub(crate) const CHILD_MASK: usize = 1;

type Mask = [u8; MASK_LETTERS];

/// No kind of event is selected.
static MASKS: Mutex<[Mask; 2]> = Mutex::new([[b'@'; MASK_LETTERS]; 2]);

/// A mask in its text form.
pub(crate) fn mask(whose: usize) -> Mask {
    MASKS.lock().unwrap_or_else(PoisonError::into_inner)[whose]
}

/// Keeps a mask: what is no letter of one selects nothing, what is missing neither.
pub(crate) fn store_mask(whose: usize, letters: &[u8]) {
    let mut mask = [b'@'; MASK_LETTERS];
    for (place, &letter) in mask.iter_mut().zip(letters) {
        if (b'@'..=b'O').contains(&letter) {
            *place = letter;
        }
    }
    MASKS.lock().unwrap_or_else(PoisonError::into_inner)[whose] = mask;
    globals::show_mask(whose, &mask);
}
