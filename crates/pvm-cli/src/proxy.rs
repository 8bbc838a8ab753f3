//! `pvm proxy`: a task's shared memory, for a task that has only a socket ([`pvm_wire::proxy`]).
//!
//! The daemon starts it with that socket as its standard input. It enrols for the task, and then
//! does what it is asked with the same library that other tasks use. It ends with the task, and
//! with the host.
//!
//! One thread *leads*: it reads an ask, answers it and reads the next. Where it has to wait for
//! other tasks it lets another one lead meanwhile. So nobody waits for a thread to be woken but who
//! waits anyway. Receives that wait have one thread together ([`receiving`]), other calls that wait
//! one each.

mod memory;
mod noting;
mod receiving;
mod socket;
mod waiting;

use crate::failure::{Failure, Status};
use crate::options::ProxyOptions;
use crate::show::remark;
use noting::Call;
use pvm::group::barrier::BarrierWait;
use pvm::{Buffer, Deadline, Pattern, Policy, Step, Task, WaitToken, Waiting};
use pvm_wire::proxy::{Answer, Ask};
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Address, Blob, Code, Context, Message, Tag, Tid};
use receiving::{Looking, Receiver};
use socket::{Asks, Voice, lock};
use std::collections::BTreeMap;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::Builder;

/// Calls of the task, other than receives, that may wait at the same time.
const THREADS_MAX: usize = 4096;
/// Threads that are kept for later.
const IDLE_MAX: usize = 4;
/// The wait of a call is not deep.
const STACK_BYTES: usize = 256 << 10;

struct Proxy {
    task: &'static Task,
    asks: Mutex<Asks>,
    voice: Arc<Voice>,
    threads: AtomicUsize,
    /// Threads that are about to lead.
    idle: AtomicUsize,
    receiver: Receiver,
    /// Further asks that wait and can be cancelled, by their numbers: true once an ask is to end.
    waiting: Mutex<BTreeMap<u32, Arc<AtomicBool>>>,
}

/// The asks that take time, while another thread leads.
enum Rest {
    Ask(u32, Box<Ask>),
    Watch,
}

/// Speaks for the task at the other end of standard input, until its end.
///
/// # Errors
/// Standard input is no socket, or this was not started by a daemon.
pub(crate) fn run(options: &ProxyOptions) -> Result<ExitCode, Failure> {
    let failed = |text: String| Failure::new(Status::Daemon, format!("pvm proxy: {text}"));
    end_with(options.host).map_err(failed)?;
    let stdin = std::io::stdin().as_fd().try_clone_to_owned();
    let socket = UnixStream::from(stdin.map_err(|error| failed(error.to_string()))?);
    let answers = socket.set_nonblocking(false).and_then(|()| socket.try_clone());
    let mut answers = answers.map_err(|error| failed(error.to_string()))?;
    let task = match Task::enrol(options.program.as_bytes(), !options.no_reset) {
        Ok(task) => task,
        Err(code) => {
            let reason = format!("the proxy could not enrol: {code}");
            let _ = frame_of_host(&mut answers, options.id, &Reply::Refused { code, reason });
            return Ok(ExitCode::FAILURE);
        }
    };
    // What it does is the task's program's, which has no turns.
    task.take_no_turns();
    let welcome = Reply::Welcome { welcome: task.welcome().clone() };
    frame_of_host(&mut answers, options.id, &welcome).map_err(|error| failed(error.to_string()))?;
    let voice = Arc::new(Voice::new(answers));
    let proxy: &'static Proxy = Box::leak(Box::new(Proxy {
        task,
        asks: Mutex::new(Asks::new(socket)),
        receiver: Receiver::new(task, voice.clone()),
        voice,
        threads: AtomicUsize::new(1),
        idle: AtomicUsize::new(0),
        waiting: Mutex::default(),
    }));
    proxy.lead();
    // The first thread is one of many: the last word is said by the one that hears the end.
    loop {
        std::thread::park();
    }
}

/// Has this process end with the one that started it.
pub(crate) fn end_with(host: i32) -> Result<(), String> {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    // It may have ended before.
    let still = getppid().is_some_and(|parent| parent.as_raw_nonzero().get() == host);
    if still { Ok(()) } else { Err("only the daemon starts this command".to_owned()) }
}

fn frame_of_host(socket: &mut UnixStream, id: u32, reply: &Reply) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    pvm_wire::write_frame(&mut bytes, id, reply);
    std::io::Write::write_all(socket, &bytes)
}

/// True for a number that is written like a task's and that no task has (host 0): what is sent
/// there is lost, as in PVM.
const fn is_nobodys(tid: Tid) -> bool {
    tid.may_be_task() && !tid.is_task()
}

fn done(result: Result<(), Code>) -> Answer {
    result.map_or_else(|code| Answer::Failed { code }, |()| Answer::Done)
}

fn number(result: Result<i32, Code>) -> Answer {
    result.map_or_else(|code| Answer::Failed { code }, |value| Answer::Number { value })
}

fn pattern(context: Context, source: i32, tag: Tag) -> Pattern {
    let source = (source != -1).then(|| Tid::from_c_int(source));
    Pattern { context: context.0, source, tag: (tag != Tag(-1)).then_some(tag.0) }
}

impl Proxy {
    /// Leads, again and again, while there is use for this thread.
    fn lead(&'static self) {
        loop {
            if self.idle.fetch_add(1, Ordering::AcqRel) >= IDLE_MAX {
                break;
            }
            let mut asks = lock(&self.asks);
            self.idle.fetch_sub(1, Ordering::AcqRel);
            let rest = loop {
                let (id, ask) = self.next(&mut asks);
                if let Some(rest) = self.answer_at_once(id, ask) {
                    break rest;
                }
            };
            let followed = self.is_followed();
            drop(asks);
            match rest {
                Rest::Ask(id, ask) => {
                    let refused = Answer::Failed { code: Code::OutOfRes };
                    let answer = if followed { self.wait_for(id, *ask) } else { refused };
                    lock(&self.waiting).remove(&id);
                    self.voice.say(id, answer);
                }
                Rest::Watch if followed => self.receiver.watch(),
                Rest::Watch => self.receiver.watch_nothing(),
            }
        }
        self.idle.fetch_sub(1, Ordering::AcqRel);
        self.threads.fetch_sub(1, Ordering::AcqRel);
    }

    fn next(&self, asks: &mut Asks) -> (u32, Ask) {
        match asks.next() {
            Ok(next) => next,
            // The task is gone, and its host knows that by its process. Or it has left.
            Err(error) => {
                if error.kind() == std::io::ErrorKind::InvalidData {
                    remark(format_args!("pvm proxy: {}: {error}", self.task.tid()));
                }
                std::process::exit(0);
            }
        }
    }

    /// True if another thread leads once this one does not.
    fn is_followed(&'static self) -> bool {
        if self.idle.load(Ordering::Acquire) > 0 {
            return true;
        }
        if self.threads.fetch_add(1, Ordering::AcqRel) < THREADS_MAX {
            let thread = Builder::new().stack_size(STACK_BYTES).spawn(|| self.lead());
            if thread.is_ok() {
                return true;
            }
        }
        self.threads.fetch_sub(1, Ordering::AcqRel);
        false
    }

    /// Answers what needs no waiting; gives back what does.
    fn answer_at_once(&self, id: u32, ask: Ask) -> Option<Rest> {
        let call = Call::begin(self.task, &ask);
        let rest = self.answer_this_at_once(id, ask);
        call.end(rest.is_none());
        rest
    }

    fn answer_this_at_once(&self, id: u32, ask: Ask) -> Option<Rest> {
        let answer = match ask {
            Ask::Send { to, context, tag, message } if to.len() == 1 => {
                let address = Address { to: to[0], tag: Tag(tag), context: Context(context) };
                match self.send_at_once(message, address) {
                    Ok(None) => Answer::Done,
                    Ok(Some(message)) => {
                        let ask = Ask::Send { to, context, tag, message };
                        return Some(Rest::Ask(id, Box::new(ask)));
                    }
                    Err(code) => Answer::Failed { code },
                }
            }
            Ask::Receive { context, source, tag, limit } => {
                return self.look(id, &pattern(Context(context), source, Tag(tag)), limit);
            }
            Ask::Probe { context, source, tag } => {
                let probed = self.receiver.probe(&pattern(Context(context), source, Tag(tag)));
                probed.unwrap_or_else(|code| Answer::Failed { code })
            }
            Ask::Discard { context, source, tag } => {
                number(self.receiver.discard(&pattern(Context(context), source, Tag(tag))))
            }
            Ask::Cancel => return self.no_answer(Self::cancel, id),
            Ask::Fetch => return self.no_answer(|proxy, id| proxy.receiver.fetch(id), id),
            Ask::Refuse => return self.no_answer(|proxy, id| proxy.receiver.refuse(id), id),
            Ask::WhenFull { policy } => number(self.set_policy(policy)),
            Ask::Leave => {
                let left = self.task.leave();
                self.voice.say(id, done(left));
                std::process::exit(0);
            }
            Ask::Say { saying, name, value, total } => {
                noting::note(self.task, saying, &name.0, (value, total));
                return None;
            }
            // Taken out of the stream before.
            Ask::Part { .. } => return None,
            ask => {
                if matches!(ask, Ask::Host { .. } | Ask::Barrier { .. } | Ask::Freeze { .. }) {
                    // From here on a cancel finds it.
                    lock(&self.waiting).insert(id, Arc::default());
                }
                return Some(Rest::Ask(id, Box::new(ask)));
            }
        };
        self.voice.say(id, answer);
        None
    }

    /// Set once the ask with this number is cancelled.
    fn cancelled(&self, id: u32) -> Arc<AtomicBool> {
        lock(&self.waiting).get(&id).cloned().unwrap_or_default()
    }

    fn cancel(&self, id: u32) {
        if let Some(cancelled) = lock(&self.waiting).get(&id) {
            cancelled.store(true, Ordering::Release);
            return self.task.nudge();
        }
        self.receiver.give_up(id);
    }

    /// Does what gets no answer of its own.
    fn no_answer(&self, what: impl FnOnce(&Self, u32), id: u32) -> Option<Rest> {
        what(self, id);
        None
    }

    fn look(&self, id: u32, pattern: &Pattern, limit: i64) -> Option<Rest> {
        match self.receiver.receive(id, pattern, limit) {
            Ok((served, looked)) => {
                self.voice.say_all(served);
                match looked {
                    Looking::Found(answer) => self.voice.say(id, answer),
                    Looking::Waits => {}
                    Looking::Watch => return Some(Rest::Watch),
                }
            }
            Err(code) => self.voice.say(id, Answer::Failed { code }),
        }
        None
    }

    /// The message again if it has to wait.
    fn send_at_once(&self, message: Message, to: Address) -> Result<Option<Message>, Code> {
        let mut buffer = Buffer::from_message(message)?;
        if is_nobodys(to.to) {
            return Ok(None);
        }
        let sent = self.task.send_at_once(&mut buffer, to)?;
        Ok(if sent { None } else { Some(buffer.to_message()?) })
    }

    fn set_policy(&self, policy: i32) -> Result<i32, Code> {
        let old = self.task.policy() as i32;
        match u32::try_from(policy).ok().and_then(Policy::from_number) {
            Some(policy) => self.task.set_policy(policy).map(|()| old),
            None => Ok(old),
        }
    }

    /// Carries out an ask that may take its time.
    fn wait_for(&self, id: u32, ask: Ask) -> Answer {
        let call = Call::begin(self.task, &ask);
        let answer = self.wait_for_this(id, ask);
        call.end(true);
        answer
    }

    fn wait_for_this(&self, id: u32, ask: Ask) -> Answer {
        let task = self.task;
        match ask {
            Ask::Host { request } => match self.host(id, &request) {
                Ok(Reply::Withdrawn) => Answer::Withdrawn,
                Ok(reply) => Answer::Host { reply },
                Err(code) => Answer::Failed { code },
            },
            Ask::Send { to, context, tag, message } => {
                let (tag, context) = (Tag(tag), Context(context));
                done(Buffer::from_message(message).and_then(|mut buffer| match to[..] {
                    [to] if is_nobodys(to) => Ok(()),
                    [to] => task.send(&mut buffer, Address { to, tag, context }),
                    _ => {
                        let to: Vec<Tid> = to.into_iter().filter(|&to| !is_nobodys(to)).collect();
                        task.multicast(&mut buffer, &to, tag, context)
                    }
                }))
            }
            Ask::Broadcast { group, context, tag, message } => {
                done(Buffer::from_message(message).and_then(|mut buffer| {
                    task.broadcast(&mut buffer, &group.0, Tag(tag), Context(context))
                }))
            }
            Ask::Join { group } => number(task.join_group(&group.0)),
            Ask::LeaveGroup { group } => done(task.leave_group(&group.0)),
            Ask::Members { group } => match task.members(&group.0) {
                Ok(members) => Answer::Members { tids: members.tids.clone() },
                Err(code) => Answer::Failed { code },
            },
            Ask::Freeze { group, size } => match self.freeze(id, group, size) {
                Ok(Some(count)) => Answer::Number { value: count },
                Ok(None) => Answer::Withdrawn,
                Err(code) => Answer::Failed { code },
            },
            Ask::Barrier { group, count } => {
                self.barrier(id, &group.0, count).unwrap_or_else(|code| Answer::Failed { code })
            }
            // Answered at once.
            Ask::Part { .. }
            | Ask::Receive { .. }
            | Ask::Probe { .. }
            | Ask::Discard { .. }
            | Ask::Cancel
            | Ask::Fetch
            | Ask::Refuse
            | Ask::WhenFull { .. }
            | Ask::Say { .. }
            | Ask::Leave => Answer::Failed { code: Code::BadParam },
        }
    }

    /// Asks the host what a library would ask. Segments are the proxy's own affair.
    fn host(&self, id: u32, request: &Request) -> Result<Reply, Code> {
        match request {
            Request::Config
            | Request::Tasks { .. }
            | Request::Spawn { .. }
            | Request::Signal { .. }
            | Request::TaskStatus { .. }
            | Request::HostStatus { .. }
            | Request::AddHosts { .. }
            | Request::DelHosts { .. }
            | Request::Notify { .. }
            | Request::PutInfo { .. }
            | Request::RecvInfo { .. }
            | Request::DelInfo { .. }
            | Request::MailboxInfo { .. }
            | Request::Groups
            | Request::NewContext
            | Request::FreeContext { .. }
            | Request::HostClock { .. }
            | Request::SetOutput { .. }
            | Request::SetReset { .. }
            | Request::Halt => self.ask_host(id, request),
            _ => memory::reach(self.task, request),
        }
    }

    /// The answer; once the ask is cancelled, what the host says to that.
    fn ask_host(&self, id: u32, request: &Request) -> Result<Reply, Code> {
        let question = self.task.ask(request)?;
        let uncancelled = Uncancelled(self.cancelled(id));
        let look = |token| Ok(Step::of(self.task.answer(question)?, token));
        match self.task.until(uncancelled, look)? {
            Some(reply) => Ok(reply),
            None => Ok(self.task.give_up(question)?.unwrap_or(Reply::Withdrawn)),
        }
    }

    /// Returns the number of members that were frozen; none once the ask is cancelled.
    fn freeze(&self, id: u32, group: Blob, size: i32) -> Result<Option<i32>, Code> {
        let name = group.0.clone();
        match self.ask_host(id, &Request::FreezeGroup { group, size })? {
            Reply::Withdrawn => Ok(None),
            Reply::Failed { code } => Err(code),
            _ => self.task.keep_frozen(&name).map(Some),
        }
    }

    fn barrier(&self, id: u32, group: &[u8], count: i32) -> Result<Answer, Code> {
        let task = self.task;
        let mut waiting = task.enter_barrier(group, count)?;
        let look = |waiting: &mut BarrierWait, token| {
            *waiting = task.look_at_barrier(*waiting, group, count)?;
            Ok(waiting.step(token))
        };
        let uncancelled = Uncancelled(self.cancelled(id));
        let mut met = task.until(uncancelled, |token| look(&mut waiting, token))?;
        if met.is_none() {
            waiting = task.leave_barrier(waiting)?;
            met = task.until(Deadline::Never, |token| look(&mut waiting, token))?;
        }
        Ok(if met == Some(true) { Answer::Done } else { Answer::Withdrawn })
    }
}

/// A wait without an end but the cancellation of its ask.
struct Uncancelled(Arc<AtomicBool>);

impl Waiting<Code> for Uncancelled {
    fn is_over(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn sleep(&mut self, task: &Task, token: WaitToken) -> Result<(), Code> {
        task.wait(token, Deadline::Never).map(drop)
    }
}
