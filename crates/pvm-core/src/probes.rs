//! Questions of other hosts whether this one hears a host to which the link rests: a link is made
//! first.

use crate::pending::Asker;
use pvm_wire::HostIndex;

/// The time for which a host that is asked waits for the link.
pub(crate) const REACH_NS: u64 = 400_000_000;

/// The open questions. None of them is stored, because the asker does not wait long.
#[derive(Debug, Default)]
pub(crate) struct Probes(Vec<Probe>);

#[derive(Debug)]
struct Probe {
    of: HostIndex,
    asker: Asker,
    until: u64,
}

impl Probes {
    /// A link to this host is being made, to answer this.
    pub(crate) fn add(&mut self, of: HostIndex, asker: Asker, until: u64) {
        self.0.push(Probe { of, asker, until });
    }

    /// There is a link to this host: the askers that wait for it.
    pub(crate) fn take_reached(&mut self, host: HostIndex) -> Vec<Asker> {
        self.0.extract_if(.., |probe| probe.of == host).map(|probe| probe.asker).collect()
    }

    /// The askers about hosts to which there was no link in time.
    pub(crate) fn take_overdue(&mut self, now: u64) -> Vec<Asker> {
        self.0.extract_if(.., |probe| probe.until <= now).map(|probe| probe.asker).collect()
    }

    pub(crate) fn next_time(&self) -> Option<u64> {
        self.0.iter().map(|probe| probe.until).min()
    }
}
