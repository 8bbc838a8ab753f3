//! The tasks that wait for messages, and so read what comes at once; and what the others have not
//! read.

use crate::action::TaskNumber;

/// One task's reading.
#[derive(Clone, Debug, Default)]
struct Reader {
    waits: bool,
    /// The ends at which an acknowledgement waits until it reads.
    unread: Vec<u32>,
}

/// All tasks.
#[derive(Debug)]
pub(super) struct Readers(Vec<Reader>);

impl Readers {
    pub(super) fn new(tasks: usize) -> Self {
        Self(vec![Reader::default(); tasks])
    }

    /// True if a task waits for messages.
    pub(super) fn waits(&self, task: TaskNumber) -> bool {
        self.0[task as usize].waits
    }

    /// A task has not read what came to one of its ends.
    pub(super) fn leaves(&mut self, task: TaskNumber, end: u32) {
        let unread = &mut self.0[task as usize].unread;
        if !unread.contains(&end) {
            unread.push(end);
        }
    }

    /// A task reads all that is there, and then waits or goes on. Returns the ends at which that is
    /// news.
    pub(super) fn reads(&mut self, task: TaskNumber, waits: bool) -> Vec<u32> {
        let reader = &mut self.0[task as usize];
        reader.waits = waits;
        std::mem::take(&mut reader.unread)
    }
}
