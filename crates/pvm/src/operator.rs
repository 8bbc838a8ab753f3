//! Commands that ask the machine without being a task of it.

use crate::connection::Connection;
use crate::locate;
use crate::wait::Deadline;
use pvm_wire::request::{Reply, Request, Role};
use pvm_wire::{Blob, Code, HostIndex, PROTOCOL_VERSION};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::AsRawFd;
use rustix::io::Errno;
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Answers come within this, or the daemon is taken for gone.
const ANSWER: Duration = Duration::from_secs(60);

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// No socket where one would be.
    #[error("no machine is running (looked in {})", .0.display())]
    NotRunning(PathBuf),
    /// The socket does not answer.
    #[error("{}: {error}", .path.display())]
    System {
        /// The socket.
        path: PathBuf,
        /// Why.
        error: Errno,
    },
    /// The daemon said no.
    #[error("{}: {reason}", .path.display())]
    Refused {
        /// The socket.
        path: PathBuf,
        /// The code.
        code: Code,
        /// Its words.
        reason: String,
    },
}

/// A connected command.
#[derive(Debug)]
pub struct Operator {
    connection: Connection,
    host: HostIndex,
}

impl Operator {
    /// Connects to the machine's lowest host on this computer that answers.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub fn connect(program: &[u8]) -> Result<Self, ConnectError> {
        let mut last = ConnectError::NotRunning(locate::runtime_directory());
        for path in locate::sockets() {
            match Self::connect_to(path.clone(), program) {
                Ok(operator) => return Ok(operator),
                // A stale socket of a host that died: as good as none.
                Err(ConnectError::System { error: Errno::CONNREFUSED | Errno::NOENT, .. }) => {}
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn connect_to(path: PathBuf, program: &[u8]) -> Result<Self, ConnectError> {
        let failed = |error| ConnectError::System { path: path.clone(), error };
        let mut connection = Connection::open(&path, Arc::default()).map_err(failed)?;
        let hello = Request::Hello {
            version: PROTOCOL_VERSION,
            role: Role::Operator,
            program: Blob(program.to_vec()),
            reset: false,
        };
        match connection.ask(&hello) {
            Ok(Reply::Ready { host }) => Ok(Self { connection, host }),
            Ok(Reply::Refused { code, reason }) => {
                Err(ConnectError::Refused { path, code, reason })
            }
            Err(code) => Err(ConnectError::Refused { path, code, reason: code.to_string() }),
            Ok(_) => Err(ConnectError::Refused {
                path,
                code: Code::BadVersion,
                reason: "it does not speak this protocol".into(),
            }),
        }
    }

    /// The host that answers.
    pub const fn host(&self) -> HostIndex {
        self.host
    }

    /// Asks and waits for the answer.
    ///
    /// # Errors
    /// What the machine answers, [`Code::SysErr`] if it does not.
    pub fn request(&mut self, request: &Request) -> Result<Reply, Code> {
        let id = self.send_request(request)?;
        let end = Deadline::At(Instant::now() + ANSWER);
        loop {
            if let Some(reply) = self.connection.take(id) {
                return match reply {
                    Reply::Failed { code } => Err(code),
                    reply => Ok(reply),
                };
            }
            if !self.wait(end)? {
                return Err(Code::SysErr);
            }
        }
    }

    /// Asks without waiting.
    ///
    /// # Errors
    /// [`Code::SysErr`] if the daemon is gone.
    pub fn send_request(&mut self, request: &Request) -> Result<u32, Code> {
        self.connection.send(request)
    }

    /// The next answer to any request, or none at the deadline.
    ///
    /// # Errors
    /// [`Code::SysErr`] if the daemon is gone.
    pub fn next_reply(&mut self, deadline: Deadline) -> Result<Option<(u32, Reply)>, Code> {
        loop {
            if let Some(answer) = self.connection.take_any() {
                return Ok(Some(answer));
            }
            if !self.wait(deadline)? {
                return Ok(None);
            }
        }
    }

    /// Becomes readable when an answer comes.
    pub fn descriptor(&self) -> RawFd {
        self.connection.socket().as_raw_fd()
    }

    /// False at the deadline.
    fn wait(&mut self, deadline: Deadline) -> Result<bool, Code> {
        let timeout = deadline.left();
        let mut fds = [PollFd::new(self.connection.socket(), PollFlags::IN)];
        match poll(&mut fds, timeout.map(crate::sys::timespec).as_ref()) {
            Ok(0) => return Ok(false),
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return Err(Code::SysErr),
        }
        self.connection.receive()?;
        Ok(true)
    }
}
