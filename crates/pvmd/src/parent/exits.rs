//! Processes that end, and what they wrote.

use super::Parent;
use crate::parent::leftovers::{END_TIME_MAX, GRACE, LOOK, Leftover};
use crate::parent::output::Flow;
use crate::parent::poll::{Interest, Token};
use crate::processes;
use pvm_core::io::Event;
use pvm_wire::{Blob, Tid};
use rustix::process::{Pid, WaitOptions};
use std::time::Instant;

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
        self.recorder_gone(pid, status);
        self.watched.remove(&pid);
        for (tid, status) in self.tasks.gone(pid, status) {
            let rest = self.outputs.read_rest(tid, &mut self.scratch);
            for flow in rest {
                self.tell_flow(flow);
            }
            self.watch_leftovers(tid);
            self.feeds.remove(tid);
            self.given.gone(tid);
            self.segments.note_status(tid, status);
            self.tell(Event::Exited { tid, status });
        }
    }

    /// A task is gone: what is left of it is watched if it holds the output.
    pub(super) fn watch_leftovers(&mut self, tid: Tid) {
        let Some(leader) = self.tasks.leader(tid) else { return };
        if !self.outputs.of_task(tid).is_empty() {
            let due = Instant::now() + GRACE;
            self.leftovers.watch(tid, Leftover { leader, due, told: None });
        }
    }

    /// Ends what is left and has had its time.
    pub(super) fn end_leftovers(&mut self) {
        let now = Instant::now();
        for (tid, mut left) in self.leftovers.take_due(now) {
            if self.outputs.of_task(tid).is_empty() {
                continue;
            }
            // A script goes on behind the task that it was the wrapper of.
            if processes::is_alive(left.leader) {
                left.due = now + GRACE;
                self.leftovers.watch(tid, left);
                continue;
            }
            let members = processes::of_group(left.leader);
            let late = left.told.is_some_and(|end| now >= end);
            let signal = if late { SIGKILL } else { SIGTERM };
            if left.told.is_none() || late {
                members.iter().for_each(|&pid| processes::signal(pid, signal));
            }
            if members.is_empty() || late {
                self.close_output(tid);
                continue;
            }
            left.told = left.told.or(Some(now + END_TIME_MAX));
            left.due = now + LOOK;
            self.leftovers.watch(tid, left);
        }
    }

    /// Processes that still hold the output have no reader from now on.
    fn close_output(&mut self, tid: Tid) {
        for flow in self.outputs.read_rest(tid, &mut self.scratch) {
            self.tell_flow(flow);
        }
        if self.outputs.close(tid) {
            self.log.line(&format!(
                "[{tid}] has left something running that goes on without an output"
            ));
            self.tell_flow(Flow::Ended(tid));
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

    /// While the readers of a task's output lag, that task waits, too.
    pub(super) fn settle_outputs(&mut self) {
        for (number, read) in self.outputs.take_changes() {
            let Some(fd) = self.outputs.descriptor(number) else { continue };
            let change = (Interest::of(!read, false), Interest::of(read, false));
            self.poll.change(fd, Token::Output(number), change);
        }
    }

    /// Asks all tasks to end, also tasks that were not launched.
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
