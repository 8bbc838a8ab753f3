//! A running command: what it writes is collected, and it is never waited for without end.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use testbed::process;

/// The exit status of a command, and its output.
#[derive(Clone, Debug)]
pub struct Output {
    /// The exit status; none if the limit passed.
    pub status: Option<ExitStatus>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Output {
    /// The exit status, -1 where there is none.
    pub fn code(&self) -> i32 {
        self.status.and_then(|status| status.code()).unwrap_or(-1)
    }

    /// The number after `label` in the first line that begins with it.
    pub fn number(&self, label: &str) -> f64 {
        let rest = self.out.lines().find_map(|line| line.strip_prefix(label));
        let word = rest.and_then(|rest| rest.split_whitespace().next());
        word.and_then(|word| word.parse().ok())
            .unwrap_or_else(|| panic!("no number after `{label}` in\n{}", self.out))
    }
}

/// The bytes that a pipe has brought.
type Collected = Arc<Mutex<Vec<u8>>>;

/// Killed when dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    input: Option<ChildStdin>,
    out: Collected,
    err: Collected,
    readers: Vec<Collector>,
}

impl Running {
    /// Starts it; standard input is a pipe.
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let (out, err) = (Collected::default(), Collected::default());
        let readers = vec![
            Collector::start(child.stdout.take().expect("piped"), out.clone()),
            Collector::start(child.stderr.take().expect("piped"), err.clone()),
        ];
        let input = child.stdin.take();
        Self { child, input, out, err, readers }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes to its standard input.
    pub fn write(&mut self, text: &str) {
        let input = self.input.as_mut().expect("still open");
        input.write_all(text.as_bytes()).and_then(|()| input.flush()).expect("it reads");
    }

    /// Ends its standard input.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// The standard output so far.
    pub fn so_far(&self) -> String {
        text(&self.out)
    }

    /// The standard error so far.
    pub fn errors_so_far(&self) -> String {
        text(&self.err)
    }

    /// True while it runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits for its end at most this long, then kills it.
    pub fn finish(mut self, limit: Duration) -> Output {
        self.wait(limit)
    }

    /// Waits for its end at most this long, with its standard input closed.
    pub fn wait(&mut self, limit: Duration) -> Output {
        self.input = None;
        let end = Instant::now() + limit;
        let mut status = None;
        while status.is_none() && Instant::now() < end {
            status = self.child.try_wait().expect("our child");
            if status.is_none() {
                std::thread::sleep(Duration::from_millis(3));
            }
        }
        if status.is_some() {
            // What inherited its output may live on, so the end of the pipes is not waited for.
            while self.readers.iter().any(|reader| !reader.is_at_rest()) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        Output { status, out: text(&self.out), err: text(&self.err) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.is_running() {
            process::kill(self.pid());
            let _ = self.child.wait();
        }
    }
}

fn text(collected: &Collected) -> String {
    String::from_utf8_lossy(&collected.lock().expect("no panic")).into_owned()
}

/// A thread that collects what a pipe brings.
#[derive(Debug)]
struct Collector {
    thread: JoinHandle<()>,
    pipe: OwnedFd,
    to: Collected,
}

impl Collector {
    fn start(mut from: impl Read + AsFd + Send + 'static, to: Collected) -> Self {
        let pipe = from.as_fd().try_clone_to_owned().expect("a descriptor");
        let all = to.clone();
        let thread = std::thread::spawn(move || {
            let mut chunk = [0; 16 << 10];
            loop {
                has_something(from.as_fd(), None);
                // Read while it is locked: see `is_at_rest`.
                let mut all = all.lock().expect("no panic");
                match from.read(&mut chunk) {
                    Ok(count @ 1..) => all.extend_from_slice(&chunk[..count]),
                    _ => break,
                }
            }
        });
        Self { thread, pipe, to }
    }

    /// True if all that was written to the pipe was collected.
    fn is_at_rest(&self) -> bool {
        // Nobody holds what was read and is not collected while this is locked.
        let _all = self.to.lock().expect("no panic");
        self.thread.is_finished() || !has_something(self.pipe.as_fd(), Some(Duration::ZERO))
    }
}

/// Waits for so long, or without end, until a pipe has something to read or nobody writes to it any
/// more. True if there is something to read.
fn has_something(pipe: impl AsFd, limit: Option<Duration>) -> bool {
    let mut pipes = [PollFd::new(&pipe, PollFlags::IN)];
    let limit = limit.map(|limit| Timespec::try_from(limit).expect("a short time"));
    while poll(&mut pipes, limit.as_ref()) == Err(Errno::INTR) {}
    pipes[0].revents().contains(PollFlags::IN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_of_a_command_whose_heirs_live_on_are_all_there() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 1000 & head -c 3000000 /dev/zero | tr '\\0' x; echo $!"]);
        let output = Running::start(command).finish(Duration::from_secs(60));
        let (text, sleeper) = output.out.trim_end().split_at(3_000_000);
        process::kill(sleeper.parse().expect("a process"));
        assert!(text.bytes().all(|byte| byte == b'x'));
    }
}
