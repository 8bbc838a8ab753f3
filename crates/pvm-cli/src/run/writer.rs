//! The thread that writes what the tasks print, so that a slow reader stops output and nothing
//! else.
//!
//! What has been read from the daemon and is not written yet is bounded: each answer that carries
//! output takes room until it is handled, and each piece that is to be written until it is. Without
//! room no further answer is read, the daemon's socket fills, and the tasks wait in their own
//! writes as at a pipe. Signals come by another way and are handled meanwhile.

use crate::failure::Failure;
use crate::threads;
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{Error, ErrorKind, stderr, stdout};
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Bytes of output that may wait for a slow reader.
const WAITING_BYTES_MAX: usize = 8 << 20;
/// The number of standard error output among a task's streams.
pub(crate) const STDERR: u8 = 2;

/// The number of bytes of output that wait.
#[derive(Clone, Debug, Default)]
pub(crate) struct Backlog(Arc<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    bytes: Mutex<usize>,
    less: Condvar,
}

impl Backlog {
    /// Waits until there is room for `bytes`, and takes it. A piece larger than all the room goes
    /// alone.
    pub(crate) fn take(&self, bytes: usize) -> Room {
        let mut waiting = self.0.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        while *waiting > 0 && *waiting + bytes > WAITING_BYTES_MAX {
            waiting = self.0.less.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        *waiting += bytes;
        Room { of: self.clone(), bytes }
    }

    /// Takes room for bytes that are in memory already, even if there is little; the next caller of
    /// [`Backlog::take`] waits longer.
    fn claim(&self, bytes: usize) -> Room {
        *self.0.bytes.lock().unwrap_or_else(PoisonError::into_inner) += bytes;
        Room { of: self.clone(), bytes }
    }
}

/// Room that is taken, until this is dropped.
#[derive(Debug)]
pub(crate) struct Room {
    of: Backlog,
    bytes: usize,
}

impl Drop for Room {
    fn drop(&mut self) {
        *self.of.0.bytes.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.of.0.less.notify_all();
    }
}

struct Piece {
    stream: u8,
    bytes: Vec<u8>,
    /// Given back when the bytes are written.
    _room: Room,
}

/// Writes piece by piece, in order.
#[derive(Debug)]
pub(crate) struct Writer {
    to: Sender<Piece>,
    backlog: Backlog,
}

impl Writer {
    /// Starts to write. `done` is called once: with the first error, after which nothing is
    /// written, or at the end, when the writer was dropped and all is written.
    pub(crate) fn start(
        backlog: Backlog,
        done: impl FnOnce(Result<(), Error>) + Send + 'static,
    ) -> Result<Self, Failure> {
        let (to, pieces) = channel();
        threads::start(move || {
            let outcome = write_pieces(&pieces);
            let failed = outcome.is_err();
            done(outcome);
            if failed {
                // Threads that wait for room go on, and their bytes are dropped.
                pieces.iter().for_each(drop);
            }
        })?;
        Ok(Self { to, backlog })
    }

    /// Hands over bytes for a stream.
    pub(crate) fn write(&self, stream: u8, bytes: Vec<u8>) {
        let room = self.backlog.claim(bytes.len());
        // The thread ends only after this.
        let _ = self.to.send(Piece { stream, bytes, _room: room });
    }
}

fn write_pieces(pieces: &Receiver<Piece>) -> Result<(), Error> {
    for piece in pieces {
        if piece.stream == STDERR {
            write_whole(stderr(), &piece.bytes)?;
        } else {
            write_whole(stdout(), &piece.bytes)?;
        }
    }
    Ok(())
}

/// Writes past the buffer of the standard library, and waits where another process has made the
/// file return at once.
fn write_whole(to: impl AsFd, mut bytes: &[u8]) -> Result<(), Error> {
    while !bytes.is_empty() {
        match rustix::io::write(&to, bytes).map_err(Error::from) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) => match error.kind() {
                ErrorKind::Interrupted => {}
                ErrorKind::WouldBlock => {
                    poll(&mut [PollFd::new(&to, PollFlags::OUT)], None)?;
                }
                _ => return Err(error),
            },
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::TryRecvError;

    #[test]
    fn room_is_bounded_and_given_back() {
        let backlog = Backlog::default();
        let first = backlog.take(WAITING_BYTES_MAX - 1);
        let (to, second) = channel();
        let other = backlog.clone();
        std::thread::spawn(move || to.send(other.take(2)));
        assert_eq!(second.try_recv().err(), Some(TryRecvError::Empty));
        drop(first);
        drop(second.recv().unwrap());
        // A piece above the bound goes where nothing else waits.
        drop(backlog.take(2 * WAITING_BYTES_MAX));
        drop(backlog.take(1));
    }
}
