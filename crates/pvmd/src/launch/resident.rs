//! A daemon of the same machine that is there already when another one is to join from here.
//!
//! A daemon that was just deleted is about to end, and one that never got in (it could call no host
//! back) waits for nothing: both make room. A member stays, and the newcomer is refused.

use crate::config::Places;
use crate::processes;
use crate::runtime_dir;
use pvm_wire::request::{Reply, Request, Role};
use pvm_wire::{Blob, FrameBuffer, HostIndex, Layout, PROTOCOL_VERSION, Wire as _, write_frame};
use rustix::net::sockopt::socket_peercred;
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time that a daemon may take to end, and that a joining one may take to become a member.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(50);
const ANSWER_TIME: Duration = Duration::from_secs(1);
/// The list of four thousand hosts fits.
const ANSWER_BYTES_MAX: usize = 4 << 20;
const SIGTERM: i32 = 15;

enum Resident {
    /// The name of its host, if the machine is the inviter's own.
    Member(Option<String>),
    /// It has no place in the machine yet; its process.
    Joining(u32),
    Gone,
}

/// A daemon of this machine's name that stays.
#[derive(Debug)]
pub(crate) struct Stays {
    /// Its socket.
    pub(crate) socket: PathBuf,
    /// The name of its host, if its machine is the very one that wants another host here.
    pub(crate) name: Option<String>,
}

/// Waits until there is room for a daemon of this machine; the one that stays otherwise. `inviter`
/// is where the daemon listens that wants the new one.
pub(crate) fn make_room(places: &Places, inviter: &[String]) -> Option<Stays> {
    let mut end = Instant::now() + PATIENCE;
    let mut told = false;
    loop {
        let socket = runtime_dir::running(&places.temporary, &places.vmid)?;
        let late = Instant::now() >= end;
        match ask(&socket, inviter) {
            Resident::Joining(pid) if late && !told => {
                processes::signal(pid, SIGTERM);
                told = true;
                end = Instant::now() + PATIENCE;
            }
            Resident::Member(name) if late => return Some(Stays { socket, name }),
            Resident::Joining(_) if late => return Some(Stays { socket, name: None }),
            Resident::Member(_) | Resident::Joining(_) | Resident::Gone => {}
        }
        std::thread::sleep(PAUSE);
    }
}

/// The name of the host behind this socket, if it is a member of the machine to which the inviter
/// belongs.
pub(crate) fn member_at(socket: &Path, inviter: &[String]) -> Option<String> {
    match ask(socket, inviter) {
        Resident::Member(name) => name,
        Resident::Joining(_) | Resident::Gone => None,
    }
}

fn ask(socket: &Path, inviter: &[String]) -> Resident {
    let Ok(mut stream) = UnixStream::connect(socket) else { return Resident::Gone };
    let Ok(owner) = socket_peercred(&stream) else { return Resident::Gone };
    match hello(&mut stream) {
        Ok(Reply::Refused { .. }) => {
            Resident::Joining(owner.pid.as_raw_nonzero().get().cast_unsigned())
        }
        Ok(Reply::Ready { host }) => Resident::Member(own_name(&mut stream, host, inviter)),
        Ok(_) => Resident::Member(None),
        Err(_) => Resident::Gone,
    }
}

/// The name of this host, if its machine has the inviter among its hosts: no two daemons listen at
/// one address. One that every computer has says so only where the inviter has no other.
fn own_name(stream: &mut UnixStream, host: HostIndex, inviter: &[String]) -> Option<String> {
    let Ok(Reply::Hosts { hosts }) = question(stream, 2, &Request::Config) else { return None };
    let outward = |at: &&String| {
        at.parse::<SocketAddr>().is_ok_and(|at| !at.ip().to_canonical().is_loopback())
    };
    let everywhere = !inviter.iter().any(|at| outward(&at));
    let mut telling = inviter.iter().filter(|at| everywhere || outward(at));
    let is_own = telling.any(|at| hosts.iter().any(|host| host.addresses.contains(at)));
    let this = hosts.iter().find(|info| info.tid.host() == host).filter(|_| is_own);
    this.map(|info| info.name.to_text())
}

fn hello(stream: &mut UnixStream) -> std::io::Result<Reply> {
    stream.set_read_timeout(Some(ANSWER_TIME))?;
    let request = Request::Hello {
        version: PROTOCOL_VERSION,
        role: Role::Operator,
        program: Blob::from("pvmd"),
        reset: false,
        cookie: 0,
        layout: Layout::NATIVE,
    };
    question(stream, 1, &request)
}

fn question(stream: &mut UnixStream, id: u32, request: &Request) -> std::io::Result<Reply> {
    let mut out = Vec::new();
    write_frame(&mut out, id, request);
    stream.write_all(&out)?;
    let mut frames = FrameBuffer::new(ANSWER_BYTES_MAX);
    let mut bytes = [0; 4096];
    let nonsense = || std::io::Error::from(std::io::ErrorKind::InvalidData);
    loop {
        if let Some((_, payload)) = frames.next_frame().map_err(|_| nonsense())? {
            return Reply::from_bytes(payload).map_err(|_| nonsense());
        }
        match stream.read(&mut bytes)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            n => frames.push(&bytes[..n]),
        }
    }
}
