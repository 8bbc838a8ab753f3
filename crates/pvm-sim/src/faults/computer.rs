//! A computer with three of seven hosts dies at once.
//!
//! Five vote: as they are spread over computers, at most two of them were there, and the rest goes
//! on.

use super::{Run, SECOND};
use crate::time::MS;
use crate::world::FIRST;
use pvm_wire::HostIndex;
use pvm_wire::request::{Request, Role};

/// Four computers with a host each.
const OTHERS: [&str; 4] = ["h2", "h3", "h4", "h5"];

impl Run {
    pub(super) fn computer(&mut self) -> Result<(), String> {
        let here = self.hosts();
        let Some(operator) = self.world.connect(FIRST, Role::Operator) else { return Ok(()) };
        self.go(10 * MS)?;
        let hosts = OTHERS.map(Into::into).to_vec();
        self.world.request(FIRST, operator, Request::AddHosts { hosts });
        self.go(8 * SECOND)?;
        for host in here {
            self.world.kill(host);
        }
        let left: Vec<HostIndex> = self.hosts();
        if left.len() != OTHERS.len() {
            return Err(format!("{} hosts were added", left.len()));
        }
        self.go(6 * SECOND)?;
        for host in left {
            if !self.is_served(host)? {
                return Err(format!("host {host} puts nothing after a computer died"));
            }
        }
        Ok(())
    }
}
