//! A daemon of the same machine that is there already when another one is to join from here.
//!
//! One that was just deleted is about to end, and one that never got in (nobody could be called
//! back) waits for nothing: both make room. A member stays, and the newcomer is refused.

use crate::config::Places;
use crate::processes;
use crate::runtime_dir;
use pvm_wire::request::{Reply, Request, Role};
use pvm_wire::{Blob, FrameBuffer, Layout, PROTOCOL_VERSION, Wire as _, write_frame};
use rustix::net::sockopt::socket_peercred;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a daemon that ends may take, and one that joins until it is a member.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(50);
const ANSWER_TIME: Duration = Duration::from_secs(1);
const ANSWER_BYTES_MAX: usize = 64 << 10;
const SIGTERM: i32 = 15;

enum Resident {
    Member,
    /// It has no place in the machine yet; its process.
    Joining(u32),
    Gone,
}

/// Waits until there is room for a daemon of this machine; the socket of the one that stays
/// otherwise.
pub(crate) fn make_room(places: &Places) -> Option<PathBuf> {
    let mut end = Instant::now() + PATIENCE;
    let mut told = false;
    loop {
        let socket = runtime_dir::running(&places.temporary, &places.vmid)?;
        let late = Instant::now() >= end;
        match ask(&socket) {
            Resident::Joining(pid) if late && !told => {
                processes::signal(pid, SIGTERM);
                told = true;
                end = Instant::now() + PATIENCE;
            }
            Resident::Member | Resident::Joining(_) if late => return Some(socket),
            Resident::Member | Resident::Joining(_) | Resident::Gone => {}
        }
        std::thread::sleep(PAUSE);
    }
}

fn ask(socket: &Path) -> Resident {
    let Ok(mut stream) = UnixStream::connect(socket) else { return Resident::Gone };
    let Ok(owner) = socket_peercred(&stream) else { return Resident::Gone };
    match hello(&mut stream) {
        Ok(Reply::Refused { .. }) => {
            Resident::Joining(owner.pid.as_raw_nonzero().get().cast_unsigned())
        }
        Ok(_) => Resident::Member,
        Err(_) => Resident::Gone,
    }
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
    let mut out = Vec::new();
    write_frame(&mut out, 1, &request);
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
