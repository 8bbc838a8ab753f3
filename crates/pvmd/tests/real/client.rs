//! A small speaker of the request protocol, and a host to speak to.

use pvm_wire::request::{Inherited, Reply, Request, Role, SpawnRequest, Target, TraceOptions};
use pvm_wire::{Blob, FrameBuffer, Layout, PROTOCOL_VERSION, Tid, Wire, write_frame};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use testbed::Place;

/// No answer takes longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A first host of its own machine, ended and cleaned up when dropped.
pub(crate) struct Host {
    pub(crate) process: Child,
    pub(crate) socket: PathBuf,
    pub(crate) place: Arc<Place>,
}

impl Host {
    pub(crate) fn start() -> Self {
        Self::start_in(&Arc::new(Place::new()))
    }

    pub(crate) fn start_in(place: &Arc<Place>) -> Self {
        Self::start_as(command(place).arg("--bound"), place)
    }

    /// Starts a client after these words of a shell, such as `ulimit -Sn 64`.
    pub(crate) fn start_behind(words: &str) -> Self {
        let place = Arc::new(Place::new());
        Self::start_as(&mut behind(words, &place), &place)
    }

    pub(crate) fn start_as(command: &mut Command, place: &Arc<Place>) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let socket = PathBuf::from(line.trim_end());
        assert!(socket.is_absolute(), "no path of a socket: {line:?}");
        Self { process, socket, place: place.clone() }
    }

    /// The logs of all hosts of the machine.
    pub(crate) fn logs(&self) -> String {
        let machine = self.socket.parent().and_then(Path::parent).unwrap();
        let hosts = std::fs::read_dir(machine).into_iter().flatten().flatten();
        let logs = hosts.filter_map(|host| std::fs::read_to_string(host.path().join("pvml")).ok());
        logs.collect()
    }

    /// Process id of the daemon.
    pub(crate) fn daemon(&self) -> u32 {
        daemon_of(self.process.id()).expect("the parent has a daemon")
    }

    /// PVM_TMP.
    pub(crate) fn folder(&self) -> PathBuf {
        self.place.runtime()
    }

    /// True once nothing of the host is left on disk.
    pub(crate) fn is_clean(&self) -> bool {
        std::fs::read_dir(self.folder()).unwrap().next().is_none()
    }

    /// Waits for the parent's end and gives its exit status.
    pub(crate) fn wait(&mut self) -> Option<i32> {
        let mut code = None;
        until("the parent ends", || {
            let status = self.process.try_wait().unwrap();
            code = status.and_then(|status| status.code());
            status.is_some()
        });
        code
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- logs ---\n{}", self.logs());
        }
        drop(self.process.stdin.take());
        let until = Instant::now() + Duration::from_secs(5);
        while Instant::now() < until && matches!(self.process.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// `pvmd` in that place.
pub(crate) fn command(place: &Place) -> Command {
    let mut command = place.command(env!("CARGO_BIN_EXE_pvmd"));
    command.env("PVM_ROOT", "/opt/neopvm");
    command
}

/// `pvmd --bound` in that place, behind these words of a shell.
pub(crate) fn behind(words: &str, place: &Place) -> Command {
    let mut shell = place.command("/bin/sh");
    let script = format!("{words}; exec {} --bound", env!("CARGO_BIN_EXE_pvmd"));
    shell.args(["-c", &script]);
    shell
}

/// The children of a process.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    text.unwrap().split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

/// The daemon of a parent, if it has one now.
pub(crate) fn daemon_of(parent: u32) -> Option<u32> {
    children(parent).into_iter().find(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.windows(8).any(|word| word == b"--daemon")
    })
}

/// Waits for something to become true.
#[track_caller]
pub(crate) fn until(what: &str, mut ready: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !ready() {
        assert!(Instant::now() < end, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A connection to the local socket.
pub(crate) struct Client {
    stream: UnixStream,
    frames: FrameBuffer,
    pub(crate) descriptors: VecDeque<OwnedFd>,
    waiting: VecDeque<(u32, Reply)>,
    last: u32,
    is_task: bool,
}

impl Drop for Client {
    /// A host that ends ends its tasks: the test must not be one of them then.
    fn drop(&mut self) {
        if self.is_task {
            self.ask(&Request::Leave);
        }
    }
}

impl Client {
    pub(crate) fn connect(host: &Host) -> Self {
        Self::connect_to(&host.socket)
    }

    pub(crate) fn connect_to(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            stream,
            frames: FrameBuffer::new(pvm_wire::FRAME_BYTES_MAX),
            descriptors: VecDeque::new(),
            waiting: VecDeque::new(),
            last: 0,
            is_task: false,
        }
    }

    /// Says hello as a command.
    pub(crate) fn operator(host: &Host) -> Self {
        let mut client = Self::connect(host);
        let reply = client.hello(Role::Operator, PROTOCOL_VERSION);
        assert!(matches!(reply, Reply::Ready { .. }), "{reply:?}");
        client
    }

    pub(crate) fn hello(&mut self, role: Role, version: u16) -> Reply {
        let program = Blob::from("test");
        let layout = Layout::NATIVE;
        let hello = Request::Hello { version, role, program, reset: true, cookie: 0, layout };
        let reply = self.ask(&hello);
        self.is_task = matches!(reply, Reply::Welcome { .. });
        reply
    }

    pub(crate) fn ask(&mut self, request: &Request) -> Reply {
        let id = self.send(request);
        self.answer(id)
    }

    pub(crate) fn send(&mut self, request: &Request) -> u32 {
        self.last += 1;
        let mut out = Vec::new();
        write_frame(&mut out, self.last, request);
        self.stream.write_all(&out).unwrap();
        self.last
    }

    /// Sends bytes that may be no request.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// The next answer to the request with this number.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: u32) -> Reply {
        loop {
            if let Some(at) = self.waiting.iter().position(|(number, _)| *number == id) {
                return self.waiting.remove(at).unwrap().1;
            }
            assert!(self.receive(), "the connection was closed");
        }
    }

    /// True where the other side has closed the connection.
    pub(crate) fn is_closed(&mut self) -> bool {
        while self.receive() {}
        true
    }

    fn receive(&mut self) -> bool {
        let mut bytes = [0; 65536];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut slices = [IoSliceMut::new(&mut bytes)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let received = rustix::net::recvmsg(&self.stream, &mut slices, &mut control, flags);
        let n = match received {
            Ok(received) => received.bytes,
            Err(rustix::io::Errno::CONNRESET) => 0,
            Err(error) => panic!("no answer: {error}"),
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.descriptors.extend(descriptors);
            }
        }
        self.frames.push(&bytes[..n]);
        while let Some((id, payload)) = self.frames.next_frame().unwrap() {
            self.waiting.push_back((id, Reply::from_bytes(payload).unwrap()));
        }
        n > 0
    }
}

/// A spawn request without wishes.
pub(crate) fn spawn_request(file: &str, args: &[&str]) -> SpawnRequest {
    let nowhere = || Target { tid: Tid::NONE, context: 0, tag: 0 };
    let trace = TraceOptions { target: nowhere(), buffer: 0, options: 0, mask: Blob::default() };
    SpawnRequest {
        file: file.into(),
        args: args.iter().map(|arg| Blob::from(*arg)).collect(),
        flags: 0,
        place: Blob::default(),
        count: 1,
        environment: Vec::new(),
        whole_environment: false,
        directory: Blob::default(),
        inherited: Inherited { context: 0, output: nowhere(), trace },
    }
}

/// `pvm run` of a shell script.
pub(crate) fn run_script(script: &str) -> Request {
    Request::Run { spawn: spawn_request("/bin/sh", &["-c", script]) }
}
