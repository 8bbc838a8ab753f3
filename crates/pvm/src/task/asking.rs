//! Questions to the host, and their answers.

use super::Task;
use super::until::Step;
use crate::wait::Deadline;
use pvm_wire::Code;
use pvm_wire::request::{ALONE, RECORDED, Reply, Request};
use std::time::Duration;

/// A daemon that does not answer within this has failed.
pub(crate) const ANSWER: Duration = Duration::from_secs(60);

/// `PvmMboxWaitForInfo`
const WAIT_FOR_INFO: i32 = 32;

impl Task {
    /// Asks the host. Answers are waited for without holding anything; all but the requests
    /// that wait by their nature are bounded.
    ///
    /// # Errors
    /// The machine's error; [`Code::SysErr`] if it does not answer.
    pub fn request(&self, request: &Request) -> Result<Reply, Code> {
        let patient = match request {
            // Members that are late are no failure of the machine.
            Request::Barrier { .. } | Request::FreezeGroup { .. } | Request::AddHosts { .. } => {
                true
            }
            Request::RecvInfo { flags, .. } => flags & WAIT_FOR_INFO != 0,
            _ => false,
        };
        let deadline = if patient { Deadline::Never } else { Deadline::after(ANSWER) };
        let id = self.ask(request)?;
        self.await_answer(id, deadline)
    }

    /// Waits for an answer; one that comes too late is dropped.
    pub(super) fn await_answer(&self, id: u32, deadline: Deadline) -> Result<Reply, Code> {
        let mut is_open = true;
        let heard = self.until(deadline, |token| {
            let answer = self.answer(id).inspect_err(|_| is_open = false)?;
            Ok(Step::of(answer, token))
        });
        if let Ok(Some(reply)) = heard {
            return Ok(reply);
        }
        if is_open {
            self.forget(id)?;
        }
        Err(heard.err().unwrap_or(Code::SysErr))
    }

    /// The answer to a question is not wanted any more: it is dropped, however late it comes.
    ///
    /// # Errors
    /// [`Code::Already`] inside of a signal handler.
    pub fn forget(&self, id: u32) -> Result<(), Code> {
        let mut state = self.enter()?;
        state.connection.forget(id);
        self.rewatch(&mut state, false);
        Ok(())
    }

    /// Asks without waiting; the number names the question to [`Task::answer`].
    ///
    /// # Errors
    /// [`Code::SysErr`] if the daemon is gone, [`Code::Already`] inside of a signal handler.
    pub fn ask(&self, request: &Request) -> Result<u32, Code> {
        let mut state = self.live()?.enter()?;
        state.tell_clock();
        if let Request::Spawn { spawn } = request
            && self.probes.is_on()
        {
            let mut spawn = spawn.clone();
            let alone = if self.turns.are_taken() { ALONE } else { 0 };
            spawn.inherited.trace.options |= RECORDED | alone;
            return state.connection.send(&Request::Spawn { spawn });
        }
        state.connection.send(request)
    }

    /// The answer if it has come: look here in [`Task::until`]. It is
    /// given once.
    ///
    /// # Errors
    /// The machine's error; as for [`Task::ask`].
    pub fn answer(&self, id: u32) -> Result<Option<Reply>, Code> {
        let mut state = self.enter()?;
        // Messages that nobody asks for now would keep the inbox from ever being quiet, and the
        // wait for the answer from ever sleeping.
        let alone = state.is_alone();
        state.pull(alone);
        // Answers that came before the end of the connection still count.
        let received = state.connection.receive();
        let Some(reply) = state.connection.take(id) else {
            return received.inspect_err(|_| self.lost()).map(|()| None);
        };
        self.rewatch(&mut state, false);
        match reply {
            Reply::Failed { code } => Err(code),
            reply => Ok(Some(reply)),
        }
    }
}
