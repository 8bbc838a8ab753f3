//! `pvm_notify`: requests and the notices that answer them.

use super::Handler;
use crate::io::{Act, Effect};
use crate::notify::{HOST_ADD, HOST_DELETE, ROUTE_ADD, ROUTE_DELETE, TASK_EXIT, Watch};
use crate::pending::Asker;
use crate::planted::{self, Bug};
use pvm_wire::peer::Said;
use pvm_wire::request::Reply;
use pvm_wire::{Address, Code, Context, Envelope, HostIndex, Message, Tag, Tid};

/// Things that one call may watch.
const WATCH_COUNT_MAX: usize = 1 << 16;

impl Handler<'_> {
    /// A request as `pattern`, for each of `tids`.
    pub(super) fn notify(&mut self, asker: Asker, cancel: bool, pattern: Watch, tids: &[Tid]) {
        let sound = match pattern.kind {
            TASK_EXIT => !tids.is_empty() && tids.iter().all(|tid| tid.may_be_task()),
            // As in PVM any number will do: where it names no host of the machine, that host is
            // gone.
            HOST_DELETE => !tids.is_empty(),
            HOST_ADD => true,
            // Direct routes are the task library's own matter; it asks nothing here.
            ROUTE_ADD | ROUTE_DELETE => return self.answer(asker, Reply::Done),
            _ => false,
        };
        if !sound || tids.len() > WATCH_COUNT_MAX {
            return self.fail(asker, Code::BadParam);
        }
        if self.host.tasks.alive(pattern.owner).is_none() {
            // It ended while its request waited.
            return self.fail(asker, Code::NoTask);
        }
        match (pattern.kind, cancel) {
            (HOST_ADD, false) if pattern.left != 0 => drop(self.host.watches.add(pattern)),
            (HOST_ADD, false) => {}
            (HOST_ADD, true) => {
                let same = |w: &Watch| w.kind == HOST_ADD && same_request(w, &pattern);
                self.host.watches.take_where(same);
            }
            (_, false) => tids.iter().for_each(|&of| self.watch(Watch { of, ..pattern.clone() })),
            (_, true) => tids.iter().for_each(|&of| self.cancel(&Watch { of, ..pattern.clone() })),
        }
        self.answer(asker, Reply::Done);
    }

    fn watch(&mut self, watch: Watch) {
        let (kind, tid, host) = (watch.kind, watch.of, watch.of.host());
        if !self.agreed.hosts().contains(host) {
            return self.deliver_notice(&watch, &[tid.as_c_int()]);
        }
        let number = self.host.watches.add(watch);
        if kind != TASK_EXIT {
            return;
        }
        if host != self.me() {
            self.say(host, Said::Watch { watch: number, tid });
        } else if self.host.tasks.alive(tid).is_none() {
            self.tell_behind(number, self.host.proposals.end_of(tid).unwrap_or(0));
        }
    }

    /// As in PVM a request that is taken back is answered at once.
    fn cancel(&mut self, pattern: &Watch) {
        let about = |w: &Watch| match w.kind {
            HOST_DELETE => w.of.host() == pattern.of.host(),
            _ => w.of == pattern.of,
        };
        let same = |w: &Watch| w.kind == pattern.kind && about(w) && same_request(w, pattern);
        // As in PVM one request for each that is named.
        let Some(&number) = self.host.watches.numbers_where(same).first() else { return };
        if let Some(watch) = self.host.watches.take(number) {
            self.deliver_notice(&watch, &[watch.of.as_c_int()]);
            self.unwatch(number, &watch);
        }
    }

    /// A request has ended: the host of the task need not tell.
    pub(super) fn unwatch(&mut self, number: u64, watch: &Watch) {
        if watch.kind == TASK_EXIT && watch.of.host() != self.me() {
            self.say(watch.of.host(), Said::Unwatch { watch: number, tid: watch.of });
        }
    }

    /// Another host wants to be told when a task of ours is gone.
    pub(super) fn watch_for(&mut self, host: HostIndex, watch: u64, tid: Tid) {
        if self.host.tasks.alive(tid).is_some() {
            return self.host.watches.add_foreign(host, watch, tid);
        }
        // That host may not have applied what has been applied here.
        let applied = self.order.log().applied_of(self.me());
        let ticket = self.host.proposals.end_of(tid).unwrap_or(applied);
        self.tell_when_drained((host, watch), tid, ticket);
    }

    /// A task of ours is gone that another host watches. It is told when the last message of the
    /// task is there.
    pub(super) fn tell_when_drained(&mut self, watch: (HostIndex, u64), tid: Tid, ticket: u64) {
        let host = watch.0;
        if self.agreed.hosts().contains(host) && self.host.watches.add_leaving(watch, tid, ticket) {
            self.act(Act::Drain { tid, host });
        }
    }

    /// The messages of a task that is gone are all there.
    pub(super) fn drained(&mut self, tid: Tid, host: HostIndex) {
        for (watch, ticket) in self.host.watches.take_leaving(host, tid) {
            let said = match ticket {
                0 => Said::Gone { watch },
                ticket => Said::GoneBehind { watch, ticket },
            };
            self.say(host, said);
        }
    }

    /// Repeats the requests on whose completion the daemon before this one waited.
    pub(super) fn drain_again(&mut self) {
        for (host, tid) in self.host.watches.leaving() {
            self.act(Act::Drain { tid, host });
        }
    }

    /// A watched task is gone. A watcher that is told must find nothing of it in the agreed state,
    /// so the notice waits until the command of the task's host has been applied here that takes it
    /// away: `ticket`, or 0 for a task that has left nothing there.
    ///
    /// There is no time limit: a host that hears nothing of the log for long is no member any more.
    /// And if the task's host is taken out first, the notice tells that.
    pub(super) fn tell_behind(&mut self, number: u64, ticket: u64) {
        let Some(watch) = self.host.watches.get(number) else { return };
        let applied = self.order.log().applied_of(watch.of.host());
        if ticket <= applied || planted::is(Bug::NoticeOvertakes) {
            self.watched_gone(number);
        } else {
            self.host.watches.hold(number, ticket);
        }
    }

    /// A command of this host has been applied here: those wait no longer that it held up.
    pub(super) fn tell_held(&mut self, host: HostIndex) {
        for number in self.host.watches.held_for(host, self.order.log().applied_of(host)) {
            self.watched_gone(number);
        }
    }

    /// A task that is watched is gone, and nothing of it is left.
    fn watched_gone(&mut self, number: u64) {
        if let Some(watch) = self.host.watches.take(number) {
            self.deliver_notice(&watch, &[watch.of.as_c_int()]);
        }
    }

    pub(super) fn deliver_notice(&mut self, watch: &Watch, ints: &[i32]) {
        let to = watch.owner;
        let envelope = Envelope::new(
            Tid::NOTICE_SOURCE,
            Address::new(to, Tag(watch.tag), Context(watch.context)),
        );
        if self.host.tasks.alive(to).is_some() {
            self.effect(Effect::Deliver { to, message: Message::of_ints(envelope, ints) });
        }
    }
}

fn same_request(a: &Watch, b: &Watch) -> bool {
    a.owner == b.owner && a.tag == b.tag && a.context == b.context
}
