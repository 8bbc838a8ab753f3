//! The bytes that come on a connection, below TLS. The beat of a neighbour wakes nobody.
//!
//! A host at rest receives little but beats, one a second on each link, and they do not come at the
//! same moment. A daemon that is woken for each of them spends most of its time on waking. So the
//! kernel is asked to wake the reader only for more bytes than one beat has (`SO_RCVLOWAT`); a beat
//! is the shortest record of a link. A second beat, any other frame, and the end of the connection
//! wake the reader at once. The connection's pulse looks for unread bytes at the end of each of its
//! turns, before it judges a silence, and has them read then.
//!
//! The bound counts bytes, so it holds only between two records: while a part of a record is
//! missing, each byte wakes the reader.

use crate::sys;
use rustix::net::{RecvFlags, recv};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;

/// The bytes of a TLS record with nothing but a beat in it: 22 of TLS, and the frame.
pub(crate) const BEAT_BYTES: usize = 32;
/// The bound while only beats are expected.
const MORE_THAN_A_BEAT: usize = BEAT_BYTES + 1;
/// A read of more bytes is no sign of rest: the bound is not changed for each record of bulk.
const FEW_BYTES: usize = 1 << 10;
/// The head of a record; its last two bytes tell how many follow.
const HEAD_BYTES: usize = 5;

/// The place of the next byte within the records of TLS.
#[derive(Debug, Default)]
struct Records {
    head: [u8; HEAD_BYTES],
    /// The number of bytes of the head that have come.
    of_head: usize,
    /// The number of bytes of the record that follow.
    missing: usize,
}

impl Records {
    /// These bytes come next.
    fn pass(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let inside = self.missing > 0;
            let wanted = if inside { self.missing } else { HEAD_BYTES - self.of_head };
            let (now, rest) = bytes.split_at(wanted.min(bytes.len()));
            bytes = rest;
            if inside {
                self.missing -= now.len();
                continue;
            }
            self.head[self.of_head..][..now.len()].copy_from_slice(now);
            self.of_head += now.len();
            if self.of_head == HEAD_BYTES {
                let [.., high, low] = self.head;
                (self.of_head, self.missing) = (0, u16::from_be_bytes([high, low]).into());
            }
        }
    }

    /// True if the next byte begins a record.
    const fn is_between(&self) -> bool {
        self.of_head == 0 && self.missing == 0
    }
}

/// Bytes that the kernel has and has woken nobody for, as others than the reader see them.
#[derive(Clone, Debug)]
pub(crate) struct Unread {
    socket: Arc<OwnedFd>,
    /// The next read asks the kernel, whatever it has told of.
    called: Arc<AtomicBool>,
    bell: Arc<Notify>,
}

impl Unread {
    /// True if there are bytes; then the reader is called.
    pub(crate) fn call_reader(&self) -> bool {
        let some = rustix::io::ioctl_fionread(&self.socket).is_ok_and(|bytes| bytes > 0);
        if some {
            self.called.store(true, Ordering::Relaxed);
            self.bell.notify_one();
        }
        some
    }

    /// Waits until the reader is called.
    pub(crate) async fn called(&self) {
        self.bell.notified().await;
    }
}

/// The near end of a TCP connection.
#[derive(Debug)]
pub(crate) struct Intake {
    stream: TcpStream,
    /// There once beats wake nobody.
    unread: Option<Unread>,
    records: Records,
    /// The bound that the kernel has.
    bound: usize,
}

impl Intake {
    /// Everything wakes the reader. TLS begins with the next byte.
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, unread: None, records: Records::default(), bound: 1 }
    }

    /// From now on beats wake nobody: somebody has to look for [`Unread`] bytes now and then. None
    /// if there is no descriptor to be had; then everything wakes the reader.
    pub(crate) fn leave_beats(&mut self) -> Option<Unread> {
        let socket = Arc::new(self.stream.as_fd().try_clone_to_owned().ok()?);
        self.unread = Some(Unread { socket, called: Arc::default(), bell: Arc::default() });
        self.unread.clone()
    }

    /// The connection itself, once all that was read is TLS's.
    pub(crate) fn into_stream(self) -> TcpStream {
        self.stream
    }

    pub(crate) const fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Reads from the kernel although it may have told of nothing.
    fn read_called(&self, buf: &mut ReadBuf<'_>) -> Option<io::Result<()>> {
        let called = |unread: &Unread| unread.called.swap(false, Ordering::Relaxed);
        if !self.unread.as_ref().is_some_and(called) {
            return None;
        }
        match recv(&self.stream, buf.initialize_unfilled(), RecvFlags::DONTWAIT) {
            Ok((_, count)) => buf.advance(count),
            Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => return None,
            Err(error) => return Some(Err(error.into())),
        }
        Some(Ok(()))
    }

    /// Bytes have come: the kernel is told which ones shall wake the reader next.
    fn pass(&mut self, bytes: &[u8]) {
        self.records.pass(bytes);
        let bound = match self.records.is_between() {
            true if bytes.len() > FEW_BYTES => return,
            true => MORE_THAN_A_BEAT,
            false => 1,
        };
        let leaves = self.unread.is_some() && bound != self.bound;
        if leaves && sys::set_least_to_read(&self.stream, bound).is_ok() {
            self.bound = bound;
        }
    }
}

impl AsFd for Intake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl AsyncRead for Intake {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        match this.read_called(buf) {
            Some(read) => read?,
            None => ready!(Pin::new(&mut this.stream).poll_read(cx, buf))?,
        }
        this.pass(&buf.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Intake {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio::time::timeout;

    /// A record of this many bytes.
    fn record(bytes: usize) -> Vec<u8> {
        let length = (bytes - HEAD_BYTES) as u16;
        let mut record = vec![7; bytes];
        record[3..HEAD_BYTES].copy_from_slice(&length.to_be_bytes());
        record
    }

    /// Both ends of a connection.
    async fn ends() -> (Intake, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
        let near = TcpStream::connect(listener.local_addr().expect("an address")).await;
        let (far, _) = listener.accept().await.expect("the same");
        (Intake::new(near.expect("a connection")), far)
    }

    /// The bytes of a read that something wakes, if anything does in a while.
    async fn woken(intake: &mut Intake) -> Option<usize> {
        let mut bytes = [0; 4096];
        let read = timeout(Duration::from_millis(100), intake.read(&mut bytes)).await;
        read.ok().map(|read| read.expect("a connection"))
    }

    #[test]
    fn the_place_within_records_is_known_wherever_they_are_cut() {
        let bytes = [record(40), record(HEAD_BYTES), record(700)].concat();
        let between = [0, 40, 45, 745];
        for cut in 1..60 {
            let (mut records, mut at) = (Records::default(), 0);
            for part in bytes.chunks(cut) {
                assert_eq!(records.is_between(), between.contains(&at), "{cut} at {at}");
                records.pass(part);
                at += part.len();
            }
            assert!(records.is_between());
        }
    }

    #[tokio::test]
    async fn each_beat_of_a_neighbour_woke_the_daemon() {
        let (mut intake, mut far) = ends().await;
        let unread = intake.leave_beats().expect("a descriptor");
        far.write_all(&record(60)).await.expect("room");
        assert_eq!(woken(&mut intake).await, Some(60));
        assert!(!unread.call_reader(), "all is read");
        far.write_all(&record(BEAT_BYTES)).await.expect("room");
        assert_eq!(woken(&mut intake).await, None);
        assert!(unread.call_reader());
        unread.called().await;
        assert_eq!(woken(&mut intake).await, Some(BEAT_BYTES));
        // The shortest frame of another kind, and a second beat.
        for more in [BEAT_BYTES + 1, 2 * BEAT_BYTES] {
            far.write_all(&record(more)).await.expect("room");
            assert_eq!(woken(&mut intake).await, Some(more));
        }
        far.write_all(&record(BEAT_BYTES)).await.expect("room");
        assert_eq!(woken(&mut intake).await, None);
        drop(far);
        assert_eq!(woken(&mut intake).await, Some(BEAT_BYTES), "the end wakes");
        assert_eq!(woken(&mut intake).await, Some(0));
    }

    #[tokio::test]
    async fn the_last_bytes_of_a_record_are_never_left() {
        let (mut intake, mut far) = ends().await;
        let unread = intake.leave_beats().expect("a descriptor");
        let long = record(200);
        for _ in 0..2 {
            far.write_all(&long[..190]).await.expect("room");
            assert_eq!(woken(&mut intake).await, Some(190));
            far.write_all(&long[190..]).await.expect("room");
            assert_eq!(woken(&mut intake).await, Some(10));
        }
        // They come between the read and the change of the bound.
        far.write_all(&long).await.expect("room");
        let mut some = [0; 190];
        intake.read_exact(&mut some).await.expect("a connection");
        assert_eq!(woken(&mut intake).await, Some(10));
        assert!(!unread.call_reader());
    }

    #[tokio::test]
    async fn everything_wakes_who_has_not_asked_for_more() {
        let (mut intake, mut far) = ends().await;
        for _ in 0..3 {
            far.write_all(&record(BEAT_BYTES)).await.expect("room");
            assert_eq!(woken(&mut intake).await, Some(BEAT_BYTES));
        }
    }
}
