//! This computer: the program, the folder of the runtime files, ssh, name and network.

use super::check::Check;
use crate::{program, threads};
use rustix::fs::Access;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The longest socket path that the system takes, less what the daemon hangs on to its folder:
/// the host's number and the name of a task's doorbell.
const FOLDER_BYTES_MAX: usize = 107 - "/4095/bell/t3fffffff".len();
/// A machine needs next to nothing; its log may be longer.
const FREE_BYTES_MIN: u64 = 1 << 20;
/// A name server that has not answered for this long will not answer.
const NAME_TIME_MAX: Duration = Duration::from_secs(5);

/// Whether there is a pvmd, and that of this version.
pub(crate) fn daemon() -> Check {
    let Ok(program) = program::find() else {
        let detail = format!("not in {}", program::places().join(", "));
        return Check::failed("pvmd", detail, "`make install PREFIX=DIR`");
    };
    let shown = program.display();
    let said = Command::new(&program).arg("--version").stdin(Stdio::null()).output();
    let ours = env!("CARGO_PKG_VERSION");
    match said {
        Ok(said) => match String::from_utf8_lossy(&said.stdout).trim() {
            version if version == ours => Check::ok("pvmd", format!("{shown}, version {ours}")),
            version => Check::failed(
                "pvmd",
                format!("{shown} has version {version:?}, and pvm has {ours}"),
                "install both from the same sources: `make install PREFIX=DIR`",
            ),
        },
        Err(error) => Check::failed(
            "pvmd",
            format!("{shown} cannot be run: {error}"),
            "install it anew: `make install PREFIX=DIR`",
        ),
    }
}

/// Whether PVM_ROOT, which old set-ups have, leads somewhere else.
pub(crate) fn root() -> Check {
    let Some(root) = std::env::var_os("PVM_ROOT").filter(|root| !root.is_empty()) else {
        return Check::ok("PVM_ROOT", "not set: the folder of pvm determines it");
    };
    let root = PathBuf::from(root);
    if program::is_ours(&root.join("bin/pvmd")) {
        return Check::ok("PVM_ROOT", root.display().to_string());
    }
    let detail =
        format!("{} contains no NeoPVM, and programs of tasks are searched there", root.display());
    Check::warning("PVM_ROOT", detail, "`unset PVM_ROOT`")
}

/// Whether the folder of the runtime files can be made and trusted.
pub(crate) fn folder() -> Check {
    let folder = pvm::locate::runtime_directory();
    let shown = folder.display().to_string();
    let failed = |detail: String, remedy: &str| Check::failed("folder", detail, remedy);
    let (Some(user), Some(base)) = (folder.parent(), folder.parent().and_then(Path::parent)) else {
        return failed(
            format!("{shown} cannot be used for runtime files"),
            "set PVM_TMP to a folder of yours",
        );
    };
    if folder.as_os_str().len() > FOLDER_BYTES_MAX {
        let detail = format!("{shown} is too long for the path of a socket");
        return failed(detail, "set PVM_TMP to a shorter path");
    }
    if !base.is_dir() {
        let detail = format!("{} is not a folder", base.display());
        return failed(detail, &format!("`mkdir -p {}`, or set PVM_TMP", base.display()));
    }
    if rustix::fs::access(base, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        let detail = format!("you have no permission to write in {}", base.display());
        return failed(detail, "set PVM_TMP to a folder of yours");
    }
    if let Ok(data) = std::fs::symlink_metadata(user) {
        let own = rustix::process::getuid().as_raw();
        let fault = match () {
            () if !data.is_dir() => Some("is not a folder"),
            () if data.uid() != own => Some("belongs to another user"),
            () if data.permissions().mode() & 0o077 != 0 => Some("is accessible to other users"),
            () => None,
        };
        if let Some(fault) = fault {
            let detail = format!("{} {fault}", user.display());
            return failed(detail, "remove it, or set PVM_TMP to a folder of yours");
        }
    }
    let free = rustix::fs::statvfs(base).map_or(u64::MAX, |data| data.f_bavail * data.f_frsize);
    if free < FREE_BYTES_MIN {
        let detail = format!("{} is full ({free} bytes are free)", base.display());
        return failed(detail, "make room there, or set PVM_TMP");
    }
    Check::ok("folder", shown)
}

/// Whether hosts elsewhere can be started.
pub(crate) fn ssh() -> Check {
    let chosen = std::env::var_os("PVM_RSH").filter(|name| !name.is_empty());
    let name = chosen.clone().map_or_else(|| PathBuf::from("ssh"), PathBuf::from);
    if let Some(found) = program::in_path(&name) {
        let by = if chosen.is_some() { " (PVM_RSH)" } else { "" };
        return Check::ok("ssh", format!("{}{by}", found.display()));
    }
    let detail =
        format!("{} is not installed, so hosts on other computers cannot be added", name.display());
    let remedy =
        if chosen.is_some() { "`unset PVM_RSH`" } else { "`apt-get install openssh-client`" };
    Check::warning("ssh", detail, remedy)
}

/// Checks what the computer's name resolves to; in the original a loopback address was the end.
pub(crate) fn name() -> Check {
    let computer = rustix::system::uname();
    let name = computer.nodename().to_string_lossy().into_owned();
    let (to, resolved) = mpsc::channel();
    let asked = name.clone();
    let asking = threads::start(move || {
        let found = (asked.as_str(), 0).to_socket_addrs();
        let found = found.map(|list| list.map(|address| address.ip()).collect::<Vec<IpAddr>>());
        // The receiver has gone if the answer comes too late.
        let _ = to.send(found);
    });
    if let Err(failure) = asking {
        return Check::warning("name", failure.text(), "end some processes, or raise `ulimit -u`");
    }
    match resolved.recv_timeout(NAME_TIME_MAX) {
        Ok(Ok(list)) if list.iter().any(|address| !address.is_loopback()) => {
            Check::ok("name", format!("{name}, {}", texts(&list)))
        }
        Ok(Ok(list)) => Check::ok(
            "name",
            format!(
                "{name} is {}, a loopback address; this does not matter, because hosts use numeric \
                 addresses",
                texts(&list)
            ),
        ),
        Ok(Err(error)) => Check::ok(
            "name",
            format!(
                "{name} has no address ({error}); this does not matter, because hosts use numeric \
                 addresses"
            ),
        ),
        Err(_) => Check::warning(
            "name",
            format!("{name}: the name service has not answered in {} s", NAME_TIME_MAX.as_secs()),
            format!("`getent hosts {name}`, and see /etc/resolv.conf"),
        ),
    }
}

/// Whether other hosts can reach this one.
pub(crate) fn network() -> Check {
    let trie = std::fs::read_to_string("/proc/net/fib_trie").unwrap_or_default();
    let six = std::fs::read_to_string("/proc/net/if_inet6").unwrap_or_default();
    let mut addresses = addresses_4(&trie);
    addresses.extend(addresses_6(&six));
    if addresses.is_empty() {
        let detail = "there is only the loopback address: other computers cannot reach this one";
        return Check::warning("network", detail, "`ip address`; without one: `pvm up --local 4`");
    }
    Check::ok("network", texts(&addresses))
}

fn texts(addresses: &[IpAddr]) -> String {
    let mut texts: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
    texts.dedup();
    texts.join(", ")
}

/// The kernel lists an own address as `|-- ADDRESS`, with `/32 host LOCAL` in the next line.
fn addresses_4(trie: &str) -> Vec<IpAddr> {
    let lines: Vec<&str> = trie.lines().map(str::trim).collect();
    let local = lines.windows(2).filter(|pair| pair[1].starts_with("/32 host LOCAL"));
    let texts = local.filter_map(|pair| pair[0].strip_prefix("|-- "));
    let mut found: Vec<IpAddr> = texts
        .filter_map(|text| text.parse().ok())
        .filter(|ip: &IpAddr| !ip.is_loopback())
        .collect();
    found.sort();
    found.dedup();
    found
}

/// `DIGITS INDEX PREFIX SCOPE FLAGS NAME`; scope 00 is valid everywhere.
fn addresses_6(list: &str) -> Vec<IpAddr> {
    let global = list.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let digits = words.next()?;
        (words.nth(2)? == "00").then_some(digits)
    });
    let number = global.filter_map(|digits| u128::from_str_radix(digits, 16).ok());
    number.map(|number| IpAddr::from(number.to_be_bytes())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_lists_of_addresses_are_understood() {
        let trie = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 10.0.0.0\n        /24 link \
                    UNICAST\n     |-- 10.0.0.7\n        /32 host LOCAL\n     |-- \
                    127.0.0.1\n        /32 host LOCAL\n     |-- 10.0.0.7\n        /32 host LOCAL\n";
        assert_eq!(texts(&addresses_4(trie)), "10.0.0.7");
        let six = "00000000000000000000000000000001 01 80 10 80       lo\n\
                   20010db8000000000000000000000007 02 40 00 80     eth0\n\
                   fe800000000000000000000000000007 02 40 20 80     eth0\n";
        assert_eq!(texts(&addresses_6(six)), "2001:db8::7");
    }
}
