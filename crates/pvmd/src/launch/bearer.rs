//! The process that a person starts to make this computer a host by a token: it starts the host's
//! parent, waits until that is a member, and ends.

use crate::launch::reply::{self, Answer};
use crate::launch::token;
use anyhow::{Context as _, Result, bail};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Most of what a daemon that failed says that is handed on.
const COMPLAINT_BYTES_MAX: u64 = 1024;

/// Starts the parent with the same arguments and the token on its standard input: it stands in no
/// argument and in no environment.
pub(crate) fn run(words: &[String], file: &Path) -> Result<bool> {
    let token = token::open(file)?;
    let mut child = Command::new("/proc/self/exe")
        .arg0("pvmd")
        .args(words)
        .args(["--token-file=-", "--foreground"])
        .stdin(Stdio::from(token))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start the daemon")?;
    let stdout = child.stdout.take().context("no output of the daemon")?;
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).context("the daemon's answer")?;
    if let Some(Answer::Refused(_, failure)) = reply::answer_in(&line) {
        bail!("not in the machine: {}", failure.detail);
    }
    if line.starts_with('/') {
        print!("{line}");
        return Ok(true);
    }
    let mut complaint = String::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(COMPLAINT_BYTES_MAX).read_to_string(&mut complaint);
    }
    let status = child.wait()?;
    match complaint.trim() {
        "" => bail!("not in the machine: the token was good, but pvmd was not let in ({status})"),
        complaint => bail!("{}", complaint.strip_prefix("pvmd: ").unwrap_or(complaint)),
    }
}
