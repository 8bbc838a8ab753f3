//! A private place with the installation under test.

use crate::program;
use std::ops::Deref;
use std::path::PathBuf;
use std::process::Command;

/// The place in which the installed programs, and those of `programs/`, run. Removed when dropped,
/// with everything that was started from it.
#[derive(Debug, Default)]
pub struct Place(testbed::Place);

impl Place {
    /// A new one, which ends with this process.
    pub fn new() -> Self {
        Self::default()
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
            program::provide(source, &to);
        }
        to
    }
}

impl Deref for Place {
    type Target = testbed::Place;

    fn deref(&self) -> &testbed::Place {
        &self.0
    }
}
