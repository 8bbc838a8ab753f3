//! Starting further daemons of this machine on this computer.

use crate::config::to_hex;
use crate::tls::Fingerprint;
use anyhow::{Context as _, Result, bail};
use pvm_wire::Wire as _;
use pvm_wire::peer::HostFacts;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

/// How long a daemon on this computer may take to start.
const START_TIME: Duration = Duration::from_secs(20);
/// Most of what a daemon that failed says that is handed on.
const COMPLAINT_BYTES_MAX: u64 = 1024;
/// Begins the line in which a new daemon tells its facts.
const REPLY: &str = "neopvm-host-1 ";

/// The line with which a new daemon answers whoever started it.
pub(crate) fn reply_line(facts: &HostFacts) -> String {
    format!("{REPLY}{}", to_hex(&facts.to_bytes()))
}

/// The facts in such a line.
fn facts_in(line: &str) -> Option<HostFacts> {
    let bytes = crate::config::from_hex(line.trim_end().strip_prefix(REPLY)?)?;
    HostFacts::from_bytes(&bytes).ok()
}

/// Starts another daemon here, which will call `address` and expect the owner of `key` there.
/// Nothing in the arguments is secret.
pub(crate) async fn start(address: &str, key: &Fingerprint) -> Result<HostFacts> {
    let mut child = Command::new("/proc/self/exe")
        .arg0("pvmd")
        .arg(format!("--join={address}"))
        .arg(format!("--fingerprint={}", to_hex(key)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start another pvmd")?;
    let stdout = child.stdout.take().context("no output of pvmd")?;
    let mut line = String::new();
    let mut reader = BufReader::new(stdout.take(1 << 20));
    let read = timeout(START_TIME, reader.read_line(&mut line)).await;
    if let Some(facts) = facts_in(&line) {
        // It goes on living by itself; who waits for it is whoever is its parent then.
        tokio::spawn(async move { child.wait().await });
        return Ok(facts);
    }
    read.context("another pvmd did not start in time")?.context("the answer of another pvmd")?;
    let mut complaint = String::new();
    if let Some(stderr) = child.stderr.take() {
        let mut stderr = stderr.take(COMPLAINT_BYTES_MAX);
        let _ = timeout(Duration::from_secs(1), stderr.read_to_string(&mut complaint)).await;
    }
    let _ = child.start_kill();
    bail!("another pvmd did not start: {}", complaint.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_come_back_from_the_line() {
        let facts = HostFacts {
            name: "a".into(),
            arch: "LINUX64".into(),
            signature: 1,
            cores: 2,
            speed: 1000,
            address: "127.0.0.1:1".into(),
            key: vec![1, 2, 3].into(),
            search: vec!["/bin".into()],
        };
        assert_eq!(facts_in(&format!("{}\n", reply_line(&facts))), Some(facts));
        assert_eq!(facts_in("neopvm-host-1 00"), None);
        assert_eq!(facts_in("ssh: no such host"), None);
    }
}
