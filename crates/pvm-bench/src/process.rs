//! Runs a program to its end, with a limit on its time, and keeps its output.
//!
//! The output goes to files, so no reader takes time of the processors from the measured program.

use super::marked::{self, Used};
use super::surroundings;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::fs::File;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The interval at which the runner checks whether it is to stop.
const LOOK: Duration = Duration::from_millis(250);
/// The time that a program has to end by itself.
const END_TIME_MAX: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };
/// A program that works uses at least one part in this many of a processor. Daemons that only look
/// round now and then use less; a task that works gets more even if it shares the processors with a
/// hundred others.
const WORK_PART_MIN: u32 = 50;
/// The number of lines and bytes of a program's last output that are kept.
const LINES_MAX: usize = 8;
const BYTES_MAX: usize = 2000;

/// The end of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// With status 0.
    Good,
    /// With another one, or by a signal.
    Bad(ExitStatus),
    /// It had no end within its time although it worked, and was killed.
    Slow,
    /// It had no end within its time, did nothing in the second half of it, and was killed.
    Hung,
    /// The user has ended the measurement; the program was killed.
    Interrupted,
}

impl End {
    /// For the report.
    pub(crate) fn text(self, limit: Duration) -> String {
        match self {
            Self::Good => "ended well".to_owned(),
            Self::Bad(status) => match status.signal() {
                Some(signal) => format!("crashed by {}", pvm_cli::signals::name(signal)),
                None => format!("ended with status {}", status.code().unwrap_or(-1)),
            },
            Self::Slow => format!("too slow, left out after {} s", limit.as_secs()),
            Self::Hung => format!("hung: no end after {} s", limit.as_secs()),
            Self::Interrupted => "interrupted".to_owned(),
        }
    }
}

/// A program that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The end of the program.
    pub(crate) end: End,
    /// The standard output.
    pub(crate) output: String,
    /// The standard error.
    pub(crate) errors: String,
    /// For how long it had printed nothing.
    pub(crate) silent: Duration,
}

/// Runs `command` in a process group of its own; its output passes through files in `folder`, whose
/// name is the mark of its processes ([`marked`]).
pub(crate) fn run(
    mut command: Command,
    folder: &Path,
    limit: Duration,
    stop: &AtomicBool,
) -> std::io::Result<Ended> {
    let (out, err) = (folder.join("output"), folder.join("errors"));
    command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?);
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    surroundings::clean(&mut command);
    let mut child = command.env(marked::NAME, &name).process_group(0).spawn()?;
    let end = wait(&mut child, &name, limit, stop)?;
    let said = |file: &Path| {
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&std::fs::read(file)?).into_owned())
    };
    let last = std::fs::metadata(&out)?.modified()?;
    let silent = last.elapsed().unwrap_or_default();
    Ok(Ended { end, output: said(&out)?, errors: said(&err)?, silent })
}

fn wait(child: &mut Child, name: &str, limit: Duration, stop: &AtomicBool) -> std::io::Result<End> {
    let (half, until) = (Instant::now() + limit / 2, Instant::now() + limit);
    let mut at_half: Option<(Instant, Used)> = None;
    let pid = Pid::from_child(child);
    let ended = pidfd_open(pid, PidfdFlags::empty())?;
    loop {
        let left = until.saturating_duration_since(Instant::now()).min(LOOK);
        let left = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) };
        match poll(&mut [PollFd::new(&ended, PollFlags::IN)], Some(&left)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(status) = child.try_wait()? {
            return Ok(if status.success() { End::Good } else { End::Bad(status) });
        }
        if at_half.is_none() && Instant::now() >= half {
            at_half = Some((Instant::now(), Used::of(name)));
        }
        let stopped = stop.load(Ordering::Relaxed);
        if stopped || Instant::now() >= until {
            let works = at_half.is_some_and(|(since, used)| {
                Used::of(name).since(&used) >= since.elapsed() / WORK_PART_MIN
            });
            // mpirun ends its tasks on SIGTERM; a process of the group may have ended by itself.
            let _ = kill_process_group(pid, Signal::TERM);
            let _ = poll(&mut [PollFd::new(&ended, PollFlags::IN)], Some(&END_TIME_MAX));
            let _ = kill_process_group(pid, Signal::KILL);
            let _ = child.kill();
            child.wait()?;
            return Ok(match (stopped, works) {
                (true, _) => End::Interrupted,
                (_, true) => End::Slow,
                _ => End::Hung,
            });
        }
    }
}

/// The last lines of a text, without what is measured.
pub(crate) fn last_words(text: &str) -> String {
    let lines: Vec<&str> =
        text.lines().filter(|line| !line.starts_with("row\t") && !line.trim().is_empty()).collect();
    let mut words = lines[lines.len().saturating_sub(LINES_MAX)..].join("\n");
    if words.len() > BYTES_MAX {
        let from = (words.len() - BYTES_MAX..words.len()).find(|&at| words.is_char_boundary(at));
        words = words.split_off(from.unwrap_or(0));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Ended {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("bench-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let ended = run(command, &folder, limit, &AtomicBool::new(false)).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        ended
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn what_a_program_says_is_kept_however_it_ends() {
        let good = shell("echo one; echo two >&2", LONG);
        assert_eq!((good.end, &*good.output, &*good.errors), (End::Good, "one\n", "two\n"));
        let crashed = shell("echo word; kill -SEGV $$", LONG);
        assert_eq!(
            (crashed.end.text(LONG), &*crashed.output),
            ("crashed by SIGSEGV".into(), "word\n")
        );
        assert_eq!(shell("exit 3", LONG).end.text(LONG), "ended with status 3");
    }

    /// Long enough that others' work does not hide the processor time that is used.
    const SHORT: Duration = Duration::from_secs(4);

    #[test]
    fn a_program_that_hangs_is_ended_with_what_it_started() {
        let begin = Instant::now();
        let hung = shell("echo here; sleep 1000 & sleep 1000", SHORT);
        assert_eq!((hung.end, &*hung.output), (End::Hung, "here\n"));
        assert!(hung.silent > Duration::ZERO);
        assert_eq!(hung.end.text(SHORT), "hung: no end after 4 s");
        assert!(begin.elapsed() < LONG);
    }

    /// Seen with Open MPI on a busy computer: silent over half of its time, while its tasks worked.
    #[test]
    fn a_program_that_was_silent_but_worked_was_called_hung() {
        let begin = Instant::now();
        // In a session of its own, as the tasks of a virtual machine are; it ends by itself if it
        // is not found.
        let work = "setsid sh -c 'echo $$; ulimit -t 60; while :; do :; done' & sleep 1000";
        let slow = shell(work, SHORT);
        let left = Pid::from_raw(slow.output.trim().parse().unwrap()).unwrap();
        rustix::process::kill_process(left, Signal::KILL).unwrap();
        assert_eq!(slow.end.text(SHORT), "too slow, left out after 4 s");
        assert!(begin.elapsed() < LONG);
    }

    #[test]
    fn last_words_are_the_last_and_no_figures() {
        let text = "row\techo\t0\t1 2\n\nit broke\nhere\n";
        assert_eq!(last_words(text), "it broke\nhere");
        let many: String = (0..50).map(|line| format!("{line}\n")).collect();
        assert_eq!(last_words(&many).lines().count(), LINES_MAX);
        assert!(last_words(&"\u{e4}".repeat(5000)).len() <= BYTES_MAX);
    }
}
