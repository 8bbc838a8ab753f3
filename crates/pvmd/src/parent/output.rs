//! The pipes that tasks write to. Nothing is lost: what cannot be handed on yet stays in the pipe.

use pvm_wire::Tid;
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;

/// Most that one event carries.
pub(crate) const CHUNK_BYTES: usize = 64 << 10;
/// Most that is read at once from a task that has exited: more than a pipe holds.
const LAST_BYTES_MAX: usize = 2 << 20;

/// One pipe.
#[derive(Debug)]
struct Pipe {
    fd: OwnedFd,
    tid: Tid,
    stream: u8,
    /// The poll set waits for it.
    reading: bool,
}

/// The result of reading a pipe.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Bytes.
    Wrote(Tid, u8, Vec<u8>),
    /// Nothing now.
    Nothing,
    /// The last pipe of this task is at its end.
    Ended(Tid),
    /// A pipe is at its end, but not the task's last one.
    PipeEnded,
}

/// All pipes, by the number that the poll set knows them by.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    pipes: BTreeMap<u64, Pipe>,
    last: u64,
    /// Nothing is read: the daemon lags.
    paused: bool,
    /// The output of these tasks is not read, because its readers lag.
    held: BTreeSet<Tid>,
    /// Nor is the output of these, because too much of it waits for another host.
    lagging: BTreeSet<Tid>,
    /// Some pipe may have to be waited for, or not any more.
    changed: bool,
}

impl Outputs {
    /// Adds a pipe.
    pub(crate) fn add(&mut self, tid: Tid, stream: u8, fd: OwnedFd) -> u64 {
        self.last += 1;
        self.pipes.insert(self.last, Pipe { fd, tid, stream, reading: false });
        self.changed = true;
        self.last
    }

    /// Reads nothing for a while, or goes on.
    pub(crate) fn pause(&mut self, pause: bool) -> bool {
        let news = self.paused != pause;
        self.paused = pause;
        self.changed |= news;
        news
    }

    /// Reads nothing of one task.
    pub(crate) fn hold(&mut self, tid: Tid) {
        self.changed |= self.held.insert(tid);
    }

    /// Goes on with one task.
    pub(crate) fn release(&mut self, tid: Tid) {
        self.changed |= self.held.remove(&tid);
    }

    /// Notes whether too much output of this task waits for another host; without a task, of no
    /// task.
    pub(crate) fn lag(&mut self, tid: Tid, on: bool) {
        match (on, tid) {
            (true, _) => drop(self.lagging.insert(tid)),
            (false, Tid::NONE) => self.lagging.clear(),
            (false, _) => drop(self.lagging.remove(&tid)),
        }
        self.changed = true;
    }

    /// Pipes that are to be waited for from now on (true), or no more.
    pub(crate) fn take_changes(&mut self) -> Vec<(u64, bool)> {
        if !std::mem::take(&mut self.changed) {
            return Vec::new();
        }
        let mut changes = Vec::new();
        for (number, pipe) in &mut self.pipes {
            let holds = |tids: &BTreeSet<Tid>| tids.contains(&pipe.tid);
            let read = !self.paused && !holds(&self.held) && !holds(&self.lagging);
            if std::mem::replace(&mut pipe.reading, read) != read {
                changes.push((*number, read));
            }
        }
        changes
    }

    /// The descriptor of one pipe.
    pub(crate) fn descriptor(&self, number: u64) -> Option<&OwnedFd> {
        self.pipes.get(&number).map(|pipe| &pipe.fd)
    }

    /// The pipes of a task.
    pub(crate) fn of_task(&self, tid: Tid) -> Vec<u64> {
        self.pipes.iter().filter(|(_, pipe)| pipe.tid == tid).map(|(number, _)| *number).collect()
    }

    /// Reads a task's pipes no more; false where there is none.
    pub(crate) fn close(&mut self, tid: Tid) -> bool {
        let before = self.pipes.len();
        self.pipes.retain(|_, pipe| pipe.tid != tid);
        self.pipes.len() < before
    }

    /// Reads a pipe once.
    pub(crate) fn read(&mut self, number: u64, scratch: &mut [u8]) -> Flow {
        let Some(pipe) = self.pipes.get(&number) else { return Flow::Nothing };
        match rustix::io::read(&pipe.fd, &mut *scratch) {
            Ok(n) if n > 0 => Flow::Wrote(pipe.tid, pipe.stream, scratch[..n].to_vec()),
            Err(Errno::AGAIN | Errno::INTR) => Flow::Nothing,
            Ok(_) | Err(_) => {
                let tid = pipe.tid;
                self.pipes.remove(&number);
                if self.of_task(tid).is_empty() { Flow::Ended(tid) } else { Flow::PipeEnded }
            }
        }
    }

    /// Reads what a task that has exited left in its pipes.
    pub(crate) fn read_rest(&mut self, tid: Tid, scratch: &mut [u8]) -> Vec<Flow> {
        let mut flows = Vec::new();
        for number in self.of_task(tid) {
            let mut bytes = 0;
            while bytes < LAST_BYTES_MAX {
                let flow = self.read(number, scratch);
                let Flow::Wrote(_, _, written) = &flow else {
                    flows.push(flow);
                    break;
                };
                bytes += written.len();
                flows.push(flow);
            }
        }
        flows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pipe::PipeFlags;

    const A: Tid = Tid(0x40001);

    fn pipe() -> (OwnedFd, OwnedFd) {
        rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).unwrap()
    }

    #[test]
    fn what_is_held_or_paused_is_not_waited_for() {
        let (out, _writer) = pipe();
        let mut outputs = Outputs::default();
        let number = outputs.add(A, 1, out);
        assert_eq!(outputs.take_changes(), [(number, true)]);
        outputs.hold(A);
        outputs.pause(true);
        assert_eq!(outputs.take_changes(), [(number, false)]);
        outputs.pause(false);
        assert_eq!(outputs.take_changes(), []);
        outputs.release(A);
        assert_eq!(outputs.take_changes(), [(number, true)]);
        outputs.lag(A, true);
        assert_eq!(outputs.take_changes(), [(number, false)]);
        outputs.lag(A, false);
        assert_eq!(outputs.take_changes(), [(number, true)]);
        outputs.lag(A, true);
        outputs.lag(Tid::NONE, false);
        assert_eq!(outputs.take_changes(), []);
    }

    #[test]
    fn the_end_is_that_of_the_last_pipe() {
        let (out, out_writer) = pipe();
        let (err, err_writer) = pipe();
        let mut outputs = Outputs::default();
        let first = outputs.add(A, 1, out);
        let second = outputs.add(A, 2, err);
        rustix::io::write(&out_writer, b"hello").unwrap();
        drop(out_writer);
        let scratch = &mut [0; 3];
        let expected = [
            Flow::Wrote(A, 1, b"hel".into()),
            Flow::Wrote(A, 1, b"lo".into()),
            Flow::PipeEnded,
            Flow::Nothing,
        ];
        assert_eq!(outputs.read_rest(A, scratch), expected);
        drop(err_writer);
        assert_eq!(outputs.read(second, scratch), Flow::Ended(A));
        assert_eq!(outputs.read(first, scratch), Flow::Nothing);
    }
}
