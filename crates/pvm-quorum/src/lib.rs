//! The order of commands: a small consensus core behind [`pvm_core::quorum::Quorum`].
//!
//! Raft (Ongaro and Ousterhout, 2014; membership one voter at a time, pre-vote and leases as in
//! Ongaro's thesis of the same year) without I/O and without a clock. What differs, and why:
//!
//! * All members have the log, only some of them vote; who votes follows from who is a member.
//! * The log is kept until every member has it, within [`Limits`]: a new member needs the state, and one
//!   that lags behind by more.
//! * A member that nobody hears may go on alone where somebody else made certain that no other
//!   acts (two hosts): the *era* in the upper half of the term grows, and ends all older ones.
//! * Many members hear the order along a tree: voters are its top, and each member hands on what is
//!   committed (`tree`, `handing`).
//! * The leader's own daemon, started again, may lead again at once: its lease died with it.
//!
//! Read [`Core`] first, then `election`, `replication` with `flow`, `voters`, `pair` and
//! `parting`.

#![forbid(unsafe_code)]

mod core;
mod election;
#[cfg(test)]
mod exhaustive;
mod flow;
mod frame;
mod handing;
mod limits;
mod log;
mod need;
mod pair;
mod parting;
mod reads;
mod relay;
mod replication;
mod tree;
mod voters;

pub use crate::core::Core;
pub use crate::limits::Limits;
