//! The replicated log of commands: a small consensus core behind [`pvm_core::quorum::Quorum`].
//!
//! This is Raft (Ongaro and Ousterhout, 2014; changes of one voter at a time, pre-vote and leases
//! as in Ongaro's thesis of that year) without I/O and without a clock. It differs in these points:
//!
//! * All members have the log, but only some of them vote; the list of members determines the
//!   voters.
//! * The log is kept until every member has it, within [`Limits`]. A new member gets the state, and
//!   so does a member that lags behind by more than the limits.
//! * A member that no other one hears may go on alone if a witness or the rules of two hosts make
//!   certain that no other member acts. Then the *era* in the upper half of the term grows, and all
//!   older terms are invalid.
//! * In a large machine the log reaches the members along a tree: the voters are its top, and each
//!   member passes on what is committed (`tree`, `handing`).
//! * If the leader's own daemon is restarted, it may lead again at once: its lease ended with it.
//!
//! Read [`Core`] first, then `election`, `replication` with `flow`, `voters`, `pair` and
//! `parting`.

#![forbid(unsafe_code)]

mod arriving;
mod core;
mod election;
#[cfg(test)]
mod exhaustive;
mod flow;
mod frame;
mod handing;
mod limits;
mod log;
mod members;
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
