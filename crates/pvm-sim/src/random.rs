//! A random run from a seed: tasks that ask for all sorts of things, and faults among them.

pub use crate::dice::Random;
use crate::link::pair;
use crate::tally::Tally;
use crate::time::MS;
use crate::world::{Crash, FIRST, Happening, World};
use pvm_core::Rules;
use pvm_core::io::Event;
use pvm_wire::request::{
    Inherited, LEAST_LOADED, Request, Role, SpawnRequest, Target, TraceOptions,
};
use pvm_wire::{Address, Blob, Envelope, HostIndex, Message, Tid};

/// Hosts that a run may have at most.
const HOST_COUNT_MAX: usize = 6;
/// Living tasks that a run may have at most.
const TASK_COUNT_MAX: usize = 40;

/// The inheritance from a task without settings, with its output for `tid`.
pub fn inherited(tid: Tid) -> Inherited {
    let output = Target { tid, context: 0, tag: 7 };
    let nobody = Target { tid: Tid::NONE, context: 0, tag: 0 };
    let trace = TraceOptions { target: nobody, buffer: 0, options: 0, mask: Blob::default() };
    Inherited { context: 0, output, trace }
}

/// A spawn call of `file`.
pub fn spawn_of(file: &str, count: i32, flags: i32, place: &str, output: Tid) -> SpawnRequest {
    SpawnRequest {
        file: file.into(),
        args: Vec::new(),
        flags,
        place: place.into(),
        count,
        environment: Vec::new(),
        whole_environment: false,
        directory: Blob::default(),
        inherited: inherited(output),
    }
}

struct Run {
    world: World,
    random: Random,
    tag: i32,
    /// Ids that ever were, to be asked about.
    tids: Vec<Tid>,
}

/// A run of `steps` random things, and the faults among them. With `journal` the conversation is
/// written down there.
///
/// # Errors
/// The invariant that did not hold.
pub fn run(seed: u64, steps: u32, journal: Option<&mut Vec<String>>) -> Result<Tally, String> {
    let world = World::seeded("vm", seed, Rules::plain());
    let mut run = Run { world, random: Random::new(seed), tag: 1000, tids: Vec::new() };
    run.world.journal = journal.as_ref().map(|_| Vec::new());
    let outcome = run.all(steps);
    if let (Some(journal), Some(lines)) = (journal, run.world.journal) {
        *journal = lines;
    }
    outcome.map(|()| run.world.tally)
}

impl Run {
    fn all(&mut self, steps: u32) -> Result<(), String> {
        self.add_hosts();
        for _ in 0..steps {
            self.anything();
            let pause = self.random.below(30) * MS;
            self.world.run_until(self.world.now() + pause);
            if let Some(violation) = self.world.checks.violation() {
                return Err(violation.to_owned());
            }
        }
        self.end()
    }

    /// Everything heals, and after a while nothing may be left undone.
    fn end(&mut self) -> Result<(), String> {
        for (a, b) in self.world.links.cuts() {
            self.world.later(0, Happening::Heal(pair(a, b)));
        }
        self.world.crash_next.clear();
        self.world.run_until(self.world.now() + 110_000 * MS);
        self.world.checks.settle();
        self.world.checks.violation().map_or(Ok(()), |violation| Err(violation.to_owned()))
    }

    fn hosts(&self) -> Vec<HostIndex> {
        self.world.nodes.keys().copied().collect()
    }

    /// Enrolled tasks that wait for nothing: host, connection, id.
    fn idle(&self) -> Vec<(HostIndex, u64, Tid)> {
        let tasks = self.world.nodes.iter().flat_map(|(&host, node)| {
            node.tasks().map(move |(connection, tid)| (host, connection, tid))
        });
        tasks.filter(|task| !self.world.checks.is_waiting((task.0, task.1))).collect()
    }

    fn add_hosts(&mut self) {
        let Some(operator) = self.world.connect(FIRST, Role::Operator) else { return };
        self.world.run_until(self.world.now() + 10 * MS);
        let count = u32::try_from(self.random.below(3)).unwrap_or(0) + 1;
        self.world.request(FIRST, operator, Request::AddLocal { count });
        self.world.run_until(self.world.now() + 100 * MS);
    }

    fn anything(&mut self) {
        for (_, _, tid) in self.idle() {
            if !self.tids.contains(&tid) {
                self.tids.push(tid);
            }
        }
        match self.random.below(100) {
            0..4 => self.trouble(),
            4..8 => self.operator(),
            8..18 => {
                let host = self.random.pick(&self.hosts());
                if let Some(host) = host.filter(|_| self.idle().len() < TASK_COUNT_MAX) {
                    self.world.connect(host, Role::Task);
                }
            }
            18..26 => self.end_task(),
            _ => {
                if let Some((host, connection, tid)) = self.random.pick(&self.idle()) {
                    self.ask(host, connection, tid);
                }
            }
        }
    }

    /// Something breaks.
    fn trouble(&mut self) {
        let hosts = self.hosts();
        let (Some(a), Some(b)) = (self.random.pick(&hosts), self.random.pick(&hosts)) else {
            return;
        };
        match self.random.below(12) {
            0..3 => self.world.crash(a),
            3 => drop(self.world.crash_next.insert(a, Crash::BeforeEffects)),
            4..6 => drop(self.world.crash_next.insert(a, Crash::BeforeActs)),
            6..9 if a != b => {
                let heal = (100 + self.random.below(3000)) * MS;
                self.world.cut(a, b, Some(heal));
            }
            9 => self.world.latency = (1 + self.random.below(40)) * MS,
            // One after the other; the first host, too.
            10 if hosts.len() > 1 && self.world.is_digested() => {
                self.world.kill_seen(a, 300 * MS);
            }
            _ => {}
        }
    }

    /// A command comes, asks, and goes at some time.
    fn operator(&mut self) {
        let Some(host) = self.random.pick(&self.hosts()) else { return };
        let Some(connection) = self.world.connect(host, Role::Operator) else { return };
        self.world.run_until(self.world.now() + 2 * MS);
        let there = self.hosts().len() < HOST_COUNT_MAX;
        let request = match self.random.below(14) {
            0..2 if there => Request::AddLocal { count: 1 },
            2..5 if there => self.add_request(),
            5..7 => Request::DelHosts { hosts: vec![self.host_name()] },
            7 | 8 => Request::DrainHosts { hosts: vec![self.host_name()] },
            9 => Request::Reset { kill: true },
            10 => Request::Groups,
            _ => Request::Run { spawn: spawn_of("worker", 2, 0, "", Tid::NONE) },
        };
        self.world.request(host, connection, request);
        if self.random.below(3) == 0 {
            self.world.run_until(self.world.now() + 5 * MS);
            let node = self.world.nodes.get(&host);
            if let Some(&pid) = node.and_then(|node| node.connections.get(&connection)) {
                self.world.end_process(host, pid, 0);
            }
        }
    }

    /// The name of a host that may be a member: `vm.2` on the first computer, `h5` elsewhere.
    fn host_name(&mut self) -> Blob {
        let number = self.random.below(6);
        let first = self.random.pick(&["vm.", "h"]).unwrap_or("h");
        format!("{first}{number}").into()
    }

    /// Some hosts to be added, two of them perhaps on one computer, some not at all. Now and then
    /// another request adds hosts at the same time.
    fn add_request(&mut self) -> Request {
        let mut lines = Vec::new();
        for _ in 0..=self.random.below(2) {
            let number = self.random.below(6);
            let line = match self.random.below(8) {
                0 => "nosuch".to_owned(),
                1 => format!("g{number} sp=500"),
                2 => "local".to_owned(),
                _ => format!("h{number}"),
            };
            lines.push(Blob::from(line));
        }
        let request = Request::AddHosts { hosts: lines };
        if self.random.below(2) == 0
            && let Some(host) = self.random.pick(&self.hosts())
            && let Some(connection) = self.world.connect(host, Role::Operator)
        {
            self.world.run_until(self.world.now() + 2 * MS);
            self.world.request(host, connection, request.clone());
        }
        request
    }

    /// Somewhere, at a host that may be there, or where there is least to do.
    fn spawn_somewhere(&mut self, file: &str, count: i32, output: Tid) -> SpawnRequest {
        let place = self.host_name().to_text();
        let flags = self.random.pick(&[0, 0, 1, 33, LEAST_LOADED]).unwrap_or(0);
        spawn_of(file, count, flags, &place, output)
    }

    fn end_task(&mut self) {
        let Some((host, connection, tid)) = self.random.pick(&self.idle()) else { return };
        match self.random.below(6) {
            0 => {
                self.world.checks.ended(self.world.now(), tid);
                self.world.request(host, connection, Request::Leave);
                self.world.run_until(self.world.now() + 2 * MS);
                if self.random.below(2) == 0 {
                    self.world.hello_again(host, connection);
                }
            }
            1 => {
                self.world.checks.ended(self.world.now(), tid);
                self.world.disconnect(host, connection);
            }
            _ => {
                let node = self.world.nodes.get(&host);
                if let Some(pid) = node.and_then(|node| node.process_of(tid)) {
                    self.world.end_process(host, pid, 0);
                }
            }
        }
    }

    fn ask(&mut self, host: HostIndex, connection: u64, tid: Tid) {
        let other = self.random.pick(&self.tids).unwrap_or(tid);
        let name = |random: &mut Random| Blob::from(if random.below(2) == 0 { "a" } else { "b" });
        let request = match self.random.below(20) {
            0..4 if self.idle().len() < TASK_COUNT_MAX => {
                let file =
                    self.random.pick(&["worker", "worker", "missing", "mute"]).unwrap_or("worker");
                let count = i32::try_from(self.random.below(4)).unwrap_or(0);
                let output = if self.random.below(2) == 0 { tid } else { Tid::NONE };
                Request::Spawn { spawn: self.spawn_somewhere(file, count, output) }
            }
            4..8 => {
                self.tag += 1;
                self.world.checks.watch(tid, self.tag, other);
                let tids = vec![other];
                Request::Notify {
                    kind: 1,
                    cancel: false,
                    context: 0,
                    tag: self.tag,
                    count: 0,
                    tids,
                }
            }
            8..10 => Request::JoinGroup { group: name(&mut self.random) },
            10 => Request::LeaveGroup { group: name(&mut self.random) },
            11 => Request::Barrier { group: name(&mut self.random), count: 2 },
            12 => Request::GroupMembers { group: name(&mut self.random) },
            13..15 => {
                let flags = self.random.pick(&[0, 1, 2, 4, 3]).unwrap_or(0);
                let message =
                    Message::of_ints(Envelope::new(tid, Address::untagged(tid)), &[flags]);
                Request::PutInfo { name: name(&mut self.random), flags, message }
            }
            15 => {
                let flags = self.random.pick(&[0, 8, 16, 24, 32, 48]).unwrap_or(0);
                Request::RecvInfo { name: name(&mut self.random), index: 0, flags, context: 0 }
            }
            16 => Request::Tasks { place: Tid::NONE },
            17 => Request::TaskStatus { tid: other },
            18 => Request::Signal { tid: other, signal: 15 },
            _ => {
                let node = self.world.nodes.get(&host);
                let launched = node
                    .and_then(|node| node.process_of(tid))
                    .and_then(|pid| self.world.nodes.get(&host)?.processes.get(&pid)?.launched);
                if let Some(tid) = launched {
                    let piece = self.world.checks.writes(tid);
                    let bytes = format!("{piece}\npart").into();
                    let event = Event::Wrote { tid, stream: 1, bytes };
                    self.world.later(0, Happening::Event(host, event));
                }
                Request::Config
            }
        };
        self.world.request(host, connection, request);
    }
}
