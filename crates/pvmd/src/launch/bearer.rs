//! The process that a person starts to make this computer a host by a token: it starts the host's
//! parent, waits until that is a member, and ends.

use crate::config::Places;
use crate::launch::reply::{self, Answer};
use crate::launch::token::{self, Token};
use crate::launch::{resident, sentences};
use crate::say;
use anyhow::{Context as _, Result, bail};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Most of what a daemon that failed says that is handed on.
const COMPLAINT_BYTES_MAX: u64 = 1024;

/// Before the token is spent: whether a daemon of that machine, or of another one of this name, is
/// here already.
pub(crate) fn look(places: &Places, token: &Token) -> Result<()> {
    let Some(stays) = resident::make_room(places, &token.addresses) else { return Ok(()) };
    let (socket, own) = (stays.socket.display().to_string(), stays.name.as_deref());
    let (detail, _) = sentences::already(&places.vmid, &socket, own);
    let remedy = match own {
        Some(_) => "the token is not used up; more hosts on this computer: `pvm add local`",
        None => {
            "the token is not used up; end that daemon (`pvm halt` with its PVM_VMID), or set \
             another PVM_TMP"
        }
    };
    bail!("not in the machine: {detail}\n  {remedy}")
}

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
        say::answer(line.trim_end_matches('\n'))?;
        return Ok(true);
    }
    let mut complaint = String::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(COMPLAINT_BYTES_MAX).read_to_string(&mut complaint);
    }
    let status = child.wait()?;
    match complaint.trim() {
        "" if status.success() => bail!(
            "not in the machine: it did not take this computer, which may be in it already by \
             another PVM_TMP or in a container\n  look at `pvm conf` there; the next try takes a \
             new token"
        ),
        "" => bail!("not in the machine: the token was good, but pvmd ended ({status})"),
        complaint => bail!("{}", complaint.strip_prefix("pvmd: ").unwrap_or(complaint)),
    }
}
