//! A host's daemon is replaced by another program, and the asker hears the outcome.
//!
//! The old daemon knows the asker, the new one answers: the parent carries the asker's name across.

use super::Handler;
use crate::io::Effect;
use crate::pending::Asker;
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Blob, Code, Wire as _};

impl Handler<'_> {
    /// [`Request::Upgrade`].
    pub(super) fn upgrade(&mut self, asker: Asker, name: &Blob, program: Blob) {
        let host = if name.0 == b"." { Some(self.me()) } else { self.agreed.hosts().named(name) };
        match host {
            None => self.fail(asker, Code::NoHost),
            Some(host) if host == self.me() => {
                self.effect(Effect::Upgrade { mark: Blob(asker.to_bytes()), program });
            }
            // The parent there answers within its bound, and a host that dies ends the question.
            Some(host) => {
                let request = Request::Upgrade { host: ".".into(), program };
                self.ask_and_wait(host, asker, request);
            }
        }
    }

    /// The parent has tried.
    pub(super) fn upgraded(&mut self, mark: &Blob, reply: Reply) {
        if let Ok(asker) = Asker::from_bytes(&mark.0) {
            self.answer(asker, reply);
        }
    }
}
