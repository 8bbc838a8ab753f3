//! The surroundings of a daemon: its parent's events and its shell's news go in, its effects and
//! acts are done.

use super::happening::{Crash, Happening};
use super::network::CALL_NS;
use super::processes::LAUNCH_NS;
use super::{FIRST, World};
use crate::clock::Clock;
use crate::host_set::HostSet;
use crate::link::pair;
use crate::node::{Node, facts};
use crate::show;
use crate::tally::Fault;
use crate::time::MS;
use pvm_core::io::{Act, Effect, Event, HostFacts, HostList, Input, News, Output};
use pvm_core::{Rules, Time};
use pvm_wire::hostfile::{HostLine, parse_line};
use pvm_wire::request::{Failure, Reply};
use pvm_wire::{Blob, Code, HostIndex};

const START_NS: u64 = 20 * MS;
const FLUSH_NS: u64 = 3 * MS;
const WITNESS_NS: u64 = 100 * MS;

impl World {
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
    pub(super) fn admit(&mut self, host: HostIndex, facts: HostFacts) {
        if self.nodes.contains_key(&host) {
            self.checks.violate(format!("{}: place {host} has two owners", self.now));
        }
        let rules = self.rules.clone().unwrap_or_else(Rules::plain);
        let mut node = Node::new(host, FIRST, facts, (self.seed, rules), self.limits);
        node.clock = Clock::draw(&mut self.clocks, self.skew);
        if self.skew > 0 {
            self.tally.note(Fault::WrongClock);
        }
        self.nodes.insert(host, node);
        self.drain(host, None);
        self.connect_of(host);
    }

    pub(super) fn event(&mut self, host: HostIndex, event: Event) {
        let Some(node) = self.nodes.get_mut(&host) else { return };
        node.undone.push_back(event.clone());
        // Otherwise it waits for the daemon, behind those before it.
        if node.machine.is_some() {
            self.input(host, Input::Event(event));
        }
    }

    pub(super) fn input(&mut self, host: HostIndex, input: Input) {
        let now = self.now;
        let Some(node) = self.nodes.get_mut(&host) else { return };
        let shown = Time(node.clock.shows(now));
        let Some(machine) = &mut node.machine else { return };
        let is_event = matches!(input, Input::Event(_));
        let fenced = match &input {
            Input::News(News::Said { host, .. }) if machine.is_joined() => {
                (!machine.is_member(*host)).then_some(*host)
            }
            _ => None,
        };
        machine.handle(shown, input);
        if let Some(from) = fenced.filter(|_| machine.has_output()) {
            self.checks.violate(format!("{now}: {host} listens to {from}, which was taken out"));
        }
        match self.crash_next.remove(&host) {
            Some(Crash::BeforeEffects) => {
                self.tally.note(Fault::CrashBeforeEffects);
                self.crash(host);
            }
            crash => {
                if is_event {
                    node.undone.pop_front();
                }
                self.drain(host, crash);
            }
        }
    }

    /// Does what a machine has put out.
    pub(super) fn drain(&mut self, host: HostIndex, crash: Option<Crash>) {
        self.touched.insert(host);
        let Some(machine) = self.nodes.get_mut(&host).and_then(|n| n.machine.as_mut()) else {
            return;
        };
        let (mut effects, mut acts) = (Vec::new(), Vec::new());
        while let Some(output) = machine.poll_output() {
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
            self.tally.note(Fault::CrashBeforeActs);
            return self.crash(host);
        }
        for act in acts {
            self.write(|| show::act(&act).map(|line| format!("{host}: {line}")));
            self.act(host, act);
        }
        if ends {
            self.write(|| Some(format!("{host}: end")));
            // Earlier messages are still sent: the link goes a little later.
            self.checks.host_ended(host, &self.nodes);
            let node = self.nodes.remove(&host);
            if let Some(wrong) = node.and_then(|node| self.agreement.compare(host, &node)) {
                self.checks.violate(format!("{}: {wrong}", self.now));
            }
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
        if let (Effect::Deliver { to, message }, Some(machine)) = (&effect, &node.machine) {
            self.checks.delivered(self.now, machine, *to, message.envelope.tag);
        }
        match effect {
            Effect::Save { key, value } => node.save(key, value, &mut self.archive),
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
            | Effect::Hold { .. }
            // No script asks for it: what a restart does is tested by crashes.
            | Effect::Upgrade { .. }
            | Effect::End => {}
        }
    }

    fn act(&mut self, host: HostIndex, act: Act) {
        match act {
            Act::Say { host: to, message } => {
                self.checks.says(self.now, host, to, &message);
                self.send(host, to, message);
            }
            Act::Near { hosts } => {
                let others: Vec<_> = hosts.iter().copied().collect();
                self.near.insert(host, hosts);
                self.connect_some(host, &others);
                others.into_iter().for_each(|other| self.note_silence(host, other));
            }
            Act::Reach { host: other } => self.reach(host, other),
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
            Act::AskWitness { witness, pair } => {
                let owner = *self.witness.entry((witness.clone(), pair)).or_insert(host);
                let news = News::Witnessed { witness, pair, granted: owner == host };
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
            Act::Hosts { hosts, only } => self.told_hosts(host, hosts, only),
        }
    }

    /// A host has another list of hosts now.
    fn told_hosts(&mut self, host: HostIndex, hosts: HostList, only: Option<HostIndex>) {
        let first = !self.known.contains_key(&host);
        let known = self.known.entry(host).or_default();
        let (gone, new) = match only {
            Some(only) => update(known, &hosts, std::iter::once(only)),
            None => update(known, &hosts, (0..=HostIndex::MAX.0).map(HostIndex)),
        };
        let ever_known = self.ever_known.entry(host).or_default();
        new.iter().for_each(|new| _ = ever_known.insert(*new));
        self.share_facts(host, only);
        for &gone in &gone {
            self.silent.remove(&(host, gone));
            self.reaching.remove(&(host, gone));
            // It may live: it is told as soon as it can be reached.
            if self.calls.insert((gone, host)) {
                self.later(CALL_NS, Happening::Call(gone, host));
            }
            self.later(50 * MS, Happening::Disconnected(pair(host, gone)));
        }
        let changed = [gone, new].concat();
        if first {
            self.connect_of(host);
        } else {
            self.connect_some(host, &changed);
        }
    }

    /// The facts of all hosts, or of one, that this host knows are those that others keep.
    fn share_facts(&mut self, host: HostIndex, only: Option<HostIndex>) {
        let machine = self.nodes.get_mut(&host).and_then(|node| node.machine.as_mut());
        let Some(machine) = machine else { return };
        match only {
            Some(only) => self.archive.share(machine, only),
            None => machine.members().hosts().for_each(|of| self.archive.share(machine, of)),
        }
    }
}

/// Makes a set what it is to be, as far as these hosts are concerned; what went, and what came.
fn update(
    set: &mut HostSet,
    wanted: &HostList,
    hosts: impl Iterator<Item = HostIndex>,
) -> (Vec<HostIndex>, Vec<HostIndex>) {
    let (mut gone, mut new) = (Vec::new(), Vec::new());
    for host in hosts {
        if wanted.contains(host) {
            if set.insert(host) {
                new.push(host);
            }
        } else if set.remove(host) {
            gone.push(host);
        }
    }
    (gone, new)
}
