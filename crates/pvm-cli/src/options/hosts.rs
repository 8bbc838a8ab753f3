//! Options of the commands about hosts.

use clap::Args;
use pvm_wire::hostfile::is_host_name;
use std::path::PathBuf;

/// A name for a host, as it may be written in a table and in a host file.
pub(crate) fn name_of_host(name: &str) -> Result<String, String> {
    let fault = "not a name for a host (1 to 255 bytes, no blanks and no control characters)";
    if is_host_name(name) { Ok(name.to_owned()) } else { Err(fault.to_owned()) }
}

/// The arguments of `pvm up`.
#[derive(Debug, Args)]
pub(crate) struct UpOptions {
    /// This many hosts on this computer, named NAME, NAME.2, ...
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=4095))]
    pub(crate) local: u32,
    /// Name of this host in the machine, if not the computer's
    #[arg(long, value_name = "NAME", value_parser = name_of_host)]
    pub(crate) name: Option<String>,
    /// Give up waiting for the hosts of the host file after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60,
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// While the machine has two hosts: ask this account (as for ssh) on a third computer which of
    /// them goes on when they do not hear each other
    #[arg(long, value_name = "ACCOUNT")]
    pub(crate) witness: Option<String>,
    /// While the machine has two hosts: what the second one does when it hears nothing of the first
    #[arg(long, value_name = "RULE", value_parser = ["pause", "survive"])]
    pub(crate) on_silence: Option<String>,
    /// A host file: one host per line, with its options
    #[arg(value_name = "FILE")]
    pub(crate) hostfile: Option<PathBuf>,
}

/// The arguments of `pvm add`.
#[derive(Debug, Args)]
pub(crate) struct AddOptions {
    /// A host: NAME, USER@NAME or an address, as one would write it for ssh; 'NAME so=... ep=...'
    /// with options as in a host file; or 'local' for one more host on this computer
    #[arg(value_name = "HOST", required_unless_present = "hostfile")]
    pub(crate) hosts: Vec<String>,
    /// A host file: adds its hosts, or, if hosts are named too, gives those their options
    #[arg(long, value_name = "FILE")]
    pub(crate) hostfile: Option<PathBuf>,
    /// An option for these hosts, as in a host file: lo=USER, ep=FOLDERS, wd=FOLDER, sp=SPEED, ...
    #[arg(short, long = "option", value_name = "KEY=VALUE")]
    pub(crate) option: Vec<String>,
    /// Copy pvmd to hosts that do not have it
    #[arg(long)]
    pub(crate) push: bool,
    /// Let the traffic go through the ssh connection, for hosts behind a firewall or NAT
    #[arg(long)]
    pub(crate) tunnel: bool,
    /// Give up waiting after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60,
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
    /// Say what was added
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm del`.
#[derive(Debug, Args)]
pub(crate) struct DelOptions {
    /// A host
    #[arg(value_name = "HOST", required = true)]
    pub(crate) hosts: Vec<String>,
    /// Give the hosts no new tasks; they leave when their last task has ended
    #[arg(long)]
    pub(crate) drain: bool,
    /// With --drain: wait until they have left
    #[arg(long, requires = "drain")]
    pub(crate) wait: bool,
    /// Say what was removed
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm token`.
#[derive(Debug, Args)]
pub(crate) struct TokenOptions {
    /// How long it is good
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=1440))]
    pub(crate) minutes: u32,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm upgrade`.
#[derive(Debug, Args)]
pub(crate) struct UpgradeOptions {
    /// A host; none: all hosts of the machine, one after the other
    #[arg(value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
    /// This pvmd there instead of the one that the host was started from
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorOptions {
    /// A host to look at, as for `pvm add`; none: this computer
    #[arg(value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
    /// A host file: looks at its hosts, or, if hosts are named too, gives those their options
    #[arg(long, value_name = "FILE")]
    pub(crate) hostfile: Option<PathBuf>,
    /// An option for these hosts, as in a host file
    #[arg(short, long = "option", value_name = "KEY=VALUE")]
    pub(crate) option: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
