//! The console's seat in the machine: it is a task, so that output comes to it as messages.

use crate::console::arrival::{Arrival, HOSTS_TAG, Unpack, decode};
use crate::failure::Failure;
use crate::show::remark;
use crate::{stopped, threads};
use pvm::{Buffer, Deadline, Pattern, Task};
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Code, Kind, Tid};
use rustix::process::Pid;

/// The machine, as far as commands need it.
pub(crate) trait Machine {
    /// The console's own id.
    fn tid(&self) -> Tid;
    /// Asks and waits for the answer; a refusal is an error.
    fn ask(&mut self, request: &Request) -> Result<Reply, Code>;
}

/// The real one.
#[derive(Clone, Debug)]
pub(crate) struct RealMachine {
    task: &'static Task,
    /// The daemon's process.
    daemon: Option<Pid>,
}

impl RealMachine {
    /// Enrols, as a task that `reset` spares, and asks for notices of new hosts.
    pub(crate) fn take() -> Result<Self, Code> {
        let task = Task::enrol(b"pvm", false)?;
        let (kind, cancel, context, tag, count) = (3, false, 0, HOSTS_TAG, -1);
        let watch = Request::Notify { kind, cancel, context, tag, count, tids: Vec::new() };
        task.request(&watch)?;
        Ok(Self { task, daemon: stopped::first() })
    }

    /// Gives everything that arrives to `tell`, until that refuses or the daemon is gone.
    pub(crate) fn listen(
        &self,
        tell: impl Fn(Arrival) -> bool + Send + 'static,
    ) -> Result<(), Failure> {
        let task = self.task;
        threads::start(move || {
            let any = Pattern { context: 0, source: None, tag: None };
            let mut go_on = true;
            while go_on {
                go_on = match task.receive_blocking(&any, Deadline::Never) {
                    Ok(Some(mut message)) => {
                        let tag = message.envelope().tag;
                        decode(tag, &mut Reading(&mut message)).is_none_or(&tell)
                    }
                    Ok(None) => true,
                    Err(_) => {
                        tell(Arrival::Lost);
                        false
                    }
                };
            }
        })?;
        Ok(())
    }

    /// Leaves the machine.
    pub(crate) fn leave(&self) {
        // If the daemon is gone there is nothing to leave; one that is stopped sees our end when it
        // goes on.
        if !self.daemon.is_some_and(stopped::is_stopped) {
            let _ = self.task.leave();
        }
    }
}

impl Machine for RealMachine {
    fn tid(&self) -> Tid {
        self.task.tid()
    }

    fn ask(&mut self, request: &Request) -> Result<Reply, Code> {
        // The library would wait for a minute.
        if let Some(text) = self.daemon.and_then(stopped::stays) {
            remark(format_args!("pvm: {text}"));
            return Err(Code::SysErr);
        }
        self.task.request(request)
    }
}

struct Reading<'a>(&'a mut Buffer);

impl Unpack for Reading<'_> {
    fn int(&mut self) -> Option<i32> {
        let mut bytes = [0; 4];
        self.0.unpack(Kind::Int, &mut bytes).ok()?;
        Some(i32::from_ne_bytes(bytes))
    }

    fn bytes(&mut self, count: usize) -> Option<Vec<u8>> {
        // Never more memory than the message can hold.
        let mut bytes = vec![0; count.min(self.0.data_size())];
        self.0.unpack(Kind::Byte, &mut bytes).ok()?;
        (bytes.len() == count).then_some(bytes)
    }
}
