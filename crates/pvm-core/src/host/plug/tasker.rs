//! Tasks that a tasker starts.
//!
//! The program is looked for as ever, and the tasker is told. The task is the process that
//! says hello with the number that is in its environment; of its end the tasker tells.

use super::super::names::TASKER;
use super::{Handler, words};
use crate::io::{Effect, Launch};
use crate::parcel::{Opened, Parcel};
use crate::plugs::TaskerTask;
use pvm_wire::plug;
use pvm_wire::{Blob, Code, Message, Tid};

/// The status that `waitpid` tells of a killed process: no more is known of a lost task.
const KILLED: i32 = 9;

impl Handler<'_> {
    /// Starts a task of this host: by the tasker, if there is one. `at` of `count` in its call.
    pub(in crate::host) fn start_task(
        &mut self,
        mut launch: Launch,
        flags: i32,
        (at, count): (usize, usize),
    ) {
        if let Some(tasker) = self.service(TASKER) {
            let cookie = self.host.plugs.cookie();
            launch.cookie = cookie;
            let number = |n: usize| u32::try_from(n).expect("the count is bounded");
            let given = TaskerTask {
                tasker,
                cookie,
                flags,
                args: launch.args.clone(),
                environment: self.environment_of(&launch),
                at: number(at),
                count: number(count),
                status: None,
                gone: false,
            };
            self.host.plugs.given.insert(launch.tid, given);
            if let Some(task) = self.host.tasks.get_mut(launch.tid) {
                task.launched = false;
            }
        }
        self.effect(Effect::Launch { launch });
    }

    /// As PVM 3.4.6 tells it, but for the number that the task is known by, which comes first.
    fn environment_of(&self, launch: &Launch) -> Vec<Blob> {
        let task = self.host.tasks.get(launch.tid);
        let mut all = task.map(|task| words::variables(&task.inherited)).unwrap_or_default();
        all.extend(launch.environment.iter().cloned());
        if !launch.directory.0.is_empty() {
            all.push(words::variable("PVMSPAWNWD", &launch.directory.0));
        }
        all
    }

    /// Its program is there.
    pub(in crate::host) fn found(&mut self, tid: Tid, path: &Blob) {
        let Some(given) = self.host.plugs.given.get(&tid).cloned() else { return };
        if self.host.tasks.alive(given.tasker).is_none() {
            self.host.plugs.given.remove(&tid);
            return self.launch_failed(tid, Code::DSysErr, Vec::new());
        }
        let cookie = format!("PVMEPID={}", given.cookie);
        let arguments: Vec<Blob> = std::iter::once(path.clone()).chain(given.args).collect();
        let environment: Vec<Blob> =
            std::iter::once(Blob::from(cookie)).chain(given.environment).collect();
        let (at, count) = (given.at.cast_signed(), given.count.cast_signed());
        let parcel = Parcel::new()
            .tid(tid)
            .int(given.flags)
            .text(&path.0)
            .texts(&arguments)
            .texts(&environment)
            .ints(&[at, count, count]);
        let wait = self.host.plugs.wait();
        self.tell_task(given.tasker, plug::START_TASK, wait, parcel);
        self.launched(tid, 0);
    }

    /// The tasker tells that a task has ended, or could not be started.
    pub(super) fn tasker_tells(&mut self, message: &Message) -> Result<(), Code> {
        let mut opened = Opened::new(message)?;
        let tid = opened.tid()?;
        // As in PVM only the id need be there.
        let status = if opened.is_at_end() { 0 } else { opened.int()? };
        let from = message.envelope.src;
        let given = self.host.plugs.given.get(&tid).filter(|given| given.tasker == from);
        let gone = given.ok_or(Code::NoTask)?.gone;
        let connected = self.host.tasks.get(tid).is_some_and(|task| task.connection.is_some());
        if gone || !connected {
            self.given_ended(tid, status);
        } else if let Some(given) = self.host.plugs.given.get_mut(&tid) {
            // Its process is watched: its last messages come before its end.
            given.status = Some(status);
        }
        Ok(())
    }

    /// The process of a task is gone. True if a tasker had started it.
    pub(in crate::host) fn given_gone(&mut self, tid: Tid) -> bool {
        let Some(given) = self.host.plugs.given.get(&tid) else { return false };
        let waits = given.status.is_none() && self.host.tasks.alive(given.tasker).is_some();
        let status = given.status.unwrap_or(0);
        if waits {
            if let Some(given) = self.host.plugs.given.get_mut(&tid) {
                given.gone = true;
            }
            self.task_ended(tid);
        } else {
            self.given_ended(tid, status);
        }
        true
    }

    fn given_ended(&mut self, tid: Tid, status: i32) {
        self.host.plugs.given.remove(&tid);
        self.task_ended(tid);
        if let Some(child) = self.host.tasks.child_mut(tid) {
            child.status = Some(status);
            self.end_for_manager(tid, status);
        }
        // Its output went to the tasker's own output.
        self.output_ended(tid);
    }

    /// The tasks that a tasker has not brought to life are lost with it; enrolled tasks live on.
    pub(super) fn tasker_gone(&mut self, tasker: Tid) {
        for tid in self.host.plugs.given.keys_where(|_, given| given.tasker == tasker) {
            let gone = self.host.plugs.given.get(&tid).is_some_and(|given| given.gone);
            let task = self.host.tasks.get(tid);
            if gone {
                self.given_ended(tid, 0);
            } else if task.is_none_or(|task| task.connection.is_none() && task.batch.is_none()) {
                self.given_ended(tid, KILLED);
            }
        }
    }
}
