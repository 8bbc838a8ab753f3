//! Receives: each takes what has arrived and waits for the rest.

use super::Run;
use super::inbox::Receive;
use super::looks::Wanted;
use super::network::Network;
use super::state::State;
use crate::action::TaskNumber;
use crate::blame::{Phase, Told};
use crate::error::Error;
use crate::report::Event;
use crate::unit::Time;

impl<N: Network> Run<'_, N> {
    pub(super) fn begin_receive(
        &mut self,
        now: Time,
        number: TaskNumber,
        Wanted { time, bytes, from, tag }: Wanted,
    ) -> Result<(), Error> {
        let (wait, cause) = (Told::since(now), self.tasks[number as usize].chain);
        let (left, began, message, is_done) = (bytes, now, None, false);
        self.receive(
            now,
            number,
            Receive { from, tag, bytes, left, time, began, wait, cause, message, is_done },
        )
    }

    fn receive(
        &mut self,
        now: Time,
        number: TaskNumber,
        mut receive: Receive,
    ) -> Result<(), Error> {
        self.inbox.take(number, &mut receive);
        self.network.looks(now, number, !receive.is_done);
        if !receive.is_done {
            self.tasks[number as usize].state = State::Receiving(Box::new(receive));
            return Ok(());
        }
        let jitter = self.jitter();
        let cipher = match self.places.are_near(number, receive.from) {
            true => Time::ZERO,
            false => self.network.cipher(receive.bytes),
        };
        let task = &mut self.tasks[number as usize];
        receive.wait.until(Phase::Queue, now);
        let waited = receive.wait.split.total();
        let call = receive.time + self.host.receive_of(receive.bytes) + jitter + cipher;
        let taken = (receive.from != number).then_some(receive.bytes);
        task.chain.receive(receive.cause, &receive.wait.split, call);
        task.report.receive(&receive.wait.split, call, taken);
        task.state = State::Ready;
        self.busy(now, number, call);
        let Receive { from, message, began, .. } = receive;
        let ended = now + call;
        self.program.event(Event::Received { task: number, message, from, began, waited, ended })
    }

    /// A message of one task has arrived for another one, which may wait for it.
    pub(super) fn look(
        &mut self,
        now: Time,
        own: TaskNumber,
        other: TaskNumber,
    ) -> Result<(), Error> {
        let task = &mut self.tasks[own as usize];
        match std::mem::take(&mut task.state) {
            State::Receiving(receive) if receive.from == other => self.receive(now, own, *receive),
            state => {
                let waits = matches!(state, State::Receiving(_) | State::Meeting);
                task.state = state;
                if waits {
                    // The library takes in the messages for which it does not wait, and finds no
                    // more.
                    self.network.looks(now, own, true);
                }
                Ok(())
            }
        }
    }
}
