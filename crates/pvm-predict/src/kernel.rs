//! The base of every simulation: a queue of events with fixed ties, dice from a seed, hashed
//! matching.

mod dice;
mod hash;
mod queue;

pub(crate) use dice::Dice;
pub(crate) use hash::Map;
pub(crate) use queue::Queue;
