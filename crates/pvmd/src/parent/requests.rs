//! The requests over the local socket.

use super::Parent;
use crate::parent::connections::Peer;
use crate::parent::poll::{Interest, Token};
use crate::parent::proxies::Hello;
use crate::parent::stream::StreamEnd;
use crate::processes;
use pvm_core::io::Event;
use pvm_wire::request::{Reply, Request, Role};
use pvm_wire::{Blob, Code, Layout, PROTOCOL_VERSION, Reader, Tid, Wire as _};
use rustix::io::Errno;
use rustix::net::{SocketFlags, sockopt};
use std::time::{Duration, Instant};

/// The time for which no connection is accepted when there are no descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// The number of connections that are accepted before others are served.
const ACCEPTED_AT_ONCE: usize = 16;

/// The fault of a peer, which is dropped.
enum Fault {
    /// Bytes that are no request.
    Bytes(String),
    /// Another version of the protocol.
    Version(u16),
    /// A task whose numbers lie the other way round than in the host's shared memory.
    Order,
}

impl Parent {
    /// Accepts some connections. The poll set reports further ones again, so that other work does
    /// not wait for long.
    pub(super) fn accept(&mut self) {
        for _ in 0..ACCEPTED_AT_ONCE {
            if self.connections.are_crowded() || !self.accept_one() {
                return;
            }
        }
    }

    /// False if no connection waits, or none can be accepted now.
    fn accept_one(&mut self) -> bool {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = match rustix::net::accept_with(&self.listener, flags) {
            Ok(fd) => fd,
            Err(Errno::AGAIN) => return false,
            Err(Errno::INTR | Errno::CONNABORTED) => return true,
            Err(error) => {
                // Out of descriptors or memory: others wait until some are free.
                self.log.line(&format!("nobody can connect: {error}"));
                self.accept_again = Some(Instant::now() + ACCEPT_PAUSE);
                return false;
            }
        };
        let Ok(credentials) = sockopt::socket_peercred(&fd) else { return true };
        let peer = Peer {
            uid: credentials.uid.as_raw(),
            pid: self.proxies.stands_for(credentials.pid.as_raw_nonzero().get().cast_unsigned()),
        };
        match self.connections.admit(fd, peer, Instant::now()) {
            Ok(number) => {
                let connection = self.connections.get(number).expect("just admitted");
                let token = Token::Connection(number);
                if self.poll.add(&connection.stream, token, Interest::Read).is_err() {
                    self.connections.remove(number);
                } else {
                    // A new connection usually says hello at once.
                    self.serve(number);
                }
            }
            Err(stranger) => {
                self.connections.bad_peers += 1;
                self.log.line(&format!("refused process {}: {stranger}", peer.pid));
            }
        }
        true
    }

    /// A connection has something to read or room to write.
    pub(super) fn serve(&mut self, number: u64) {
        let Some(connection) = self.connections.get(number) else { return };
        self.touched.insert(number);
        if connection.stream.pending() && connection.stream.flush().is_err() {
            return self.close(number);
        }
        if !connection.reading {
            return;
        }
        let end = connection.stream.read(&mut self.scratch).err();
        if let Err(fault) = self.take_frames(number) {
            return self.refuse(number, &fault);
        }
        if end.is_some() {
            self.close(number);
        }
    }

    fn take_frames(&mut self, number: u64) -> Result<(), Fault> {
        loop {
            let Some(connection) = self.connections.get(number) else { return Ok(()) };
            let frame = connection.stream.frames().next_frame();
            let frame = frame.map_err(|error| Fault::Bytes(error.to_string()))?;
            let Some((id, payload)) = frame.filter(|_| !connection.ending) else { return Ok(()) };
            let request = Request::from_bytes(payload);
            let request = request.map_err(|error| fault_of(payload, &error.to_string()))?;
            self.take_request(number, id, request)?;
        }
    }

    fn take_request(&mut self, number: u64, id: u32, request: Request) -> Result<(), Fault> {
        let Some(connection) = self.connections.get(number) else { return Ok(()) };
        match request {
            Request::Hello { version, .. } if version != PROTOCOL_VERSION => {
                Err(Fault::Version(version))
            }
            Request::Hello { role: Role::Remote, program, reset, cookie, .. } => {
                let pid = connection.pid;
                self.start_proxy(number, &Hello { id, pid, program, reset, cookie });
                Ok(())
            }
            Request::Hello { role: Role::Task, layout, .. }
                if layout.is_swapped_to(Layout::NATIVE) =>
            {
                Err(Fault::Order)
            }
            Request::Hello { role, program, reset, cookie, .. } => {
                self.connections.know(number);
                let launched = self.task_of(number, &role, cookie);
                self.greet((number, id), (role, launched), program, reset);
                Ok(())
            }
            _ if !connection.is_known() => Err(Fault::Bytes("no hello".to_owned())),
            Request::OpenLane { .. }
            | Request::OpenSlab { .. }
            | Request::MapSegment { .. }
            | Request::ListLanes { .. }
            | Request::DropSegment { .. }
            | Request::MapInbox { .. }
            | Request::MapGroup { .. }
            | Request::OpenGroup { .. }
            | Request::OpenRecorder
            | Request::MapRecorder { .. }
            | Request::ListRings
            | Request::MapRing { .. }
            | Request::DropRing { .. }
            | Request::Expose { .. }
            | Request::MapExposed { .. }
            | Request::Withdraw { .. }
            | Request::OpenSpill { .. }
            | Request::MapSpill { .. }
            | Request::Blocked { .. }
            | Request::Unblocked
            // Only the daemon may, and not here.
            | Request::GiveRoute { .. }
            | Request::FenceRoutes { .. } => {
                let (reply, fd) = self.segments.answer(connection.tid, &request);
                connection.stream.push_with(id, &reply, fd);
                Ok(())
            }
            request => {
                if let (Request::Leave, Some(tid)) = (&request, connection.tid) {
                    self.tasks.leave(tid);
                    self.given.gone(tid);
                }
                self.tell(Event::Asked { connection: number, id, request });
                Ok(())
            }
        }
    }

    /// Hands the connection on to a process that speaks for the task.
    fn start_proxy(&mut self, number: u64, hello: &Hello) {
        let Some(mut connection) = self.connections.remove(number) else { return };
        self.poll.remove(&connection.stream);
        let socket = connection.stream.duplicate().map_err(|error| error.to_string());
        let places = (&*self.own_path, &*self.folder.socket());
        let started = socket.and_then(|socket| self.proxies.start(hello, socket, places));
        if let Err(reason) = started {
            self.log.line(&format!("no proxy for process {}: {reason}", hello.pid));
            connection.stream.push(hello.id, &Reply::Refused { code: Code::NotImpl, reason });
            // A process that does not even take this has lost nothing.
            let _ = connection.stream.flush();
        }
    }

    /// The task as which the connecting process was started.
    fn task_of(&mut self, number: u64, role: &Role, cookie: u32) -> Option<Tid> {
        let pid = self.connections.get(number)?.pid;
        match role {
            Role::Task => self
                .tasks
                .given_as(cookie)
                .or_else(|| self.tasks.launched_as(processes::line_of(pid))),
            Role::Operator | Role::Remote => None,
        }
    }

    fn greet(
        &mut self,
        (number, id): (u64, u32),
        (role, launched): (Role, Option<Tid>),
        program: Blob,
        reset: bool,
    ) {
        let Some(connection) = self.connections.get(number) else { return };
        let pid = connection.pid;
        self.tell(Event::Hello { connection: number, id, role, program, reset, pid, launched });
    }

    /// Drops a bad peer, with one line in the log.
    fn refuse(&mut self, number: u64, fault: &Fault) {
        self.connections.bad_peers += 1;
        let Some(connection) = self.connections.get(number) else { return };
        let pid = connection.pid;
        match fault {
            Fault::Bytes(what) => {
                self.log.line(&format!("dropped process {pid}: {what}"));
                self.close(number);
            }
            Fault::Version(version) => {
                let reason = format!(
                    "this daemon speaks protocol {PROTOCOL_VERSION}, the library protocol \
                     {version}; \
                     stop the machine and start it with the pvmd that came with the library"
                );
                self.log.line(&format!("refused process {pid}: {reason}"));
                let reply = Reply::Refused { code: Code::BadVersion, reason };
                connection.stream.push(0, &reply);
                connection.ending = true;
            }
            Fault::Order => {
                let reason = "the task has another order of bytes than this host, so they can \
                              share no memory; add a host with a pvmd of the task's kind";
                self.log.line(&format!("refused process {pid}: {reason}"));
                let reason = reason.to_owned();
                connection.stream.push(0, &Reply::Refused { code: Code::BadVersion, reason });
                connection.ending = true;
            }
        }
    }

    /// Ends a connection and tells the machine, if that knows it.
    pub(super) fn close(&mut self, number: u64) {
        let Some(connection) = self.connections.remove(number) else { return };
        for tid in &connection.holding {
            self.outputs.release(*tid);
        }
        if connection.is_known() {
            self.tell(Event::Closed { connection: number });
        }
    }

    /// Drops connections whose time to say hello is over.
    pub(super) fn drop_overdue(&mut self) {
        for number in self.connections.overdue(Instant::now()) {
            self.refuse(number, &Fault::Bytes("said no hello in time".to_owned()));
        }
    }

    /// Listens while there is room for strangers.
    pub(super) fn settle_listener(&mut self) {
        self.accept_again.take_if(|at| *at <= Instant::now());
        let old = Interest::of(self.listening, false);
        self.listening = self.accept_again.is_none() && !self.connections.are_crowded();
        let new = Interest::of(self.listening, false);
        self.poll.change(&self.listener, Token::Listener, (old, new));
    }

    /// Sends what is queued for connections, and waits for what is right for each.
    pub(super) fn settle_connections(&mut self) {
        let reads = !self.journal.full();
        for number in std::mem::take(&mut self.touched) {
            let Some(connection) = self.connections.get(number) else { continue };
            let end = match connection.stream.flush() {
                Ok(()) if connection.ending && !connection.stream.pending() => {
                    Some(StreamEnd::Closed)
                }
                Ok(()) => None,
                Err(end) => Some(end),
            };
            if let Some(end) = end {
                if end == StreamEnd::Unread {
                    self.log.line(&format!("dropped process {}: {end}", connection.pid));
                    self.connections.bad_peers += 1;
                }
                self.close(number);
                continue;
            }
            if !connection.is_clogged() {
                for tid in std::mem::take(&mut connection.holding) {
                    self.outputs.release(tid);
                }
            }
            let old = Interest::of(connection.reading, connection.writing);
            connection.reading = reads && !connection.ending;
            connection.writing = connection.stream.pending();
            let new = Interest::of(connection.reading, connection.writing);
            self.poll.change(&connection.stream, Token::Connection(number), (old, new));
        }
    }
}

/// A request that cannot be read may be a hello of another version: it begins with its number and
/// the version in all of them.
fn fault_of(payload: &[u8], error: &str) -> Fault {
    let mut reader = Reader::new(payload);
    match (u16::decode(&mut reader), u16::decode(&mut reader)) {
        (Ok(1), Ok(version)) if version != PROTOCOL_VERSION => Fault::Version(version),
        _ => Fault::Bytes(error.to_owned()),
    }
}
