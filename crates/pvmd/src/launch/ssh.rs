//! One command on another computer, through the user's own ssh: their `ssh_config` with its users,
//! ports, jump hosts and agents counts.

use crate::launch::invitation::quoted;
use crate::launch::reply::{self, Answer};
use crate::starter;
use pvm_wire::hostfile::HostLine;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{Instant, timeout, timeout_at};

/// The time that ssh may take to connect.
pub(crate) const CONNECT_SECONDS: u32 = 5;
/// The time that ssh may take to end when all is said.
const END_TIME: Duration = Duration::from_secs(1);
/// A shell that says more than this says nothing that is waited for.
const NOISE_BYTES_MAX: u64 = 1 << 20;
/// Most that is read of complaints.
const COMPLAINT_BYTES_MAX: u64 = 64 << 10;
/// The first thing that a command says there: the login worked, and a shell runs it.
const SHELL: &str = "neopvm-shell-1 ";
/// The text that it prints if it finds no pvmd.
pub(crate) const MISSING: &str = "neopvm-missing-1 ";

/// The computer to call, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The name that people use.
    pub(crate) name: String,
    /// The name for ssh: the address of `ip=`, else the host's name.
    pub(crate) at: String,
    /// `lo=`, or what stands before an `@`.
    pub(crate) login: Option<String>,
    /// ssh may ask a person (`so=pw`).
    pub(crate) may_ask: bool,
    /// ssh tells how far it came.
    verbose: bool,
}

impl Target {
    /// The host of a line.
    pub(crate) fn new(line: &HostLine) -> Self {
        let text = |blob: &pvm_wire::Blob| blob.to_text();
        let whole = text(&line.name);
        let (user, name) = match whole.rsplit_once('@') {
            Some((user, name)) if !name.is_empty() => (Some(user.to_owned()), name.to_owned()),
            _ => (None, whole),
        };
        Self {
            at: line.ip.as_ref().map_or_else(|| name.clone(), text),
            name,
            login: line.lo.as_ref().map(text).or(user),
            may_ask: line.so.as_ref().is_some_and(|so| so.0 == b"pw"),
            verbose: false,
        }
    }

    /// Like `new`, so that [`Heard::authenticated`] can be told.
    pub(crate) fn verbose(&self) -> Self {
        Self { verbose: true, ..self.clone() }
    }

    /// As a person would type it, for remedies.
    pub(crate) fn typed(&self) -> String {
        let at = quoted(&self.at);
        let login = self.login.as_deref().map(quoted);
        if is_ssh() {
            return format!("ssh {}{at}", login.map(|login| login + "@").unwrap_or_default());
        }
        let program = quoted(&program().to_string_lossy());
        format!("{program} {}{at}", login.map(|login| format!("-l {login} ")).unwrap_or_default())
    }

    /// ssh, with the options that all uses share.
    pub(crate) fn ssh(&self) -> Command {
        let mut ssh = Command::new(program());
        let batch = if self.may_ask { "BatchMode=no" } else { "BatchMode=yes" };
        ssh.args(["-T", "-o", batch, "-o", &format!("ConnectTimeout={CONNECT_SECONDS}")]);
        if self.verbose {
            ssh.args(["-o", "LogLevel=VERBOSE"]);
        }
        ssh.args(self.login.iter().flat_map(|login| ["-l", login]));
        ssh.kill_on_drop(true);
        ssh
    }

    /// Runs a script of a POSIX shell there, whatever shell the user has.
    pub(crate) async fn run(&self, script: &str, stdin: Stdio, until: Instant) -> Heard {
        let mut ssh = self.ssh();
        // Forwardings and commands of the user's sessions are not for this one.
        ssh.args(["-o", "ClearAllForwardings=yes", "-o", "RemoteCommand=none", "--", &self.at]);
        let script = format!("echo; echo {SHELL}$(uname -sm); {script}");
        ssh.arg(format!("exec /bin/sh -c {}", quoted(&script)));
        listen(ssh, stdin, until).await
    }
}

/// The program that `PVM_RSH` names, whatever it is called (a batch system has one of its own),
/// else `ssh`.
pub(crate) fn program() -> PathBuf {
    let named = std::env::var_os("PVM_RSH").filter(|name| !name.is_empty());
    named.map_or_else(|| "ssh".into(), PathBuf::from)
}

/// True where that is called like ssh: it is OpenSSH's, or stands in front of it. What else
/// `PVM_RSH` names takes ssh's arguments, but no question about `ssh_config`; and ports, keys and
/// packages of ssh's are not its.
pub(crate) fn is_ssh() -> bool {
    let program = program();
    program.file_name().is_some_and(|name| name.to_string_lossy().contains("ssh"))
}

/// The remedy if that cannot be started.
pub(crate) fn remedy() -> String {
    match std::env::var_os("PVM_RSH").filter(|name| !name.is_empty()) {
        Some(_) => {
            "unset PVM_RSH, or put the path of a program there, before the machine is started"
                .to_owned()
        }
        None => "sudo apt install openssh-client (or your system's package)".to_owned(),
    }
}

/// The output from there.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// The system's name and architecture, once a shell runs the script there.
    pub(crate) shell: Option<String>,
    /// The answer of pvmd.
    pub(crate) answer: Option<Answer>,
    /// No pvmd: where it was looked for.
    pub(crate) missing: Option<Vec<String>>,
    /// Everything else on standard output.
    pub(crate) said: Vec<String>,
    /// The complaint of ssh or the shell.
    pub(crate) complaint: String,
    /// The exit status of ssh, if it ended in time.
    pub(crate) status: Option<ExitStatus>,
    /// ssh could not be started at all.
    pub(crate) no_ssh: Option<String>,
}

impl Heard {
    /// Takes a line; true if it is the last that matters.
    fn take(&mut self, line: &str) -> bool {
        if let Some((_, system)) = line.split_once(SHELL) {
            self.shell = Some(system.trim().to_owned());
        } else if let Some((_, tried)) = line.split_once(MISSING) {
            self.missing = Some(tried.split_ascii_whitespace().map(str::to_owned).collect());
        } else if let Some(answer) = reply::answer_in(line) {
            self.answer = Some(answer);
            return true;
        } else if !line.trim().is_empty() {
            self.said.push(line.trim_end().to_owned());
        }
        false
    }

    /// True where ssh has said that the login worked.
    pub(crate) fn authenticated(&self) -> bool {
        self.complaint.lines().any(|line| line.starts_with("Authenticated to "))
    }

    /// The last thing that ssh complained of, or how it ended.
    pub(crate) fn complaint(&self) -> String {
        if let Some(error) = &self.no_ssh {
            return error.clone();
        }
        let chatter = ["Authenticated to ", "Transferred: ", "Bytes per second: "];
        let telling = |line: &&str| {
            !line.trim().is_empty() && !chatter.iter().any(|start| line.starts_with(start))
        };
        let line = self.complaint.lines().rfind(telling);
        match (line, self.status) {
            (Some(line), _) => line.trim().to_owned(),
            (None, Some(status)) => format!("{} ended with {status}", program().display()),
            (None, None) => "no answer in time".to_owned(),
        }
    }
}

async fn listen(mut ssh: Command, stdin: Stdio, until: Instant) -> Heard {
    let mut heard = Heard::default();
    ssh.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match starter::spawn(ssh).await {
        Ok(child) => child,
        Err(error) => {
            heard.no_ssh = Some(format!("{}: {error}", program().display()));
            return heard;
        }
    };
    let errors = child.stderr.take().map(|stderr| {
        tokio::spawn(async move {
            let mut complaint = Vec::new();
            let _ = stderr.take(COMPLAINT_BYTES_MAX).read_to_end(&mut complaint).await;
            String::from_utf8_lossy(&complaint).into_owned()
        })
    });
    let reading = read(&mut child, &mut heard);
    if matches!(timeout_at(until, reading).await, Ok(true)) {
        // It has nothing more to say, and ends by itself.
        tokio::spawn(async move { timeout(END_TIME, child.wait()).await });
        return heard;
    }
    heard.status = timeout_at(until, child.wait()).await.ok().and_then(Result::ok);
    let _ = child.start_kill();
    if let Some(errors) = errors
        && let Ok(Ok(complaint)) = timeout(END_TIME, errors).await
    {
        heard.complaint = complaint;
    }
    heard
}

/// Reads to the answer (true) or to the end.
async fn read(child: &mut Child, heard: &mut Heard) -> bool {
    let Some(stdout) = child.stdout.take() else { return false };
    let mut lines = BufReader::new(stdout.take(NOISE_BYTES_MAX));
    let mut line = Vec::new();
    while matches!(lines.read_until(b'\n', &mut line).await, Ok(n) if n > 0) {
        if heard.take(&String::from_utf8_lossy(&line)) {
            return true;
        }
        line.clear();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::hostfile::parse_line;

    fn target(line: &str) -> Target {
        Target::new(&parse_line(line.as_bytes()).unwrap())
    }

    #[test]
    fn a_line_tells_whom_to_call() {
        let plain = target("h2");
        assert_eq!((plain.at.as_str(), plain.login.as_deref()), ("h2", None));
        let other = target("h2 lo=me ip=10.0.0.2");
        assert_eq!((other.name.as_str(), other.typed().as_str()), ("h2", "ssh me@10.0.0.2"));
        assert_eq!(target("you@h2").typed(), "ssh you@h2");
        assert_eq!(target("you@h2").name, "h2");
        assert!(target("h2 so=pw").may_ask && !target("h2 so=ms").may_ask);
    }

    #[test]
    fn noise_is_passed_over_and_kept_for_the_complaint() {
        let mut heard = Heard::default();
        assert!(!heard.take("Welcome!\n") && !heard.take("neopvm-shell-1 Linux x86_64\n"));
        assert!(!heard.take("neopvm-missing-1 /a/pvmd /b/pvmd\n"));
        assert!(heard.take(&reply::refused_line(pvm_wire::Code::DupHost, "join", "x")));
        assert_eq!(
            (heard.said, heard.shell),
            (vec!["Welcome!".into()], Some("Linux x86_64".into()))
        );
        assert_eq!(heard.missing.unwrap(), ["/a/pvmd", "/b/pvmd"]);
    }
}
