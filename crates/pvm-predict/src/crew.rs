//! Workers that run the parts of a simulation side by side. There are no threads here: the caller
//! brings them.

/// Workers, with numbers from 0 on.
pub trait Crew: Sync {
    /// Has each worker call `work` with its number and the number of all workers; returns when all
    /// of them are done.
    fn all(&self, work: &(dyn Fn(usize, usize) + Sync));

    /// Waits, within `work`, until all workers have called this. What they did before is seen
    /// behind it.
    fn meet(&self);
}

/// The caller alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Crew for Alone {
    fn all(&self, work: &(dyn Fn(usize, usize) + Sync)) {
        work(0, 1);
    }

    fn meet(&self) {}
}
