//! Standard input of tasks: bytes wait here until the task's pipe takes them.

use pvm_wire::Tid;
use rustix::io::Errno;
use std::collections::{BTreeMap, VecDeque};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

/// Most that waits for one task; what comes after is dropped and said in the log.
const WAITING_BYTES_MAX: usize = 256 << 20;

#[derive(Debug)]
struct Input {
    fd: OwnedFd,
    waiting: VecDeque<u8>,
    closing: bool,
}

/// The outcome of feeding.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fed {
    /// All is written.
    All,
    /// The rest waits for room in the pipe.
    Waits,
    /// The pipe is closed.
    Closed,
    /// The task has been given more than it will ever read.
    Dropped,
}

/// The inputs of all tasks that are fed.
#[derive(Debug, Default)]
pub(crate) struct Feeds {
    inputs: BTreeMap<Tid, Input>,
}

impl Feeds {
    /// Adds a task's pipe.
    pub(crate) fn add(&mut self, tid: Tid, fd: OwnedFd) {
        self.inputs.insert(tid, Input { fd, waiting: VecDeque::new(), closing: false });
    }

    /// Adds bytes; an empty slice closes the pipe after the waiting bytes.
    pub(crate) fn feed(&mut self, tid: Tid, bytes: &[u8]) -> Fed {
        let Some(input) = self.inputs.get_mut(&tid) else { return Fed::Closed };
        if input.waiting.len() + bytes.len() > WAITING_BYTES_MAX {
            return Fed::Dropped;
        }
        input.closing |= bytes.is_empty();
        input.waiting.extend(bytes);
        self.write(tid)
    }

    /// Writes what the pipe takes.
    pub(crate) fn write(&mut self, tid: Tid) -> Fed {
        let Some(input) = self.inputs.get_mut(&tid) else { return Fed::Closed };
        while !input.waiting.is_empty() {
            match rustix::io::write(&input.fd, input.waiting.as_slices().0) {
                Ok(n) => drop(input.waiting.drain(..n)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Fed::Waits,
                // The task closed its end: the rest will not be read.
                Err(_) => {
                    self.inputs.remove(&tid);
                    return Fed::Closed;
                }
            }
        }
        if !input.closing {
            return Fed::All;
        }
        self.inputs.remove(&tid);
        Fed::Closed
    }

    /// True where bytes wait for room.
    pub(crate) fn waits(&self, tid: Tid) -> bool {
        self.inputs.get(&tid).is_some_and(|input| !input.waiting.is_empty())
    }

    /// The task is gone.
    pub(crate) fn remove(&mut self, tid: Tid) {
        self.inputs.remove(&tid);
    }

    /// The pipe of a task.
    pub(crate) fn descriptor(&self, tid: Tid) -> Option<BorrowedFd<'_>> {
        self.inputs.get(&tid).map(|input| input.fd.as_fd())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pipe::PipeFlags;

    const A: Tid = Tid(0x40001);

    #[test]
    fn more_than_the_pipe_holds_is_written_bit_by_bit_and_then_closed() {
        let flags = PipeFlags::CLOEXEC | PipeFlags::NONBLOCK;
        let (reader, writer) = rustix::pipe::pipe_with(flags).unwrap();
        let mut feeds = Feeds::default();
        feeds.add(A, writer);
        assert_eq!(feeds.feed(A, &[7; 200_000]), Fed::Waits);
        assert_eq!(feeds.feed(A, &[]), Fed::Waits);
        let mut total = 0;
        let mut scratch = [0; 4096];
        while let Ok(n) = rustix::io::read(&reader, &mut scratch) {
            total += n;
            feeds.write(A);
            if n == 0 {
                break;
            }
        }
        assert_eq!(total, 200_000);
        assert_eq!(feeds.feed(A, b"late"), Fed::Closed);
    }

    #[test]
    fn a_task_that_closed_its_input_is_no_trouble() {
        let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).unwrap();
        drop(reader);
        let mut feeds = Feeds::default();
        feeds.add(A, writer);
        assert_eq!(feeds.feed(A, b"x"), Fed::Closed);
    }
}
