//! The state that all threads of a task share about its spaces, behind one lock.

use crate::Error;
use crate::carry::{Post, watch};
use pvm::Task;
use pvm_tuples::client::{Client, End};
use pvm_tuples::frames::Told;
use pvm_wire::{Blob, Code, Tid};
use std::collections::{BTreeMap, BTreeSet};

/// The open spaces, the requests, and answers that no thread has taken yet.
pub(super) struct Inner {
    pub(super) post: Post,
    pub(super) open: BTreeMap<u64, Open>,
    pub(super) watched: BTreeSet<Tid>,
    /// The servers that have got a request. Only their frames count as answers, because any task
    /// can send one.
    pub(super) asked: BTreeSet<Tid>,
    /// Answers to requests outside of open spaces, by request.
    pub(super) created: BTreeMap<u64, Result<Blob, Error>>,
    /// The space of each request.
    pub(super) spaces: BTreeMap<u64, u64>,
}

/// An open space.
pub(super) struct Open {
    pub(super) name: Blob,
    pub(super) client: Client,
    /// The number of times that it is open. A closed one stays until its servers have heard of all
    /// requests that were left behind.
    pub(super) users: u32,
}

impl Open {
    /// True if no request has been left behind.
    pub(super) fn is_settled(&self) -> bool {
        self.client.left_behind().next().is_none()
    }
}

/// A request whose end has not been taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(pub(super) u64);

impl Inner {
    /// A space that is open.
    pub(super) fn open_space(&mut self, space: u64) -> Option<&mut Open> {
        self.open.get_mut(&space).filter(|open| open.users > 0)
    }

    /// Closes a space once. True if it is closed now: requests in it have no waiter any more, and
    /// what their servers take for them is in the space again.
    pub(super) fn close(&mut self, now: u64, space: u64) -> bool {
        let Some(open) = self.open.get_mut(&space).filter(|open| open.users > 0) else {
            return false;
        };
        open.users -= 1;
        if open.users > 0 {
            return false;
        }
        for (number, _) in self.spaces.extract_if(.., |_, of| *of == space) {
            open.client.leave(now, number);
        }
        true
    }

    /// Forgets closed spaces in which nothing is left behind.
    pub(super) fn forget_closed(&mut self) {
        self.open.retain(|_, open| open.users > 0 || !open.is_settled());
    }

    /// True if a request has ended, or its space was closed.
    pub(super) fn has_ended(&self, ticket: Ticket) -> bool {
        let open = self.spaces.get(&ticket.0).and_then(|space| self.open.get(space));
        open.is_none_or(|open| open.client.has_ended(ticket.0))
    }

    /// Takes out the end of a request, if it has ended.
    pub(super) fn take_end(&mut self, ticket: Ticket) -> Result<Option<End>, Error> {
        let space = *self.spaces.get(&ticket.0).ok_or(Error::NoSpace)?;
        let Some(open) = self.open.get_mut(&space) else {
            self.spaces.remove(&ticket.0);
            return Err(Error::NoSpace);
        };
        let end = open.client.take_end(ticket.0);
        if end.is_some() {
            self.spaces.remove(&ticket.0);
        }
        Ok(end)
    }

    /// The spaces whose clients have outputs.
    pub(super) fn busy(&self) -> Vec<u64> {
        let busy = self.open.iter().filter(|(_, open)| open.client.has_output());
        busy.map(|(space, _)| *space).collect()
    }

    pub(super) fn watch(&mut self, task: &Task, of: Tid) -> Result<(), Code> {
        if self.watched.insert(of) {
            return watch(task, of);
        }
        Ok(())
    }

    /// Removes the ticket of a request that was left behind.
    fn left_behind(&mut self, now: u64, from: Tid, told: &Told) {
        let number = told.number();
        let is_left = |open: &&mut Open| open.client.left_behind().any(|left| left == number);
        if let Some(open) = self.open.values_mut().find(is_left) {
            open.client.told(now, from, told.clone());
            if open.users == 0 {
                self.forget_closed();
            }
        }
    }

    pub(super) fn told(&mut self, now: u64, from: Tid, told: Told) {
        let number = match &told {
            Told::Created { number, note, .. } => {
                self.created.insert(*number, Ok(note.clone()));
                return;
            }
            other => other.number(),
        };
        self.left_behind(now, from, &told);
        match self.spaces.get(&number).and_then(|space| self.open.get_mut(space)) {
            Some(open) => open.client.told(now, from, told),
            None => {
                if let Told::Refused { reason, text, .. } = told {
                    let text = String::from_utf8_lossy(&text.0).into_owned();
                    let error = match Error::from(reason) {
                        Error::Disk(_) => Error::Disk(text),
                        other => other,
                    };
                    self.created.insert(number, Err(error));
                }
            }
        }
    }
}
