//! The choice of hosts for new tasks.
//!
//! The order of the hosts, how many tasks each gets and where the turn goes on are the
//! original's, found by asking it (`conformance/facts.md`). What is ours: hosts that are being
//! drained get nothing, and [`LEAST_LOADED`].

use crate::agreed::Hosts;
use crate::records::{Change, Slot};
use pvm_wire::request::HostLoad;
use pvm_wire::{Blob, HostIndex};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) use pvm_wire::request::LEAST_LOADED;

/// `PvmTaskHost`: the place is a host.
pub(crate) const TASK_HOST: i32 = 1;
/// `PvmTaskArch`: the place is an architecture.
pub(crate) const TASK_ARCH: i32 = 2;
/// `PvmTaskDebug`: run it under a debugger.
pub(crate) const TASK_DEBUG: i32 = 4;
/// `PvmHostCompl`: every host except the hosts that the other flags choose.
pub(crate) const HOST_COMPLEMENT: i32 = 32;
/// `PvmNoSpawnParent`: the children shall not know their parent.
pub(crate) const NO_SPAWN_PARENT: i32 = 64;

// `PvmMppFront` (16) says something only of hosts that are parallel computers themselves.

/// Goes round over the hosts.
#[derive(Debug)]
pub(crate) struct Placement {
    me: HostIndex,
    /// The host whose turn it is, or the next one that fits.
    next: Slot<HostIndex>,
}

impl Placement {
    pub(crate) const fn new(me: HostIndex) -> Self {
        let after = if me.0 < HostIndex::MAX.0 { HostIndex(me.0 + 1) } else { HostIndex(1) };
        Self { me, next: Slot::new(b'r', after) }
    }

    /// A host for each of `count` tasks; empty if no host fits.
    pub(crate) fn choose(
        &mut self,
        hosts: &Hosts,
        flags: i32,
        place: &Blob,
        count: usize,
    ) -> Vec<HostIndex> {
        let turn = self.in_turn(self.fitting(hosts, flags, place));
        let mut chosen = Vec::with_capacity(count);
        for (at, &host) in turn.iter().enumerate() {
            let upto = |hosts: usize| (hosts * count).div_ceil(turn.len());
            let share =
                if count < turn.len() { usize::from(at < count) } else { upto(at + 1) - upto(at) };
            chosen.extend(std::iter::repeat_n(host, share));
        }
        // Full rounds end where they began.
        self.go_on(&turn, if count < turn.len() { count } else { 0 });
        chosen
    }

    /// Hosts for `count` tasks, chosen by the loads that the hosts have told.
    pub(crate) fn choose_by_load(&mut self, loads: &[HostLoad], count: usize) -> Vec<HostIndex> {
        let known: BTreeMap<HostIndex, &HostLoad> =
            loads.iter().map(|load| (load.host, load)).collect();
        let turn = self.in_turn(known.keys().copied().collect());
        let mut tasks: Vec<u64> = turn.iter().map(|host| known[host].tasks.into()).collect();
        let busy = |at: usize, tasks: u64| {
            let load = known[&turn[at]];
            let power =
                u128::from(load.cores.max(1)) * u128::from(load.speed.max(1).unsigned_abs());
            (u128::from(tasks + 1) << 64) / power
        };
        let mut queue: BTreeSet<(u128, usize)> =
            tasks.iter().enumerate().map(|(at, &tasks)| (busy(at, tasks), at)).collect();
        let mut shares = vec![0; turn.len()];
        let mut last = 0;
        for _ in 0..count {
            let Some((_, at)) = queue.pop_first() else { break };
            shares[at] += 1;
            tasks[at] += 1;
            last = at;
            queue.insert((busy(at, tasks[at]), at));
        }
        self.go_on(&turn, (last + 1) % turn.len().max(1));
        let chosen = turn.iter().zip(shares);
        chosen.flat_map(|(&host, share)| std::iter::repeat_n(host, share)).collect()
    }

    /// The hosts of the table in the order of the turn.
    fn in_turn(&self, mut hosts: Vec<HostIndex>) -> Vec<HostIndex> {
        let next = *self.next.get();
        let start = hosts.iter().position(|&host| host >= next).unwrap_or(0);
        hosts.rotate_left(start);
        hosts
    }

    fn go_on(&mut self, turn: &[HostIndex], at: usize) {
        if let Some(&host) = turn.get(at) {
            self.next.set(host);
        }
    }

    /// The hosts that fit, by index.
    pub(crate) fn fitting(&self, hosts: &Hosts, flags: i32, place: &Blob) -> Vec<HostIndex> {
        let complement = flags & HOST_COMPLEMENT != 0;
        let named = if place.0 == b"." { Some(self.me) } else { hosts.named(place) };
        let fits = |host: HostIndex, arch: &Blob| {
            if flags & TASK_HOST != 0 {
                Some(host) == named
            } else {
                flags & TASK_ARCH == 0 || arch == place
            }
        };
        hosts
            .iter()
            .filter(|&(host, facts)| fits(host, &facts.arch) != complement)
            .map(|(host, _)| host)
            .filter(|&host| !hosts.is_draining(host))
            .collect()
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.next.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.next.restore(key, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreed::Agreed;
    use pvm_wire::peer::{Command, HostFacts};

    const NOT: i32 = HOST_COMPLEMENT;

    fn hosts(count: usize) -> Agreed {
        let mut agreed = Agreed::new();
        for number in 1..=count {
            let (name, arch) = (format!("h{number}").into(), "LINUX64".into());
            let facts = HostFacts { name, arch, ..HostFacts::default() };
            agreed.apply(1, Command::AddHost { facts, again: true });
        }
        assert_eq!(agreed.hosts().count(), count);
        agreed
    }

    /// Calls as (flags, place, how many), with the hosts that the original chose.
    fn check(hosts: &Hosts, calls: &[(i32, &str, usize, &[u16])]) {
        let mut placement = Placement::new(HostIndex(1));
        for &(flags, place, count, expected) in calls {
            let chosen = placement.choose(hosts, flags, &place.into(), count);
            let chosen: Vec<u16> = chosen.into_iter().map(|host| host.0).collect();
            assert_eq!(chosen, expected, "{flags} {place} {count}");
        }
    }

    #[test]
    fn goes_round_over_three_hosts_as_the_original_does() {
        let calls: &[(i32, &str, usize, &[u16])] = &[
            (0, "", 1, &[2]),
            (0, "", 1, &[3]),
            (0, "", 7, &[1, 1, 1, 2, 2, 3, 3]),
            (0, "ignored", 2, &[1, 2]),
            (TASK_HOST, "h2", 3, &[2, 2, 2]),
            (0, "", 3, &[2, 3, 1]),
            (TASK_HOST, ".", 2, &[1, 1]),
            (TASK_HOST, "no-such-host", 2, &[]),
            (TASK_HOST | NOT, "h2", 5, &[1, 1, 1, 3, 3]),
            (TASK_HOST | NOT, ".", 4, &[2, 2, 3, 3]),
            (TASK_HOST | NOT, "no-such-host", 4, &[2, 2, 3, 1]),
            (TASK_ARCH, "LINUX64", 4, &[2, 2, 3, 1]),
            (TASK_ARCH, "CRAY", 2, &[]),
            (TASK_ARCH | NOT, "LINUX64", 2, &[]),
            (TASK_ARCH | NOT, "CRAY", 4, &[2, 2, 3, 1]),
            (0, "", 4, &[2, 2, 3, 1]),
        ];
        check(hosts(3).hosts(), calls);
    }

    #[test]
    fn goes_round_over_five_hosts_as_the_original_does() {
        let calls: &[(i32, &str, usize, &[u16])] = &[
            (0, "", 2, &[2, 3]),
            (0, "", 3, &[4, 5, 1]),
            (0, "", 7, &[2, 2, 3, 4, 4, 5, 1]),
            (0, "", 1, &[2]),
            (0, "", 8, &[3, 3, 4, 4, 5, 1, 1, 2]),
            (0, "", 2, &[3, 4]),
            (0, "", 11, &[5, 5, 5, 1, 1, 2, 2, 3, 3, 4, 4]),
            (0, "", 2, &[5, 1]),
            (TASK_HOST, "h4", 1, &[4]),
            (0, "", 1, &[4]),
            (0, "", 1, &[5]),
            (TASK_HOST | NOT, "h2", 1, &[1]),
            (0, "", 1, &[3]),
            (TASK_HOST | NOT, "h3", 4, &[4, 5, 1, 2]),
            (TASK_HOST | NOT, "h1", 3, &[4, 5, 2]),
            (0, "", 1, &[3]),
            (NOT, "", 3, &[]),
            (TASK_HOST | TASK_ARCH, "h3", 2, &[3, 3]),
            (TASK_HOST | TASK_ARCH, "LINUX64", 2, &[]),
            (TASK_HOST | TASK_ARCH | NOT, "LINUX64", 2, &[3, 4]),
            (TASK_HOST, "", 2, &[]),
            (TASK_ARCH, "linux64", 1, &[]),
        ];
        check(hosts(5).hosts(), calls);
    }

    #[test]
    fn a_drained_host_gets_nothing_also_not_by_its_name() {
        let mut hosts = hosts(3);
        hosts.apply(2, Command::DrainHost { host: HostIndex(2), on: true });
        let calls: &[(i32, &str, usize, &[u16])] = &[
            (0, "", 3, &[3, 3, 1]),
            (TASK_HOST, "h2", 1, &[]),
            (TASK_HOST | NOT, "h1", 2, &[3, 3]),
        ];
        check(hosts.hosts(), calls);
    }

    #[test]
    fn the_least_loaded_are_those_with_cores_and_speed_to_spare() {
        let load =
            |host, tasks, cores, speed| HostLoad { host: HostIndex(host), tasks, cores, speed };
        let mut placement = Placement::new(HostIndex(1));
        let mut choose = |loads: &[HostLoad], count| -> Vec<u16> {
            let chosen = placement.choose_by_load(loads, count);
            chosen.into_iter().map(|host| host.0).collect()
        };
        assert_eq!(
            choose(&[load(1, 0, 1, 1000), load(2, 3, 1, 1000), load(3, 1, 1, 1000)], 3),
            [3, 1, 1]
        );
        // Four cores take four times as many, a host of half the speed half as many.
        assert_eq!(choose(&[load(1, 0, 4, 1000), load(2, 0, 1, 1000)], 5), [2, 1, 1, 1, 1]);
        let halves = [load(1, 0, 2, 500), load(2, 0, 2, 1000)];
        assert_eq!(choose(&halves, 3), [2, 2, 1]);
        // All alike: in turn.
        assert_eq!(choose(&[load(1, 0, 1, 0), load(2, 0, 0, 1), load(3, 0, 1, -3)], 2).len(), 2);
        assert_eq!(choose(&[], 2), [0; 0]);
    }
}
