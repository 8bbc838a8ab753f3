//! Tasks that have only a socket: their host's proxy gives them all that others have.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/place.rs"]
mod place;

use place::Place;
use pvm_wire::proxy::{Answer, Ask, PART_BYTES_MAX};
use pvm_wire::request::{Change, Reply, Request, Role, Welcome};
use pvm_wire::{
    Address, Blob, Code, Encoding, Envelope, FRAME_BYTES_MAX, FrameBuffer, Kind, Layout, Message,
    PROTOCOL_VERSION, RunList, Tid, Wire, write_frame,
};
use std::collections::BTreeMap;
use std::io::{BufRead as _, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Nothing here takes a tenth of it.
const TIME_MAX: Duration = Duration::from_secs(60);
/// Names the socket to the child of a test.
const SOCKET: &str = "NEOPVM_TEST_SOCKET";
const FOREVER: i64 = -1;

/// A machine of one host, and its local socket.
fn machine() -> (Place, PathBuf) {
    let place = Place::new();
    let up = place.command(&["up"]).output().unwrap();
    assert!(up.status.success(), "{}", String::from_utf8_lossy(&up.stderr));
    let mut socket = place.home().parent().unwrap().to_owned();
    while !socket.join("pvmd.sock").exists() {
        let next = std::fs::read_dir(&socket).unwrap().flatten().map(|entry| entry.path());
        socket = next.filter(|path| *path != place.home() && path.is_dir()).min().unwrap();
    }
    (place, socket.join("pvmd.sock"))
}

/// A task without shared memory.
struct Remote {
    socket: UnixStream,
    frames: FrameBuffer,
    next: u32,
    answers: BTreeMap<u32, Answer>,
    parts: Vec<u8>,
}

impl Remote {
    fn connect(path: &Path) -> Self {
        let socket = UnixStream::connect(path).unwrap();
        socket.set_read_timeout(Some(TIME_MAX)).unwrap();
        let frames = FrameBuffer::new(FRAME_BYTES_MAX);
        Self { socket, frames, next: 1, answers: BTreeMap::new(), parts: Vec::new() }
    }

    fn enrol(path: &Path) -> (Self, Welcome) {
        let mut remote = Self::connect(path);
        remote.say(
            1,
            &Request::Hello {
                version: PROTOCOL_VERSION,
                role: Role::Remote,
                program: Blob::from("remote"),
                reset: true,
                cookie: 0,
                layout: Layout::NATIVE,
            },
        );
        let (_, payload) = remote.frame().expect("an answer");
        match Reply::from_bytes(&payload).unwrap() {
            Reply::Welcome { welcome } => (remote, welcome),
            other => panic!("{other:?}"),
        }
    }

    fn say(&mut self, id: u32, value: &impl Wire) {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, id, value);
        self.socket.write_all(&bytes).unwrap();
    }

    /// The next frame; none at the end.
    fn frame(&mut self) -> Option<(u32, Vec<u8>)> {
        loop {
            if let Some((id, payload)) = self.frames.next_frame().ok()? {
                return Some((id, payload.to_vec()));
            }
            let mut bytes = vec![0; 64 << 10];
            match self.socket.read(&mut bytes).unwrap_or(0) {
                0 => return None,
                n => self.frames.push(&bytes[..n]),
            }
        }
    }

    fn ask(&mut self, ask: &Ask) -> u32 {
        self.next += 1;
        self.say(self.next, ask);
        self.next
    }

    fn answer(&mut self, id: u32) -> Answer {
        while !self.answers.contains_key(&id) {
            let (id, payload) = self.frame().expect("an answer");
            match Answer::from_bytes(&payload).unwrap() {
                Answer::Announced { .. } => self.say(id, &Ask::Fetch),
                Answer::Part { bytes } => self.parts.extend(bytes.0),
                Answer::Received { mut message } if !self.parts.is_empty() => {
                    message.body.0.splice(..0, std::mem::take(&mut self.parts));
                    self.answers.insert(id, Answer::Received { message });
                }
                answer => drop(self.answers.insert(id, answer)),
            }
        }
        self.answers.remove(&id).unwrap()
    }

    fn call(&mut self, ask: &Ask) -> Answer {
        let id = self.ask(ask);
        self.answer(id)
    }

    fn send(&mut self, to: Tid, tag: i32, body: Vec<u8>) {
        self.next += 1;
        let id = self.next;
        let mut message = bytes(body);
        while message.body.0.len() > PART_BYTES_MAX {
            let rest = message.body.0.split_off(PART_BYTES_MAX);
            let part = std::mem::replace(&mut message.body.0, rest);
            self.say(id, &Ask::Part { bytes: Blob(part) });
        }
        self.say(id, &Ask::Send { to: vec![to], context: 0, tag, message });
        assert_eq!(self.answer(id), Answer::Done);
    }

    fn host(&mut self, request: Request) -> Reply {
        match self.call(&Ask::Host { request }) {
            Answer::Host { reply } => reply,
            other => panic!("{other:?}"),
        }
    }
}

/// The end of the machine would end this process if it were a task by then.
impl Drop for Remote {
    fn drop(&mut self) {
        let mut leave = Vec::new();
        write_frame(&mut leave, u32::MAX, &Ask::Leave);
        let _ = self.socket.write_all(&leave);
        while self.frame().is_some() {}
    }
}

/// A message of bytes in the default encoding.
fn bytes(body: Vec<u8>) -> Message {
    let mut runs = RunList::new();
    runs.push(Kind::Byte, body.len());
    let mut envelope = Envelope::new(Tid::NONE, Address::untagged(Tid::NONE));
    envelope.describe(Encoding::Default, body.len(), &runs);
    Message { envelope, body: Blob(body) }
}

fn receive(tag: i32, limit: i64) -> Ask {
    Ask::Receive { context: 0, source: -1, tag, limit }
}

/// The body and the sender of what was received.
fn received(answer: Answer) -> (Vec<u8>, Tid) {
    match answer {
        Answer::Received { message } => (message.body.0, message.envelope.src),
        other => panic!("{other:?}"),
    }
}

fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + TIME_MAX;
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Proxies of the machine whose socket this is.
fn proxies(socket: &Path) -> usize {
    let wanted = format!("PVMSOCK={}", socket.display()).into_bytes();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let is_proxy = |path: PathBuf| {
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        let environment = std::fs::read(path.join("environ")).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(b"proxy")
            && environment.split(|byte| *byte == 0).any(|setting| setting == wanted)
    };
    processes.filter(|entry| is_proxy(entry.path())).count()
}

#[test]
fn messages_of_all_sizes_go_there_and_back_in_order() {
    let (_place, socket) = machine();
    let (mut a, welcome_a) = Remote::enrol(&socket);
    let (mut b, welcome_b) = Remote::enrol(&socket);
    assert_ne!(welcome_a.tid, welcome_b.tid);
    let bodies: Vec<Vec<u8>> = [1, 200, 70_000, PART_BYTES_MAX, 3 * PART_BYTES_MAX + 5]
        .map(|size| (0..=250).cycle().take(size).collect())
        .into();
    for body in &bodies {
        a.send(welcome_b.tid, 7, body.clone());
    }
    let Answer::Probed { envelope, bytes } = b.call(&Ask::Probe { context: 0, source: -1, tag: 7 })
    else {
        panic!("nothing to be probed");
    };
    assert_eq!((envelope.src, envelope.tag, bytes), (welcome_a.tid, 7, 4));
    assert_eq!(b.call(&receive(8, 0)), Answer::Done);
    for body in bodies {
        let (got, from) = received(b.call(&receive(7, FOREVER)));
        assert!(got == body && from == welcome_a.tid, "{} bytes", body.len());
        b.send(from, 9, got);
        assert!(received(a.call(&receive(9, FOREVER))).0 == body);
    }
}

#[test]
fn what_waits_holds_up_nothing_that_is_asked_later() {
    let (_place, socket) = machine();
    let (mut a, welcome) = Remote::enrol(&socket);
    let waiting: Vec<u32> = (0..20).map(|tag| a.ask(&receive(tag, FOREVER))).collect();
    for tag in (0..20).rev() {
        a.send(welcome.tid, tag, vec![tag as u8]);
    }
    for (tag, id) in waiting.into_iter().enumerate() {
        assert_eq!(received(a.answer(id)).0, [tag as u8]);
    }
    let Answer::Number { value } = a.call(&Ask::Join { group: Blob::from("g") }) else { panic!() };
    assert_eq!(value, 0);
    let members = a.call(&Ask::Members { group: Blob::from("g") });
    assert_eq!(members, Answer::Members { tids: vec![welcome.tid] });
    assert_eq!(a.call(&Ask::Barrier { group: Blob::from("g"), count: 1 }), Answer::Done);
    assert_eq!(a.call(&receive(-1, 1_000_000)), Answer::Done);
}

#[test]
fn a_receive_that_is_given_up_loses_no_message() {
    let (_place, socket) = machine();
    let (mut a, welcome) = Remote::enrol(&socket);
    for round in 0..20 {
        let id = a.ask(&receive(5, FOREVER));
        if round % 2 == 0 {
            a.send(welcome.tid, 5, vec![round]);
        }
        a.say(id, &Ask::Cancel);
        match a.answer(id) {
            Answer::Done => assert_eq!(round % 2, 1),
            answer => assert_eq!(received(answer).0, [round]),
        }
    }
}

/// Threads of the proxy of a machine with one such task.
fn threads(socket: &Path) -> usize {
    let wanted = format!("PVMSOCK={}", socket.display()).into_bytes();
    let is_proxy = |path: &PathBuf| {
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        let environment = std::fs::read(path.join("environ")).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(b"proxy")
            && environment.split(|byte| *byte == 0).any(|setting| setting == wanted)
    };
    let mut processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let proxy = processes.find(is_proxy).unwrap();
    std::fs::read_dir(proxy.join("task")).unwrap().count()
}

#[test]
fn ten_thousand_receives_that_wait_have_no_thread_each() {
    const RECEIVES: i32 = 10_000;
    let (_place, socket) = machine();
    let (mut a, welcome) = Remote::enrol(&socket);
    let waiting: Vec<u32> = (0..RECEIVES).map(|tag| a.ask(&receive(tag, FOREVER))).collect();
    // Answered in their order: all wait by now.
    assert_eq!(a.call(&receive(-1, 0)), Answer::Done);
    assert!(threads(&socket) < 10, "{} threads", threads(&socket));
    for tag in (0..RECEIVES).rev() {
        a.send(welcome.tid, tag, tag.to_ne_bytes().to_vec());
    }
    for (tag, id) in waiting.into_iter().enumerate() {
        assert_eq!(received(a.answer(id)).0, (tag as i32).to_ne_bytes());
    }
}

#[test]
fn a_limited_wait_that_begins_later_ends_earlier() {
    let (_place, socket) = machine();
    let (mut a, welcome) = Remote::enrol(&socket);
    let waiting = a.ask(&receive(1, FOREVER));
    let long = a.ask(&receive(2, 3_600_000_000_000));
    assert_eq!(a.call(&receive(3, 1_000_000)), Answer::Done);
    a.say(long, &Ask::Cancel);
    assert_eq!(a.answer(long), Answer::Done);
    a.send(welcome.tid, 1, vec![1]);
    assert_eq!(received(a.answer(waiting)).0, [1]);
}

#[test]
fn a_message_that_is_too_large_for_its_receiver_is_refused_and_stays() {
    let (_place, socket) = machine();
    let (mut a, welcome) = Remote::enrol(&socket);
    let large: Vec<u8> = (0..=250).cycle().take(2 * PART_BYTES_MAX).collect();
    a.send(welcome.tid, 7, large.clone());
    a.send(welcome.tid, 7, vec![1]);
    for _ in 0..2 {
        let id = a.ask(&receive(-1, FOREVER));
        let (same, payload) = a.frame().unwrap();
        let Answer::Announced { envelope, bytes } = Answer::from_bytes(&payload).unwrap() else {
            panic!("it is announced")
        };
        assert_eq!((same, envelope.tag, bytes), (id, 7, large.len() as u64));
        a.say(id, &Ask::Refuse);
    }
    // It is the first one still, for a probe and for a receive; and then it is gone.
    let probe = Ask::Probe { context: 0, source: -1, tag: 7 };
    let Answer::Probed { envelope, .. } = a.call(&probe) else { panic!("it is there") };
    assert_eq!((envelope.tag, envelope.src), (7, welcome.tid));
    assert!(received(a.call(&receive(7, FOREVER))).0 == large);
    assert_eq!(received(a.call(&receive(7, FOREVER))).0, [1]);
    a.send(welcome.tid, 7, large);
    let discard = Ask::Discard { context: 0, source: -1, tag: 7 };
    assert_eq!(a.call(&discard), Answer::Number { value: 1 });
    assert_eq!(a.call(&discard), Answer::Number { value: 0 });
}

#[test]
fn what_is_no_ask_ends_its_own_task_alone() {
    let (_place, socket) = machine();
    let (mut a, welcome_a) = Remote::enrol(&socket);
    let (mut b, welcome_b) = Remote::enrol(&socket);
    let notify = Request::Notify {
        kind: 1,
        cancel: false,
        context: 0,
        tag: 3,
        count: 0,
        tids: vec![welcome_b.tid],
    };
    assert_eq!(a.host(notify), Reply::Done);
    b.socket.write_all(&[2, 0, 0, 0, 9, 0, 0, 0, 0xff, 0xff]).unwrap();
    assert!(b.frame().is_none());
    let (notice, _) = received(a.call(&receive(3, FOREVER)));
    assert_eq!(notice, welcome_b.tid.0.to_ne_bytes());
    // Segments are the proxy's own affair.
    let own = a.call(&Ask::Host { request: Request::OpenSlab { bytes: 4096 } });
    assert_eq!(own, Answer::Failed { code: Code::NotImpl });
    a.send(welcome_a.tid, 1, vec![1]);
    assert_eq!(received(a.call(&receive(1, FOREVER))).0, [1]);
    drop((a, b));
    eventually("proxies end with their tasks", || proxies(&socket) == 0);
}

/// Not a test: what the next one starts as a process of its own.
#[test]
fn a_child_that_sends_and_waits() {
    let Some(socket) = std::env::var_os(SOCKET) else { return };
    let (mut remote, welcome) = Remote::enrol(Path::new(&socket));
    let Reply::Tasks { tasks } = remote.host(Request::Tasks { place: Tid::NONE }) else { return };
    for task in tasks.iter().filter(|task| task.tid != welcome.tid) {
        remote.send(task.tid, 1, std::process::id().to_ne_bytes().to_vec());
    }
    let waiting = remote.ask(&receive(2, FOREVER));
    remote.answer(waiting);
}

#[test]
fn a_task_that_is_killed_is_missed_behind_its_last_message() {
    let (place, socket) = machine();
    let (mut a, welcome) = Remote::enrol(&socket);
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "a_child_that_sends_and_waits"]).env(SOCKET, &socket);
    let mut child = child.stdout(Stdio::null()).spawn().unwrap();
    let (pid, from) = received(a.call(&receive(1, FOREVER)));
    assert_eq!(pid, child.id().to_ne_bytes());
    let Reply::Tasks { tasks } = a.host(Request::Tasks { place: Tid::NONE }) else { panic!() };
    let pids: BTreeMap<Tid, u32> = tasks.iter().map(|task| (task.tid, task.pid)).collect();
    assert_eq!(pids, BTreeMap::from([(welcome.tid, std::process::id()), (from, child.id())]));
    let notify =
        Request::Notify { kind: 1, cancel: false, context: 0, tag: 3, count: 0, tids: vec![from] };
    assert_eq!(a.host(notify), Reply::Done);
    // The signal goes to the task's own process, not to its proxy.
    assert_eq!(a.host(Request::Signal { tid: from, signal: 9 }), Reply::Done);
    assert_eq!(received(a.call(&receive(3, FOREVER))).0, from.0.to_ne_bytes());
    child.wait().unwrap();
    eventually("its proxy ends", || proxies(&socket) == 1);
    drop(a);
    assert!(place.command(&["halt"]).output().unwrap().status.success());
    eventually("proxies end with their host", || proxies(&socket) == 0);
    place.is_cleared();
}

#[test]
fn a_cancelled_take_takes_nothing_and_a_cancelled_barrier_does_not_count() {
    let (_place, socket) = machine();
    let (mut a, _) = Remote::enrol(&socket);
    let (mut b, _) = Remote::enrol(&socket);
    let (wait, take) = (32, 16);
    let get = |flags| {
        let request = Request::RecvInfo { name: "x".into(), index: 0, flags, context: 0 };
        Ask::Host { request }
    };
    let waiting = a.ask(&get(wait | take));
    a.say(waiting, &Ask::Cancel);
    assert_eq!(a.answer(waiting), Answer::Withdrawn);
    let put = Request::PutInfo { name: "x".into(), flags: 4, message: bytes(vec![1, 2]) };
    assert_eq!(b.host(put), Reply::Number { value: 0 });
    let there = a.call(&get(take));
    assert!(matches!(there, Answer::Host { reply: Reply::Info { .. } }), "{there:?}");

    let group = || Blob::from("g");
    for remote in [&mut a, &mut b] {
        remote.call(&Ask::Join { group: group() });
    }
    let barrier = || Ask::Barrier { group: group(), count: 2 };
    let waiting = a.ask(&barrier());
    a.say(waiting, &Ask::Cancel);
    assert_eq!(a.answer(waiting), Answer::Withdrawn);
    let left_alone = b.ask(&barrier());
    b.say(left_alone, &Ask::Cancel);
    assert_eq!(b.answer(left_alone), Answer::Withdrawn, "it was met by one that had given up");
    let together = [a.ask(&barrier()), b.ask(&barrier())];
    assert_eq!([a.answer(together[0]), b.answer(together[1])], [Answer::Done, Answer::Done]);
}

/// The task whose memory [`a_task_without_shared_memory_reaches_what_others_expose`] reaches: run
/// as a child only.
#[test]
fn a_child_that_exposes_memory() {
    if std::env::var_os(SOCKET).is_none() {
        return;
    }
    let task = pvm::Task::enrol(b"owner", true).unwrap();
    task.expose(7, 3 << 20, true).unwrap();
    task.expose(8, 8, false).unwrap();
    println!("exposed by {}", task.tid().as_c_int());
    std::thread::sleep(TIME_MAX);
}

#[test]
fn a_task_without_shared_memory_reaches_what_others_expose() {
    let (_place, socket) = machine();
    let (mut a, welcome) = Remote::enrol(&socket);
    let mut owner = Command::new(std::env::current_exe().unwrap());
    owner.args(["--exact", "--nocapture", "a_child_that_exposes_memory"]);
    owner.env(SOCKET, &socket).env("PVMSOCK", &socket);
    let mut owner = owner.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufReader::new(owner.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("exposed by")));
    let Reply::Tasks { tasks } = a.host(Request::Tasks { place: Tid::NONE }) else { panic!() };
    let tid = tasks.iter().find(|task| task.tid != welcome.tid).unwrap().tid;

    let describe = |number| Request::DescribeMemory { owner: tid, number };
    assert_eq!(a.host(describe(7)), Reply::Exposed { bytes: 3 << 20, writable: true });
    let body: Vec<u8> = (0..=250).cycle().take(PART_BYTES_MAX).collect();
    let put = |number, bytes| Request::PutMemory { owner: tid, number, offset: 100, bytes };
    let get = |offset, bytes| Request::GetMemory { owner: tid, number: 7, offset, bytes };
    let change = |offset, change| Request::ChangeMemory { owner: tid, number: 7, offset, change };
    assert_eq!(a.host(put(7, Blob(body.clone()))), Reply::Done);
    assert_eq!(a.host(get(100, PART_BYTES_MAX as u32)), Reply::Memory { bytes: Blob(body) });
    for before in [0, 1] {
        assert_eq!(a.host(change(8, Change::Add8 { add: 1 })), Reply::Word { before });
    }
    let exchange = change(8, Change::Exchange4 { expected: 2, wanted: u32::MAX });
    assert_eq!(a.host(exchange), Reply::Word { before: 2 });
    for (request, code) in [
        (get(0, 1 + PART_BYTES_MAX as u32), Code::BadParam),
        (get((3 << 20) - 3, 4), Code::BadParam),
        (change(4, Change::Add8 { add: 1 }), Code::BadParam),
        (put(8, Blob::from("x")), Code::BadParam),
        (Request::PutMemory { owner: tid, number: 8, offset: 0, bytes: "x".into() }, Code::Denied),
        (describe(9), Code::NotFound),
        (Request::Expose { number: 1, bytes: 100 }, Code::NotImpl),
    ] {
        let ask = Ask::Host { request };
        assert_eq!(a.call(&ask), Answer::Failed { code }, "{ask:?}");
    }
    owner.kill().unwrap();
    owner.wait().unwrap();
    eventually("the end of its owner is told", || {
        a.call(&Ask::Host { request: get(0, 4) }) == Answer::Failed { code: Code::NoTask }
    });
}
