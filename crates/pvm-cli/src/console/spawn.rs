//! The console command `spawn`.

use crate::console::arrival::JOBS_TAG;
use crate::console::jobs::Sink;
use crate::console::session::{Next, Session};
use crate::console::traces;
use crate::console::words::integer;
use pvm_wire::request::{Inherited, Reply, Request, SpawnRequest, Target, TraceOptions};
use pvm_wire::{Blob, Code, Tid};
use std::fs::File;
use std::io::Write as _;

const TASK_HOST: i32 = 1;
const TASK_ARCH: i32 = 2;
const TASK_DEBUG: i32 = 4;
const TASK_TRACE: i32 = 8;
/// `PvmNoSpawnParent`: tasks of the console have no parent.
const NO_PARENT: i32 = 64;

/// The destination that `->` gives to output.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Redirection {
    Console,
    NewFile(String),
    Append(String),
}

/// The options in front of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Plan {
    count: i32,
    flags: i32,
    place: String,
    directory: String,
    output: Option<Redirection>,
    /// Traced, and the file that the trace goes to, if not the console.
    trace: Option<Option<String>>,
}

/// Reads the options in front of the program; `is_arch` tells the names of architectures.
fn plan(args: &[String], is_arch: &dyn Fn(&str) -> bool) -> (Plan, usize) {
    let mut plan = Plan {
        count: 1,
        flags: NO_PARENT,
        place: String::new(),
        directory: String::new(),
        output: None,
        trace: None,
    };
    let mut used = 0;
    while let Some(option) = args.get(used).and_then(|arg| arg.strip_prefix('-')) {
        plan.read(option, is_arch);
        used += 1;
    }
    (plan, used)
}

impl Plan {
    fn read(&mut self, option: &str, is_arch: &dyn Fn(&str) -> bool) {
        let mut letters = option.chars();
        match letters.next() {
            // `-` alone, and unknown options of two dashes, mean nothing.
            None => {}
            Some('>') => self.output = Some(redirection(letters.as_str())),
            Some('@') => {
                self.trace = Some(Some(letters.as_str().to_owned()).filter(|f| !f.is_empty()))
            }
            Some('?') => self.flags |= TASK_DEBUG,
            Some(':') => self.directory = letters.as_str().to_owned(),
            Some('0'..='9') => self.count = integer(option),
            Some('-') => {
                if let Some(place) = letters.as_str().strip_prefix("host=") {
                    self.put(place, &|_| false);
                }
            }
            Some(_) => self.put(option, is_arch),
        }
    }

    fn put(&mut self, text: &str, is_arch: &dyn Fn(&str) -> bool) {
        let (place, directory) = text.split_once(':').unwrap_or((text, ""));
        self.flags |= if is_arch(place) { TASK_ARCH } else { TASK_HOST };
        self.place = place.to_owned();
        if !directory.is_empty() {
            self.directory = directory.to_owned();
        }
    }
}

fn redirection(text: &str) -> Redirection {
    match text.strip_prefix('>') {
        _ if text.is_empty() => Redirection::Console,
        Some("") => Redirection::Console,
        Some(file) => Redirection::Append(file.to_owned()),
        None => Redirection::NewFile(text.to_owned()),
    }
}

fn open(output: Option<&Redirection>) -> Result<Sink, String> {
    let (opened, path) = match output {
        None => return Ok(Sink::Nowhere),
        Some(Redirection::Console) => return Ok(Sink::Console),
        Some(Redirection::NewFile(path)) => {
            (File::options().write(true).create_new(true).open(path), path)
        }
        Some(Redirection::Append(path)) => {
            (File::options().append(true).create(true).open(path), path)
        }
    };
    opened.map(Sink::File).map_err(|error| format!("{path}: {}\n", reason(&error)))
}

/// Opens the destination of a job's trace: a new file, or the console.
fn open_trace(path: &Option<String>) -> Result<Sink, String> {
    let Some(path) = path else { return Ok(Sink::Console) };
    let opened = File::options().write(true).create(true).truncate(true).open(path);
    let written = opened.and_then(|mut file| {
        file.write_all(traces::head().as_bytes())?;
        Ok(file)
    });
    written.map(Sink::File).map_err(|error| format!("{path}: {}\n", reason(&error)))
}

/// The system's words without Rust's number behind them.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// `spawn [options] FILE [ARGS]`
pub(crate) fn spawn(session: &mut Session, args: &[String]) -> Next {
    let hosts = session.hosts();
    let is_arch = |name: &str| hosts.iter().any(|host| host.arch.0 == name.as_bytes());
    let (plan, used) = plan(args, &is_arch);
    let Some((file, arguments)) = args[used..].split_first() else {
        session.say("incorrect arg count\n");
        return Next::Go;
    };
    let is_job = plan.output.is_some() || plan.trace.is_some();
    let number = is_job.then(|| session.jobs.number(plan.trace.is_some()));
    if let Some(number) = number {
        session.say(format!("[{number}]\n"));
        let trace = plan.trace.as_ref().map(open_trace).transpose();
        match open(plan.output.as_ref()).and_then(|sink| Ok((sink, trace?))) {
            Ok((sink, trace)) => session.jobs.open(number, sink, trace),
            Err(text) => {
                session.say(text);
                return Next::Go;
            }
        }
    }
    let request = request(session, &plan, number, file, arguments);
    // The library refuses this before it asks the daemon.
    let answer = if plan.count < 1 {
        Err(Code::BadParam)
    } else {
        session.machine.ask(&Request::Spawn { spawn: request })
    };
    match answer {
        Ok(Reply::Spawned { outcomes, .. }) => tell(session, number, &outcomes),
        Ok(_) => {}
        Err(code) => {
            session.complain("pvm_spawn", code);
            tell_nothing(session, number);
        }
    }
    Next::Go
}

fn tell_nothing(session: &mut Session, number: Option<i32>) {
    if let Some(number) = number {
        session.jobs.started(number, &[]);
    }
}

fn tell(session: &mut Session, number: Option<i32>, outcomes: &[i32]) {
    let tids: Vec<Tid> = outcomes.iter().filter(|&&o| o > 0).map(|&o| Tid::from_c_int(o)).collect();
    let mut text = format!("{} successful\n", tids.len());
    for &outcome in outcomes {
        let code = Code::from_number(outcome).map(|code| code.to_string());
        let task = || Tid::from_c_int(outcome).to_string();
        text += &format!("{}\n", code.unwrap_or_else(task));
    }
    if let Some(number) = number {
        session.jobs.started(number, &tids);
    }
    session.say(text);
}

fn request(
    session: &Session,
    plan: &Plan,
    job: Option<i32>,
    file: &str,
    args: &[String],
) -> SpawnRequest {
    let own = |tag| Target { tid: session.machine.tid(), context: 0, tag };
    let output = job.map_or_else(|| session.settings.target("Output"), |job| own(JOBS_TAG + job));
    let traced = job.filter(|_| plan.trace.is_some());
    let trace = TraceOptions {
        target: traced
            .map_or_else(|| session.settings.target("Trace"), |job| own(JOBS_TAG + job + 1)),
        buffer: session.settings.value("PvmTraceBuffer"),
        options: session.settings.value("PvmTraceOptions"),
        mask: Blob(session.mask.text()),
    };
    let blob = |text: &String| Blob::from(text.as_str());
    SpawnRequest {
        file: file.into(),
        args: args.iter().map(blob).collect(),
        flags: plan.flags | if traced.is_some() { TASK_TRACE } else { 0 },
        place: blob(&plan.place),
        count: plan.count,
        environment: exported(session),
        whole_environment: false,
        directory: blob(&plan.directory),
        inherited: Inherited { context: 0, output, trace },
    }
}

/// The variables that `PVM_EXPORT` names, and itself.
fn exported(session: &Session) -> Vec<Blob> {
    let Some(list) = session.variable("PVM_EXPORT") else { return Vec::new() };
    let names = list.split(':').filter(|name| !name.is_empty()).chain(["PVM_EXPORT"]);
    let pairs = names.filter_map(|name| Some(format!("{name}={}", session.variable(name)?)));
    pairs.map(|pair| Blob(pair.into_bytes())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(line: &str) -> (Plan, usize) {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        plan(&args, &|name| name == "LINUX64")
    }

    #[test]
    fn options_are_told_apart_by_their_first_letter() {
        let (plan, used) = planned("-2 -3x -> -? -:/tmp -LINUX64 f -2");
        assert_eq!((plan.count, used), (3, 6));
        assert_eq!(plan.flags, NO_PARENT | TASK_DEBUG | TASK_ARCH);
        assert_eq!((plan.place.as_str(), plan.directory.as_str()), ("LINUX64", "/tmp"));
        assert_eq!(plan.output, Some(Redirection::Console));
        let (plan, _) = planned("-vm:/usr ->>out f");
        assert_eq!((plan.flags, plan.directory.as_str()), (NO_PARENT | TASK_HOST, "/usr"));
        assert_eq!(plan.output, Some(Redirection::Append("out".to_owned())));
        let (plan, used) = planned("--host=127.0.0.1 --foo - -@t ->o f");
        assert_eq!((plan.place.as_str(), used), ("127.0.0.1", 5));
        assert_eq!(plan.trace, Some(Some("t".to_owned())));
        assert_eq!(plan.output, Some(Redirection::NewFile("o".to_owned())));
        assert_eq!(planned("-127.0.0.1 f").0.count, 127);
    }
}
