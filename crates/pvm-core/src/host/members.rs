//! The members, as all of them know them.

use super::{Handler, OrderInput};
use crate::io::Act;
use crate::pending::Asker;
use pvm_wire::peer::{Command, Said};
use pvm_wire::request::{HostInfo, Reply};
use pvm_wire::{Blob, Code, HostIndex, Tid};

impl Handler<'_> {
    /// The hosts, as programs and commands are shown them.
    pub(super) fn host_infos(&self) -> Vec<HostInfo> {
        let mut infos = self.agreed.hosts().infos();
        for info in &mut infos {
            info.suspected = self.order.hearing().is_lost(info.tid.host());
        }
        infos
    }

    /// Tells the members to the shell and to the order of commands.
    pub(super) fn tell_hosts(&mut self) {
        self.tell_shell_hosts();
        self.tell_order_hosts();
    }

    /// A host is in or out.
    pub(super) fn tell_changed(&mut self, host: HostIndex) {
        self.act(Act::Hosts { hosts: self.agreed.hosts().list(), only: Some(host) });
        self.tell_order(OrderInput::Changed { host });
    }

    pub(super) fn tell_shell_hosts(&mut self) {
        self.act(Act::Hosts { hosts: self.agreed.hosts().list(), only: None });
    }

    pub(super) fn tell_order_hosts(&mut self) {
        let computer = |host| Some((host, self.agreed.hosts().facts(host)?.computer.clone()));
        let computers = self.agreed.hosts().indices().into_iter().filter_map(computer).collect();
        self.tell_order(OrderInput::Hosts { computers });
    }

    /// The shell opened other addresses: all hosts are to know of them.
    pub(super) fn addresses_changed(&mut self, addresses: Vec<String>) {
        let host = self.me();
        if self.agreed.hosts().facts(host).is_some_and(|facts| facts.addresses != addresses) {
            self.propose(Asker::Nobody, Command::SetAddresses { host, addresses });
        }
    }

    pub(super) fn host_status(&mut self, asker: Asker, name: &Blob) {
        let host = if name.0 == b"." { Some(self.me()) } else { self.agreed.hosts().named(name) };
        let status = match host {
            None => Err(Code::NoHost),
            Some(host) if self.order.hearing().is_lost(host) => Err(Code::HostFail),
            Some(_) => Ok(()),
        };
        self.answer_done(asker, status);
    }

    pub(super) fn reset(&mut self, asker: Asker, tid: Tid, kill: bool) {
        self.log("the machine was reset".to_owned());
        if kill {
            self.say_to_all(&Said::Reset { asker: tid });
            self.kill_tasks(tid);
        }
        self.propose(asker, Command::ClearNames);
    }

    pub(super) fn halt(&mut self, asker: Asker) {
        let first = self.host.halt.begin();
        if first {
            self.log("the machine was halted".to_owned());
        }
        self.answer(asker, Reply::Done);
        if first {
            self.say_to_all(&Said::Halt);
        }
    }
}
