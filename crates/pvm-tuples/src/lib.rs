//! Tuple spaces, without I/O and without a clock.
//!
//! A [`Tuple`] is a row of typed fields; a tuple with formals is a template. A [`Store`] holds the
//! tuples of one space and its waiters. It is a state machine that gives equal answers for equal
//! inputs, so several servers can hold one space. [`frames`] are the messages between clients and
//! servers. `doc/tuples.md` describes what a space guarantees.

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
mod layout;
pub mod log;
mod marks;
mod matching;
pub mod ops;
pub mod outside;
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
