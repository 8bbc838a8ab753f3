//! Console commands about tasks: `ps`, `pstat`, `kill`, `sig`, `jobs`.

use crate::console::session::{Next, Session};
use crate::console::words::{integer, tid};
use crate::{tasks, text};
use pvm_wire::request::{HostInfo, Reply, Request, TaskInfo};
use pvm_wire::{Code, Tid};

const SHORT: &str = "                    HOST      TID   FLAG 0x COMMAND\n";
const LONG: &str = "                    HOST      TID     PTID    PID   FLAG 0x COMMAND\n";
const SIGTERM: i32 = 15;
/// The flags of a task, with the letters of `ps`, in the order in which it lists them.
const FLAGS: [(i32, char); 8] =
    [(0x100, 'R'), (0x200, 'H'), (0x400, 'T'), (4, 'c'), (2, 'f'), (1, 'a'), (8, 'o'), (0x20, 's')];

fn row(task: &TaskInfo, hosts: &[HostInfo], own: Tid, long: bool) -> String {
    let host = hosts.iter().find(|host| host.tid == task.host);
    let host = host.map_or_else(|| format!("{:x}", task.host.0), |host| text::of(&host.name));
    let name = if task.tid == own { "(cons)".to_owned() } else { format!("{:x}", task.tid.0) };
    let letters = FLAGS.iter().filter(|(bit, _)| task.flags & bit != 0);
    let letters: Vec<String> = letters.map(|(_, letter)| letter.to_string()).collect();
    let slash = if letters.is_empty() { "" } else { "/" };
    let flags = format!("{:x}{slash}{}", task.flags, letters.join(","));
    let command = if task.name.0.is_empty() { "-".to_owned() } else { text::of(&task.name) };
    let origin = match task.parent {
        _ if !long => String::new(),
        Tid::NONE => format!(" {:>8} {:>6}", "-", task.pid),
        parent => format!(" {:>8x} {:>6}", parent.0, task.pid),
    };
    format!("{host:>24} {name:>8}{origin} {flags:>9} {command:<12}\n")
}

/// The tasks and columns that `ps` is to show.
struct Filter {
    place: Tid,
    long: bool,
    /// The console too.
    all: bool,
}

fn wanted(session: &mut Session, flags: &str) -> Filter {
    let place = Tid::host_id(session.machine.tid().host());
    let mut wanted = Filter { place, long: false, all: false };
    let letters = flags.strip_prefix('-').unwrap_or(flags);
    for (at, letter) in letters.char_indices() {
        let rest = &letters[at + letter.len_utf8()..];
        match letter {
            'a' => wanted.place = Tid::NONE,
            'l' => wanted.long = true,
            'x' => wanted.all = true,
            'h' => {
                wanted.place = tid(rest);
                break;
            }
            'n' => {
                let hosts = session.hosts();
                match tasks::member(&hosts, &rest.into()) {
                    Some(host) => wanted.place = host.tid,
                    None if rest == "." => {}
                    None => session.say(format!("unknown host {rest}\n")),
                }
                break;
            }
            other => session.say(format!("unknown flag -{other}\n")),
        }
    }
    wanted
}

/// `ps [-axl] [-hTID] [-nNAME]`
pub(crate) fn ps(session: &mut Session, args: &[String]) -> Next {
    let wanted = wanted(session, args.first().map_or("", |arg| arg.as_str()));
    let request = Request::Tasks { place: wanted.place };
    let Some(Reply::Tasks { tasks }) = session.ask("pvm_tasks", &request) else { return Next::Go };
    let (hosts, own) = (session.hosts(), session.machine.tid());
    let mut text = String::from(if wanted.long { LONG } else { SHORT });
    for task in tasks.iter().filter(|task| wanted.all || task.tid != own) {
        text += &row(task, &hosts, own, wanted.long);
    }
    session.say(text);
    Next::Go
}

/// `jobs [-l]`
pub(crate) fn jobs(session: &mut Session, args: &[String]) -> Next {
    let long = args.first().is_some_and(|arg| arg.starts_with('-') && arg.contains('l'));
    let jobs: Vec<(String, Vec<Tid>)> = session.jobs.list().collect();
    let mut text = String::new();
    if !long {
        for (name, tids) in jobs {
            let tids: String = tids.iter().map(|tid| format!(" {tid}")).collect();
            text += &format!("{name}{tids}\n");
        }
        session.say(text);
        return Next::Go;
    }
    let all = Request::Tasks { place: Tid::NONE };
    let Some(Reply::Tasks { tasks }) = session.ask("pvm_tasks", &all) else { return Next::Go };
    let (hosts, own) = (session.hosts(), session.machine.tid());
    text += SHORT;
    for (name, tids) in jobs {
        text += &format!("{name}\n");
        for tid in tids {
            let task = tasks.iter().find(|task| task.tid == tid);
            // A task that has ended, of which the last output is still on its way.
            text += &task.map_or_else(|| format!(" {tid}\n"), |task| row(task, &hosts, own, false));
        }
    }
    session.say(text);
    Next::Go
}

/// Refuses an id that PVM's library refuses by itself, without asking the machine.
fn check(tid: Tid) -> Result<(), Code> {
    if tid.is_daemon() || tid.local() == 0 { Err(Code::BadParam) } else { Ok(()) }
}

/// `pstat TID ...`
pub(crate) fn pstat(session: &mut Session, args: &[String]) -> Next {
    for arg in args {
        let tid = tid(arg);
        let asked = if check(tid).is_ok() && !tid.is_task() {
            Err(Code::NoTask)
        } else {
            check(tid).and_then(|()| session.machine.ask(&Request::TaskStatus { tid }))
        };
        let status = match asked {
            Ok(_) => "run",
            Err(code) => {
                // That a task is gone is no mistake of the caller.
                if code == Code::BadParam {
                    session.complain("pvm_pstat", code);
                }
                code.text()
            }
        };
        session.say(format!("t{:>8x}  {status}\n", tid.0));
    }
    Next::Go
}

/// Sends a signal. False if the machine refuses it; an id without a task is no mistake.
fn send(session: &mut Session, tid: Tid, signal: i32) -> bool {
    let sent = match check(tid) {
        Err(code) => Err(code),
        // No host gives out such a number, so no task has it, which is no mistake.
        Ok(()) if !tid.is_task() => Ok(Reply::Done),
        Ok(()) => session.machine.ask(&Request::Signal { tid, signal }),
    };
    match sent {
        Ok(_) | Err(Code::NoTask) => true,
        Err(code) => {
            session.complain("pvm_sendsig", code);
            false
        }
    }
}

/// `sig NUMBER TID ...`
pub(crate) fn sig(session: &mut Session, args: &[String]) -> Next {
    let signal = integer(&args[0]);
    for arg in &args[1..] {
        send(session, tid(arg), signal);
    }
    Next::Go
}

/// `kill [-c] TID ...`
pub(crate) fn kill(session: &mut Session, args: &[String]) -> Next {
    let mut children = false;
    let mut words = args;
    while let Some(flags) = words.first().and_then(|word| word.strip_prefix('-')) {
        for letter in flags.chars() {
            if letter == 'c' {
                children = true
            } else {
                session.say(format!("unknown flag -{letter}\n"))
            }
        }
        words = &words[1..];
    }
    if words.is_empty() {
        session.say("incorrect arg count\n");
    }
    for word in words {
        let tid = tid(word);
        for victim in if children { children_of(session, tid) } else { vec![tid] } {
            if !send(session, victim, SIGTERM) {
                session.complain("pvm_kill", Code::BadParam);
            }
        }
    }
    Next::Go
}

fn children_of(session: &mut Session, parent: Tid) -> Vec<Tid> {
    match session.ask("pvm_tasks", &Request::Tasks { place: Tid::NONE }) {
        Some(Reply::Tasks { tasks }) => {
            let children = tasks.iter().filter(|task| task.parent == parent);
            children.map(|task| task.tid).collect()
        }
        _ => Vec::new(),
    }
}
