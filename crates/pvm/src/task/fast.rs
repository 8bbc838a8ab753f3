//! The fast path of sending and receiving: small messages within a host, by lanes that stand.

use super::Task;
use super::aside::{MAILBOX, OVER, ROUTES};
use crate::buffer::{Buffer, Form};
use crate::pattern::Pattern;
use crate::state::State;
use crate::sys::gate::{Among, Biased, Owner};
use crate::sys::thread_number;
use crate::{plug, probe};
use pvm_shm::Glance;
use pvm_shm::lane::{Head, Key};
use pvm_wire::{Address, Code, Context, Tag, Tid};
use std::sync::atomic::Ordering;

impl Task {
    /// [`Task::send`] of a small message to a task of this host that has been sent to before, by
    /// the thread that `owner` says; returns the message's number, none if nothing was sent.
    #[inline]
    pub fn fast_send(&self, owner: impl Owner, buffer: &mut Buffer, to: Address) -> Option<u64> {
        let (head, data) = buffer.small()?;
        self.send_small(owner, to, head, data)
    }

    /// Like `fast_send`, for a message that is no buffer's, and whose head has all but its number
    /// and its receiver.
    // Inlined: pvm_psend of 8 bytes takes 8 instructions less.
    #[inline(always)]
    pub fn send_small(
        &self,
        owner: impl Owner,
        to: Address,
        head: &mut Head,
        data: &[u8],
    ) -> Option<u64> {
        // Messages that the daemons carry have tags of their own; the state knows to which tasks
        // there is a lane.
        if plug::is_carried(Tid::NONE, to.tag) {
            return None;
        }
        let mut guard = self.state.try_enter(owner)?;
        let state = guard.as_mut()?;
        if self.aside.get() & OVER != 0 {
            return None;
        }
        state.send_small(to, head, data)
    }

    /// [`Task::fast_send`] of a few bytes to the receiver of the last send, in place: for a caller
    /// that does nothing else. If the message was published, the answer is whether its receiver
    /// looks there by itself; if it does not, [`Task::tell_of_few`] must follow.
    #[inline]
    pub fn send_few(
        &self,
        owner: Biased,
        (form, buffer): (Form, &mut Buffer),
        to: Address,
    ) -> Option<bool> {
        let mut guard = self.state.try_enter(owner)?;
        let state = guard.as_mut()?;
        if self.aside.get() & OVER != 0 {
            return None;
        }
        state.send_few(to, || buffer.few(form))
    }

    /// Tells the receiver of a message by [`Task::send_few`]; false if that one is gone, and the
    /// message must be sent again.
    pub fn tell_of_few(&self, owner: Biased, to: Tid) -> bool {
        self.state
            .try_enter(owner)
            .and_then(|mut guard| Some(guard.as_mut()?.outbox.tell_of_few(to)))
            .unwrap_or(false)
    }

    /// [`Task::receive_into`] by the thread that `owner` says, of a small message that lies next in
    /// a busy lane. If it gives none, the buffer is as it was; only [`Glance::Nothing`] says that
    /// waiting is of use.
    // Inlined: pvm_recv of 1000 bytes takes 70 instructions less, with what it calls.
    #[inline(always)]
    pub fn fast_take(
        &self,
        owner: impl Owner,
        pattern: &Pattern,
        buffer: &mut Buffer,
    ) -> Glance<()> {
        let Some((about, room)) = buffer.room() else { return Glance::More };
        let wanted = Key::new(Context(pattern.context), pattern.tag.map(Tag));
        match self.take_small(owner, (pattern, wanted), about, room) {
            Glance::Taken(size) => {
                buffer.fill_small(size);
                Glance::Taken(())
            }
            Glance::Nothing => Glance::Nothing,
            Glance::More => Glance::More,
        }
    }

    /// [`Task::fast_take`] of a few bytes out of the lane that gave the last message, in place: for
    /// a caller that does nothing else. Returns the form that the buffer has then. None: nothing
    /// was taken, and a message may wait nevertheless.
    // Inlined: see `Receiver::take_few`.
    #[inline(always)]
    pub fn take_few(&self, owner: Biased, pattern: &Pattern, buffer: &mut Buffer) -> Option<Form> {
        let mut guard = self.state.try_enter(owner)?;
        let state = guard.as_mut()?;
        if self.aside.get() != 0 {
            return None;
        }
        let (about, room) = buffer.room()?;
        let wanted = Key::new(Context(pattern.context), pattern.tag.map(Tag));
        let taken = state.inlet.take_few(pattern.source, &wanted, about, room)?;
        Some(buffer.fill_few(taken))
    }

    /// Like `take_few`, into memory that is no buffer's; returns the size. The head goes to
    /// `about`, and raw data or items of one type go to `room` as they lie. `wanted` fits only
    /// messages that `pattern` matches, perhaps fewer of them.
    // Inlined: pvm_precv of 8 bytes takes 60 instructions less, with what it calls.
    #[inline(always)]
    pub fn take_small(
        &self,
        owner: impl Owner,
        (pattern, wanted): (&Pattern, Key),
        about: &mut Head,
        room: &mut [u8],
    ) -> Glance<usize> {
        let Some(mut guard) = self.state.try_enter(owner) else { return Glance::More };
        let Some(state) = &mut *guard else { return Glance::More };
        let aside = self.aside.get();
        if aside != 0 {
            // A copy, so that the pattern itself need not lie in memory.
            let pattern = *pattern;
            if !passes(state, &pattern, aside) {
                return Glance::More;
            }
        }
        let taken = state.inlet.take_small(pattern.source, &wanted, about, room);
        if taken == Glance::Nothing {
            self.waiter.streaming.store(state.inlet.is_streaming(), Ordering::Relaxed);
        }
        taken
    }

    /// [`Task::fast_take`] by this thread, also where there are others.
    pub fn fast_receive(&self, pattern: &Pattern, buffer: &mut Buffer) -> Glance<()> {
        if self.probes.is_on() {
            return Glance::More;
        }
        self.fast_take(Among(thread_number()), pattern, buffer)
    }

    /// Sends a small message to the first tasks of a list by their lanes, as far as that goes;
    /// returns how many got it.
    pub(super) fn fast_multicast(
        &self,
        buffer: &mut Buffer,
        to: &[Tid],
        tag: Tag,
        context: Context,
    ) -> Result<usize, Code> {
        let Some((head, data)) = buffer.small() else { return Ok(0) };
        let mut state = self.live()?.enter()?;
        let sent = to.iter().take_while(|&&to| {
            let begin = probe::moment(&self.probes);
            let address = Address { to, tag, context };
            let sent =
                to.host() == self.tid().host() && state.send_small(address, head, data).is_some();
            state.probe_small(begin.filter(|_| sent), address, (head, data.len()));
            sent
        });
        let sent = sent.count();
        drop(state);
        if let Some(&last) = sent.checked_sub(1).and_then(|last| to.get(last)) {
            buffer.edit(|about| (about.tag, about.dst) = (tag.0, last));
        }
        Ok(sent)
    }
}

/// True where the bits against the fast path have nothing to do with such a message.
#[inline(never)]
fn passes(state: &State, pattern: &Pattern, aside: u32) -> bool {
    // A message from another host may come by a route; a task of this host has its lane.
    let is_near = pattern.source.is_some_and(|source| source.host() == state.me.host());
    aside & !(MAILBOX | ROUTES) == 0
        && (aside & ROUTES == 0 || is_near)
        && (aside & MAILBOX == 0 || state.mailbox.find(pattern).is_none())
}
