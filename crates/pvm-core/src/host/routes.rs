//! The permission for direct routes between tasks of two hosts.

use super::Handler;
use crate::io::{Act, Effect};
use crate::pending::Asker;
use pvm_wire::peer::Said;
use pvm_wire::request::Reply;
use pvm_wire::{Code, HostIndex, Tid};

impl Handler<'_> {
    /// A task wants a direct route. It goes on at once, and is told later what came of it.
    pub(super) fn open_route(&mut self, asker: Asker, tid: Tid, to: Tid) {
        if !tid.is_task() || !to.is_task() || to.host() == self.me() {
            return self.fail(asker, Code::BadParam);
        }
        self.answer(asker, Reply::Done);
        if self.agreed.hosts().contains(to.host()) {
            self.say(to.host(), Said::RouteWanted { from: tid, to });
        } else {
            self.no_route(tid, to);
        }
    }

    /// Sets whether a task lets others have direct routes to it (`PvmDontRoute`).
    pub(super) fn set_route(&mut self, asker: Asker, tid: Tid, allowed: bool) {
        if allowed {
            self.host.refusals.remove(&tid);
        } else if self.host.tasks.alive(tid).is_some() {
            self.host.refusals.insert(tid, 1);
        }
        self.answer(asker, Reply::Done);
    }

    /// The receiver of a direct route tells that it broke.
    pub(super) fn route_broken(&mut self, asker: Asker, tid: Tid, peer: Tid) {
        self.answer(asker, Reply::Done);
        if peer.is_task() && peer.host() != self.me() {
            self.say(peer.host(), Said::RouteBroken { from: peer, to: tid });
        }
    }

    /// A task of another host wants a direct route to one of ours.
    pub(super) fn route_wanted(&mut self, host: HostIndex, from: Tid, to: Tid) {
        if from.host() != host {
            return;
        }
        let enrolled = self.host.tasks.alive(to).is_some_and(|task| task.enrolled);
        let agreed = enrolled && !self.host.refusals.contains(&to);
        self.say(host, Said::RouteAnswer { from, to, agreed });
        if agreed {
            self.act(Act::Route { local: to, peer: from });
        }
    }

    /// Another host's answer to a wish of one of our tasks.
    pub(super) fn route_answered(&mut self, host: HostIndex, (from, to): (Tid, Tid), agreed: bool) {
        if to.host() != host {
            return;
        }
        if agreed {
            self.act(Act::Route { local: from, peer: to });
        } else {
            self.no_route(from, to);
        }
    }

    /// A receiver on another host lacks what came by a direct route.
    pub(super) fn release_route(&mut self, host: HostIndex, from: Tid, to: Tid) {
        if to.host() == host && from.host() == self.me() {
            self.act(Act::ReleaseRoute { from, to });
        }
    }

    /// Tells a task that there will be no route for now.
    pub(super) fn no_route(&mut self, local: Tid, peer: Tid) {
        let connection = self.host.tasks.get(local).and_then(|task| task.connection);
        if let Some(connection) = connection {
            let reply = Reply::NoRoute { peer };
            self.effect(Effect::Reply { connection, id: 0, reply });
        }
    }
}
