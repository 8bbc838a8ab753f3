//! `pvm trace export --to otf2`: an archive, written by OTF2's own library.
//!
//! The library is C and nowhere needed but here, so `pvm` is not linked with it: a program that
//! calls it is compiled when an archive is asked for, with the compiler and the library of this
//! computer.

use super::place::{self, Trace, at, wrong};
use crate::failure::{Failure, Status};
use pvm_trace::clocks::Clocks;
use pvm_trace::export;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

/// The program.
const SOURCE: &str = include_str!("otf2.c");
/// The library's names, upstream and in Debian.
const LIBRARIES: [&str; 2] = ["-lotf2", "-lopen-trace-format2"];

/// Writes an archive into a new folder.
pub(super) fn write(
    file: &Path,
    trace: &mut Trace,
    clocks: &Clocks,
    folder: &Path,
) -> Result<(), Failure> {
    if folder.symlink_metadata().is_ok() {
        let text = "it exists already; an archive needs a new folder";
        return Err(refused(folder, text));
    }
    let work = Work::new()?;
    let program = work.compile()?;
    let mut child = start(&program, folder)?;
    let input = child.stdin.take();
    let fed = feed(file, input, trace, clocks);
    let ended = child.wait_with_output().map_err(|error| at(&program, &error))?;
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.stderr);
        return Err(refused(folder, &format!("OTF2's library: {}", said.trim())));
    }
    fed
}

fn refused(path: &Path, text: &str) -> Failure {
    Failure::new(Status::Refused, format!("{}: {text}", path.display()))
}

fn start(program: &Path, folder: &Path) -> Result<Child, Failure> {
    let mut command = Command::new(program);
    command.arg(folder).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().map_err(|error| at(program, &error))
}

fn feed(
    file: &Path,
    input: Option<ChildStdin>,
    trace: &mut Trace,
    clocks: &Clocks,
) -> Result<(), Failure> {
    let Some(input) = input else { return Ok(()) };
    let out = BufWriter::with_capacity(1 << 16, input);
    export::otf2(trace, clocks, out).map_err(|error| wrong(file, &error))
}

/// A folder for the program, which goes with this.
struct Work(PathBuf);

impl Work {
    fn new() -> Result<Self, Failure> {
        let name = format!("neopvm-otf2-{}-{}", std::process::id(), pvm::record_clock());
        let folder = std::env::temp_dir().join(name);
        let mut builder = std::fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).map_err(|error| at(&folder, &error))?;
        Ok(Self(folder))
    }

    /// Compiles the program; says what is missing.
    fn compile(&self) -> Result<PathBuf, Failure> {
        let (source, program) = (self.0.join("otf2.c"), self.0.join("otf2"));
        let mut out = place::create(&source)?;
        out.write_all(SOURCE.as_bytes()).and_then(|()| out.flush()).map_err(|e| at(&source, &e))?;
        drop(out);
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        let mut said = String::new();
        for library in LIBRARIES {
            let mut command = Command::new(&compiler);
            command.args(["-O2", "-w", "-o"]).arg(&program).arg(&source).arg(library);
            let ended = command.stdin(Stdio::null()).output().map_err(|error| {
                let compiler = compiler.to_string_lossy();
                let text =
                    format!("otf2 needs a C compiler (Debian package gcc): {compiler}: {error}");
                Failure::new(Status::Refused, text)
            })?;
            if ended.status.success() {
                return Ok(program);
            }
            said = String::from_utf8_lossy(&ended.stderr).into_owned();
        }
        let first = said.lines().find(|line| line.contains("error")).unwrap_or_default();
        let text = "otf2 needs the OTF2 library with its headers, 3.0 or later \
                    (Debian package libopen-trace-format2-dev)";
        Err(Failure::new(Status::Refused, format!("{text}: {first}")))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // What is left in a folder of temporary files harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
