//! Starting a task: the program is looked for, its environment put together, its pipes made.

use crate::launch::child::{Program, Stack, Streams};
use pvm_core::io::Launch;
use pvm_wire::{Blob, Code};
use rustix::pipe::PipeFlags;
use rustix::process::Rlimit;
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The surroundings of every task of this host.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// Path of the local socket.
    pub(crate) socket: PathBuf,
    /// The user's home.
    pub(crate) home: PathBuf,
    /// The folder in which NeoPVM is installed.
    pub(crate) root: Option<PathBuf>,
    /// `/dev/null`, open.
    pub(crate) null: OwnedFd,
    /// The limit of open files that this process was started with.
    pub(crate) files: Rlimit,
    /// The environment of this process.
    pub(crate) environment: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The stack of a child until it runs its program.
    pub(crate) stack: Stack,
}

impl Surroundings {
    /// The environment of this process, as tasks inherit it.
    pub(crate) fn own_environment() -> BTreeMap<Vec<u8>, Vec<u8>> {
        std::env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec())).collect()
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
    /// The reason.
    pub(crate) code: Code,
    /// Paths tried.
    pub(crate) tried: Vec<Blob>,
}

/// Starts a program.
pub(crate) fn start(launch: &Launch, around: &mut Surroundings) -> Result<Child, LaunchError> {
    let file = find(launch)?;
    run(&file, launch, around).map_err(|error| {
        let code = code_of(&error);
        // A lack of the host is told in the system's words: open files, processes, room for
        // arguments.
        let why = (code == Code::OutOfRes).then(|| Blob(error.to_string().into_bytes()));
        let tried = [Blob(file.into_os_string().into_vec())].into_iter().chain(why).collect();
        LaunchError { code, tried }
    })
}

/// An absolute path is used as it is, a name is looked for in the folders of the search path. As in
/// PVM a path from an unknown place (`./a`, `b/a`) is found nowhere.
pub(crate) fn find(launch: &Launch) -> Result<PathBuf, LaunchError> {
    let file = Path::new(OsStr::from_bytes(&launch.file.0));
    let mut tried = Vec::new();
    let candidates: Vec<PathBuf> = if file.is_absolute() {
        vec![file.to_path_buf()]
    } else if launch.file.0.contains(&b'/') {
        tried.push(launch.file.clone());
        Vec::new()
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

/// The folder in which a task starts. As in PVM, it is the user's home if this host does not have
/// the wanted one. As in PVM a folder that this host does not have is the user's home.
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

fn environment(launch: &Launch, around: &Surroundings) -> std::io::Result<Vec<CString>> {
    let mut all = match launch.whole_environment {
        true => BTreeMap::new(),
        false => around.environment.clone(),
    };
    for (name, value) in GIVEN {
        all.insert(name.into(), value.into());
    }
    for pair in &launch.environment {
        let Some(at) = pair.0.iter().position(|byte| *byte == b'=').filter(|at| *at > 0) else {
            continue;
        };
        all.insert(pair.0[..at].to_vec(), pair.0[at + 1..].to_vec());
    }
    all.insert(b"PVMSOCK".to_vec(), around.socket.as_os_str().as_bytes().to_vec());
    all.insert(crate::processes::PARENT.into(), std::process::id().to_string().into_bytes());
    if let Some(root) = &around.root {
        let libraries = all.entry(b"LD_LIBRARY_PATH".to_vec()).or_default();
        let rest = std::mem::replace(libraries, root.join("lib").into_os_string().into_vec());
        if !rest.is_empty() {
            libraries.push(b':');
            libraries.extend(rest);
        }
    }
    all.into_iter().map(|(name, value)| text([name, vec![b'='], value].concat())).collect()
}

fn text(bytes: impl Into<Vec<u8>>) -> std::io::Result<CString> {
    Ok(CString::new(bytes)?)
}

fn run(file: &Path, launch: &Launch, around: &mut Surroundings) -> std::io::Result<Child> {
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
    let program = file.as_os_str().as_bytes();
    let debugger = Some(launch.debugger.0.as_slice()).filter(|debugger| !debugger.is_empty());
    let words = debugger.into_iter().chain([program]);
    let words = words.chain(launch.args.iter().map(|arg| arg.0.as_slice()));
    let program = Program {
        path: text(debugger.unwrap_or(program))?,
        arguments: words.map(text).collect::<Result<_, _>>()?,
        environment: environment(launch, around)?,
        directory: text(directory(launch, around).into_os_string().into_vec())?,
        files: around.files,
        group: launch.group,
    };
    let streams: Streams<'_> = [
        reader.as_ref().unwrap_or(&around.null).as_fd(),
        writer.as_fd(),
        errors_writer.as_ref().unwrap_or(&writer).as_fd(),
    ];
    // The child is waited for by its number, with all others.
    let pid = program.start(streams, &mut around.stack)?;
    Ok(Child { pid, outputs, input })
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
    use rustix::process::Resource;
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
            group: false,
            debugger: Blob::default(),
            cookie: 0,
        }
    }

    fn surroundings() -> Surroundings {
        Surroundings {
            socket: "/run/some.sock".into(),
            home: "/usr".into(),
            root: Some("/opt/neopvm".into()),
            null: std::fs::File::open("/dev/null").unwrap().into(),
            files: rustix::process::getrlimit(Resource::Nofile),
            environment: Surroundings::own_environment(),
            stack: Stack::new(),
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
    fn a_path_from_nowhere_is_not_looked_for_in_the_folders_of_the_search_path() {
        for file in ["./sh", "../bin/sh", "bin/sh"] {
            let mut launch = launch(file, &[]);
            launch.search.push("/".into());
            let error = find(&launch).unwrap_err();
            assert_eq!((error.code, error.tried), (Code::NoFile, vec![file.into()]));
        }
    }

    #[test]
    fn what_a_host_lacks_is_told_in_the_words_of_the_system() {
        let mut launch = launch("/bin/true", &[]);
        launch.environment = vec![Blob([b"A=".to_vec(), vec![b'x'; 1 << 20]].concat())];
        let error = start(&launch, &mut surroundings()).unwrap_err();
        assert_eq!(error.code, Code::OutOfRes);
        let why = error.tried.last().map(Blob::to_text).unwrap_or_default();
        assert!(why.contains("too long"), "{why}");
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
