//! The program that the daemon is: a file that is held open, so that a daemon that is killed comes
//! back as what it was although another one has been installed meanwhile.

use pvm_wire::Blob;
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The text that the kernel puts after the path of a running program whose file was replaced.
const DELETED: &[u8] = b" (deleted)";

/// An open program.
#[derive(Debug)]
pub(crate) struct Program {
    file: File,
    path: PathBuf,
    /// It is what this process is.
    own: bool,
}

impl Program {
    /// The one that runs here.
    pub(crate) fn own() -> std::io::Result<Self> {
        let path = std::fs::read_link("/proc/self/exe")?;
        Ok(Self { file: File::open("/proc/self/exe")?, path: still(path), own: true })
    }

    /// The one that lies there now.
    pub(crate) fn at(path: &Path) -> std::io::Result<Self> {
        use std::io::ErrorKind;
        if !path.is_absolute() {
            return Err(std::io::Error::new(ErrorKind::InvalidInput, "not an absolute path"));
        }
        let file = File::open(path)?;
        let data = file.metadata()?;
        if !data.is_file() || data.permissions().mode() & 0o111 == 0 {
            return Err(std::io::Error::new(ErrorKind::PermissionDenied, "not a program"));
        }
        Ok(Self { file, path: path.to_path_buf(), own: false })
    }

    /// The path at which it was found.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A command that runs it.
    pub(crate) fn command(&self) -> Command {
        // An emulator of another processor knows this one for what it is, and no descriptor.
        if self.own {
            return Command::new("/proc/self/exe");
        }
        Command::new(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }
}

/// The path without the kernel's remark.
fn still(path: PathBuf) -> PathBuf {
    match path.as_os_str().as_bytes().strip_suffix(DELETED) {
        Some(path) => PathBuf::from(std::ffi::OsString::from_vec(path.to_vec())),
        None => path,
    }
}

/// An upgrade under way.
#[derive(Debug)]
pub(crate) struct Upgrade {
    /// To be given back.
    pub(crate) mark: Blob,
    /// The program that runs if the new one does not.
    pub(crate) old: Program,
    /// The old one's version.
    pub(crate) from: String,
    /// Until when the new one must be ready, once it was started.
    pub(crate) until: Option<Instant>,
    /// The reason why it is unfit, if it has given one.
    pub(crate) reason: String,
}

impl Upgrade {
    /// True where the old daemon has gone and the new one was started.
    pub(crate) const fn is_started(&self) -> bool {
        self.until.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    #[test]
    fn a_program_that_was_replaced_runs_on_as_what_it_was() {
        let folder = std::env::temp_dir().join(format!("pvmd-program-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("program");
        std::fs::copy("/bin/true", &path).unwrap();
        let program = Program::at(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::copy("/bin/false", &path).unwrap();
        let run = |program: &Program| program.command().stdin(Stdio::null()).status().unwrap();
        assert!(run(&program).success());
        assert!(!run(&Program::at(program.path()).unwrap()).success());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_no_program_is_refused() {
        assert!(Program::at(Path::new("bin/true")).is_err());
        assert!(Program::at(Path::new("/etc/passwd")).is_err());
        assert!(Program::at(Path::new("/no/such/program")).is_err());
        assert_eq!(still("/a/pvmd (deleted)".into()), Path::new("/a/pvmd"));
    }
}
