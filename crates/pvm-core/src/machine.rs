//! The decisions of the daemon of one host.
//!
//! Three machines make them, none of which sees the fields of another one: the order of commands
//! ([`Order`]), the state that all hosts agree on ([`Agreed`]), and this host ([`Host`]). What one
//! of them wants of another goes through a queue, and [`Machine`] carries it over: what the order
//! has put into the log is applied to the state, the facts of that go to the host, and the host's
//! inputs to the order. It carries on until nothing is left, one thing after the other.
//!
//! Everything that a machine knows is a record (see [`crate::records`]), put out together with the
//! effects of the same input, so that [`Machine::restore`] makes an equal one.

use crate::Time;
use crate::agreed::{Agreed, Rules};
pub use crate::host::Config;
use crate::host::{Applied, CaughtUp, Handler, Host, Input as HostInput};
use crate::io::{Effect, HostFacts, HostList, Input, News, Output};
use crate::order::{Input as OrderInput, Order, Ordered, Output as OrderOutput};
use crate::planted::{self, Bug};
use crate::quorum::Quorum;
use pvm_wire::peer::Command;
use pvm_wire::request::Reply;
use pvm_wire::{Blob, HostIndex, Tid, Wire as _};
use std::collections::VecDeque;
use std::sync::Arc;

/// The consensus library of a new machine, and its rules.
#[derive(Debug)]
pub struct Setup {
    /// The library.
    pub quorum: Box<dyn Quorum>,
    /// For a machine that begins here.
    pub rules: Rules,
}

/// Something that changes the state that all agree on.
#[derive(Debug)]
enum Change {
    /// The next place of the log.
    Next { own: Option<u64>, command: Option<Box<Ordered>> },
    /// The state after a command.
    Adopt { number: u64, state: Blob },
}

/// The decisions of one host.
#[derive(Debug)]
pub struct Machine {
    now: Time,
    order: Order,
    agreed: Agreed,
    host: Host,
    /// Changes that the order has put out and that are to be made.
    changes: VecDeque<Change>,
    /// Records, and the end.
    effects: VecDeque<Effect>,
    ended: bool,
}

impl Machine {
    /// A new machine, or a host that is about to join one.
    pub fn new(config: Config, setup: Setup) -> Self {
        let Setup { quorum, rules } = setup;
        let begins = config.host == config.first;
        let mut machine = Self::empty(config, quorum, true);
        if begins {
            let config = machine.host.config();
            machine.agreed.begin(config.host, config.facts.clone(), rules);
            machine.order.begin();
            machine.tell_host(HostInput::Begin);
        }
        machine.finish();
        machine
    }

    /// The machine that has put out these records.
    pub fn restore(config: Config, setup: Setup, records: &[(Blob, Blob)]) -> Self {
        let mut machine = Self::empty(config, setup.quorum, false);
        for (Blob(key), Blob(value)) in records {
            // A record of a later version's table is no reason to lose the rest.
            let _known = machine.order.restore(key, value)
                || machine.agreed.restore(key, value)
                || machine.host.restore(key, value);
        }
        if machine.host.is_joined() {
            let groups = machine.agreed.groups_as_they_are();
            machine.tell_host(HostInput::Restored { groups });
            machine.tell_order(OrderInput::Handled);
        }
        machine
    }

    fn empty(config: Config, quorum: Box<dyn Quorum>, begins: bool) -> Self {
        Self {
            now: Time(0),
            order: Order::new(config.host, quorum, begins),
            agreed: Agreed::new(),
            host: Host::new(config),
            changes: VecDeque::new(),
            effects: VecDeque::new(),
            ended: false,
        }
    }

    /// Something happened.
    pub fn handle(&mut self, now: Time, input: Input) {
        if self.ended {
            return;
        }
        self.begin(now);
        let linked = match input {
            Input::News(News::LinkUp { host }) => Some(host),
            _ => None,
        };
        self.tell_host(HostInput::Shell(input));
        if let Some(host) = linked {
            self.tell_host(HostInput::Linked { host });
        }
        self.finish();
    }

    /// A moment that [`Machine::poll_timeout`] told has come.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.ended {
            return;
        }
        self.begin(now);
        self.order.handle_timeout(now);
        self.come_to_rest();
        self.tell_order(OrderInput::Rested);
        self.handler().handle_timeout(now);
        self.carry();
        self.finish();
    }

    /// When to call [`Machine::handle_timeout`]; to be asked after every input.
    pub fn poll_timeout(&self) -> Option<Time> {
        let next = [self.order.poll_timeout(), self.host.poll_timeout()];
        next.into_iter().flatten().min().map(Time)
    }

    /// The next output of the last input; to be drained before the next input.
    pub fn poll_output(&mut self) -> Option<Output> {
        let records = || self.effects.pop_front().map(Output::Effect);
        self.host.poll_output().or_else(records)
    }

    /// True if there is something to drain.
    pub fn has_output(&self) -> bool {
        self.host.has_output() || !self.effects.is_empty()
    }

    /// Counts the changes of the host table: tables of equal epochs are equal.
    pub fn epoch(&self) -> u64 {
        self.agreed.hosts().epoch()
    }

    /// The members as this host knows them.
    pub fn members(&self) -> HostList {
        self.agreed.hosts().list()
    }

    /// Equal facts of a member are kept elsewhere in this process: they are kept once from now on.
    /// A simulation of thousands of hosts has each of them on each.
    pub fn share(&mut self, host: HostIndex, facts: &Arc<HostFacts>) {
        self.agreed.share(host, facts);
    }

    /// True if this host is in the table.
    pub fn is_member(&self, host: HostIndex) -> bool {
        self.agreed.hosts().contains(host)
    }

    /// The number of times that a host of this machine went on alone.
    pub fn era(&self) -> u64 {
        self.order.log().era()
    }

    /// The leader and its term, as far as this host knows.
    pub fn leader(&self) -> Option<(u64, HostIndex)> {
        self.order.log().leader()
    }

    /// The number of the last command that was applied here.
    pub fn applied(&self) -> u64 {
        self.order.log().applied()
    }

    /// Everything that all hosts agree on: equal on all that have applied the same commands.
    pub fn agreed(&self) -> Blob {
        Blob(self.agreed_records().to_bytes())
    }

    /// True while a task has a message under a name or a place in a group, as far as this host
    /// knows.
    pub fn still_names(&self, tid: Tid) -> bool {
        self.agreed.registry().is_owner(tid) || self.agreed.groups().has_member(tid)
    }

    /// The state that all hosts agree on, as records.
    pub fn agreed_records(&self) -> Vec<(Blob, Blob)> {
        let mut records = Vec::new();
        self.agreed.records(&mut records);
        self.order.log().records(&mut records);
        records
    }

    /// True once the state of the machine is known here.
    pub const fn is_joined(&self) -> bool {
        self.host.is_joined()
    }

    /// True if this host leads and no other one can have taken its place.
    pub fn is_current(&self, now: Time) -> bool {
        self.order.log().is_current(now)
    }

    /// The members that get no new tasks, as this host knows them.
    pub fn draining(&self) -> Vec<HostIndex> {
        self.agreed
            .hosts()
            .indices()
            .into_iter()
            .filter(|&host| self.agreed.hosts().is_draining(host))
            .collect()
    }

    /// The number of messages of this host that other hosts have not acknowledged yet.
    pub fn unheard_count(&self) -> usize {
        self.host.unheard_count()
    }

    /// See `Tasks::number_up_to`.
    pub fn number_tasks_up_to(&mut self, highest: u32) {
        self.host.number_tasks_up_to(highest);
    }

    fn handler(&mut self) -> Handler<'_> {
        Handler { host: &mut self.host, agreed: &self.agreed, order: &self.order }
    }

    /// The first input since this daemon began starts its wait for a leader.
    fn begin(&mut self, now: Time) {
        self.now = now;
        if self.order.wake(now.0) {
            self.tell_host(HostInput::Woken);
            self.come_to_rest();
        }
    }

    /// Tells the host, and carries what follows.
    fn tell_host(&mut self, input: HostInput) {
        let now = self.now;
        self.handler().handle(now, input);
        self.carry();
    }

    /// Tells the order of commands, and carries what follows.
    fn tell_order(&mut self, input: OrderInput) {
        self.order.handle(self.now, input);
        self.carry();
    }

    /// Carries what the order wants done to the host, and what the host tells to the order, until
    /// both have nothing. Changes of the agreed state wait.
    fn carry(&mut self) {
        loop {
            while let Some(output) = self.order.poll_output() {
                match output {
                    OrderOutput::Next { own, command } => {
                        let command = command.map(Box::new);
                        self.changes.push_back(Change::Next { own, command });
                    }
                    OrderOutput::Adopt { number, state } => {
                        self.changes.push_back(Change::Adopt { number, state });
                    }
                    OrderOutput::StateWanted { to } => {
                        let (number, state) = (self.order.log().applied(), self.agreed());
                        self.order.handle(self.now, OrderInput::State { to, number, state });
                    }
                    output => {
                        let now = self.now;
                        self.handler().handle(now, HostInput::Order(output));
                    }
                }
            }
            match self.host.poll_request() {
                Some(input) => self.order.handle(self.now, input),
                None => return,
            }
        }
    }

    /// Does what follows from an input, until nothing is left to do. A step may give the consensus
    /// library an input; its outputs wait for the next round, so each step sees everything that was
    /// ordered before it.
    fn come_to_rest(&mut self) {
        loop {
            self.carry();
            while self.order.proceed(self.now) {
                self.carry();
                self.change();
            }
            self.lead_on();
            if !self.order.log().has_output() {
                return;
            }
        }
    }

    /// The steps that are due once all committed commands are applied.
    fn lead_on(&mut self) {
        if !self.host.is_joined() || self.host.is_ending() {
            return;
        }
        // Commands come last: an answer to a question may be one.
        let steps = [
            |machine: &mut Self| machine.tell_order(OrderInput::Applied),
            |machine: &mut Self| machine.tell_host(HostInput::Arranged),
            |machine: &mut Self| machine.tell_host(HostInput::Answer),
            |machine: &mut Self| machine.tell_order(OrderInput::Answered),
        ];
        for step in steps {
            step(self);
            if self.order.log().has_output() {
                return;
            }
        }
    }

    /// Makes the changes of the agreed state that are due.
    fn change(&mut self) {
        while let Some(change) = self.changes.pop_front() {
            match change {
                Change::Next { own, command } => self.apply(own, command),
                Change::Adopt { number, state } => self.adopt(number, &state.0),
            }
        }
    }

    /// The next place of the log: every host comes here with the same commands.
    fn apply(&mut self, own: Option<u64>, ordered: Option<Box<Ordered>>) {
        let mark = own.and_then(|ticket| self.host.take_mark(ticket));
        if let Some(Ordered { proposer, command }) = ordered.map(|ordered| *ordered) {
            let filled = match &command {
                Some(Command::PutInfo { name, .. }) => Some(name.clone()),
                _ => None,
            };
            let outcome = command.map_or(Reply::Done, |command| self.outcome(command, mark));
            self.tell_host(HostInput::Applied(Applied { proposer, mark, filled, outcome }));
        }
        if own.is_some() {
            self.tell_host(HostInput::Placed);
        }
        self.tell_host(HostInput::Advanced);
    }

    /// Applies a command, and tells the host the facts.
    fn outcome(&mut self, command: Command, mark: Option<u64>) -> Reply {
        let (reply, facts) = self.agreed.apply(self.order.log().applied(), command);
        self.tell_host(HostInput::Facts { facts, mark });
        reply
    }

    /// The state after the command with this number has come.
    fn adopt(&mut self, number: u64, state: &[u8]) {
        let Ok(records) = Vec::<(Blob, Blob)>::from_bytes(state) else { return };
        if self.host.is_joined() {
            return self.catch_up(number, &records);
        }
        // No task of this host has been shown any group yet.
        let _groups = self.agreed.load(&records);
        self.order.load(number, &records);
        self.tell_host(HostInput::Joined);
    }

    /// The state replaces the older one that is known here.
    fn catch_up(&mut self, number: u64, records: &[(Blob, Blob)]) {
        let seats = self.order.log().seats_in(records);
        let gone = self.order.log().members().into_iter().filter(|member| !seats.contains(member));
        let gone: Vec<HostIndex> = gone.map(|member| member.host()).collect();
        self.tell_host(HostInput::Missed { gone: gone.clone() });
        if self.host.is_ending() {
            return;
        }
        let hosts = self.agreed.hosts().indices();
        let groups = self.agreed.groups().known();
        for host in gone.into_iter().filter(|_| !planted::is(Bug::CatchesUpByAdding)) {
            let facts = self.agreed.lose(self.order.log().applied(), host);
            self.tell_host(HostInput::Lost { facts });
        }
        let shown = self.agreed.load(records);
        self.order.load(number, records);
        self.tell_host(HostInput::CaughtUp(CaughtUp { hosts, groups, shown }));
        self.tell_host(HostInput::Current);
    }

    /// Puts out the records that changed, and the end if it has come.
    fn finish(&mut self) {
        self.come_to_rest();
        self.tell_host(HostInput::Handled);
        if self.host.is_joined() && !self.host.is_ending() {
            self.tell_order(OrderInput::Handled);
        }
        let mut changes = Vec::new();
        self.order.take_changes(&mut changes);
        self.agreed.take_changes(&mut changes);
        self.host.take_changes(&mut changes);
        let saves = changes.into_iter().map(|(key, value)| Effect::Save { key, value });
        self.effects.extend(saves);
        if self.host.is_ending() {
            self.ended = true;
            self.effects.push_back(Effect::End);
        }
    }
}
