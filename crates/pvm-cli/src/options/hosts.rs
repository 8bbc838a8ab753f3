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
    /// The name of this host in the machine; the default is the computer's name
    #[arg(long, value_name = "NAME", value_parser = name_of_host)]
    pub(crate) name: Option<String>,
    /// The time to wait for the hosts of the host file
    #[arg(long, value_name = "SECONDS", default_value_t = 60,
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// While the machine has two hosts: an account (as for ssh) on a third computer, which decides
    /// which of them goes on when they do not hear each other
    #[arg(long, value_name = "ACCOUNT")]
    pub(crate) witness: Option<String>,
    /// While the machine has two hosts: what the second host does when it does not hear the first
    #[arg(long, value_name = "RULE", value_parser = ["pause", "survive"])]
    pub(crate) on_silence: Option<String>,
    /// A host file: one host per line, with its options
    #[arg(value_name = "FILE")]
    pub(crate) hostfile: Option<PathBuf>,
}

/// The arguments of `pvm add`.
#[derive(Debug, Args)]
pub(crate) struct AddOptions {
    /// A host: NAME, USER@NAME or an address, as for ssh; 'NAME so=... ep=...' with options as in a
    /// host file; or 'local' for one more host on this computer
    #[arg(value_name = "HOST", required_unless_present = "hostfile")]
    pub(crate) hosts: Vec<String>,
    /// A host file: adds its hosts; if HOSTs are given, adds only those, with their options there
    #[arg(long, value_name = "FILE")]
    pub(crate) hostfile: Option<PathBuf>,
    /// An option for these hosts, as in a host file: lo=USER, ep=FOLDERS, wd=FOLDER, sp=SPEED, ...
    #[arg(short, long = "option", value_name = "KEY=VALUE")]
    pub(crate) option: Vec<String>,
    /// Copy pvmd to hosts that do not have it
    #[arg(long)]
    pub(crate) push: bool,
    /// Send the traffic through the ssh connection, for hosts behind a firewall or NAT
    #[arg(long)]
    pub(crate) tunnel: bool,
    /// The time to wait for the hosts
    #[arg(long, value_name = "SECONDS", default_value_t = 60,
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
    /// Print a line for each added host
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
    /// Start no new tasks on the hosts; they leave when their last task has ended
    #[arg(long)]
    pub(crate) drain: bool,
    /// With --drain: wait until they have left
    #[arg(long, requires = "drain")]
    pub(crate) wait: bool,
    /// Print a line for each removed host
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm token`.
#[derive(Debug, Args)]
pub(crate) struct TokenOptions {
    /// The minutes for which the token is valid
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
    /// A host; by default all hosts of the machine, one after the other
    #[arg(value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
    /// The pvmd to start on the hosts, instead of the one that each host was started from
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorOptions {
    /// A host to examine, as for `pvm add`; by default this computer
    #[arg(value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
    /// A host file: examines its hosts; if HOSTs are given, only those, with their options there
    #[arg(long, value_name = "FILE")]
    pub(crate) hostfile: Option<PathBuf>,
    /// An option for these hosts, as in a host file
    #[arg(short, long = "option", value_name = "KEY=VALUE")]
    pub(crate) option: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
