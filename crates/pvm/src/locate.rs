//! The place of the machine's local socket.
//!
//! `${PVM_TMP:-${XDG_RUNTIME_DIR:-/tmp}}/neopvm-UID/VMID/HOST/pvmd.sock`; VMID is the value of
//! `PVM_VMID` or `default`. A spawned task finds the path in `PVMSOCK`.

use std::env;
use std::os::fd::AsFd;
use std::path::PathBuf;

/// True where a process of this user listens at the other end of a connected socket. In a folder
/// that all may write to, another user may have put a socket where ours would be.
pub fn is_own(socket: impl AsFd) -> bool {
    let owner = rustix::net::sockopt::socket_peercred(socket);
    owner.is_ok_and(|owner| owner.uid == rustix::process::getuid())
}

/// The folder of this user's machine.
pub fn runtime_directory() -> PathBuf {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty());
    let base = set("PVM_TMP").or_else(|| set("XDG_RUNTIME_DIR")).unwrap_or_else(|| "/tmp".into());
    let user = format!("neopvm-{}", rustix::process::getuid().as_raw());
    PathBuf::from(base).join(user).join(set("PVM_VMID").unwrap_or_else(|| "default".into()))
}

/// The sockets of the machine's hosts on this computer, lowest host first; in a spawned task
/// that of its own host alone.
pub fn sockets() -> Vec<PathBuf> {
    if let Some(socket) = env::var_os("PVMSOCK").filter(|value| !value.is_empty()) {
        return vec![socket.into()];
    }
    let folder = runtime_directory();
    let mut hosts: Vec<(u16, PathBuf)> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let host = entry.file_name().to_str()?.parse().ok()?;
            Some((host, entry.path().join("pvmd.sock")))
        })
        .collect();
    hosts.sort();
    hosts.into_iter().map(|(_, socket)| socket).collect()
}
