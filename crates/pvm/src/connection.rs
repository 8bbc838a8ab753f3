//! The socket to the host's parent: requests out, answers in, descriptors beside them.

use pvm_shm::Broker;
use pvm_shm::activity::Activity;
use pvm_wire::request::{ACTIVITY_SEGMENT, Reply, Request, Segment, SegmentId, Welcome};
use pvm_wire::{Blob, Code, FRAME_BYTES_MAX, FrameBuffer, Tid, Wire, write_frame_within};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendFlags,
    SocketAddrUnix, SocketFlags, SocketType,
};
use std::collections::{BTreeMap, VecDeque};
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::path::Path;
use std::time::{Duration, Instant};
use zeroize::Zeroize;

/// The parent answers these by itself and at once; a machine under heavy load may take a while.
const SEGMENT_ANSWER: Duration = Duration::from_secs(30);
/// For tests: milliseconds instead.
const PATIENCE: &str = "NEOPVM_ANSWER_MS";
/// Descriptors that can come beside one read.
const DESCRIPTORS_MAX: usize = 16;

/// No request is longer: the parent says more beside it when it passes it on, and one frame must
/// hold all.
const REQUEST_BYTES_MAX: usize = FRAME_BYTES_MAX / 2;

/// A reply, with the descriptors that came beside it.
type Answer = (Reply, Vec<OwnedFd>);

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: OwnedFd,
    frames: FrameBuffer,
    /// Descriptors of frames that are not complete yet: of one frame each, in the order of the
    /// frames.
    beside: VecDeque<Vec<OwnedFd>>,
    next: u32,
    replies: BTreeMap<u32, Answer>,
    /// Questions whose answers nobody wants; true for a segment of ours that is then given back.
    unwanted: BTreeMap<u32, bool>,
    /// The last unwanted question about a lane to each task: a thread that asks again waits on for
    /// that answer. A second lane behind one that is given back would be one that its receiver does
    /// not know.
    lanes_asked: BTreeMap<Tid, u32>,
    /// Replies that came unasked, with the descriptors that came beside.
    told: VecDeque<(Reply, Option<OwnedFd>)>,
    /// Segments that came before they were asked for.
    ready: Vec<(Segment, OwnedFd)>,
    /// Answers came that another thread may wait for.
    news: bool,
    /// The question whose answer the thread inside waits for, 0 for none: no other thread does.
    asked: u32,
    /// The timeout of an answer that the task can do without.
    patience: Duration,
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
        Ok(Self::on(socket))
    }

    /// On a socket that is connected.
    fn on(socket: OwnedFd) -> Self {
        Self {
            socket,
            frames: FrameBuffer::new(FRAME_BYTES_MAX),
            beside: VecDeque::new(),
            next: 1,
            replies: BTreeMap::new(),
            unwanted: BTreeMap::new(),
            lanes_asked: BTreeMap::new(),
            told: VecDeque::new(),
            ready: Vec::new(),
            news: false,
            asked: 0,
            patience: patience(std::env::var(PATIENCE).ok().as_deref()),
        }
    }

    pub(crate) const fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Sends a request; its answer will have the same number.
    ///
    /// # Errors
    /// `OutOfRes` for one of 32 MiB and more (a named message, arguments of tasks): nothing is
    /// sent. `SysErr` where the parent has gone.
    pub(crate) fn send(&mut self, request: &Request) -> Result<u32, Code> {
        let id = self.next;
        self.next = self.next.wrapping_add(1).max(1);
        let mut frame = Vec::new();
        write_frame_within(REQUEST_BYTES_MAX, &mut frame, id, request)
            .map_err(|_| Code::OutOfRes)?;
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
        self.unwanted.insert(id, false);
        Ok(())
    }

    /// Nobody waits for an answer any more: it is dropped when it comes, with the descriptors
    /// beside it.
    pub(crate) fn forget(&mut self, id: u32) {
        if self.replies.remove(&id).is_none() {
            self.unwanted.insert(id, false);
        }
    }

    /// Leaves. The host has heard it when this returns, and so before anything that this process
    /// says later; the machine's answer concerns nobody here.
    pub(crate) fn say_goodbye(&mut self) -> Result<(), Code> {
        self.tell(&Request::Leave)?;
        // This names no segment: the parent answers by itself, in the order in which it has read.
        match self.ask(&Request::DropSegment { id: 0 }) {
            // Denied where the machine has done it already and the process is a stranger.
            Ok(_) | Err(Code::Denied) => Ok(()),
            Err(code) => Err(code),
        }
    }

    /// The next reply that came unasked.
    pub(crate) fn take_told(&mut self) -> Option<(Reply, Option<OwnedFd>)> {
        self.told.pop_front()
    }

    /// The answer to a request, if it is there.
    pub(crate) fn take(&mut self, id: u32) -> Option<Reply> {
        self.replies.remove(&id).map(|(reply, _)| reply)
    }

    /// True if answers came since this was asked last.
    pub(crate) const fn take_news(&mut self) -> bool {
        std::mem::replace(&mut self.news, false)
    }

    /// Says hello. Two descriptors come with a welcome: the inbox is returned, the host's count is
    /// kept for later.
    pub(crate) fn greet(&mut self, hello: &Request) -> Result<(Welcome, OwnedFd), Code> {
        let (welcome, beside) = match self.ask_within(hello, Some(self.patience))? {
            (Reply::Welcome { welcome }, beside) => (welcome, beside),
            (Reply::Refused { code, .. }, _) => return Err(code),
            _ => return Err(Code::BadVersion),
        };
        // The kernel drops those for which this process has no number left.
        let [inbox, activity] = <[OwnedFd; 2]>::try_from(beside).map_err(|_| Code::OutOfRes)?;
        let segment = Segment {
            id: ACTIVITY_SEGMENT,
            size: Activity::SIZE as u64,
            lane: 0,
            owner: Tid::NONE,
            to: Tid::NONE,
            inbox: 0,
            doorbell: Blob::default(),
        };
        self.ready.push((segment, activity));
        Ok((welcome, inbox))
    }

    /// Reads all that is there, without waiting.
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
            let (n, flags) = match received {
                Ok(message) if message.bytes == 0 => return Err(Code::SysErr),
                Ok(message) => (message.bytes, message.flags),
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return Ok(()),
                Err(_) => return Err(Code::SysErr),
            };
            let beside = ancillary.drain().filter_map(|message| match message {
                RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
                _ => None,
            });
            let beside: Vec<OwnedFd> = beside.flatten().collect();
            // The kernel ends a read behind the bytes that descriptors were sent with, so these are
            // of one frame. Where this process has no number left some are missing, or all; they
            // count, or later frames would get each other's.
            let ends_early = !beside.is_empty() || flags.contains(ReturnFlags::CTRUNC);
            if ends_early {
                self.beside.push_back(beside);
            }
            self.frames.push(&bytes[..n]);
            if self.sort()? {
                // The keys of a route are in no core file: see `sys::undumped`.
                self.frames.wipe();
                bytes.zeroize();
            }
            if n < bytes.len() && !ends_early {
                return Ok(());
            }
        }
    }

    /// Gives each complete frame its descriptors, and puts it into the list in which it is looked
    /// for. True if one was a secret.
    fn sort(&mut self) -> Result<bool, Code> {
        let mut secret = false;
        while let Some((id, payload)) = self.frames.next_frame().map_err(|_| Code::SysErr)? {
            let reply = Reply::from_bytes(payload).map_err(|_| Code::BadVersion)?;
            secret |= matches!(reply, Reply::Route { .. });
            let brings = has_descriptors(&reply);
            let mut beside =
                if brings { self.beside.pop_front().unwrap_or_default() } else { Vec::new() };
            if id == 0 {
                self.told.push_back((reply, beside.pop()));
            } else if let Some(gives_back) = self.unwanted.remove(&id) {
                if gives_back && let Reply::Segment { segment } = reply {
                    self.tell(&Request::DropSegment { id: segment.id })?;
                }
            } else {
                self.replies.insert(id, (reply, beside));
                self.news |= id != self.asked;
            }
        }
        Ok(secret)
    }

    /// Waits for one answer: only for requests that the other end answers at once.
    pub(crate) fn ask(&mut self, request: &Request) -> Result<Reply, Code> {
        self.ask_within(request, Some(self.patience)).map(|(reply, _)| reply)
    }

    /// Like `ask`, with the descriptors that come beside the answer. Without a limit only the end
    /// of the connection ends the wait.
    fn ask_within(&mut self, request: &Request, limit: Option<Duration>) -> Result<Answer, Code> {
        let id = match request {
            Request::OpenLane { to, .. } => self.ask_lane(*to, request)?,
            _ => self.send(request)?,
        };
        self.asked = id;
        let answer = self.await_answer(id, limit.map(|limit| Instant::now() + limit));
        self.asked = 0;
        if answer.is_err() {
            self.unwanted.insert(id, opens(request));
            if let Request::OpenLane { to, .. } = request {
                self.lanes_asked.insert(*to, id);
            }
        }
        match answer? {
            (Reply::Failed { code }, _) => Err(code),
            // The kernel drops a descriptor for which this process has no number left.
            (Reply::Segment { segment }, beside) if beside.is_empty() => {
                if opens(request) {
                    self.tell(&Request::DropSegment { id: segment.id })?;
                }
                Err(Code::NoMem)
            }
            answer => Ok(answer),
        }
    }

    /// Asks for a lane, unless that has been asked and not been answered yet.
    fn ask_lane(&mut self, to: Tid, request: &Request) -> Result<u32, Code> {
        // What has come by now is given back first.
        self.receive()?;
        let asked = self.lanes_asked.remove(&to);
        match asked.filter(|id| self.unwanted.remove(id).is_some()) {
            Some(id) => Ok(id),
            None => self.send(request),
        }
    }

    fn await_answer(&mut self, id: u32, end: Option<Instant>) -> Result<Answer, Code> {
        loop {
            self.receive()?;
            if let Some(answer) = self.replies.remove(&id) {
                return Ok(answer);
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Err(Code::SysErr);
            }
            let mut fds = [PollFd::new(&self.socket, PollFlags::IN)];
            match poll(&mut fds, left.map(crate::sys::timespec).as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return Err(Code::SysErr),
            }
        }
    }

    /// A segment that can be done without, or asked for once more.
    pub(crate) fn ask_segment(&mut self, request: &Request) -> Result<(Segment, OwnedFd), Code> {
        segment_of(self.ask_within(request, Some(self.patience))?)
    }

    /// Waits for a segment without which a message would be lost, also if the parent is slow.
    fn await_segment(&mut self, request: &Request) -> Result<(Segment, OwnedFd), Code> {
        match self.ask_within(request, None)? {
            // It came, and this process had no number left for it.
            (Reply::Segment { .. }, beside) if beside.is_empty() => Err(Code::NoMem),
            answer => segment_of(answer),
        }
    }
}

fn segment_of((reply, mut beside): Answer) -> Result<(Segment, OwnedFd), Code> {
    match (reply, beside.pop()) {
        (Reply::Segment { segment }, Some(fd)) => Ok((segment, fd)),
        _ => Err(Code::SysErr),
    }
}

/// True for a request that makes a segment for the asker that nobody else gives back.
const fn opens(request: &Request) -> bool {
    matches!(
        request,
        Request::OpenLane { .. } | Request::OpenSlab { .. } | Request::OpenSpill { .. }
    )
}

/// True for a reply that comes with descriptors.
const fn has_descriptors(reply: &Reply) -> bool {
    matches!(reply, Reply::Welcome { .. } | Reply::Segment { .. } | Reply::Route { .. })
}

/// Shorter than it is for users, if tests say so.
fn patience(wanted: Option<&str>) -> Duration {
    let wanted = wanted.and_then(|number| number.parse().ok());
    wanted.map_or(SEGMENT_ANSWER, Duration::from_millis).min(SEGMENT_ANSWER)
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
        self.await_segment(&Request::MapSpill { id })
    }
    fn map(&mut self, id: SegmentId) -> Result<(Segment, OwnedFd), Code> {
        match self.ready.iter().position(|(segment, _)| segment.id == id) {
            Some(at) => Ok(self.ready.swap_remove(at)),
            None => self.await_segment(&Request::MapSegment { id }),
        }
    }
    fn list_lanes(&mut self, after: u32) -> Result<Vec<Segment>, Code> {
        match self.ask_within(&Request::ListLanes { after }, None)?.0 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::write_frame;
    use rustix::io::{IoSlice, write};
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage};
    use std::time::Duration;

    /// The other end of a connection: says what the test says.
    struct Parent(OwnedFd);

    fn connected(patience: Duration) -> (Connection, Parent) {
        let (kind, flags) = (SocketType::STREAM, SocketFlags::CLOEXEC);
        let (ours, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, kind, flags, None).expect("sockets");
        (Connection { patience, ..Connection::on(ours) }, Parent(theirs))
    }

    fn segment(id: SegmentId) -> Segment {
        let (owner, to, doorbell) = (Tid::NONE, Tid::NONE, Blob::default());
        Segment { id, size: u64::from(id), lane: 0, owner, to, inbox: 0, doorbell }
    }

    impl Parent {
        /// A segment, its descriptor a file as large as its number says; in two pieces, as sockets
        /// deliver.
        fn give(&self, to: u32, id: SegmentId) {
            let fd = rustix::fs::memfd_create(c"of a test", rustix::fs::MemfdFlags::CLOEXEC);
            let fd = fd.expect("memory");
            rustix::fs::ftruncate(&fd, id.into()).expect("memory");
            let mut frame = Vec::new();
            write_frame(&mut frame, to, &Reply::Segment { segment: segment(id) });
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            let fds = [fd.as_fd()];
            assert!(control.push(SendAncillaryMessage::ScmRights(&fds)));
            let first = [IoSlice::new(&frame[..5])];
            rustix::net::sendmsg(&self.0, &first, &mut control, SendFlags::empty()).expect("sent");
            write(&self.0, &frame[5..]).expect("sent");
        }

        fn say(&self, to: u32, reply: &Reply) {
            let mut frame = Vec::new();
            write_frame(&mut frame, to, reply);
            write(&self.0, &frame).expect("sent");
        }
    }

    fn size_of((segment, fd): &(Segment, OwnedFd)) -> (SegmentId, i64) {
        (segment.id, rustix::fs::fstat(fd).expect("open").st_size)
    }

    #[test]
    fn a_request_that_no_frame_can_hold_is_refused_and_the_connection_goes_on() {
        let (mut connection, parent) = connected(Duration::from_secs(10));
        let named = |bytes: usize| Request::MailboxInfo { pattern: Blob(vec![0; bytes]) };
        for bytes in [REQUEST_BYTES_MAX, FRAME_BYTES_MAX - 9, FRAME_BYTES_MAX + 1] {
            assert_eq!(connection.send(&named(bytes)), Err(Code::OutOfRes));
        }
        connection.send(&named(1)).expect("a short one");
        let mut said = [0; 64];
        let length = rustix::io::read(&parent.0, &mut said).expect("what was sent");
        assert_eq!(length, 8 + u32::from_le_bytes([said[0], said[1], said[2], said[3]]) as usize);
    }

    #[test]
    fn an_answer_that_comes_too_late_takes_its_descriptor_with_it() {
        let (mut connection, parent) = connected(Duration::from_millis(1));
        for id in [11, 12] {
            let late = connection.ask_segment(&Request::MapInbox { of: Tid(id) });
            assert_eq!(late.err(), Some(Code::SysErr));
        }
        parent.give(1, 11);
        parent.give(2, 12);
        connection.patience = Duration::from_secs(60);
        parent.give(3, 13);
        let got = connection.ask_segment(&Request::MapInbox { of: Tid(13) }).expect("in time");
        assert_eq!(size_of(&got), (13, 13));
        assert!(connection.replies.is_empty() && connection.unwanted.is_empty());
    }

    /// A thread that asked at each look never slept: its own answer counted as an arrival.
    #[test]
    fn only_an_answer_for_another_thread_is_news() {
        let (mut connection, parent) = connected(Duration::from_secs(60));
        parent.give(1, 11);
        connection.ask_segment(&Request::MapInbox { of: Tid(11) }).expect("in time");
        assert!(!connection.take_news(), "the thread inside has taken it");
        let of_another = connection.send(&Request::MapInbox { of: Tid(12) }).expect("room");
        parent.give(of_another, 12);
        parent.give(3, 13);
        connection.ask_segment(&Request::MapInbox { of: Tid(13) }).expect("in time");
        assert!(connection.take_news());
        assert!(!connection.take_news(), "once");
    }

    #[test]
    fn who_gave_up_on_an_answer_gets_no_other_ones_descriptor() {
        let (mut connection, parent) = connected(Duration::from_secs(60));
        let given_up = connection.send(&Request::MapInbox { of: Tid(1) }).expect("room");
        let come = connection.send(&Request::MapInbox { of: Tid(2) }).expect("room");
        parent.give(come, 22);
        connection.receive().expect("alive");
        connection.forget(come);
        connection.forget(given_up);
        parent.give(given_up, 21);
        // What is told unasked comes beside answers.
        parent.give(0, 30);
        parent.give(3, 23);
        let got = connection.ask_segment(&Request::MapInbox { of: Tid(3) }).expect("in time");
        assert_eq!(size_of(&got), (23, 23));
        let Some((Reply::Segment { segment }, Some(fd))) = connection.take_told() else {
            panic!("told")
        };
        assert_eq!(size_of(&(segment, fd)), (30, 30));
        assert!(connection.replies.is_empty() && connection.unwanted.is_empty());
    }

    /// Segments that the other end was told of which nobody needs them, of all that was said.
    fn given_back(parent: &Parent) -> Vec<SegmentId> {
        let mut said = FrameBuffer::new(FRAME_BYTES_MAX);
        let mut bytes = [0; 4096];
        let n = rustix::io::read(&parent.0, &mut bytes).expect("asked");
        said.push(&bytes[..n]);
        let mut dropped = Vec::new();
        while let Some((_, payload)) = said.next_frame().expect("frames") {
            if let Ok(Request::DropSegment { id }) = Request::from_bytes(payload) {
                dropped.push(id);
            }
        }
        dropped
    }

    #[test]
    fn what_is_opened_too_late_is_given_back_and_what_belongs_to_others_is_not() {
        let (mut connection, parent) = connected(Duration::from_millis(1));
        assert!(connection.open_slab(4096).is_err());
        assert!(connection.open_lane(Tid(0x40001), 31).is_err());
        assert!(connection.map_inbox(Tid(0x40001)).is_err());
        connection.patience = Duration::from_secs(60);
        for id in 1..=3 {
            parent.give(id, 40 + id);
        }
        parent.say(4, &Reply::Done);
        assert_eq!(connection.ask(&Request::Unblocked), Ok(Reply::Done));
        assert_eq!(given_back(&parent), [41, 42]);
    }

    #[test]
    fn who_asks_for_a_lane_again_waits_for_the_one_that_was_asked_for() {
        let (mut connection, parent) = connected(Duration::from_millis(1));
        let to = Tid(0x40001);
        for _ in 0..3 {
            assert!(connection.open_lane(to, 31).is_err());
        }
        connection.patience = Duration::from_secs(60);
        let parent = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            parent.give(1, 61);
            parent
        });
        assert_eq!(size_of(&connection.open_lane(to, 31).expect("in time")), (61, 61));
        let parent = parent.join().expect("it said all");
        // Given back by now, it is asked for anew.
        connection.patience = Duration::from_millis(1);
        assert!(connection.open_lane(to, 31).is_err());
        parent.give(2, 62);
        connection.patience = Duration::from_secs(60);
        parent.give(4, 64);
        assert_eq!(size_of(&connection.open_lane(to, 31).expect("in time")), (64, 64));
        assert_eq!(given_back(&parent), [62]);
    }

    #[test]
    fn a_message_is_not_given_up_because_its_memory_is_told_of_late() {
        let (mut connection, parent) = connected(Duration::from_millis(1));
        let slow = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            for id in 1..=2 {
                rustix::io::read(&parent.0, &mut bytes).expect("asked");
                std::thread::sleep(Duration::from_millis(30));
                parent.give(id, 50 + id);
            }
        });
        assert_eq!(size_of(&connection.map(51).expect("waited for")), (51, 51));
        assert_eq!(size_of(&connection.map_spill(52).expect("waited for")), (52, 52));
        slow.join().expect("it said all");
    }

    #[test]
    fn no_setting_makes_a_task_wait_longer_for_what_it_can_do_without() {
        assert_eq!(patience(None), SEGMENT_ANSWER);
        assert_eq!(patience(Some("20")), Duration::from_millis(20));
        for wrong in ["-1", "", "99999999999999", "soon"] {
            assert_eq!(patience(Some(wrong)), SEGMENT_ANSWER, "{wrong}");
        }
    }
}
