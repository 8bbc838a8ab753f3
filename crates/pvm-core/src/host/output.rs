//! Destinations for the output of this host's children.

use super::{ANSWER_NS, Handler, tasks::KILL};
use crate::io::{Connection, Effect};
use crate::output;
use crate::pending::{Asker, Late};
use pvm_wire::peer::{Operator, OutputNews, Said};
use pvm_wire::request::{Reply, Request, Target};
use pvm_wire::{Blob, Code, HostIndex, Tid};

impl Handler<'_> {
    pub(super) fn wrote(&mut self, tid: Tid, stream: u8, bytes: Blob) {
        let Some(child) = self.host.tasks.child(tid) else { return };
        if child.output.tid == Tid::NONE {
            return self.tell_nobody(tid, stream, bytes);
        }
        let target = child.output.clone();
        self.tell_output(&target, tid, OutputNews::Bytes { bytes });
    }

    /// Output without a receiver: for the command whose run the task belongs to, or for the log.
    fn tell_nobody(&mut self, tid: Tid, stream: u8, bytes: Blob) {
        match self.host.tasks.child(tid).and_then(|child| child.operator.clone()) {
            Some(operator) => {
                self.pass_to_operator(operator, Reply::Output { tid, bytes, stream });
            }
            None => self.log_output(tid, stream, &bytes.0),
        }
    }

    pub(super) fn output_ended(&mut self, tid: Tid) {
        let Some(child) = self.host.tasks.child_mut(tid) else { return };
        child.output_ended = true;
        let target = child.output.clone();
        self.flush_log(tid);
        if target.tid != Tid::NONE {
            self.tell_output(&target, tid, OutputNews::End);
        }
        self.child_ended(tid);
    }

    /// Forgets a child whose process and output have both ended.
    pub(super) fn child_ended(&mut self, tid: Tid) {
        let ended = self.host.tasks.child(tid).filter(|child| child.output_ended);
        let Some(status) = ended.and_then(|child| child.status) else { return };
        let child = self.host.tasks.remove_child(tid);
        self.trace_ends(tid, status);
        if let Some(operator) = child.and_then(|child| child.operator) {
            self.pass_to_operator(operator, Reply::Exited { tid, status });
        }
    }

    /// Tells a receiver, wherever it is, about the output of a task. Where there is none any
    /// more it goes to a command or to the log: output is never lost.
    pub(super) fn tell_output(&mut self, target: &Target, tid: Tid, news: OutputNews) {
        let host = target.tid.host();
        if self.agreed.hosts().may_be_new(host) && !self.order.log().is_current(self.host.now) {
            return self.say_late(host, Said::Output { target: target.clone(), tid, news });
        }
        if host != self.me() && self.agreed.hosts().contains(host) {
            self.say(host, Said::Output { target: target.clone(), tid, news });
            return self.hold_output(host, tid);
        }
        if self.host.tasks.alive(target.tid).is_some() {
            for message in output::messages(target, tid, &news) {
                self.effect(Effect::Deliver { to: target.tid, message });
            }
        } else if let OutputNews::Bytes { bytes } = news {
            self.tell_nobody(tid, 1, bytes);
        }
    }

    /// Lines for the log. What is unfinished waits in the child's record, if it is ours.
    fn log_output(&mut self, tid: Tid, stream: u8, bytes: &[u8]) {
        let mut nowhere = Blob::default();
        let ours = self.host.tasks.child_mut(tid);
        let line = ours.and_then(|child| child.line.get_mut(usize::from(stream == 2)));
        let is_ours = line.is_some();
        let mut lines = output::lines(line.unwrap_or(&mut nowhere), bytes);
        if !is_ours && !nowhere.0.is_empty() {
            lines.push(nowhere.to_text());
        }
        for line in lines {
            self.log(format!("[{tid}] {line}"));
        }
    }

    fn flush_log(&mut self, tid: Tid) {
        let Some(child) = self.host.tasks.child_mut(tid) else { return };
        let rest: Vec<Blob> = child.line.iter_mut().map(std::mem::take).collect();
        for line in rest.into_iter().filter(|line| !line.0.is_empty()) {
            self.log(format!("[{tid}] {}", line.to_text()));
        }
    }

    /// `PvmSelfOutputTid` and its like: the old receiver is told the end, the new one the start.
    pub(super) fn set_output(&mut self, asker: Asker, tid: Tid, output: Target) {
        if let Some(child) = self.host.tasks.child_mut(tid).filter(|child| !child.is_direct()) {
            let (parent, ended) = (child.parent, child.output_ended);
            let old = std::mem::replace(&mut child.output, output.clone());
            if old != output && !ended {
                self.flush_log(tid);
                if old.tid != Tid::NONE {
                    self.tell_output(&old, tid, OutputNews::End);
                }
                if output.tid != Tid::NONE {
                    self.tell_output(&output, tid, OutputNews::Moved { parent });
                }
            }
        }
        self.answer(asker, Reply::Done);
    }

    /// Tells a command, wherever it is, about a task of its.
    pub(super) fn pass_to_operator(&mut self, operator: Operator, reply: Reply) {
        if operator.host == self.me() {
            let replies = self.host.launches.tell(&operator, reply);
            return self.answer_operator(&operator, replies);
        }
        let host = operator.host;
        let said = match reply {
            Reply::Output { tid, bytes, stream } => {
                Said::RunOutput { operator, tid, stream, bytes }
            }
            Reply::Exited { tid, status } => Said::RunExited { operator, tid, status },
            _ => return,
        };
        if self.agreed.hosts().may_be_new(host) && !self.order.log().is_current(self.host.now) {
            return self.say_late(host, said);
        }
        let of = match &said {
            Said::RunOutput { tid, .. } => Some(*tid),
            _ => None,
        };
        self.say(host, said);
        of.into_iter().for_each(|tid| self.hold_output(host, tid));
    }

    /// Notes that too much output waits for a host: this host stops reading what the task writes.
    fn hold_output(&mut self, host: HostIndex, tid: Tid) {
        if self.host.sessions.hold(host, tid) {
            self.effect(Effect::Hold { tid, on: true });
        }
    }

    /// A host has heard something, or is no member any more.
    pub(super) fn release_output(&mut self, host: HostIndex) {
        for tid in self.host.sessions.release(host) {
            self.effect(Effect::Hold { tid, on: false });
        }
    }

    /// Says something to a host once it is known here: the order of commands is on its way.
    fn say_late(&mut self, host: HostIndex, said: Said) {
        let (number, deadline) = (self.host.pending.number(), self.after(ANSWER_NS));
        self.host.pending.late.insert(number, Late { host, deadline, said });
    }

    /// A host is known now: what was meant for it.
    pub(super) fn say_what_waited(&mut self, host: HostIndex) {
        for late in self.host.pending.take_late(|late| late.host == host) {
            self.say(host, late.said);
        }
    }

    /// Hosts that have not come to be.
    pub(super) fn give_up_late(&mut self) {
        let now = self.host.now.0;
        for late in self.host.pending.take_late(|late| late.deadline <= now) {
            if let Said::Output { tid, news: OutputNews::Bytes { bytes }, .. } = late.said {
                self.tell_nobody(tid, 1, bytes);
            }
        }
    }

    fn answer_operator(&mut self, operator: &Operator, replies: Vec<Reply>) {
        let asker = Asker::Connection { connection: operator.connection, id: operator.id };
        for reply in replies {
            self.answer(asker.clone(), reply);
        }
    }

    /// Tells the host of a command what its tasks spawn.
    pub(super) fn tell_run(&mut self, said: Said) {
        let (Said::RunSpawning { operator } | Said::RunSpawned { operator, .. }) = &said else {
            return;
        };
        let host = operator.host;
        match said {
            said if host == self.me() => self.run_told(host, said),
            said if self.agreed.hosts().contains(host) => self.say(host, said),
            Said::RunSpawned { tids, .. } => self.kill_all(&tids),
            _ => {}
        }
    }

    /// A host tells what tasks of a command's run spawn there.
    pub(super) fn run_told(&mut self, from: HostIndex, said: Said) {
        match said {
            Said::RunSpawning { operator } if operator.host == self.me() => {
                self.host.launches.spawning(&operator, from);
            }
            Said::RunSpawned { operator, tids } if operator.host == self.me() => {
                match self.host.launches.joined(&operator, from, &tids) {
                    Some(replies) => self.answer_operator(&operator, replies),
                    None => self.kill_all(&tids),
                }
            }
            _ => {}
        }
    }

    fn kill_all(&mut self, tids: &[Tid]) {
        tids.iter().for_each(|&tid| self.send_signal(tid, KILL));
    }

    /// A host is gone on which tasks of commands may have been spawning: the runs wait for no
    /// word from there, and hear from here what was started here.
    pub(super) fn spawners_gone(&mut self, host: HostIndex) {
        for (connection, id) in self.host.launches.spawners_gone(host) {
            self.answer(Asker::Connection { connection, id }, Reply::Finished);
        }
        for (tid, operator) in self.host.tasks.spawned_from(host) {
            self.tell_run(Said::RunSpawning { operator: operator.clone() });
            self.tell_run(Said::RunSpawned { operator, tids: vec![tid] });
        }
    }

    /// A connection has ended: if it was a command's, its tasks end with it.
    pub(super) fn operator_gone(&mut self, connection: Connection) {
        self.kill_all(&self.host.launches.running(connection));
        self.host.launches.forget_runs(connection);
    }

    /// The host of commands is gone: their tasks here end with it.
    pub(super) fn orphan_children(&mut self, host: HostIndex) {
        let theirs = |operator: &Operator| operator.host == host;
        for tid in
            self.host.tasks.children_where(|child| child.operator.as_ref().is_some_and(theirs))
        {
            if let Some(child) = self.host.tasks.child_mut(tid) {
                child.operator = None;
            }
            self.send_signal(tid, KILL);
        }
    }

    /// Standard input for a task, from the command that started it.
    pub(super) fn feed(&mut self, connection: Connection, asker: Asker, tid: Tid, bytes: Blob) {
        if !self.host.launches.running(connection).contains(&tid) {
            return self.fail(asker, Code::NoTask);
        }
        if tid.host() == self.me() {
            self.effect(Effect::Feed { tid, bytes });
        } else {
            let request = Request::Feed { tid, bytes };
            self.say(tid.host(), Said::Ask { ask: 0, asker: Tid::NONE, request });
        }
        self.answer(asker, Reply::Done);
    }
}
