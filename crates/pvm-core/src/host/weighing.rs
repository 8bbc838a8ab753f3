//! Questions to hosts about their load, asked when tasks are to go to the least loaded ones.
//!
//! A count of tasks that came with the host table would be old, and cost all hosts a message for
//! each task that starts or ends anywhere.

use super::{Handler, SECOND_NS};
use crate::deadline::Deadline;
use crate::pending::{Asker, Question, SpawnStart, Weighing};
use crate::speed;
use pvm_wire::HostIndex;
use pvm_wire::Tid;
use pvm_wire::peer::Said;
use pvm_wire::request::{HostLoad, Reply, Request, SpawnRequest};

/// A host that does not say within this how busy it is gets no tasks.
const LOAD_NS: u64 = 2 * SECOND_NS;

impl Handler<'_> {
    /// The load of this host. Tasks that `reset` spares do not count: they are consoles and
    /// services that wait.
    pub(super) fn load(&self) -> HostLoad {
        let facts = self.agreed.hosts().facts(self.me());
        HostLoad {
            host: self.me(),
            tasks: u32::try_from(self.host.tasks.tids_where(|task| task.reset).len())
                .unwrap_or(u32::MAX),
            cores: facts.map_or(1, |facts| facts.cores),
            speed: facts.map_or(speed::USUAL, |facts| facts.speed),
        }
    }

    /// Asks the hosts that fit; what is to be started is started when all have answered.
    pub(super) fn weigh(
        &mut self,
        start: SpawnStart,
        spawn: SpawnRequest,
        fitting: Vec<HostIndex>,
    ) {
        let weighing = self.host.pending.number();
        let me = self.me();
        let loads = if fitting.contains(&me) { vec![self.load()] } else { Vec::new() };
        let others: Vec<_> = fitting.into_iter().filter(|&host| host != me).collect();
        let open = u32::try_from(others.len()).expect("there are at most 4095 hosts");
        self.host.pending.weighings.insert(weighing, Weighing { start, spawn, loads, open });
        if open == 0 {
            return self.weighed(weighing);
        }
        let deadline = Deadline::At(self.after(LOAD_NS));
        for host in others {
            let asker = Asker::Load { weighing, host };
            let ask = self.question(Question { asker, host, deadline });
            self.say(host, Said::Ask { ask, asker: Tid::NONE, request: Request::Load });
        }
    }

    /// A host has told how busy it is, or does not.
    pub(super) fn load_told(&mut self, weighing: u64, host: HostIndex, reply: Reply) {
        let Some(waiting) = self.host.pending.weighings.get_mut(&weighing) else { return };
        waiting.open -= 1;
        if let Reply::Load { load } = reply {
            // It speaks for itself only.
            waiting.loads.push(HostLoad { host, ..load });
        }
        if waiting.open == 0 {
            self.weighed(weighing);
        }
    }

    fn weighed(&mut self, weighing: u64) {
        let Some(Weighing { start, spawn, mut loads, .. }) =
            self.host.pending.weighings.remove(&weighing)
        else {
            return;
        };
        loads.retain(|load| {
            self.agreed.hosts().contains(load.host) && !self.agreed.hosts().is_draining(load.host)
        });
        let count = usize::try_from(spawn.count).unwrap_or(0);
        let hosts = self.host.placement.choose_by_load(&loads, count);
        self.start_on(start, spawn, hosts);
    }
}
