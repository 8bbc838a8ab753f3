//! The exit status of `pvm run`, from the ends of the tasks.

use std::io::{Error, ErrorKind, Write as _, stderr};

const SIGNAL_BASE: u8 = 128;
const SIGKILL: u8 = 9;
const SIGPIPE: u8 = 13;

/// Gathers how tasks end. The first status that is not zero counts.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    status: u8,
    signal: Option<i32>,
    killed: bool,
}

impl Ending {
    /// A task ended, as `waitpid` tells it. Gives the signal that ended it, if that is news: what
    /// a signal of ours did is none.
    pub(crate) fn exited(&mut self, status: i32) -> Option<i32> {
        let signal = signal_of(status);
        let code = signal.map_or((status >> 8) & 0xff, |signal| i32::from(SIGNAL_BASE) + signal);
        if self.status == 0 {
            self.status = u8::try_from(code).unwrap_or(u8::MAX);
        }
        signal.filter(|_| self.signal.is_none())
    }

    /// A task was not started.
    pub(crate) fn failed(&mut self) {
        self.status = self.status.max(1);
    }

    /// This signal asks us to end.
    pub(crate) fn interrupted(&mut self, signal: i32) {
        self.signal = Some(signal);
    }

    /// The tasks had to be killed, because the signal did not end them.
    pub(crate) fn killed(&mut self) {
        self.killed = true;
    }

    /// Our output has no reader any more.
    fn nobody_reads(&mut self) {
        self.status = SIGNAL_BASE + SIGPIPE;
        self.signal = Some(SIGPIPE.into());
    }

    /// All tasks have ended, and a signal came while we waited for a reader of what they had
    /// written.
    pub(crate) fn left_unread(&mut self, signal: i32) {
        self.status = SIGNAL_BASE + u8::try_from(signal).unwrap_or(0);
        self.signal = Some(signal);
    }

    /// Our output cannot be written. If its reader has gone, this counts as SIGPIPE. Any other
    /// cause, such as a full disk, is reported, because the tasks do not see it.
    pub(crate) fn unwritten(&mut self, error: &Error) {
        if error.kind() == ErrorKind::BrokenPipe {
            return self.nobody_reads();
        }
        self.status = 1;
        let text = format!(
            "pvm: the tasks' output cannot be written: {error}\n  what follows is lost, and the \
             tasks are ended\n"
        );
        // If it was standard error that cannot be written to, only the status is left to tell.
        let _ = stderr().write_all(text.as_bytes());
    }

    /// The exit status. Tasks that had to be killed count as ended by the signal that we got.
    pub(crate) fn status(&self) -> u8 {
        let had_to_be = self.killed && (self.status == 0 || self.status == SIGNAL_BASE + SIGKILL);
        match self.signal {
            Some(signal) if had_to_be => SIGNAL_BASE + u8::try_from(signal).unwrap_or(0),
            _ => self.status,
        }
    }
}

/// The signal that ended a process, as `waitpid` tells it.
pub(crate) fn signal_of(status: i32) -> Option<i32> {
    Some(status & 0x7f).filter(|&signal| signal != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_status_that_is_not_zero_counts() {
        let mut ending = Ending::default();
        assert_eq!(ending.exited(0), None);
        assert_eq!(ending.exited(3 << 8), None);
        assert_eq!(ending.exited(11), Some(11));
        assert_eq!(ending.status(), 3);
    }

    #[test]
    fn a_full_disk_is_no_broken_pipe() {
        let mut ending = Ending::default();
        ending.unwritten(&ErrorKind::StorageFull.into());
        assert_eq!(ending.exited(15), Some(15));
        assert_eq!(ending.status(), 1);
        let mut ending = Ending::default();
        ending.unwritten(&ErrorKind::BrokenPipe.into());
        assert_eq!((ending.exited(15), ending.status()), (None, 141));
    }

    #[test]
    fn a_signal_gives_what_a_shell_gives() {
        let mut ending = Ending::default();
        assert_eq!(ending.exited(11 | 0x80), Some(11));
        assert_eq!(ending.status(), 139);
        let mut ending = Ending::default();
        ending.interrupted(2);
        ending.killed();
        assert_eq!(ending.exited(9), None);
        assert_eq!(ending.status(), 130);
    }
}
