//! The messages between this host and the others.

use super::{ANSWER_NS, Handler, OrderInput};
use crate::deadline::Deadline;
use crate::io::Act;
use crate::pending::{Asker, Question};
use crate::planted::{self, Bug};
use pvm_wire::peer::{PeerMessage, Said};
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Code, HostIndex, Tid};

impl Handler<'_> {
    /// Says something to another member.
    pub(super) fn say(&mut self, host: HostIndex, said: Said) {
        if !self.agreed.hosts().contains(host) || host == self.me() {
            return;
        }
        match self.host.sessions.say(host, said) {
            Some(message) => self.act(Act::Say { host, message }),
            None => self.act(Act::Reach { host }),
        }
    }

    pub(super) fn say_to_all(&mut self, said: &Said) {
        for host in self.agreed.hosts().indices() {
            self.say(host, said.clone());
        }
    }

    /// Asks another host; its answer goes to `asker`.
    pub(super) fn ask(&mut self, host: HostIndex, asker: Asker, tid: Tid, request: Request) {
        let deadline = Deadline::At(self.after(ANSWER_NS));
        let ask = self.question(Question { asker, host, deadline });
        self.say(host, Said::Ask { ask, asker: tid, request });
    }

    /// Asks for what may take as long as it likes: there is no deadline but the end of the host.
    pub(super) fn ask_and_wait(&mut self, host: HostIndex, asker: Asker, request: Request) {
        let ask = self.question(Question { asker, host, deadline: Deadline::Unset });
        self.say(host, Said::Ask { ask, asker: Tid::NONE, request });
    }

    /// Notes a question; returns its number.
    pub(super) fn question(&mut self, question: Question) -> u64 {
        let ask = self.host.pending.number();
        self.host.pending.questions.insert(ask, question);
        ask
    }

    pub(super) fn link_up(&mut self, host: HostIndex) {
        for message in self.host.sessions.link_up(host) {
            self.act(Act::Say { host, message });
        }
        self.tell_order(OrderInput::LinkUp { host });
    }

    pub(super) fn link_down(&mut self, host: HostIndex) {
        self.host.sessions.link_down(host);
        self.tell_order(OrderInput::LinkDown { host });
    }

    /// Another host said something.
    pub(super) fn hear(&mut self, host: HostIndex, message: PeerMessage) {
        let joined = *self.host.joined.get();
        if joined && !self.agreed.hosts().contains(host) && !planted::is(Bug::FenceForgotten) {
            return;
        }
        match message {
            PeerMessage::Quorum { bytes } | PeerMessage::Hasty { bytes } => {
                self.tell_order(OrderInput::Heard { host, bytes });
            }
            // Between tasks: the shell's matter.
            PeerMessage::Forward { .. } => {}
            PeerMessage::Heard { through } => {
                self.host.sessions.acknowledged(host, through);
                self.release_output(host);
            }
            PeerMessage::Ordered { sequence, said } => {
                let next = self.host.sessions.accept(host, sequence);
                let message = self.host.sessions.heard(host);
                self.act(Act::Say { host, message });
                match (next, said) {
                    (false, _) => {}
                    (true, said) if joined && !self.may_say(host, &said) => {}
                    (true, said) if joined => self.heard(host, said),
                    (true, said) => self.host.sessions.keep_early(host, said),
                }
            }
        }
    }

    /// The state of the machine has come: this host is a member now.
    pub(super) fn join(&mut self) {
        self.host.joined.set(true);
        self.tell_rules();
        self.tell_hosts();
        if let Some((term, host)) = self.order.log().leader() {
            self.report(term, host);
        }
        for early in self.host.sessions.take_early() {
            if self.may_say(early.host, &early.said) {
                self.heard(early.host, early.said);
            }
        }
    }

    fn heard(&mut self, host: HostIndex, said: Said) {
        match said {
            Said::Put { term, ticket, command } => {
                let command = Box::new(command);
                self.tell_order(OrderInput::Put { from: host, term, ticket, command });
            }
            Said::AskHome { .. } => self.home_asked(host, said),
            Said::Report { term, released } => self.reported(host, term, released),
            Said::Release { released } => self.take_release(released),
            Said::Reported { term } => self.forget_releases(term),
            Said::Ask { ask: 0, asker, request } => self.serve(Asker::Nobody, asker, request),
            Said::Ask { ask, asker, request } => {
                self.serve(Asker::Peer { host, ask }, asker, request);
            }
            Said::Answer { ask, reply } => self.answered(ask, reply),
            Said::Launch { ask, .. } => self.launch_share(host, ask, said),
            Said::Siblings { tids } => self.set_siblings(&tids),
            Said::Watch { watch, tid } => self.watch_for(host, watch, tid),
            Said::Unwatch { watch, .. } => self.host.watches.remove_foreign(host, watch),
            Said::Gone { watch } => self.tell_behind(watch, 0),
            Said::GoneBehind { watch, ticket } => self.tell_behind(watch, ticket),
            Said::Output { target, tid, news } => self.tell_output(&target, tid, news),
            Said::RunOutput { operator, tid, stream, bytes } => {
                self.pass_to_operator(operator, Reply::Output { tid, bytes, stream });
            }
            Said::RunExited { operator, tid, status } => {
                self.pass_to_operator(operator, Reply::Exited { tid, status });
            }
            Said::RunSpawning { .. } | Said::RunSpawned { .. } => self.run_told(host, said),
            Said::Post { to, message } => self.carry(to, message),
            Said::RouteWanted { from, to } => self.route_wanted(host, from, to),
            Said::RouteAnswer { from, to, agreed } => {
                self.route_answered(host, (from, to), agreed);
            }
            Said::RouteBroken { from, to } => self.release_route(host, from, to),
            Said::Reset { asker } => self.kill_tasks(asker),
            Said::Silent { host: silent } => {
                self.tell_order(OrderInput::SilentFor { by: host, host: silent });
            }
            Said::Meet { host: caller, with } => self.meet(caller, with),
            // The host that was asked for it may have no links to some members: they are told, too.
            Said::Halt => {
                self.host.halt.forgo(host);
                self.halt(Asker::Nobody);
            }
        }
    }

    pub(super) fn answered(&mut self, ask: u64, reply: Reply) {
        if let Some(question) = self.host.pending.questions.remove(&ask) {
            return self.answer(question.asker, reply);
        }
        let Some(asked) = self.host.pending.home_asks.remove(&ask) else { return };
        match (asked.want, &reply) {
            (Some(want), Reply::Failed { code: Code::NotFound }) => {
                self.wait_for_info(asked.asker, want);
            }
            _ => self.answer(asked.asker, reply),
        }
    }
}
