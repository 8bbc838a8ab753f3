//! The parts of a job, before anything is started.

use super::cluster::{Cluster, check_size};
use super::files;
use crate::failure::{Failure, Status};
use crate::options::tasks::{Interface, RunOptions};
use pvm_wire::request::HostInfo;
use std::path::Path;

/// All clusters.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) clusters: Vec<Cluster>,
    /// The first is started at once, the others when its first rank asks for them.
    pub(super) is_deferred: bool,
    /// The first rank is a host program, and no node.
    pub(super) is_hosted: bool,
}

impl Plan {
    /// As the command line and the file say.
    pub(super) fn new(options: &RunOptions, interface: Interface) -> Result<Self, Failure> {
        let clusters = match &options.hosts_file {
            Some(file) => of_file(options, interface, file)?,
            None => vec![Cluster {
                ranks: options.count,
                host: options.host.clone().or_else(|| first_host(interface)),
                shares: interface == Interface::P4,
                ..Cluster::default()
            }],
        };
        check_size(&clusters)?;
        let is_hosted = matches!(interface, Interface::NxHost | Interface::ExpressHost);
        let is_deferred = is_hosted || interface == Interface::P4;
        Ok(Self { clusters, is_deferred, is_hosted })
    }
}

/// p4's first process is the one that was started by hand: it stays here.
fn first_host(interface: Interface) -> Option<String> {
    (interface == Interface::P4).then(|| "local".to_owned())
}

fn of_file(
    options: &RunOptions,
    interface: Interface,
    file: &Path,
) -> Result<Vec<Cluster>, Failure> {
    let says_how_many = matches!(interface, Interface::P4 | Interface::Tcgmsg);
    if says_how_many && options.count != 1 {
        let text = format!(
            "-n {} and --hosts {}: the file says how many ranks there are\n  leave one of them out",
            options.count,
            file.display()
        );
        return Err(Failure::new(Status::Usage, text));
    }
    let clusters = files::read(file, interface)?;
    Ok(if says_how_many { clusters } else { dealt(clusters, options.count) })
}

/// Hands `count` ranks out to the lines in turns of as many as each says; a count of one is all
/// that they say together.
fn dealt(lines: Vec<Cluster>, count: u32) -> Vec<Cluster> {
    if count == 1 {
        return lines;
    }
    let (mut left, mut clusters) = (count, Vec::new());
    for line in lines.iter().cycle() {
        if left == 0 {
            break;
        }
        let ranks = line.ranks.min(left);
        left -= ranks;
        clusters.push(Cluster { ranks, ..line.clone() });
    }
    clusters
}

/// Gives each cluster its host's name as the machine has it.
pub(super) fn find_hosts(
    clusters: &mut [Cluster],
    hosts: &[HostInfo],
    here: &str,
) -> Result<(), String> {
    for cluster in clusters {
        let Some(wanted) = &cluster.host else { continue };
        let found = host_named(wanted, hosts, here);
        cluster.host = Some(found.ok_or_else(|| no_host(cluster, wanted, hosts))?);
    }
    Ok(())
}

/// The whole name, or as much of it as stands before the first dot, as old files have it.
fn host_named(wanted: &str, hosts: &[HostInfo], here: &str) -> Option<String> {
    if matches!(wanted, "local" | "localhost" | "." | "127.0.0.1") {
        return Some(here.to_owned());
    }
    let names = || hosts.iter().map(|host| host.name.to_text());
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    names().find(|name| name == wanted).or_else(|| {
        let mut alike = names().filter(|name| short(name) == short(wanted));
        alike.next().filter(|_| alike.next().is_none())
    })
}

fn no_host(cluster: &Cluster, wanted: &str, hosts: &[HostInfo]) -> String {
    let names: Vec<String> = hosts.iter().map(|host| host.name.to_text()).collect();
    let line = if cluster.line.is_empty() { String::new() } else { format!("{}: ", cluster.line) };
    format!(
        "{line}no host {wanted} in the machine, which has {}\n  add it: `pvm add {wanted}`",
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str) -> HostInfo {
        HostInfo { name: name.into(), ..HostInfo::default() }
    }

    #[test]
    fn a_host_is_found_by_its_name_with_and_without_a_domain() {
        let hosts = [host("ada"), host("bob.example.org"), host("eve.a"), host("eve.b")];
        let found = |name| host_named(name, &hosts, "ada");
        assert_eq!(found("bob").as_deref(), Some("bob.example.org"));
        assert_eq!(found("ada.example.org").as_deref(), Some("ada"));
        assert_eq!(found("localhost").as_deref(), Some("ada"));
        assert_eq!(found("eve.b").as_deref(), Some("eve.b"));
        assert_eq!(found("eve"), None);
        assert_eq!(found("mallory"), None);
    }

    #[test]
    fn ranks_are_dealt_out_in_turns() {
        let line = |name: &str, ranks| Cluster {
            host: Some(name.to_owned()),
            ranks,
            ..Cluster::default()
        };
        let lines = vec![line("a", 2), line("b", 1)];
        assert_eq!(dealt(lines.clone(), 1), lines);
        let counts: Vec<u32> = dealt(lines, 6).iter().map(|cluster| cluster.ranks).collect();
        assert_eq!(counts, [2, 1, 2, 1]);
    }
}
