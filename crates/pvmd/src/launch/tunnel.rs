//! The link to a host that only ssh reaches: port forwards of an ssh of its own, which lives as
//! long as the host is a member. What passes is encrypted between the daemons as ever.

use crate::launch::ssh::Target;
use crate::starter;
use crate::tls::new_number;
use anyhow::{Context as _, Result};
use pvm_wire::{Blob, record};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::Stdio;
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

/// Ports to choose from at the far end: systems do not assign these by themselves.
const FAR_PORTS: std::ops::Range<u64> = 20_000..32_000;
/// Between two attempts to get it back.
const RETRY_FIRST: Duration = Duration::from_millis(200);
const RETRY_MAX: Duration = Duration::from_secs(5);
/// An ssh without an answer for three times as long ends.
const ALIVE: &str = "ServerAliveInterval=2";

record! {
    /// The ends of a tunnel.
    pub struct Ends {
        /// The line of the host at the far end.
        pub line: Blob,
        /// The key of that host.
        pub key: Blob,
        /// The port that the other host calls to reach this one, on its loopback interface.
        pub far: u16,
        /// The port at which the other host listens.
        pub door: u16,
        /// The port that this daemon calls to reach the other host, on its loopback interface.
        pub near: u16,
        /// The port at which this daemon listens.
        pub here: u16,
    }
}

/// A tunnel. Dropped, it is closed.
#[derive(Debug)]
pub(crate) struct Tunnel {
    /// The two ends that it connects.
    pub(crate) ends: Ends,
    /// The host at its far end is a member.
    pub(crate) placed: bool,
    keeper: AbortHandle,
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

/// A port at the far end that is most likely free.
pub(crate) fn far_port() -> Result<u16> {
    let (first, count) = (FAR_PORTS.start, FAR_PORTS.end - FAR_PORTS.start);
    Ok(u16::try_from(first + new_number()? % count)?)
}

/// A port at the near end that is free now.
pub(crate) fn near_port() -> Result<u16> {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port for a tunnel")?;
    Ok(taken.local_addr()?.port())
}

impl Ends {
    /// The address that this daemon calls.
    pub(crate) fn near(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.near))
    }
}

impl Tunnel {
    /// Opens it, and again whenever it breaks.
    pub(crate) fn open(ends: Ends, target: Target) -> Self {
        let local = Ipv4Addr::LOCALHOST;
        let back = format!("{local}:{}:{local}:{}", ends.far, ends.here);
        let forth = format!("{local}:{}:{local}:{}", ends.near, ends.door);
        let keeper = tokio::spawn(async move {
            let mut retry = RETRY_FIRST;
            loop {
                let mut ssh = target.ssh();
                ssh.args(["-N", "-o", "ExitOnForwardFailure=yes", "-o", ALIVE]);
                // A shared connection would live and die with another process's.
                ssh.args(["-o", "ControlPath=none", "-o", "RemoteCommand=none"]);
                ssh.args(["-R", &back, "-L", &forth, "--", &target.at]);
                ssh.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
                let begun = Instant::now();
                if let Ok(mut ssh) = starter::spawn(ssh).await {
                    let _ = ssh.wait().await;
                }
                // One that has lived was a good one.
                retry = if begun.elapsed() > RETRY_MAX { RETRY_FIRST } else { retry * 2 };
                retry = retry.min(RETRY_MAX);
                sleep(retry).await;
            }
        });
        Self { ends, placed: false, keeper: keeper.abort_handle() }
    }
}
