//! The socket to the host's parent: requests out, answers in, descriptors beside them.

use pvm_shm::Broker;
use pvm_shm::activity::Activity;
use pvm_wire::request::{ACTIVITY_SEGMENT, Reply, Request, Segment, SegmentId};
use pvm_wire::{Blob, Code, FRAME_BYTES_MAX, FrameBuffer, Tid, Wire, write_frame};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, SocketAddrUnix,
    SocketFlags, SocketType,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::path::Path;
use std::time::{Duration, Instant};
use zeroize::Zeroize;

/// The parent answers these by itself and at once; a machine under heavy load may take a while.
const SEGMENT_ANSWER: Duration = Duration::from_secs(30);
/// Descriptors that can come beside one read.
const DESCRIPTORS_MAX: usize = 16;

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: OwnedFd,
    frames: FrameBuffer,
    descriptors: VecDeque<OwnedFd>,
    next: u32,
    replies: BTreeMap<u32, Reply>,
    /// Questions whose answers nobody wants.
    unwanted: BTreeSet<u32>,
    /// What was told unasked, with the descriptors that came beside.
    told: VecDeque<(Reply, Option<OwnedFd>)>,
    /// Segments that came before they were asked for.
    ready: Vec<(Segment, OwnedFd)>,
    /// Answers came that somebody else may wait for.
    news: bool,
}

impl Connection {
    /// Connects.
    pub(crate) fn open(path: &Path) -> Result<Self, Errno> {
        let flags = SocketFlags::CLOEXEC;
        let kind = SocketType::STREAM;
        let socket = rustix::net::socket_with(AddressFamily::UNIX, kind, flags, None)?;
        rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
        if !crate::locate::is_own(&socket) {
            return Err(Errno::ACCESS);
        }
        Ok(Self {
            socket,
            frames: FrameBuffer::new(FRAME_BYTES_MAX),
            descriptors: VecDeque::new(),
            next: 1,
            replies: BTreeMap::new(),
            unwanted: BTreeSet::new(),
            told: VecDeque::new(),
            ready: Vec::new(),
            news: false,
        })
    }

    pub(crate) const fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Sends a request; its answer will have the same number.
    pub(crate) fn send(&mut self, request: &Request) -> Result<u32, Code> {
        let id = self.next;
        self.next = self.next.wrapping_add(1).max(1);
        let mut frame = Vec::new();
        write_frame(&mut frame, id, request);
        let mut rest = &frame[..];
        while !rest.is_empty() {
            match rustix::net::send(&self.socket, rest, SendFlags::NOSIGNAL) {
                Ok(n) => rest = &rest[n..],
                Err(Errno::INTR) => {}
                Err(_) => return Err(Code::SysErr),
            }
        }
        Ok(id)
    }

    /// Sends a request whose answer says nothing.
    pub(crate) fn tell(&mut self, request: &Request) -> Result<(), Code> {
        let id = self.send(request)?;
        self.unwanted.insert(id);
        Ok(())
    }

    /// Leaves. The host has heard it when this returns, and so before anything that this process says later; what the
    /// machine makes of it concerns nobody here.
    pub(crate) fn say_goodbye(&mut self) -> Result<(), Code> {
        self.tell(&Request::Leave)?;
        // Of no segment: the parent answers by itself, in the order in which it has read.
        match self.ask(&Request::DropSegment { id: 0 }) {
            // Denied where the machine has done it already and the process is a stranger.
            Ok(_) | Err(Code::Denied) => Ok(()),
            Err(code) => Err(code),
        }
    }

    /// What the host has told unasked.
    pub(crate) fn take_told(&mut self) -> Option<(Reply, Option<OwnedFd>)> {
        self.told.pop_front()
    }

    /// The answer to a request, if it is there.
    pub(crate) fn take(&mut self, id: u32) -> Option<Reply> {
        self.replies.remove(&id)
    }

    /// True if answers came since this was asked last.
    pub(crate) const fn take_news(&mut self) -> bool {
        std::mem::replace(&mut self.news, false)
    }

    /// The two descriptors that come with a welcome: the inbox is given out, the host's count is kept for who asks.
    pub(crate) fn take_inbox(&mut self) -> Option<OwnedFd> {
        let inbox = self.descriptors.pop_front()?;
        let segment = Segment {
            id: ACTIVITY_SEGMENT,
            size: Activity::SIZE as u64,
            lane: 0,
            owner: Tid::NONE,
            to: Tid::NONE,
            inbox: 0,
            doorbell: Blob::default(),
        };
        self.ready.push((segment, self.descriptors.pop_front()?));
        Some(inbox)
    }

    /// Reads what is there, without waiting.
    ///
    /// # Errors
    /// [`Code::SysErr`] if the other end is gone or talks nonsense.
    pub(crate) fn receive(&mut self) -> Result<(), Code> {
        let mut bytes = [0; 16 << 10];
        loop {
            let mut space =
                [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
            let mut ancillary = RecvAncillaryBuffer::new(&mut space);
            let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
            let mut into = [IoSliceMut::new(&mut bytes)];
            let received = rustix::net::recvmsg(&self.socket, &mut into, &mut ancillary, flags);
            let n = match received {
                Ok(message) if message.bytes == 0 => return Err(Code::SysErr),
                Ok(message) => message.bytes,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return Ok(()),
                Err(_) => return Err(Code::SysErr),
            };
            for message in ancillary.drain() {
                if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                    self.descriptors.extend(descriptors);
                }
            }
            self.frames.push(&bytes[..n]);
            let mut secret = false;
            while let Some((id, payload)) = self.frames.next_frame().map_err(|_| Code::SysErr)? {
                let reply = Reply::from_bytes(payload).map_err(|_| Code::BadVersion)?;
                secret |= matches!(reply, Reply::Route { .. });
                if id == 0 {
                    // Descriptors come in the order of the frames that they belong to; those of
                    // answers are taken at once by who asked.
                    let waiting = self.replies.values().map(descriptors_beside).sum();
                    let brings = descriptors_beside(&reply) > 0;
                    let fd = brings.then(|| self.descriptors.remove(waiting));
                    self.told.push_back((reply, fd.flatten()));
                } else if !self.unwanted.remove(&id) {
                    self.replies.insert(id, reply);
                    self.news = true;
                }
            }
            if secret {
                // The keys of a route are in no core file: see `sys::undumped`.
                self.frames.wipe();
                bytes.zeroize();
            }
            if n < bytes.len() {
                return Ok(());
            }
        }
    }

    /// Waits for one answer: only for what the other end answers at once.
    pub(crate) fn ask(&mut self, request: &Request) -> Result<Reply, Code> {
        let id = self.send(request)?;
        let end = Instant::now() + SEGMENT_ANSWER;
        loop {
            self.receive()?;
            if let Some(reply) = self.take(id) {
                return match reply {
                    Reply::Failed { code } => Err(code),
                    reply => Ok(reply),
                };
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Code::SysErr);
            }
            let mut fds = [PollFd::new(&self.socket, PollFlags::IN)];
            match poll(&mut fds, Some(&crate::sys::timespec(left))) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return Err(Code::SysErr),
            }
        }
    }

    pub(crate) fn ask_segment(&mut self, request: &Request) -> Result<(Segment, OwnedFd), Code> {
        match self.ask(request)? {
            Reply::Segment { segment } => {
                Ok((segment, self.descriptors.pop_front().ok_or(Code::SysErr)?))
            }
            _ => Err(Code::SysErr),
        }
    }
}

/// How many descriptors come with an answer.
const fn descriptors_beside(reply: &Reply) -> usize {
    match reply {
        Reply::Welcome { .. } => 2,
        Reply::Segment { .. } | Reply::Route { .. } => 1,
        _ => 0,
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> rustix::fd::BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Broker for Connection {
    fn open_lane(&mut self, to: Tid, cells: u32) -> Result<(Segment, OwnedFd), Code> {
        self.ask_segment(&Request::OpenLane { to, cells })
    }
    fn open_slab(&mut self, bytes: u64) -> Result<(Segment, OwnedFd), Code> {
        self.ask_segment(&Request::OpenSlab { bytes })
    }
    fn open_spill(&mut self, bytes: u64) -> Result<(Segment, OwnedFd), Code> {
        self.ask_segment(&Request::OpenSpill { bytes })
    }
    fn map_spill(&mut self, id: SegmentId) -> Result<(Segment, OwnedFd), Code> {
        self.ask_segment(&Request::MapSpill { id })
    }
    fn map(&mut self, id: SegmentId) -> Result<(Segment, OwnedFd), Code> {
        match self.ready.iter().position(|(segment, _)| segment.id == id) {
            Some(at) => Ok(self.ready.swap_remove(at)),
            None => self.ask_segment(&Request::MapSegment { id }),
        }
    }
    fn list_lanes(&mut self, after: u32) -> Result<Vec<Segment>, Code> {
        match self.ask(&Request::ListLanes { after })? {
            Reply::Lanes { lanes } => Ok(lanes),
            _ => Err(Code::SysErr),
        }
    }
    fn drop_segment(&mut self, id: SegmentId) {
        // Answered like the others, so that answers and requests stay paired.
        let _ = self.ask(&Request::DropSegment { id });
    }
    fn map_inbox(&mut self, of: Tid) -> Result<(Segment, OwnedFd), Code> {
        self.ask_segment(&Request::MapInbox { of })
    }
    fn map_group(&mut self, name: &Blob) -> Result<(Segment, OwnedFd), Code> {
        self.ask_segment(&Request::MapGroup { group: name.clone() })
    }
}
