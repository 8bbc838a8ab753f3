//! Hosts with networks of their own: joining over ssh, what goes wrong on the way, strangers, the
//! wire.
//!
//! Needs root and the tools that `xtask/hosts.sh` names; without them each test says that it is
//! skipped.
#![forbid(unsafe_code)]

mod ask;
mod crossings;
mod diagnosis;
mod faults;
mod half_cables;
mod histories;
mod joining;
mod measuring;
mod one_way;
mod partitions;
mod recorded;
mod slow;
mod spaces;
mod strangers;
mod tokens;
mod wire;
