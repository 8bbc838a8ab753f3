//! Where a program is rehearsed: tasks of this machine that play the parts of a program's tasks.

use super::part::{DONE, GO, READY, SCRIPT, STAGE, TASKS, bytes, say};
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
/// How often the user is listened to.
const LOOK: Duration = Duration::from_millis(100);

/// Where parts are started, and how their messages go.
#[derive(Clone, Debug, Default)]
pub(super) struct Setting {
    /// Names of hosts, in turns; none: all of them.
    pub(super) hosts: Vec<String>,
    /// Messages between hosts go by direct routes.
    pub(super) direct: bool,
}

/// What a part has told.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Played {
    /// From the common begin to its end, in seconds.
    pub(super) seconds: f64,
    /// How much of that it slept.
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
    // Finds out what is wrong if no machine runs, or its daemon does not answer.
    drop(Operator::connect()?);
    let task = Task::enrol(b"pvm predict", false).map_err(refused)?;
    task.be_unrecorded();
    let mut stage = Stage { task, parts: Vec::new(), stop };
    let played = stage.play(scripts, setting);
    if played.is_err() {
        stage.end();
    }
    let left = task.leave().map_err(refused);
    played.and_then(|played| left.map(|()| played))
}

fn refused(code: Code) -> Failure {
    Failure::refused("rehearsal", code)
}

struct Stage<'a> {
    task: &'static Task,
    parts: Vec<Tid>,
    stop: &'a AtomicBool,
}

impl Stage<'_> {
    fn play(&mut self, scripts: &[Script], setting: &Setting) -> Result<Vec<Played>, Failure> {
        self.start(scripts.len(), setting)?;
        let all: Vec<u8> = self.parts.iter().flat_map(|tid| tid.0.to_le_bytes()).collect();
        for (part, script) in self.parts.iter().zip(scripts) {
            say(self.task, *part, SCRIPT, &script.to_bytes()).map_err(refused)?;
            say(self.task, *part, TASKS, &all).map_err(refused)?;
        }
        self.gather(READY)?;
        for part in &self.parts {
            say(self.task, *part, GO, &[]).map_err(refused)?;
        }
        let told = self.gather(DONE)?;
        told.iter().map(|told| played(told).ok_or_else(|| refused(Code::NoData))).collect()
    }

    /// Starts parts, and asks for a notice of each one's end.
    fn start(&mut self, count: usize, setting: &Setting) -> Result<(), Failure> {
        let program = std::env::current_exe()?;
        let args = ["predict".into(), "part".into(), "--of".into(), self.task.tid().0.to_string()];
        let args = if setting.direct { args.to_vec() } else { with(&args, "--routed") };
        for number in 0..count {
            let host = match setting.hosts.len() {
                0 => "",
                hosts => setting.hosts[number % hosts].as_str(),
            };
            let spawn = request(program.as_os_str().as_encoded_bytes(), &args, host);
            let reply = self.task.request(&Request::Spawn { spawn }).map_err(refused)?;
            let Reply::Spawned { outcomes, .. } = reply else { return Err(refused(Code::SysErr)) };
            self.parts.push(started(&outcomes, &program, host)?);
        }
        let (kind, cancel, context, tag, count) = (TASK_EXIT, false, STAGE, ENDED, 0);
        let tids = self.parts.clone();
        let notify = Request::Notify { kind, cancel, context, tag, count, tids };
        self.task.request(&notify).map(drop).map_err(refused)
    }

    /// What all parts say with a tag, in their order.
    fn gather(&self, tag: i32) -> Result<Vec<Vec<u8>>, Failure> {
        let mut told: Vec<Option<Vec<u8>>> = vec![None; self.parts.len()];
        let pattern = Pattern { context: STAGE, source: None, tag: None };
        while told.iter().any(Option::is_none) {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Failure::new(Status::Refused, "rehearsal: interrupted"));
            }
            let message = self.task.receive_blocking(&pattern, Deadline::after(LOOK));
            let Some(message) = message.map_err(refused)? else { continue };
            let about = message.envelope();
            if about.tag == ENDED {
                let ended = ended(message).map_err(refused)?;
                if let Some(part) = self.parts.iter().position(|tid| *tid == ended)
                    && told[part].is_none()
                {
                    return Err(died(part));
                }
            } else if let Some(part) = self.parts.iter().position(|tid| *tid == about.src)
                && about.tag == tag
            {
                told[part] = Some(bytes(message).map_err(refused)?);
            }
        }
        Ok(told.into_iter().flatten().collect())
    }

    /// Ends the parts of a rehearsal that failed.
    fn end(&self) {
        for tid in self.parts.iter().copied() {
            let _ = self.task.request(&Request::Signal { tid, signal: TERMINATE });
        }
    }
}

fn with(args: &[String], more: &str) -> Vec<String> {
    args.iter().cloned().chain([more.to_owned()]).collect()
}

fn request(program: &[u8], args: &[String], host: &str) -> SpawnRequest {
    let nowhere = Target { tid: Tid(0), context: 0, tag: 0 };
    let mask = Blob(Vec::new());
    let trace = TraceOptions { target: nowhere.clone(), buffer: 0, options: 0, mask };
    SpawnRequest {
        file: Blob(program.to_vec()),
        args: args.iter().map(|arg| Blob::from(arg.as_str())).collect(),
        flags: if host.is_empty() { 0 } else { TASK_HOST },
        place: Blob::from(host),
        count: 1,
        environment: Vec::new(),
        whole_environment: false,
        directory: Blob(Vec::new()),
        inherited: Inherited { context: 0, output: nowhere, trace },
    }
}

fn started(outcomes: &[i32], program: &std::path::Path, host: &str) -> Result<Tid, Failure> {
    let outcome = outcomes.first().copied().unwrap_or_default();
    if outcome > 0 {
        return Ok(Tid::from_c_int(outcome));
    }
    let code =
        Code::from_number(outcome).map_or_else(|| "no task".to_owned(), |code| code.to_string());
    let on = if host.is_empty() { String::new() } else { format!(" on {host}") };
    let text = format!(
        "rehearsal: {} does not start{on}: {code}\n  it is the program of the tasks, and has to \
         lie at this place on each host; `pvm conf` lists the hosts",
        program.display()
    );
    Err(Failure::new(Status::Refused, text))
}

fn ended(mut notice: Buffer) -> Result<Tid, Code> {
    let mut tid = [0; 4];
    notice.unpack(Kind::Int, &mut tid)?;
    Ok(Tid::from_c_int(i32::from_ne_bytes(tid)))
}

fn died(part: usize) -> Failure {
    let text = format!(
        "rehearsal: task {part} has ended before its part was over\n  what it said is in its \
         host's log; `pvm predict check TRACE` tells whether each receive has its send"
    );
    Failure::new(Status::Refused, text)
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
