//! Private machines for tests, measurements and demonstrations.
//!
//! A [`Place`] is a folder with the environment that makes it a user's whole world. Rust tests make
//! one with [`Place::new`]; everybody else calls the program `testbed`, which makes the same places
//! and starts machines in them. A place ends with the process that asked for it, however that
//! process ends: a *keeper*, a process in a session of its own, holds a pidfd of it, kills what was
//! started in its places, and removes their folders.
//!
//! Nothing here knows NeoPVM's protocols. Start with `place.rs`.
#![forbid(unsafe_code)]

pub mod hosts;
pub mod keeper;
pub mod machine;
mod patience;
mod place;
pub mod process;
mod program;
pub mod shell;
mod sweep;

pub use patience::eventually;
pub use place::{HomeFolder, Place};
pub use program::{copy_program, write_program};
pub use sweep::kill_all_of;
