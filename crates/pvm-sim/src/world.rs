//! Time, and everything that happens in it.

use crate::agreement::Agreement;
use crate::check::Checks;
use crate::dice::Random;
use crate::link::{Links, Pair, pair};
use crate::node::{Node, facts};
use crate::show;
use crate::time::MS;
use pvm_core::io::{Act, Effect, Event, HostFacts, Input, News, Output};
use pvm_core::{Rules, Time};
use pvm_wire::hostfile::{HostLine, parse_line};
use pvm_wire::peer::PeerMessage;
use pvm_wire::request::{Failure, Reply, Request, Role};
use pvm_wire::{Blob, Code, HostIndex, Message, Tid};
use std::collections::{BTreeMap, BTreeSet};

/// The first host.
pub(crate) const FIRST: HostIndex = HostIndex(1);
const CONNECT_NS: u64 = 2 * MS;
const START_NS: u64 = 20 * MS;
const LAUNCH_NS: u64 = MS;
const FLUSH_NS: u64 = 3 * MS;
/// After which silence a host counts as dead.
const SILENCE_NS: u64 = 5000 * MS;
/// After which a link counts as broken on which nothing arrives.
const STALL_NS: u64 = 3000 * MS;
/// How often a host calls another that does not let it in.
const CALL_NS: u64 = 1000 * MS;
const WITNESS_NS: u64 = 100 * MS;

/// Something that is going to happen.
#[derive(Clone, Debug)]
pub enum Happening {
    /// The parent of a host has something for its machine.
    Event(HostIndex, Event),
    /// The shell of a host has.
    News(HostIndex, News),
    /// A message arrives, if the link that it was sent over still stands.
    Arrival {
        /// Sender.
        from: HostIndex,
        /// Receiver.
        to: HostIndex,
        /// The link.
        made: u64,
        /// The message.
        message: PeerMessage,
    },
    /// Two hosts are connected.
    Connected(Pair),
    /// A deleted host's link is given up.
    Disconnected(Pair),
    /// A cut link can be used again.
    Heal(Pair),
    /// The parent starts a daemon again.
    Restart(HostIndex),
    /// A launched program says hello.
    Enrol(HostIndex, Tid),
    /// A host has had no link to another for so long that it takes it for dead, unless there was
    /// one since this moment.
    Silence {
        /// Who.
        at: HostIndex,
        /// Whom.
        of: HostIndex,
        /// Since when.
        since: u64,
    },
    /// A host calls another that may have taken it out of its table.
    Call(HostIndex, HostIndex),
    /// A direction in which nothing arrives is noticed at both ends.
    Stalled(Pair),
    /// Somebody has made sure that a host is gone.
    Evidence(HostIndex),
}

/// Where a daemon crashes while it handles an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Crash {
    /// Before the parent has the effects.
    BeforeEffects,
    /// Between the effects and the acts.
    BeforeActs,
}

/// All hosts, links and processes.
#[derive(Debug, Default)]
pub struct World {
    now: u64,
    queue: BTreeMap<(u64, u64), Happening>,
    happening_count: u64,
    /// The hosts that live.
    pub nodes: BTreeMap<HostIndex, Node>,
    /// The links.
    pub links: Links,
    /// Whom each host's shell knows.
    known: BTreeMap<HostIndex, BTreeSet<HostIndex>>,
    /// Messages in inboxes, by task.
    pub inboxes: BTreeMap<Tid, Vec<Message>>,
    /// Answers, by host and connection.
    pub replies: BTreeMap<(HostIndex, u64), Vec<Reply>>,
    /// What was said and done, if it is wanted.
    pub journal: Option<Vec<String>>,
    /// The invariants.
    pub checks: Checks,
    /// Nanoseconds that a message takes; random runs change it.
    pub latency: u64,
    /// The next input of this host crashes its daemon.
    pub crash_next: BTreeMap<HostIndex, Crash>,
    /// Per mille of what the libraries that order say that is lost, and that comes twice.
    pub lossy: u64,
    /// Since when a host has had no link to another that it knows.
    silent: BTreeMap<(HostIndex, HostIndex), u64>,
    /// Hosts that others once had in their tables.
    ever_known: BTreeMap<HostIndex, BTreeSet<HostIndex>>,
    /// Who has which lock of the witness.
    witness: BTreeMap<u64, HostIndex>,
    agreement: Agreement,
    calls: BTreeSet<(HostIndex, HostIndex)>,
    rules: Option<Rules>,
    random: Random,
    seed: u64,
    busy_at: u64,
    /// Daemons that were started and have no place yet, by who started them and the ticket.
    newcomers: BTreeMap<(HostIndex, u64), HostFacts>,
    request_count: u32,
    start_count: u32,
    name: String,
}

impl World {
    /// A world with one host of this name.
    pub fn new(name: &str) -> Self {
        Self::seeded(name, 0, Rules::plain())
    }

    /// The same with all that is random from a seed, and with rules for two hosts.
    pub fn seeded(name: &str, seed: u64, rules: Rules) -> Self {
        let mut world = Self {
            latency: MS,
            name: name.to_owned(),
            seed,
            random: Random::new(seed ^ 0x5eed),
            rules: Some(rules),
            ..Self::default()
        };
        world.admit(FIRST, HostFacts { computer: name.into(), ..facts(name) });
        world
    }

    /// Two hosts may go on apart from each other.
    pub fn may_split(&mut self, may: bool) {
        self.agreement.may_split = may;
    }

    /// Nanoseconds since the beginning.
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// Notes something that will happen in `after` nanoseconds.
    pub fn later(&mut self, after: u64, happening: Happening) {
        self.happening_count += 1;
        self.queue.insert((self.now + after, self.happening_count), happening);
    }

    fn write(&mut self, line: impl FnOnce() -> Option<String>) {
        if let Some(journal) = &mut self.journal
            && let Some(line) = line()
        {
            journal.push(line);
        }
    }

    /// The facts of a daemon that a host file line starts, if there is such a computer: this one,
    /// or those whose names begin with `h`. `gN` is another name of `hN`.
    fn start(&mut self, line: &Blob) -> Option<HostFacts> {
        self.start_count += 1;
        let line = parse_line(&line.0).unwrap_or_else(|_| HostLine::named(self.name.as_str()));
        let name = line.host_name().to_text();
        let computer = match name.split_at_checked(1)? {
            ("g", number) => format!("h{number}"),
            ("h", _) => name.clone(),
            _ if name == self.name => name.clone(),
            _ => return None,
        };
        let key = format!("key {}", self.start_count).into();
        Some(HostFacts { key, computer: computer.into(), ..facts(&name) })
    }

    /// A host begins to live.
    fn admit(&mut self, host: HostIndex, facts: HostFacts) {
        if self.nodes.contains_key(&host) {
            self.checks.violate(format!("{}: place {host} has two owners", self.now));
        }
        let rules = self.rules.clone().unwrap_or_else(Rules::plain);
        self.nodes.insert(host, Node::new(host, FIRST, facts, (self.seed, rules)));
        self.drain(host, None);
        self.connect_all();
    }

    /// Runs what happens until `until`, or until nothing more happens.
    pub fn run_until(&mut self, until: u64) {
        while self.step(until) {}
        self.now = self.now.max(until);
    }

    /// Runs until nothing happens for a while, at most a minute.
    pub fn run_until_quiet(&mut self) {
        let end = self.now + 60_000 * MS;
        self.busy_at = self.now;
        while self.now < end && self.now < self.busy_at + 1000 * MS {
            if !self.step((self.busy_at + 1000 * MS).min(end)) {
                self.now = (self.busy_at + 1000 * MS).min(end);
            }
        }
    }

    fn next_timeout(&self) -> Option<(u64, HostIndex)> {
        let timeouts = self.nodes.iter().filter_map(|(&host, node)| {
            let at = node.machine.as_ref()?.poll_timeout()?.0;
            Some((at.max(self.now).max(node.paused_until), host))
        });
        timeouts.min()
    }

    /// The next thing up to `until`; false if there is none.
    pub fn step(&mut self, until: u64) -> bool {
        let timeout = self.next_timeout();
        let happening = self.queue.keys().next().map(|key| key.0);
        let next = [happening, timeout.map(|timeout| timeout.0)].into_iter().flatten().min();
        let Some(next) = next.filter(|&next| next <= until) else { return false };
        self.now = next;
        match timeout {
            Some((time, host)) if time <= next => {
                let node = self.nodes.get_mut(&host).expect("it has a timeout");
                if let Some(machine) = &mut node.machine {
                    machine.handle_timeout(Time(time));
                }
                self.drain(host, None);
            }
            _ => {
                if let Some((_, happening)) = self.queue.pop_first() {
                    let background = happening.is_background();
                    self.happen(happening);
                    if !background {
                        self.busy_at = self.now;
                    }
                }
            }
        }
        self.checks.look(self.now, &self.nodes);
        if let Some(wrong) = self.agreement.look(self.now, &self.nodes) {
            self.checks.violate(format!("{}: {wrong}", self.now));
        }
        true
    }

    fn happen(&mut self, happening: Happening) {
        let stopped = happening.target().and_then(|host| self.nodes.get(&host));
        if let Some(until) = stopped.map(|node| node.paused_until).filter(|&at| at > self.now) {
            return self.later(until - self.now, happening);
        }
        match happening {
            Happening::Event(host, event) => self.event(host, event),
            Happening::News(host, news) => self.input(host, Input::News(news)),
            Happening::Arrival { from, to, made, message } => {
                let arrives = self.links.made(from, to) == Some(made);
                if arrives && !self.links.is_deaf(from, to) {
                    self.input(to, Input::News(News::Said { host: from, message }));
                }
            }
            Happening::Connected(pair) => self.connected(pair),
            Happening::Disconnected(pair) => self.break_links(vec![pair]),
            Happening::Heal(pair) => {
                let deaf = self.links.is_cut(pair);
                self.links.heal(pair);
                if deaf {
                    // What was lost meanwhile breaks the connection.
                    self.break_links(vec![pair]);
                }
                self.connect_all();
            }
            Happening::Restart(host) => self.restart(host),
            Happening::Enrol(host, tid) => self.enrol(host, tid),
            Happening::Silence { at, of, since } => {
                if self.silent.get(&(at, of)) == Some(&since) && self.knows(at, of) {
                    self.input(at, Input::News(News::HostDead { host: of }));
                }
            }
            Happening::Call(from, to) => self.call(from, to),
            Happening::Stalled(pair) => {
                if self.links.is_cut(pair) {
                    self.break_links(vec![pair]);
                }
            }
            Happening::Evidence(host) => {
                let hosts: Vec<_> = self.nodes.keys().copied().collect();
                let mut again = false;
                for at in hosts {
                    let knows = self.knows(at, host);
                    again |= knows;
                    if knows && !self.links.is_cut(pair(at, host)) {
                        self.input(at, Input::News(News::HostGone { host }));
                    }
                }
                if again {
                    self.later(CALL_NS, Happening::Evidence(host));
                }
            }
        }
    }

    fn event(&mut self, host: HostIndex, event: Event) {
        let Some(node) = self.nodes.get_mut(&host) else { return };
        node.undone.push_back(event.clone());
        // Otherwise it waits for the daemon, behind those before it.
        if node.machine.is_some() {
            self.input(host, Input::Event(event));
        }
    }

    fn input(&mut self, host: HostIndex, input: Input) {
        let now = Time(self.now);
        let Some(node) = self.nodes.get_mut(&host) else { return };
        let Some(machine) = &mut node.machine else { return };
        let is_event = matches!(input, Input::Event(_));
        let fenced = match &input {
            Input::News(News::Said { host, .. }) if machine.is_joined() => {
                (!machine.is_member(*host)).then_some(*host)
            }
            _ => None,
        };
        machine.handle(now, input);
        if let Some(from) = fenced.filter(|_| machine.has_output()) {
            self.checks.violate(format!("{now:?}: {host} listens to {from}, which was taken out"));
        }
        match self.crash_next.remove(&host) {
            Some(Crash::BeforeEffects) => self.crash(host),
            crash => {
                if is_event {
                    node.undone.pop_front();
                }
                self.drain(host, crash);
            }
        }
    }

    /// Does what a machine has put out.
    fn drain(&mut self, host: HostIndex, crash: Option<Crash>) {
        let Some(machine) = self.nodes.get_mut(&host).and_then(|n| n.machine.as_mut()) else {
            return;
        };
        let outputs: Vec<Output> = std::iter::from_fn(|| machine.poll_output()).collect();
        let (mut effects, mut acts) = (Vec::new(), Vec::new());
        for output in outputs {
            match output {
                Output::Effect(effect) => effects.push(effect),
                Output::Act(act) => acts.push(act),
            }
        }
        let ends = effects.last() == Some(&Effect::End);
        for effect in effects.into_iter().filter(|effect| *effect != Effect::End) {
            self.write(|| show::effect(&effect).map(|line| format!("{host}: {line}")));
            self.effect(host, effect);
        }
        if crash.is_some() {
            return self.crash(host);
        }
        for act in acts {
            self.write(|| show::act(&act).map(|line| format!("{host}: {line}")));
            self.act(host, act);
        }
        if ends {
            self.write(|| Some(format!("{host}: end")));
            // What was said before is still sent: the link goes a little later.
            self.checks.host_ended(host, &self.nodes);
            self.nodes.remove(&host);
            for pair in self.links.of(host) {
                // The daemon says goodbye, behind everything else.
                let other = if pair.0 == host { pair.1 } else { pair.0 };
                let deaf = self.links.is_deaf(host, other);
                if self.links.made(host, other).is_some() && !deaf {
                    let at = self.links.arrival(host, other, self.now + self.latency);
                    let news = News::HostGone { host };
                    self.later(at - self.now, Happening::News(other, news));
                }
                self.later(50 * MS, Happening::Disconnected(pair));
            }
        }
    }

    fn effect(&mut self, host: HostIndex, effect: Effect) {
        self.checks.effect(self.now, host, &effect);
        let Some(node) = self.nodes.get_mut(&host) else { return };
        match effect {
            Effect::Save { key, value: Some(value) } => drop(node.records.insert(key, value)),
            Effect::Save { key, value: None } => drop(node.records.remove(&key)),
            Effect::Reply { connection, reply, .. } => {
                self.replies.entry((host, connection)).or_default().push(reply);
            }
            Effect::Enrol { connection, pid, welcome, .. } => {
                let Some(process) = node.processes.get_mut(&pid) else { return };
                process.tid = Some(welcome.tid);
                process.connection = Some(connection);
                if !process.tids.contains(&welcome.tid) {
                    process.tids.push(welcome.tid);
                }
            }
            Effect::Launch { launch } if launch.cookie != 0 => {
                self.find(host, launch.tid, launch.file);
            }
            Effect::Launch { launch } => self.launch(host, launch.tid, &launch.file),
            Effect::Signal { tid, .. } => {
                if let Some(pid) = node.process_of(tid) {
                    self.end_process(host, pid, 9);
                }
            }
            Effect::Deliver { to, message } => {
                self.inboxes.entry(to).or_default().push(message);
            }
            // Simulated tasks have no memory that they could expose.
            Effect::Ask { ticket, .. } => {
                let reply = Reply::Failed { code: Code::NotFound };
                let event = Event::Answered { ticket, reply };
                self.later(LAUNCH_NS, Happening::Event(host, event));
            }
            Effect::Forget { .. }
            | Effect::Feed { .. }
            | Effect::Log { .. }
            // No script asks for it: what a restart does is tested by crashes.
            | Effect::Upgrade { .. }
            | Effect::End => {}
        }
    }

    /// A program is looked for that a tasker will start.
    fn find(&mut self, host: HostIndex, tid: Tid, path: Blob) {
        let event = match path.0.as_slice() {
            b"missing" => Event::LaunchFailed { tid, code: Code::NoFile, tried: Vec::new() },
            _ => Event::Found { tid, path },
        };
        self.later(LAUNCH_NS, Happening::Event(host, event));
    }

    /// A program is started: `missing` does not exist, `mute` never enrols, all others do.
    fn launch(&mut self, host: HostIndex, tid: Tid, file: &Blob) {
        let Some(node) = self.nodes.get_mut(&host) else { return };
        if file.0 == b"missing" {
            let event = Event::LaunchFailed { tid, code: Code::NoFile, tried: vec!["/bin".into()] };
            return self.later(LAUNCH_NS, Happening::Event(host, event));
        }
        let pid = node.process(Some(tid));
        self.later(LAUNCH_NS, Happening::Event(host, Event::Launched { tid, pid }));
        if file.0 != b"mute" {
            self.later(2 * LAUNCH_NS, Happening::Enrol(host, tid));
        }
    }

    fn enrol(&mut self, host: HostIndex, tid: Tid) {
        let Some(node) = self.nodes.get_mut(&host) else { return };
        let Some(pid) = node.process_of(tid) else { return };
        let connection = node.connect(pid);
        self.hello(host, connection, pid, Role::Task, true);
    }

    fn hello(&mut self, host: HostIndex, connection: u64, pid: u32, role: Role, reset: bool) {
        self.request_count += 1;
        let id = self.request_count;
        let Some(node) = self.nodes.get_mut(&host) else { return };
        let launched = node.processes.get(&pid).and_then(|process| process.launched);
        self.checks.asked(self.now, (host, connection), id, None);
        let event =
            Event::Hello { connection, id, role, program: "program".into(), reset, pid, launched };
        self.later(0, Happening::Event(host, event));
    }

    /// A new process connects.
    pub fn connect(&mut self, host: HostIndex, role: Role) -> Option<u64> {
        let node = self.nodes.get_mut(&host)?;
        let pid = node.process(None);
        let connection = node.connect(pid);
        self.hello(host, connection, pid, role, true);
        Some(connection)
    }

    /// A process that has left says hello again.
    pub fn hello_again(&mut self, host: HostIndex, connection: u64) {
        let node = self.nodes.get(&host);
        if let Some(&pid) = node.and_then(|node| node.connections.get(&connection)) {
            self.hello(host, connection, pid, Role::Task, true);
        }
    }

    /// Somebody asks.
    pub fn request(&mut self, host: HostIndex, connection: u64, request: Request) {
        self.request_count += 1;
        let id = self.request_count;
        self.checks.asked(self.now, (host, connection), id, Some(&request));
        if request == Request::Leave
            && let Some(node) = self.nodes.get_mut(&host)
            && let Some(pid) = node.connections.get(&connection)
            && let Some(process) = node.processes.get_mut(pid)
        {
            process.tid = None;
        }
        self.later(0, Happening::Event(host, Event::Asked { connection, id, request }));
    }

    /// A process ends: its connection, its outputs, itself.
    pub fn end_process(&mut self, host: HostIndex, pid: u32, status: i32) {
        let Some(node) = self.nodes.get_mut(&host) else { return };
        let Some(process) = node.processes.remove(&pid) else { return };
        let connections: Vec<u64> =
            node.connections.iter().filter(|(_, of)| **of == pid).map(|(&c, _)| c).collect();
        node.connections.retain(|_, of| *of != pid);
        for connection in connections {
            self.checks.closed((host, connection));
            self.later(0, Happening::Event(host, Event::Closed { connection }));
        }
        if let Some(tid) = process.launched {
            self.later(0, Happening::Event(host, Event::OutputEnded { tid }));
        }
        for tid in process.tids {
            self.checks.ended(self.now, tid);
            self.later(0, Happening::Event(host, Event::Exited { tid, status }));
        }
    }

    /// A process closes its connection and lives on.
    pub fn disconnect(&mut self, host: HostIndex, connection: u64) {
        let Some(node) = self.nodes.get_mut(&host) else { return };
        if let Some(pid) = node.connections.remove(&connection)
            && let Some(process) = node.processes.get_mut(&pid)
        {
            process.connection = None;
            process.tid = None;
            self.checks.closed((host, connection));
            self.later(0, Happening::Event(host, Event::Closed { connection }));
        }
    }

    fn act(&mut self, host: HostIndex, act: Act) {
        match act {
            Act::Say { host: to, message } => self.send(host, to, message),
            Act::StartHost { ticket, line } => {
                let news = match self.start(&line) {
                    Some(facts) => {
                        self.newcomers.insert((host, ticket), facts.clone());
                        News::HostReady { ticket, facts }
                    }
                    None => {
                        let failure = Failure::of("no such name");
                        News::HostFailed { ticket, code: Code::NoHost, failure }
                    }
                };
                // Computers whose name begins with h1 take long.
                let pause = if line.0.starts_with(b"h1") { 5 * START_NS } else { START_NS };
                self.later(pause, Happening::News(host, news));
            }
            Act::Admit { ticket, host: new } => {
                if let Some(facts) = self.newcomers.remove(&(host, ticket)) {
                    self.admit(new, facts);
                }
            }
            Act::AskWitness { pair, .. } => {
                let owner = *self.witness.entry(pair).or_insert(host);
                let news = News::Witnessed { pair, granted: owner == host };
                self.later(WITNESS_NS, Happening::News(host, news));
            }
            // No messages of tasks cross here: the last one is always there a moment later.
            Act::Drain { tid, host: to } => {
                let news = News::Drained { tid, host: to };
                self.later(self.latency, Happening::News(host, news));
            }
            Act::Route { .. } | Act::ReleaseRoute { .. } | Act::Group { .. } => {}
            Act::Invite { ticket, line } => {
                let (login, command) = (line, Blob::from("start"));
                let (options, vmid) = (Blob::default(), Blob::default());
                let news = News::Invited { ticket, login, options, command, vmid };
                self.later(0, Happening::News(host, news));
            }
            // A hoster of the simulation answers with the line of the host that it has started.
            Act::HosterSaid { ticket, answer } => {
                self.act(host, Act::StartHost { ticket, line: answer });
            }
            Act::Token { .. } => panic!("no script asks for a token"),
            Act::Distrust { host: other } => {
                panic!("{host} distrusts {other}, which is a machine like all")
            }
            Act::Dismiss { key } => self.newcomers.retain(|_, facts| facts.key != key),
            Act::Flush => self.later(FLUSH_NS, Happening::News(host, News::Flushed)),
            Act::Hosts { hosts } => {
                let hosts: BTreeSet<_> = hosts.into_iter().map(|(host, _)| host).collect();
                self.ever_known.entry(host).or_default().extend(hosts.clone());
                let before = self.known.insert(host, hosts.clone()).unwrap_or_default();
                for &gone in before.difference(&hosts) {
                    self.silent.remove(&(host, gone));
                    // It may live: it is told as soon as it can be reached.
                    if self.calls.insert((gone, host)) {
                        self.later(CALL_NS, Happening::Call(gone, host));
                    }
                    self.later(50 * MS, Happening::Disconnected(pair(host, gone)));
                }
                for &new in hosts.difference(&before) {
                    self.note_silence(host, new);
                }
                self.connect_all();
            }
        }
    }

    /// A host begins to wait for a link to another.
    fn note_silence(&mut self, at: HostIndex, of: HostIndex) {
        if at != of && self.links.made(at, of).is_none() {
            let since = self.now;
            self.silent.insert((at, of), since);
            self.later(SILENCE_NS, Happening::Silence { at, of, since });
        }
    }

    /// A host is called by one that it has taken out: it tells it so.
    fn call(&mut self, from: HostIndex, to: HostIndex) {
        let lives = |host| self.nodes.get(&host).is_some_and(|node| node.machine.is_some());
        if !self.nodes.contains_key(&from) || self.knows(to, from) {
            return;
        }
        let era = self.nodes.get(&to).and_then(|node| Some(node.machine.as_ref()?.era()));
        match era {
            Some(era) if lives(from) && !self.links.is_cut(pair(from, to)) => {
                self.input(from, Input::News(News::Fenced { era }));
            }
            _ => {}
        }
        self.later(CALL_NS, Happening::Call(from, to));
    }

    fn send(&mut self, from: HostIndex, to: HostIndex, message: PeerMessage) {
        let Some(made) = self.links.made(from, to) else { return };
        self.write(|| show::peer(&message).map(|line| format!("{from} -> {to}: {line}")));
        if let PeerMessage::Quorum { .. } = &message {
            return self.send_loosely((from, to), made, message);
        }
        let at = self.links.arrival(from, to, self.now + self.latency);
        self.later(at - self.now, Happening::Arrival { from, to, made, message });
    }

    /// What may be lost, repeated and overtaken.
    fn send_loosely(
        &mut self,
        (from, to): (HostIndex, HostIndex),
        made: u64,
        message: PeerMessage,
    ) {
        let mut copies = 1;
        let mut delay = self.latency;
        if self.lossy > 0 {
            match self.random.below(1000) {
                draw if draw < self.lossy => copies = 0,
                draw if draw < 2 * self.lossy => copies = 2,
                _ => {}
            }
            delay += self.random.below(3 * self.latency);
        }
        for copy in 0..copies {
            let message = message.clone();
            let after = delay * (1 + copy);
            self.later(after, Happening::Arrival { from, to, made, message });
        }
    }

    fn knows(&self, a: HostIndex, b: HostIndex) -> bool {
        self.known.get(&a).is_some_and(|known| known.contains(&b))
    }

    /// Connects everybody who knows one another and is not connected.
    fn connect_all(&mut self) {
        let live: Vec<_> = self
            .nodes
            .iter()
            .filter(|(_, node)| node.machine.is_some())
            .map(|(&host, _)| host)
            .collect();
        for (at, &a) in live.iter().enumerate() {
            for &b in &live[at + 1..] {
                // One that joins knows nobody yet; those who know it connect.
                let wanted = match (self.known.contains_key(&a), self.known.contains_key(&b)) {
                    (true, true) => self.knows(a, b) && self.knows(b, a),
                    _ => self.knows(a, b) || self.knows(b, a),
                };
                if wanted && self.links.connect((a, b)) {
                    self.later(CONNECT_NS, Happening::Connected((a, b)));
                }
                for (a, b) in [(a, b), (b, a)] {
                    let was = self.ever_known.get(&b).is_some_and(|known| known.contains(&a));
                    if self.knows(a, b) && !self.knows(b, a) && was && self.calls.insert((a, b)) {
                        self.later(CALL_NS, Happening::Call(a, b));
                    }
                }
            }
        }
    }

    fn connected(&mut self, pair: Pair) {
        let stopped = |host| self.nodes.get(&host).is_some_and(|n| n.paused_until > self.now);
        if stopped(pair.0) || stopped(pair.1) {
            return self.later(CALL_NS / 5, Happening::Connected(pair));
        }
        let lives = |host| self.nodes.get(&host).is_some_and(|node| node.machine.is_some());
        if !lives(pair.0) || !lives(pair.1) {
            self.links.break_off(pair);
        } else if self.links.connected(pair) {
            self.silent.remove(&pair);
            self.silent.remove(&(pair.1, pair.0));
            self.input(pair.0, Input::News(News::LinkUp { host: pair.1 }));
            self.input(pair.1, Input::News(News::LinkUp { host: pair.0 }));
        }
    }

    fn break_links(&mut self, pairs: Vec<Pair>) {
        for pair in pairs {
            if self.links.break_off(pair) {
                for (at, of) in [pair, (pair.1, pair.0)] {
                    self.note_silence(at, of);
                    self.later(0, Happening::News(at, News::LinkDown { host: of }));
                }
            }
        }
    }

    /// Nothing passes between two hosts for a while.
    pub fn cut(&mut self, a: HostIndex, b: HostIndex, heal_after: Option<u64>) {
        let pair = pair(a, b);
        self.links.cut(pair);
        self.break_links(vec![pair]);
        if let Some(after) = heal_after {
            self.later(after, Happening::Heal(pair));
        }
    }

    /// A daemon dies; its parent starts it again soon.
    pub fn crash(&mut self, host: HostIndex) {
        let Some(node) = self.nodes.get_mut(&host) else { return };
        if node.paused_until > self.now {
            // What waits for it would find another daemon.
            return;
        }
        self.write(|| Some(format!("{host}: (its daemon crashes)")));
        let Some(node) = self.nodes.get_mut(&host) else { return };
        if node.machine.take().is_some() {
            self.break_links(self.links.of(host));
            self.later(80 * MS, Happening::Restart(host));
        }
    }

    fn restart(&mut self, host: HostIndex) {
        let Some(node) = self.nodes.get_mut(&host) else { return };
        if node.machine.is_some() {
            return;
        }
        node.restart();
        for of in self.known.get(&host).cloned().unwrap_or_default() {
            self.note_silence(host, of);
        }
        self.drain(host, None);
        let Some(node) = self.nodes.get_mut(&host) else { return };
        for event in std::mem::take(&mut node.undone) {
            self.event(host, event);
        }
        self.connect_all();
    }

    /// A whole host dies, with everything on it: nothing is heard of it any more.
    pub fn kill(&mut self, host: HostIndex) {
        self.write(|| Some(format!("{host}: (it dies)")));
        self.checks.host_ended(host, &self.nodes);
        if self.nodes.remove(&host).is_some() {
            self.break_links(self.links.of(host));
        }
    }

    /// True once nobody has a host in its table that is dead.
    pub fn is_digested(&self) -> bool {
        let machines = self.nodes.values().filter_map(|node| node.machine.as_ref());
        machines
            .flat_map(|machine| machine.members())
            .all(|(host, _)| self.nodes.contains_key(&host))
    }

    /// The fewest hosts that any host knows of.
    pub fn fewest_members(&self) -> usize {
        let machines = self.nodes.values().filter_map(|node| node.machine.as_ref());
        machines.map(|machine| machine.members().len()).min().unwrap_or(0)
    }

    /// A death, but its computer lives: after this time somebody is sure that it is gone.
    pub fn kill_seen(&mut self, host: HostIndex, after: u64) {
        self.kill(host);
        self.later(after, Happening::Evidence(host));
    }

    /// The daemon of a host is stopped for a while.
    pub fn pause(&mut self, host: HostIndex, nanoseconds: u64) {
        self.write(|| Some(format!("{host}: (it is stopped for {} ms)", nanoseconds / MS)));
        if let Some(node) = self.nodes.get_mut(&host) {
            node.paused_until = self.now + nanoseconds;
        }
    }

    /// What one host says does not arrive at another for a while.
    pub fn deafen(&mut self, from: HostIndex, to: HostIndex, heal_after: u64) {
        self.links.deafen(from, to);
        let pair = pair(from, to);
        self.later(STALL_NS, Happening::Stalled(pair));
        self.later(heal_after, Happening::Heal(pair));
    }
}

impl Happening {
    /// What nobody waits for.
    fn is_background(&self) -> bool {
        matches!(
            self,
            Self::Arrival { message: PeerMessage::Quorum { .. }, .. }
                | Self::Silence { .. }
                | Self::Call(..)
                | Self::Stalled(..)
                | Self::Evidence(..)
        )
    }

    /// The daemon that it is for.
    const fn target(&self) -> Option<HostIndex> {
        match self {
            Self::Event(host, _) | Self::News(host, _) => Some(*host),
            Self::Arrival { to, .. } => Some(*to),
            Self::Silence { at, .. } => Some(*at),
            Self::Call(from, _) => Some(*from),
            _ => None,
        }
    }
}
