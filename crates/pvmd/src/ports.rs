//! The sockets on which a daemon is called.
//!
//! A machine that is on one computer only listens on its loopback interface; from the first host
//! elsewhere on its hosts listen on all interfaces too.

use crate::addresses;
use crate::link::Links;
use anyhow::Result;

/// The ports; 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ports {
    /// On the loopback interface.
    pub(crate) inside: u16,
    /// On all interfaces.
    pub(crate) outward: u16,
}

/// The ports to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// For hosts on this computer.
    Inside,
    /// For all.
    Outward,
}

impl Ports {
    /// Opens the ports that were open before, or one anew.
    pub(crate) fn open(links: &Links, before: Option<Self>, reach: Reach) -> Result<Self> {
        let mut ports = Self::default();
        let before = before.unwrap_or_default();
        if before.inside != 0 || (before.outward == 0 && reach == Reach::Inside) {
            ports.open_inside(links, before.inside)?;
        }
        if before.outward != 0 || reach == Reach::Outward {
            ports.open_outward(links, before.outward)?;
        }
        Ok(ports)
    }

    fn open_inside(&mut self, links: &Links, port: u16) -> Result<()> {
        let listener = addresses::listen_inside(port)?;
        self.inside = listener.local_addr()?.port();
        links.listen(listener)
    }

    /// Opens one for other computers.
    pub(crate) fn open_outward(&mut self, links: &Links, port: u16) -> Result<()> {
        let listener = addresses::listen_outward(port)?;
        self.outward = listener.local_addr()?.port();
        links.listen(listener)
    }

    /// The addresses at which they are reached, best first.
    pub(crate) fn addresses(self) -> Vec<String> {
        let seen = addresses::of_ssh().map(|(_, server)| server);
        let seen = seen.filter(|address| addresses::is_outward(*address));
        let outer = seen.into_iter().chain(addresses::of_interfaces());
        let inside = if self.inside == 0 { self.outward } else { self.inside };
        let outer = outer.take(if self.outward == 0 { 0 } else { usize::MAX });
        addresses::candidates(outer, self.outward, Some(inside))
    }

    /// The addresses for a host elsewhere: those for all, at one port.
    pub(crate) fn invitation(self) -> Vec<String> {
        addresses::candidates(addresses::of_interfaces(), self.outward, Some(self.outward))
    }

    /// The address for a host on this computer.
    pub(crate) fn inside(self) -> String {
        let port = if self.inside == 0 { self.outward } else { self.inside };
        format!("127.0.0.1:{port}")
    }
}
