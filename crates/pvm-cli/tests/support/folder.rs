//! A folder of a test's own, and commands of `pvm` that need no machine.

use std::path::PathBuf;
use std::process::{Command, Output};

/// A folder of this test's own, which goes with it.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    /// A new one. Each test has another name.
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("pvm-cli-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The name of a file in it.
    pub(crate) fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a command.
pub(crate) fn pvm(command: &str, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pvm")).arg(command).args(args).output().unwrap()
}

/// The output of a command that must succeed.
pub(crate) fn printed(command: &str, args: &[&str]) -> String {
    let output = pvm(command, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
