//! How sources, hosts, transports and links are put together.

pub mod flow;
pub mod line;
mod meeting;
pub mod packet;
mod run;
pub mod thesis;

use crate::error::Error;

/// The error of a task that waits to be started.
fn never_started(task: usize) -> Error {
    Error::Unfit(format!("task {task} is started by tasks that are never started themselves"))
}
