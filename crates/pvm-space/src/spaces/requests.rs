//! Requests: how they begin, how a thread waits for them, and what happens to requests that are
//! left behind.

use super::inner::{Inner, Open};
use super::{LOOK, Limit, Space, Spaces, Ticket};
use crate::{Error, registry};
use pvm::Deadline;
use pvm_tuples::Op;
use pvm_tuples::client::{Client, End, Output};
use pvm_tuples::frames::{GONE, TO_SERVER, Told};
use pvm_wire::Code;
use std::time::{Duration, Instant};

/// The longest time that a leaving task waits until servers know of the requests that it leaves
/// behind.
const FAREWELL: Duration = Duration::from_secs(1);

impl Spaces {
    /// Begins an operation. If it still waits at the limit, it ends.
    ///
    /// # Errors
    /// [`Error::NoSpace`] if the space is not open.
    pub fn begin(&self, space: Space, op: Op, limit: Limit) -> Result<Ticket, Error> {
        let deadline = match limit {
            Deadline::Never | Deadline::Now => None,
            Deadline::At(at) => {
                let left = at.saturating_duration_since(self.begun).as_nanos().div_ceil(1_000_000);
                Some(u64::try_from(left).unwrap_or(u64::MAX))
            }
        };
        let number = |number| number;
        self.begin_with(space, |client, now, next| client.ask(now, number(next), op, deadline))
    }

    pub(super) fn begin_with(
        &self,
        space: Space,
        begin: impl FnOnce(&mut Client, u64, u64),
    ) -> Result<Ticket, Error> {
        let now = self.now();
        let mut inner = self.lock();
        // The number is taken under the lock, so that no other request begins meanwhile: a server
        // takes all numbers below the first open one for settled.
        let number = self.next();
        let open = inner.open_space(space.0).ok_or(Error::NoSpace)?;
        begin(&mut open.client, now, number);
        inner.spaces.insert(number, space.0);
        self.carry_out(&mut inner, space.0)?;
        Ok(Ticket(number))
    }

    /// The outcome of a request that has ended; otherwise the time of the next look at it.
    ///
    /// # Errors
    /// [`Error::Machine`]
    pub fn look(&self, ticket: Ticket) -> Result<Result<End, Deadline>, Error> {
        let mut inner = self.lock();
        self.take_in(&mut inner, |inner| inner.has_ended(ticket))?;
        if let Some(end) = inner.take_end(ticket)? {
            return Ok(Ok(end));
        }
        let Some(&space) = inner.spaces.get(&ticket.0) else { return Err(Error::NoSpace) };
        let now = self.now();
        if let Some(open) = inner.open.get_mut(&space)
            && open.client.poll_timeout_of(ticket.0).is_some_and(|at| at <= now)
        {
            open.client.handle_timeout(now);
            self.carry_out(&mut inner, space)?;
        }
        match inner.take_end(ticket)? {
            Some(end) => Ok(Ok(end)),
            None => Ok(Err(self.latest(&inner, ticket))),
        }
    }

    /// The time of the next look at a request.
    fn latest(&self, inner: &Inner, ticket: Ticket) -> Deadline {
        let open = inner.spaces.get(&ticket.0).and_then(|space| inner.open.get(space));
        let at = open.and_then(|open| open.client.poll_timeout_of(ticket.0));
        at.and_then(|at| self.begun.checked_add(Duration::from_millis(at)))
            .map_or(Deadline::Never, Deadline::At)
    }

    /// The time that a new request may wait before the first look at it; none if it has ended.
    pub fn first_wait(&self, ticket: Ticket) -> Option<Deadline> {
        let inner = self.lock();
        (!inner.has_ended(ticket)).then(|| self.latest(&inner, ticket))
    }

    /// Cancels a waiting request. Its outcome comes as its end, as for every request.
    ///
    /// # Errors
    /// [`Error::Machine`]
    pub fn cancel(&self, ticket: Ticket) -> Result<(), Error> {
        let now = self.now();
        let mut inner = self.lock();
        let Some(&space) = inner.spaces.get(&ticket.0) else { return Ok(()) };
        if let Some(open) = inner.open.get_mut(&space) {
            open.client.cancel(now, ticket.0);
        }
        Ok(self.carry_out(&mut inner, space)?)
    }

    /// Leaves a request behind: no thread waits for it any more.
    ///
    /// # Errors
    /// The machine's error.
    pub fn leave(&self, ticket: Ticket) -> Result<(), Error> {
        let now = self.now();
        let mut inner = self.lock();
        let Some(space) = inner.spaces.remove(&ticket.0) else { return Ok(()) };
        if let Some(open) = inner.open.get_mut(&space) {
            open.client.leave(now, ticket.0);
        }
        Ok(self.carry_out(&mut inner, space)?)
    }

    /// Begins a request with `begin` and waits for its end.
    pub(super) fn finish(
        &self,
        begin: impl FnOnce() -> Result<Ticket, Error>,
    ) -> Result<End, Error> {
        let token = self.task.token();
        let ticket = begin()?;
        if let Some(until) = self.first_wait(ticket)
            && let Err(error) = (self.rest)(self.task, token, until)
        {
            self.leave(ticket)?;
            return Err(error);
        }
        self.await_end(ticket)
    }

    /// Waits for the end of a request.
    ///
    /// # Errors
    /// The errors of [`Spaces::look`].
    pub fn await_end(&self, ticket: Ticket) -> Result<End, Error> {
        loop {
            let token = self.task.token();
            match self.look(ticket)? {
                Ok(end) => return Ok(end),
                Err(until) => {
                    if let Err(error) = (self.rest)(self.task, token, until) {
                        self.leave(ticket)?;
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Takes in messages, whichever thread waits for them, until `enough` holds.
    pub(super) fn take_in(
        &self,
        inner: &mut Inner,
        enough: impl Fn(&Inner) -> bool,
    ) -> Result<(), Code> {
        let mut others = false;
        while !enough(inner) && inner.post.receive()? {
            let now = self.now();
            if inner.post.from().1 == GONE {
                if let Some(task) = inner.post.noticed()
                    && inner.watched.remove(&task)
                {
                    inner.asked.remove(&task);
                    inner.open.values_mut().for_each(|open| open.client.gone(now, task));
                }
            } else if inner.asked.contains(&inner.post.from().0)
                && let Some(told) = inner.post.read::<Told>()
            {
                inner.told(now, inner.post.from().0, told);
            }
            for space in inner.busy() {
                // The failed message may belong to another space than the caller's; it is sent
                // again later.
                if let Err(Code::SysErr) = self.carry_out(inner, space) {
                    return Err(Code::SysErr);
                }
            }
            others |= !enough(inner);
        }
        if others {
            // Another thread may wait for a message that this one has taken in.
            self.task.nudge();
        }
        Ok(())
    }

    pub(super) fn carry_out(&self, inner: &mut Inner, space: u64) -> Result<(), Code> {
        while let Some(open) = inner.open.get_mut(&space)
            && let Some(output) = open.client.poll_output()
        {
            match output {
                Output::Send { to, ask } => {
                    inner.asked.insert(to);
                    match inner.post.send(to, TO_SERVER, &ask) {
                        // The machine's notice reports the end of this task.
                        Err(Code::NoTask | Code::HostFail | Code::BadParam) => {}
                        other => other?,
                    }
                }
                Output::Watch { task } => inner.watch(self.task, task)?,
                Output::Look { number } => match registry::latest(self.task, &open.name) {
                    Ok(entry) => {
                        let entry = entry.as_ref().map(|(_, entry)| entry);
                        open.client.looked(self.now(), number, entry);
                    }
                    Err(Code::SysErr) => return Err(Code::SysErr),
                    // The look is repeated later, so other spaces of this task are not held up.
                    Err(_) => {}
                },
            }
        }
        Ok(())
    }

    /// Tells the servers, before the task leaves, which requests it has left behind; tuples that
    /// they have taken for these would be lost otherwise. A server that does not answer holds this
    /// up for a second.
    pub fn farewell(&self) {
        let until = Instant::now() + FAREWELL;
        // Without the machine no server could answer.
        while matches!(self.settles(), Ok(false)) && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
    }

    /// True if no request is left behind; otherwise goes on with telling the servers.
    fn settles(&self) -> Result<bool, Code> {
        let mut inner = self.lock();
        if inner.open.values().all(Open::is_settled) {
            return Ok(true);
        }
        self.take_in(&mut inner, |inner| inner.open.values().all(Open::is_settled))?;
        let now = self.now();
        let is_due = |open: &Open| open.client.poll_timeout().is_some_and(|at| at <= now);
        let due = inner.open.iter().filter(|(_, open)| is_due(open));
        for space in due.map(|(space, _)| *space).collect::<Vec<_>>() {
            if let Some(open) = inner.open.get_mut(&space) {
                open.client.handle_timeout(now);
            }
            self.carry_out(&mut inner, space)?;
        }
        Ok(inner.open.values().all(Open::is_settled))
    }
}
