//! Starting a task: the program is looked for, its environment put together, its pipes made.
//!
//! Nothing runs between fork and exec, so that the standard library takes `posix_spawn` and a
//! parent with many pages starts a task as fast as a small one.

use pvm_core::io::Launch;
use pvm_wire::{Blob, Code};
use rustix::pipe::PipeFlags;
use rustix::process::{Resource, Rlimit};
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What every task of this host gets.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// Path of the local socket.
    pub(crate) socket: PathBuf,
    /// The user's home.
    pub(crate) home: PathBuf,
    /// Where NeoPVM is installed.
    pub(crate) root: Option<PathBuf>,
    /// `/dev/null`, open.
    pub(crate) null: OwnedFd,
    /// Keeps low numbers of descriptors free for the moment of a start: the C library starts
    /// nothing with a descriptor above the task's own limit.
    pub(crate) low: Vec<OwnedFd>,
    /// The limit of open files that this process was started with.
    pub(crate) files: Rlimit,
    /// The limit that this process has now.
    pub(crate) files_raised: Rlimit,
}

impl Surroundings {
    /// Takes the lowest descriptors that are free, one for each standard stream.
    pub(crate) fn reserve(&mut self) {
        while self.low.len() < 3
            && let Ok(fd) = self.null.try_clone()
        {
            self.low.push(fd);
        }
    }
}

/// A started task.
#[derive(Debug)]
pub(crate) struct Child {
    /// Its process.
    pub(crate) pid: u32,
    /// Standard output (1) and error output (2), or both in one (1). They do not block.
    pub(crate) outputs: Vec<(u8, OwnedFd)>,
    /// Standard input, if it is fed. It does not block.
    pub(crate) input: Option<OwnedFd>,
}

/// A task that could not be started.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LaunchError {
    /// Why.
    pub(crate) code: Code,
    /// Paths tried.
    pub(crate) tried: Vec<Blob>,
}

/// Starts a program.
pub(crate) fn start(launch: &Launch, around: &mut Surroundings) -> Result<Child, LaunchError> {
    let program = find(launch)?;
    let mut command = if launch.debugger.0.is_empty() {
        Command::new(&program)
    } else {
        let mut command = Command::new(OsStr::from_bytes(&launch.debugger.0));
        command.arg(&program);
        command
    };
    command.args(launch.args.iter().map(|arg| OsStr::from_bytes(&arg.0)));
    command.current_dir(directory(launch, around));
    set_environment(&mut command, launch, around);
    run(command, launch, around).map_err(|error| LaunchError {
        code: code_of(&error),
        tried: vec![Blob(program.into_os_string().as_bytes().to_vec())],
    })
}

/// An absolute path is used as it is, a name is looked for in the folders of the search path.
pub(crate) fn find(launch: &Launch) -> Result<PathBuf, LaunchError> {
    let file = Path::new(OsStr::from_bytes(&launch.file.0));
    let mut tried = Vec::new();
    let candidates: Vec<PathBuf> = if file.is_absolute() {
        vec![file.to_path_buf()]
    } else {
        let search = launch.search.iter().filter(|folder| folder.0.starts_with(b"/"));
        search.map(|folder| Path::new(OsStr::from_bytes(&folder.0)).join(file)).collect()
    };
    for candidate in candidates {
        let found = std::fs::metadata(&candidate);
        if found.is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0) {
            return Ok(candidate);
        }
        tried.push(Blob(candidate.into_os_string().as_bytes().to_vec()));
    }
    Err(LaunchError { code: Code::NoFile, tried })
}

/// Where it starts. As in PVM a folder that this host does not have is the user's home.
fn directory(launch: &Launch, around: &Surroundings) -> PathBuf {
    let wished = around.home.join(OsStr::from_bytes(&launch.directory.0));
    [wished, around.home.clone()]
        .into_iter()
        .find(|path| path.is_dir())
        .unwrap_or_else(|| "/".into())
}

/// Names that PVM gives every task, with the value where the machine says nothing. The process id
/// expected is that of no process: the daemon knows its tasks by their credentials.
const GIVEN: [(&str, &str); 5] =
    [("PVMEPID", "0"), ("PVMCTX", "0x0"), ("PVMTMASK", ""), ("PVMTRCBUF", "0"), ("PVMTRCOPT", "0")];

fn set_environment(command: &mut Command, launch: &Launch, around: &Surroundings) {
    if launch.whole_environment {
        command.env_clear();
    }
    for (name, value) in GIVEN {
        command.env(name, value);
    }
    let mut libraries = match launch.whole_environment {
        true => None,
        false => std::env::var_os("LD_LIBRARY_PATH"),
    };
    for pair in &launch.environment {
        let Some(at) = pair.0.iter().position(|byte| *byte == b'=').filter(|at| *at > 0) else {
            continue;
        };
        let (name, value) = (&pair.0[..at], OsStr::from_bytes(&pair.0[at + 1..]));
        if name == b"LD_LIBRARY_PATH" {
            libraries = Some(value.to_owned());
        }
        command.env(OsStr::from_bytes(name), value);
    }
    command.env("PVMSOCK", &around.socket);
    if let Some(root) = &around.root {
        command.env("LD_LIBRARY_PATH", first_of(root.join("lib").into_os_string(), libraries));
    }
}

fn first_of(first: OsString, rest: Option<OsString>) -> OsString {
    let mut path = first;
    if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
        path.push(":");
        path.push(rest);
    }
    path
}

fn run(mut command: Command, launch: &Launch, around: &mut Surroundings) -> std::io::Result<Child> {
    let (output, writer) = pipe()?;
    rustix::io::ioctl_fionbio(&output, true)?;
    let mut outputs = vec![(1, output)];
    let errors_writer = if launch.split_output {
        let (errors, errors_writer) = pipe()?;
        rustix::io::ioctl_fionbio(&errors, true)?;
        outputs.push((2, errors));
        Some(errors_writer)
    } else {
        None
    };
    let (reader, input) = if launch.fed {
        let (reader, input) = pipe()?;
        rustix::io::ioctl_fionbio(&input, true)?;
        (Some(reader), Some(input))
    } else {
        (None, None)
    };
    // Copies take the lowest numbers, which are free now.
    around.low.clear();
    command.stdin(Stdio::from(reader.as_ref().unwrap_or(&around.null).try_clone()?));
    command.stdout(Stdio::from(writer.try_clone()?));
    command.stderr(Stdio::from(errors_writer.as_ref().unwrap_or(&writer).try_clone()?));
    // Limits are inherited, so the task's is set for the moment of its start.
    let set = |limit: Rlimit| rustix::process::setrlimit(Resource::Nofile, limit);
    let _ = set(around.files);
    let started = command.spawn();
    let _ = set(around.files_raised);
    drop(command);
    around.reserve();
    // The child is waited for by its number, with all others.
    Ok(Child { pid: started?.id(), outputs, input })
}

fn pipe() -> std::io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?)
}

fn code_of(error: &std::io::Error) -> Code {
    use rustix::io::Errno;
    match Errno::from_io_error(error) {
        Some(Errno::ACCESS | Errno::PERM) => Code::Denied,
        Some(Errno::NOMEM) => Code::NoMem,
        Some(Errno::NOENT | Errno::NOTDIR | Errno::NOEXEC | Errno::LOOP) => Code::NoFile,
        _ => Code::OutOfRes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::Tid;
    use std::io::Read as _;

    fn launch(file: &str, args: &[&str]) -> Launch {
        Launch {
            tid: Tid(0x40001),
            file: file.into(),
            search: vec!["/nowhere".into(), "relative".into(), "/bin".into()],
            args: args.iter().map(|arg| Blob::from(*arg)).collect(),
            environment: Vec::new(),
            whole_environment: false,
            directory: Blob::default(),
            fed: false,
            split_output: false,
            debugger: Blob::default(),
            cookie: 0,
        }
    }

    fn surroundings() -> Surroundings {
        let files = rustix::process::getrlimit(Resource::Nofile);
        Surroundings {
            socket: "/run/some.sock".into(),
            home: "/usr".into(),
            root: Some("/opt/neopvm".into()),
            null: std::fs::File::open("/dev/null").unwrap().into(),
            files,
            files_raised: files,
            low: Vec::new(),
        }
    }

    fn output(launch: &Launch) -> String {
        let child = start(launch, &mut surroundings()).unwrap();
        let (_, fd) = child.outputs.into_iter().next().unwrap();
        rustix::io::ioctl_fionbio(&fd, false).unwrap();
        let mut text = String::new();
        std::fs::File::from(fd).read_to_string(&mut text).unwrap();
        let pid = rustix::process::Pid::from_raw(child.pid.cast_signed());
        rustix::process::waitpid(pid, rustix::process::WaitOptions::empty()).unwrap();
        text
    }

    #[test]
    fn a_program_is_found_and_sees_its_place() {
        let script = "echo $0 $PVMSOCK $PVMCTX $LD_LIBRARY_PATH; pwd; echo err >&2";
        let text = output(&launch("sh", &["-c", script]));
        assert!(text.starts_with("/bin/sh /run/some.sock 0x0 /opt/neopvm/lib"), "{text}");
        assert!(text.ends_with("/usr\nerr\n"), "{text}");
    }

    #[test]
    fn the_environment_can_be_replaced_as_a_whole() {
        let mut launch = launch("/bin/sh", &["-c", "echo ${HOME-none} $A"]);
        launch.whole_environment = true;
        launch.environment = vec!["A=b=c".into(), "=bad".into(), "bad".into()];
        assert_eq!(output(&launch), "none b=c\n");
    }

    #[test]
    fn a_missing_program_is_answered_with_the_paths_tried() {
        let error = start(&launch("no-such-program", &[]), &mut surroundings()).unwrap_err();
        assert_eq!(error.code, Code::NoFile);
        let expected = ["/nowhere/no-such-program", "/bin/no-such-program"];
        assert_eq!(error.tried, expected.map(Blob::from));
    }

    #[test]
    fn a_file_that_is_no_program_is_refused() {
        let error = start(&launch("/etc/passwd", &[]), &mut surroundings()).unwrap_err();
        assert_eq!(error.tried, ["/etc/passwd".into()]);
    }

    #[test]
    fn a_missing_folder_is_the_users_home() {
        let mut launch = launch("/bin/sh", &[]);
        launch.directory = "/no/such/folder".into();
        let around = surroundings();
        assert_ne!(directory(&launch, &around), Path::new("/no/such/folder"));
        launch.directory = "/usr".into();
        assert_eq!(directory(&launch, &around), Path::new("/usr"));
    }
}
