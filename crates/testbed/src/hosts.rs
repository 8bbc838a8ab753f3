//! Hosts of this computer with networks, names and process tables of their own.
//!
//! `xtask/hosts.sh` makes them of namespaces, with a sequence of `ip`, `tc` and `nft` that is read
//! best as a script. It takes them away when its standard input ends, so they end with the
//! process that holds the value below.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The status of `hosts.sh` where there can be no hosts.
pub const SKIPPED: i32 = 77;

/// The reason why there are no hosts.
#[derive(Debug)]
pub struct Refusal {
    /// True where this computer cannot have any (no root, a tool missing).
    pub impossible: bool,
    /// The output of the script.
    pub words: String,
}

/// Hosts `h1` to `hN` on one switch. Gone when dropped, and when this process ends.
#[derive(Debug)]
pub struct Network {
    runner: Child,
    folder: PathBuf,
}

impl Network {
    /// Makes `count` hosts; `rate`, such as `100mbit`, shapes every cable.
    ///
    /// # Errors
    ///
    /// If they cannot be made.
    pub fn up(count: u32, rate: Option<&str>) -> Result<Self, Refusal> {
        let mut command = Command::new("bash");
        command.arg(script()).args(["run", &count.to_string()]).args(rate);
        command.args(["--", "sh", "-c", "echo \"$HOSTS_DIR\"; exec cat >/dev/null"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let refused = |words| Refusal { impossible: false, words };
        let mut runner = command.spawn().map_err(|error| refused(format!("bash: {error}")))?;
        let mut line = String::new();
        let _ = BufReader::new(runner.stdout.take().expect("piped")).read_line(&mut line);
        if line.ends_with('\n') {
            return Ok(Self { runner, folder: PathBuf::from(line.trim_end()) });
        }
        drop(runner.stdin.take());
        let mut words = String::new();
        let _ = runner.stderr.take().expect("piped").read_to_string(&mut words);
        let status = runner.wait().ok().and_then(|status| status.code());
        Err(Refusal { impossible: status == Some(SKIPPED), words })
    }

    /// HOSTS_DIR of `hosts.sh`.
    pub fn folder(&self) -> &std::path::Path {
        &self.folder
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // Its input ends, so it takes the hosts away; it must have the time to do so.
        drop(self.runner.stdin.take());
        let _ = self.runner.wait();
    }
}

/// The path of the script.
pub fn script() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../xtask/hosts.sh"))
}
