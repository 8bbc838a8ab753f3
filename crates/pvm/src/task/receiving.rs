//! Receiving: looks for messages, and waits for them.

use super::Task;
use super::until::Step;
use crate::buffer::{self, Buffer};
use crate::mailbox::MessageKey;
use crate::pattern::Pattern;
use crate::probe::waits;
use crate::state::Others;
use crate::wait::{Awaited, Deadline, WaitToken};
use pvm_wire::{Code, Envelope};

impl Task {
    /// Takes the earliest message that matches, if one is there.
    ///
    /// # Errors
    /// [`Code::SysErr`] if the daemon is gone, [`Code::Already`] inside of a signal handler,
    /// [`Code::NoMem`] where there is no room for the message, which stays then.
    pub fn receive(&self, pattern: &Pattern) -> Result<Option<Buffer>, Code> {
        let mut state = self.live()?.enter()?;
        self.follow_routes(&mut state);
        let alone = state.is_alone();
        let found = loop {
            match state.find_at_hand(pattern, (alone, Others::Come)) {
                Ok(None) => break None,
                // A run list that lies makes a message that nobody can read: as if never sent.
                Ok(Some((envelope, store))) => {
                    if let Some(buffer) = Buffer::received(envelope, store) {
                        break Some(buffer);
                    }
                }
                Err(code) => {
                    self.rewatch(&mut state, false);
                    return Err(code);
                }
            }
        };
        if let Some(buffer) = &found {
            state.probe_received(&buffer.envelope(), pattern);
        } else {
            state.nothing_found();
            self.follow_routes(&mut state);
        }
        self.rewatch(&mut state, found.is_none());
        drop(state);
        self.turns.has_looked(found.is_some());
        Ok(found)
    }

    /// [`Task::receive_into`] for a caller that waits with tokens of `awaited`. If the wait is
    /// endless, a message that its sender is still writing will do, too; messages of senders that
    /// it does not wait for may stay in their lanes.
    ///
    /// # Errors
    /// As for [`Task::receive`].
    pub fn receive_awaited(
        &self,
        pattern: &Pattern,
        awaited: Awaited,
        buffer: &mut Buffer,
    ) -> Result<bool, Code> {
        if awaited.is_endless() && receive_stream(self, pattern, buffer)? {
            return Ok(true);
        }
        receive_beside(self, pattern, awaited.others(), buffer)
    }

    /// Tells which message this task waits for, or that it waits no more: a hint for senders.
    #[inline]
    pub fn await_message(&self, pattern: Option<&Pattern>) {
        let wanted = pattern.map(|pattern| (pattern.context, pattern.source, pattern.tag));
        self.waiter.inbox.wish().set(wanted);
    }

    /// Waits a little, as [`Task::wait`] does before it sleeps, for a message that
    /// [`Task::fast_take`] has not found: true if something has come. No lock is held and nothing
    /// is owned: longjmp may leave it.
    #[inline]
    pub fn linger(&self, token: WaitToken, deadline: Deadline) -> bool {
        // If the task is over, the next look says so.
        let Some(came) = self.come_in() else { return true };
        self.turns.hand_on();
        let linger = || self.waiter.linger_for(&self.generation, token, deadline);
        let has_come = waits::wait(&self.probes, linger);
        self.go_out(came);
        // A thread that has lingered in vain waits next, and is in nobody's way.
        if has_come || deadline.passed() {
            self.turns.await_turn();
        }
        has_come
    }

    /// Like `receive`, into a buffer, whose memory is used again; false if nothing matches.
    ///
    /// # Errors
    /// As for [`Task::receive`].
    #[inline]
    pub fn receive_into(&self, pattern: &Pattern, buffer: &mut Buffer) -> Result<bool, Code> {
        receive_beside(self, pattern, Others::Come, buffer)
    }

    /// The envelope of the earliest message that matches, and its size as `pvm_bufinfo` tells
    /// it; the message stays.
    ///
    /// # Errors
    /// As for [`Task::receive`].
    pub fn probe(&self, pattern: &Pattern) -> Result<Option<(Envelope, usize)>, Code> {
        let mut state = self.live()?.enter()?;
        self.follow_routes(&mut state);
        let alone = state.is_alone();
        state.pull(alone);
        let key = state.mailbox.find(pattern).map(|(key, _)| key);
        let list = key.and_then(|key| state.distant_list(key));
        let found = key.and_then(|key| state.mailbox.get(key)).map(|(envelope, store)| {
            // A run list that lies has no size that anybody could read.
            let size = buffer::reported_size(envelope, store, list.as_deref());
            (*envelope, size.unwrap_or(0))
        });
        self.rewatch(&mut state, found.is_none());
        drop(state);
        self.turns.has_looked(found.is_some());
        Ok(found)
    }

    /// All waiting messages, of all contexts, in the order of their arrival: those that a matcher
    /// of `pvm_recvf` is shown.
    ///
    /// # Errors
    /// As for [`Task::receive`].
    pub fn pending(&self) -> Result<Vec<(MessageKey, Envelope)>, Code> {
        let mut state = self.live()?.enter()?;
        self.follow_routes(&mut state);
        let alone = state.is_alone();
        state.pull(alone);
        let all = state.mailbox.all();
        self.rewatch(&mut state, true);
        Ok(all)
    }

    /// The waiting messages that have come since a mark was made, of all contexts and in the order
    /// of their arrival, and a new mark: a caller that goes on from there sees each message once,
    /// and its cost grows with the new messages only. The first mark is [`MessageKey::FIRST`].
    ///
    /// # Errors
    /// As for [`Task::receive`].
    pub fn pending_since(
        &self,
        mark: MessageKey,
    ) -> Result<(Vec<(MessageKey, Envelope)>, MessageKey), Code> {
        let mut state = self.live()?.enter()?;
        self.follow_routes(&mut state);
        let alone = state.is_alone();
        state.pull(alone);
        let since = state.mailbox.since(mark);
        let next = state.mailbox.next_key();
        self.rewatch(&mut state, true);
        Ok((since, next))
    }

    /// A mark for [`Task::pending_since`] behind the messages that a look has taken in; messages
    /// that have come since the last look are behind it.
    ///
    /// # Errors
    /// As for [`Task::receive`].
    pub fn mark(&self) -> Result<MessageKey, Code> {
        Ok(self.live()?.enter()?.mailbox.next_key())
    }

    /// Takes a message that [`Task::pending`] or [`Task::pending_since`] named.
    ///
    /// # Errors
    /// As for [`Task::receive`].
    pub fn take(&self, key: MessageKey) -> Result<Option<Buffer>, Code> {
        let mut state = self.live()?.enter()?;
        let Some((envelope, store)) = state.mailbox.remove(key) else { return Ok(None) };
        let store = state.bring(key, envelope, store)?;
        Ok(store.and_then(|store| Buffer::received(envelope, store)))
    }

    /// Receives, waiting until the deadline.
    ///
    /// # Errors
    /// As for [`Task::receive`].
    pub fn receive_blocking(
        &self,
        pattern: &Pattern,
        deadline: Deadline,
    ) -> Result<Option<Buffer>, Code> {
        self.until(deadline, |token| Ok(Step::of(self.receive(pattern)?, token)))
    }
}

/// Receives a message that its sender is still writing; false if nobody writes one.
fn receive_stream(task: &Task, pattern: &Pattern, buffer: &mut Buffer) -> Result<bool, Code> {
    let mut state = task.live()?.enter()?;
    let found = state.is_alone()
        && state.take_stream(pattern).is_some_and(|(envelope, store)| buffer.fill(envelope, store));
    if found {
        state.probe_received(&buffer.envelope(), pattern);
    }
    Ok(found)
}

/// [`Task::receive_into`], the messages of other senders being there afterwards.
///
/// # Errors
/// As for [`Task::receive`].
pub(crate) fn receive_beside(
    task: &Task,
    pattern: &Pattern,
    others: Others,
    buffer: &mut Buffer,
) -> Result<bool, Code> {
    let mut state = task.live()?.enter()?;
    task.follow_routes(&mut state);
    let alone = state.is_alone();
    if let Some(room) = buffer.take_room() {
        state.inlet.give_back(room);
    }
    let found = loop {
        match state.find_at_hand(pattern, (alone, others)) {
            Ok(None) => break false,
            Ok(Some((envelope, store))) => {
                if buffer.fill(envelope, store) {
                    state.probe_received(&buffer.envelope(), pattern);
                    break true;
                }
            }
            Err(code) => {
                task.rewatch(&mut state, false);
                return Err(code);
            }
        }
    };
    if !found {
        state.nothing_found();
        task.follow_routes(&mut state);
    }
    task.rewatch(&mut state, !found);
    drop(state);
    task.turns.has_looked(found);
    Ok(found)
}
