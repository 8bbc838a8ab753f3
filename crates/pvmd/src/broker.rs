//! The daemon's requests for segments to its parent, on a socket of their own.
//!
//! The parent answers at once without waiting, so the daemon simply waits for the answer.

use anyhow::{Context as _, Result, bail};
use pvm_shm::Broker;
use pvm_wire::request::{Reply, Request, Role, Segment, SegmentId};
use pvm_wire::route::Route;
use pvm_wire::{
    Blob, Code, FrameBuffer, HostIndex, Layout, PROTOCOL_VERSION, Tid, Wire as _, write_frame,
};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use std::collections::VecDeque;
use std::io::{IoSlice, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;

/// The daemon's end of the socket.
#[derive(Debug)]
pub(crate) struct ParentBroker {
    socket: UnixStream,
    frames: FrameBuffer,
    descriptors: VecDeque<OwnedFd>,
    last: u32,
}

impl ParentBroker {
    /// Takes over a blocking socket.
    pub(crate) const fn new(socket: UnixStream) -> Self {
        let frames = FrameBuffer::new(pvm_wire::FRAME_BYTES_MAX);
        Self { socket, frames, descriptors: VecDeque::new(), last: 0 }
    }

    /// Asks for the daemon's own inbox. The parent must have been told its id.
    pub(crate) fn inbox(&mut self) -> Result<(Segment, OwnedFd)> {
        let request = Request::Hello {
            version: PROTOCOL_VERSION,
            role: Role::Task,
            program: Blob::from("pvmd"),
            reset: false,
            cookie: 0,
            layout: Layout::NATIVE,
        };
        self.segment(&request).map_err(|code| anyhow::anyhow!("no inbox for the daemon: {code}"))
    }

    /// Has the parent hand a task its end of a direct route.
    pub(crate) fn give_route(&mut self, to: Tid, route: Route, socket: OwnedFd) -> Result<()> {
        self.last = self.last.wrapping_add(1);
        let mut out = Vec::new();
        write_frame(&mut out, self.last, &Request::GiveRoute { to, route });
        let fds = [socket.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(&fds)), "there is room for one");
        let flags = SendFlags::NOSIGNAL;
        let sent = rustix::net::sendmsg(&self.socket, &[IoSlice::new(&out)], &mut control, flags)?;
        self.socket.write_all(&out[sent..])?;
        match self.reply()? {
            Reply::Done => Ok(()),
            _ => bail!("the task is gone"),
        }
    }

    /// Has the parent end the direct routes to hosts that are not among these.
    pub(crate) fn fence_routes(&mut self, members: Vec<HostIndex>) -> Result<()> {
        match self.ask(&Request::FenceRoutes { members })? {
            Reply::Done => Ok(()),
            _ => bail!("the parent ends no routes"),
        }
    }

    fn segment(&mut self, request: &Request) -> Result<(Segment, OwnedFd), Code> {
        match self.ask(request) {
            Ok(Reply::Segment { segment }) => {
                // The kernel drops one for which this process has no number left.
                Ok((segment, self.descriptors.pop_front().ok_or(Code::OutOfRes)?))
            }
            Ok(Reply::Failed { code }) => Err(code),
            _ => Err(Code::SysErr),
        }
    }

    /// Asks and waits for the answer.
    pub(crate) fn ask(&mut self, request: &Request) -> Result<Reply> {
        self.last = self.last.wrapping_add(1);
        let mut out = Vec::new();
        write_frame(&mut out, self.last, request);
        self.socket.write_all(&out)?;
        self.reply()
    }

    fn reply(&mut self) -> Result<Reply> {
        loop {
            if let Some((id, payload)) = self.frames.next_frame()? {
                if id != self.last {
                    bail!("an answer to another question");
                }
                return Ok(Reply::from_bytes(payload)?);
            }
            self.receive().context("the parent's answer")?;
        }
    }

    fn receive(&mut self) -> Result<()> {
        let mut bytes = [0; 4096];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut slices = [IoSliceMut::new(&mut bytes)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let received = rustix::net::recvmsg(&self.socket, &mut slices, &mut control, flags)?;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.descriptors.extend(descriptors);
            }
        }
        if received.bytes == 0 {
            bail!("the parent is gone");
        }
        self.frames.push(&bytes[..received.bytes]);
        Ok(())
    }
}

impl Broker for ParentBroker {
    fn open_lane(&mut self, to: pvm_wire::Tid, cells: u32) -> Result<(Segment, OwnedFd), Code> {
        self.segment(&Request::OpenLane { to, cells })
    }
    fn open_slab(&mut self, bytes: u64) -> Result<(Segment, OwnedFd), Code> {
        self.segment(&Request::OpenSlab { bytes })
    }
    fn open_spill(&mut self, bytes: u64) -> Result<(Segment, OwnedFd), Code> {
        self.segment(&Request::OpenSpill { bytes })
    }
    fn map_spill(&mut self, id: SegmentId) -> Result<(Segment, OwnedFd), Code> {
        self.segment(&Request::MapSpill { id })
    }
    fn map(&mut self, id: SegmentId) -> Result<(Segment, OwnedFd), Code> {
        self.segment(&Request::MapSegment { id })
    }
    fn list_lanes(&mut self, after: u32) -> Result<Vec<Segment>, Code> {
        match self.ask(&Request::ListLanes { after }) {
            Ok(Reply::Lanes { lanes }) => Ok(lanes),
            Ok(Reply::Failed { code }) => Err(code),
            _ => Err(Code::SysErr),
        }
    }
    fn drop_segment(&mut self, id: SegmentId) {
        // Nothing can be done about a refusal, and a dead parent is noticed elsewhere.
        let _ = self.ask(&Request::DropSegment { id });
    }
    fn map_inbox(&mut self, of: Tid) -> Result<(Segment, OwnedFd), Code> {
        self.segment(&Request::MapInbox { of })
    }
    fn open_group(&mut self, name: &Blob) -> Result<(Segment, OwnedFd), Code> {
        self.segment(&Request::OpenGroup { group: name.clone() })
    }
}
