//! A place and a machine's name of a test's own, and the programs under test.

use std::ops::Deref;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Once;
use std::time::Duration;
use testbed::eventually;

static BUILT: Once = Once::new();

/// Nothing that a test waits for takes longer.
#[allow(dead_code, reason = "not every test waits")]
const LIMIT: Duration = Duration::from_secs(60);

/// The folder and the environment of a test. Halts its machine at the end.
pub(crate) struct Place(testbed::Place);

impl Place {
    /// A new one; builds the daemon if it is not there.
    pub(crate) fn new() -> Self {
        BUILT.call_once(|| build("pvmd", "pvmd"));
        Self(testbed::Place::new())
    }

    /// Hosts that end by themselves leave nothing, either, but a moment later.
    #[allow(dead_code, reason = "not every test looks")]
    pub(crate) fn is_cleared(&self) {
        assert!(eventually(LIMIT, || self.files().is_empty()), "{:?}", self.files());
    }

    /// Waits until so many tasks run.
    #[allow(dead_code, reason = "not every test waits")]
    pub(crate) fn await_tasks(&self, count: usize) {
        let mut said = String::new();
        let all_run = eventually(LIMIT, || {
            let output = self.command(&["ps", "--json"]).output().unwrap();
            said = String::from_utf8(output.stdout).unwrap();
            said.matches("\"tid\":").count() == count
        });
        assert!(all_run, "{said}");
    }

    /// The tasks that another task has started.
    #[allow(dead_code, reason = "not every test looks")]
    pub(crate) fn started(&self) -> Vec<String> {
        let output = self.command(&["ps", "--all", "--json"]).output().unwrap();
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let tasks = told["tasks"].as_array().unwrap().iter();
        let started = tasks.filter(|task| task["parent"].is_string());
        started.map(|task| task["tid"].as_str().unwrap().to_owned()).collect()
    }

    /// `pvm ARGS` in this place.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.0.command(env!("CARGO_BIN_EXE_pvm"));
        command.args(args).stdin(Stdio::null());
        command
    }
}

impl Deref for Place {
    type Target = testbed::Place;

    fn deref(&self) -> &testbed::Place {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Most tests have ended theirs already.
        let _ = self.command(&["halt"]).output();
    }
}

/// Builds a program of another package if it is not there: `cargo test` builds those of one package
/// only.
pub(crate) fn build(program: &str, package: &str) {
    let ours = Path::new(env!("CARGO_BIN_EXE_pvm"));
    if ours.with_file_name(program).exists() {
        return;
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", package]);
    if ours.parent().is_some_and(|folder| folder.ends_with("release")) {
        cargo.arg("--release");
    }
    assert!(cargo.status().unwrap().success(), "{program} cannot be built");
}
