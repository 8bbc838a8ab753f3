//! A folder and a machine's name of a test's own, and the programs under test.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

static NUMBER: AtomicU32 = AtomicU32::new(0);
static BUILT: Once = Once::new();

/// Where a test works. Halts its machine at the end.
pub(crate) struct Place {
    folder: PathBuf,
    vmid: String,
}

impl Place {
    /// A new one; builds the daemon if it is not there.
    pub(crate) fn new() -> Self {
        BUILT.call_once(build_daemon);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let vmid = format!("t{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(format!("pvm-cli-{vmid}"));
        std::fs::create_dir_all(folder.join("home")).unwrap();
        Self { folder, vmid }
    }

    /// The user's home.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// What machines and tasks may leave behind: nothing, once all is over.
    #[allow(dead_code, reason = "not every test looks")]
    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.folder).unwrap().flatten().map(|entry| entry.path());
        entries.filter(|path| *path != self.home()).collect()
    }

    /// Hosts that end by themselves leave nothing, either, but a moment later.
    #[allow(dead_code, reason = "not every test looks")]
    pub(crate) fn is_cleared(&self) {
        let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !self.leftovers().is_empty() {
            assert!(std::time::Instant::now() < end, "{:?}", self.leftovers());
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// Waits until so many tasks run; a minute at most.
    #[allow(dead_code, reason = "not every test waits")]
    pub(crate) fn await_tasks(&self, count: usize) {
        let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
        loop {
            let output = self.command(&["ps", "--json"]).output().unwrap();
            let said = String::from_utf8(output.stdout).unwrap();
            if said.matches("\"tid\":").count() == count {
                return;
            }
            assert!(std::time::Instant::now() < end, "{said}");
        }
    }

    /// `pvm ARGS` in this place.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pvm"));
        command.args(args).current_dir(self.home());
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.home()).env("PVM_TMP", &self.folder).env("PVM_VMID", &self.vmid);
        command.env("PVM_ALLOW_ROOT", "1").env("PVM_ARCH", "LINUX64");
        command.stdin(Stdio::null());
        command
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Most tests have ended theirs already.
        let _ = self.command(&["halt"]).output();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// `cargo test` builds the programs of this package only.
fn build_daemon() {
    let ours = Path::new(env!("CARGO_BIN_EXE_pvm"));
    if ours.with_file_name("pvmd").exists() {
        return;
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", "pvmd"]);
    if ours.parent().is_some_and(|folder| folder.ends_with("release")) {
        cargo.arg("--release");
    }
    assert!(cargo.status().unwrap().success(), "the daemon cannot be built");
}
