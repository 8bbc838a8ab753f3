//! Handles of tuples and of spaces.

use pvm_space::{Found, Space};
use pvm_tuples::{Builder, Tuple};
use pvm_wire::Tid;
use std::num::NonZeroU64;

use super::native::Aligned;

/// A tuple behind a handle.
#[derive(Default)]
pub(super) struct Held {
    /// Its fields, if it is made here.
    pub(super) builder: Builder,
    /// The whole, if it was taken, or once somebody has looked at it.
    pub(super) tuple: Option<Tuple>,
    /// Taken out of a space: it is not added to before it is cleared.
    pub(super) taken: bool,
    /// The claim, if it was claimed.
    pub(super) claim: Option<NonZeroU64>,
    /// The number of times that it came back before.
    pub(super) tries: u32,
    /// Fields that do not lie in the tuple as this host has them.
    pub(super) converted: Vec<(usize, Aligned)>,
}

impl Held {
    /// A tuple that a space gave.
    pub(super) fn found(found: Found) -> Self {
        let Found { tuple, claim, tries } = found;
        Self { tuple: Some(tuple), taken: true, claim, tries, ..Self::default() }
    }

    /// All of it.
    pub(super) fn tuple(&mut self) -> Option<&Tuple> {
        if self.tuple.is_none() {
            self.tuple = self.builder.finish();
        }
        self.tuple.as_ref()
    }
}

/// The handles of a process: one more than the place.
pub(super) struct Table {
    tuples: Vec<Option<Box<Held>>>,
    free: Vec<usize>,
    spaces: Vec<Option<(Tid, Space)>>,
}

impl Table {
    pub(super) const fn new() -> Self {
        Self { tuples: Vec::new(), free: Vec::new(), spaces: Vec::new() }
    }

    pub(super) fn add(&mut self, held: Held) -> Option<i32> {
        let place = self.free.pop().unwrap_or_else(|| {
            self.tuples.push(None);
            self.tuples.len() - 1
        });
        let handle = i32::try_from(place + 1).ok()?;
        self.tuples[place] = Some(Box::new(held));
        Some(handle)
    }

    pub(super) fn get(&mut self, handle: i32) -> Option<&mut Held> {
        let place = usize::try_from(handle).ok()?.checked_sub(1)?;
        self.tuples.get_mut(place)?.as_deref_mut()
    }

    /// Frees a handle; what lay there is dropped by the caller.
    pub(super) fn take(&mut self, handle: i32) -> Option<Box<Held>> {
        let place = usize::try_from(handle).ok()?.checked_sub(1)?;
        let held = self.tuples.get_mut(place)?.take()?;
        self.free.push(place);
        Some(held)
    }

    pub(super) fn add_space(&mut self, task: Tid, space: Space) -> Option<i32> {
        let place = self.spaces.iter().position(Option::is_none).unwrap_or_else(|| {
            self.spaces.push(None);
            self.spaces.len() - 1
        });
        self.spaces[place] = Some((task, space));
        i32::try_from(place + 1).ok()
    }

    /// The space of a handle, if this task has opened it.
    pub(super) fn space(&self, handle: i32, task: Tid) -> Option<Space> {
        let place = usize::try_from(handle).ok()?.checked_sub(1)?;
        let (owner, space) = (*self.spaces.get(place)?)?;
        (owner == task).then_some(space)
    }

    pub(super) fn take_space(&mut self, handle: i32) -> Option<(Tid, Space)> {
        let place = usize::try_from(handle).ok()?.checked_sub(1)?;
        self.spaces.get_mut(place)?.take()
    }

    pub(super) fn forget_spaces(&mut self) {
        self.spaces.clear();
    }
}
