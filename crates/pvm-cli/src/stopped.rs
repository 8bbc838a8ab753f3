//! A daemon that was stopped (SIGSTOP, or Ctrl-Z if it was started by hand): it receives requests,
//! and answers when it goes on.

use rustix::process::{Pid, Signal, kill_process};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest wait for a process that is stopped.
pub(crate) const TIME_MAX: Duration = Duration::from_secs(3);
/// Between two looks.
pub(crate) const LOOK: Duration = Duration::from_millis(500);

/// The process that listens at the other end; none where it is in a container of its own.
pub(crate) fn listener(stream: &UnixStream) -> Option<Pid> {
    let owner = rustix::net::sockopt::socket_peercred(stream).ok()?;
    Some(owner.pid).filter(|pid| Path::new("/proc").join(text(*pid)).exists())
}

/// The process that has a lock on the folder of this socket, as every daemon has.
pub(crate) fn holder(socket: &Path) -> Option<Pid> {
    let inode = std::fs::metadata(socket.parent()?).ok()?.ino().to_string();
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    // `1: FLOCK  ADVISORY  WRITE PID MAJOR:MINOR:INODE 0 EOF`
    let found = locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_its = words.get(1) == Some(&"FLOCK") && words.get(5)?.rsplit(':').next()? == inode;
        is_its.then(|| words[4].parse().ok()).flatten()
    });
    Pid::from_raw(found?)
}

/// The process behind a socket of ours.
pub(crate) fn daemon(socket: &Path) -> Option<Pid> {
    match connect(socket) {
        Ok(stream) if pvm::locate::is_own(&stream) => listener(&stream),
        Ok(_) => None,
        Err(error) if error.kind() == ErrorKind::WouldBlock => holder(socket),
        Err(_) => None,
    }
}

fn text(pid: Pid) -> String {
    pid.as_raw_nonzero().to_string()
}

/// Whether a process is stopped, by a signal or by a debugger.
pub(crate) fn is_stopped(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", text(pid))).unwrap_or_default();
    // Its name, in brackets, may hold anything.
    let state = stat.rsplit_once(") ").and_then(|(_, fields)| fields.chars().next());
    matches!(state, Some('T' | 't'))
}

/// The message about a daemon that is stopped.
pub(crate) fn words(pid: Pid) -> String {
    let pid = text(pid);
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:")).map(str::trim);
    match tracer.filter(|tracer| *tracer != "0") {
        Some(tracer) => format!(
            "the daemon (process {pid}) is stopped by a debugger (process {tracer}) and does not \
             answer\n  continue it in the debugger, or end the debugger"
        ),
        None => format!(
            "the daemon (process {pid}) is stopped and does not answer\n  continue it: `kill -CONT \
             {pid}` (or `fg` if Ctrl-Z stopped it), or end the machine: `pvm halt`"
        ),
    }
}

/// The daemons of the machine on this computer.
fn of_machine() -> impl Iterator<Item = Pid> {
    pvm::locate::sockets().into_iter().filter_map(|socket| daemon(&socket))
}

/// The process of the daemon that commands ask.
pub(crate) fn first() -> Option<Pid> {
    of_machine().next()
}

/// The message that this daemon is stopped, if it does not go on within [`TIME_MAX`].
pub(crate) fn stays(pid: Pid) -> Option<String> {
    let end = Instant::now() + TIME_MAX;
    while is_stopped(pid) {
        if Instant::now() >= end {
            return Some(words(pid));
        }
        std::thread::sleep(LOOK);
    }
    None
}

/// Lets stopped daemons of the machine go on, so that they can be ended in good order; their
/// processes. A key on the terminal stops the daemon's second process with the first.
pub(crate) fn go_on() -> Vec<String> {
    let stopped: Vec<Pid> = of_machine().filter(|&pid| is_stopped(pid)).collect();
    for &pid in &stopped {
        for child in
            children(pid).into_iter().filter(|&child| is_stopped(child) && is_daemon(child))
        {
            let _ = kill_process(child, Signal::CONT);
        }
        let _ = kill_process(pid, Signal::CONT);
    }
    stopped.into_iter().map(text).collect()
}

fn children(pid: Pid) -> Vec<Pid> {
    let pid = text(pid);
    let listed = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let listed = listed.unwrap_or_default();
    listed.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

fn is_daemon(pid: Pid) -> bool {
    let name = std::fs::read_to_string(format!("/proc/{}/comm", text(pid)));
    name.is_ok_and(|name| name.trim() == "pvmd")
}

/// A connection to the listener of a socket. A stopped daemon takes no connection out of its queue;
/// once the queue is full, this call does not wait.
pub(crate) fn connect(socket: &Path) -> std::io::Result<UnixStream> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
    let (family, kind) = (AddressFamily::UNIX, SocketType::STREAM);
    let stream = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_timeout(&stream, sockopt::Timeout::Send, Some(TIME_MAX))?;
    rustix::net::connect(&stream, &SocketAddrUnix::new(socket)?)?;
    sockopt::set_socket_timeout(&stream, sockopt::Timeout::Send, None)?;
    Ok(stream.into())
}
