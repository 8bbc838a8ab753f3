//! Models: each puts sources, hosts, transports and links together.

pub mod flow;
pub mod line;
mod meeting;
pub mod packet;
mod run;
pub mod thesis;

use crate::error::{Error, Standstill, WAITING_TOLD, Waiting};

/// The error for a task that no other task starts.
fn never_started(task: usize) -> Error {
    Error::Unfit(format!("task {task} is started by tasks that are never started themselves"))
}

/// Returns an error if tasks still wait at the end of a run.
fn nobody_waits(waiting: impl Iterator<Item = Waiting> + Clone) -> Result<(), Error> {
    let first: Vec<Waiting> = waiting.clone().take(WAITING_TOLD).collect();
    if first.is_empty() {
        return Ok(());
    }
    let count = waiting.count() as u64;
    Err(Error::Standstill(Standstill { count, first }))
}
