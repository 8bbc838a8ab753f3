//! The options of the command line and the environment.

use crate::hex::from_hex;
use crate::launch::token::Token;
use anyhow::{Context as _, Result, bail};
use pvm_wire::hostfile::is_host_name;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The role of this process.
#[derive(Debug)]
pub(crate) enum Mode {
    /// A host's parent process.
    Parent(Box<ParentOptions>),
    /// Starts a host's parent process, tells its answer, and ends.
    Front(Vec<String>, Front),
    /// Starts a host's parent process that joins by the token in this file, waits until it has, and
    /// ends.
    Bearer(Vec<String>, PathBuf),
    /// A host's daemon, started by its parent with its sockets as standard input and output.
    Daemon,
    /// Tells which stages of adding this host (a line of a host file) succeed.
    Doctor {
        /// The line.
        line: String,
        /// As one line of JSON.
        json: bool,
    },
    /// Tells which of these addresses can be reached from here, and whether a daemon of the
    /// machine with this name runs here.
    Reach(Vec<String>, Option<String>),
    /// Asks the daemon with this socket to add the hosts of a file.
    Populate(PathBuf, PathBuf),
    /// Print the version.
    Version,
    /// Print the usage.
    Help,
}

/// The command line of a parent.
#[derive(Debug, Default)]
pub(crate) struct ParentOptions {
    /// End when standard input reaches its end.
    pub(crate) bound: bool,
    /// The machine to join; otherwise this is the first host of a new one.
    pub(crate) join: Option<Join>,
    /// Name of the host, if not the computer's.
    pub(crate) name: Option<String>,
    /// Words of a host file that concern this host.
    pub(crate) options: String,
    /// Hosts to add when the machine has begun.
    pub(crate) hostfile: Option<PathBuf>,
    /// The file of the token that tells which machine to join.
    pub(crate) token: Option<PathBuf>,
}

/// The data by which a new host finds its machine. None of them is secret. Nothing here is secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Join {
    /// The addresses of the daemon that asked for the new host.
    pub(crate) addresses: Vec<String>,
    /// The fingerprint of its key.
    pub(crate) fingerprint: Vec<u8>,
    /// It is on this computer.
    pub(crate) local: bool,
    /// The new daemon may be one of several here.
    pub(crate) again: bool,
    /// The token that lets it in; none if the inviter knows its key.
    pub(crate) token: Option<Token>,
    /// The address through which it reaches hosts that it cannot call.
    pub(crate) via: Option<SocketAddr>,
    /// Seconds until it ends if it is not let in; 0 for the usual time.
    pub(crate) patience: u32,
}

impl Join {
    /// As a token says.
    pub(crate) fn by(token: Token) -> Self {
        Self {
            addresses: token.addresses.clone(),
            fingerprint: token.fingerprint.0.clone(),
            local: false,
            again: false,
            token: Some(token),
            via: None,
            patience: 0,
        }
    }
}

/// The options that the process that ssh starts needs itself.
#[derive(Debug, Default)]
pub(crate) struct Front {
    /// The inviter's protocol.
    pub(crate) protocol: Option<u16>,
    /// The machine's name.
    pub(crate) vmid: Option<String>,
    /// The addresses of the inviter.
    pub(crate) addresses: Vec<String>,
    /// There may be a daemon here already.
    pub(crate) again: bool,
    /// A hoster carries the answer, which is to be short.
    pub(crate) hosted: bool,
}

/// The usage, as `pvmd --help` prints it.
pub(crate) const USAGE: &str = "\
usage: pvmd [--bound] [--name NAME] [--options WORDS] [[--hostfile] FILE]
       pvmd --join ADDRESS:PORT[,...] --fingerprint HEX [--name NAME] [--options WORDS]
       pvmd --token-file FILE [--name NAME] [--options WORDS]
       pvmd --doctor HOST-LINE [--json]

Starts the daemon of this host and prints the path of its socket when it is ready.
  --bound     end when standard input reaches its end
  --name      the name of this host in the machine
  --options   what a host file says of this host: ep= wd= sp= bx= ip=
  --hostfile  add the hosts of this file
  --join      become a host of the machine whose daemon listens there: prints a line that
              begins with neopvm-host-1, and goes on in the background
  --token-file  become a host of the machine that the token in FILE (- for standard input) is
              for, made there by `pvm token`; goes on in the background
  --doctor    try the stages of adding a host, and name the first that fails
Environment: PVM_VMID PVM_TMP PVM_ROOT PVM_ARCH PVM_RSH";

/// Reads the arguments, the program's name left out.
pub(crate) fn arguments(args: impl Iterator<Item = OsString>) -> Result<Mode> {
    let mut words = Vec::new();
    for arg in args {
        words.push(arg.to_str().context("an argument is not text")?.to_owned());
    }
    let mut options = ParentOptions::default();
    let mut front = Front::default();
    let (mut addresses, mut fingerprint) = (None, None);
    let (mut local, mut again, mut foreground) = (false, false, false);
    let (mut doctor, mut json, mut socket) = (None, false, None);
    let (mut via, mut patience, mut hosted) = (None, 0, None);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let flag = match word.as_str() {
            "--bound" => Some(&mut options.bound),
            "--local" => Some(&mut local),
            "--again" => Some(&mut again),
            "--foreground" => Some(&mut foreground),
            "--json" => Some(&mut json),
            _ => None,
        };
        if let Some(flag) = flag {
            *flag = true;
            continue;
        }
        let (name, value) = word.split_once('=').map_or((&**word, None), |(n, v)| (n, Some(v)));
        let mut value = || {
            let value = value.map(str::to_owned).or_else(|| rest.next().cloned());
            value.with_context(|| format!("{name}: a value is missing\n{USAGE}"))
        };
        match name {
            "--daemon" => return Ok(Mode::Daemon),
            "--version" | "-V" => return Ok(Mode::Version),
            "--help" | "-h" => return Ok(Mode::Help),
            "--name" => options.name = Some(checked_name(value()?)?),
            "--options" => options.options = value()?,
            "--token-file" => options.token = Some(value()?.into()),
            "--hostfile" => options.hostfile = Some(value()?.into()),
            "--join" => addresses = Some(addresses_in(&value()?)?),
            "--fingerprint" => {
                let bytes = from_hex(&value()?).filter(|bytes| !bytes.is_empty());
                fingerprint = Some(bytes.context("--fingerprint: no such thing")?);
            }
            "--protocol" => front.protocol = Some(value()?.parse().context("--protocol")?),
            "--via" => via = Some(value()?.parse().context("--via")?),
            "--patience" => patience = value()?.parse().context("--patience")?,
            "--hosted" => hosted = Some(value()?.parse::<u64>().context("--hosted")?),
            "--populate" => socket = Some(value()?),
            "--vmid" => front.vmid = Some(checked_vmid(value()?.into())?),
            "--doctor" => doctor = Some(value()?),
            "--reach" => return Ok(Mode::Reach(addresses_in(&value()?)?, front.vmid)),
            file if !file.starts_with('-') => options.hostfile = Some(word.into()),
            // As PVM's own daemon has it; there is no debug mask here.
            short if short.starts_with("-n") => {
                options.name = Some(checked_name(short[2..].to_owned())?);
            }
            short if short.starts_with("-d") => {}
            _ => bail!("unknown argument {word}\n{USAGE}"),
        }
    }
    if let Some(line) = doctor {
        return Ok(Mode::Doctor { line, json });
    }
    if let (Some(socket), Some(file)) = (socket, &options.hostfile) {
        return Ok(Mode::Populate(socket.into(), file.clone()));
    }
    options.join = match (addresses, fingerprint) {
        (Some(addresses), Some(fingerprint)) => {
            front.addresses.clone_from(&addresses);
            front.again = again;
            front.hosted = hosted.is_some();
            let again = again || local;
            let token =
                hosted.map(|ticket| Token::hosted(ticket, addresses.clone(), fingerprint.clone()));
            Some(Join { addresses, fingerprint, local, again, token, via, patience })
        }
        (None, None) if local => bail!("--local goes with --join"),
        (None, None) => None,
        _ => bail!("--join and --fingerprint go together"),
    };
    if let Some(file) = options.token.clone().filter(|_| !foreground) {
        if options.join.is_some() {
            bail!("a token names the machine: --join does not go with it");
        }
        return Ok(Mode::Bearer(words, file));
    }
    Ok(match &options.join {
        Some(join) if !join.local && !foreground => Mode::Front(words, front),
        _ => Mode::Parent(Box::new(options)),
    })
}

fn addresses_in(list: &str) -> Result<Vec<String>> {
    let parsed = list.split(',').map(|at| at.parse::<SocketAddr>());
    let parsed: Result<Vec<_>, _> = parsed.collect();
    let parsed = parsed
        .with_context(|| format!("{list}: not a list of ADDRESS:PORT, separated by commas"))?;
    Ok(parsed.iter().map(ToString::to_string).collect())
}

/// The places and names that the environment decides.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// `${PVM_TMP:-${XDG_RUNTIME_DIR:-/tmp}}`.
    pub(crate) temporary: PathBuf,
    /// The name of the machine.
    pub(crate) vmid: String,
    /// The folder in which NeoPVM is installed, if it can be found.
    pub(crate) root: Option<PathBuf>,
    /// The architecture's name.
    pub(crate) arch: String,
    /// The user's home.
    pub(crate) home: PathBuf,
    /// The limits of unread data, and the folders for them.
    pub(crate) spilling: Spilling,
}

/// Limits of what waits unread on this host, and where it goes that finds no room in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spilling {
    /// `PVM_SPILL_DIR`: for the files, whatever kind of folder it is.
    folder: Option<PathBuf>,
    /// `TMPDIR`.
    temporary: Option<PathBuf>,
    /// `PVM_SPILL_MB`: bytes of files.
    pub(crate) file_bytes: Option<u64>,
    /// `PVM_SLAB_MB`: bytes of slabs.
    pub(crate) slab_bytes: Option<u64>,
}

/// File systems that are memory: `tmpfs`, `ramfs`.
const MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

impl Spilling {
    fn from_environment() -> Result<Self> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let bytes = |name| match variable(name) {
            None => Ok(None),
            Some(text) => {
                let number = text.to_str().and_then(|text| text.parse::<u64>().ok());
                match number.and_then(|mebibytes| mebibytes.checked_mul(1 << 20)) {
                    Some(bytes) => Ok(Some(bytes)),
                    None => bail!("{name}: not a number of mebibytes"),
                }
            }
        };
        Ok(Self {
            folder: variable("PVM_SPILL_DIR").map(PathBuf::from),
            temporary: variable("TMPDIR").map(PathBuf::from),
            file_bytes: bytes("PVM_SPILL_MB")?,
            slab_bytes: bytes("PVM_SLAB_MB")?,
        })
    }

    /// The folders in which files may be made, best first. A folder in memory does not count unless
    /// the user named it, because the data are to leave the memory. Unless it was named, a folder
    /// in memory is none: what is to leave the memory would stay there.
    pub(crate) fn folders(&self, machine: &Path) -> Vec<PathBuf> {
        if let Some(folder) = &self.folder {
            return vec![folder.clone()];
        }
        let others = self.temporary.iter().map(PathBuf::as_path);
        let all = [machine].into_iter().chain(others).chain([Path::new("/var/tmp")]);
        let on_disk = |folder: &&Path| {
            rustix::fs::statfs(*folder)
                .is_ok_and(|system| !MEMORY.contains(&(system.f_type as u64 & 0xffff_ffff)))
        };
        all.filter(on_disk).map(Path::to_path_buf).collect()
    }
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
            spilling: Spilling::from_environment()?,
        })
    }

    /// The folders in which programs are searched by default.
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

/// Tables and host files show a host's name.
fn checked_name(name: String) -> Result<String> {
    if !is_host_name(&name) {
        bail!(
            "--name: not a name for a host (1 to 255 bytes, no blanks and no control characters)"
        );
    }
    Ok(name)
}

/// A machine's name becomes the name of a folder.
pub(crate) fn checked_vmid(vmid: OsString) -> Result<String> {
    let bad = vmid.as_bytes().contains(&b'/') || vmid == "." || vmid == ".." || vmid.len() > 64;
    match vmid.into_string() {
        Ok(vmid) if !bad => Ok(vmid),
        _ => bail!("PVM_VMID: not a name for a machine (at most 64 bytes of text, no `/`)"),
    }
}

/// PVM's name for this kind of computer, which is also a folder in users' search paths. As PVM
/// 3.4.6 says on i386, x86-64, s390x and 32-bit ARM; where it says LINUX64 for another processor we
/// do not, as those programs cannot run on x86-64.
const fn default_arch() -> &'static str {
    match std::env::consts::ARCH.as_bytes() {
        b"x86" => "LINUX",
        b"s390x" => "LINUXS390",
        b"arm" => "LINUXARM",
        b"mips" | b"mips64" => "LINUXMIPS",
        b"aarch64" => "LINUXAARCH64",
        b"powerpc64" => "LINUXPPC64",
        b"powerpc" => "LINUXPPC",
        _ => "LINUX64",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Mode> {
        arguments(args.iter().map(OsString::from))
    }

    #[test]
    fn a_join_needs_addresses_and_a_fingerprint() {
        assert!(parse(&["--join=127.0.0.1:1"]).is_err());
        assert!(parse(&["--join=nowhere", "--fingerprint=00"]).is_err());
        assert!(parse(&["--join", "127.0.0.1:1", "--fingerprint"]).is_err());
        let words = ["--join", "127.0.0.1:1,[::1]:2", "--fingerprint=00ff", "--foreground"];
        let Mode::Parent(options) = parse(&words).unwrap() else { panic!("not a parent") };
        let join = options.join.unwrap();
        assert_eq!(join.fingerprint, [0, 255]);
        assert_eq!(join.addresses, ["127.0.0.1:1", "[::1]:2"]);
    }

    #[test]
    fn a_host_that_joins_from_elsewhere_is_started_by_a_process_that_ends() {
        let words = ["--join=10.0.0.1:1", "--fingerprint=00", "--protocol=7", "--vmid=mine"];
        let Mode::Front(args, front) = parse(&words).unwrap() else { panic!("no front") };
        assert_eq!((args.len(), front.protocol, front.vmid.as_deref()), (4, Some(7), Some("mine")));
        let local = ["--join=127.0.0.1:1", "--fingerprint=00", "--local"];
        assert!(matches!(parse(&local), Ok(Mode::Parent(_))));
        assert!(parse(&["--vmid=../x", "--join=10.0.0.1:1", "--fingerprint=00"]).is_err());
    }

    #[test]
    fn the_forms_of_pvms_own_daemon_are_understood() {
        let Mode::Parent(options) = parse(&["-d0", "-nthud", "hosts"]).unwrap() else { panic!() };
        assert_eq!(options.name.as_deref(), Some("thud"));
        assert_eq!(options.hostfile, Some("hosts".into()));
    }

    #[test]
    fn what_is_no_argument_is_refused() {
        assert!(parse(&["--bound=1"]).is_err());
        assert!(parse(&["--nonsense"]).is_err());
        assert!(parse(&["-x"]).is_err());
    }

    #[test]
    fn a_machine_is_not_named_like_a_way_out_of_the_folder() {
        for bad in ["..", "a/b", "."] {
            assert!(checked_vmid(bad.into()).is_err());
        }
        assert_eq!(checked_vmid("mine".into()).unwrap(), "mine");
    }
}
