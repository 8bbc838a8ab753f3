//! The leader's services for all hosts: it answers linearizable reads, once a majority has
//! confirmed that it leads, and keeps barriers. None of them waits for the log.
//!
//! A leader's knowledge for this is lost with it. So each host puts its open questions to the next
//! leader again. A barrier that was released for some tasks must be released for all: so each host
//! tells the next leader which releases it knows ([`Said::Report`]), and ignores those of earlier
//! leaders from then on. Before all hosts have done so, no barrier is released.

use super::{ANSWER_NS, Handler, OrderInput};
use crate::deadline::Deadline;
use crate::home::Asked;
use crate::pending::{Asker, HomeAsk, HostTableRequest, Want};
use crate::planted::{self, Bug};
use pvm_wire::HostIndex;
use pvm_wire::peer::{Released, Said};
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Code, Tid};
use std::collections::BTreeSet;

impl Handler<'_> {
    /// Asks the leader; its answer goes to `asker`.
    pub(super) fn ask_home(&mut self, asker: Asker, tid: Tid, request: Request) {
        self.ask_home_for(asker, tid, request, None);
    }

    /// Like `ask_home`, for a reader that may wait.
    pub(super) fn ask_home_for(
        &mut self,
        asker: Asker,
        tid: Tid,
        request: Request,
        want: Option<Want>,
    ) {
        // A request that only other tasks can fulfil has no deadline.
        let gathers = matches!(request, Request::Barrier { .. } | Request::FreezeGroup { .. });
        let deadline = if gathers { Deadline::Unset } else { Deadline::At(self.after(ANSWER_NS)) };
        let ask = self.host.pending.number();
        let since = self.order.log().applied();
        let asked = HomeAsk { asker, tid, deadline, want, request, since, term: 0 };
        self.host.pending.home_asks.insert(ask, asked);
        self.ask_leader(ask);
    }

    pub(super) fn ask_leader(&mut self, ask: u64) {
        let Some((term, host)) = self.order.log().leader() else { return };
        let Some(asked) = self.host.pending.home_asks.get_mut(&ask) else { return };
        let again = std::mem::replace(&mut asked.term, term) != 0;
        let HomeAsk { tid: asker, since, request, .. } = asked.clone();
        let said = Said::AskHome { term, ask, asker, again, since, request };
        if host == self.me() { self.home_asked(host, said) } else { self.say(host, said) }
    }

    /// Puts the open questions to a new leader, and then reports the released barriers. In this
    /// sequence the leader has every question of a host when that host has reported.
    pub(super) fn report(&mut self, term: u64, leader: HostIndex) {
        let new = *self.host.home.heard.get() < term;
        if new {
            self.host.home.begin(if leader == self.me() { term } else { 0 });
            self.host.home.heard.set(term);
        }
        // A question that this leader has already is not repeated.
        let gathers = |asked: &HomeAsk| asked.deadline == Deadline::Unset && asked.term != 0;
        let forgotten = planted::is(Bug::BarrierNotAskedAgain);
        let due = |_: &u64, a: &HomeAsk| a.term < term && !(forgotten && gathers(a));
        for ask in self.host.pending.home_asks.keys_where(due) {
            self.ask_leader(ask);
        }
        if new {
            self.report_released(term, leader);
        }
    }

    fn report_released(&mut self, term: u64, leader: HostIndex) {
        let mut released: Vec<_> = self.host.home.released.values().cloned().collect();
        if planted::is(Bug::ReleaseForgotten) {
            released.clear();
        }
        if leader == self.me() {
            self.host.home.told = released;
        } else {
            self.say(leader, Said::Report { term, released });
        }
    }

    /// A host has told this leader what it knows.
    pub(super) fn reported(&mut self, host: HostIndex, term: u64, released: Vec<Released>) {
        if self.host.home.term != term || !self.order.log().is_leader() {
            return;
        }
        self.host.home.told.extend(released);
        self.host.home.reported.insert(host);
    }

    /// A host takes this one for the leader of a term, and asks.
    pub(super) fn home_asked(&mut self, host: HostIndex, said: Said) {
        let Said::AskHome { term, ask, asker, again, since, request } = said else { return };
        if self.order.log().leader() == Some((term, self.me())) && self.host.home.term == term {
            let mut asked = Asked { host, ask, asker, again, since, request, mark: 0 };
            if !asked.gathers() {
                self.host.home.marks += 1;
                asked.mark = self.host.home.marks;
                let mark = asked.mark;
                self.tell_order(OrderInput::Confirm { mark });
            }
            self.host.home.asked.push_back(asked);
        }
    }

    /// As a leader: answers what can be answered by now.
    pub(super) fn lead_home(&mut self) {
        if self.host.home.term == 0 {
            return;
        }
        // A barrier needs only its tasks and the leader's lease; a read needs the confirmation of a
        // majority.
        let current = self.order.log().is_current(self.host.now);
        if current {
            self.open_home();
        }
        let mut waiting = std::mem::take(&mut self.host.home.asked);
        while let Some(asked) = waiting.pop_front() {
            let may = match asked.mark {
                0 => current && self.host.home.open,
                mark => mark <= self.host.home.confirmed,
            };
            if !may {
                self.host.home.asked.push_back(asked);
            } else if self.agreed.hosts().contains(asked.host) {
                self.serve_home(asked);
            }
        }
    }

    /// Once all hosts have reported, what earlier leaders let go is told again.
    fn open_home(&mut self) {
        if self.host.home.open {
            return;
        }
        let (me, members) = (self.me(), self.agreed.hosts());
        let others = || members.indices().into_iter().filter(|host| *host != me).collect();
        let awaited = self.host.home.awaited.get_or_insert_with(others);
        awaited.retain(|host| members.contains(*host) && !self.host.home.reported.contains(host));
        if !awaited.is_empty() && !planted::is(Bug::NoReport) {
            return;
        }
        self.host.home.open = true;
        let mut told = std::mem::take(&mut self.host.home.told);
        told.sort_by_key(|released| (released.term, released.number));
        told.dedup_by_key(|released| (released.term, released.number));
        let term = self.host.home.term;
        for Released { asks, reply, .. } in told {
            self.host.home.asked.retain(|asked| !asks.contains(&(asked.host, asked.ask)));
            self.release(asks, reply);
        }
        self.forget_releases(term);
        self.say_to_all(&Said::Reported { term });
    }

    /// As a leader: these wait no longer.
    pub(super) fn release(&mut self, asks: Vec<(HostIndex, u64)>, reply: Reply) {
        if asks.is_empty() {
            return;
        }
        self.host.home.count += 1;
        let (term, number) = (self.host.home.term, self.host.home.count);
        let settled = self.host.sessions.first_release(term).map_or(number, |first| first) - 1;
        let hosts: BTreeSet<HostIndex> = asks.iter().map(|(host, _)| *host).collect();
        let released = Released { term, number, settled, asks, reply };
        for host in hosts {
            if host == self.me() {
                self.take_release(released.clone());
            } else {
                self.say(host, Said::Release { released: released.clone() });
            }
        }
    }

    /// A leader has let some go. None before the one that this host has reported to may.
    pub(super) fn take_release(&mut self, released: Released) {
        let (term, done) = (released.term, released.settled);
        if term < *self.host.home.heard.get() {
            return;
        }
        for key in self.host.home.released.keys_where(|key, _| key.0 == term && key.1 <= done) {
            self.host.home.released.remove(&key);
        }
        let (me, reply) = (self.me(), released.reply.clone());
        let asks = released.asks.clone();
        // If no other host is concerned, no other host needs to know.
        if asks.iter().any(|(host, _)| *host != me) {
            self.host.home.released.insert((term, released.number), released);
        }
        for (_, ask) in asks.into_iter().filter(|(host, _)| *host == me) {
            self.answered(ask, reply.clone());
        }
    }

    /// The releases of leaders before this term have been told again.
    pub(super) fn forget_releases(&mut self, term: u64) {
        for key in self.host.home.released.keys_where(|key, _| key.0 < term) {
            self.host.home.released.remove(&key);
        }
    }

    /// Requests whose host table is there now.
    pub(super) fn serve_held(&mut self) {
        let applied = self.order.log().applied();
        let due = |_: &u64, held: &HostTableRequest| held.after != 0 && held.after <= applied;
        for number in self.host.pending.held.keys_where(due) {
            if let Some(held) = self.host.pending.held.remove(&number)
                && !self.is_orphaned(&held)
            {
                self.serve_now(held.asker, held.tid, held.request);
            }
        }
    }

    /// True if the asker is gone: tasks that it spawned now would belong to no run.
    fn is_orphaned(&self, held: &HostTableRequest) -> bool {
        let Asker::Connection { connection, .. } = held.asker else { return false };
        self.host.tasks.client(connection).is_none_or(|c| c.tid.unwrap_or(Tid::NONE) != held.tid)
    }

    /// The leader has told the last command that it has applied.
    pub(super) fn serve_again(&mut self, number: u64, reply: Reply) {
        match (self.host.pending.held.get_mut(&number), reply) {
            (None, _) => {}
            (Some(held), Reply::Applied { number }) => {
                held.after = number.max(1);
                self.serve_held();
            }
            (Some(held), reply) => {
                let HostTableRequest { asker, tid, request, .. } = held.clone();
                self.host.pending.held.remove(&number);
                match reply {
                    // Old news are better than none.
                    Reply::Failed { .. } if request == Request::Config => {
                        self.serve_now(asker, tid, request);
                    }
                    Reply::Failed { code } => self.fail(asker, code),
                    _ => self.fail(asker, Code::SysErr),
                }
            }
        }
    }
}
