//! A virtual machine for one run of a program: ours or the original's, in a folder of its own.
//!
//! HOME, PVM_TMP and PVM_VMID are private, so nothing of the user's is touched. Everything that is
//! started carries PVM_VMID in its environment, which is how leftovers of a crash are found.

use super::system::{Kind, Tools};
use super::{marked, surroundings};
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A daemon that is not ready by then will never be.
const READY_TIME_MAX: Duration = Duration::from_secs(20);
/// The time that a machine may take to end by itself.
const END_TIME_MAX: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(5);
/// The name of the folder in which PVM 3 looks for programs, on every computer that this runs on.
const ARCH: &str = "LINUX64";

/// A folder that is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// A new one among the temporary files.
    pub(crate) fn new() -> std::io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pvmb-{}-{count}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(Self(folder))
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed among the temporary files does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A running machine. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Machine {
    kind: Kind,
    root: PathBuf,
    vmid: String,
    daemon: Child,
    folder: Folder,
}

impl Machine {
    /// Starts one on this host and adds `hosts`. The error is the last output of the program that
    /// could not start it.
    pub(crate) fn start(kind: Kind, tools: &Tools, hosts: &[String]) -> Result<Self, String> {
        let folder = Folder::new().map_err(|error| error.to_string())?;
        let name = folder.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let root = match kind {
            Kind::Ours => tools.prefix.clone(),
            _ => PathBuf::from("/usr/lib/pvm3"),
        };
        let mut command = environment(Command::new(daemon_of(kind, tools)), &folder, &root, &name);
        let ready = prepare(kind, &folder).and_then(|()| File::create(folder.path().join("ready")));
        let said = File::create(folder.path().join("daemon"));
        let (ready, said) =
            ready.and_then(|ready| Ok((ready, said?))).map_err(|e| e.to_string())?;
        if kind == Kind::Ours {
            // It ends with us, even if we are killed.
            command.arg("--bound").stdin(Stdio::piped());
        } else {
            command.stdin(Stdio::null());
        }
        if kind == Kind::Original && !hosts.is_empty() {
            command.env("PVM_RSH", shell(&folder, &name).map_err(|error| error.to_string())?);
        }
        command.stdout(ready).stderr(said).process_group(0);
        let daemon = command.spawn().map_err(|error| error.to_string())?;
        let mut machine = Self { kind, root, vmid: name, daemon, folder };
        machine.wait_until_ready()?;
        machine.spread(hosts)?;
        Ok(machine)
    }

    /// The folder for the files of the machine, and for those of a program.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A command beside the machine.
    pub(crate) fn command(&self, program: &Path) -> Command {
        environment(Command::new(program), &self.folder, &self.root, &self.vmid)
    }

    /// The output of the daemon and of the tasks that it started.
    pub(crate) fn log(&self) -> String {
        let mut text = String::new();
        let mut folders = vec![self.folder.path().join("tmp")];
        while let Some(folder) = folders.pop() {
            for path in pvm_cli::entries(&folder) {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if path.is_dir() {
                    folders.push(path);
                } else if name.starts_with("pvml") {
                    text += &String::from_utf8_lossy(&fs::read(&path).unwrap_or_default());
                }
            }
        }
        text
    }

    fn wait_until_ready(&mut self) -> Result<(), String> {
        let end = Instant::now() + READY_TIME_MAX;
        while fs::metadata(self.folder.path().join("ready")).map_or(0, |file| file.len()) == 0 {
            let gone = matches!(self.daemon.try_wait(), Ok(Some(_)));
            if gone || Instant::now() > end {
                let said = fs::read(self.folder.path().join("daemon")).unwrap_or_default();
                return Err(format!(
                    "its daemon did not start\n{}",
                    String::from_utf8_lossy(&said)
                ));
            }
            std::thread::sleep(STEP);
        }
        Ok(())
    }

    /// Adds the hosts with the system's own console.
    fn spread(&self, hosts: &[String]) -> Result<(), String> {
        if hosts.is_empty() {
            return Ok(());
        }
        let console =
            if self.kind == Kind::Ours { self.root.join("bin/pvm") } else { "/usr/bin/pvm".into() };
        let mut command = self.command(&console);
        if self.kind == Kind::Ours {
            command.arg("add").args(hosts);
        } else {
            let script = self.folder.path().join("script");
            let lines: String = hosts.iter().map(|host| format!("add {host}\n")).collect();
            fs::write(&script, lines + "conf\nquit\n").map_err(|error| error.to_string())?;
            command.stdin(File::open(&script).map_err(|error| error.to_string())?);
        }
        let done = command.output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
        let refused = hosts
            .iter()
            .any(|host| self.kind == Kind::Original && said.matches(host.as_str()).count() < 2);
        if done.status.success() && !refused && !said.contains("0 successful") {
            Ok(())
        } else {
            Err(format!("hosts could not be added\n{said}"))
        }
    }

    /// Kills every process that was started with this machine's PVM_VMID, until there is none.
    fn kill_all(&self) {
        for _ in 0..100 {
            let found = marked::processes(&self.vmid);
            for pid in found.iter().filter_map(|&number| rustix::process::Pid::from_raw(number)) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            if found.is_empty() {
                return;
            }
            std::thread::sleep(STEP);
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if self.kind == Kind::Ours {
            self.daemon.stdin = None;
        } else {
            let script = self.folder.path().join("halt");
            let halted = fs::write(&script, "halt\n").and_then(|()| {
                let mut console = self.command(Path::new("/usr/bin/pvm"));
                console.stdin(File::open(&script)?).stdout(Stdio::null()).stderr(Stdio::null());
                console.process_group(0).spawn()
            });
            // The console ends with the machine, by a signal.
            let end = Instant::now() + END_TIME_MAX;
            if let Ok(mut console) = halted {
                while matches!(console.try_wait(), Ok(None)) && Instant::now() < end {
                    std::thread::sleep(STEP);
                }
                let _ = console.kill();
                let _ = console.wait();
            }
        }
        let end = Instant::now() + END_TIME_MAX;
        while matches!(self.daemon.try_wait(), Ok(None)) && Instant::now() < end {
            std::thread::sleep(STEP);
        }
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
        self.kill_all();
    }
}

fn daemon_of(kind: Kind, tools: &Tools) -> PathBuf {
    if kind == Kind::Ours { tools.prefix.join("bin/pvmd") } else { PathBuf::from("/usr/bin/pvmd") }
}

fn prepare(kind: Kind, folder: &Folder) -> std::io::Result<()> {
    let bin = folder.path().join("home/pvm3/bin").join(ARCH);
    fs::create_dir_all(&bin)?;
    DirBuilder::new().mode(0o700).create(folder.path().join("tmp"))?;
    if kind == Kind::Original {
        // Debian leaves the group server out of the spawn path.
        symlink("/usr/bin/pvmgs", bin.join("pvmgs"))?;
    }
    Ok(())
}

/// The script by which the original reaches other hosts: it expects its folders in the environment
/// of every session there.
fn shell(folder: &Folder, vmid: &str) -> std::io::Result<PathBuf> {
    let file = folder.path().join("shell");
    let text = format!(
        "#!/bin/sh\nhost=$1\nshift\n\
         exec /usr/bin/ssh -o BatchMode=yes \"$host\" env PVM_ROOT=/usr/lib/pvm3 PVM_ARCH={ARCH} \
         PVM_VMID={vmid} PVM_ALLOW_ROOT=1 \"$@\"\n"
    );
    fs::write(&file, text)?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o700))?;
    Ok(file)
}

fn environment(mut command: Command, folder: &Folder, root: &Path, vmid: &str) -> Command {
    for name in ["PVM_EXPORT", "PVM_DPATH", "PVM_DEBUGGER", "PVM_NPROC", "PVMSOCK", "PVMEPID"] {
        command.env_remove(name);
    }
    surroundings::clean(&mut command);
    for name in ["PVMCTX", "PVMTMASK", "PVMTASK", "PVMTASKDEBUG"] {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C").env("HOME", folder.path().join("home")).env("PVM_ROOT", root);
    command.env("PVM_TMP", folder.path().join("tmp")).env(marked::NAME, vmid);
    command.env("PVM_ARCH", ARCH).env("PVM_ALLOW_ROOT", "1").env("PVM_RSH", "/usr/bin/ssh");
    command
}
