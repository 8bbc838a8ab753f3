//! The decisions of one host about everything that is its own: tasks and their output, requests,
//! questions, notices, plugs.
//!
//! [`Host`] is a machine of its own inside of [`Machine`](crate::Machine), beside the order of
//! commands and the state that all agree on. It is told what has happened ([`Input`]): what the
//! shell tells, what the order of commands wants of it, and the facts that a command has made. What
//! it wants done comes out of two queues: outputs for the shell, and inputs for the order.
//!
//! [`Handler`] handles an input. It sees the other two by `&`, through the functions that they show
//! to the rest of the crate, and cannot change them: what it gives to the order is handled when the
//! input is done. The files below this one say what each event, request, fact and message of
//! another host does here, by noun; only they see the fields of [`Host`].

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
use crate::agreed::{Agreed, Fact, Group, done, number};
use crate::contexts::Contexts;
use crate::departure::Departure;
use crate::halt::Halt;
use crate::home::LeaderView;
use crate::io::{self, Act, Effect, Event, HostFacts, News, Output};
use crate::launches::Launches;
use crate::notify::Watches;
use crate::order::{Input as OrderInput, Lock, Order, Output as OrderOutput};
use crate::pending::{Asker, Pending};
use crate::placement::Placement;
use crate::plugs::Plugs;
use crate::probes::Probes;
use crate::proposals::Proposals;
use crate::records::{Change, Slot, Table};
use crate::session::Sessions;
use crate::tasks::Tasks;
use crate::tracers::Tracers;
use pvm_wire::request::Reply;
use pvm_wire::{Blob, Code, HostIndex, Tid};
use std::collections::{BTreeMap, VecDeque};

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

/// Something that has happened.
#[derive(Debug)]
pub(crate) enum Input {
    /// The machine begins on this host.
    Begin,
    /// This daemon was started again, and has its records; these are the groups.
    Restored { groups: Vec<Fact> },
    /// The first input since this daemon began is about to be handled: the order waits for the
    /// members.
    Woken,
    /// The shell tells something.
    Shell(io::Input),
    /// The order of commands has been told of a new link, and this host sees it.
    Linked { host: HostIndex },
    /// The order of commands wants this done.
    Order(OrderOutput),
    /// A command has made these facts. `mark` is that of a proposal of this host.
    Facts { facts: Vec<Fact>, mark: Option<u64> },
    /// A command has been applied, and the order knows what follows.
    Applied(Applied),
    /// A command of this host has its place in the log.
    Placed,
    /// A place of the log is done.
    Advanced,
    /// The state of the machine has come: this host is a member now.
    Joined,
    /// This host has missed much, and a state comes. These hosts are in it no more.
    Missed { gone: Vec<HostIndex> },
    /// A host went by a command that was missed here: what follows from that.
    Lost { facts: Vec<Fact> },
    /// The state has replaced the one that was known here.
    CaughtUp(CaughtUp),
    /// The order knows the members of that state.
    Current,
    /// The voters may have been arranged.
    Arranged,
    /// Questions to the leader may be answered.
    Answer,
    /// The input of the machine is handled.
    Handled,
}

/// A command that has been applied.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) proposer: HostIndex,
    /// Its mark, if this host has proposed it.
    pub(crate) mark: Option<u64>,
    /// The name that it has given a message to.
    pub(crate) filled: Option<Blob>,
    pub(crate) outcome: Reply,
}

/// The state of before and the changes, where a state has replaced another one.
#[derive(Debug)]
pub(crate) struct CaughtUp {
    pub(crate) hosts: Vec<HostIndex>,
    pub(crate) groups: BTreeMap<Blob, Group>,
    pub(crate) shown: Vec<Fact>,
}

/// Everything that is one host's own.
#[derive(Debug)]
pub(crate) struct Host {
    config: Config,
    now: Time,
    /// False until the state of the machine is known here.
    joined: Slot<bool>,
    proposals: Proposals,
    sessions: Sessions,
    tasks: Tasks,
    contexts: Contexts,
    watches: Watches,
    home: LeaderView,
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
    halt: Halt,
    /// Askers that gave up a question with this input. They are answered behind that question.
    withdrawn: Vec<Asker>,
    /// `End` follows the outputs that are being collected.
    ending: bool,
    outputs: VecDeque<Output>,
    /// Inputs for the order of commands.
    requests: VecDeque<OrderInput>,
}

impl Host {
    pub(crate) fn new(config: Config) -> Self {
        let me = config.host;
        Self {
            config,
            now: Time(0),
            joined: Slot::new(b'j', false),
            proposals: Proposals::new(),
            sessions: Sessions::new(),
            tasks: Tasks::new(me),
            contexts: Contexts::new(me),
            watches: Watches::new(),
            home: LeaderView::new(),
            placement: Placement::new(me),
            launches: Launches::new(),
            pending: Pending::new(),
            plugs: Plugs::new(),
            refusals: Table::new(b'7'),
            tracers: Tracers::new(),
            bad_peers: 0,
            probes: Probes::default(),
            departure: Departure::new(),
            halt: Halt::new(),
            withdrawn: Vec::new(),
            ending: false,
            outputs: VecDeque::new(),
            requests: VecDeque::new(),
        }
    }

    /// When to call [`Handler::handle_timeout`].
    pub(crate) fn poll_timeout(&self) -> Option<u64> {
        let pending = self.pending.next_deadline();
        let plugs = self.plugs.next_deadline();
        let launches = self.launches.next_deadline();
        let (tasks, probes) = (self.tasks.next_time(), self.probes.next_time());
        let halt = self.halt.next_deadline();
        [pending, plugs, launches, tasks, probes, halt].into_iter().flatten().min()
    }

    /// The next output for the shell.
    pub(crate) fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    pub(crate) fn has_output(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// The next input for the order of commands.
    pub(crate) fn poll_request(&mut self) -> Option<OrderInput> {
        self.requests.pop_front()
    }

    /// The command of this host with this ticket has been applied: its mark.
    pub(crate) fn take_mark(&mut self, ticket: u64) -> Option<u64> {
        self.proposals.applied(ticket)
    }

    /// See `Machine::number_tasks_up_to`.
    pub(crate) fn number_tasks_up_to(&mut self, highest: u32) {
        self.tasks.number_up_to(highest);
    }

    /// The facts that the machine was told once.
    pub(crate) const fn config(&self) -> &Config {
        &self.config
    }

    /// True once the state of the machine is known here.
    pub(crate) const fn is_joined(&self) -> bool {
        *self.joined.get()
    }

    /// True if this host has ended with the last input.
    pub(crate) const fn is_ending(&self) -> bool {
        self.ending
    }

    /// The number of messages of this host that other hosts have not acknowledged yet.
    pub(crate) fn unheard_count(&self) -> usize {
        self.sessions.unheard_count()
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.joined.take_changes(out);
        self.proposals.take_changes(out);
        self.sessions.take_changes(out);
        self.tasks.take_changes(out);
        self.contexts.take_changes(out);
        self.watches.take_changes(out);
        self.home.take_changes(out);
        self.placement.take_changes(out);
        self.launches.take_changes(out);
        self.pending.take_changes(out);
        self.departure.take_changes(out);
        self.halt.take_changes(out);
        self.plugs.take_changes(out);
        self.refusals.take_changes(out);
        self.tracers.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.joined.restore(key, value)
            || self.proposals.restore(key, value)
            || self.sessions.restore(key, value)
            || self.tasks.restore(key, value)
            || self.contexts.restore(key, value)
            || self.watches.restore(key, value)
            || self.home.restore(key, value)
            || self.placement.restore(key, value)
            || self.launches.restore(key, value)
            || self.pending.restore(key, value)
            || self.departure.restore(key, value)
            || self.halt.restore(key, value)
            || self.plugs.restore(key, value)
            || self.refusals.restore(key, value)
            || self.tracers.restore(key, value)
    }
}

/// A host that handles an input, and what it sees of the other two machines meanwhile.
#[derive(Debug)]
pub(crate) struct Handler<'a> {
    pub(crate) host: &'a mut Host,
    pub(crate) agreed: &'a Agreed,
    pub(crate) order: &'a Order,
}

impl Handler<'_> {
    /// Something happened.
    pub(crate) fn handle(&mut self, now: Time, input: Input) {
        self.host.now = now;
        match input {
            Input::Begin => {
                self.host.joined.set(true);
                self.tell_rules();
                self.tell_hosts();
            }
            Input::Restored { groups } => self.restored(groups),
            Input::Woken => self.tell_order_hosts(),
            Input::Shell(io::Input::Event(event)) => self.handle_event(event),
            Input::Shell(io::Input::News(news)) => self.handle_news(news),
            Input::Linked { host } => self.reached(host),
            Input::Order(output) => self.do_ordered(output),
            Input::Facts { facts, mark } => self.follow(facts, mark),
            Input::Applied(applied) => self.applied(applied),
            Input::Placed => self.wait_for_pieces(),
            Input::Advanced => self.serve_held(),
            Input::Joined => self.join(),
            Input::Missed { gone } => self.missed(&gone),
            Input::Lost { facts } => self.host_was_lost(facts),
            Input::CaughtUp(state) => self.caught_up(state),
            Input::Current => self.tell_all(),
            Input::Arranged => self.arranged(),
            Input::Answer => self.lead_home(),
            Input::Handled => {
                self.tell_withdrawn();
                self.leave_if_empty();
                let unheard = || self.order.hearing().unheard(self.order.log()).collect();
                self.host.ending |= self.host.halt.is_over(self.host.now.0, unheard);
            }
        }
    }

    /// A moment that [`Host::poll_timeout`] told has come.
    pub(crate) fn handle_timeout(&mut self, now: Time) {
        self.host.now = now;
        self.end_probes();
        self.give_up_late();
        self.close_tasks();
        self.greet_more();
        self.end_starts();
        self.end_calls();
        self.end_batches();
        self.end_changes();
        self.end_group_changes();
        for asker in self.host.pending.take_overdue(now.0) {
            self.fail(asker, Code::HostFail);
        }
        self.end_proposals();
    }

    /// This daemon was started again.
    fn restored(&mut self, groups: Vec<Fact>) {
        self.tell_rules();
        self.follow(groups, None);
        let count = self.host.tasks.iter().count();
        self.log(format!("the daemon was started again and knows of {count} tasks"));
        self.tell_shell_hosts();
        self.reach_unheard();
        if self.host.sessions.unheard_count() > 0 {
            // A task that the last daemon held is held again when it writes more.
            self.effect(Effect::Hold { tid: Tid::NONE, on: false });
        }
        self.leave_if_empty();
        self.drain_again();
    }

    fn handle_event(&mut self, event: Event) {
        if !*self.host.joined.get() {
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
            News::BadPeer => self.host.bad_peers += 1,
        }
    }

    fn effect(&mut self, effect: Effect) {
        self.host.outputs.push_back(Output::Effect(effect));
    }

    fn act(&mut self, act: Act) {
        self.host.outputs.push_back(Output::Act(act));
    }

    fn log(&mut self, text: String) {
        self.effect(Effect::Log { text });
    }

    fn me(&self) -> HostIndex {
        self.host.config.host
    }

    fn after(&self, nanoseconds: u64) -> u64 {
        self.host.now.after(nanoseconds).0
    }

    /// Answers the asker.
    fn answer(&mut self, asker: Asker, reply: Reply) {
        match asker {
            Asker::Connection { connection, id } => {
                if self.host.tasks.client(connection).is_some() {
                    self.effect(Effect::Reply { connection, id, reply });
                }
            }
            Asker::Peer { host, ask } if host == self.me() => self.answered(ask, reply),
            Asker::Peer { host, ask } => {
                self.say(host, pvm_wire::peer::Said::Answer { ask, reply })
            }
            Asker::Share { batch, host } => self.share_answered(batch, host, reply),
            Asker::List { list } => {
                if let Some(list) = self.host.pending.list_part(list, reply) {
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
}

/// The id of a host that a task's id or the host's own id names, if it can name one.
fn host_of(tid: Tid) -> Option<HostIndex> {
    (tid.may_be_task() || tid.is_host()).then(|| tid.host())
}
