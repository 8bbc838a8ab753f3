//! The way of a command: put to the leader, held, ordered and taken from the log.

use super::consensus::{Consensus, Taken};
use super::source::may_order;
use super::{Order, Ordered, Output};
use pvm_wire::HostIndex;
use pvm_wire::peer::{Command, Said};

/// A leader that is to be taken out leads for at least this long: within it the commands of other
/// hosts have come.
const HANDED_ON_NS: u64 = 1_000_000_000;

impl Order {
    /// Puts a command of this host to the leader, if there is one.
    pub(super) fn propose(&mut self, ticket: u64, command: Command) {
        match self.consensus.leader() {
            Some((_, host)) if host == self.me => self.consensus.hold(host, ticket, command),
            Some((term, host)) => self.say(host, Said::Put { term, ticket, command }),
            None => {}
        }
    }

    /// As a leader: orders the held commands in turn, and before them the fences. A host goes only
    /// when all entries are committed and the voters have been arranged: a majority of the present
    /// voters must be there to commit the next change of voters.
    pub(super) fn order_held(&mut self) {
        while self.order_next() {}
    }

    fn order_next(&mut self) -> bool {
        let rests = self.consensus.is_at_rest();
        let current = self.consensus.is_current(self.now);
        if current && let Some(member) = self.hearing.next_to_go(&self.consensus) {
            if rests {
                let host = member.host();
                self.hearing.suspicion.set_going(host);
                let command = Command::Fence { host, incarnation: member.incarnation() };
                self.consensus.order(self.now, self.me, 0, command);
            }
            return rests;
        }
        // Two leaders that are both to go would hand the lead to each other for ever, each before
        // the other one's command comes.
        let is_new = self.now < self.leads_since.after(HANDED_ON_NS);
        if !is_new && self.hearing.suspicion.is_empty() {
            self.consensus.call_last();
        }
        let goes = match self.consensus.first_held() {
            None => false,
            Some(&(Command::RemoveHost { host, .. } | Command::Retire { host })) => {
                let soon = host == self.me && is_new;
                // A silent voter is taken out itself before long, or another member that hears it
                // leads. If it is not known whether the others can go on, they are asked now.
                let first = self.hearing.suspicion.is_first(host);
                let may = |log: &mut Consensus| log.may_part(self.now, host).unwrap_or(false);
                rests && first && !soon && may(&mut self.consensus)
            }
            Some(_) => true,
        };
        if goes {
            self.consensus.order_held(self.now);
        }
        goes
    }

    /// Takes the next command from the log.
    pub(super) fn take(&mut self, number: u64, bytes: &[u8]) {
        let taken = self.consensus.take(number, bytes, may_order);
        let own = taken.as_ref().and_then(|taken| taken.own);
        let command = taken.and_then(|Taken { proposer, command, .. }| {
            let command = meant(&self.consensus, command?, proposer);
            Some(Ordered { proposer, command })
        });
        self.put_out(Output::Next { own, command });
    }

    /// Goes past a place of the log without a command. A leader that came with the state at such a
    /// place answers with its number, so the asker must come there, too.
    pub(super) fn pass(&mut self, number: u64) {
        self.consensus.advance_to(number);
        self.put_out(Output::Next { own: None, command: None });
    }
}

/// A fence means one incarnation of a host, and only a leader orders it: the command that it is for
/// the present member, none if it has no effect.
fn meant(log: &Consensus, command: Command, proposer: HostIndex) -> Option<Command> {
    let Command::Fence { host, incarnation } = command else { return Some(command) };
    let meant = log.member(host).is_some_and(|m| m.incarnation() == incarnation);
    (meant && host != proposer).then_some(Command::RemoveHost { host, dead: true })
}
