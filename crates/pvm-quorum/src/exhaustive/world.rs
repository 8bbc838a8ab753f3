//! A few members, the messages between them, and the steps that may come next.

use super::host::{ADD, Host, REMOVE, number_of, place};
use crate::frame::{Frame, Word};
use crate::limits::Limits;
use pvm_core::Time;
use pvm_core::quorum::{Member, Quorum as _, QuorumInput, Voting};
use pvm_wire::{Blob, Wire as _};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

const MS: u64 = 1_000_000;
/// A clock goes in steps of an election timeout: a lease ends within one, a leader gives up after
/// two.
pub(super) const STEP_NS: u64 = 810 * MS;
const BEGIN_NS: u64 = 1000 * STEP_NS;

/// The number of times that each event may happen.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct Bounds {
    pub(super) crashes: u8,
    pub(super) cuts: u8,
    pub(super) proposals: u8,
    /// Linearizable reads.
    pub(super) reads: u8,
    pub(super) resigns: u8,
    /// Members that live and are taken out.
    pub(super) removals: u8,
    /// Hosts that die for ever. Only a leader of three or more is without one.
    pub(super) deaths: u8,
    /// A leader asks the other voters before it takes out a member.
    pub(super) asks: bool,
    /// Messages of a direction that may be under way.
    pub(super) wire: usize,
    /// Messages also arrive after the end of the connection over which they were sent.
    pub(super) late: bool,
    /// Due timeouts may be handled late, after other steps.
    pub(super) lazy: bool,
    /// New terms in an era.
    pub(super) terms: u64,
    /// The log keeps so few entries that a member that lags behind gets the state.
    pub(super) short: bool,
}

impl Bounds {
    fn limits(&self) -> Limits {
        match self.short {
            true => Limits { cut_count: 2, lag_bytes: 200, ..Limits::USUAL },
            false => Limits::USUAL,
        }
    }
}

/// Something that may happen.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// The clock of a host goes on.
    Tick(u8),
    /// The timeout that a core asked for has come, some time ago perhaps.
    Timer(u8),
    Hear(u8, u8, usize),
    /// More messages are under way than may be: this one is lost.
    Lose(u8, u8, usize),
    Crash(u8),
    /// A host dies, and everything on it is lost.
    Die(u8),
    Cut(u8, u8),
    Notice(u8, u8),
    Meet(u8, u8),
    /// A host takes the other one of two for dead, and the witness hears its question.
    Suspect(u8),
    /// The witness's answer arrives.
    Answer(u8),
    Propose(u8),
    /// The leader takes out a member.
    Remove(u8, u8),
    Read(u8),
    Resign(u8),
}

#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) hosts: Vec<Rc<Host>>,
    /// The messages under way, in no sequence.
    pub(super) wires: BTreeMap<(u8, u8), Vec<Rc<Frame>>>,
    /// Pairs of hosts that could talk, the lower one first.
    pub(super) links: BTreeSet<(u8, u8)>,
    pub(super) has_witness: bool,
    /// The host that the witness lets go on.
    pub(super) owner: Option<u8>,
    pub(super) left: Bounds,
    /// The commands that any host has applied, by number.
    pub(super) committed: BTreeMap<u64, u8>,
    /// The leader of each term.
    pub(super) leaders: BTreeMap<u64, u8>,
    /// The events of the last step, to be counted.
    pub(super) seen: Vec<&'static str>,
    /// The term at the beginning.
    first_term: u64,
    wrong: Option<String>,
}

fn pair(a: u8, b: u8) -> (u8, u8) {
    (a.min(b), a.max(b))
}

impl World {
    /// `count` hosts that are members and at rest; the first one leads.
    pub(super) fn of(count: u8, has_witness: bool, left: Bounds) -> Self {
        let mut world = Self {
            hosts: (0..count).map(|_| Rc::new(Host::new(BEGIN_NS, left.limits()))).collect(),
            wires: BTreeMap::new(),
            links: BTreeSet::new(),
            has_witness,
            owner: None,
            left: Bounds { wire: 16, ..left },
            committed: BTreeMap::new(),
            leaders: BTreeMap::new(),
            seen: Vec::new(),
            first_term: 0,
            wrong: None,
        };
        world.at(0).joined = true;
        world.input(0, QuorumInput::Begin { me: Member::new(1, place(0)) });
        for host in 1..count {
            for other in 0..host {
                world.connect(other, host);
            }
            world.settle();
            world.propose(0, ADD + host);
            world.settle();
        }
        let ready = world.hosts.iter().all(|host| host.members().len() == usize::from(count));
        assert!(ready && world.wrong.is_none(), "no beginning: {world:?}");
        world.first_term = world.host(0).core.term();
        world.left = left;
        world
    }

    /// Delivers all messages and lets time pass, until all hosts know the same.
    fn settle(&mut self) {
        for _ in 0..12 {
            for host in 0..self.count() {
                self.at(host).clock += STEP_NS;
                if self.host(host).is_due() {
                    self.serve(host);
                }
            }
            while let Some((&(from, to), _)) = self.wires.iter().find(|(_, wire)| !wire.is_empty())
            {
                self.take(Step::Hear(from, to, 0));
            }
        }
    }

    pub(super) fn count(&self) -> u8 {
        u8::try_from(self.hosts.len()).expect("few hosts")
    }

    pub(super) fn at(&mut self, host: u8) -> &mut Host {
        Rc::make_mut(&mut self.hosts[usize::from(host)])
    }

    pub(super) fn host(&self, host: u8) -> &Host {
        &self.hosts[usize::from(host)]
    }

    /// The other one of two, as this host sees it.
    pub(super) fn other(&self, host: u8) -> Option<u8> {
        let members = self.host(host).members();
        let other = members.iter().map(|member| number_of(member.host())).find(|at| *at != host);
        other.filter(|_| members.len() == 2)
    }

    /// All steps that may come next.
    pub(super) fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (&(from, to), wire) in &self.wires {
            if wire.len() > self.left.wire {
                // Any one of them may be lost; nothing else happens before one is.
                return (0..wire.len()).map(|at| Step::Lose(from, to, at)).collect();
            }
            steps.extend((0..wire.len()).map(|at| Step::Hear(from, to, at)));
        }
        let alive = (0..self.count()).filter(|host| !self.host(*host).ended);
        if alive.clone().count() == 1 {
            // The only host left has all there is.
            return Vec::new();
        }
        for host in alive {
            self.steps_of(host, &mut steps);
        }
        for (a, b) in (0..self.count()).flat_map(|b| (0..b).map(move |a| (a, b))) {
            if self.links.contains(&(a, b)) {
                steps.extend((self.left.cuts > 0).then_some(Step::Cut(a, b)));
            } else if !self.host(a).ended && !self.host(b).ended {
                steps.push(Step::Meet(a, b));
            }
        }
        steps
    }

    fn steps_of(&self, host: u8, steps: &mut Vec<Step>) {
        let (it, left) = (self.host(host), &self.left);
        let leads = it.core.is_leader();
        steps.push(Step::Tick(host));
        steps.extend((left.lazy && it.is_due()).then_some(Step::Timer(host)));
        steps.extend((left.crashes > 0).then_some(Step::Crash(host)));
        steps.extend((left.deaths > 0 && self.may_die()).then_some(Step::Die(host)));
        steps.extend((leads && left.proposals > 0).then_some(Step::Propose(host)));
        steps.extend((leads && left.reads > 0 && it.asked.is_none()).then_some(Step::Read(host)));
        steps.extend((leads && left.resigns > 0).then_some(Step::Resign(host)));
        if leads && left.removals > 0 && it.core.is_at_rest() {
            let others = it.members().into_iter().map(|member| number_of(member.host()));
            steps.extend(others.filter(|of| *of != host).map(|of| Step::Remove(host, of)));
        }
        steps.extend(it.granted.then_some(Step::Answer(host)));
        let silent = self.other(host).is_some_and(|other| !it.up.contains(&other));
        let suspects = self.has_witness && silent && !it.suspects;
        steps.extend(suspects.then_some(Step::Suspect(host)));
        let broken = it.up.iter().filter(|of| !self.links.contains(&pair(host, **of)));
        steps.extend(broken.map(|of| Step::Notice(host, *of)));
    }

    /// Takes a step.
    pub(super) fn take(&mut self, step: Step) {
        self.seen.clear();
        match step {
            Step::Tick(host) => self.tick(host),
            Step::Timer(host) => self.serve(host),
            Step::Hear(from, to, at) => self.hear(from, to, at),
            Step::Lose(from, to, at) => drop(self.take_off(from, to, at)),
            Step::Crash(host) => self.crash(host),
            Step::Die(host) => {
                self.left.deaths -= 1;
                self.end(host);
            }
            Step::Cut(a, b) => {
                self.left.cuts -= 1;
                self.links.remove(&pair(a, b));
            }
            Step::Notice(at, of) => self.notice(at, of),
            Step::Meet(a, b) => self.meet(a, b),
            Step::Suspect(host) => self.suspect(host),
            Step::Answer(host) => self.answer(host),
            Step::Propose(host) => {
                self.left.proposals -= 1;
                let command = self.left.proposals + 1;
                self.propose(host, command);
            }
            Step::Remove(host, of) => self.remove(host, of),
            Step::Read(host) => {
                self.left.reads -= 1;
                let last = self.committed.last_key_value().map_or(0, |last| *last.0);
                self.at(host).asked = Some(last);
                self.input(host, QuorumInput::Confirm { mark: 1 });
            }
            Step::Resign(host) => {
                self.left.resigns -= 1;
                self.input(host, QuorumInput::Transfer { to: None });
            }
        }
        self.forget_idle();
    }

    fn tick(&mut self, host: u8) {
        self.at(host).clock += STEP_NS;
        if self.host(host).is_due() && !self.left.lazy {
            self.serve(host);
        }
    }

    /// Handles a due timeout.
    pub(super) fn serve(&mut self, host: u8) {
        let it = self.at(host);
        it.core.handle_timeout(Time(it.clock));
        self.follow(host);
    }

    /// Drops messages that would change nothing at their receiver, now or ever: answers of an
    /// earlier term, answers to a leader whose lead is over, and messages of hosts that are no
    /// members any more.
    fn forget_idle(&mut self) {
        let hosts = &self.hosts;
        self.wires.retain(|(from, to), wire| {
            let it = &hosts[usize::from(*to)];
            let answers = if it.core.is_leader() { it.core.term() } else { it.core.term() + 1 };
            let is_idle = |frame: &Frame| match frame.word {
                Word::Agree { .. } | Word::Alive { .. } | Word::Differ { .. } => {
                    frame.term < answers
                }
                _ => false,
            };
            wire.retain(|frame| !is_idle(frame));
            !wire.is_empty() && (!it.joined || it.has_member(*from))
        });
    }

    /// A host that has ended, or was cut off, is sent nothing; all other messages may arrive at any
    /// time from here on.
    pub(super) fn send(&mut self, from: u8, to: u8, frame: Frame) {
        if self.links.contains(&pair(from, to)) && !self.host(to).ended {
            self.wires.entry((from, to)).or_default().push(Rc::new(frame));
        }
    }

    fn take_off(&mut self, from: u8, to: u8, at: usize) -> Rc<Frame> {
        let wire = self.wires.get_mut(&(from, to)).expect("a wire");
        let frame = wire.remove(at);
        if wire.is_empty() {
            self.wires.remove(&(from, to));
        }
        frame
    }

    fn hear(&mut self, from: u8, to: u8, at: usize) {
        let frame = self.take_off(from, to, at);
        let it = self.host(to);
        if !it.ended && (!it.joined || it.has_member(from)) {
            let bytes = Blob(frame.to_bytes());
            self.input(to, QuorumInput::Heard { host: place(from), bytes });
        }
    }

    fn notice(&mut self, at: u8, of: u8) {
        if self.at(at).up.remove(&of) {
            if !self.left.late {
                self.wires.remove(&(of, at));
            }
            self.input(at, QuorumInput::Linked { host: place(of), up: false });
        }
    }

    fn connect(&mut self, a: u8, b: u8) {
        self.links.insert(pair(a, b));
        for (at, of) in [(a, b), (b, a)] {
            if self.host(at).ended {
                continue;
            }
            let host = self.at(at);
            host.up.insert(of);
            host.met = true;
            host.suspects = false;
            self.input(at, QuorumInput::Linked { host: place(of), up: true });
        }
    }

    /// The link between two hosts works again. A removed host learns of its removal, and ends.
    fn meet(&mut self, a: u8, b: u8) {
        self.notice(a, b);
        self.notice(b, a);
        for (at, of) in [(a, b), (b, a)] {
            let (it, other) = (self.host(at), self.host(of));
            if it.joined && !it.has_member(of) && it.core.era() >= other.core.era() {
                return self.end(of);
            }
        }
        if !self.host(a).ended && !self.host(b).ended {
            self.connect(a, b);
        }
    }

    /// A host ends, for ever. Commands that only it had are lost.
    pub(super) fn end(&mut self, host: u8) {
        self.seen.push("ends");
        self.links.retain(|(a, b)| *a != host && *b != host);
        self.wires.retain(|(_, to), _| *to != host);
        self.at(host).ended = true;
        let left = self.hosts.iter().filter(|host| !host.ended);
        let keeps = |host: &&Rc<Host>| self.committed.iter().all(|(n, c)| host.has(*n, *c));
        if left.clone().filter(keeps).count() == 0 {
            self.wrong = Some(format!("host {host} ends, and with it what nobody else has"));
        }
    }

    /// The daemon is killed and started again from its records. Messages under way to it are lost.
    fn crash(&mut self, host: u8) {
        self.left.crashes -= 1;
        self.links.retain(|(a, b)| *a != host && *b != host);
        self.wires.retain(|(_, to), _| *to != host);
        let limits = self.left.limits();
        let it = self.at(host);
        let Host { records, applied, joined, .. } = it.clone();
        *it = Host { records, applied, joined, met: false, ..Host::new(it.clock, limits) };
        for (key, value) in &*it.records.clone() {
            assert!(it.core.restore(key, value), "a record of its own");
        }
        let members = it.members();
        self.input(host, QuorumInput::Members { members });
    }

    fn suspect(&mut self, host: u8) {
        let owner = *self.owner.get_or_insert(host);
        let it = self.at(host);
        it.suspects = true;
        it.granted = owner == host;
        self.follow(host);
    }

    fn answer(&mut self, host: u8) {
        if self.other(host).is_none() {
            return self.at(host).granted = false;
        }
        let it = self.at(host);
        it.lock = true;
        it.met |= it.suspects;
        if it.suspects && !it.core.is_leader() {
            it.needed = None;
            self.input(host, QuorumInput::Votes(Voting::Alone { certain: false }));
            let leads = self.host(host).core.is_leader();
            self.seen.extend(leads.then_some("takes over"));
        }
        self.follow(host);
    }

    pub(super) fn propose(&mut self, host: u8, command: u8) {
        self.input(host, QuorumInput::Propose { command: Blob(vec![command]), without: None });
    }

    /// Of two hosts one may not be able to go on alone.
    fn may_die(&self) -> bool {
        let alive = self.hosts.iter().filter(|host| !host.ended);
        alive.clone().count() > 2 && alive.clone().all(|host| host.members().len() > 2)
    }

    /// Runs are shorter if the leader does not ask the remaining voters first: the question only
    /// keeps enough hosts alive.
    fn remove(&mut self, host: u8, of: u8) {
        let mut members = self.host(host).members().into_iter();
        let member = members.find(|member| number_of(member.host()) == of);
        if self.left.asks
            && let Some(member) = member.filter(|_| !self.host(of).ended)
        {
            match self.host(host).core.may_part(member) {
                Some(true) => {}
                Some(false) => return,
                None => return self.input(host, QuorumInput::Part { member }),
            }
        }
        self.left.removals = self.left.removals.saturating_sub(1);
        self.seen.push("takes out");
        let command = Blob(vec![REMOVE + of]);
        self.input(host, QuorumInput::Propose { command, without: member });
    }

    /// False where a bound ends the search.
    pub(super) fn is_within(&self) -> bool {
        self.hosts.iter().all(|host| {
            let first = if host.core.era() == 0 { self.first_term } else { host.core.era() << 32 };
            host.core.term() <= first + self.left.terms
        })
    }

    /// The violation that was found, if any.
    pub(super) fn wrong(&self) -> Option<&str> {
        self.wrong.as_deref()
    }

    /// A read is answered: this host must have applied all that any host had applied when the read
    /// came.
    pub(super) fn confirmed(&mut self, host: u8) {
        self.seen.push("answers");
        let Some(asked) = self.at(host).asked.take() else { return };
        let applied = &self.host(host).applied;
        let misses = |number: &&u64| !applied.iter().any(|(applied, _)| applied == *number);
        if let Some(number) = self.committed.range(..=asked).map(|(n, _)| n).find(misses) {
            self.wrong = Some(format!("host {host} answers without number {number}"));
        }
    }

    /// Checks that all hosts apply the same commands under the same numbers, and leave none out.
    pub(super) fn note_applied(&mut self, host: u8, number: u64, command: u8) {
        let known = *self.committed.entry(number).or_insert(command);
        let before: Vec<_> = self.committed.range(..number).map(|(n, c)| (*n, *c)).collect();
        if known != command || self.host(host).applied != before {
            self.wrong = Some(format!("host {host} applies {command} as number {number}"));
        }
    }

    /// Checks that a term has one leader, and that a leader of a later term than all before has all
    /// commands. A host that has committed its own removal at once leads nobody.
    pub(super) fn note_leader(&mut self, host: u8) {
        let it = self.host(host);
        let (core, term) = (&it.core, it.core.term());
        if it.ended || !core.is_leader() || self.leaders.get(&term) == Some(&host) {
            return;
        }
        let last = self.leaders.last_key_value();
        let is_last = last.is_none_or(|last| *last.0 < term);
        let is_other = last.is_some_and(|last| *last.1 != host);
        let lost = self.committed.iter().find(|(n, c)| !self.host(host).has(**n, **c));
        if let Some((number, _)) = lost.filter(|_| is_last) {
            self.wrong = Some(format!("host {host} leads without number {number}"));
        } else if let Some(other) = self.leaders.insert(term, host) {
            self.wrong = Some(format!("hosts {host} and {other} lead in term {term:x}"));
        }
        self.seen.push(if is_other { "leads instead" } else { "leads again" });
    }
}
