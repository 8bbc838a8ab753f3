//! The facts that this host tells of itself.

use crate::config::Places;
use crate::speed;
use crate::version::version;
use pvm_wire::hostfile::{expand, parse_line};
use pvm_wire::peer::HostFacts;
use pvm_wire::{Blob, Layout};
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt};

/// The facts of this host; addresses and key are those of its link.
pub(crate) fn gather(
    places: &Places,
    (name, options): (&str, &str),
    addresses: Vec<String>,
    key: Vec<u8>,
) -> HostFacts {
    let computer = rustix::system::uname();
    let name = match name {
        "" => Blob(computer.nodename().to_bytes().to_vec()),
        name => Blob::from(name),
    };
    // Errors of a line are reported where it is read first.
    let told = parse_line(format!("host {options}").as_bytes()).unwrap_or_default();
    let here = |value: Option<Blob>| Some(expand(&value?.0, |name| value_of(name, places)));
    // As in PVM, what is no absolute path begins at the user's home.
    let at_home = |path: &[u8]| blob(places.home.join(OsStr::from_bytes(path)).as_os_str());
    let search = match here(told.ep) {
        Some(list) => list.split(|b| *b == b':').filter(|p| !p.is_empty()).map(at_home).collect(),
        None => places.search().iter().map(|folder| blob(folder.as_os_str())).collect(),
    };
    let installed = || places.root.as_ref().map(|root| blob(root.join("lib/debugger").as_os_str()));
    HostFacts {
        name,
        arch: Blob::from(places.arch.as_str()),
        signature: Layout::NATIVE.signature(),
        cores: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        speed: told.sp.unwrap_or_default(),
        measured: speed::measure(),
        addresses,
        key: Blob(key),
        search,
        directory: here(told.wd).as_deref().map(at_home).unwrap_or_default(),
        debugger: here(told.bx).as_deref().map(at_home).or_else(installed).unwrap_or_default(),
        version: version().to_owned(),
        computer: this_computer(&computer),
    }
}

/// The identity of this computer: the time of its start, and its name, which differs between
/// containers of one computer.
fn this_computer(computer: &rustix::system::Uname) -> Blob {
    let started = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    match started.trim_ascii() {
        [] => Blob::default(),
        started => Blob([started, b" ", computer.nodename().to_bytes()].concat()),
    }
}

/// A name after `$`, as this host knows it.
fn value_of(name: &str, places: &Places) -> Option<Vec<u8>> {
    let root = || Some(places.root.as_ref()?.as_os_str().as_bytes().to_vec());
    match name {
        "PVM_ARCH" => Some(places.arch.clone().into_bytes()),
        "PVM_ROOT" => root(),
        name => std::env::var_os(name).map(OsStringExt::into_vec),
    }
}

fn blob(path: &OsStr) -> Blob {
    Blob(path.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_host_file_take_effect_on_the_host_that_they_concern() {
        let places = Places {
            temporary: "/tmp".into(),
            vmid: "v".into(),
            root: Some("/opt/pvm".into()),
            arch: "LINUX64".into(),
            home: "/home/me".into(),
            spilling: crate::config::Spilling::default(),
        };
        let words = "lo=me ep=bin/$PVM_ARCH:/opt wd=work sp=7 bx=$PVM_ROOT/dbg";
        let facts = gather(&places, ("h", words), Vec::new(), Vec::new());
        assert_eq!(facts.search, [Blob::from("/home/me/bin/LINUX64"), Blob::from("/opt")]);
        assert_eq!((facts.directory, facts.speed), (Blob::from("/home/me/work"), 7));
        assert_eq!((facts.name, facts.debugger), ("h".into(), "/opt/pvm/dbg".into()));
        let facts = gather(&places, ("", ""), Vec::new(), Vec::new());
        assert_eq!((facts.directory, facts.speed), (Blob::default(), 0));
        assert!(facts.measured > 0);
        assert_eq!(facts.debugger, "/opt/pvm/lib/debugger".into());
        assert_eq!(facts.search[0], "/home/me/pvm3/bin/LINUX64".into());
    }
}
