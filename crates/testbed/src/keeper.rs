//! The keeper: a process in a session of its own that outlives its caller by a moment.
//!
//! It holds a pidfd of the caller, so it learns of that one's end whatever the cause, `kill -9`
//! included, and no other process can be taken for it. Then it takes away the places that carry its
//! own process id in their names. If the keeper is killed, too, the next keeper of this user finds
//! those places by that name.

use crate::sweep;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open, setsid};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The word of the program `testbed` for a keeper without a machine.
pub const KEEP: &str = "keep";

/// Process id of the keeper of this process's places; it is started for the first place.
pub(crate) fn of_this_process() -> u32 {
    static KEEPER: OnceLock<u32> = OnceLock::new();
    *KEEPER.get_or_init(|| start(std::process::id()))
}

fn start(caller: u32) -> u32 {
    let program = program();
    let mut command = Command::new(&program);
    command.args([KEEP, &caller.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let keeper = command.spawn();
    keeper.unwrap_or_else(|error| panic!("{}: {error}", program.display())).id()
}

/// The program `testbed`: that of TESTBED_PROGRAM, or the one beside this program. `cargo test -p`
/// builds the programs of one package only, so it is built if it is not there.
pub fn program() -> PathBuf {
    if let Some(named) = std::env::var_os("TESTBED_PROGRAM") {
        return PathBuf::from(named);
    }
    let this = std::env::current_exe().expect("the path of this program");
    let folders = this.ancestors().skip(1).take(2);
    let there = folders.map(|folder| folder.join("testbed")).find(|path| path.is_file());
    there.unwrap_or_else(|| build(&this))
}

/// Builds it where this program, `target/PROFILE/deps/NAME`, has been built.
fn build(this: &Path) -> PathBuf {
    let profile = this.ancestors().nth(2).expect("a folder of a profile");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(["build", "--quiet", "--package", "testbed"])
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    if let Some(target) = profile.parent() {
        cargo.arg("--target-dir").arg(target);
    }
    let built = cargo.status().is_ok_and(|status| status.success());
    assert!(built, "the program testbed cannot be built: `cargo build -p testbed` says why");
    profile.join("testbed")
}

/// The process for which places are kept.
#[derive(Debug)]
pub struct Caller(Option<OwnedFd>);

impl Caller {
    /// The process with that id. One that is gone counts as ended.
    ///
    /// # Errors
    ///
    /// If the kernel gives no descriptor of a living process.
    pub fn find(process: u32) -> Result<Self, String> {
        let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| format!("{process}: not the number of a process"))?;
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(descriptor) => Ok(Self(Some(descriptor))),
            Err(Errno::SRCH) => Ok(Self(None)),
            Err(error) => Err(format!("process {process} cannot be watched: {error}")),
        }
    }

    /// Returns when the process has ended.
    pub fn await_end(&self) {
        let Some(descriptor) = &self.0 else { return };
        let mut wanted = [PollFd::new(descriptor, PollFlags::IN)];
        while matches!(poll(&mut wanted, None), Ok(0) | Err(Errno::INTR)) {}
    }
}

/// Leaves the caller's session, so that what ends its group does not end the keeper, and takes
/// away what keepers have left behind that were killed.
pub fn begin() {
    // It fails for the leader of a process group, which a terminal's signals do not reach, either.
    let _ = setsid();
    sweep::sweep();
}

/// Takes away all places of this process.
pub fn end() {
    sweep::end_all_of(std::process::id());
}
