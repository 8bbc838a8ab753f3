//! The base of the end-to-end tests: a virtual machine of their own from an installation, programs
//! compiled against it, and an account of what is left behind.
//!
//! `NEOPVM_PREFIX` names the installation; without it `target/stage` is taken. Nothing is
//! written outside of the system's temporary folder, so the tests run as any user and any number of
//! them at once. Start with [`Machine`], and with [`Hosts`] for several hosts with networks of
//! their own.
#![forbid(unsafe_code)]

pub mod bag;
pub mod faults;
pub mod history;
mod hosts;
mod machine;
mod output;
mod place;
mod program;
mod wire;

pub use hosts::Hosts;
pub use machine::Machine;
pub use output::{Output, Running};
pub use place::Place;
pub use program::{has, prefix};
pub use testbed::{copy_program, eventually, process, write_program};
pub use wire::{Capture, Wire};

/// True where the long versions of tests are asked for (`NEOPVM_LONG=1`).
pub fn long() -> bool {
    std::env::var_os("NEOPVM_LONG").is_some_and(|value| !value.is_empty() && value != "0")
}
