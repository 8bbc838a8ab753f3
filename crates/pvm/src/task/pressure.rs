//! Sends that find no credit: what they do, and how they wait.
//!
//! A send that waits takes in what arrives, so that two tasks that send to each other go on as long
//! as one of them finds credit. When all tasks that could give it wait in sends as well, the host
//! tells one of them so (`Code::OutOfRes`), and its program may receive.

use super::Task;
use super::entering::Inside;
use crate::buffer::Buffer;
use crate::buffer::sending::Prepared;
use crate::credit::{Policy, Sending};
use crate::plug;
use crate::sys;
use crate::sys::cancellation::shielded;
use crate::wait::Deadline;
use pvm_wire::request::{Lack, Request};
use pvm_wire::{Address, Code, Context, Envelope, Tag};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The pause between two tries, at first and at most. A wait ends when a receiver reads, and a read
/// rings no bell.
const PAUSE: Duration = Duration::from_micros(200);
const PAUSE_MAX: Duration = Duration::from_millis(10);
/// Tries until the host is told that a send waits; then it is told of every second one.
const TRIES: u32 = 8;

impl Task {
    /// The policy of this task's sends that find no credit.
    pub fn policy(&self) -> Policy {
        Policy::from_number(self.policy.load(Ordering::Relaxed)).unwrap_or(Policy::Spill)
    }

    /// Changes it.
    ///
    /// # Errors
    /// [`Code::SysErr`] if the daemon is gone, [`Code::Already`] inside of a signal handler.
    pub fn set_policy(&self, policy: Policy) -> Result<(), Code> {
        self.enter()?.outbox.set_spills(policy == Policy::Spill);
        self.policy.store(policy as u32, Ordering::Relaxed);
        Ok(())
    }

    /// Sends unless it would have to wait: then it answers false, and nothing is sent.
    ///
    /// # Errors
    /// As for [`Task::send`].
    pub fn send_at_once(&self, buffer: &mut Buffer, address: Address) -> Result<bool, Code> {
        let Address { to, tag: Tag(tag), context: Context(context) } = address;
        if to == self.tid() || self.policy() == Policy::Error || !to.is_task() {
            return self.send(buffer, address).map(|()| true);
        }
        if plug::is_carried(to, address.tag) {
            return Ok(false);
        }
        self.ready_probes();
        let (described, mut body) = self.probe_copy(buffer.sent_size(), || buffer.prepare())?;
        let envelope = Envelope { src: self.tid(), tag, context, ..described };
        let here = to.host() == self.tid().host();
        let sending = if here { Sending::Here(to) } else { Sending::Abroad(to) };
        attempt(&mut self.live()?.enter()?, (sending, envelope), &mut body)
    }

    /// Sends; if there is no credit, as the policy says.
    #[inline]
    pub(super) fn patiently<'a>(
        &'a self,
        mut state: Inside<'a>,
        message: (Sending<'_>, Envelope),
        body: &mut Prepared<'_>,
    ) -> Result<Inside<'a>, Code> {
        if attempt(&mut state, message, body)? {
            return Ok(state);
        }
        if self.policy() == Policy::Error {
            return Err(Code::OutOfRes);
        }
        self.wait_for_credit(state, message, body)
    }

    #[cold]
    fn wait_for_credit<'a>(
        &'a self,
        mut state: Inside<'a>,
        message: (Sending<'_>, Envelope),
        body: &mut Prepared<'_>,
    ) -> Result<Inside<'a>, Code> {
        let to = message.0.receivers();
        let mut pause = PAUSE;
        for tries in 1u32.. {
            let alone = state.is_alone();
            state.pull(alone);
            let lack = match self.policy() {
                _ if state.outbox.lacks_cells() => Lack::Lane,
                Policy::Spill => Lack::Host,
                Policy::Block | Policy::Error => Lack::Own,
            };
            drop(state);
            if tries >= TRIES && tries.is_multiple_of(2) && sys::has_one_thread() {
                // Another thread of this task may receive at any time, also one that has not called
                // yet: then it is not stuck.
                self.request(&Request::Blocked { to: to.clone(), lack })?;
            }
            // The token is taken after the state was left, which announces what was taken in, and
            // after the answer, which is announced, too: this thread has seen both.
            let token = self.token();
            shielded(|| self.wait(token, Deadline::after(pause)))?;
            pause = (pause * 2).min(PAUSE_MAX);
            state = self.live()?.enter()?;
            match attempt(&mut state, message, body) {
                Ok(false) => {}
                sent => {
                    if tries >= TRIES {
                        state.connection.tell(&Request::Unblocked)?;
                    }
                    self.rewatch(&mut state, false);
                    return sent.map(|_| state);
                }
            }
        }
        Err(Code::OutOfRes)
    }
}

/// From now on a task's sends that find no credit go to disk, and fail when that is used up, too
/// ([`Code::OutOfRes`]): the task waits for no receiver.
///
/// # Errors
/// As for [`Task::set_policy`].
pub fn spill_or_fail(task: &Task) -> Result<(), Code> {
    task.set_policy(Policy::Spill)?;
    task.policy.store(Policy::Error as u32, Ordering::Relaxed);
    Ok(())
}

/// False if there is no credit.
fn attempt(
    state: &mut Inside<'_>,
    (sending, envelope): (Sending<'_>, Envelope),
    body: &mut Prepared<'_>,
) -> Result<bool, Code> {
    match sending {
        Sending::Here(to) => state.probed_send(to, envelope, body),
        Sending::Abroad(to) => state.probed_send_abroad(to, envelope, body),
        Sending::Spread(host, to) => state.probed_send_spread(host, to, envelope, body),
    }
}
