//! Processes that end, and what they wrote.

use super::Parent;
use crate::parent::output::Flow;
use crate::parent::poll::{Interest, Token};
use pvm_core::io::Event;
use pvm_wire::Blob;
use rustix::process::{Pid, WaitOptions};

const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;

impl Parent {
    /// Children ended: tasks, the daemon, strays that this process inherited.
    pub(super) fn reap(&mut self) {
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            let pid = number_of(pid);
            if self.daemon.as_ref().is_some_and(|daemon| daemon.pid == pid) {
                let signal = status.terminating_signal();
                let how = match signal {
                    Some(signal) => format!("killed by signal {signal}"),
                    None => format!("exit status {}", status.exit_status().unwrap_or(0)),
                };
                self.daemon_lost(&how, signal == Some(SIGKILL));
            } else {
                self.process_gone(pid, Some(status.as_raw()));
            }
        }
    }

    /// A process that is not ours to wait for, or no more, is gone.
    pub(super) fn process_gone(&mut self, pid: u32, status: Option<i32>) {
        // The status of an inherited child can be had.
        let status = status.or_else(|| {
            let pid = Pid::from_raw(pid.cast_signed())?;
            let waited = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
            waited.ok().flatten().map(|(_, status)| status.as_raw())
        });
        self.proxies.gone(pid);
        self.watched.remove(&pid);
        for (tid, status) in self.tasks.gone(pid, status) {
            let rest = self.outputs.read_rest(tid, &mut self.scratch);
            for flow in rest {
                self.tell_flow(flow);
            }
            self.watch_leftovers(tid);
            self.feeds.remove(tid);
            self.given.gone(tid);
            self.tell(Event::Exited { tid, status });
        }
    }

    /// A task's pipe has something to read, or is at its end.
    pub(super) fn read_output(&mut self, number: u64) {
        let flow = self.outputs.read(number, &mut self.scratch);
        self.tell_flow(flow);
    }

    pub(super) fn tell_flow(&mut self, flow: Flow) {
        match flow {
            Flow::Wrote(tid, stream, bytes) => {
                self.tell(Event::Wrote { tid, stream, bytes: Blob(bytes) });
            }
            Flow::Ended(tid) => self.tell(Event::OutputEnded { tid }),
            Flow::Nothing | Flow::PipeEnded => {}
        }
    }

    /// While the daemon lags, tasks wait for room in their pipes and for answers.
    pub(super) fn settle_pause(&mut self) {
        if self.outputs.pause(self.journal.full()) {
            self.touched.extend(self.connections.numbers());
        }
    }

    /// While whoever looks at a task's output lags, that task waits, too.
    pub(super) fn settle_outputs(&mut self) {
        for (number, read) in self.outputs.take_changes() {
            let Some(fd) = self.outputs.descriptor(number) else { continue };
            let change = (Interest::of(!read, false), Interest::of(read, false));
            self.poll.change(fd, Token::Output(number), change);
        }
    }

    /// Asks all tasks to end, those that were not launched included.
    pub(super) fn ask_tasks_to_end(&self) {
        for (_, pid) in self.tasks.processes() {
            crate::processes::signal(pid, SIGTERM);
        }
    }

    /// Ends the tasks that this host has started.
    pub(super) fn kill_tasks(&self) {
        for (_, pid) in self.tasks.own_processes() {
            crate::processes::signal(pid, SIGKILL);
        }
    }

    /// True while a task that this host has started has a process.
    pub(super) fn has_tasks(&self) -> bool {
        !self.tasks.own_processes().is_empty()
    }
}

fn number_of(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get().cast_unsigned()
}
