//! The order of this machine's commands, as one of its hosts takes part in it.
//!
//! [`Order`] knows the leader, the log, the hosts that are needed, the hosts that are suspected and
//! are to go, and the hosts to which links stand for that. It is a machine of its own inside of
//! [`Machine`](crate::Machine), with the same four methods: it is told what has happened
//! ([`Input`]), and tells what is to be done ([`Output`]). It sees no task, no request and no
//! state of the commands; and nobody else sees its fields, but for what [`Order::log`] and
//! [`Order::hearing`] show.
//!
//! [`Order::proceed`] takes the library's outputs one by one. A command that it puts out is to be
//! applied, and the inputs that follow from it are to be given, before the next call: so each step
//! sees everything that was committed before it.
//!
//! The parts: `consensus` is the log with its members, `seats` and `ring` the members, `pieces` the
//! long commands in the log, `held` the commands that wait for their turn, `leading` the leader,
//! `commands` how a command gets into the log and out of it, `hearing` with `links`, `near`,
//! `suspicion` and `doubts` the other hosts as this one hears them, `silence` and `opinion` what
//! follows from that, `two` and `pair` the rule for two hosts.

mod commands;
mod consensus;
mod doubts;
mod hearing;
mod held;
mod leadership;
mod leading;
mod links;
mod near;
mod opinion;
mod pair;
mod pieces;
mod ring;
mod seats;
mod silence;
mod source;
mod suspicion;
mod two;

use crate::Time;
use crate::agreed::Rules;
use crate::io::Act;
use crate::planted::{self, Bug};
use crate::quorum::{Member, Quorum, QuorumInput};
use crate::records::Change;
use consensus::Consensus;
use hearing::Hearing;
use leadership::Leadership;
use pvm_wire::peer::{Command, Said};
use pvm_wire::{Blob, HostIndex};
pub(crate) use source::may_propose;
use std::collections::VecDeque;
pub(crate) use two::Lock;
use two::Pair;
pub use two::Standing;

/// Something that has happened.
#[derive(Debug)]
pub(crate) enum Input {
    /// The library on another host said something.
    Heard { host: HostIndex, bytes: Blob },
    /// There is a link to a host.
    LinkUp { host: HostIndex },
    /// The link to a host broke.
    LinkDown { host: HostIndex },
    /// The link to a host was closed by agreement, because nobody used it.
    LinkRests { host: HostIndex },
    /// A host cannot be called.
    Unreached { host: HostIndex },
    /// Nothing has been heard of a member for too long, or it is gone for certain.
    Silent { host: HostIndex, certain: bool },
    /// A member hears nothing of another host.
    SilentFor { by: HostIndex, host: HostIndex },
    /// A host that was asked about another one has answered: where it hears it, with the number of
    /// hosts that it does not hear.
    Opinion { of: HostIndex, by: HostIndex, round: u64, unheard: Option<u32> },
    /// The witness has answered.
    Witnessed { lock: Lock, granted: bool },
    /// A command of this host for the log, with its ticket. A leader that comes later does not know
    /// of it: it is given again after [`Output::Led`], until it has been applied.
    Propose { ticket: u64, command: Box<Command> },
    /// A host that takes this one for the leader of a term wants a command in the log.
    Put { from: HostIndex, term: u64, ticket: u64, command: Box<Command> },
    /// A read waits for the confirmation that this host leads.
    Confirm { mark: u64 },
    /// The state after a command, for a member that has none.
    State { to: Member, number: u64, state: Blob },
    /// The command that was applied last has let a host in, on this computer.
    In { host: HostIndex, computer: Blob },
    /// A host is no member any more.
    Out { host: HostIndex },
    /// That is all about a host that has come in or is out.
    Changed { host: HostIndex },
    /// The members are others than those that were told of one by one. The computers of all that
    /// are known.
    Hosts { computers: Vec<(HostIndex, Blob)> },
    /// The rules for two hosts.
    Rules { rules: Rules },
    /// A command has taken out the last other host.
    Alone,
    /// A timeout was handled, and all is done that the library wanted for it. What has waited for
    /// too long ends now, not before: at a host that stood still, the timeout may bring a leader.
    Rested,
    /// All that was committed is applied.
    Applied,
    /// All questions to the leader are answered that can be: the held commands may go on.
    Answered,
    /// The machine's input is handled.
    Handled,
}

/// Something that is to be done.
#[derive(Debug)]
pub(crate) enum Output {
    /// To be said to a member.
    Say { host: HostIndex, said: Said },
    /// To be done by the shell.
    Act(Act),
    /// For the log file.
    Log(String),
    /// A member is to be asked whether it hears another one.
    Ask { by: HostIndex, about: HostIndex, round: u64 },
    /// The next place of the log: the ticket of the command, or of a piece of one, if this host has
    /// proposed it, and the command if it is to be applied.
    Next { own: Option<u64>, command: Option<Ordered> },
    /// The state after a command replaces the one that is known here.
    Adopt { number: u64, state: Blob },
    /// A member wants the state.
    StateWanted { to: Member },
    /// There is a leader: it is to be given all that this host has proposed.
    Led { term: u64, leader: HostIndex },
    /// Questions up to this one may be answered.
    Confirmed { mark: u64 },
    /// No leader has been known for a while.
    Leaderless,
    /// The others have gone on without this host.
    Overtaken,
    /// This host ends: there was no leader for too long.
    Lost,
}

/// A command to be applied.
#[derive(Debug)]
pub(crate) struct Ordered {
    /// The host that has proposed it.
    pub(crate) proposer: HostIndex,
    /// None where it has no effect.
    pub(crate) command: Option<Command>,
}

/// The part that this host has in the order of commands.
#[derive(Debug)]
pub(crate) struct Order {
    me: HostIndex,
    now: Time,
    consensus: Consensus,
    leadership: Leadership,
    /// When the present leader became known.
    leads_since: Time,
    hearing: Hearing,
    pair: Pair,
    rules: Rules,
    outputs: VecDeque<Output>,
}

impl Order {
    /// A host that knows nothing yet. `begins` is false for a daemon that was started again.
    pub(crate) fn new(me: HostIndex, quorum: Box<dyn Quorum>, begins: bool) -> Self {
        Self {
            me,
            now: Time(0),
            consensus: Consensus::new(me, quorum),
            leadership: Leadership::Unasked,
            leads_since: Time(0),
            hearing: Hearing::new(me),
            pair: Pair::new(begins),
            rules: Rules::plain(),
            outputs: VecDeque::new(),
        }
    }

    /// The machine begins on this host.
    pub(crate) fn begin(&mut self) {
        self.consensus.begin(self.now);
    }

    /// Something happened.
    pub(crate) fn handle(&mut self, now: Time, input: Input) {
        self.now = now;
        match input {
            Input::Heard { host, bytes } => self.tell(QuorumInput::Heard { host, bytes }),
            Input::LinkUp { host } => self.link_up(host),
            Input::LinkDown { host } => self.link_down(host),
            Input::LinkRests { host } => self.link_rests(host),
            Input::Unreached { host } => self.unreached(host),
            Input::Silent { host, certain } => self.silent(host, certain),
            Input::SilentFor { by, host } => self.silent_for(by, host),
            Input::Opinion { of, by, round, unheard } => {
                self.opinion_told(of, (by, round), unheard);
            }
            Input::Witnessed { lock, granted } => self.witness_said(lock, granted),
            Input::Propose { ticket, command } => self.propose(ticket, *command),
            Input::Put { from, term, ticket, command } => {
                // Who has put it to an earlier leader puts it again.
                if self.consensus.leader() == Some((term, self.me)) {
                    self.consensus.hold(from, ticket, *command);
                }
            }
            Input::Confirm { mark } => self.tell(QuorumInput::Confirm { mark }),
            Input::State { to, number, state } => {
                self.tell(QuorumInput::State { to, number, state });
            }
            Input::In { host, computer } => {
                self.consensus.seat(host, self.consensus.applied());
                self.tell_computers(vec![(host, computer)]);
            }
            Input::Out { host } => {
                self.hearing.forget_link(host);
                if host == self.me || !planted::is(Bug::SeatKept) {
                    self.consensus.unseat(host);
                }
            }
            Input::Changed { host } => self.tell_member(host),
            Input::Hosts { computers } => {
                self.tell_computers(computers);
                self.tell_members();
            }
            Input::Rules { rules } => self.rules = rules,
            Input::Alone if self.consensus.is_leader() => {}
            Input::Alone => self.take_over(true),
            Input::Rested => {
                self.end_waits();
                self.end_opinions();
                self.hearing.count_reports(&self.consensus, self.now.0);
            }
            Input::Applied => self.arrange(),
            Input::Answered => self.order_held(),
            Input::Handled => {
                let hosts = self.hearing.near(&self.consensus, self.now.0);
                self.outputs.extend(hosts.map(|hosts| Output::Act(Act::Near { hosts })));
            }
        }
    }

    /// A moment that [`Order::poll_timeout`] told has come.
    pub(crate) fn handle_timeout(&mut self, now: Time) {
        self.now = now;
        self.consensus.timeout(now);
    }

    /// When to call [`Order::handle_timeout`].
    pub(crate) fn poll_timeout(&self) -> Option<u64> {
        let (log, leaderless) = (self.consensus.next_time(), self.leadership.next_time());
        [log, leaderless, self.hearing.next_time()].into_iter().flatten().min()
    }

    /// The next output; to be drained after every input and step.
    pub(crate) fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Does the next thing that the library wants done. Returns false if there is none.
    pub(crate) fn proceed(&mut self, now: Time) -> bool {
        self.now = now;
        let output = self.consensus.next_output();
        output.map(|output| self.follow(output)).is_some()
    }

    /// The log, the members and the leader, to be read.
    pub(crate) const fn log(&self) -> &Consensus {
        &self.consensus
    }

    /// The links of this host, to be read.
    pub(crate) const fn hearing(&self) -> &Hearing {
        &self.hearing
    }

    /// Takes the members, and how far each is, from the state after a command.
    pub(crate) fn load(&mut self, number: u64, records: &[(Blob, Blob)]) {
        self.consensus.load(records);
        self.consensus.advance_to(number);
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.consensus.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.consensus.restore(key, value)
    }

    fn tell(&mut self, input: QuorumInput) {
        self.consensus.input(self.now, input);
    }

    fn put_out(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    fn say(&mut self, host: HostIndex, said: Said) {
        self.put_out(Output::Say { host, said });
    }
}
