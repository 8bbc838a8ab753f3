//! The questions to a manager, and its orders.

use super::super::names::MANAGER;
use super::super::{Handler, SECOND_NS};
use super::words;
use crate::io::Connection;
use crate::parcel::{Opened, Parcel};
use crate::pending::Asker;
use crate::placement::{HOST_COMPLEMENT, TASK_ARCH, TASK_HOST};
use crate::plugs::Call;
use crate::tasks::Task;
use pvm_wire::plug;
use pvm_wire::request::{LEAST_LOADED, Reply, Request};
use pvm_wire::{Code, HostIndex, Message, Tid};

/// The time that a manager may take: shorter than the timeout of a task's call, so that the task
/// learns the reason.
const MANAGER_NS: u64 = 50 * SECOND_NS;
/// The time that a manager may take to add hosts.
const MANAGER_HOSTS_NS: u64 = 150 * SECOND_NS;

impl Handler<'_> {
    /// True if the task's manager has been asked instead of us.
    pub(in crate::host) fn ask_manager(
        &mut self,
        connection: Connection,
        id: u32,
        tid: Tid,
        request: &Request,
    ) -> bool {
        let is_hidden = self.host.tasks.get(tid).is_some_and(Task::is_hidden);
        let is_asked = |manager: &Tid| tid != Tid::NONE && *manager != tid && !is_hidden;
        let manager = self.service(MANAGER).filter(is_asked);
        let Some((manager, (tag, parcel))) = manager.zip(words::asked(request)) else {
            return false;
        };
        if tag == plug::NOTIFY {
            // The notices are the manager's matter, and no request waits for its answer.
            self.deliver_asked(manager, tid, (tag, 0), parcel);
            self.answer(Asker::Connection { connection, id }, Reply::Done);
            return true;
        }
        let patience = if tag == plug::ADD_HOST { MANAGER_HOSTS_NS } else { MANAGER_NS };
        let deadline = self.after(patience);
        let wait = self.host.plugs.wait();
        let request = request.clone();
        let call = Call { manager, connection, id, tid, request, deadline };
        self.host.plugs.calls.insert(wait, call);
        self.deliver_asked(manager, tid, (tag, wait.cast_signed()), parcel);
        true
    }

    /// The message seems to come from the task that asks.
    fn deliver_asked(&mut self, manager: Tid, from: Tid, (tag, wait): (i32, i32), parcel: Parcel) {
        let message = parcel.message(from, manager, tag, wait);
        self.carry(manager, message);
    }

    /// True where a message to a task is the answer of its manager: the task asked its daemon, so
    /// the daemon takes it.
    pub(super) fn manager_answers(&mut self, to: Tid, message: &Message) -> bool {
        let wait = message.envelope.wait_id.cast_unsigned();
        let (from, tag) = (message.envelope.src, message.envelope.tag);
        let fits = |call: &Call| {
            let expected = words::asked(&call.request).map(|(tag, _)| tag);
            (call.manager, call.tid, expected) == (from, to, Some(tag))
        };
        if !self.host.plugs.calls.get(&wait).is_some_and(fits) {
            return false;
        }
        let Some(call) = self.host.plugs.calls.remove(&wait) else { return false };
        let asker = Asker::Connection { connection: call.connection, id: call.id };
        let opened = Opened::new(message);
        if tag == plug::SCHED {
            match opened.and_then(|mut opened| opened.int()) {
                Ok(0) => self.serve(asker, to, call.request),
                Ok(number) => self.fail(asker, Code::from_number(number).unwrap_or(Code::Denied)),
                Err(code) => self.fail(asker, code),
            }
            return true;
        }
        match opened.and_then(|mut opened| words::answered(&call.request, &mut opened)) {
            Ok(reply) => self.answer(asker, reply),
            Err(_) => {
                self.log(format!("the answer of {from} to {to} (tag {tag}) makes no sense"));
                self.fail(asker, Code::DSysErr);
            }
        }
        true
    }

    /// A manager orders tasks.
    pub(super) fn manager_starts(&mut self, message: &Message) -> Result<(), Code> {
        let (parent, mut spawn) = words::spawn_ordered(&mut Opened::new(message)?)?;
        let chooses = TASK_HOST | TASK_ARCH | HOST_COMPLEMENT | LEAST_LOADED;
        spawn.flags = spawn.flags & !chooses | TASK_HOST;
        spawn.place = ".".into();
        let count = u32::try_from(spawn.count).unwrap_or(1);
        let asker = order(message, plug::EXEC_ACK, count);
        self.spawn(asker, parent, spawn);
        Ok(())
    }

    /// A manager orders hosts.
    pub(super) fn manager_adds(&mut self, message: &Message) -> Result<(), Code> {
        let hosts = Opened::new(message)?.texts()?;
        let count = u32::try_from(hosts.len()).unwrap_or(0);
        self.add_hosts(order(message, plug::ADD_ACK, count), &hosts);
        Ok(())
    }

    /// Tells the outcome of an order.
    pub(in crate::host) fn order_done(&mut self, order: (Tid, i32, u32, u32), reply: &Reply) {
        let (manager, tag, wait, count) = order;
        if let Reply::Spawned { outcomes, .. } = reply
            && manager.host() != self.me()
        {
            let started = outcomes.iter().filter(|&&outcome| outcome > 0);
            for tid in started.map(|&outcome| Tid::from_c_int(outcome)) {
                self.host.plugs.ordered.insert(tid, manager);
            }
        }
        let parcel = words::done(reply, count as usize, &self.host_infos());
        self.tell_task(manager, tag, wait, parcel);
    }

    /// A task of this host has enrolled without having been spawned.
    pub(in crate::host) fn new_for_manager(&mut self, tid: Tid) {
        if let Some(manager) = self.service(MANAGER).filter(|&manager| manager != tid) {
            self.tell_task(manager, plug::EXEC_ACK, 0, Parcel::new().int(1).tid(tid));
        }
    }

    /// A task of this host has ended.
    pub(in crate::host) fn end_for_manager(&mut self, tid: Tid, status: i32) {
        let far = self.host.plugs.ordered.remove(&tid);
        let is_hidden = self.host.tasks.get(tid).is_some_and(Task::is_hidden);
        let near = self.service(MANAGER).filter(|&manager| manager != tid && !is_hidden);
        for manager in [far, near].into_iter().flatten() {
            let parcel = Parcel::new().tid(tid).int(status).ints(&[0; 4]);
            self.tell_task(manager, plug::TASK_END, 0, parcel);
        }
    }

    /// A host has left.
    pub(in crate::host) fn host_end_for_manager(&mut self, host: HostIndex) {
        if let Some(manager) = self.service(MANAGER) {
            let parcel = Parcel::new().tid(Tid::daemon(host));
            self.tell_task(manager, plug::HOST_END, 0, parcel);
        }
    }

    /// Managers that take too long.
    pub(in crate::host) fn end_calls(&mut self) {
        let now = self.host.now.0;
        for wait in self.host.plugs.calls.keys_where(|_, call| call.deadline <= now) {
            if let Some(Call { connection, id, manager, .. }) = self.host.plugs.calls.remove(&wait)
            {
                self.log(format!("the manager {manager} does not answer"));
                self.fail(Asker::Connection { connection, id }, Code::DSysErr);
            }
        }
    }

    /// Requests that waited for a manager that is gone are served by this daemon, or by the next
    /// manager.
    pub(super) fn manager_gone(&mut self, manager: Tid) {
        for wait in self.host.plugs.calls.keys_where(|_, call| call.manager == manager) {
            if let Some(Call { connection, id, request, .. }) = self.host.plugs.calls.remove(&wait)
            {
                self.asked(connection, id, request);
            }
        }
    }
}

/// The asker that is told the outcome of an order.
fn order(message: &Message, tag: i32, count: u32) -> Asker {
    let wait = message.envelope.wait_id.cast_unsigned();
    Asker::Order { manager: message.envelope.src, tag, wait, count }
}
