//! Sends: as much of a message is handed over as there is room for.

use super::inbox::Arrived;
use super::network::Network;
use super::send::Send;
use super::state::State;
use super::{Planned, Run};
use crate::action::TaskNumber;
use crate::blame::Phase;
use crate::error::Error;
use crate::report::Event;
use crate::unit::Time;

impl<N: Network> Run<'_, N> {
    pub(super) fn begin_send(
        &mut self,
        now: Time,
        number: TaskNumber,
        (time, bytes, tag): (Time, u64, i32),
        to: Box<[TaskNumber]>,
    ) {
        let far = to.iter().filter(|to| !self.places.are_near(number, **to)).count();
        let cipher = self.network.cipher(bytes).times(far as u64);
        let whole = time + self.host.send_of(bytes) + self.jitter() + cipher;
        let left = self.network.length(bytes);
        let task = &mut self.tasks[number as usize];
        let chain = task.chain;
        task.chain.split.add(Phase::Host, whole);
        task.report.sending += whole;
        task.report.count(number, &to, bytes);
        let send = Send { to, at: 0, left, bytes, tag, began: now, chain, serial: self.serial };
        self.serial += send.to.len() as u64;
        task.state = State::Sending(Box::new(send));
        self.busy(now, number, whole);
    }

    /// Hands over as much as there is room for; then waits for room, or goes on.
    pub(super) fn write(
        &mut self,
        now: Time,
        number: TaskNumber,
        mut send: Box<Send>,
    ) -> Result<(), Error> {
        while let Some(to) = send.to.get(send.at).copied() {
            let message = send.message(now);
            if !self.places.are_near(number, to) {
                send.left -= self.network.offer(now, (number, to), message, send.left)?;
                if send.left > 0 {
                    self.tasks[number as usize].state = State::Writing(send, now);
                    return Ok(());
                }
            } else if to == number {
                self.inbox.put(to, number, Box::new(Arrived::new(message, None)));
            } else {
                let (at, place) = self.places.send(now, (to, number), message);
                self.queue.push(at, Planned::Memory(place));
            }
            self.program.event(Event::Sent {
                task: number,
                message: message.serial,
                to: &[to],
                bytes: send.bytes,
                began: send.began,
                ended: now,
            })?;
            self.network.sent(number, to);
            send.at += 1;
            send.left = self.network.length(send.bytes);
        }
        self.act(now, number)
    }

    /// There is room again for a task that waits to hand over more.
    pub(super) fn room(&mut self, now: Time, number: TaskNumber) -> Result<(), Error> {
        let task = &mut self.tasks[number as usize];
        match std::mem::take(&mut task.state) {
            State::Writing(send, since) => {
                task.report.blocked.add(Phase::Queue, now - since);
                task.chain.split.add(Phase::Queue, now - since);
                self.write(now, number, send)
            }
            other => {
                task.state = other;
                Ok(())
            }
        }
    }
}
