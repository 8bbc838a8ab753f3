//! A local stream socket that never blocks: frames in, frames with descriptors out.

use pvm_wire::{FrameBuffer, Wire, write_frame};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use std::collections::VecDeque;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Answers that a peer has not read; one that lets more pile up is dropped.
const UNREAD_BYTES_MAX: usize = 256 << 20;

/// Descriptors beside one frame.
const BESIDE_MAX: usize = 2;

/// The peer is to be dropped.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StreamEnd {
    /// It closed the connection.
    #[error("closed")]
    Closed,
    /// It does not read what it is told.
    #[error("does not read its answers")]
    Unread,
}

/// One socket.
#[derive(Debug)]
pub(crate) struct Stream {
    fd: OwnedFd,
    input: FrameBuffer,
    output: Vec<u8>,
    /// Bytes of `output` that are sent.
    sent: usize,
    /// Descriptors, each with the place in `output` of the byte that it goes with.
    beside: VecDeque<(usize, OwnedFd)>,
}

impl Stream {
    /// Takes over a non-blocking socket.
    pub(crate) const fn new(fd: OwnedFd, limit: usize) -> Self {
        let input = FrameBuffer::new(limit);
        Self { fd, input, output: Vec::new(), sent: 0, beside: VecDeque::new() }
    }

    /// The socket once more.
    pub(crate) fn duplicate(&self) -> std::io::Result<OwnedFd> {
        self.fd.try_clone()
    }

    /// Allows longer frames.
    pub(crate) const fn set_limit(&mut self, limit: usize) {
        self.input.set_limit(limit);
    }

    /// Reads what is there, at most one `scratch` full.
    pub(crate) fn read(&mut self, scratch: &mut [u8]) -> Result<usize, StreamEnd> {
        match rustix::io::read(&self.fd, &mut *scratch) {
            Ok(0) => Err(StreamEnd::Closed),
            Ok(n) => {
                self.input.push(&scratch[..n]);
                Ok(n)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(_) => Err(StreamEnd::Closed),
        }
    }

    /// Like `read`, with the descriptors that come beside: only from our own daemon.
    pub(crate) fn read_with(
        &mut self,
        scratch: &mut [u8],
        descriptors: &mut VecDeque<OwnedFd>,
    ) -> Result<usize, StreamEnd> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut into = [IoSliceMut::new(scratch)];
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        let received = match rustix::net::recvmsg(&self.fd, &mut into, &mut control, flags) {
            Ok(received) => received.bytes,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(0),
            Err(_) => return Err(StreamEnd::Closed),
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                descriptors.extend(fds);
            }
        }
        if received == 0 {
            return Err(StreamEnd::Closed);
        }
        self.input.push(&scratch[..received]);
        Ok(received)
    }

    /// The frames that have come.
    pub(crate) const fn frames(&mut self) -> &mut FrameBuffer {
        &mut self.input
    }

    /// Queues a frame.
    pub(crate) fn push(&mut self, id: u32, value: &impl Wire) {
        self.compact();
        write_frame(&mut self.output, id, value);
    }

    /// Queues a frame with descriptors beside it, at most [`BESIDE_MAX`].
    pub(crate) fn push_with(
        &mut self,
        id: u32,
        value: &impl Wire,
        fds: impl IntoIterator<Item = OwnedFd>,
    ) {
        self.compact();
        let at = self.output.len();
        self.beside.extend(fds.into_iter().take(BESIDE_MAX).map(|fd| (at, fd)));
        write_frame(&mut self.output, id, value);
    }

    /// True where something is left to send.
    pub(crate) const fn pending(&self) -> bool {
        self.sent < self.output.len()
    }

    /// The number of bytes that are left to send.
    pub(crate) const fn pending_bytes(&self) -> usize {
        self.output.len() - self.sent
    }

    /// Sends what the socket takes.
    pub(crate) fn flush(&mut self) -> Result<(), StreamEnd> {
        while self.pending() {
            match self.send_some() {
                Ok(n) => self.sent += n,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if self.output.len() - self.sent > UNREAD_BYTES_MAX => {
                    return Err(StreamEnd::Unread);
                }
                // The receiver has too many descriptors in flight: it must take some first.
                Err(Errno::AGAIN | Errno::TOOMANYREFS) => return Ok(()),
                Err(_) => return Err(StreamEnd::Closed),
            }
        }
        self.output.clear();
        self.output.shrink_to(1 << 16);
        self.sent = 0;
        Ok(())
    }

    /// Sends up to the next byte that has descriptors; that byte opens the next call.
    fn send_some(&mut self) -> Result<usize, Errno> {
        let here = self.beside.iter().take_while(|(at, _)| *at == self.sent).count();
        let next = self.beside.get(here);
        let end = next.map_or(self.output.len(), |(at, _)| *at);
        let bytes = &self.output[self.sent..end];
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        if here == 0 {
            return rustix::net::send(&self.fd, bytes, flags);
        }
        let fds: Vec<_> = self.beside.iter().take(here).map(|(_, fd)| fd.as_fd()).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(BESIDE_MAX))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(&fds)), "there is room for them");
        let sent = rustix::net::sendmsg(&self.fd, &[IoSlice::new(bytes)], &mut control, flags)?;
        self.beside.drain(..here);
        Ok(sent)
    }

    /// Moves what is unsent to the front when that is little work.
    fn compact(&mut self) {
        if self.sent > 1 << 16 && self.sent > self.output.len() / 2 {
            self.output.drain(..self.sent);
            for (at, _) in &mut self.beside {
                *at -= self.sent;
            }
            self.sent = 0;
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::Blob;
    use std::os::unix::net::UnixStream;

    fn pair() -> (Stream, Stream) {
        let (a, b) = UnixStream::pair().unwrap();
        a.set_nonblocking(true).unwrap();
        b.set_nonblocking(true).unwrap();
        (Stream::new(a.into(), 1 << 20), Stream::new(b.into(), 1 << 20))
    }

    #[test]
    fn frames_larger_than_the_socket_arrive_in_order() {
        let (mut a, mut b) = pair();
        let blob = Blob(vec![5; 700_000]);
        for id in 0..5 {
            a.push(id, &blob);
            let null = || std::fs::File::open("/dev/null").unwrap().into();
            a.push_with(id + 100, &blob, [null(), null()]);
        }
        let mut scratch = vec![0; 65536];
        let mut ids = Vec::new();
        while ids.len() < 10 {
            a.flush().unwrap();
            b.read(&mut scratch).unwrap();
            while let Some((id, payload)) = b.frames().next_frame().unwrap() {
                assert_eq!(Blob::from_bytes(payload).unwrap(), blob);
                ids.push(id);
            }
        }
        assert_eq!(ids, [0, 100, 1, 101, 2, 102, 3, 103, 4, 104]);
        assert!(!a.pending() && a.beside.is_empty());
    }

    #[test]
    fn a_peer_that_is_gone_is_told() {
        let (mut a, b) = pair();
        drop(b);
        a.push(1, &Blob::default());
        assert_eq!(a.flush(), Err(StreamEnd::Closed));
        assert_eq!(a.read(&mut [0; 10]), Err(StreamEnd::Closed));
    }
}
