//! A private folder with the environment that makes it a user's whole world.
//!
//! HOME, TMPDIR and PVM_TMP lie in it, so nothing of the user's is touched. Every process started
//! from it carries its path in the environment, which is how leftovers are found.

use crate::patience::eventually;
use crate::{keeper, process, sweep};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The folder in which the spawn path looks first.
const ARCH: &str = "LINUX64";

/// The time within which a process has ended.
const END: Duration = Duration::from_secs(60);

/// The HOME of what runs in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HomeFolder {
    /// A folder in the place.
    Own,
    /// The caller's home and language: for tools that keep what they have fetched.
    Callers,
}

/// Removed when dropped, with everything that was started from it.
#[derive(Debug)]
pub struct Place {
    folder: PathBuf,
    vmid: String,
    /// The lock of a folder that is in use; none while another process holds it.
    _lock: Option<File>,
}

impl Default for Place {
    fn default() -> Self {
        Self::new()
    }
}

impl Place {
    /// Variables that say which machine or task a process belongs to, or change what `pvmd` does.
    /// A place does not inherit them from its maker.
    pub const CLEARED: [&str; 13] = [
        "PVM_DEBUGGER",
        "PVM_DPATH",
        "PVM_EXPORT",
        "PVM_NPROC",
        "PVM_PATH",
        "PVM_ROOT",
        "PVM_RSH",
        "PVMCTX",
        "PVMEPID",
        "PVMSOCK",
        "PVMTASK",
        "PVMTASKDEBUG",
        "PVMTMASK",
    ];

    /// A new one, which ends with this process.
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self::make(keeper::of_this_process(), count).expect("a folder for temporary files")
    }

    /// The one place of this process, which is a keeper.
    ///
    /// # Errors
    ///
    /// If the folder cannot be made.
    pub fn of_keeper() -> io::Result<Self> {
        Self::make(std::process::id(), 0)
    }

    fn make(keeper: u32, count: u32) -> io::Result<Self> {
        let folder = sweep::folder(keeper, count);
        let new = sweep::unlocked(&folder);
        fs::DirBuilder::new().mode(0o700).create(&new)?;
        let _lock = Some(sweep::lock(&new)?);
        fs::rename(&new, &folder)?;
        let place = Self { _lock, vmid: sweep::name(&folder), folder };
        for folder in [place.bin(), place.runtime(), place.temporary()] {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        }
        Ok(place)
    }

    /// The place that lies in that folder already.
    pub fn found(folder: PathBuf) -> Self {
        // The lock is free if the keeper was killed.
        let _lock = sweep::lock(&folder).ok();
        Self { _lock, vmid: sweep::name(&folder), folder }
    }

    /// Process id of its keeper.
    pub fn keeper(&self) -> Option<u32> {
        sweep::keeper_of(&self.vmid)
    }

    /// The path of the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The name of the machine here.
    pub fn vmid(&self) -> &str {
        &self.vmid
    }

    /// HOME.
    pub fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// The folder in which spawned programs are found by name.
    pub fn bin(&self) -> PathBuf {
        self.home().join("pvm3/bin").join(ARCH)
    }

    /// PVM_TMP.
    pub fn runtime(&self) -> PathBuf {
        self.folder.join("run")
    }

    /// TMPDIR.
    pub fn temporary(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    /// The variables that are the place. Beside these only PATH matters.
    pub fn environment(&self, home: HomeFolder) -> Vec<(&'static str, OsString)> {
        let mut variables: Vec<(&'static str, OsString)> = vec![
            ("TMPDIR", self.temporary().into()),
            ("PVM_TMP", self.runtime().into()),
            ("PVM_VMID", self.vmid.clone().into()),
            ("PVM_ARCH", ARCH.into()),
            ("PVM_ALLOW_ROOT", "1".into()),
            // An ordinary user finds leftovers by their environment only where it may be read.
            ("PVM_DUMPABLE", "1".into()),
        ];
        if home == HomeFolder::Own {
            variables.extend([("HOME", self.home().into()), ("LC_ALL", "C".into())]);
        }
        variables
    }

    /// A command in this environment, which nothing leaks into; its directory is HOME.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).envs(self.environment(HomeFolder::Own));
        command.current_dir(self.home());
        command
    }

    /// Living processes that were started from here, with their command lines.
    pub fn processes(&self) -> Vec<(u32, String)> {
        process::with_environment(&sweep::mark(&self.folder))
    }

    /// Files left in PVM_TMP and TMPDIR.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        collect(&self.runtime(), &mut found);
        collect(&self.temporary(), &mut found);
        found
    }

    /// A moment from now no process that was started from here lives, and no file is left.
    pub fn assert_nothing_left(&self) {
        let gone = eventually(END, || self.processes().is_empty());
        assert!(gone, "left running: {:#?}", self.processes());
        let clean = eventually(END, || self.files().is_empty());
        assert!(clean, "left behind: {:#?}", self.files());
    }

    /// Kills what was started from here, again until nothing new appears.
    pub fn kill_all(&self) {
        sweep::kill_marked(&sweep::mark(&self.folder));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.kill_all();
        if std::thread::panicking() && std::env::var_os("NEOPVM_KEEP").is_some() {
            keep(&self.folder);
            return;
        }
        let _ = fs::set_permissions(&self.folder, fs::Permissions::from_mode(0o700));
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Under a name that no keeper takes for one of its own.
fn keep(folder: &Path) {
    let kept = folder.with_extension("kept");
    let _ = fs::rename(folder, &kept);
    eprintln!("kept: {}", kept.display());
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        found.push(entry.path());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&entry.path(), found);
        }
    }
}
