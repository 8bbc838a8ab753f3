//! The tries of another user of the computer on somebody's machine, as a list.
//!
//! ```text
//! neighbour FOLDER PARENT DAEMON TASK LINK
//!     the host's FOLDER, three process ids, and LINK as ADDRESS:PORT
//! ```
//!
//! Prints `refused NAME` or `DONE NAME` for each attempt.
#![forbid(unsafe_code)]

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, parent, daemon, task, link] = words.as_slice() else {
        panic!("usage: neighbour FOLDER PARENT DAEMON TASK LINK");
    };
    let folder = PathBuf::from(folder);
    files(&folder);
    for (name, pid) in [("parent", parent), ("daemon", daemon), ("task", task)] {
        process(name, pid);
    }
    tell("speak on the link", speaks(link));
    tell("find a socket without a place in a folder", has_abstract_socket(&folder));
}

fn tell(name: &str, done: bool) {
    println!("{} {name}", if done { "DONE" } else { "refused" });
}

/// The host's folder, and those above it that are the machine's and the user's.
fn files(host: &Path) {
    let machine = host.parent().expect("a machine's folder");
    let user = machine.parent().expect("a user's folder");
    let socket = host.join("pvmd.sock");
    tell("connect to the local socket", UnixStream::connect(&socket).is_ok());
    let bell = UnixDatagram::unbound().expect("a socket");
    tell("ring the daemon's bell", bell.send_to(b"x", host.join("bell/daemon")).is_ok());
    for (name, folder) in [("host's", host), ("machine's", machine), ("user's", user)] {
        tell(&format!("list the {name} folder"), fs::read_dir(folder).is_ok());
        let own = folder.join("squatted");
        tell(&format!("make a file in the {name} folder"), File::create(&own).is_ok());
        tell(&format!("make a link in the {name} folder"), symlink("/tmp", &own).is_ok());
        tell(&format!("make a folder in the {name} folder"), fs::create_dir(&own).is_ok());
        let away = folder.with_extension("away");
        tell(&format!("move the {name} folder away"), fs::rename(folder, away).is_ok());
        tell(&format!("remove the {name} folder"), fs::remove_dir_all(folder).is_ok());
    }
    tell("read the log", fs::read(host.join("pvml")).is_ok());
    tell("write to the log", File::options().append(true).open(host.join("pvml")).is_ok());
    tell("remove the socket", fs::remove_file(&socket).is_ok());
    let squatted = std::os::unix::net::UnixListener::bind(&socket);
    tell("listen in the daemon's place", squatted.is_ok());
}

fn process(name: &str, number: &str) {
    let proc = PathBuf::from("/proc").join(number);
    let pid = number.parse().ok().and_then(Pid::from_raw).expect("a process");
    for file in ["environ", "mem", "maps", "auxv", "stack", "syscall"] {
        let read = File::open(proc.join(file)).and_then(|mut file| file.read(&mut [0; 64]));
        // A file that is empty for others tells nothing.
        tell(&format!("read {file} of the {name}"), matches!(read, Ok(1..)));
    }
    tell(&format!("see the descriptors of the {name}"), fs::read_dir(proc.join("fd")).is_ok());
    let memory = (0..64).any(|fd| File::open(proc.join("fd").join(fd.to_string())).is_ok());
    tell(&format!("open memory of the {name}"), memory);
    let maps = proc.join("map_files");
    tell(&format!("see the mappings of the {name}"), fs::read_dir(maps).is_ok());
    tell(&format!("look into the root of the {name}"), fs::read_dir(proc.join("root")).is_ok());
    for signal in [Signal::TERM, Signal::STOP, Signal::KILL] {
        tell(&format!("send {signal:?} to the {name}"), kill_process(pid, signal).is_ok());
    }
    let taken = pidfd_open(pid, PidfdFlags::empty()).and_then(|fd| {
        rustix::process::pidfd_getfd(fd, 3, rustix::process::PidfdGetfdFlags::empty())
    });
    tell(&format!("take a descriptor of the {name}"), taken.is_ok());
}

/// True if the daemon says anything that is no alert to somebody who has no key.
fn speaks(link: &str) -> bool {
    let Ok(mut stream) = TcpStream::connect(link) else { return false };
    let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
    let _ = stream.write_all(b"NPVMtok1 let me in, please");
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer.len() > 7
}

/// A socket in the abstract name space has no owner: anybody may connect.
fn has_abstract_socket(host: &Path) -> bool {
    let all = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let host = host.to_string_lossy();
    all.lines().filter_map(|line| line.split_once('@')).any(|(_, name)| name.contains(&*host))
}
