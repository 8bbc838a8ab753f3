//! The stage on which a program is rehearsed, or a network is calibrated: tasks of this machine
//! that play parts.

use super::said::{DONE, GO, READY, SCRIPT, STAGE, TASKS, bytes, say};
use super::script::Script;
use crate::failure::{Failure, Status};
use crate::operator::Operator;
use pvm::{Buffer, Deadline, Pattern, Task};
use pvm_wire::request::{Inherited, Reply, Request, SpawnRequest, Target, TraceOptions};
use pvm_wire::{Blob, Code, Kind, Tid};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The notice that a part has ended.
const ENDED: i32 = 8;
const TASK_EXIT: i32 = 1;
const TERMINATE: i32 = 15;
const TASK_HOST: i32 = 1;
/// The interval at which the user's input is read.
const LOOK: Duration = Duration::from_millis(100);

/// The hosts of the parts, and the route of their messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Setting {
    /// Names of hosts, in turns; none: all of them.
    pub(super) hosts: Vec<String>,
    /// Messages between hosts go by direct routes.
    pub(super) direct: bool,
}

/// The report of a part.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Played {
    /// From the common begin to its end, in seconds.
    pub(super) seconds: f64,
    /// The part of that time that it slept.
    pub(super) slept: f64,
    /// When it entered which section.
    pub(super) sections: Vec<(u32, f64)>,
}

/// Runs scripts, one for each task, as tasks of the machine; they begin together.
pub(super) fn play(
    scripts: &[Script],
    setting: &Setting,
    stop: &AtomicBool,
) -> Result<Vec<Played>, Failure> {
    let advice = "`pvm predict check TRACE` tells whether each receive has its send";
    let mut stage = Stage::open("rehearsal", advice, stop)?;
    let played = stage.rehearse(scripts, setting);
    stage.close(played)
}

/// Parts that this process has started, and hears.
pub(super) struct Stage<'a> {
    /// The purpose of the stage, for messages.
    name: &'static str,
    /// A command for a user whose part has died.
    advice: &'static str,
    task: &'static Task,
    parts: Vec<Tid>,
    /// The host that was asked for, by part; empty where the machine chose.
    hosts: Vec<String>,
    stop: &'a AtomicBool,
}

impl<'a> Stage<'a> {
    /// One without parts.
    pub(super) fn open(
        name: &'static str,
        advice: &'static str,
        stop: &'a AtomicBool,
    ) -> Result<Self, Failure> {
        // Finds out what is wrong if no machine runs, or its daemon does not answer.
        drop(Operator::connect()?);
        let refused = |code| Failure::refused(name, code);
        let task = Task::enrol(b"pvm predict", false).map_err(refused)?;
        task.be_unrecorded();
        Ok(Self { name, advice, task, parts: Vec::new(), hosts: Vec::new(), stop })
    }

    /// The end: parts of what failed are ended.
    pub(super) fn close<T>(self, done: Result<T, Failure>) -> Result<T, Failure> {
        if done.is_err() {
            self.end();
        }
        let left = self.task.leave().map_err(|code| self.refused(code));
        done.and_then(|done| left.map(|()| done))
    }

    pub(super) fn refused(&self, code: Code) -> Failure {
        Failure::refused(self.name, code)
    }

    fn rehearse(&mut self, scripts: &[Script], setting: &Setting) -> Result<Vec<Played>, Failure> {
        let more: &[&str] = if setting.direct { &[] } else { &["--routed"] };
        for number in 0..scripts.len() {
            let host = match setting.hosts.len() {
                0 => "",
                hosts => setting.hosts[number % hosts].as_str(),
            };
            self.start(host, more)?;
        }
        self.watch()?;
        let all: Vec<u8> = self.parts.iter().flat_map(|tid| tid.0.to_le_bytes()).collect();
        for (part, script) in scripts.iter().enumerate() {
            self.tell(part, SCRIPT, &script.to_bytes())?;
            self.tell(part, TASKS, &all)?;
        }
        let everybody: Vec<usize> = (0..self.parts.len()).collect();
        self.gather(READY, &everybody)?;
        everybody.iter().try_for_each(|part| self.tell(*part, GO, &[]))?;
        let told = self.gather(DONE, &everybody)?;
        told.iter().map(|told| played(told).ok_or_else(|| self.refused(Code::NoData))).collect()
    }

    /// Starts a part on a host, or where the machine likes, and gives its task.
    pub(super) fn start(&mut self, host: &str, more: &[&str]) -> Result<Tid, Failure> {
        let program = std::env::current_exe()?;
        let own = self.task.tid().0.to_string();
        let args = [&["predict", "part", "--of", own.as_str()], more].concat();
        let spawn = request(program.as_os_str().as_encoded_bytes(), &args, host);
        let reply = self.task.request(&Request::Spawn { spawn });
        let reply = reply.map_err(|code| self.refused(code))?;
        let Reply::Spawned { outcomes, .. } = reply else {
            return Err(self.refused(Code::SysErr));
        };
        let part = self.started(&outcomes, &program, host)?;
        self.parts.push(part);
        self.hosts.push(host.to_owned());
        Ok(part)
    }

    /// Asks for a notice of each part's end.
    pub(super) fn watch(&self) -> Result<(), Failure> {
        let (kind, cancel, context, tag, count) = (TASK_EXIT, false, STAGE, ENDED, 0);
        let tids = self.parts.clone();
        let notify = Request::Notify { kind, cancel, context, tag, count, tids };
        self.task.request(&notify).map(drop).map_err(|code| self.refused(code))
    }

    /// Says something to a part.
    pub(super) fn tell(&self, part: usize, tag: i32, bytes: &[u8]) -> Result<(), Failure> {
        say(self.task, self.parts[part], tag, bytes).map_err(|code| self.refused(code))
    }

    /// The answers of some parts with a tag, in the order of `of`.
    pub(super) fn gather(&self, tag: i32, of: &[usize]) -> Result<Vec<Vec<u8>>, Failure> {
        let mut told: Vec<Option<Vec<u8>>> = vec![None; of.len()];
        let pattern = Pattern { context: STAGE, source: None, tag: None };
        while told.iter().any(Option::is_none) {
            if self.is_stopped() {
                let text = format!("{}: interrupted", self.name);
                return Err(Failure::new(Status::Refused, text));
            }
            let message = self.task.receive_blocking(&pattern, Deadline::after(LOOK));
            let message = message.map_err(|code| self.refused(code))?;
            let Some(message) = message else { continue };
            let about = message.envelope();
            if about.tag == ENDED {
                let ended = ended(message).map_err(|code| self.refused(code))?;
                self.outlived(ended, of, &told)?;
            } else if let Some(place) = of.iter().position(|part| self.parts[*part] == about.src)
                && about.tag == tag
            {
                told[place] = Some(bytes(message).map_err(|code| self.refused(code))?);
            }
        }
        Ok(told.into_iter().flatten().collect())
    }

    /// An error if the part that has ended has not said yet what is waited for.
    fn outlived(&self, ended: Tid, of: &[usize], told: &[Option<Vec<u8>>]) -> Result<(), Failure> {
        let Some(part) = self.parts.iter().position(|tid| *tid == ended) else { return Ok(()) };
        let place = of.iter().position(|one| *one == part);
        if place.is_some_and(|place| told[place].is_some()) {
            return Ok(());
        }
        let host = match self.hosts[part].as_str() {
            "" => String::new(),
            host => format!(" on host {host}"),
        };
        let text = format!(
            "{}: task {part}{host} has ended before its part was over\n  what it said is in its \
             host's log; {}",
            self.name, self.advice
        );
        Err(Failure::new(Status::Refused, text))
    }

    /// True if the user has asked for the end.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Ends the parts of what failed.
    pub(super) fn end(&self) {
        for tid in self.parts.iter().copied() {
            let _ = self.task.request(&Request::Signal { tid, signal: TERMINATE });
        }
    }

    fn started(
        &self,
        outcomes: &[i32],
        program: &std::path::Path,
        host: &str,
    ) -> Result<Tid, Failure> {
        let outcome = outcomes.first().copied().unwrap_or_default();
        if outcome > 0 {
            return Ok(Tid::from_c_int(outcome));
        }
        let code = Code::from_number(outcome);
        let code = code.map_or_else(|| "no task".to_owned(), |code| code.to_string());
        let on = if host.is_empty() { String::new() } else { format!(" on {host}") };
        let text = format!(
            "{}: {} does not start{on}: {code}\n  it is the program of the tasks, and has to lie \
             at this place on each host; `pvm conf` lists the hosts",
            self.name,
            program.display()
        );
        Err(Failure::new(Status::Refused, text))
    }
}

fn request(program: &[u8], args: &[&str], host: &str) -> SpawnRequest {
    let nowhere = Target { tid: Tid(0), context: 0, tag: 0 };
    let mask = Blob(Vec::new());
    let trace = TraceOptions { target: nowhere.clone(), buffer: 0, options: 0, mask };
    SpawnRequest {
        file: Blob(program.to_vec()),
        args: args.iter().map(|arg| Blob::from(*arg)).collect(),
        flags: if host.is_empty() { 0 } else { TASK_HOST },
        place: Blob::from(host),
        count: 1,
        environment: Vec::new(),
        whole_environment: false,
        directory: Blob(Vec::new()),
        inherited: Inherited { context: 0, output: nowhere, trace },
    }
}

fn ended(mut notice: Buffer) -> Result<Tid, Code> {
    let mut tid = [0; 4];
    notice.unpack(Kind::Int, &mut tid)?;
    Ok(Tid::from_c_int(i32::from_ne_bytes(tid)))
}

fn played(told: &[u8]) -> Option<Played> {
    let seconds = |word: u64| Duration::from_nanos(word).as_secs_f64();
    let words = told.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
    let words: Vec<u64> = words.collect();
    let [took, slept, rest @ ..] = words.as_slice() else { return None };
    let section = |pair: &[u64; 2]| Some((u32::try_from(pair[0]).ok()?, seconds(pair[1])));
    let sections = rest.as_chunks::<2>().0.iter().map(section).collect::<Option<_>>()?;
    Some(Played { seconds: seconds(*took), slept: seconds(*slept), sections })
}
