//! Where the output of our children goes.

use super::{Machine, tasks::KILL};
use crate::io::{Connection, Effect};
use crate::output;
use crate::pending::Asker;
use pvm_wire::peer::{Operator, OutputNews, Said};
use pvm_wire::request::{Reply, Request, Target};
use pvm_wire::{Blob, Code, HostIndex, Tid};

impl Machine {
    pub(super) fn wrote(&mut self, tid: Tid, stream: u8, bytes: Blob) {
        let Some(child) = self.tasks.child(tid) else { return };
        if let Some(operator) = child.operator.clone() {
            self.pass_to_operator(operator, tid, Reply::Output { tid, bytes, stream });
        } else if child.output.tid == Tid::NONE {
            self.log_output(tid, stream, &bytes.0);
        } else {
            let target = child.output.clone();
            self.tell_output(&target, tid, OutputNews::Bytes { bytes });
        }
    }

    pub(super) fn output_ended(&mut self, tid: Tid) {
        let Some(child) = self.tasks.child_mut(tid) else { return };
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
        let ended = self.tasks.child(tid).filter(|child| child.output_ended);
        let Some(status) = ended.and_then(|child| child.status) else { return };
        let child = self.tasks.remove_child(tid);
        if let Some(operator) = child.and_then(|child| child.operator) {
            self.pass_to_operator(operator, tid, Reply::Exited { tid, status });
        }
    }

    /// Tells a receiver, wherever it is, about the output of a task. Where there is none any
    /// more it goes to the log: output is never lost.
    pub(super) fn tell_output(&mut self, target: &Target, tid: Tid, news: OutputNews) {
        let host = target.tid.host();
        if self.hosts.may_be_new(host) && !self.consensus.is_first() {
            // The first host knows it, and hands it on.
            return self
                .say(self.consensus.first(), Said::Output { target: target.clone(), tid, news });
        }
        if host != self.me() && self.hosts.contains(host) {
            return self.say(host, Said::Output { target: target.clone(), tid, news });
        }
        if self.tasks.alive(target.tid).is_some() {
            for message in output::messages(target, tid, &news) {
                self.effect(Effect::Deliver { to: target.tid, message });
            }
        } else if let OutputNews::Bytes { bytes } = news {
            self.log_output(tid, 1, &bytes.0);
        }
    }

    /// Lines for the log. What is unfinished waits in the child's record, if it is ours.
    fn log_output(&mut self, tid: Tid, stream: u8, bytes: &[u8]) {
        let mut nowhere = Blob::default();
        let ours = self.tasks.child_mut(tid);
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
        let Some(child) = self.tasks.child_mut(tid) else { return };
        let rest: Vec<Blob> = child.line.iter_mut().map(std::mem::take).collect();
        for line in rest.into_iter().filter(|line| !line.0.is_empty()) {
            self.log(format!("[{tid}] {}", line.to_text()));
        }
    }

    /// `PvmSelfOutputTid` and its like: the old receiver is told the end, the new one the start.
    pub(super) fn set_output(&mut self, asker: Asker, tid: Tid, output: Target) {
        if let Some(child) = self.tasks.child_mut(tid).filter(|child| child.operator.is_none()) {
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
    fn pass_to_operator(&mut self, operator: Operator, tid: Tid, reply: Reply) {
        if operator.host == self.me() {
            return self.tell_operator(&operator, reply);
        }
        let said = match reply {
            Reply::Output { bytes, stream, .. } => {
                Said::RunOutput { operator: operator.clone(), tid, stream, bytes }
            }
            Reply::Exited { status, .. } => {
                Said::RunExited { operator: operator.clone(), tid, status }
            }
            _ => return,
        };
        self.say(operator.host, said);
    }

    /// Tells a command of this host.
    pub(super) fn tell_operator(&mut self, operator: &Operator, reply: Reply) {
        let asker = Asker::Connection { connection: operator.connection, id: operator.id };
        for reply in self.launches.tell(operator, reply) {
            self.answer(asker.clone(), reply);
        }
    }

    /// A connection has ended: if it was a command's, its tasks end with it.
    pub(super) fn operator_gone(&mut self, connection: Connection) {
        for tid in self.launches.running(connection) {
            self.send_signal(tid, KILL);
        }
        self.launches.forget_runs(connection);
    }

    /// The host of commands is gone: their tasks here end with it.
    pub(super) fn orphan_children(&mut self, host: HostIndex) {
        let theirs = |operator: &Operator| operator.host == host;
        for tid in self.tasks.children_where(|child| child.operator.as_ref().is_some_and(theirs)) {
            if let Some(child) = self.tasks.child_mut(tid) {
                child.operator = None;
            }
            self.send_signal(tid, KILL);
        }
    }

    /// Standard input for a task, from the command that started it.
    pub(super) fn feed(&mut self, connection: Connection, asker: Asker, tid: Tid, bytes: Blob) {
        if !self.launches.running(connection).contains(&tid) {
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
