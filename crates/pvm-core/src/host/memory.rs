//! Requests about a task's segments that come from other hosts: its exposed memory, its probe
//! points.
//!
//! The parent keeps the segments, so that neither the task nor its program takes part; the machine
//! only finds the host and carries question and answer.

use super::{ANSWER_NS, Handler};
use crate::deadline::Deadline;
use crate::io::Effect;
use crate::pending::{Asker, Question};
use pvm_wire::request::{MEMORY_BYTES_MAX, Request};
use pvm_wire::{Code, Tid};

impl Handler<'_> {
    /// Has the parent of the task's host answer.
    pub(super) fn serve_memory(&mut self, asker: Asker, tid: Tid, request: Request) {
        let (of, bytes) = match &request {
            Request::GetMemory { owner, bytes, .. } => (*owner, *bytes as usize),
            Request::PutMemory { owner, bytes, .. } => (*owner, bytes.0.len()),
            Request::ChangeMemory { owner, .. } | Request::DescribeMemory { owner, .. } => {
                (*owner, 0)
            }
            Request::SetProbes { tid, .. } => (*tid, 0),
            _ => return self.fail(asker, Code::BadParam),
        };
        if bytes > MEMORY_BYTES_MAX {
            return self.fail(asker, Code::BadParam);
        }
        if self.host.tasks.alive(of).is_none() {
            return self.pass_on(asker, tid, of, request);
        }
        self.ask_parent(asker, request);
    }

    fn ask_parent(&mut self, asker: Asker, request: Request) {
        let (host, deadline) = (self.me(), Deadline::At(self.after(ANSWER_NS)));
        let ticket = self.question(Question { asker, host, deadline });
        self.effect(Effect::Ask { ticket, request });
    }

    /// Has the parent of a host start its recorder, or tell which task that is.
    pub(super) fn serve_recorder(&mut self, asker: Asker, tid: Tid, host: Tid, all: bool) {
        let request = Request::Recorder { host, all };
        if host.host() == self.me() {
            self.ask_parent(asker, request);
        } else {
            self.pass_on(asker, tid, host, request);
        }
    }
}
