//! The decisions of the daemon of one host.
//!
//! The rooms beside this file hold the state; the files below it say what each event, request,
//! command and word of another host does to them, by noun. Everything that a machine knows is a
//! record (see [`crate::records`]), put out together with the effects of the same input, so that
//! [`Machine::restore`] makes an equal one.

mod catching_up;
mod commands;
mod facts;
mod groups;
mod home;
mod joining;
mod leading;
mod leaving;
mod members;
mod memory;
mod names;
mod nearby;
mod notices;
mod output;
mod peers;
mod plug;
mod requests;
mod routes;
mod settling;
mod showing;
mod spawn;
mod speaking;
mod tasks;
mod token;
mod tracers;
mod two;
mod upgrade;
mod weighing;
mod withdrawal;

use crate::Time;
use crate::agreed::{Agreed, Rules, done, number};
use crate::contexts::Contexts;
use crate::departure::Departure;
use crate::home::Home;
use crate::io::{Act, Effect, Event, HostFacts, HostList, Input, News, Output};
use crate::launches::Launches;
use crate::notify::Watches;
use crate::order::{Input as OrderInput, Lock, Order};
use crate::pending::{Asker, Pending};
use crate::placement::Placement;
use crate::plugs::Plugs;
use crate::probes::Probes;
use crate::proposals::Proposals;
use crate::quorum::Quorum;
use crate::records::{Slot, Table};
use crate::session::Sessions;
use crate::tasks::Tasks;
use crate::tracers::Tracers;
use pvm_wire::request::Reply;
use pvm_wire::{Blob, Code, HostIndex, Tid};
use std::collections::VecDeque;

const SECOND_NS: u64 = 1_000_000_000;
/// The time after which a question to another host has failed.
const ANSWER_NS: u64 = 30 * SECOND_NS;
/// The time after which programs that have not started count as failed, if no other one of their
/// spawn call has started meanwhile.
const LAUNCH_NS: u64 = 25 * SECOND_NS;
/// The time that a daemon may take to start on another computer (ssh may ask a person).
const HOST_START_NS: u64 = 90 * SECOND_NS;
/// The time after which a task that has lost its connection counts as gone.
const CLOSED_NS: u64 = SECOND_NS;

/// The facts that a machine is told once.
#[derive(Clone, Debug)]
pub struct Config {
    /// This host's place.
    pub host: HostIndex,
    /// The first host's place. Where it is this host, the machine begins here; otherwise it is
    /// joined: what is known comes from there.
    pub first: HostIndex,
    /// This host's facts. After joining, the ones in the host table count.
    pub facts: HostFacts,
    /// NeoPVM's version.
    pub version: String,
    /// Process id of the parent.
    pub parent_pid: u32,
    /// Process id of the daemon.
    pub daemon_pid: u32,
    /// Times that the daemon was started again.
    pub restarts: u32,
    /// Program that runs tasks under a debugger (`PvmTaskDebug`).
    pub debugger: Blob,
}

/// The consensus library of a new machine, and its rules.
#[derive(Debug)]
pub struct Setup {
    /// The library.
    pub quorum: Box<dyn Quorum>,
    /// For a machine that begins here.
    pub rules: Rules,
}

/// The decisions of one host.
#[derive(Debug)]
pub struct Machine {
    config: Config,
    now: Time,
    /// False until the state of the machine is known here.
    joined: Slot<bool>,
    order: Order,
    agreed: Agreed,
    proposals: Proposals,
    sessions: Sessions,
    tasks: Tasks,
    contexts: Contexts,
    watches: Watches,
    home: Home,
    placement: Placement,
    launches: Launches,
    pending: Pending,
    plugs: Plugs,
    /// Tasks that want no direct routes.
    refusals: Table<Tid, u8>,
    tracers: Tracers,
    bad_peers: u64,
    probes: Probes,
    departure: Departure,
    /// `End` follows the outputs that are being collected.
    ending: bool,
    ended: bool,
    outputs: VecDeque<Output>,
}

impl Machine {
    /// A new machine, or a host that is about to join one.
    pub fn new(config: Config, setup: Setup) -> Self {
        let Setup { quorum, rules } = setup;
        let begins = config.host == config.first;
        let mut machine = Self::empty(config, quorum, true);
        if begins {
            machine.agreed.begin(machine.config.host, machine.config.facts.clone(), rules);
            machine.joined.set(true);
            machine.order.begin();
            machine.tell_rules();
            machine.tell_hosts();
        }
        machine.finish();
        machine
    }

    /// The machine that has put out these records.
    pub fn restore(config: Config, setup: Setup, records: &[(Blob, Blob)]) -> Self {
        let mut machine = Self::empty(config, setup.quorum, false);
        for (Blob(key), Blob(value)) in records {
            // A record of a later version's room is no reason to lose the rest.
            let _known = machine.restore_record(key, value);
        }
        if *machine.joined.get() {
            machine.tell_rules();
            let groups = machine.agreed.groups_as_they_are();
            machine.follow(groups, None);
            let count = machine.tasks.iter().count();
            machine.log(format!("the daemon was started again and knows of {count} tasks"));
            machine.tell_shell_hosts();
            machine.reach_unheard();
            if machine.sessions.unheard_count() > 0 {
                // A task that the last daemon held is held again when it writes more.
                machine.effect(Effect::Hold { tid: Tid::NONE, on: false });
            }
            machine.leave_if_empty();
            machine.drain_again();
            machine.tell_order(OrderInput::Handled);
        }
        machine
    }

    fn empty(config: Config, quorum: Box<dyn Quorum>, begins: bool) -> Self {
        let me = config.host;
        Self {
            config,
            now: Time(0),
            joined: Slot::new(b'j', false),
            order: Order::new(me, quorum, begins),
            agreed: Agreed::new(),
            proposals: Proposals::new(),
            sessions: Sessions::new(),
            tasks: Tasks::new(me),
            contexts: Contexts::new(me),
            watches: Watches::new(),
            home: Home::new(),
            placement: Placement::new(me),
            launches: Launches::new(),
            pending: Pending::new(),
            plugs: Plugs::new(),
            refusals: Table::new(b'7'),
            tracers: Tracers::new(),
            bad_peers: 0,
            probes: Probes::default(),
            departure: Departure::new(),
            ending: false,
            ended: false,
            outputs: VecDeque::new(),
        }
    }

    /// Something happened.
    pub fn handle(&mut self, now: Time, input: Input) {
        if self.ended {
            return;
        }
        self.now = now;
        self.wake();
        match input {
            Input::Event(event) => self.handle_event(event),
            Input::News(news) => self.handle_news(news),
        }
        self.finish();
    }

    /// A moment that [`Machine::poll_timeout`] told has come.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.ended {
            return;
        }
        self.now = now;
        self.wake();
        self.order.handle_timeout(now);
        self.follow_order();
        self.come_to_rest();
        self.tell_order(OrderInput::Rested);
        self.end_probes();
        self.give_up_late();
        self.close_tasks();
        self.greet_more();
        self.end_starts();
        self.end_calls();
        self.end_batches();
        self.end_changes();
        self.end_group_changes();
        for asker in self.pending.take_overdue(now.0) {
            self.fail(asker, Code::HostFail);
        }
        self.end_proposals();
        self.finish();
    }

    /// When to call [`Machine::handle_timeout`]; to be asked after every input.
    pub fn poll_timeout(&self) -> Option<Time> {
        let pending = self.pending.next_deadline();
        let plugs = self.plugs.next_deadline();
        let (order, probes) = (self.order.poll_timeout(), self.probes.next_time());
        let launches = self.launches.next_deadline();
        let tasks = self.tasks.next_time();
        let next = [pending, plugs, launches, tasks, order, probes];
        next.into_iter().flatten().min().map(Time)
    }

    /// The next output of the last input; to be drained before the next input.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// True if there is something to drain.
    pub fn has_output(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// Counts the changes of the host table: tables of equal epochs are equal.
    pub fn epoch(&self) -> u64 {
        self.agreed.hosts().epoch()
    }

    /// The members as this host knows them.
    pub fn members(&self) -> HostList {
        self.agreed.hosts().list()
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
        self.snapshot()
    }

    /// True while a task has a message under a name or a place in a group, as far as this host
    /// knows.
    pub fn still_names(&self, tid: Tid) -> bool {
        self.agreed.registry().is_owner(tid) || self.agreed.groups().has_member(tid)
    }

    /// The state that all hosts agree on, as records.
    pub fn agreed_records(&self) -> Vec<(Blob, Blob)> {
        self.snapshot_records()
    }

    /// True once the state of the machine is known here.
    pub fn is_joined(&self) -> bool {
        *self.joined.get()
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
        self.sessions.unheard_count()
    }

    fn handle_event(&mut self, event: Event) {
        if !*self.joined.get() {
            return self.refuse_early(event);
        }
        match event {
            Event::Hello { connection, id, role, program, reset, pid, launched } => {
                let client = crate::tasks::Client { role, tid: None, pid, program, reset };
                self.hello(connection, id, client, launched);
            }
            Event::Asked { connection, id, request } => self.asked(connection, id, request),
            Event::Closed { connection } => self.closed(connection),
            Event::Launched { tid, pid } => self.launched(tid, pid),
            Event::LaunchFailed { tid, code, tried } => self.launch_failed(tid, code, tried),
            Event::Exited { tid, status } => self.exited(tid, status),
            Event::Wrote { tid, stream, bytes } => self.wrote(tid, stream, bytes),
            Event::OutputEnded { tid } => self.output_ended(tid),
            Event::Found { tid, path } => self.found(tid, &path),
            Event::Upgraded { mark, from, to, failure } => {
                self.upgraded(&mark, Reply::Upgraded { from, to, failure });
            }
            Event::Answered { ticket, reply } => self.answered(ticket, reply),
        }
    }

    /// The state of the machine is not known here yet.
    fn refuse_early(&mut self, event: Event) {
        let (connection, id, reply) = match event {
            Event::Hello { connection, id, .. } => {
                let reason = "this host is still joining the machine; try again".to_owned();
                (connection, id, Reply::Refused { code: Code::SysErr, reason })
            }
            Event::Asked { connection, id, .. } => {
                (connection, id, Reply::Failed { code: Code::SysErr })
            }
            _ => return,
        };
        self.effect(Effect::Reply { connection, id, reply });
    }

    fn handle_news(&mut self, news: News) {
        match news {
            News::LinkUp { host } => self.link_up(host),
            News::LinkDown { host } => self.link_down(host),
            News::LinkRests { host } => self.link_rests(host),
            News::Unreached { host } => self.tell_order(OrderInput::Unreached { host }),
            News::Said { host, message } => self.hear(host, message),
            News::HostReady { ticket, facts } => self.host_ready(ticket, facts),
            News::HostDead { host } => self.host_dead(host, false),
            News::HostGone { host } => self.host_dead(host, true),
            News::Fenced { era } => self.fenced(era),
            News::Witnessed { witness, pair, granted } => {
                let lock = Lock { witness, pair };
                self.tell_order(OrderInput::Witnessed { lock, granted });
            }
            News::HostFailed { ticket, code, failure } => self.host_failed(ticket, code, failure),
            News::Flushed => self.flushed(),
            News::Addresses { addresses } => self.addresses_changed(addresses),
            News::Invited { ticket, login, options, command, vmid } => {
                self.invited(ticket, [options, login, command, vmid]);
            }
            News::Token { mark, token } => self.token_made(&mark, token),
            News::NoRoute { local, peer } => self.no_route(local, peer),
            News::Drained { tid, host } => self.drained(tid, host),
            News::Unbound => self.halt(Asker::Nobody),
            News::BadPeer => self.bad_peers += 1,
        }
    }

    fn effect(&mut self, effect: Effect) {
        self.outputs.push_back(Output::Effect(effect));
    }

    fn act(&mut self, act: Act) {
        self.outputs.push_back(Output::Act(act));
    }

    fn log(&mut self, text: String) {
        self.effect(Effect::Log { text });
    }

    fn me(&self) -> HostIndex {
        self.config.host
    }

    fn after(&self, nanoseconds: u64) -> u64 {
        self.now.after(nanoseconds).0
    }

    /// Answers the asker.
    fn answer(&mut self, asker: Asker, reply: Reply) {
        match asker {
            Asker::Connection { connection, id } => {
                if self.tasks.client(connection).is_some() {
                    self.effect(Effect::Reply { connection, id, reply });
                }
            }
            Asker::Peer { host, ask } if host == self.me() => self.answered(ask, reply),
            Asker::Peer { host, ask } => {
                self.say(host, pvm_wire::peer::Said::Answer { ask, reply })
            }
            Asker::Share { batch, host } => self.share_answered(batch, host, reply),
            Asker::List { list } => {
                if let Some(list) = self.pending.list_part(list, reply) {
                    self.answer(list.asker, Reply::Tasks { tasks: list.tasks });
                }
            }
            Asker::Order { manager, tag, wait, count } => {
                self.order_done((manager, tag, wait, count), &reply);
            }
            Asker::Again { request } => self.serve_again(request, reply),
            Asker::Change { change, place } => self.change_ordered(change, place, &reply),
            Asker::Joined { change } => self.group_changed(change, reply),
            Asker::Shown { change, host } => self.group_shown(change, host),
            Asker::Settled { change, host } => self.change_settled(change, host, &reply),
            Asker::Kept { addition, place, host } => self.host_kept(addition, place, host, &reply),
            Asker::Opinion { of, by, round } => {
                let unheard = match reply {
                    Reply::Heard { heard: true, unheard } => Some(unheard),
                    _ => None,
                };
                self.tell_order(OrderInput::Opinion { of, by, round, unheard });
            }
            Asker::Load { weighing, host } => self.load_told(weighing, host, reply),
            Asker::Nobody => {}
        }
    }

    fn fail(&mut self, asker: Asker, code: Code) {
        self.answer(asker, Reply::Failed { code });
    }

    /// Answers with what a room returned.
    fn answer_done(&mut self, asker: Asker, result: Result<(), Code>) {
        self.answer(asker, done(result));
    }

    /// Answers with a number that a room returned.
    fn answer_number(&mut self, asker: Asker, result: Result<i32, Code>) {
        self.answer(asker, number(result));
    }

    /// Puts out the records that changed, and the end if it has come.
    fn finish(&mut self) {
        self.come_to_rest();
        self.leave_if_empty();
        if *self.joined.get() && !self.ending {
            self.tell_order(OrderInput::Handled);
        }
        let mut changes = Vec::new();
        self.joined.take_changes(&mut changes);
        self.order.take_changes(&mut changes);
        self.proposals.take_changes(&mut changes);
        self.agreed.take_changes(&mut changes);
        self.sessions.take_changes(&mut changes);
        self.tasks.take_changes(&mut changes);
        self.contexts.take_changes(&mut changes);
        self.watches.take_changes(&mut changes);
        self.home.take_changes(&mut changes);
        self.placement.take_changes(&mut changes);
        self.launches.take_changes(&mut changes);
        self.pending.take_changes(&mut changes);
        self.departure.take_changes(&mut changes);
        self.plugs.take_changes(&mut changes);
        self.refusals.take_changes(&mut changes);
        self.tracers.take_changes(&mut changes);
        for (key, value) in changes {
            self.effect(Effect::Save { key, value });
        }
        if self.ending {
            self.ended = true;
            self.effect(Effect::End);
        }
    }

    fn restore_record(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.joined.restore(key, value)
            || self.order.restore(key, value)
            || self.proposals.restore(key, value)
            || self.agreed.restore(key, value)
            || self.sessions.restore(key, value)
            || self.tasks.restore(key, value)
            || self.contexts.restore(key, value)
            || self.watches.restore(key, value)
            || self.home.restore(key, value)
            || self.placement.restore(key, value)
            || self.launches.restore(key, value)
            || self.pending.restore(key, value)
            || self.departure.restore(key, value)
            || self.plugs.restore(key, value)
            || self.refusals.restore(key, value)
            || self.tracers.restore(key, value)
    }
}

/// The id of a host that a task's id or the host's own id names, if it can name one.
fn host_of(tid: Tid) -> Option<HostIndex> {
    (tid.may_be_task() || tid.is_host()).then(|| tid.host())
}
