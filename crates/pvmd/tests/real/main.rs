//! Real processes that speak to a real `pvmd`.

mod client;
mod hosts;
mod life;
mod strangers;
mod tasks;
