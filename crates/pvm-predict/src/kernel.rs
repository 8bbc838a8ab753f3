//! The base of every simulation: a queue of events in which ties have a fixed order, dice from a
//! seed, and a hashed map.

mod dice;
mod hash;
mod queue;

pub(crate) use dice::Dice;
pub(crate) use hash::Map;
pub(crate) use queue::Queue;
