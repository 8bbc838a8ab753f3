//! Daemons that crash and come back or stand still, and hosts that die.

use super::World;
use super::happening::Happening;
use super::network::CALL_NS;
use crate::link::pair;
use crate::node::Node;
use crate::tally::Fault;
use crate::time::MS;
use pvm_core::io::{Input, News};
use pvm_wire::HostIndex;

impl World {
    /// A daemon dies; its parent starts it again soon.
    pub fn crash(&mut self, host: HostIndex) {
        let Some(node) = self.nodes.get_mut(&host) else { return };
        if node.paused_until > self.now {
            // Waiting events would find another daemon.
            return;
        }
        self.write(|| Some(format!("{host}: (its daemon crashes)")));
        self.touched.insert(host);
        let Some(node) = self.nodes.get_mut(&host) else { return };
        if node.machine.take().is_some() {
            self.tally.note(Fault::Crash);
            self.break_links(self.links.of(host));
            self.later(80 * MS, Happening::Restart(host));
        }
    }

    pub(super) fn restart(&mut self, host: HostIndex) {
        let Some(node) = self.nodes.get_mut(&host) else { return };
        if node.machine.is_some() {
            return;
        }
        node.restart();
        for of in self.known.get(&host).cloned().unwrap_or_default().iter() {
            self.silent.remove(&(host, of));
            self.note_silence(host, of);
        }
        self.drain(host, None);
        let Some(node) = self.nodes.get_mut(&host) else { return };
        for event in std::mem::take(&mut node.undone) {
            self.event(host, event);
        }
        self.connect_of(host);
    }

    /// A whole host dies, with everything on it: nothing is heard of it any more.
    pub fn kill(&mut self, host: HostIndex) {
        self.write(|| Some(format!("{host}: (it dies)")));
        self.touched.insert(host);
        self.checks.host_ended(host, &self.nodes);
        if self.nodes.remove(&host).is_some() {
            self.tally.note(Fault::Death);
            self.break_links(self.links.of(host));
        }
    }

    /// A death, but its computer lives: after this time another host is sure that it is gone.
    pub fn kill_seen(&mut self, host: HostIndex, after: u64) {
        self.kill(host);
        self.later(after, Happening::Evidence(host));
    }

    /// The daemon of a host is stopped for a while, unless it is or there is none: what waits for
    /// it keeps its order.
    pub fn pause(&mut self, host: HostIndex, nanoseconds: u64) {
        let stops = |node: &Node| node.machine.is_some() && node.paused_until <= self.now;
        if !self.nodes.get(&host).is_some_and(stops) {
            return;
        }
        self.tally.note(Fault::Pause);
        self.write(|| Some(format!("{host}: (it is stopped for {} ms)", nanoseconds / MS)));
        self.touched.insert(host);
        if let Some(node) = self.nodes.get_mut(&host) {
            node.paused_until = self.now + nanoseconds;
        }
    }

    /// A virtual machine is stopped for a while, its clock as well; when it goes on, what others
    /// say comes only with the kernels' next tries, so its own tasks are heard first.
    pub fn halt(&mut self, host: HostIndex, nanoseconds: u64, tries: u64) {
        let until = self.now + nanoseconds;
        self.pause(host, nanoseconds);
        let Some(node) = self.nodes.get_mut(&host) else { return };
        if node.paused_until == until {
            node.clock.stop(self.now, nanoseconds);
            node.hears_from = until + tries;
            self.tally.note(Fault::StoppedClock);
        }
    }

    /// Hosts that can ask hear that a host is gone, again until no host has it in its table.
    pub(super) fn evidence(&mut self, host: HostIndex) {
        let hosts: Vec<_> = self.nodes.keys().copied().collect();
        let mut again = false;
        for at in hosts {
            let knows = self.knows(at, host);
            again |= knows;
            // One that is stopped hears it when it goes on.
            let stopped = self.nodes.get(&at).is_some_and(|node| node.paused_until > self.now);
            let reaches = self.wants(at, host) && !self.links.is_cut(pair(at, host));
            if knows && reaches && !stopped {
                self.input(at, Input::News(News::HostGone { host }));
            }
        }
        if again {
            self.later(CALL_NS, Happening::Evidence(host));
        }
    }
}
