//! A client of a space. The servers carry out each of its requests once, even if the primary
//! changes.

use crate::frames::{Ask, Entry, Seen, Told};
use crate::ops::{Op, Outcome, Reason};
use pvm_wire::Tid;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU64;

/// The time after which a request without an answer is sent again; each further wait is twice as
/// long.
const ASK_AGAIN_MS: u64 = 2000;
/// The longest of these waits.
const ASK_AGAIN_MAX_MS: u64 = 60_000;
/// The interval at which the names are looked up while no server is known to hold the space.
const LOOK_AGAIN_MS: u64 = 10;
/// The time that a cancelled request waits for its answer. After it the request is left behind, and
/// its caller goes on.
const PATIENCE_MS: u64 = 500;
/// The time after which a space counts as lost if its primary has ended and none of its copies has
/// put an entry.
const LOST_MS: u64 = 60_000;
/// After this many operations, and after twice as many as are open, the server is told which ones
/// are open.
const SETTLED_EVERY: usize = 256;

/// An output of a client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// A request is to be sent to a server.
    Send {
        /// The server.
        to: Tid,
        /// The request.
        ask: Ask,
    },
    /// A task is to be watched; [`Client::gone`] is called when it has ended.
    Watch {
        /// The task.
        task: Tid,
    },
    /// The last entry of the space is to be looked up; [`Client::looked`] takes the result.
    Look {
        /// The number of the look, which the result repeats.
        number: u64,
    },
}

/// The end of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// The outcome that the server has sent.
    Answered(Outcome),
    /// The content of the space.
    Seen(Seen),
    /// The servers that held the space are gone.
    Lost,
    /// No server has answered, and the request has been left behind. If it looked for a tuple, the
    /// tuple that it may take comes back. Any other request may still be carried out later.
    Unanswered,
}

#[derive(Debug)]
struct Request {
    ask: Ask,
    /// The time at which the wait ends.
    deadline: Option<u64>,
    /// The time at which the request was cancelled.
    cancelled: Option<u64>,
    again_at: u64,
    pause: u64,
    end: Option<End>,
}

/// A message that the servers must still get about a request that no caller waits for.
#[derive(Debug)]
struct LeftBehind {
    asks: Vec<Ask>,
    again_at: u64,
    pause: u64,
}

impl LeftBehind {
    /// True if an answer is the last one for this message. A look for tuples that has found one is
    /// answered before its withdrawal is.
    fn is_settled_by(&self, told: &Told) -> bool {
        let finds = matches!(
            told,
            Told::Answer { outcome: Outcome::Found { .. } | Outcome::Gathered { .. }, .. }
        );
        !finds && !matches!(told, Told::Elsewhere { .. })
    }
}

/// An open space of one process.
#[derive(Debug)]
pub struct Client {
    space: u64,
    primary: Option<Tid>,
    /// A primary that is known to have ended.
    ended: Option<Tid>,
    watched: Option<Tid>,
    requests: BTreeMap<u64, Request>,
    left_behind: BTreeMap<u64, LeftBehind>,
    /// The number of operations since the server was told which ones are open.
    begun: usize,
    settled_every: usize,
    /// The time of the next look at the names, while there is no primary.
    look_at: Option<u64>,
    /// The number of the last look.
    look: u64,
    /// Results of looks before this one are ignored: they may name a primary that has ended since.
    first_look: u64,
    /// The time since which the space has no primary.
    without_since: u64,
    outputs: VecDeque<Output>,
}

impl Client {
    /// Opens a space from its last entry.
    pub fn new(entry: &Entry) -> Self {
        let mut client = Self {
            space: entry.space,
            primary: None,
            ended: None,
            watched: None,
            requests: BTreeMap::new(),
            left_behind: BTreeMap::new(),
            begun: 0,
            settled_every: SETTLED_EVERY,
            look_at: None,
            look: 0,
            first_look: 0,
            without_since: 0,
            outputs: VecDeque::new(),
        };
        client.turn_to(entry.primary);
        client
    }

    /// From now on the server is told after so many operations which ones are open.
    pub const fn settle_every(&mut self, operations: usize) {
        self.settled_every = operations;
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

    /// Begins an operation. `number` must be larger than all earlier ones. An operation that may
    /// wait ends at the deadline.
    pub fn ask(&mut self, now_ms: u64, number: u64, mut op: Op, deadline_ms: Option<u64>) {
        let space = self.space;
        self.settle(number);
        if let Op::Find { wait: true, limit_ms, .. } = &mut op {
            let left = |deadline: u64| deadline.saturating_sub(now_ms).saturating_add(PATIENCE_MS);
            *limit_ms = deadline_ms.map(left).and_then(NonZeroU64::new);
        }
        self.begin(now_ms, Ask::Do { space, number, settled: 0, op }, deadline_ms);
    }

    /// Tells the server from time to time which operations below this one are open. Of the others
    /// it need not keep the answers, however long an old one waits.
    fn settle(&mut self, below: u64) {
        self.begun += 1;
        let count = self.requests.len() + self.left_behind.len();
        let Some(to) = self.primary else { return };
        if count == 0 || self.begun < self.settled_every.max(2 * count) {
            return;
        }
        self.begun = 0;
        let is_operation = |request: &Request| matches!(request.ask, Ask::Do { .. });
        let requests = self.requests.iter().filter(|(_, request)| is_operation(request));
        let left = self.left_behind.keys();
        let open = requests.map(|(number, _)| number).chain(left).copied().collect();
        let ask = Ask::Settle { space: self.space, number: below, open };
        self.outputs.push_back(Output::Send { to, ask });
    }

    /// Begins a request that is not an operation.
    pub fn begin(&mut self, now_ms: u64, ask: Ask, deadline: Option<u64>) {
        let (number, pause) = (ask.number(), ASK_AGAIN_MS);
        let again_at = now_ms + pause;
        let request = Request { ask, deadline, cancelled: None, again_at, pause, end: None };
        self.requests.insert(number, request);
        self.send(number);
    }

    /// Sends a request, and its cancellation if it has been cancelled.
    fn send(&mut self, number: u64) {
        let first = self.first_open().unwrap_or(number);
        let (Some(to), Some(request)) = (self.primary, self.requests.get(&number)) else { return };
        let mut ask = request.ask.clone();
        if let Ask::Do { settled, .. } = &mut ask {
            *settled = first;
        }
        let cancel = request.cancelled.map(|_| Ask::Cancel { space: self.space, number });
        for ask in [ask].into_iter().chain(cancel) {
            self.outputs.push_back(Output::Send { to, ask });
        }
    }

    /// The oldest request without an answer: the client has the answers to all earlier ones.
    fn first_open(&self) -> Option<u64> {
        let first = self.requests.first_key_value().map(|(first, _)| *first);
        let left = self.left_behind.first_key_value().map(|(first, _)| *first);
        first.into_iter().chain(left).min()
    }

    /// Requests that no caller waits for and whose outcome no server has sent.
    pub fn left_behind(&self) -> impl Iterator<Item = u64> {
        self.left_behind.keys().copied()
    }

    fn send_left_behind(&mut self, number: u64) {
        let (Some(to), Some(left)) = (self.primary, self.left_behind.get(&number)) else { return };
        let asks = left.asks.iter().cloned();
        self.outputs.extend(asks.map(|ask| Output::Send { to, ask }));
    }

    /// The caller of a request stops waiting for it.
    pub fn leave(&mut self, now_ms: u64, number: u64) {
        // A tuple that it has found is given back, because no caller takes it.
        let finds = |end: &End| {
            matches!(end, End::Answered(Outcome::Found { .. } | Outcome::Gathered { .. }))
        };
        if let Some(request) = self.requests.get_mut(&number)
            && request.end.as_ref().is_some_and(finds)
        {
            request.end = None;
        }
        self.leave_behind(now_ms, number);
        self.requests.remove(&number);
    }

    /// The caller of a request stops waiting for it. A request without an end is given the end
    /// *unanswered*.
    fn leave_behind(&mut self, now_ms: u64, number: u64) {
        let Some(request) = self.requests.get_mut(&number).filter(|one| one.end.is_none()) else {
            return;
        };
        request.end = Some(End::Unanswered);
        let space = self.space;
        let asks = match &request.ask {
            Ask::Do { op: Op::Find { .. } | Op::Gather { .. }, .. } => {
                vec![Ask::Withdraw { space, number }]
            }
            // These requests change nothing, or need not be sent again.
            Ask::Look { .. }
            | Ask::Page { .. }
            | Ask::Delete { .. }
            | Ask::Do { op: Op::Count { .. }, .. } => return,
            ask => vec![ask.clone(), Ask::Cancel { space, number }],
        };
        let (again_at, pause) = (now_ms + ASK_AGAIN_MS, ASK_AGAIN_MS);
        self.left_behind.insert(number, LeftBehind { asks, again_at, pause });
        self.send_left_behind(number);
    }

    /// Takes a frame of a server.
    pub fn told(&mut self, now_ms: u64, from: Tid, told: Told) {
        let number = told.number();
        if self.is_outdated(from, &told) {
            return;
        }
        if self.left_behind.get(&number).is_some_and(|left| left.is_settled_by(&told)) {
            self.left_behind.remove(&number);
        }
        let (number, end) = match told {
            Told::Answer { number, outcome } => (number, End::Answered(outcome)),
            Told::Seen { number, seen } => (number, End::Seen(seen)),
            Told::Refused { number, reason, .. } => {
                (number, End::Answered(Outcome::Failed { reason }))
            }
            Told::Elsewhere { .. } => return self.look(now_ms),
            Told::Created { .. } => return,
        };
        self.end(number, end);
    }

    /// True for the refusal of a server whose disk is full and that is not asked any more: only
    /// that server knows of it, and the next one may have carried the request out.
    fn is_outdated(&self, from: Tid, told: &Told) -> bool {
        let is_refusal =
            matches!(told, Told::Answer { outcome: Outcome::Failed { reason: Reason::Disk }, .. });
        is_refusal && self.primary != Some(from)
    }

    fn end(&mut self, number: u64, end: End) {
        if let Some(request) = self.requests.get_mut(&number) {
            request.end.get_or_insert(end);
        }
    }

    /// True if a request has ended, or if there is no such request.
    pub fn has_ended(&self, number: u64) -> bool {
        self.requests.get(&number).is_none_or(|request| request.end.is_some())
    }

    /// Takes out the end of a request, if it has ended; an end is returned once.
    pub fn take_end(&mut self, number: u64) -> Option<End> {
        self.requests.get(&number)?.end.as_ref()?;
        self.requests.remove(&number)?.end
    }

    /// A watched task has ended.
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

    /// Takes the result of a look: the last entry of the space, or none if the space has no entry
    /// any more.
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
            let left: Vec<u64> = self.left_behind.keys().copied().collect();
            left.into_iter().for_each(|number| self.send_left_behind(number));
            let numbers: Vec<u64> = self.requests.keys().copied().collect();
            return numbers.into_iter().for_each(|number| self.send(number));
        }
        if entry.copies.is_empty() || now_ms >= self.without_since + LOST_MS {
            self.end_all(&End::Lost);
        }
    }

    fn end_all(&mut self, end: &End) {
        self.left_behind.clear();
        for number in self.requests.keys().copied().collect::<Vec<_>>() {
            self.end(number, end.clone());
        }
    }

    fn due(request: &Request) -> u64 {
        let end = match request.cancelled {
            Some(since) => Some(since + PATIENCE_MS),
            None => request.deadline,
        };
        end.map_or(request.again_at, |end| end.min(request.again_at))
    }

    /// Cancels a request: it ends within half a second.
    pub fn cancel(&mut self, now_ms: u64, number: u64) {
        if let Some(request) = self.requests.get_mut(&number) {
            request.deadline = Some(now_ms);
            self.handle_timeout(now_ms);
        }
    }

    /// The time at which [`Client::handle_timeout`] must be called.
    pub fn poll_timeout(&self) -> Option<u64> {
        let open = self.requests.values().filter(|request| request.end.is_none());
        let left = self.left_behind.values().map(|left| left.again_at);
        if open.clone().next().is_none() && self.left_behind.is_empty() {
            return None;
        }
        open.map(Self::due).chain(self.look_at).chain(left).min()
    }

    /// The time at which [`Client::handle_timeout`] must be called for this request. A caller that
    /// waits for one request sleeps until then, and is not woken by timeouts of a thousand others.
    pub fn poll_timeout_of(&self, number: u64) -> Option<u64> {
        let open = self.requests.get(&number).filter(|request| request.end.is_none())?;
        self.look_at.into_iter().chain([Self::due(open)]).min()
    }

    /// Handles due timeouts.
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
            if request.cancelled.is_some_and(|since| since + PATIENCE_MS <= now_ms) {
                self.leave_behind(now_ms, number);
                continue;
            }
            if request.deadline.is_some_and(|deadline| deadline <= now_ms)
                && request.cancelled.is_none()
            {
                request.cancelled = Some(now_ms);
                let (ask, to) = (Ask::Cancel { space: self.space, number }, self.primary);
                self.outputs.extend(to.map(|to| Output::Send { to, ask }));
            }
            if request.again_at <= now_ms {
                request.pause = (2 * request.pause).min(ASK_AGAIN_MAX_MS);
                request.again_at = now_ms + request.pause;
                self.send(number);
            }
        }
        self.ask_again_of_left_behind(now_ms);
    }

    fn ask_again_of_left_behind(&mut self, now_ms: u64) {
        let due = self.left_behind.iter().filter(|(_, left)| left.again_at <= now_ms);
        for number in due.map(|(number, _)| *number).collect::<Vec<_>>() {
            if let Some(left) = self.left_behind.get_mut(&number) {
                left.pause = (2 * left.pause).min(ASK_AGAIN_MAX_MS);
                left.again_at = now_ms + left.pause;
            }
            self.send_left_behind(number);
        }
    }

    /// True if there is an output.
    pub fn has_output(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// Takes the next output.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::{Full, Options};
    use crate::ops::Find;
    use crate::{Builder, Kind, Shape};

    fn client() -> Client {
        Client::new(&Entry {
            space: 0,
            primary: Tid(7),
            copies: Vec::new(),
            options: Options { copies: 0, limit_bytes: 0, when_full: Full::Wait, loss_ms: 0 },
            owner: Tid::NONE,
            deleted: false,
            directory: pvm_wire::Blob::default(),
            generation: 0,
        })
    }

    #[test]
    fn all_that_waited_woke_when_something_was_due_for_one() {
        let mut client = client();
        for number in [1, 2] {
            let ask = Ask::Look { space: 0, number, tuples: 0 };
            client.begin(100 * number, ask, (number == 2).then_some(300));
        }
        let first = 100 + ASK_AGAIN_MS;
        assert_eq!(client.poll_timeout(), Some(300));
        assert_eq!([1, 2, 3].map(|of| client.poll_timeout_of(of)), [Some(first), Some(300), None]);
        // During the look at the names all requests wait for its result.
        client.look_at = Some(250);
        assert_eq!([1, 2].map(|of| client.poll_timeout_of(of)), [Some(250); 2]);
    }

    #[test]
    fn the_server_is_told_which_operations_are_open_while_an_old_one_waits() {
        let mut client = client();
        let count = || {
            let mut builder = Builder::new();
            builder.int(1).unwrap();
            Op::Count { template: builder.tuple().unwrap() }
        };
        let mut told = Vec::new();
        for number in 1..=600 {
            client.ask(number, number, count(), None);
            while let Some(output) = client.poll_output() {
                if let Output::Send { ask: Ask::Settle { number, open, .. }, .. } = output {
                    told.push((number, open));
                }
            }
            if number > 1 {
                let outcome = Outcome::Counted { count: 0 };
                client.told(number, Tid(7), Told::Answer { number, outcome });
                assert!(client.take_end(number).is_some());
            }
        }
        assert_eq!(told, [(256, vec![1]), (512, vec![1])]);
    }

    #[test]
    fn a_late_refusal_of_a_former_primary_was_believed() {
        let mut client = client();
        let op = Op::GiveBack { claim: 1 };
        client.ask(0, 1, op, None);
        let refusal = || {
            let outcome = Outcome::Failed { reason: Reason::Disk };
            Told::Answer { number: 1, outcome }
        };
        client.told(1, Tid(8), refusal());
        assert!(!client.has_ended(1));
        client.told(2, Tid(7), refusal());
        assert!(client.has_ended(1));
    }

    #[test]
    fn what_was_found_for_a_request_that_is_left_stayed_with_nobody() {
        let mut builder = Builder::new();
        builder.actual(Kind::Text, Shape::Scalar, b"x").unwrap();
        let tuple = builder.tuple().unwrap();
        let mut client = client();
        let op = Op::Find { template: tuple.clone(), how: Find::Take, wait: true, limit_ms: None };
        client.begin(0, Ask::Do { space: 0, number: 1, settled: 1, op }, None);
        let outcome = Outcome::Found { tuple, claim: None, tries: 0 };
        client.told(1, Tid(7), Told::Answer { number: 1, outcome });
        assert!(client.has_ended(1));
        client.leave(2, 1);
        let outputs: Vec<Output> = std::iter::from_fn(|| client.poll_output()).collect();
        let withdraws = |output: &Output| {
            matches!(output, Output::Send { ask: Ask::Withdraw { number: 1, .. }, .. })
        };
        assert!(outputs.iter().any(withdraws), "{outputs:?}");
    }
}
