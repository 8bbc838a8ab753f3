//! The recorder of the host: a process that reads the trace rings of all tasks (`pvm recorder`).
//!
//! It is a task like others, so its reports to listeners are messages.

use pvm_wire::Tid;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A recorder that ends this many times within a minute is not started again.
const RESTARTS_MAX: usize = 16;
const RESTARTS_TIME: Duration = Duration::from_secs(60);

/// A recording program asks for the recorder three times a second. A recorder that has ended
/// because it heard of no program is started again if one has asked for it within this time: the
/// question met its end.
const ASKED: Duration = Duration::from_secs(2);

/// The recorder, if there is one.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    pub(super) process: Option<u32>,
    pub(super) task: Option<Tid>,
    starts: Vec<Instant>,
    /// When a program has asked for it last.
    asked: Option<Instant>,
}

impl Recorder {
    /// A program wants it.
    pub(super) fn ask(&mut self) {
        self.asked = Some(Instant::now());
    }

    /// A process is gone. If it was the recorder: whether another one has to go on.
    pub(super) fn gone(&mut self, pid: u32, status: Option<i32>) -> Option<bool> {
        if self.process != Some(pid) {
            return None;
        }
        (self.process, self.task) = (None, None);
        Some(status != Some(0) || self.asked.is_some_and(|asked| asked.elapsed() < ASKED))
    }

    /// A process has become a task. True if it is the recorder.
    pub(super) fn enrolled(&mut self, pid: u32, tid: Tid) -> bool {
        let is_own = self.process == Some(pid);
        if is_own {
            self.task = Some(tid);
        }
        is_own
    }

    /// Starts it. `pvmd` is where this daemon lies, `local` where its socket does, and `clock` what
    /// the monotonic clock is behind the time of day.
    pub(super) fn start(&mut self, pvmd: &Path, local: &Path, clock: u64) -> Result<(), String> {
        let now = Instant::now();
        self.starts.retain(|start| now.duration_since(*start) < RESTARTS_TIME);
        if self.starts.len() >= RESTARTS_MAX {
            return Err("it has ended too often".to_owned());
        }
        self.starts.push(now);
        let path = pvmd.with_file_name("pvm");
        let mut command = Command::new(&path);
        let host = std::process::id();
        command.arg("recorder").arg(format!("--host={host}")).arg(format!("--clock={clock}"));
        command.env("PVMSOCK", local).env_remove("PVMEPID");
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let failed = |error| format!("{}: {error}", path.display());
        self.process = Some(command.spawn().map_err(failed)?.id());
        self.task = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorder_that_ended_while_somebody_asked_for_it_took_all_recording_with_it() {
        let recorder = |asked| Recorder { process: Some(7), asked, ..Recorder::default() };
        assert_eq!(recorder(None).gone(8, Some(0)), None);
        assert_eq!(recorder(None).gone(7, Some(0)), Some(false));
        assert_eq!(recorder(None).gone(7, None), Some(true));
        let mut asked = recorder(None);
        asked.ask();
        assert_eq!(asked.gone(7, Some(0)), Some(true));
        let long_ago = Instant::now().checked_sub(Duration::from_secs(5));
        assert_eq!(recorder(long_ago).gone(7, Some(0)), Some(false));
    }
}
