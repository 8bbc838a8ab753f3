//! The systems that take part: our programs on NeoPVM and on PVM 3.4.6, and those of NPB that the
//! user has built.

use super::answer::{Verdict, of_npb, of_ours};
use crate::machine::{Folder, Machine};
use crate::process::{self, Ended, last_words};
use crate::system::{Kind, Tools};
use pvm_cli::failure::{Failure, Status};
use pvm_cli::options::bench::cases::Case;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The reason why something was not run: in short, and the program's last output.
pub(crate) type Why = (String, String);

/// The surroundings of every run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around<'a> {
    /// The folders of NeoPVM and of the sources.
    pub(crate) tools: &'a Tools,
    /// The other hosts.
    pub(crate) hosts: &'a [String],
    /// True when the user ends the measurement.
    pub(crate) stop: &'a AtomicBool,
}

/// One of those that take turns.
#[derive(Clone, Debug)]
pub(crate) struct Contender {
    /// The system.
    pub(crate) kind: Kind,
    /// In which way.
    pub(crate) variant: &'static str,
    /// The folder of its programs.
    folder: PathBuf,
    /// More for `mpirun`; none where the programs are ours.
    mpi: Option<&'static [&'static str]>,
}

/// Open MPI's tasks spin while they wait, unless they are told to give their processor away.
const YIELDS: &[&str] = &["--mca", "mpi_yield_when_idle", "1"];

impl Contender {
    /// Our programs, in this folder.
    pub(crate) fn ours(kind: Kind, folder: PathBuf) -> Self {
        Self { kind, variant: "", folder, mpi: None }
    }

    /// NPB's in `folder`, in each way in which their MPI may wait; refuses a folder that has none
    /// for these cases.
    pub(crate) fn of_npb(folder: &Path, cases: &[Case]) -> Result<Vec<Self>, Failure> {
        let folder = fs::canonicalize(folder)
            .map_err(|error| refused(format!("--peer {}: {error}", folder.display())))?;
        let Some(program) = cases.iter().find_map(|&case| npb_program(&folder, case)) else {
            let text = format!("--peer {}: {}", folder.display(), none_of(cases));
            return Err(refused(text));
        };
        let bytes = fs::read(&program).unwrap_or_default();
        let is_mpich = bytes.windows(MPICH.len()).any(|window| window == MPICH);
        let kind = if is_mpich { Kind::Mpich } else { Kind::OpenMpi };
        let of = |variant, more| Self { kind, variant, folder: folder.clone(), mpi: Some(more) };
        let first = of("NPB", &[]);
        Ok(if is_mpich { vec![first] } else { vec![first, of("NPB, tasks yield", YIELDS)] })
    }

    /// As it stands in the report.
    pub(crate) fn text(&self) -> String {
        let gap = if self.variant.is_empty() { "" } else { ", " };
        format!("{}{gap}{}", self.kind.name(), self.variant)
    }

    /// False for a further variant of MPI with one task: variants differ in their waits only, and a
    /// single task does not wait.
    pub(crate) fn takes_part(&self, case: Case) -> bool {
        case.tasks > 1 || self.mpi.is_none_or(<[_]>::is_empty)
    }

    /// Its program for a case, or why it has none.
    pub(crate) fn program(&self, case: Case) -> Result<PathBuf, String> {
        if self.mpi.is_none() {
            return Ok(self.folder.join(format!("build/nas-{}", case.name.lower())));
        }
        if !case.name.npb_takes(case.tasks) {
            let (name, tasks) = (case.name.text(), case.tasks);
            return Err(format!("NPB's {name} cannot have {tasks} tasks"));
        }
        let missing = || format!("{}: no program of NPB in the folder of --peer", case.text());
        npb_program(&self.folder, case).ok_or_else(missing)
    }

    /// One run.
    pub(crate) fn run(
        &self,
        program: &Path,
        case: Case,
        limit: Duration,
        around: Around<'_>,
    ) -> Result<Ended, Why> {
        let text = |error: std::io::Error| ("cannot be run".to_owned(), error.to_string());
        if let Some(more) = self.mpi {
            let mut command = Tools::mpirun(self.kind, case.tasks, around.hosts);
            command.args(more).arg(program);
            let folder = Folder::new().map_err(text)?;
            return process::run(command, folder.path(), limit, around.stop).map_err(text);
        }
        let machine = Machine::start(self.kind, around.tools, around.hosts)
            .map_err(|words| ("has no machine".to_owned(), last_words(&words)))?;
        let mut command = machine.command(program);
        command.args(case.arguments());
        let mut ended =
            process::run(command, machine.folder(), limit, around.stop).map_err(text)?;
        // The log of the machine has the output of the tasks that it has started.
        ended.errors = format!("{}\n{}", ended.errors, machine.log());
        Ok(ended)
    }

    /// The output of a run; the error is a sentence.
    pub(crate) fn told(&self, output: &str, case: Case) -> Result<Verdict, String> {
        if self.mpi.is_some() { of_npb(output, case) } else { of_ours(output, case) }
    }
}

/// The name by which the loader knows the other MPI.
const MPICH: &[u8] = b"libmpich";

fn refused(text: String) -> Failure {
    Failure::new(Status::Refused, text)
}

fn none_of(cases: &[Case]) -> String {
    let names = cases.iter().filter_map(|&case| Some(npb_names(case)?[0].clone()));
    let first: Vec<String> = names.take(3).collect();
    format!(
        "no program of NPB is there for what is to be run ({} ...)\n  build NPB 3.4-MPI (`make cg \
         CLASS=S`) and name the folder `bin` that it fills",
        first.join(", ")
    )
}

/// As NPB 3.4 and as NPB 3.3 names it, which is built for one number of processes.
fn npb_names(case: Case) -> Option<[String; 2]> {
    let (name, class) = (case.name.lower(), case.class?.text());
    Some([format!("{name}.{class}.x"), format!("{name}.{class}.{}", case.tasks)])
}

/// The program for this case. In the shape of the thesis it is that of the class with the same
/// size.
fn npb_program(folder: &Path, case: Case) -> Option<PathBuf> {
    let files = npb_names(case)?.map(|name| folder.join(name));
    files.into_iter().find_map(|file| pvm_cli::program::in_path(&file))
}

/// A compiler that takes longer hangs.
const BUILD_TIME_MAX: Duration = Duration::from_secs(600);

/// Builds our programs of these cases for a system, below `out`; the error is the compiler's last
/// words.
pub(crate) fn build(
    kind: Kind,
    cases: &[Case],
    out: &Path,
    around: Around<'_>,
) -> Result<PathBuf, String> {
    let text = |error: std::io::Error| error.to_string();
    let name = kind.name().to_lowercase().replace([' ', '.'], "");
    let folder = out.canonicalize().map_err(text)?.join("programs").join(format!("nas-{name}"));
    copy(&around.tools.sources, &folder).map_err(text)?;
    let mut command = Command::new("make");
    command.arg("-j2").arg("-C").arg(&folder).args(variables(kind, &around.tools.prefix));
    let names: BTreeSet<_> =
        cases.iter().map(|case| format!("nas-{}", case.name.lower())).collect();
    command.args(names);
    let scratch = Folder::new().map_err(text)?;
    let ended = process::run(command, scratch.path(), BUILD_TIME_MAX, around.stop).map_err(text)?;
    if ended.end == process::End::Good { Ok(folder) } else { Err(last_words(&ended.errors)) }
}

/// The make variables with the folders of `pvm3.h` and the libraries.
fn variables(kind: Kind, prefix: &Path) -> Vec<String> {
    if kind == Kind::Original {
        return ["PVM_INCLUDE=-I/usr/include", "PVM_LIBRARY="].map(str::to_owned).to_vec();
    }
    vec![format!("PVM_HOME={}", prefix.display())]
}

/// The sources, so that what is installed stays as it is. What has not changed keeps its time, and
/// is not built again.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let source = entry?.path();
        let Some(name) = source.file_name().filter(|_| is_source(&source)) else { continue };
        let (bytes, target) = (fs::read(&source)?, to.join(name));
        if fs::read(&target).ok().as_ref() != Some(&bytes) {
            fs::write(&target, bytes)?;
        }
    }
    Ok(())
}

/// Objects and programs in a copy may be those of another system.
fn is_source(file: &Path) -> bool {
    let ending = file.extension().unwrap_or_default();
    let is_known = ["c", "h", "f", "f90", "inc"].iter().any(|known| ending == *known);
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.is_file() && (is_known || name.starts_with("Makefile"))
}
