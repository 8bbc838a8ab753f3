//! What the command line and the environment say.

use anyhow::{Context as _, Result, bail};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What this process is to be.
#[derive(Debug)]
pub(crate) enum Mode {
    /// A host's parent process.
    Parent(ParentOptions),
    /// A host's daemon, started by its parent with its sockets as standard input and output.
    Daemon,
    /// Print the version.
    Version,
    /// Print the usage.
    Help,
}

/// How a parent was started.
#[derive(Debug, Default)]
pub(crate) struct ParentOptions {
    /// End when standard input reaches its end.
    pub(crate) bound: bool,
    /// The machine to join; otherwise this is the first host of a new one.
    pub(crate) join: Option<Join>,
    /// Name of the host, if not the computer's.
    pub(crate) name: Option<String>,
}

/// Where a new host finds its machine. Nothing here is secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Join {
    /// The daemon that asked for the new host.
    pub(crate) address: SocketAddr,
    /// The fingerprint of its key.
    pub(crate) fingerprint: Vec<u8>,
}

/// The usage, as `pvmd --help` prints it.
pub(crate) const USAGE: &str = "\
usage: pvmd [--bound] [--name=NAME]
       pvmd --join=ADDRESS:PORT --fingerprint=HEX [--name=NAME]

Starts the daemon of this host and prints the path of its socket when it is ready.
  --bound    end when standard input reaches its end
  --name     the name of this host in the machine
  --join     become a host of the machine whose daemon listens there
Environment: PVM_VMID PVM_TMP PVM_ROOT PVM_ARCH";

/// Reads the arguments, the program's name left out.
pub(crate) fn arguments(args: impl Iterator<Item = OsString>) -> Result<Mode> {
    let mut options = ParentOptions::default();
    let (mut address, mut fingerprint) = (None, None);
    for arg in args {
        let text = arg.to_str().context("an argument is not text")?;
        let (name, value) = text.split_once('=').map_or((text, None), |(n, v)| (n, Some(v)));
        match (name, value) {
            ("--daemon", None) => return Ok(Mode::Daemon),
            ("--version" | "-V", None) => return Ok(Mode::Version),
            ("--help" | "-h", None) => return Ok(Mode::Help),
            ("--bound", None) => options.bound = true,
            ("--name", Some(name)) => options.name = Some(name.to_owned()),
            ("--join", Some(at)) => address = Some(at.parse().context("--join: no address")?),
            ("--fingerprint", Some(hex)) => {
                fingerprint = Some(from_hex(hex).context("--fingerprint: no such thing")?);
            }
            _ => bail!("unknown argument {text}\n{USAGE}"),
        }
    }
    options.join = match (address, fingerprint) {
        (Some(address), Some(fingerprint)) => Some(Join { address, fingerprint }),
        (None, None) => None,
        _ => bail!("--join and --fingerprint go together"),
    };
    Ok(Mode::Parent(options))
}

/// The places and names that the environment decides.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// `${PVM_TMP:-${XDG_RUNTIME_DIR:-/tmp}}`.
    pub(crate) temporary: PathBuf,
    /// The name of the machine.
    pub(crate) vmid: String,
    /// Where NeoPVM is installed, if that can be found.
    pub(crate) root: Option<PathBuf>,
    /// The architecture's name.
    pub(crate) arch: String,
    /// The user's home.
    pub(crate) home: PathBuf,
}

impl Places {
    /// From this process's environment.
    pub(crate) fn from_environment() -> Result<Self> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let temporary = variable("PVM_TMP").or_else(|| variable("XDG_RUNTIME_DIR"));
        let vmid = match variable("PVM_VMID") {
            Some(vmid) => checked_vmid(vmid)?,
            None => "default".to_owned(),
        };
        let arch = variable("PVM_ARCH").and_then(|arch| arch.into_string().ok());
        Ok(Self {
            temporary: temporary.map_or_else(|| "/tmp".into(), PathBuf::from),
            vmid,
            root: variable("PVM_ROOT").map(PathBuf::from).or_else(installed_root),
            arch: arch.unwrap_or_else(|| default_arch().to_owned()),
            home: variable("HOME").map_or_else(|| "/".into(), PathBuf::from),
        })
    }

    /// Where programs are looked for if nothing else is said.
    pub(crate) fn search(&self) -> Vec<PathBuf> {
        let mut search = vec![self.home.join("pvm3/bin").join(&self.arch)];
        if let Some(root) = &self.root {
            search.push(root.join("bin").join(&self.arch));
            search.push(root.join("bin"));
        }
        search
    }
}

/// The prefix of `PREFIX/bin/pvmd`, the running program.
fn installed_root() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    (folder.file_name()? == "bin").then(|| folder.parent().map(Path::to_path_buf))?
}

/// A machine's name becomes the name of a folder.
fn checked_vmid(vmid: OsString) -> Result<String> {
    let bad = vmid.as_bytes().contains(&b'/') || vmid == "." || vmid == ".." || vmid.len() > 64;
    match vmid.into_string() {
        Ok(vmid) if !bad => Ok(vmid),
        _ => bail!("PVM_VMID: not a name for a machine (at most 64 bytes of text, no `/`)"),
    }
}

const fn default_arch() -> &'static str {
    if cfg!(target_arch = "aarch64") { "LINUXAARCH64" } else { "LINUX64" }
}

/// Lower-case hexadecimal digits.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The reverse of [`to_hex`].
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Mode> {
        arguments(args.iter().map(OsString::from))
    }

    #[test]
    fn a_join_needs_an_address_and_a_fingerprint() {
        assert!(parse(&["--join=127.0.0.1:1"]).is_err());
        assert!(parse(&["--join=nowhere", "--fingerprint=00"]).is_err());
        let mode = parse(&["--join=127.0.0.1:1", "--fingerprint=00ff"]).unwrap();
        let Mode::Parent(options) = mode else { panic!("not a parent") };
        assert_eq!(options.join.unwrap().fingerprint, [0, 255]);
    }

    #[test]
    fn what_is_no_argument_is_refused() {
        assert!(parse(&["--bound=1"]).is_err());
        assert!(parse(&["hostfile"]).is_err());
        assert_eq!(from_hex("0g"), None);
        assert_eq!(from_hex(&to_hex(&[1, 171])), Some(vec![1, 171]));
    }

    #[test]
    fn a_machine_is_not_named_like_a_way_out_of_the_folder() {
        for bad in ["..", "a/b", "."] {
            assert!(checked_vmid(bad.into()).is_err());
        }
        assert_eq!(checked_vmid("mine".into()).unwrap(), "mine");
    }
}
