//! Tasks that do a part of a daemon's work: their registration, and their messages.
//!
//! A *hoster* starts daemons for the first host; a *tasker* starts the tasks of its host; a
//! *manager* answers what the tasks of its host ask about hosts and tasks. They register under a
//! name that all hosts know, and talk in messages of [`pvm_wire::plug`], which pass through here.
//! As asked of PVM 3.4.6 (`conformance/facts.md`), with one exception: if such a task ends, the
//! daemon serves the requests that waited for it.

mod hoster;
mod manager;
mod tasker;
mod words;

use super::Handler;
use super::names::{HOSTER, MANAGER, TASKER};
use crate::io::Effect;
use crate::parcel::Parcel;
use crate::pending::Asker;
use pvm_wire::peer::Said;
use pvm_wire::plug;
use pvm_wire::request::Reply;
use pvm_wire::{Code, Message, Tid};

impl Handler<'_> {
    /// The first task of this host that is registered under this name.
    pub(super) fn service(&self, name: &str) -> Option<Tid> {
        let me = self.me();
        let here = |tid: &Tid| tid.host() == me && self.host.tasks.alive(*tid).is_some();
        self.agreed.registry().owners(&name.into()).into_iter().find(here)
    }

    fn is_service(&self, tid: Tid, name: &str) -> bool {
        self.service(name) == Some(tid)
    }

    /// The flags that `pvm_tasks` shows of a registered task.
    pub(super) fn service_flags(&self, tid: Tid) -> i32 {
        let flag = |name, flag| i32::from(self.is_service(tid, name)) * flag;
        flag(MANAGER, 0x100) | flag(HOSTER, 0x200) | flag(TASKER, 0x400)
    }

    /// A message that a task has sent by its daemon.
    pub(super) fn post(&mut self, asker: Asker, from: Tid, to: Tid, mut message: Message) {
        if !message.is_sound() || from == Tid::NONE {
            return self.fail(asker, Code::BadParam);
        }
        message.envelope.src = from;
        message.envelope.dst = to;
        // As with every message the sender is not told whether any task wanted it.
        self.answer(asker, Reply::Done);
        self.carry(to, message);
    }

    /// Hands on such a message to where it belongs.
    pub(super) fn carry(&mut self, to: Tid, message: Message) {
        let host = if to == Tid::NOTICE_SOURCE { self.me() } else { to.host() };
        if host != self.me() {
            return self.say(host, Said::Post { to, message });
        }
        if to.is_daemon() {
            return self.ordered(&message);
        }
        if !self.manager_answers(to, &message) && self.host.tasks.alive(to).is_some() {
            self.effect(Effect::Deliver { to, message });
        }
    }

    /// Sends a message of the daemon itself.
    fn tell_task(&mut self, to: Tid, tag: i32, wait: u32, parcel: Parcel) {
        // A task of this host knows its daemon by this name.
        let here = to.host() == self.me();
        let from = if here { Tid::NOTICE_SOURCE } else { Tid::daemon(self.me()) };
        let message = parcel.message(from, to, tag, wait.cast_signed());
        self.carry(to, message);
    }

    /// A message for this daemon. Only a registered task may give it orders.
    fn ordered(&mut self, message: &Message) {
        let (from, tag) = (message.envelope.src, message.envelope.tag);
        let done = match tag {
            plug::START_HOST_ACK if self.is_service(from, HOSTER) => self.hoster_answers(message),
            plug::TASK_END if self.is_service(from, TASKER) => self.tasker_tells(message),
            plug::EXEC if self.may_manage(from) => self.manager_starts(message),
            plug::ADD if self.may_manage(from) => self.manager_adds(message),
            _ => Err(Code::Denied),
        };
        if let Err(code) = done {
            let why = code.text();
            self.log(format!("message from {from} with tag {tag} for the daemon: {why}"));
        }
    }

    /// A manager orders from the daemons of other hosts, too; its own daemon has checked it when
    /// its message passed.
    fn may_manage(&self, tid: Tid) -> bool {
        match self.agreed.registry().owners(&MANAGER.into()).contains(&tid) {
            true if tid.host() == self.me() => self.is_service(tid, MANAGER),
            known => known,
        }
    }

    /// A task of this host is gone: what it was to do for us is done otherwise.
    pub(super) fn service_gone(&mut self, tid: Tid) {
        self.tasker_gone(tid);
        self.hoster_gone(tid);
        self.manager_gone(tid);
    }
}
