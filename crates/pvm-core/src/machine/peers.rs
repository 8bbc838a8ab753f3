//! What this host says to the others and hears from them.

use super::{ANSWER_NS, Machine};
use crate::consensus::Ordered;
use crate::io::Act;
use crate::pending::{Asker, Question, Want};
use pvm_wire::peer::{Command, PeerMessage, Said};
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Blob, Code, HostIndex, Tid};

impl Machine {
    /// Says something to another member.
    pub(super) fn say(&mut self, host: HostIndex, said: Said) {
        if !self.hosts.contains(host) || host == self.me() {
            return;
        }
        if let Some(message) = self.sessions.say(host, said) {
            self.act(Act::Say { host, message });
        }
    }

    pub(super) fn say_to_all(&mut self, said: &Said) {
        for host in self.hosts.indices() {
            self.say(host, said.clone());
        }
    }

    /// Asks another host; its answer goes to `asker`.
    pub(super) fn ask(&mut self, host: HostIndex, asker: Asker, tid: Tid, request: Request) {
        let deadline = self.after(ANSWER_NS);
        self.ask_until(deadline, host, asker, tid, request);
    }

    /// Asks what only other tasks can bring about: there is no deadline (but the end of the host).
    pub(super) fn ask_and_wait(
        &mut self,
        host: HostIndex,
        asker: Asker,
        tid: Tid,
        request: Request,
    ) {
        self.ask_until(0, host, asker, tid, request);
    }

    fn ask_until(
        &mut self,
        deadline: u64,
        host: HostIndex,
        asker: Asker,
        tid: Tid,
        request: Request,
    ) {
        let ask = self.question(Question { asker, host, deadline, want: None });
        self.say(host, Said::Ask { ask, asker: tid, request });
    }

    /// Notes a question; returns its number.
    pub(super) fn question(&mut self, question: Question) -> u64 {
        let ask = self.pending.number();
        self.pending.questions.insert(ask, question);
        ask
    }

    /// Asks the first host for a named message on behalf of a reader that may wait.
    pub(super) fn ask_for_info(&mut self, asker: Asker, want: Want, waits: bool) {
        let Want { name, index, flags, tid } = want.clone();
        let host = self.consensus.first();
        let deadline = self.after(ANSWER_NS);
        let ask = self.question(Question { asker, host, deadline, want: waits.then_some(want) });
        let request = Request::RecvInfo { name, index, flags, context: 0 };
        self.say(host, Said::Ask { ask, asker: tid, request });
    }

    pub(super) fn link_up(&mut self, host: HostIndex) {
        for message in self.sessions.link_up(host) {
            self.act(Act::Say { host, message });
        }
    }

    /// Another host said something.
    pub(super) fn hear(&mut self, host: HostIndex, message: PeerMessage) {
        let joined = *self.joined.get();
        if joined && !self.hosts.contains(host) {
            return;
        }
        match message {
            // Between tasks: the shell's matter.
            PeerMessage::Forward { .. } => {}
            PeerMessage::Heard { through } => self.sessions.acknowledged(host, through),
            PeerMessage::Ordered { sequence, said } => {
                let next = self.sessions.accept(host, sequence);
                let message = self.sessions.heard(host);
                self.act(Act::Say { host, message });
                match (next, said) {
                    (false, _) => {}
                    (true, Said::Snapshot { number, records }) if !joined => {
                        self.join(number, &records);
                    }
                    (true, said) if joined && !self.may_say(host, &said) => {}
                    (true, said) if joined => self.heard(host, said),
                    (true, said) => self.sessions.keep_early(host, said),
                }
            }
        }
    }

    /// The state of the machine has come: this host is a member now.
    fn join(&mut self, number: u64, records: &[(Blob, Blob)]) {
        for (Blob(key), Blob(value)) in records {
            let _known = self.hosts.adopt(key, value)
                || self.registry.adopt(key, value)
                || self.groups.adopt(key, value);
        }
        self.consensus.start_from(number);
        self.joined.set(true);
        self.tell_hosts();
        for early in self.sessions.take_early() {
            if self.may_say(early.host, &early.said) {
                self.heard(early.host, early.said);
            }
        }
    }

    /// Everything that the hosts agree on, for one that joins.
    pub(super) fn snapshot(&self) -> Said {
        let mut records = Vec::new();
        self.hosts.records(&mut records);
        self.registry.records(&mut records);
        self.groups.records(&mut records);
        Said::Snapshot { number: self.consensus.applied(), records }
    }

    fn heard(&mut self, host: HostIndex, said: Said) {
        match said {
            // Every host tells of a death; the first to tell has been heard already.
            Said::Propose { ticket: 0, command: Command::RemoveHost { host: dead, .. } }
                if !self.hosts.contains(dead) => {}
            // One that cannot reach a host does not know more than this one, which can.
            Said::Propose { ticket: 0, command: Command::RemoveHost { host: far, dead: true } }
                if self.sessions.is_up(far) => {}
            Said::Propose { ticket, command } if self.consensus.is_first() => {
                let steps = self.consensus.order(host, ticket, command);
                self.run_steps(steps);
            }
            Said::Commit { number, proposer, ticket, command }
                if host == self.consensus.first() && self.consensus.accept(number) =>
            {
                self.apply(Ordered { number, proposer, ticket, command });
            }
            // A second snapshot, or an order by one who has none to give.
            Said::Snapshot { .. } | Said::Propose { .. } | Said::Commit { .. } => {}
            Said::Ask { ask: 0, asker, request } => self.serve(Asker::Nobody, asker, request),
            Said::Ask { ask, asker, request } => {
                self.serve(Asker::Peer { host, ask }, asker, request);
            }
            Said::Answer { ask, reply } => self.answered(ask, reply),
            Said::Launch { ask, .. } => self.launch_share(host, ask, said),
            Said::Siblings { tids } => self.set_siblings(&tids),
            Said::Watch { watch, tid } => self.watch_for(host, watch, tid),
            Said::Unwatch { watch, .. } => self.watches.remove_foreign(host, watch),
            Said::Gone { watch } => self.watched_gone(watch),
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
            Said::Halt => {
                self.log("the machine was halted".to_owned());
                self.ending = true;
            }
        }
    }

    pub(super) fn answered(&mut self, ask: u64, reply: Reply) {
        let Some(question) = self.pending.questions.remove(&ask) else { return };
        match (question.want, &reply) {
            (Some(want), Reply::Failed { code: Code::NotFound }) => {
                self.wait_for_info(question.asker, want);
            }
            _ => self.answer(question.asker, reply),
        }
    }
}
