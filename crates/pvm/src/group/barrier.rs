//! Barriers: among tasks of one host in the group's roster, else by the machine.
//!
//! A blocking call is [`Task::barrier_by`]. A caller that has to look at other things while it
//! waits takes its steps: [`Task::enter_barrier`], then [`Task::look_at_barrier`] and
//! [`BarrierWait::step`] in a [`Task::until`], or [`Task::leave_barrier`] if it waits no longer. A
//! wait owns nothing, so `longjmp` may leave it.

use crate::rosters::named;
use crate::state::State;
use crate::sys::{self, Pinned};
use crate::task::Task;
use crate::task::asking::ANSWER;
use crate::task::until::Step;
use crate::wait::{Deadline, WaitToken, Watched};
use pvm_shm::barrier::{Arrival, Outcome, Ticket, Word};
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Blob, Code};
use std::time::{Duration, Instant};

/// A roster that is being written longer than this has no daemon.
const WRITING_MAX: Duration = Duration::from_secs(30);

/// The wait of a member at a barrier.
#[derive(Clone, Copy, Debug)]
pub struct BarrierWait(Stage);

#[derive(Clone, Copy, Debug)]
enum Stage {
    Met,
    /// In the roster, as the member with this instance number.
    Here(Pinned<Word>, Ticket, u32),
    /// The machine was asked.
    Asked(u32),
    /// It was left before it was met.
    Left,
}

impl BarrierWait {
    /// True when all have come.
    pub const fn is_met(&self) -> bool {
        matches!(self.0, Stage::Met)
    }

    /// True when it was left ([`Task::leave_barrier`]) and did not count this member.
    pub const fn is_left(&self) -> bool {
        matches!(self.0, Stage::Left)
    }

    /// The outcome of the look that has led here: true if all have come, false if it was left.
    pub fn step(&self, token: WaitToken) -> Step<bool> {
        match self.0 {
            Stage::Met => Step::Done(true),
            Stage::Left => Step::Done(false),
            Stage::Asked(_) => Step::Sleep(token),
            Stage::Here(word, ticket, _) => {
                let (word, mask, value) = word.get().watch(ticket);
                Step::Sleep(token.with(Watched::new(word, mask, value)))
            }
        }
    }
}

/// The roster's answer to an arrival.
enum Entered {
    Done(Stage),
    /// It changed meanwhile: once more.
    Again,
    /// The machine keeps this barrier.
    Away,
    /// The daemon is writing the roster.
    Unreadable,
}

impl Task {
    /// Arrives at a barrier, without waiting.
    ///
    /// # Errors
    /// As for [`Task::barrier_by`].
    pub fn enter_barrier(&self, group: &[u8], count: i32) -> Result<BarrierWait, Code> {
        let mut since = None;
        loop {
            let entered = self.enter_roster(&mut *self.live()?.enter()?, group, count)?;
            match entered {
                Entered::Done(stage) => return Ok(BarrierWait(stage)),
                Entered::Again => {}
                // A daemon that was killed while it wrote is replaced within a second.
                Entered::Unreadable => {
                    let since = *since.get_or_insert_with(Instant::now);
                    if since.elapsed() > WRITING_MAX {
                        return Err(Code::SysErr);
                    }
                    sys::pause();
                }
                Entered::Away => return self.ask_for_barrier(group, count),
            }
        }
    }

    fn ask_for_barrier(&self, group: &[u8], count: i32) -> Result<BarrierWait, Code> {
        let request = Request::Barrier { group: Blob(group.to_vec()), count };
        Ok(BarrierWait(Stage::Asked(self.ask(&request)?)))
    }

    fn enter_roster(&self, state: &mut State, group: &[u8], count: i32) -> Result<Entered, Code> {
        state.tell_clock();
        let State { groups, connection, outbox, .. } = state;
        let Some(known) = groups.find(connection, group, self.has_group_waits()) else {
            let written = groups.is_being_written(connection, group);
            return Ok(if written { Entered::Unreadable } else { Entered::Away });
        };
        if known.defunct {
            return Err(Code::NoGroup);
        }
        let instance = known.members.instance(self.tid())?.cast_unsigned();
        let size = u32::try_from(known.members.size()).map_err(|_| Code::OutOfRes)?;
        let wanted = match count {
            -1 => size,
            // PVM 3.4.6 answers so to a count of 0.
            count => u32::try_from(count).ok().filter(|&c| c > 0).ok_or(Code::Mismatch)?,
        };
        if wanted > size && known.lost > 0 {
            return Err(Code::NoTask);
        }
        self.probe_group(&known.members, wanted.into());
        let word = known.roster.barrier();
        let (stage, woken) = match word.arrive(instance, wanted) {
            Arrival::Last(others) => (Entered::Done(Stage::Met), others),
            Arrival::Mismatch => return Err(Code::Mismatch),
            // The members that wait here must come along, if it is our numbers that do not fit.
            Arrival::Away => (Entered::Away, word.move_away()),
            Arrival::Waits(ticket) => {
                let old = known.roster.table().has_changed(known.version);
                if old && word.withdraw(ticket, instance) {
                    (Entered::Again, 0)
                } else {
                    self.begin_group_wait();
                    (Entered::Done(Stage::Here(Pinned::new(word), ticket, instance)), 0)
                }
            }
        };
        if woken != 0 {
            let members = known.members.clone();
            let bell = (outbox.bell(), outbox.activity());
            for tid in named(&members, woken).filter(|&tid| tid != self.tid()) {
                groups.bells.wake(connection, bell, tid);
            }
        }
        Ok(stage)
    }

    /// The state of the wait.
    ///
    /// # Errors
    /// As for [`Task::barrier_by`].
    pub fn look_at_barrier(
        &self,
        waiting: BarrierWait,
        group: &[u8],
        count: i32,
    ) -> Result<BarrierWait, Code> {
        match waiting.0 {
            Stage::Met | Stage::Left => Ok(waiting),
            Stage::Asked(id) => Ok(BarrierWait(match self.answer(id)? {
                None => Stage::Asked(id),
                Some(Reply::Withdrawn) => Stage::Left,
                Some(_) => Stage::Met,
            })),
            Stage::Here(word, ticket, _) => match word.get().outcome(ticket) {
                Outcome::Waits => {
                    // Messages that nobody asks for now would keep the wait from ever sleeping.
                    self.live()?.pull()?;
                    Ok(waiting)
                }
                Outcome::Met => {
                    self.end_barrier();
                    Ok(BarrierWait(Stage::Met))
                }
                Outcome::Broken => {
                    self.end_barrier();
                    Err(self.why_broken(group))
                }
                Outcome::Moved => {
                    self.end_barrier();
                    self.ask_for_barrier(group, count)
                }
            },
        }
    }

    /// Gives up the wait. The result is to be looked for as before, and comes at once: it was met
    /// meanwhile, or it [is left](BarrierWait::is_left) and does not count this member.
    ///
    /// # Errors
    /// As for [`Task::barrier_by`].
    pub fn leave_barrier(&self, waiting: BarrierWait) -> Result<BarrierWait, Code> {
        match waiting.0 {
            Stage::Met | Stage::Left => Ok(waiting),
            Stage::Asked(id) => self.withdraw_question(id).map(|()| waiting),
            Stage::Here(word, ticket, instance) => {
                let word = word.get();
                // If it has moved, the members that wait on go to the machine, and this one does
                // not.
                let left =
                    word.withdraw(ticket, instance) || word.outcome(ticket) == Outcome::Moved;
                if left {
                    self.end_barrier();
                }
                Ok(if left { BarrierWait(Stage::Left) } else { waiting })
            }
        }
    }

    /// Waits until `count` members (-1: all) have called it (`pvm_barrier`), but not beyond
    /// `deadline`. False: it was left, and did not count this member.
    ///
    /// # Errors
    /// [`Code::Mismatch`] if others wait for another count, [`Code::NotInGroup`],
    /// [`Code::NoGroup`]; [`Code::NoTask`] if it waits in vain because a member died.
    pub fn barrier_by(&self, group: &[u8], count: i32, deadline: Deadline) -> Result<bool, Code> {
        let mut waiting = self.enter_barrier(group, count)?;
        let look = |waiting: &mut BarrierWait, token| {
            *waiting = self.look_at_barrier(*waiting, group, count)?;
            Ok(waiting.step(token))
        };
        if let Some(met) = self.until(deadline, |token| look(&mut waiting, token))? {
            return Ok(met);
        }
        waiting = self.leave_barrier(waiting)?;
        let last = Deadline::after(ANSWER);
        self.until(last, |token| look(&mut waiting, token))?.ok_or(Code::SysErr)
    }

    /// This thread does not wait in a roster any more.
    fn end_barrier(&self) {
        self.end_group_wait();
        self.watch_again();
    }

    fn why_broken(&self, group: &[u8]) -> Code {
        let Ok(mut state) = self.enter() else { return Code::NoTask };
        let State { groups, connection, .. } = &mut *state;
        match groups.find(connection, group, self.has_group_waits()) {
            Some(known) if !known.defunct => Code::NoTask,
            _ => Code::NoGroup,
        }
    }
}
