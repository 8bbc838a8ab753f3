//! Adds the hosts of a host file when the first daemon is there, as PVM's `pvmd HOSTFILE` does.
//!
//! A process of its own asks the new daemon for it, as any command would; its messages go to the
//! error output of the daemon's starter.

use crate::broker::ParentBroker;
use crate::say;
use anyhow::{Context as _, Result, bail};
use pvm_wire::hostfile::{Hostfile, parse_file};
use pvm_wire::request::{Reply, Request, Role};
use pvm_wire::{Blob, Layout, PROTOCOL_VERSION};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Most of a file that is read.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Reads a host file; what is wrong in it is told and left out.
pub(crate) fn read(path: &Path) -> Result<Hostfile> {
    let size = std::fs::metadata(path).with_context(|| path.display().to_string())?.len();
    if size > FILE_BYTES_MAX {
        bail!("{}: too large for a host file", path.display());
    }
    Ok(parse_file(&std::fs::read(path).with_context(|| path.display().to_string())?))
}

/// The options that a file has for the host with one of these names, as words of a line.
pub(crate) fn own_options(file: &Hostfile, names: &[&[u8]]) -> String {
    let own = file.hosts.iter().find(|line| names.contains(&line.name.0.as_slice()));
    let line = own.unwrap_or(&file.defaults).to_line().to_text();
    let words = line.split_ascii_whitespace();
    let options: Vec<&str> = words.filter(|word| word.contains('=')).collect();
    options.join(" ")
}

/// Asks the daemon behind this socket to add the file's hosts. False if one of them failed.
pub(crate) fn run(socket: &Path, path: &Path) -> Result<bool> {
    let file = read(path)?;
    for error in &file.errors {
        say::complain(format_args!("{}: {error}", path.display()));
    }
    let mut daemon = ParentBroker::new(UnixStream::connect(socket)?);
    let program = Blob::from("pvmd");
    let role = Role::Operator;
    let (version, layout) = (PROTOCOL_VERSION, Layout::NATIVE);
    let hello = Request::Hello { version, role, program, reset: false, cookie: 0, layout };
    let Reply::Ready { .. } = daemon.ask(&hello)? else { bail!("the daemon does not listen") };
    let Reply::Hosts { hosts } = daemon.ask(&Request::Config)? else { bail!("no host table") };
    let here: Vec<&Blob> = hosts.iter().map(|host| &host.name).collect();
    let added: Vec<_> = file.hosts.iter().filter(|line| !line.later).collect();
    let added: Vec<_> = added.into_iter().filter(|line| !here.contains(&&line.name)).collect();
    let lines: Vec<Blob> = added.iter().map(|line| line.to_line()).collect();
    if lines.is_empty() {
        return Ok(file.errors.is_empty());
    }
    let results = match daemon.ask(&Request::AddHosts { hosts: lines })? {
        Reply::HostResults { results } => results,
        other => bail!("the daemon answers {other:?}"),
    };
    let mut good = file.errors.is_empty();
    for (line, result) in added.iter().zip(&results) {
        if result.outcome < 0 {
            good = false;
            say::complain(format_args!("{}: {}", line.name.to_text(), result.why()));
        }
    }
    Ok(good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_hosts_own_line_counts_and_else_the_defaults() {
        let file = parse_file(b"* ep=/d sp=5\nh1 wd=/w lo=me\nh2 tunnel\n");
        assert_eq!(own_options(&file, &[b"h1"]), "lo=me ep=/d wd=/w sp=5");
        assert_eq!(own_options(&file, &[b"h9"]), "ep=/d sp=5");
    }
}
