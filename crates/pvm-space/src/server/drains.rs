//! Hosts that are to be left (`pvm del --drain`): their servers move their spaces, and end.

use super::{LOOK_FOR_DRAINS, Server};
use crate::starting;
use pvm_tuples::partition::{Event, may_leave};
use pvm_wire::Code;
use std::time::Instant;

impl Server {
    /// Looks from time to time which hosts are to be left.
    pub(super) fn look_for_drains(&mut self) -> Result<(), Code> {
        if self.partitions.is_empty() || self.looked.elapsed() < LOOK_FOR_DRAINS {
            return Ok(());
        }
        self.looked = Instant::now();
        let hosts = match starting::hosts(self.task) {
            Ok(hosts) => hosts,
            Err(Code::SysErr) => return Err(Code::SysErr),
            // The machine cannot answer now.
            Err(_) => return Ok(()),
        };
        let draining = hosts.iter().filter(|host| host.is_draining).map(|host| host.index);
        let draining = draining.collect();
        if self.draining == draining {
            return Ok(());
        }
        self.draining = draining;
        self.tell_all(&Event::Draining { hosts: self.draining.clone() })
    }

    /// Tells a new partition which hosts are to be left, and carries out its outputs.
    pub(super) fn tell_draining(&mut self, space: u64) -> Result<(), Code> {
        if self.draining.is_empty() {
            return self.carry_out(space);
        }
        self.tell(space, Event::Draining { hosts: self.draining.clone() })
    }

    /// True if this host is to be left and all its spaces live on other servers, so that copies
    /// take over when this server has ended.
    pub(super) fn has_moved(&self) -> bool {
        self.draining.contains(&self.task.tid().host()) && self.partitions.values().all(may_leave)
    }
}
