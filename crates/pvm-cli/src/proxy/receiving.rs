//! Receives of a proxy for its task.
//!
//! Receives that wait are a list ([`Waiting`]), and one thread waits for arrivals on behalf of all
//! of them: each message is looked at once, whoever waits. It becomes that thread when it has the
//! first of them, and is one like the others again when nobody waits.
//!
//! A message whose body goes in parts is announced, and held until the task says whether it has
//! room for it. One that the task refuses is the first again for receives that are asked later.

use super::socket::{Voice, lock};
use super::waiting::Waiting;
use pvm::{Buffer, Deadline, MessageKey, Pattern, Task};
use pvm_wire::Code;
use pvm_wire::proxy::{Answer, PART_BYTES_MAX};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Receives that may wait at the same time: some 200 MB.
const WAITING_MAX: usize = 1 << 20;
/// A mark behind all that has come: a look from there finds nothing, and tells the true mark.
const BEHIND_ALL: MessageKey = MessageKey(u64::MAX);
/// Bytes of a run behind the data.
const RUN_BYTES: usize = 8;

/// Answers, with the numbers of their asks.
type Answers = Vec<(u32, Answer)>;

/// Receives that wait for messages, and messages that wait for a word of the task.
#[derive(Debug)]
struct Inbox {
    waiting: Waiting,
    /// A thread waits for arrivals.
    watched: bool,
    /// Messages before it were offered to all waiting receives.
    mark: MessageKey,
    /// Announced, by the number of the receive, with their places.
    held: BTreeMap<u32, (u64, Buffer)>,
    /// Refused, in the order in which they were taken first.
    refused: BTreeMap<u64, Buffer>,
    next: u64,
}

impl Default for Inbox {
    fn default() -> Self {
        Self {
            waiting: Waiting::default(),
            watched: false,
            mark: BEHIND_ALL,
            held: BTreeMap::new(),
            refused: BTreeMap::new(),
            next: 0,
        }
    }
}

/// The immediate result of a receive.
pub(super) enum Looking {
    /// Its answer.
    Found(Answer),
    /// It waits.
    Waits,
    /// It waits, and this thread is to wait for arrivals.
    Watch,
}

impl Inbox {
    /// The answer for the receive that gets a message: the message, or its announcement.
    fn hand(&mut self, id: u32, buffer: Buffer) -> Answer {
        let place = self.next;
        self.next += 1;
        self.hand_again(id, place, buffer)
    }

    fn hand_again(&mut self, id: u32, place: u64, buffer: Buffer) -> Answer {
        let bytes = body_size(&buffer);
        if bytes <= PART_BYTES_MAX {
            return received(&buffer);
        }
        let envelope = buffer.envelope();
        self.held.insert(id, (place, buffer));
        Answer::Announced { envelope, bytes: bytes as u64 }
    }

    /// The first refused message that fits.
    fn refused(&self, pattern: &Pattern) -> Option<(u64, &Buffer)> {
        let fits = |(_, buffer): &(&u64, &Buffer)| pattern.matches(&buffer.envelope());
        self.refused.iter().find(fits).map(|(place, buffer)| (*place, buffer))
    }

    fn take_refused(&mut self, pattern: &Pattern) -> Option<(u64, Buffer)> {
        let place = self.refused(pattern)?.0;
        self.refused.remove_entry(&place)
    }
}

/// A message as it is handed over.
fn received(buffer: &Buffer) -> Answer {
    match buffer.to_message() {
        Ok(message) => Answer::Received { message },
        Err(code) => Answer::Failed { code },
    }
}

/// Bytes of the body as it will go: the data, and the list of runs where the envelope does not hold
/// it.
fn body_size(buffer: &Buffer) -> usize {
    let runs = if buffer.encoding().has_runs() { buffer.runs().len() } else { 0 };
    buffer.data_size() + if runs > 1 { runs * RUN_BYTES } else { 0 }
}

/// Receives for a task, and answers.
pub(super) struct Receiver {
    task: &'static Task,
    voice: Arc<Voice>,
    inbox: Mutex<Inbox>,
}

impl Receiver {
    pub(super) fn new(task: &'static Task, voice: Arc<Voice>) -> Self {
        Self { task, voice, inbox: Mutex::default() }
    }

    /// A receive: what is there, or its place among those that wait.
    pub(super) fn receive(
        &self,
        id: u32,
        pattern: &Pattern,
        limit: i64,
    ) -> Result<(Answers, Looking), Code> {
        let mut inbox = lock(&self.inbox);
        // A receive that waits already comes first.
        let served = self.offer_new(&mut inbox)?;
        if let Some(answer) = self.look_for(&mut inbox, id, pattern)? {
            return Ok((served, Looking::Found(answer)));
        }
        if limit == 0 {
            return Ok((served, Looking::Found(Answer::Done)));
        }
        if inbox.waiting.is_empty() {
            // What comes from here on is offered; what came before, and since the look, is looked
            // for once more.
            inbox.mark = self.task.pending_since(BEHIND_ALL)?.1;
            if let Some(answer) = self.look_for(&mut inbox, id, pattern)? {
                return Ok((served, Looking::Found(answer)));
            }
        }
        if inbox.waiting.len() >= WAITING_MAX {
            return Err(Code::OutOfRes);
        }
        Ok((served, self.add(&mut inbox, id, pattern, limit)))
    }

    fn look_for(
        &self,
        inbox: &mut Inbox,
        id: u32,
        pattern: &Pattern,
    ) -> Result<Option<Answer>, Code> {
        if let Some((place, buffer)) = inbox.take_refused(pattern) {
            return Ok(Some(inbox.hand_again(id, place, buffer)));
        }
        Ok(self.task.receive(pattern)?.map(|buffer| inbox.hand(id, buffer)))
    }

    fn add(&self, inbox: &mut Inbox, id: u32, pattern: &Pattern, limit: i64) -> Looking {
        let limit = u64::try_from(limit).ok().map(Duration::from_nanos);
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        let first_end = inbox.waiting.first_end();
        inbox.waiting.add(id, pattern, end);
        if !inbox.watched {
            inbox.watched = true;
            return Looking::Watch;
        }
        if inbox.waiting.first_end() != first_end {
            // A wait for arrivals does not know of this end.
            self.task.nudge();
        }
        Looking::Waits
    }

    /// Offers the messages that came since the last look to the waiting receives.
    fn offer_new(&self, inbox: &mut Inbox) -> Result<Answers, Code> {
        let mut served = Vec::new();
        if inbox.waiting.is_empty() {
            return Ok(served);
        }
        let (new, mark) = self.task.pending_since(inbox.mark)?;
        inbox.mark = mark;
        for (key, envelope) in new {
            if let Some((id, place)) = inbox.waiting.find(&envelope)
                && let Some(buffer) = self.task.take(key)?
            {
                inbox.waiting.is_served(place);
                served.push((id, inbox.hand(id, buffer)));
            }
        }
        Ok(served)
    }

    /// Waits for arrivals on behalf of all receives, until none waits.
    pub(super) fn watch(&self) {
        loop {
            let token = self.task.token();
            let mut inbox = lock(&self.inbox);
            let looked = self.offer_new(&mut inbox);
            let mut answers = looked.unwrap_or_else(|code| all_fail(&mut inbox, code));
            while let Some(id) = inbox.waiting.over(Instant::now()) {
                answers.push((id, Answer::Done));
            }
            inbox.watched = !inbox.waiting.is_empty();
            let deadline = inbox.waiting.first_end().map_or(Deadline::Never, Deadline::At);
            let watched = inbox.watched;
            drop(inbox);
            self.voice.say_all(answers);
            if !watched {
                return;
            }
            if let Err(code) = self.task.wait(token, deadline) {
                let mut inbox = lock(&self.inbox);
                let answers = all_fail(&mut inbox, code);
                inbox.watched = false;
                drop(inbox);
                return self.voice.say_all(answers);
            }
        }
    }

    /// There is no thread that could wait for arrivals.
    pub(super) fn watch_nothing(&self) {
        let mut inbox = lock(&self.inbox);
        let answers = all_fail(&mut inbox, Code::OutOfRes);
        inbox.watched = false;
        drop(inbox);
        self.voice.say_all(answers);
    }

    /// A receive need not wait longer. What was here before is its own all the same.
    pub(super) fn give_up(&self, id: u32) {
        let mut inbox = lock(&self.inbox);
        let looked = self.offer_new(&mut inbox);
        let served = looked.unwrap_or_else(|code| all_fail(&mut inbox, code));
        let waited = inbox.waiting.give_up(id);
        let nobody = inbox.watched && inbox.waiting.is_empty();
        drop(inbox);
        self.voice.say_all(served);
        if waited {
            if nobody {
                self.task.nudge();
            }
            self.voice.say(id, Answer::Done);
        }
    }

    /// The message that was announced.
    pub(super) fn fetch(&self, id: u32) {
        let held = lock(&self.inbox).held.remove(&id);
        if let Some((_, buffer)) = held {
            self.voice.say(id, received(&buffer));
        }
    }

    /// The message that was announced is not wanted now.
    pub(super) fn refuse(&self, id: u32) {
        let mut inbox = lock(&self.inbox);
        if let Some((place, buffer)) = inbox.held.remove(&id) {
            inbox.refused.insert(place, buffer);
        }
    }

    /// The message that a receive would get is not wanted at all: 1 if there was one.
    pub(super) fn discard(&self, pattern: &Pattern) -> Result<i32, Code> {
        let mut inbox = lock(&self.inbox);
        let found = inbox.take_refused(pattern).is_some() || self.task.receive(pattern)?.is_some();
        Ok(found.into())
    }

    pub(super) fn probe(&self, pattern: &Pattern) -> Result<Answer, Code> {
        if let Some((_, buffer)) = lock(&self.inbox).refused(pattern) {
            let bytes = buffer.reported_size() as u64;
            return Ok(Answer::Probed { envelope: buffer.envelope(), bytes });
        }
        Ok(self.task.probe(pattern)?.map_or(Answer::Done, |(envelope, bytes)| Answer::Probed {
            envelope,
            bytes: bytes as u64,
        }))
    }
}

fn all_fail(inbox: &mut Inbox, code: Code) -> Answers {
    inbox.waiting.all().into_iter().map(|id| (id, Answer::Failed { code })).collect()
}
