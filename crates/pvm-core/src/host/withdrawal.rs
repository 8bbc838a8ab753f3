//! Questions whose askers have given up.
//!
//! Each is answered at once, so that the asker can wait for that answer and then knows the outcome:
//! either it has an effect, which the asker may use or undo, or it has none and will have none. A
//! command that is in the log, or on its way there, cannot be called back; it is answered when it
//! is applied.

use super::{ANSWER_NS, Handler};
use crate::agreed::WAIT_FOR_INFO;
use crate::deadline::Deadline;
use crate::io::Connection;
use crate::pending::Asker;
use pvm_wire::peer::Said;
use pvm_wire::request::{Reply, Request};

impl Handler<'_> {
    /// The waiter for the answer to `question` has gone.
    pub(super) fn given_up(&mut self, connection: Connection, id: u32, question: u32) {
        let asker = Asker::Connection { connection, id: question };
        if self.forget_question(&asker) {
            self.answer(asker, Reply::Withdrawn);
        } else if !self.spawn_given_up(&asker) {
            self.give_up_proposals(&asker);
            self.give_up_gathering(&asker);
        }
        // Where this host leads the question is answered with this input, and before this one.
        self.host.withdrawn.push(Asker::Connection { connection, id });
    }

    /// All is done that follows from this input: the askers that gave up are answered.
    pub(super) fn tell_withdrawn(&mut self) {
        for asker in std::mem::take(&mut self.host.withdrawn) {
            self.answer(asker, Reply::Done);
        }
    }

    /// Ends a question that has had no effect, if no other host is needed to keep it so. True if
    /// there was such a question.
    fn forget_question(&mut self, asker: &Asker) -> bool {
        let pending = &mut self.host.pending;
        let mut found = pending.readers.keys_where(|_, reader| reader.asker == *asker);
        found.retain(|key| pending.readers.remove(key).is_some());
        let mut held = pending.held.keys_where(|_, held| held.asker == *asker);
        held.retain(|key| pending.held.remove(key).is_some());
        // A gathering that no leader was asked for, and what only reads.
        let mut asks = pending
            .home_asks
            .keys_where(|_, ask| ask.asker == *asker && (ask.term == 0 || !gathers(&ask.request)));
        asks.retain(|key| pending.home_asks.remove(key).is_some());
        let weighs = self.weighing_given_up(asker);
        weighs || !found.is_empty() || !held.is_empty() || !asks.is_empty()
    }

    /// A spawn call that does not know yet where its tasks are to run.
    fn weighing_given_up(&mut self, asker: &Asker) -> bool {
        let table = &mut self.host.pending.weighings;
        let numbers = table.keys_where(|_, weighing| weighing.start.asker == *asker);
        let Some(given_up) = numbers.first().and_then(|number| table.remove(number)) else {
            return false;
        };
        if let Some(operator) = given_up.start.operator.filter(|_| !given_up.start.direct) {
            self.tell_run(Said::RunSpawned { operator, tids: Vec::new() });
        }
        true
    }

    /// Makes the next try of each of its proposals the last one.
    fn give_up_proposals(&mut self, asker: &Asker) {
        let table = &mut self.host.pending.proposals;
        for number in table.keys_where(|_, proposal| proposal.asker == *asker) {
            if let Some(want) = table.get_mut(&number).and_then(|p| p.want.as_mut()) {
                want.flags &= !WAIT_FOR_INFO;
            }
        }
    }

    /// The leader says whether it was met before. A next leader is asked the same.
    fn give_up_gathering(&mut self, asker: &Asker) {
        let deadline = self.after(ANSWER_NS);
        let table = &mut self.host.pending.home_asks;
        for number in table.keys_where(|_, ask| ask.asker == *asker && gathers(&ask.request)) {
            if let Some(ask) = self.host.pending.home_asks.get_mut(&number) {
                ask.request = Request::GiveUp { question: 0 };
                ask.deadline = Deadline::At(deadline);
            }
            self.ask_leader(number);
        }
    }
}

const fn gathers(request: &Request) -> bool {
    matches!(request, Request::Barrier { .. } | Request::FreezeGroup { .. })
}
