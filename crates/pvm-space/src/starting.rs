//! Starting the server of a host.
//!
//! The machine starts `pvmtuples --start` there. This process starts the server in a process group
//! of its own and ends. So the server is not the child of any job, and outlives the job that needed
//! it first.

use pvm::Task;
use pvm_wire::request::{Inherited, Reply, Request, SpawnRequest, Target, TraceOptions};
use pvm_wire::{Blob, Code, HostIndex, Tid};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

/// The name of the program.
pub(crate) const PROGRAM: &str = "pvmtuples";
/// The number of `PvmTaskHost`.
const ON_HOST: i32 = 1;

/// The paths at which the program may be: on the machine's search path, which has the folder of the
/// installation, then beside this program. A file there is only started if it belongs to this user
/// or to root: a program may lie in a folder such as /tmp, into which anybody writes.
fn places() -> Vec<Blob> {
    let own = std::env::current_exe().ok();
    let beside: Option<PathBuf> = own.map(|path| path.with_file_name(PROGRAM));
    let user = rustix::process::geteuid().as_raw();
    let is_ours = |path: &PathBuf| {
        let file = std::fs::symlink_metadata(path);
        file.is_ok_and(|file| file.is_file() && [0, user].contains(&file.uid()))
    };
    let beside = beside.filter(is_ours).map(|path| Blob(path.into_os_string().into_vec()));
    [Blob::from(PROGRAM)].into_iter().chain(beside).collect()
}

/// Starts the server of a host. It is ready when its entry is in the names.
pub(crate) fn start(task: &Task, host: &Blob) -> Result<(), Code> {
    let mut failed = Code::NoFile;
    for file in places() {
        match start_by(task, file, host) {
            Ok(()) => return Ok(()),
            Err(code) => failed = code,
        }
    }
    Err(failed)
}

fn start_by(task: &Task, file: Blob, host: &Blob) -> Result<(), Code> {
    let nowhere = Target { tid: Tid::NONE, context: 0, tag: 0 };
    let (target, mask) = (nowhere.clone(), Blob::default());
    let spawn = SpawnRequest {
        file,
        args: vec!["--start".into()],
        flags: ON_HOST,
        place: host.clone(),
        count: 1,
        environment: Vec::new(),
        whole_environment: false,
        directory: Blob::default(),
        inherited: Inherited {
            context: 0,
            output: nowhere,
            trace: TraceOptions { target, buffer: 0, options: 0, mask },
        },
    };
    match task.request(&Request::Spawn { spawn })? {
        Reply::Spawned { outcomes, .. } => match outcomes.first() {
            Some(tid) if *tid > 0 => Ok(()),
            Some(code) => Err(Code::from_number(*code).unwrap_or(Code::DSysErr)),
            None => Err(Code::DSysErr),
        },
        _ => Err(Code::DSysErr),
    }
}

/// A host of the machine: its number, its name, and whether it takes new tasks or is to be left.
pub(crate) struct Host {
    pub(crate) index: HostIndex,
    pub(crate) name: Blob,
    pub(crate) takes_tasks: bool,
    pub(crate) is_draining: bool,
}

/// The hosts of the machine.
pub(crate) fn hosts(task: &Task) -> Result<Vec<Host>, Code> {
    match task.request(&Request::Config)? {
        Reply::Hosts { hosts } => {
            let hosts = hosts.into_iter().map(|host| Host {
                index: host.tid.host(),
                is_draining: host.draining,
                takes_tasks: !host.draining && !host.suspected,
                name: host.name,
            });
            Ok(hosts.collect())
        }
        _ => Err(Code::DSysErr),
    }
}
