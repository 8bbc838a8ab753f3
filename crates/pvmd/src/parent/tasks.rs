//! The processes of tasks.
//!
//! A launched task has the process that was started; once it enrols it also has the process that
//! enrolled, which may be a descendant of the first (a wrapper script, a debugger). A task is gone
//! when the process that enrolled is, or, if none did, the one that was started.

use pvm_wire::Tid;
use std::collections::BTreeMap;

/// The tasks of this host, as far as processes go.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    tasks: BTreeMap<Tid, Task>,
}

#[derive(Debug, Default)]
struct Task {
    started: Option<u32>,
    enrolled: Option<u32>,
    /// Exit status of the started process, once it is gone.
    status: Option<i32>,
    /// The exit has been told.
    exited: bool,
    /// The machine knows it no more.
    forgotten: bool,
    /// It has said that it leaves, which the machine may not have heard yet.
    left: bool,
    /// The number with which its process says hello, if a tasker starts it; else 0.
    cookie: u32,
    /// The process that was started leads a group.
    group: bool,
    /// The last signal that all of the group were sent, 0 for none: a process that ends then and is
    /// not our child counts as ended by it.
    signal: i32,
}

/// Signals that end a process which does nothing about them: hang-up, interrupt, quit, kill,
/// termination.
const ENDING: [i32; 5] = [1, 2, 3, 9, 15];

/// The receiver of signals for a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Signalled {
    /// This process.
    Process(u32),
    /// The group that this process leads or led.
    Group(u32),
}

impl Task {
    /// The process whose end is the task's.
    const fn process(&self) -> Option<u32> {
        if self.enrolled.is_some() { self.enrolled } else { self.started }
    }
}

impl Tasks {
    /// A task's process was started.
    pub(crate) fn start(&mut self, tid: Tid, pid: u32, group: bool) {
        self.tasks.insert(tid, Task { started: Some(pid), group, ..Task::default() });
    }

    /// A tasker starts a task's process.
    pub(crate) fn give(&mut self, tid: Tid, cookie: u32) {
        self.tasks.insert(tid, Task { cookie, ..Task::default() });
    }

    /// The task that a tasker has started with this number, if it has not enrolled.
    pub(crate) fn given_as(&self, cookie: u32) -> Option<Tid> {
        let waits =
            |task: &Task| task.cookie == cookie && task.enrolled.is_none() && !task.forgotten;
        self.tasks.iter().find(|(_, task)| cookie != 0 && waits(task)).map(|(tid, _)| *tid)
    }

    /// A process became a task. True if it is not the one that was started for it.
    pub(crate) fn enrol(&mut self, tid: Tid, pid: u32) -> bool {
        let task = self.tasks.entry(tid).or_default();
        task.enrolled = Some(pid);
        task.started != Some(pid)
    }

    /// The task that was launched as one of these processes and has not enrolled.
    pub(crate) fn launched_as(&self, line: impl Iterator<Item = u32>) -> Option<Tid> {
        let mut line = line;
        line.find_map(|pid| {
            let waiting = |task: &Task| task.started == Some(pid) && task.enrolled.is_none();
            self.tasks
                .iter()
                .find(|(_, task)| waiting(task) && !task.forgotten)
                .map(|(tid, _)| *tid)
        })
    }

    /// A process is gone. Says which tasks are, with their exit status (0 if it cannot be known).
    pub(crate) fn gone(&mut self, pid: u32, status: Option<i32>) -> Vec<(Tid, i32)> {
        let mut exits = Vec::new();
        for (tid, task) in &mut self.tasks {
            if task.started == Some(pid) && status.is_some() {
                task.status = status;
            }
            if task.process() == Some(pid) && !task.exited {
                task.exited = true;
                exits.push((*tid, task.status.or(status).unwrap_or(task.signal)));
            }
        }
        self.tasks.retain(|_, task| !(task.exited && task.forgotten));
        exits
    }

    /// A task says that it leaves.
    pub(crate) fn leave(&mut self, tid: Tid) {
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.left = true;
        }
    }

    /// The machine knows the task no more. The end of its process is still told, once.
    pub(crate) fn forget(&mut self, tid: Tid) {
        let Some(task) = self.tasks.get_mut(&tid) else { return };
        task.forgotten = true;
        // For a task without a known process no end will be told.
        if task.exited || task.process().is_none() {
            self.tasks.remove(&tid);
        }
    }

    /// The process that was started as the leader of a group, if the task has one.
    pub(crate) fn leader(&self, tid: Tid) -> Option<u32> {
        self.tasks.get(&tid).filter(|task| task.group).and_then(|task| task.started)
    }

    /// The receiver of a signal for a task that lives.
    pub(crate) fn signalled(&mut self, tid: Tid, signal: i32) -> Option<Signalled> {
        let task = self.tasks.get_mut(&tid).filter(|task| !task.exited)?;
        match task.started.filter(|_| task.group) {
            Some(leader) => {
                task.signal = if ENDING.contains(&signal) { signal } else { task.signal };
                Some(Signalled::Group(leader))
            }
            None => task.process().map(Signalled::Process),
        }
    }

    /// The processes that are tasks now, or were started as such.
    pub(crate) fn processes(&self) -> Vec<(Tid, u32)> {
        self.processes_where(|_| true)
    }

    /// The processes among them that this host, or a tasker for it, has started. They end with the
    /// host; a process that came by itself does not.
    pub(crate) fn own_processes(&self) -> Vec<(Tid, u32)> {
        self.processes_where(|task| task.started.is_some() || task.cookie != 0)
    }

    fn processes_where(&self, is_meant: impl Fn(&Task) -> bool) -> Vec<(Tid, u32)> {
        let mut processes = Vec::new();
        let lives = |task: &Task| !task.exited && is_meant(task);
        for (tid, task) in self.tasks.iter().filter(|(_, task)| lives(task)) {
            // A process that has left and was not started here is a stranger again.
            let enrolled = task.enrolled.filter(|_| !task.forgotten && !task.left);
            processes.extend(task.started.into_iter().chain(enrolled).map(|pid| (*tid, pid)));
        }
        processes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Tid = Tid(0x40001);
    const B: Tid = Tid(0x40002);

    #[test]
    fn a_launched_task_ends_with_its_process() {
        let mut tasks = Tasks::default();
        tasks.start(A, 10, false);
        assert_eq!(tasks.launched_as([11, 10, 1].into_iter()), Some(A));
        assert!(!tasks.enrol(A, 10));
        assert_eq!(tasks.launched_as([10].into_iter()), None);
        assert_eq!(tasks.gone(10, Some(256)), [(A, 256)]);
        assert_eq!(tasks.signalled(A, 10), None);
        tasks.forget(A);
        assert!(tasks.tasks.is_empty());
    }

    #[test]
    fn a_task_that_a_tasker_starts_is_known_by_its_number() {
        let mut tasks = Tasks::default();
        tasks.give(A, 10_000_000);
        tasks.give(B, 10_000_001);
        assert_eq!((tasks.given_as(0), tasks.given_as(10_000_001)), (None, Some(B)));
        assert!(tasks.enrol(B, 12));
        assert_eq!(tasks.given_as(10_000_001), None);
        tasks.forget(A);
        assert_eq!(
            (tasks.given_as(10_000_000), tasks.signalled(B, 10)),
            (None, Some(Signalled::Process(12)))
        );
        assert_eq!(tasks.gone(12, None), [(B, 0)]);
    }

    #[test]
    fn a_process_that_has_just_left_is_not_ended_with_the_host() {
        let mut tasks = Tasks::default();
        tasks.enrol(A, 12);
        tasks.start(B, 20, false);
        tasks.enrol(B, 20);
        tasks.leave(A);
        tasks.leave(B);
        // A process that was started here ends with the host all the same.
        assert_eq!(tasks.processes(), [(B, 20)]);
        assert_eq!(tasks.own_processes(), [(B, 20)]);
        assert_eq!(tasks.gone(12, None), [(A, 0)]);
    }

    #[test]
    fn who_came_by_itself_is_a_task_but_not_ours_to_end() {
        let mut tasks = Tasks::default();
        tasks.enrol(A, 12);
        tasks.give(B, 7);
        tasks.enrol(B, 20);
        assert_eq!(tasks.processes(), [(A, 12), (B, 20)]);
        assert_eq!(tasks.own_processes(), [(B, 20)]);
    }

    #[test]
    fn a_task_behind_a_wrapper_ends_with_the_process_that_enrolled() {
        let mut tasks = Tasks::default();
        tasks.start(A, 10, false);
        assert!(tasks.enrol(A, 12));
        assert_eq!(tasks.gone(10, Some(0)), []);
        assert_eq!(tasks.gone(12, None), [(A, 0)]);
    }

    #[test]
    fn a_group_that_was_ended_ended_by_that_signal_whoever_of_it_is_missed_first() {
        let mut tasks = Tasks::default();
        tasks.start(A, 10, true);
        tasks.enrol(A, 12);
        assert_eq!(tasks.signalled(A, 10), Some(Signalled::Group(10)));
        assert_eq!(tasks.signalled(A, 15), Some(Signalled::Group(10)));
        // The shell that was started is our child and would tell; the task behind it is not, and
        // was quicker.
        assert_eq!(tasks.gone(12, None), [(A, 15)]);
    }

    #[test]
    fn signals_go_to_the_group_of_what_a_person_has_started() {
        let mut tasks = Tasks::default();
        tasks.start(A, 10, true);
        tasks.enrol(A, 12);
        assert_eq!(tasks.signalled(A, 10), Some(Signalled::Group(10)));
        assert_eq!(tasks.gone(10, Some(0)), []);
        assert_eq!(tasks.signalled(A, 10), Some(Signalled::Group(10)));
        assert_eq!(tasks.gone(12, None), [(A, 0)]);
        assert_eq!(tasks.signalled(A, 10), None);
    }

    #[test]
    fn a_process_that_left_and_came_back_is_two_tasks() {
        let mut tasks = Tasks::default();
        tasks.start(A, 10, false);
        tasks.enrol(A, 10);
        tasks.forget(A);
        assert!(tasks.enrol(B, 10));
        assert_eq!(tasks.gone(10, Some(9)), [(A, 9), (B, 9)]);
        tasks.forget(B);
        assert!(tasks.tasks.is_empty());
    }
}
