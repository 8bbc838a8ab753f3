//! The program that `pvm run` stands for, and the request that starts it.

use crate::failure::{Failure, Status};
use crate::operator::Operator;
use crate::options::tasks::RunOptions;
use crate::program;
use pvm_wire::request::{
    ALONE, Inherited, RECORDED, Reply, Request, SpawnRequest, Target, TraceOptions,
};
use pvm_wire::{Blob, Code, Tid};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

/// `PvmTaskHost`.
pub(super) const ON_HOST: i32 = 1;
/// Variables that the start of a task has put into our environment, if a task runs us: not for
/// other tasks.
const OF_ONE_TASK: [&str; 8] = [
    "PVMSOCK",
    "PVMEPID",
    "PVMCTX",
    "PVMTMASK",
    "PVMTRCBUF",
    "PVMTRCOPT",
    "PVMSPAWNWD",
    JOB_VARIABLE,
];
/// The variable by which a keeper tells ranks its own id, and theirs.
pub(super) const JOB_VARIABLE: &str = "NEOPVM_JOB";

/// The result of the start.
#[derive(Debug, Default)]
pub(crate) struct Start {
    /// An id or a code for each task.
    pub(crate) outcomes: Vec<i32>,
    /// The whole request was refused, as all the tasks' environments together are too much.
    is_too_much: bool,
}

impl Start {
    /// The tasks that were started.
    pub(crate) fn tasks(&self) -> Vec<Tid> {
        let good = self.outcomes.iter().filter(|&&outcome| outcome > 0);
        good.map(|&outcome| Tid::from_c_int(outcome)).collect()
    }

    /// The reasons why others were not started, and how many for each reason.
    pub(crate) fn failures(&self) -> Vec<(Code, usize)> {
        let mut counts = BTreeMap::new();
        for &outcome in self.outcomes.iter().filter(|&&outcome| outcome <= 0) {
            *counts.entry(outcome).or_default() += 1;
        }
        let code = |number| Code::from_number(number).unwrap_or(Code::DSysErr);
        counts.into_iter().map(|(number, count)| (code(number), count)).collect()
    }
}

/// Starts the program. A plain name is looked for in the spawn path, then in PATH.
pub(crate) fn start(
    operator: &mut Operator,
    options: &RunOptions,
    vmid: Option<&str>,
) -> Result<Start, Failure> {
    let named = Path::new(options.program());
    let mut request = wanted(options, vmid)?;
    let is_plain = is_plain(named);
    let (start, tried) = attempt(operator, &request)?;
    if start.is_too_much {
        return Err(too_many(options));
    }
    let Some(code) = start.all_failed() else { return Ok(start) };
    let in_path = if is_plain && code == Code::NoFile { program::in_path(named) } else { None };
    if let Some(found) = in_path {
        request.file = Blob(found.into_os_string().into_vec());
        let (start, _) = attempt(operator, &request)?;
        return match start.all_failed() {
            None => Ok(start),
            Some(code) => Err(explain(operator, options, code, &tried)),
        };
    }
    Err(explain(operator, options, code, &tried))
}

impl Start {
    fn all_failed(&self) -> Option<Code> {
        if self.tasks().is_empty() { self.failures().first().map(|&(code, _)| code) } else { None }
    }
}

/// Found by its name, not by its path.
pub(super) fn is_plain(named: &Path) -> bool {
    !named.as_os_str().as_bytes().contains(&b'/')
}

/// The request that starts what the command line names.
pub(super) fn wanted(options: &RunOptions, vmid: Option<&str>) -> Result<SpawnRequest, Failure> {
    let named = Path::new(options.program());
    if named.as_os_str().is_empty() {
        return Err(Failure::new(Status::Usage, "an empty name is no program's"));
    }
    let folder = std::env::current_dir().map_err(|error| lost_folder(&error))?;
    let file = if is_plain(named) { named.to_path_buf() } else { std::path::absolute(named)? };
    Ok(request(options, &file, &folder, vmid))
}

fn attempt(operator: &mut Operator, spawn: &SpawnRequest) -> Result<(Start, Vec<Blob>), Failure> {
    match operator.ask(&Request::Run { spawn: spawn.clone() }) {
        Ok(Reply::Spawned { outcomes, tried }) => {
            Ok((Start { outcomes, is_too_much: false }, tried))
        }
        Ok(_) => Err(Failure::unexpected("run")),
        Err(code) => {
            let is_too_much = code == Code::OutOfRes;
            Ok((Start { outcomes: vec![code.number()], is_too_much }, Vec::new()))
        }
    }
}

fn request(options: &RunOptions, file: &Path, folder: &Path, vmid: Option<&str>) -> SpawnRequest {
    let bytes = |text: &OsString| Blob(text.clone().into_vec());
    let nowhere = || Target { tid: Tid::NONE, context: 0, tag: 0 };
    let recorded = if options.trace.is_some() { RECORDED } else { 0 };
    let alone = if options.alone { ALONE } else { 0 };
    let trace = TraceOptions {
        target: nowhere(),
        buffer: 0,
        options: recorded | alone,
        mask: Blob::default(),
    };
    let place = options.host.clone().unwrap_or_default();
    SpawnRequest {
        file: Blob(file.as_os_str().as_bytes().to_vec()),
        args: options.arguments().iter().map(bytes).collect(),
        flags: if place.is_empty() { 0 } else { ON_HOST },
        place: Blob(place.into_bytes()),
        count: options.count.cast_signed(),
        environment: environment(options, vmid),
        whole_environment: true,
        directory: Blob(folder.as_os_str().as_bytes().to_vec()),
        inherited: Inherited { context: 0, output: nowhere(), trace },
    }
}

/// Ours, with what the options and a machine of our own change.
fn environment(options: &RunOptions, vmid: Option<&str>) -> Vec<Blob> {
    let mut changes: Vec<OsString> = options.env.iter().map(OsString::from).collect();
    changes.extend(vmid.map(|vmid| OsString::from(format!("PVM_VMID={vmid}"))));
    let changed = |name: &OsStr| {
        let starts = |change: &OsString| {
            change
                .as_bytes()
                .strip_prefix(name.as_bytes())
                .is_some_and(|rest| rest.starts_with(b"="))
        };
        changes.iter().any(starts)
    };
    let kept = std::env::vars_os()
        .filter(|(name, _)| !OF_ONE_TASK.iter().any(|own| name == own) && !changed(name))
        .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat());
    let changes = changes.iter().map(|change| change.as_bytes().to_vec());
    kept.chain(changes).map(Blob).collect()
}

/// Says why nothing was started: what can be seen from here is looked at.
fn explain(operator: &mut Operator, options: &RunOptions, code: Code, tried: &[Blob]) -> Failure {
    let name = options.program().to_string_lossy();
    match code {
        Code::NoFile => not_found(&name, tried),
        Code::NoHost => no_host(operator, options),
        Code::OutOfRes => {
            let text = format!("{name}: no task was started: {code}{}", shortage(code));
            Failure::new(Status::Refused, text)
        }
        _ => Failure::refused(&name, code),
    }
}

/// The folder that we are in is the tasks', too.
fn lost_folder(error: &std::io::Error) -> Failure {
    let text = format!("the current folder cannot be used: {error}\n  go to another one: `cd`");
    Failure::new(Status::Refused, text)
}

fn too_many(options: &RunOptions) -> Failure {
    let name = options.program().to_string_lossy();
    let size: usize = environment(options, None).iter().map(|variable| variable.0.len()).sum();
    let text = format!(
        "{name}: its arguments and its environment of {} KB are more than a task can be started \
         with\n  start it with less: `env -i PATH=$PATH pvm run ...`",
        size.div_ceil(1000),
    );
    Failure::new(Status::Refused, text)
}

/// The resource that a host lacks if it could not start a task, as far as this process can know:
/// lines to follow the code.
pub(crate) fn shortage(code: Code) -> String {
    /// Below this a daemon has descriptors for itself and a few tasks only.
    const FEW_FILES: u64 = 256;
    if code != Code::OutOfRes {
        return String::new();
    }
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    match files.filter(|&files| files < FEW_FILES) {
        Some(files) => format!(
            "\n  a daemon started here may open {files} files (`ulimit -Hn`), and each task takes \
             some: raise it, and start the machine anew"
        ),
        None => {
            "\n  the host has no process, file or memory left for more: look at `ulimit -Hn -u \
                 -v` where its daemon was started, or start fewer"
                .to_owned()
        }
    }
}

/// The error for a file that may be executed and was not started.
fn not_started(name: &str) -> Failure {
    let start = std::fs::read(name).unwrap_or_default();
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let reason = match line.strip_prefix(b"#!") {
        Some(program) => {
            let program = String::from_utf8_lossy(program.trim_ascii());
            format!("its first line names {program}, which cannot be executed")
        }
        None => "it is no program for this kind of computer, and no script: those begin with #!"
            .to_owned(),
    };
    Failure::new(Status::NotExecutable, format!("{name}: not executable\n  {reason}"))
}

pub(super) fn not_found(name: &str, tried: &[Blob]) -> Failure {
    let here = Path::new(name);
    if name.contains('/') && here.is_file() && !program::is_executable(here) {
        let text = format!("{name}: not executable\n  make it so: `chmod +x {name}`");
        return Failure::new(Status::NotExecutable, text);
    }
    if name.contains('/') && here.is_dir() {
        return Failure::new(Status::NotExecutable, format!("{name}: a folder, not a program"));
    }
    if name.contains('/') && program::is_executable(here) {
        return not_started(name);
    }
    let mut text = format!("{name}: no such program");
    for path in tried {
        text += &format!("\n  tried {}", path.to_text());
    }
    if !name.contains('/') {
        text += "\n  tried the folders in PATH";
        if program::is_executable(here) {
            text += &format!("\n  there is one in this folder: `pvm run ./{name}`");
        }
    }
    Failure::new(Status::NotFound, text)
}

fn no_host(operator: &mut Operator, options: &RunOptions) -> Failure {
    let wanted = options.host.as_deref().unwrap_or("any");
    let mut text = format!("no such host: {wanted}");
    if let Ok(Reply::Hosts { hosts }) = operator.ask(&Request::Config) {
        let names: Vec<String> = hosts.iter().map(|host| host.name.to_text()).collect();
        text += &format!("\n  the machine has {}", names.join(", "));
    }
    Failure::new(Status::Refused, text)
}
