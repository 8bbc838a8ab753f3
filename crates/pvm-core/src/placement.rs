//! Which hosts new tasks go to.

use crate::hosts::Hosts;
use crate::records::{Change, Slot};
use pvm_wire::{Blob, HostIndex};

/// `PvmTaskHost`: the place is a host.
pub(crate) const TASK_HOST: i32 = 1;
/// `PvmTaskArch`: the place is an architecture.
const TASK_ARCH: i32 = 2;
/// `PvmTaskDebug`: run it under a debugger.
pub(crate) const TASK_DEBUG: i32 = 4;
/// `PvmHostCompl`: every host but those that the other flags choose.
const HOST_COMPLEMENT: i32 = 32;
/// `PvmNoSpawnParent`: the children shall not know who spawned them.
pub(crate) const NO_SPAWN_PARENT: i32 = 64;

/// Goes round over the hosts, on from the one that was used last.
#[derive(Debug)]
pub(crate) struct Placement {
    me: HostIndex,
    last: Slot<HostIndex>,
}

impl Placement {
    pub(crate) const fn new(me: HostIndex) -> Self {
        Self { me, last: Slot::new(b'r', me) }
    }

    /// A host for each of `count` tasks; empty if no host fits.
    pub(crate) fn choose(
        &mut self,
        hosts: &Hosts,
        flags: i32,
        place: &Blob,
        count: usize,
    ) -> Vec<HostIndex> {
        let fitting = self.fitting(hosts, flags, place);
        let last = *self.last.get();
        if fitting.is_empty() {
            return Vec::new();
        }
        let start = fitting.iter().position(|&host| host > last).unwrap_or(0);
        let chosen: Vec<_> = fitting.iter().cycle().skip(start).take(count).copied().collect();
        // A host that was named leaves the turn as it is.
        if let (true, Some(&host)) = (flags & TASK_HOST == 0, chosen.last()) {
            self.last.set(host);
        }
        chosen
    }

    fn fitting(&self, hosts: &Hosts, flags: i32, place: &Blob) -> Vec<HostIndex> {
        let complement = flags & HOST_COMPLEMENT != 0;
        if flags & TASK_HOST != 0 {
            let named = if place.0 == b"." { Some(self.me) } else { hosts.named(place) };
            return hosts
                .indices()
                .into_iter()
                .filter(|&host| (Some(host) == named) != complement)
                .collect();
        }
        if flags & TASK_ARCH != 0 {
            return hosts
                .iter()
                .filter(|(_, facts)| (facts.arch == *place) != complement)
                .map(|(host, _)| host)
                .collect();
        }
        hosts.indices()
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.last.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.last.restore(key, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::peer::HostFacts;

    fn three() -> Hosts {
        let mut hosts = Hosts::new();
        for (name, arch) in [("a", "LINUX64"), ("b", "LINUX64"), ("c", "SUN4")] {
            hosts.add(HostFacts {
                name: name.into(),
                arch: arch.into(),
                signature: 0,
                cores: 1,
                speed: 1000,
                address: String::new(),
                key: Blob::default(),
                search: Vec::new(),
            });
        }
        hosts
    }

    #[test]
    fn goes_round_from_the_last_one_used_and_obeys_the_place() {
        let hosts = three();
        let mut placement = Placement::new(HostIndex(1));
        let mut choose = |flags, place: &str, count| -> Vec<u16> {
            let chosen = placement.choose(&hosts, flags, &place.into(), count);
            chosen.into_iter().map(|host| host.0).collect()
        };
        assert_eq!(choose(0, "", 2), [2, 3]);
        assert_eq!(choose(0, "", 2), [1, 2]);
        assert_eq!(choose(TASK_HOST, "c", 2), [3, 3]);
        assert_eq!(choose(TASK_HOST, ".", 1), [1]);
        assert_eq!(choose(TASK_HOST, "", 1), [0; 0]);
        assert_eq!(choose(TASK_HOST | HOST_COMPLEMENT, ".", 2), [3, 2]);
        assert_eq!(choose(TASK_ARCH, "SUN4", 1), [3]);
        assert_eq!(choose(TASK_ARCH | HOST_COMPLEMENT, "SUN4", 1), [1]);
        assert_eq!(choose(0, "", 1), [2]);
    }
}
