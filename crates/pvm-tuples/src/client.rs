//! A client of a space: its requests, each of which is done once, whoever is the primary.

use crate::frames::{Ask, Entry, Seen, Told};
use crate::ops::{Op, Outcome, Reason};
use pvm_wire::Tid;
use std::collections::{BTreeMap, VecDeque};

/// A request that was not answered is sent again after this time, then after twice as long ...
const ASK_AGAIN_MS: u64 = 2000;
/// ... and at least so often.
const ASK_AGAIN_MAX_MS: u64 = 60_000;
/// While nobody is known to hold the space, the names are looked up so often.
const LOOK_AGAIN_MS: u64 = 10;
/// A space whose primary has ended and whose copies have put no entry for so long is lost.
const LOST_MS: u64 = 60_000;

/// What a client wants done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// To be sent to a server.
    Send {
        /// Which.
        to: Tid,
        /// What.
        ask: Ask,
    },
    /// To be watched: [`Client::gone`] is to be called when it has ended.
    Watch {
        /// Which task.
        task: Tid,
    },
    /// The last entry of the space is to be looked up, for [`Client::looked`].
    Look {
        /// Which look this is.
        number: u64,
    },
}

/// How a request has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// As the server says.
    Answered(Outcome),
    /// What is in the space.
    Seen(Seen),
    /// The servers that held the space are gone.
    Lost,
}

#[derive(Debug)]
struct Request {
    ask: Ask,
    /// The client waits until then.
    deadline: Option<u64>,
    cancelled: bool,
    again_at: u64,
    pause: u64,
    end: Option<End>,
}

/// An open space of one process.
#[derive(Debug)]
pub struct Client {
    space: u64,
    primary: Option<Tid>,
    /// The primary of which it is known that it has ended.
    ended: Option<Tid>,
    watched: Option<Tid>,
    requests: BTreeMap<u64, Request>,
    /// When the names are looked up again, while there is no primary.
    look_at: Option<u64>,
    /// The last look.
    look: u64,
    /// Looks before this one may have seen a primary that has ended since.
    first_look: u64,
    /// Since when there is none.
    without_since: u64,
    outputs: VecDeque<Output>,
}

impl Client {
    /// A space, as its last entry says.
    pub fn new(entry: &Entry) -> Self {
        let mut client = Self {
            space: entry.space,
            primary: None,
            ended: None,
            watched: None,
            requests: BTreeMap::new(),
            look_at: None,
            look: 0,
            first_look: 0,
            without_since: 0,
            outputs: VecDeque::new(),
        };
        client.turn_to(entry.primary);
        client
    }

    /// The number of the space.
    pub const fn space(&self) -> u64 {
        self.space
    }

    fn turn_to(&mut self, primary: Tid) {
        (self.primary, self.look_at) = (Some(primary), None);
        if self.watched != Some(primary) {
            self.watched = Some(primary);
            self.outputs.push_back(Output::Watch { task: primary });
        }
    }

    /// Asks for something. `number` must be larger than those before. A request that may wait ends
    /// at the deadline.
    pub fn ask(&mut self, now_ms: u64, number: u64, op: Op, deadline_ms: Option<u64>) {
        let space = self.space;
        self.begin(now_ms, Ask::Do { space, number, settled: 0, op }, deadline_ms);
    }

    /// Asks for something that is no operation.
    pub fn begin(&mut self, now_ms: u64, ask: Ask, deadline: Option<u64>) {
        let (number, pause) = (ask.number(), ASK_AGAIN_MS);
        let again_at = now_ms + pause;
        let request = Request { ask, deadline, cancelled: false, again_at, pause, end: None };
        self.requests.insert(number, request);
        self.send(number);
    }

    /// Sends a request, and its cancellation if it was cancelled.
    fn send(&mut self, number: u64) {
        // The client has got the answers to all requests before the first one that is still here.
        let first = self.requests.first_key_value().map_or(number, |(first, _)| *first);
        let (Some(to), Some(request)) = (self.primary, self.requests.get(&number)) else { return };
        let mut ask = request.ask.clone();
        if let Ask::Do { settled, .. } = &mut ask {
            *settled = first;
        }
        let cancel = request.cancelled.then_some(Ask::Cancel { space: self.space, number });
        for ask in [ask].into_iter().chain(cancel) {
            self.outputs.push_back(Output::Send { to, ask });
        }
    }

    /// A server has said something.
    pub fn told(&mut self, now_ms: u64, told: Told) {
        let (number, end) = match told {
            Told::Answer { number, outcome } => (number, End::Answered(outcome)),
            Told::Seen { number, seen } => (number, End::Seen(seen)),
            Told::Refused { number, reason } => (number, End::Answered(Outcome::Failed { reason })),
            Told::Elsewhere { .. } => return self.look(now_ms),
            Told::Created { .. } => return,
        };
        self.end(number, end);
    }

    fn end(&mut self, number: u64, end: End) {
        if let Some(request) = self.requests.get_mut(&number) {
            request.end.get_or_insert(end);
        }
    }

    /// True if a request has ended, or there is none.
    pub fn has_ended(&self, number: u64) -> bool {
        self.requests.get(&number).is_none_or(|request| request.end.is_some())
    }

    /// How a request has ended, if it has; it is told once.
    pub fn take_end(&mut self, number: u64) -> Option<End> {
        self.requests.get(&number)?.end.as_ref()?;
        self.requests.remove(&number)?.end
    }

    /// A task that was watched has ended.
    pub fn gone(&mut self, now_ms: u64, task: Tid) {
        if self.watched == Some(task) {
            (self.watched, self.ended) = (None, Some(task));
            self.first_look = self.look + 1;
        }
        if self.primary == Some(task) {
            self.look(now_ms);
        }
    }

    fn look(&mut self, now_ms: u64) {
        if self.look_at.is_none() {
            (self.primary, self.without_since) = (None, now_ms);
            self.look_at = Some(now_ms);
            self.handle_timeout(now_ms);
        }
    }

    /// What a look has found: the last entry of the space; none if the space has none any more.
    pub fn looked(&mut self, now_ms: u64, number: u64, entry: Option<&Entry>) {
        if self.primary.is_some() || number < self.first_look {
            return;
        }
        let own = entry.filter(|entry| entry.space == self.space && !entry.deleted);
        let Some(entry) = own else {
            return self.end_all(&End::Answered(Outcome::Failed { reason: Reason::NoSpace }));
        };
        if self.ended != Some(entry.primary) {
            self.turn_to(entry.primary);
            let numbers: Vec<u64> = self.requests.keys().copied().collect();
            return numbers.into_iter().for_each(|number| self.send(number));
        }
        if entry.copies.is_empty() || now_ms >= self.without_since + LOST_MS {
            self.end_all(&End::Lost);
        }
    }

    fn end_all(&mut self, end: &End) {
        for number in self.requests.keys().copied().collect::<Vec<_>>() {
            self.end(number, end.clone());
        }
    }

    fn due(request: &Request) -> u64 {
        let deadline = request.deadline.filter(|_| !request.cancelled);
        deadline.map_or(request.again_at, |deadline| deadline.min(request.again_at))
    }

    /// A request that may wait ends now.
    pub fn cancel(&mut self, now_ms: u64, number: u64) {
        if let Some(request) = self.requests.get_mut(&number) {
            request.deadline = Some(now_ms);
            self.handle_timeout(now_ms);
        }
    }

    /// When [`Client::handle_timeout`] is to be called.
    pub fn poll_timeout(&self) -> Option<u64> {
        let open = self.requests.values().filter(|request| request.end.is_none());
        open.clone().next()?;
        open.map(Self::due).chain(self.look_at).min()
    }

    /// When [`Client::handle_timeout`] is to be called for this request: whoever waits for it alone
    /// sleeps until then, and not until something is due for one of a thousand others.
    pub fn poll_timeout_of(&self, number: u64) -> Option<u64> {
        let open = self.requests.get(&number).filter(|request| request.end.is_none())?;
        self.look_at.into_iter().chain([Self::due(open)]).min()
    }

    /// What is due is done.
    pub fn handle_timeout(&mut self, now_ms: u64) {
        if self.look_at.is_some_and(|at| at <= now_ms) {
            self.look_at = Some(now_ms + LOOK_AGAIN_MS);
            self.look += 1;
            self.outputs.push_back(Output::Look { number: self.look });
        }
        let open = self.requests.iter().filter(|(_, request)| request.end.is_none());
        let due = open.filter(|(_, request)| Self::due(request) <= now_ms);
        for number in due.map(|(number, _)| *number).collect::<Vec<_>>() {
            let Some(request) = self.requests.get_mut(&number) else { continue };
            if request.deadline.is_some_and(|deadline| deadline <= now_ms) && !request.cancelled {
                request.cancelled = true;
                let (ask, to) = (Ask::Cancel { space: self.space, number }, self.primary);
                self.outputs.extend(to.map(|to| Output::Send { to, ask }));
            }
            if request.again_at <= now_ms {
                request.pause = (2 * request.pause).min(ASK_AGAIN_MAX_MS);
                request.again_at = now_ms + request.pause;
                self.send(number);
            }
        }
    }

    /// True if there is something to do.
    pub fn has_output(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// The next thing to do.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::Options;

    #[test]
    fn all_that_waited_woke_when_something_was_due_for_one() {
        let mut client = Client::new(&Entry {
            space: 0,
            primary: Tid(7),
            copies: Vec::new(),
            options: Options { copies: 0, limit_bytes: 0, fail_when_full: false },
            owner: Tid::NONE,
            deleted: false,
        });
        for number in [1, 2] {
            let ask = Ask::Look { space: 0, number, tuples: 0 };
            client.begin(100 * number, ask, (number == 2).then_some(300));
        }
        let first = 100 + ASK_AGAIN_MS;
        assert_eq!(client.poll_timeout(), Some(300));
        assert_eq!([1, 2, 3].map(|of| client.poll_timeout_of(of)), [Some(first), Some(300), None]);
        // While the names are looked up, all of them wait for that.
        client.look_at = Some(250);
        assert_eq!([1, 2].map(|of| client.poll_timeout_of(of)), [Some(250); 2]);
    }
}
