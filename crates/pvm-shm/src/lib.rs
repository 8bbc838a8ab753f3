//! Exchange of messages between the tasks of one host.
//!
//! A task has an **inbox**: one word that says where something waits and whether its owner sleeps.
//! Every sender has a **lane** of its own into it, a ring of fixed cells that only it fills, so
//! that a sender that is killed or stopped at any instruction holds up nobody else. Small messages
//! ride in the cell or in a few of them; larger ones lie in a **slab** of the sender's, and the
//! cell holds a descriptor. All segments are made by the host's [`Keeper`], which keeps them until
//! their readers are done, whatever happens to the writers. [`Outbox`] is the sending half of a
//! process, [`Inlet`] the receiving half; the daemon takes messages to other hosts out of its inbox
//! with [`Transit`]. A group has a [`Roster`]: its members, and its barrier. The layouts are drawn
//! in `doc/shm.md`.
//!
//! This crate is the only home of unsafe memory code. Memory shared with another process is
//! taken for hostile: an index is read once and checked, no reference to bytes is formed.

pub mod activity;
pub mod barrier;
pub mod baton;
mod bells;
pub mod bias;
pub mod broker;
pub mod bytes;
pub mod clock;
pub mod credit;
pub mod exposed;
pub mod inbox;
pub mod inlet;
mod keeper;
pub mod lane;
pub mod lock_word;
mod mappings;
pub mod outbox;
mod pair;
pub mod probe;
pub mod recent;
pub mod recorder;
pub mod roster;
pub mod segment;
pub mod slab;
pub mod sleeper;
pub mod spill;
pub mod stream;
pub mod sync;
pub mod ticks;
pub mod transit;
pub mod trial;
pub mod users;
pub mod watch;

pub use bells::Bells;
pub use broker::Broker;
pub use inlet::{Glance, Inlet, Payload, Unmapped};
pub use keeper::Keeper;
pub use outbox::pairs::Pushed;
pub use outbox::{Body, Outbox, Sent};
pub use pair::PairLane;
pub use roster::Roster;
pub use slab::{Pool, Slab};
pub use transit::Transit;
