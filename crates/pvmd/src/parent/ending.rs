//! The end of a host: answers are sent, processes ended, files removed.

use super::Parent;
use crate::between::Up;
use crate::processes;
use crate::runtime_dir;
use rustix::process::WaitOptions;
use std::time::{Duration, Instant};

const SIGTERM: i32 = 15;
const SIGKILL: i32 = 9;

/// The time that all answers together may take to be read.
const ANSWER_TIME: Duration = Duration::from_millis(200);
/// The time that tasks have for their own clearing up.
const TASK_TIME: Duration = Duration::from_secs(1);
/// The time that the daemon has to say goodbye to other hosts.
const DAEMON_TIME: Duration = Duration::from_secs(2);
/// Between two looks at what is left.
const PAUSE: Duration = Duration::from_millis(5);

impl Parent {
    /// Ends all that belongs to this host.
    pub(super) fn end(&mut self) {
        self.log.line("the host ends");
        self.ending = true;
        let until = Instant::now() + ANSWER_TIME;
        while self.has_answers() && Instant::now() < until {
            std::thread::sleep(PAUSE);
        }
        if let Some(daemon) = &mut self.daemon {
            daemon.stream.push(0, &Up::Quit { machine: self.bound });
            let _ = daemon.stream.flush();
        }
        self.end_tasks();
        self.wait(DAEMON_TIME, |parent| parent.daemon.is_some());
        if let Some(daemon) = &self.daemon {
            processes::signal(daemon.pid, SIGKILL);
            self.wait(TASK_TIME, |parent| parent.daemon.is_some());
        }
        self.end_strays();
        runtime_dir::remove(self.folder.path());
    }

    /// Sends what is queued; true if something is left.
    fn has_answers(&mut self) -> bool {
        let mut left = false;
        for number in self.connections.numbers() {
            let Some(connection) = self.connections.get(number) else { continue };
            left |= connection.stream.flush().is_ok() && connection.stream.pending();
        }
        left
    }

    /// A task that only came to the machine is asked to end, as in PVM, and may go on without the
    /// machine; tasks that the machine has started end.
    fn end_tasks(&mut self) {
        self.ask_tasks_to_end();
        self.signal_strays(SIGTERM);
        self.wait(TASK_TIME, |parent| parent.has_tasks() || parent.has_strays());
        self.kill_tasks();
        self.kill_strays();
    }

    /// Kills until none is left: one that is about to die may just have started another one.
    fn kill_strays(&mut self) {
        self.wait(TASK_TIME, |parent| {
            parent.signal_strays(SIGKILL);
            parent.has_strays()
        });
    }

    /// Processes that the daemon had started become this process's children once it is gone: not
    /// earlier, because it says goodbye to some hosts through an ssh of its own.
    fn end_strays(&mut self) {
        self.signal_strays(SIGTERM);
        self.wait(TASK_TIME, |parent| parent.has_strays());
        self.kill_strays();
    }

    /// All descendants, but for the daemon and what it has started, and for daemons that it
    /// started: those are hosts of their own.
    fn strays(&self) -> Vec<u32> {
        let mut strays = processes::descendants(std::process::id(), processes::is_like_us);
        strays.retain(|pid| processes::is_alive(*pid) && !processes::may_outlive(*pid));
        strays
    }

    fn has_strays(&mut self) -> bool {
        !self.strays().is_empty()
    }

    fn signal_strays(&self, signal: i32) {
        for pid in self.strays() {
            processes::signal(pid, signal);
        }
    }

    /// Waits while something is there, burying what dies.
    fn wait(&mut self, time: Duration, mut there: impl FnMut(&mut Self) -> bool) {
        let until = Instant::now() + time;
        loop {
            self.bury();
            if !there(self) || Instant::now() >= until {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn bury(&mut self) {
        // The daemon may need a segment to hand on the last messages.
        self.serve_broker();
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            let pid = pid.as_raw_nonzero().get().cast_unsigned();
            self.daemon.take_if(|daemon| daemon.pid == pid);
            self.tasks.gone(pid, Some(status.as_raw()));
        }
        // Tasks that are no children of ours.
        let watched: Vec<u32> = self.watched.keys().copied().collect();
        for pid in watched {
            if !processes::is_alive(pid) {
                self.watched.remove(&pid);
                self.tasks.gone(pid, None);
            }
        }
    }
}
