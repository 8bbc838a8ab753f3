//! Questions to the host whose waiter does not want to wait any longer.
//!
//! A thread that just stopped looking would leave the question with the machine: it would be
//! answered some day, and the gain of that answer (a named message that was taken, tasks that were
//! started) would be lost. So the question is withdrawn, and its answer, which then comes at once,
//! says whether anything has come of it.

use super::Task;
use super::asking::ANSWER;
use super::until::Step;
use crate::wait::Deadline;
use pvm_wire::Code;
use pvm_wire::request::{Reply, Request};

impl Task {
    /// Tells the host that nobody wants to wait for this question any longer. Its answer comes at
    /// once and is to be looked for as before: the result that came meanwhile, or
    /// [`Reply::Withdrawn`].
    ///
    /// # Errors
    /// As for [`Task::ask`].
    pub fn withdraw_question(&self, question: u32) -> Result<(), Code> {
        self.live()?.enter()?.connection.tell(&Request::GiveUp { question })
    }

    /// Withdraws a question and waits for its answer. None: nothing has come of it, and nothing
    /// will.
    ///
    /// # Errors
    /// The machine's error; [`Code::SysErr`] if it does not answer.
    pub fn give_up(&self, question: u32) -> Result<Option<Reply>, Code> {
        self.withdraw_question(question)?;
        match self.answer_by(question, Deadline::after(ANSWER))? {
            Some(Reply::Withdrawn) => Ok(None),
            Some(reply) => Ok(Some(reply)),
            None => Err(Code::SysErr),
        }
    }

    /// Asks the host and gives up at `deadline`: then none, and the question has had no effect.
    ///
    /// # Errors
    /// As for [`Task::request`].
    pub fn request_by(&self, request: &Request, deadline: Deadline) -> Result<Option<Reply>, Code> {
        let question = self.ask(request)?;
        match self.answer_by(question, deadline)? {
            Some(reply) => Ok(Some(reply)),
            None => self.give_up(question),
        }
    }

    /// The answer, if it comes in time.
    fn answer_by(&self, question: u32, deadline: Deadline) -> Result<Option<Reply>, Code> {
        self.until(deadline, |token| Ok(Step::of(self.answer(question)?, token)))
    }
}
