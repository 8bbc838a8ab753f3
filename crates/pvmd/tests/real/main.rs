//! Real processes that speak to a real `pvmd`.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

mod client;
mod hoster;
mod hosts;
mod joining;
mod life;
mod messages;
mod outlive;
mod strangers;
mod task;
mod tasks;
mod withdrawal;
