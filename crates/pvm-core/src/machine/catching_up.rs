//! A member that has missed more of the order than anybody keeps gets what the commands have made.
//!
//! What it knew is replaced, not added to: what is gone meanwhile is in no record. Whoever waits here for
//! what those commands did is told what can be told: hosts that are gone are gone, and what has become of a
//! command of this host that was among them is not known.

use super::Machine;
use crate::io::Act;
use crate::notify::HOST_ADD;
use crate::planted::{self, Bug};
use pvm_wire::request::Failure;
use pvm_wire::{Blob, Code, HostIndex, Tid, Wire as _};

impl Machine {
    /// The state after the command with this number, instead of the older one that is known here.
    pub(super) fn catch_up(&mut self, number: u64, state: &[u8]) {
        let Ok(records) = Vec::<(Blob, Blob)>::from_bytes(state) else { return };
        let seats = self.consensus.seats_in(&records);
        let gone = self.consensus.members().into_iter().filter(|member| !seats.contains(member));
        let gone: Vec<HostIndex> = gone.map(|member| member.host()).collect();
        if gone.contains(&self.me()) {
            self.log("this host was taken out of the machine".to_owned());
            self.ending = true;
            return;
        }
        self.log("this host has missed much and begins anew with what the others know".to_owned());
        let before = self.hosts.indices();
        if !planted::is(Bug::CatchesUpByAdding) {
            for host in gone {
                self.forget_seat(host);
                self.host_gone(host);
            }
            self.hosts.clear();
            self.registry.clear_all();
            self.groups.clear();
            self.consensus.clear_agreed();
        }
        self.adopt_all(&records);
        self.consensus.start_from(number);
        self.tell_hosts();
        let new = self.hosts.indices().into_iter().filter(|host| !before.contains(host));
        for host in new.collect::<Vec<_>>() {
            self.host_is_new(host);
        }
        self.end_own();
        self.tell_all();
        self.alone_now();
    }

    pub(super) fn host_is_new(&mut self, host: HostIndex) {
        self.say_what_waited(host);
        let id = Tid::host_id(host).as_c_int();
        for watch in self.watches.host_added() {
            debug_assert_eq!(watch.kind, HOST_ADD);
            self.deliver_notice(&watch, &[1, id]);
        }
    }

    /// Commands of this host that were among those that it has missed.
    fn end_own(&mut self) {
        for mark in self.consensus.take_missed() {
            if let Some(proposal) = self.pending.proposals.remove(&mark) {
                self.fail(proposal.asker, Code::HostFail);
            } else if let Some(start) = self.pending.starts.get(&mark) {
                let key = start.facts.as_ref().map(|facts| facts.key.clone());
                let host = key.as_ref().and_then(|key| self.hosts.of_key(key));
                let start = self.pending.starts.remove(&mark);
                match (host, start) {
                    (Some(host), Some(start)) => self.start_is_in(&start, mark, host),
                    (None, Some(start)) => {
                        key.into_iter().for_each(|key| self.act(Act::Dismiss { key }));
                        let why = Failure::of("what became of it is not known");
                        self.not_added(start.addition, start.place, Code::HostFail, why);
                    }
                    (_, None) => {}
                }
            }
        }
        self.wait_for_pieces();
    }

    /// Whoever waits for something that all have applied.
    fn tell_all(&mut self) {
        self.groups.show_all();
        self.show_groups();
        for host in self.hosts.indices() {
            self.tell_held(host);
        }
        self.tell_awaiting();
        self.tell_onlookers();
        for name in self.pending.names_wanted() {
            self.wake_readers(&name);
        }
        self.serve_held();
    }
}
