//! The execution of tasks, one action after the other.

use super::looks::Wanted;
use super::mail::Mail;
use super::network::Network;
use super::state::State;
use super::{OPEN_MAX, Planned, Run};
use crate::action::{Action, TaskNumber};
use crate::blame::{Chain, Phase, Split};
use crate::error::Error;
use crate::model::meeting::Came;
use crate::report::ASKED_EVERY;
use crate::unit::Time;

impl<N: Network> Run<'_, N> {
    /// Carries out the next action of a task.
    pub(super) fn act(&mut self, now: Time, number: TaskNumber) -> Result<(), Error> {
        if self.actions.is_multiple_of(ASKED_EVERY) && !self.program.goes_on(self.actions) {
            return Err(Error::Stopped(self.actions));
        }
        let inbox = &self.inbox;
        let is_there = |wanted: &Wanted| inbox.has(number, wanted.from, wanted.tag);
        if let Some(receive) = self.tasks[number as usize].looks.take(is_there) {
            return self.begin_receive(now, number, receive);
        }
        let action = self.program.next(number)?;
        let task = &mut self.tasks[number as usize];
        self.actions += u64::from(action.is_some());
        match action {
            None if task.looks.open() > 0 => {
                task.looks.settle();
                self.act(now, number)
            }
            None => {
                task.state = State::Over;
                task.report.execution = now;
                self.sections.leave(number, now);
                self.over += 1;
                Ok(())
            }
            Some(Action::Compute(time)) => {
                let time = time.scaled(1.0 / self.host.speed);
                task.chain.computing += time;
                task.report.computing += time;
                self.busy(now, number, time);
                Ok(())
            }
            Some(Action::Call(time)) => {
                task.chain.split.add(Phase::Host, time);
                task.report.calls += time;
                self.busy(now, number, time);
                Ok(())
            }
            Some(Action::Idle(time)) => {
                task.chain.split.add(Phase::Host, time);
                task.report.blocked.add(Phase::Host, time);
                self.queue.push(now + time, Planned::Task(number));
                Ok(())
            }
            Some(Action::Start(tasks)) => {
                tasks.iter().for_each(|started| self.start(now, number, *started));
                self.queue.push(now, Planned::Task(number));
                Ok(())
            }
            Some(Action::Meet { time, point, count }) => {
                self.meet(now, number, time, (point, count))
            }
            Some(Action::Look) => {
                self.look_for(number)?;
                self.act(now, number)
            }
            Some(Action::CatchUp) => {
                task.looks.settle();
                self.act(now, number)
            }
            Some(Action::Enter(section)) => {
                self.sections.enter(number, section, now);
                self.queue.push(now, Planned::Task(number));
                Ok(())
            }
            Some(Action::Send { time, bytes, to, tag }) => {
                self.begin_send(now, number, (time, bytes, tag), [to].into());
                Ok(())
            }
            Some(Action::Multicast { time, bytes, to, tag }) => {
                self.begin_send(now, number, (time, bytes, tag), to);
                Ok(())
            }
            Some(Action::Receive { time, bytes, from, tag }) => {
                self.begin_receive(now, number, Wanted { time, bytes, from, tag })
            }
        }
    }

    /// A task starts another one, which may belong to another part.
    fn start(&mut self, now: Time, by: TaskNumber, number: TaskNumber) {
        let chain = self.tasks[by as usize].chain;
        let host = self.places.host(number);
        if self.part.has(host) {
            return self.started(now, chain, number);
        }
        let part = self.part.division.of_host(host);
        self.mail.push((part, Mail::Start { task: number, at: now, chain }));
    }

    /// A task begins, because another one has started it.
    pub(super) fn started(&mut self, now: Time, chain: Chain, number: TaskNumber) {
        let task = &mut self.tasks[number as usize];
        if matches!(task.state, State::New) {
            self.new -= 1;
            (task.state, task.chain) = (State::Ready, chain);
            task.report.blocked.add(Phase::Late, now);
            self.queue.push(now, Planned::Task(number));
        }
    }

    /// A task comes to a point, where it may have to wait for others.
    fn meet(
        &mut self,
        now: Time,
        number: TaskNumber,
        time: Time,
        at: (u32, u32),
    ) -> Result<(), Error> {
        let task = &mut self.tasks[number as usize];
        task.state = State::Meeting;
        let came = Came { task: number, at: now, time, chain: task.chain };
        if self.part.division.parts > 1 {
            self.came.push((at, came));
            self.network.looks(now, number, true);
            return Ok(());
        }
        let Some(met) = self.meetings.come(at, came) else {
            self.network.looks(now, number, true);
            return Ok(());
        };
        let there_and_back = self.network.there_and_back();
        for one in met.all() {
            let (wait, chain) = met.wait_of(one, there_and_back);
            self.met(one, &wait, chain);
        }
        Ok(())
    }

    /// A task that has come to a point goes on after so long a wait, all having come.
    pub(super) fn met(&mut self, one: &Came, wait: &Split, chain: Chain) {
        let task = &mut self.tasks[one.task as usize];
        task.state = State::Ready;
        task.chain = chain;
        task.chain.split.add(Phase::Host, one.time);
        task.report.blocked.add_all(wait);
        task.report.calls += one.time;
        self.queue.push(one.at + wait.total() + one.time, Planned::Task(one.task));
    }

    /// A task looks for a message: the receive behind the look is one of those that may wait.
    fn look_for(&mut self, number: TaskNumber) -> Result<(), Error> {
        let Some(Action::Receive { time, bytes, from, tag }) = self.program.next(number)? else {
            return Err(Error::Unfit(format!("task {number}: behind a look there is no receive")));
        };
        self.actions += 1;
        let is_there = self.inbox.has(number, from, tag);
        let looks = &mut self.tasks[number as usize].looks;
        if looks.open() >= OPEN_MAX {
            let what = "messages that are put off";
            return Err(Error::TooMany { task: number, what, limit: OPEN_MAX });
        }
        looks.look(Wanted { time, bytes, from, tag }, is_there);
        Ok(())
    }
}
