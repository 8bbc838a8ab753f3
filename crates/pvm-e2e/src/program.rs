//! Compiling the test programs against the installation.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};

/// The programs that this process has compiled, by their sources. Each test has a place of its own,
/// but most tests of a file run the same few programs.
static COMPILED: Mutex<BTreeMap<String, Arc<OnceLock<Vec<u8>>>>> = Mutex::new(BTreeMap::new());

/// The installation under test.
pub fn prefix() -> PathBuf {
    let stage = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/stage");
    let prefix = std::env::var_os("NEOPVM_PREFIX").map_or(stage, PathBuf::from);
    let pvmd = prefix.join("bin/pvmd");
    assert!(
        pvmd.is_file(),
        "{} is not there: `make install PREFIX=$PWD/target/stage`, or set NEOPVM_PREFIX",
        pvmd.display()
    );
    prefix.canonicalize().expect("a folder")
}

/// Whether a tool can be run; where it cannot, says on standard error what is left out.
pub fn has(tool: &str, package: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = std::env::split_paths(&path).any(|folder| folder.join(tool).is_file());
    if !there {
        eprintln!("skipped: {tool} is not there (apt install {package})");
    }
    there
}

/// Puts the program of `programs/SOURCE` at `to`. Where several threads ask for it at the same
/// time, one compiles and the others wait.
pub(crate) fn provide(source: &str, to: &Path) {
    let mut all = COMPILED.lock().expect("no thread panics");
    let slot = Arc::clone(all.entry(source.to_owned()).or_default());
    drop(all);
    let program = slot.get_or_init(|| {
        compile(source, to);
        std::fs::read(to).expect("the compiler has written it")
    });
    if !to.exists() {
        write(program, to);
    }
}

/// Another process writes the program. A child that a thread of this process forks meanwhile would
/// have the file open, too, and the kernel runs no file that somebody may write.
fn write(program: &[u8], to: &Path) {
    let mut command = Command::new("install");
    command.args(["-m", "755", "/dev/stdin"]).arg(to).stdin(Stdio::piped());
    let mut child = command.spawn().expect("install(1) can be run");
    child.stdin.take().expect("a pipe").write_all(program).expect("install(1) reads it");
    assert!(child.wait().expect("a child").success(), "cannot write {}", to.display());
}

/// Compiles `programs/SOURCE` to `to`.
fn compile(source: &str, to: &Path) {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let prefix = prefix();
    let fortran = source.ends_with(".f");
    let compiler = match source.rsplit('.').next() {
        Some("f") => "gfortran",
        Some("cc") => "g++",
        _ => "cc",
    };
    let mut command = Command::new(compiler);
    command.args(["-O1", "-w", "-o"]).arg(to).arg(programs.join(source));
    command.arg(format!("-I{}", prefix.join("include").display()));
    command.arg(format!("-L{}", prefix.join("lib").display()));
    command.arg(format!("-Wl,-rpath,{}", prefix.join("lib").display()));
    if fortran {
        command.args(["-std=legacy", "-lfpvm3"]);
    }
    command.args(["-lgpvm3", "-lpvm3", "-lpthread"]);
    let done = command.output().unwrap_or_else(|error| panic!("cannot run {compiler}: {error}"));
    assert!(
        done.status.success(),
        "{source} does not compile:\n{}",
        String::from_utf8_lossy(&done.stderr)
    );
}
