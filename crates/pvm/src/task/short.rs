//! The short ways of sending and receiving: small messages within a host, by lanes that stand.

use super::Task;
use crate::buffer::Buffer;
use crate::pattern::Pattern;
use crate::plug;
use crate::sys::gate::{Owner, ThisThread};
use pvm_shm::Glance;
use pvm_wire::{Code, Envelope, Tid};
use std::sync::atomic::Ordering;

impl Task {
    /// [`Task::send`] of a small message to a task of this host that has been sent to before, by the thread that
    /// `owner` says. False if it did nothing.
    #[inline(always)]
    pub fn send_inline(
        &self,
        owner: impl Owner,
        buffer: &mut Buffer,
        (to, tag, context): (Tid, i32, i32),
    ) -> bool {
        let here = to.is_task() && to.host() == self.tid().host() && to != self.tid();
        if !here || plug::is_carried(to, tag) || self.probes.is_on() || !self.is_alive() {
            return false;
        }
        let Some((described, payload)) = buffer.inline() else { return false };
        let Some(mut guard) = self.state.enter_swiftly(owner) else { return false };
        let Some(state) = &mut *guard else { return false };
        let envelope = Envelope { src: self.tid(), dst: to, tag, context, ..described };
        if !state.send_inline(envelope, payload) {
            return false;
        }
        drop(guard);
        let sent = buffer.envelope_mut();
        (sent.tag, sent.dst, sent.context) = (tag, to, context);
        true
    }

    /// [`Task::receive_into`] by the thread that `owner` says, of a small message that lies next in a busy lane. If it gives
    /// none, the buffer is as it was; only [`Glance::Nothing`] says that waiting is of use.
    #[inline(always)]
    pub fn take_inline(
        &self,
        owner: impl Owner,
        pattern: &Pattern,
        buffer: &mut Buffer,
    ) -> Glance<()> {
        if self.waiter.watched.load(Ordering::Relaxed) || self.probes.is_on() || !self.is_alive() {
            return Glance::More;
        }
        let Some(mut guard) = self.state.enter_swiftly(owner) else { return Glance::More };
        let Some(state) = &mut *guard else { return Glance::More };
        let Some(room) = buffer.room() else { return Glance::More };
        match state.take_wanted(pattern, room) {
            Glance::Taken((envelope, size, run)) => {
                buffer.fill_inline(envelope, size, run);
                Glance::Taken(())
            }
            Glance::Nothing => {
                self.waiter.streaming.store(state.inlet.is_streaming(), Ordering::Relaxed);
                Glance::Nothing
            }
            Glance::More => Glance::More,
        }
    }

    /// [`Task::take_inline`] by this thread, whoever else there is; true if the message was there.
    pub(crate) fn take_swiftly(&self, pattern: &Pattern, buffer: &mut Buffer) -> bool {
        let taken = match ThisThread::now() {
            ThisThread::Alone(only) => self.take_inline(only, pattern, buffer),
            ThisThread::Among(among) => self.take_inline(among, pattern, buffer),
        };
        taken == Glance::Taken(())
    }

    /// Sends a small message to the first of many by their lanes, as far as that goes; tells to how many.
    pub(super) fn multicast_inline(
        &self,
        buffer: &mut Buffer,
        to: &[Tid],
        tag: i32,
        context: i32,
    ) -> Result<usize, Code> {
        let Some((described, payload)) = buffer.inline() else { return Ok(0) };
        if self.probes.is_on() {
            return Ok(0);
        }
        let mut state = self.live()?.enter()?;
        let sent = to.iter().take_while(|&&to| {
            let envelope = Envelope { src: self.tid(), dst: to, tag, context, ..described };
            to.host() == self.tid().host() && state.send_inline(envelope, payload)
        });
        let sent = sent.count();
        drop(state);
        if let Some(&last) = sent.checked_sub(1).and_then(|last| to.get(last)) {
            let about = buffer.envelope_mut();
            (about.tag, about.dst) = (tag, last);
        }
        Ok(sent)
    }
}
