//! The hosts to which there is a link, and those to which there was one.

use pvm_wire::HostIndex;
use std::collections::BTreeSet;

/// The links of this host. They are not stored: the shell tells them again after a restart.
#[derive(Debug, Default)]
pub(crate) struct Links {
    up: BTreeSet<HostIndex>,
    /// Links that were up and broke.
    lost: BTreeSet<HostIndex>,
}

impl Links {
    /// True where there is a link.
    pub(crate) fn is_up(&self, host: HostIndex) -> bool {
        self.up.contains(&host)
    }

    /// True where the link broke.
    pub(crate) fn is_lost(&self, host: HostIndex) -> bool {
        self.lost.contains(&host)
    }

    pub(super) fn set_up(&mut self, host: HostIndex) {
        self.up.insert(host);
        self.lost.remove(&host);
    }

    pub(super) fn set_down(&mut self, host: HostIndex) {
        if self.up.remove(&host) {
            self.lost.insert(host);
        }
    }

    /// The link was closed by agreement, or the host is no member any more.
    pub(super) fn forget(&mut self, host: HostIndex) {
        self.up.remove(&host);
        self.lost.remove(&host);
    }
}
