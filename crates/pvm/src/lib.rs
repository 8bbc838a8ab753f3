//! The NeoPVM task library: enrol, pack, send, receive, unpack.
//!
//! [`Task`] is a process's membership in the machine, [`Buffer`] a message that is being packed
//! or read. Everything else that PVM can do is a [`pvm_wire::request::Request`] that
//! [`Task::request`] carries to the host. Blocking, without an async runtime; it never prints
//! and never starts a daemon. The C library and the bindings are thin layers over this crate.

#![deny(unsafe_code)]

mod buffer;
mod connection;
mod cores;
mod credit;
pub mod group;
pub mod locate;
mod mailbox;
mod members;
mod memory;
mod order;
pub mod orders;
mod patience;
mod pattern;
mod plug;
pub mod probe;
pub mod reduction;
mod rosters;
mod route;
mod source;
mod state;
#[allow(unsafe_code, reason = "the one room that talks to the C library and to foreign memory")]
pub mod sys;
mod task;
mod turns;
mod wait;

pub use buffer::{Buffer, Form, Remains};
pub use credit::Policy;
pub use mailbox::MessageKey;
pub use members::Members;
pub use memory::{ExposedMemory, Memory};
pub use pattern::Pattern;
pub use pvm_shm::Glance;
pub use pvm_shm::bias::Bias;
pub use pvm_shm::bytes::FEW;
pub use pvm_shm::lane::{Head, Key, SPANNING_MAX};
pub use pvm_shm::lock_word::Number;
pub use pvm_shm::probe as probes;
pub use pvm_shm::recorder::{Drained, Reader as RecordReader, cost_ps as record_cost_ps};
pub use pvm_shm::segment::create_file;
pub use pvm_shm::ticks::nanoseconds as record_clock;
#[doc(hidden)]
pub use route::stream::read_route;
pub use sys::cancellation::shielded;
pub use sys::gate::{
    Among, Biased, FastGuard, Forked, Gate, GateGuard, Owner, is_alone, trust_alone,
};
pub use sys::memory::ProgramMemory;
pub use sys::{fence_all_threads, may_fence_all_threads};
pub use task::Task;
pub use task::pressure::spill_or_fail;
pub use task::until::{Step, Waiting};
pub use task::{after_fork, nudge_current};
pub use wait::{Awaited, Deadline, WaitToken};
