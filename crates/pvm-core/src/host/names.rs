//! Named messages, and the services that are registered by them.

use super::Handler;
use crate::agreed::{MULTI_INSTANCE, READ_AND_DELETE, WAIT_FOR_INFO};
use crate::pending::{Asker, Reader, Want};
use crate::tasks::nothing_inherited;
use pvm_wire::peer::Command;
use pvm_wire::request::{Inherited, Reply, Request};
use pvm_wire::{Address, Blob, Code, Encoding, Envelope, Message, RunList, Tid, Wire};

/// `PVMNORESETCLASS`: the tasks that `reset` spares.
const NO_RESET: &str = "###_PVM_NO_RESET_###";
/// `PVMRMCLASS`, `PVMHOSTERCLASS`, `PVMTASKERCLASS`, `PVMTRACERCLASS`, by the number of the
/// service.
const SERVICES: [&str; 4] = [MANAGER, HOSTER, TASKER, TRACER];
pub(super) const MANAGER: &str = "###_PVM_RM_###";
pub(super) const HOSTER: &str = "###_PVM_HOSTER_###";
pub(super) const TASKER: &str = "###_PVM_TASKER_###";
const TRACER: &str = "###_PVM_TRACER_###";
const HOSTER_NUMBER: i32 = 2;
const TASKER_NUMBER: i32 = 3;
const TRACER_NUMBER: i32 = 4;

impl Handler<'_> {
    pub(super) fn serve_names(&mut self, asker: Asker, tid: Tid, request: Request) {
        match request {
            Request::PutInfo { name, flags, message } => {
                if !message.is_sound() {
                    return self.fail(asker, Code::BadMsg);
                }
                self.known_everywhere(tid);
                self.propose(asker, Command::PutInfo { name, flags, owner: tid, message });
            }
            Request::RecvInfo { name, index, flags, .. } => {
                self.read_info(asker, Want { name, index, flags, tid });
            }
            Request::DelInfo { name, index, flags } => {
                self.propose(asker, Command::DelInfo { name, index, flags, asker: tid });
            }
            Request::MailboxInfo { pattern } => {
                self.ask_home(asker, tid, Request::MailboxInfo { pattern });
            }
            Request::Register { service, trace, on } => {
                let given = trace.map(|trace| Inherited { trace, ..nothing_inherited() });
                self.register(asker, tid, service, given, on);
            }
            Request::RegisterTracer { given } => {
                self.register(asker, tid, TRACER_NUMBER, Some(given), true);
            }
            _ => self.fail(asker, Code::BadParam),
        }
    }

    /// `pvm_recvinfo`. What it finds must not be older than what any task knows of, so the
    /// leader is asked.
    fn read_info(&mut self, asker: Asker, want: Want) {
        let waits = want.flags & WAIT_FOR_INFO != 0;
        let mut plain = want.clone();
        plain.flags &= !WAIT_FOR_INFO;
        if want.flags & READ_AND_DELETE != 0 {
            let Want { name, index, flags, tid } = plain;
            let command = Command::TakeInfo { name, index, flags, asker: tid };
            return self.propose_for(asker, None, waits.then_some(want), command);
        }
        let Want { name, index, flags, tid } = plain;
        let request = Request::RecvInfo { name, index, flags, context: 0 };
        self.ask_home_for(asker, tid, request, waits.then_some(want));
    }

    /// There is nothing yet: the reader waits for the next message of this name.
    pub(super) fn wait_for_info(&mut self, asker: Asker, mut want: Want) {
        // It may have come while the leader's answer was under way.
        let there = self.agreed.registry().read(&want.name, want.index, want.flags).is_ok();
        want.flags |= WAIT_FOR_INFO;
        if there {
            return self.read_info(asker, want);
        }
        let number = self.host.pending.number();
        self.host.pending.readers.insert(number, Reader { asker, want });
    }

    /// Something was put under a name.
    pub(super) fn wake_readers(&mut self, name: &Blob) {
        for Reader { asker, want } in self.host.pending.take_readers(name) {
            self.read_info(asker, want);
        }
    }

    /// From now on the end of this task concerns all hosts.
    pub(super) fn known_everywhere(&mut self, tid: Tid) {
        if self.host.tasks.get(tid).is_some_and(|task| !task.known_everywhere)
            && let Some(task) = self.host.tasks.get_mut(tid)
        {
            task.known_everywhere = true;
        }
    }

    /// Adds a task to the list of tasks that `reset` spares, or removes it; the answer comes when
    /// every host that is asked for the list from then on knows it.
    pub(super) fn spare(&mut self, asker: Asker, tid: Tid, spared: bool) {
        let name = Blob::from(NO_RESET);
        if !spared {
            let command = Command::Withdraw { name, owner: tid };
            return self.propose_for(asker, Some(Reply::Done), None, command);
        }
        if self.agreed.registry().has(&name, tid) {
            return self.answer(asker, Reply::Done);
        }
        self.known_everywhere(tid);
        let message =
            Message::of_ints(Envelope::new(tid, Address::untagged(tid)), &[tid.as_c_int()]);
        let command = Command::PutInfo { name, flags: MULTI_INSTANCE, owner: tid, message };
        self.propose_for(asker, Some(Reply::Done), None, command);
    }

    fn register(
        &mut self,
        asker: Asker,
        tid: Tid,
        service: i32,
        given: Option<Inherited>,
        on: bool,
    ) {
        let at = usize::try_from(service).ok().and_then(|number| number.checked_sub(1));
        let Some(name) = at.and_then(|at| SERVICES.get(at)).map(|&name| Blob::from(name)) else {
            return self.fail(asker, Code::BadParam);
        };
        if service == HOSTER_NUMBER && self.order.log().eldest() != Some(self.me()) {
            return self.fail(asker, Code::HosterNmstr);
        }
        if !on {
            let command = Command::Withdraw { name, owner: tid };
            return self.propose_for(asker, Some(Reply::Done), None, command);
        }
        let alone = matches!(service, HOSTER_NUMBER | TASKER_NUMBER);
        if alone && self.service(SERVICES[service as usize - 1]).is_some_and(|other| other != tid) {
            return self.fail(asker, Code::Already);
        }
        if alone && self.agreed.registry().has(&name, tid) {
            // As in PVM a second call takes it back.
            let command = Command::Withdraw { name, owner: tid };
            return self.propose_for(asker, Some(Reply::Done), None, command);
        }
        // As in PVM there is one tracer, and any number of managers, each once.
        let flags = if given.is_some() { 0 } else { MULTI_INSTANCE };
        if flags == MULTI_INSTANCE && self.agreed.registry().has(&name, tid) {
            return self.answer(asker, Reply::Done);
        }
        self.known_everywhere(tid);
        let message = service_message(tid, given.as_ref());
        let command = Command::PutInfo { name, flags, owner: tid, message };
        self.propose(asker, command);
    }

    /// The options of the registered tracer for tasks that have no other tracer.
    pub(super) fn tracer(&self) -> Option<Inherited> {
        let message = self.agreed.registry().first(&TRACER.into())?;
        Inherited::from_bytes(&message.body.0).ok()
    }
}

/// The message that a service puts under its name: its options, or nothing.
fn service_message(tid: Tid, given: Option<&Inherited>) -> Message {
    let body = given.map_or_else(Vec::new, Wire::to_bytes);
    let mut envelope = Envelope::new(tid, Address::untagged(tid));
    envelope.describe(Encoding::Raw, body.len(), &RunList::new());
    Message { envelope, body: Blob(body) }
}
