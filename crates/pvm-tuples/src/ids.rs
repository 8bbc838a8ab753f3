//! A set of numbers in ascending order, few or many.

use std::collections::BTreeSet;

/// A set of numbers. Most sets have one member, which needs no memory of its own.
#[derive(Clone, Default, Debug)]
pub(crate) enum Ids {
    /// The empty set.
    #[default]
    None,
    /// One number.
    One(u64),
    /// Several numbers. The set stays in this form when it shrinks, because it may grow again.
    #[expect(
        clippy::box_collection,
        reason = "most sets have one member: the others pay for a smaller one"
    )]
    Many(Box<BTreeSet<u64>>),
}

impl Ids {
    pub(crate) fn insert(&mut self, id: u64) {
        match self {
            Self::None => *self = Self::One(id),
            Self::One(first) => *self = Self::Many(Box::new(BTreeSet::from([*first, id]))),
            Self::Many(all) => drop(all.insert(id)),
        }
    }

    pub(crate) fn remove(&mut self, id: u64) {
        match self {
            Self::One(only) if *only == id => *self = Self::None,
            Self::Many(all) => drop(all.remove(&id)),
            Self::One(_) | Self::None => {}
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::None => true,
            Self::One(_) => false,
            Self::Many(all) => all.is_empty(),
        }
    }

    /// The numbers in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        let (one, many) = match self {
            Self::None => (None, None),
            Self::One(id) => (Some(*id), None),
            Self::Many(all) => (None, Some(all.iter().copied())),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }
}
