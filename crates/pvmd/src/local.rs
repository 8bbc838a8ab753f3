//! Starting further daemons of this machine on this computer.

use crate::hex::to_hex;
use crate::launch::reply::{self, Answer};
use crate::starter;
use crate::tls::Fingerprint;
use anyhow::{Context as _, Result, bail};
use pvm_wire::peer::HostFacts;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The time that a daemon on this computer may take to start.
const START_TIME: Duration = Duration::from_secs(20);
/// Most of what a daemon that failed says that is handed on.
const COMPLAINT_BYTES_MAX: u64 = 1024;
/// The number of daemons that are started at the same time.
static TURNS: Semaphore = Semaphore::const_new(64);

/// Starts another daemon here, which will call `address` and expect the owner of `key` there.
/// Nothing in the arguments is secret.
pub(crate) async fn start(address: &str, key: &Fingerprint) -> Result<HostFacts> {
    let _turn = TURNS.acquire().await;
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0("pvmd")
        .args([format!("--join={address}"), format!("--fingerprint={}", to_hex(key))])
        .arg("--local")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = starter::spawn(command).await.context("cannot start another pvmd")?;
    let stdout = child.stdout.take().context("no output of pvmd")?;
    let mut line = String::new();
    let mut reader = BufReader::new(stdout.take(1 << 20));
    let read = timeout(START_TIME, reader.read_line(&mut line)).await;
    if let Some(Answer::Ready(facts)) = reply::answer_in(&line) {
        // The daemon goes on living by itself; this only collects its exit status.
        tokio::spawn(async move { child.wait().await });
        return Ok(*facts);
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
