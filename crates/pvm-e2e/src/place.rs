//! A private folder with the environment that makes it a user's whole world.
//!
//! HOME, TMPDIR and PVM_TMP lie in it, so nothing of the user's is touched. Every process started
//! from it carries its path in the environment, which is how leftovers are found.

use crate::patience::eventually;
use crate::{process, program};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Where the spawn path looks first.
const ARCH: &str = "LINUX64";

/// What ends has ended within this.
const END: Duration = Duration::from_secs(30);

/// Removed when dropped, with everything that was started from it.
#[derive(Debug)]
pub struct Place {
    folder: PathBuf,
    vmid: String,
}

impl Default for Place {
    fn default() -> Self {
        Self::new()
    }
}

impl Place {
    /// A new one.
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        // The last letter keeps the first place from being found in the tenth.
        let name = format!("e{}-{count}v", std::process::id());
        let folder = std::env::temp_dir().join(&name);
        let place = Self { folder, vmid: name };
        for folder in [place.bin(), place.runtime(), place.temporary()] {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).expect("a folder");
        }
        place
    }

    /// The name of the machine here.
    pub fn vmid(&self) -> &str {
        &self.vmid
    }

    /// HOME.
    pub fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// Where spawned programs are found by name.
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

    /// A command in this environment, which nothing leaks into; its directory is HOME.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("LC_ALL", "C");
        command.env("HOME", self.home()).env("TMPDIR", self.temporary());
        command.env("PVM_TMP", self.runtime()).env("PVM_VMID", &self.vmid);
        command.env("PVM_ARCH", ARCH).env("PVM_ALLOW_ROOT", "1");
        // An ordinary user finds what is left by its environment only where that may be read.
        command.env("PVM_DUMPABLE", "1");
        command.current_dir(self.home());
        command
    }

    /// A command of the installation.
    pub fn installed(&self, program: &str) -> Command {
        self.command(program::prefix().join("bin").join(program))
    }

    /// Compiles a program of `programs/` (C, C++ or Fortran by its ending) and puts it where spawn
    /// finds it.
    pub fn compile(&self, source: &str) -> PathBuf {
        let to = self.bin().join(source.split('.').next().expect("a name"));
        if !to.exists() {
            program::compile(source, &to);
        }
        to
    }

    /// Processes that were started from here and live, with their command lines.
    pub fn processes(&self) -> Vec<(u32, String)> {
        process::with_environment(self.folder.as_os_str().as_bytes())
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
        for _ in 0..100 {
            let processes = self.processes();
            if processes.is_empty() {
                break;
            }
            for (pid, _) in processes {
                process::kill(pid);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.kill_all();
        if std::thread::panicking() && std::env::var_os("NEOPVM_KEEP").is_some() {
            eprintln!("kept: {}", self.folder.display());
            return;
        }
        let _ = fs::set_permissions(&self.folder, fs::Permissions::from_mode(0o700));
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        found.push(entry.path());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&entry.path(), found);
        }
    }
}
