//! The addresses of a daemon: those of this computer's interfaces, the one that ssh shows, and the
//! order in which those of another host are tried.
//!
//! They are numbers, never names, so names may resolve differently everywhere. A wrong one costs a
//! refused handshake, as the key is pinned.

use crate::link::dial::Endpoint;
use anyhow::{Context as _, Result};
use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use tokio::net::TcpListener;

/// Daemons that may wait to be accepted at once.
const BACKLOG: i32 = 1024;
/// Begins a candidate at which another host hands on to the one that is meant.
const VIA: &str = "via:";
/// More candidates than this are of no use.
const CANDIDATES_MAX: usize = 32;

/// A socket on the loopback interface, at the port that it had before if that is free.
pub(crate) fn listen_inside(port: u16) -> Result<TcpListener> {
    let at = |port| bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    at(port).or_else(|_| at(0)).context("cannot listen on the loopback interface")
}

/// A socket on all interfaces, at the port that it had before if that is free.
pub(crate) fn listen_outward(port: u16) -> Result<TcpListener> {
    let at = |port| {
        bind(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)))
            .or_else(|_| bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port))))
    };
    at(port).or_else(|_| at(0)).context("cannot listen for other hosts")
}

fn bind(address: SocketAddr) -> Result<TcpListener> {
    let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    if address.is_ipv6() {
        // One socket for both families, whatever the system's default is.
        sockopt::set_ipv6_v6only(&socket, false)?;
    }
    sockopt::set_socket_reuseaddr(&socket, true)?;
    rustix::net::bind(&socket, &address)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(TcpListener::from_std(socket.into())?)
}

/// The addresses of this computer that others may reach: no loopback, nothing that is valid on one
/// link only. IPv4 first.
pub(crate) fn of_interfaces() -> Vec<IpAddr> {
    let Ok(interfaces) = getifaddrs() else { return Vec::new() };
    let mut found = Vec::new();
    for interface in interfaces {
        let up = interface.flags.contains(InterfaceFlags::IFF_UP);
        let address = interface.address.filter(|_| up).and_then(|address| {
            let v4 = address.as_sockaddr_in().map(|v4| IpAddr::from(v4.ip()));
            v4.or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::from(v6.ip())))
        });
        found.extend(address.filter(|address| is_outward(*address)));
    }
    found.sort_by_key(IpAddr::is_ipv6);
    found.dedup();
    found
}

/// True for an address that means something on another computer.
pub(crate) fn is_outward(address: IpAddr) -> bool {
    let one_link = match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    };
    !(address.is_loopback() || address.is_unspecified() || address.is_multicast() || one_link)
}

/// The two ends of the ssh connection that this process was started through, the caller's first.
pub(crate) fn of_ssh() -> Option<(IpAddr, IpAddr)> {
    ends_in(std::env::var("SSH_CONNECTION").ok()?.as_str())
}

/// `CLIENT PORT SERVER PORT`.
fn ends_in(text: &str) -> Option<(IpAddr, IpAddr)> {
    let mut words = text.split_ascii_whitespace();
    let client = plain(words.next()?)?;
    let server = plain(words.nth(1)?)?;
    Some((client, server))
}

/// An address without the name of an interface, and IPv4 as IPv4.
fn plain(text: &str) -> Option<IpAddr> {
    let address: IpAddr = text.split('%').next()?.parse().ok()?;
    Some(address.to_canonical())
}

/// Candidates as they are written in facts and invitations, each once.
pub(crate) fn candidates(
    addresses: impl IntoIterator<Item = IpAddr>,
    port: u16,
    inside: Option<u16>,
) -> Vec<String> {
    let outer = addresses.into_iter().map(|address| SocketAddr::from((address, port)));
    let inner = inside.map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let mut all: Vec<String> = Vec::new();
    for candidate in outer.take(CANDIDATES_MAX).chain(inner) {
        let candidate = candidate.to_string();
        if !all.contains(&candidate) {
            all.push(candidate);
        }
    }
    all
}

/// A candidate at which another host hands on.
pub(crate) fn via(candidate: &str) -> String {
    format!("{VIA}{candidate}")
}

/// The endpoints to try, best first: a host on this computer is called over the loopback interface,
/// other hosts never before all else was tried; a detour comes last.
pub(crate) fn in_order(candidates: &[String], own: &[IpAddr]) -> Vec<Endpoint> {
    let parsed = candidates.iter().filter_map(|candidate| {
        let (relay, at) =
            candidate.strip_prefix(VIA).map_or((false, &**candidate), |at| (true, at));
        Some(Endpoint { at: at.parse().ok()?, relay })
    });
    let mut parsed: Vec<Endpoint> = parsed.take(CANDIDATES_MAX).collect();
    let outer = |endpoint: &Endpoint| !endpoint.relay && !endpoint.at.ip().is_loopback();
    let here = parsed.iter().any(|endpoint| outer(endpoint) && own.contains(&endpoint.at.ip()));
    parsed.sort_by_key(|endpoint| (endpoint.relay, endpoint.at.ip().is_loopback() != here));
    parsed
}

/// True where one of these is for other computers.
pub(crate) fn any_outward(candidates: &[String]) -> bool {
    let mut parsed = candidates.iter().filter_map(|at| at.parse::<SocketAddr>().ok());
    parsed.any(|at| is_outward(at.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_an_ssh_connection_are_found() {
        let ends = ends_in("192.0.2.7 50022 2001:db8::1%eth0 22").unwrap();
        assert_eq!(ends.0, IpAddr::from([192, 0, 2, 7]));
        assert_eq!(ends.1, "2001:db8::1".parse::<IpAddr>().unwrap());
        assert_eq!(
            ends_in("::ffff:10.0.0.1 1 10.0.0.2 22").unwrap().0,
            IpAddr::from([10, 0, 0, 1])
        );
        assert_eq!(ends_in("nonsense"), None);
    }

    #[test]
    fn loopback_is_first_for_a_host_on_this_computer_and_last_for_others() {
        let theirs =
            [via("10.0.0.9:9"), "10.0.0.1:7".into(), "127.0.0.1:8".into(), "nonsense".into()];
        let endpoints = |own| -> Vec<String> {
            let endpoints = in_order(&theirs, &[IpAddr::from(own)]);
            endpoints.iter().map(|endpoint| format!("{} {}", endpoint.at, endpoint.relay)).collect()
        };
        let (near, far, detour) = ("127.0.0.1:8 false", "10.0.0.1:7 false", "10.0.0.9:9 true");
        assert_eq!(endpoints([10, 0, 0, 1]), [near, far, detour]);
        assert_eq!(endpoints([10, 0, 0, 2]), [far, near, detour]);
    }

    #[test]
    fn what_means_nothing_elsewhere_is_not_told() {
        for inside in ["127.0.0.1", "::1", "fe80::1", "169.254.1.1", "0.0.0.0"] {
            assert!(!is_outward(inside.parse().unwrap()), "{inside}");
        }
        assert!(any_outward(&["127.0.0.1:1".into(), "10.0.0.1:1".into()]));
        assert!(!any_outward(&["127.0.0.1:1".into()]));
        let twice = [IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 1])];
        assert_eq!(candidates(twice, 5, Some(6)), ["10.0.0.1:5", "127.0.0.1:6"]);
    }

    #[tokio::test]
    async fn a_socket_for_others_takes_both_families_and_keeps_its_port() {
        let first = listen_outward(0).unwrap();
        let port = first.local_addr().unwrap().port();
        std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        drop(first);
        assert_eq!(listen_outward(port).unwrap().local_addr().unwrap().port(), port);
    }
}
