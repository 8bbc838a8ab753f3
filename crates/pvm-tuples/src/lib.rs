//! Tuple spaces, without I/O and without a clock.
//!
//! A [`Tuple`] is a row of typed fields, and also the template that others are matched with. A
//! [`Store`] holds the tuples of one space and the waiters for some: a state machine that gives the
//! same answers for the same inputs, so that several servers can hold the same space. [`frames`] is
//! what clients and servers say to each other. `doc/tuples.md` says what a space guarantees.

#![forbid(unsafe_code)]

mod builder;
pub mod carried;
pub mod client;
pub mod frames;
mod hash;
mod heap;
mod ids;
mod index;
mod kind;
mod known;
pub mod log;
mod matching;
pub mod ops;
pub mod partition;
pub mod planted;
pub mod shelf;
pub mod snapshot;
mod store;
mod tuple;

pub use builder::{BuildError, Builder};
pub use kind::{Kind, Shape};
pub use ops::{Answer, Find, Input, Op, Outcome, Reason};
pub use store::{Store, has_unread_tuples, spill_to, spilled_bytes};
pub use tuple::{FIELDS_MAX, FieldView, Tuple};
