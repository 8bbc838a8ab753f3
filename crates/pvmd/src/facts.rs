//! What this host tells of itself.

use crate::config::Places;
use pvm_wire::Blob;
use pvm_wire::peer::HostFacts;
use std::os::unix::ffi::OsStrExt as _;

/// PVM's signature of x86-64's data layout, and of all like it: little-endian, longs of 8 bytes.
const SIGNATURE: i32 = 0x40_8c41;
/// PVM's default for all hosts.
const SPEED: i32 = 1000;

/// The facts of this host; address and key are those of its link.
pub(crate) fn gather(places: &Places, name: &str, address: String, key: Vec<u8>) -> HostFacts {
    let computer = rustix::system::uname();
    let name = match name {
        "" => Blob(computer.nodename().to_bytes().to_vec()),
        name => Blob::from(name),
    };
    let search = places.search();
    HostFacts {
        name,
        arch: Blob::from(places.arch.as_str()),
        signature: SIGNATURE,
        cores: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        speed: SPEED,
        address,
        key: Blob(key),
        search: search.iter().map(|folder| Blob(folder.as_os_str().as_bytes().to_vec())).collect(),
    }
}
