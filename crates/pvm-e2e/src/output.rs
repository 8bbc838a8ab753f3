//! A running command: what it writes is collected, and it is never waited for without end.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use testbed::process;

/// How a command ended and what it wrote.
#[derive(Clone, Debug)]
pub struct Output {
    /// How it ended; none if the limit passed.
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

type Collected = Arc<Mutex<Vec<u8>>>;

/// Killed when dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    input: Option<ChildStdin>,
    out: Collected,
    err: Collected,
    readers: Vec<JoinHandle<()>>,
}

impl Running {
    /// Starts it; standard input is a pipe.
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let (out, err) = (Collected::default(), Collected::default());
        let readers = vec![
            collect(child.stdout.take().expect("piped"), out.clone()),
            collect(child.stderr.take().expect("piped"), err.clone()),
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

    /// What it wrote so far to standard output.
    pub fn so_far(&self) -> String {
        text(&self.out)
    }

    /// What it wrote so far to standard error.
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
            // What inherited its output may live on: no more than a moment for the last words.
            let end = Instant::now() + Duration::from_millis(500);
            while self.readers.iter().any(|reader| !reader.is_finished()) && Instant::now() < end {
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

fn collect(mut from: impl Read + Send + 'static, to: Collected) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut chunk = [0; 16 << 10];
        while let Ok(count @ 1..) = from.read(&mut chunk) {
            to.lock().expect("no panic").extend_from_slice(&chunk[..count]);
        }
    })
}
