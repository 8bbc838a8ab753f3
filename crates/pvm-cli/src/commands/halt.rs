//! `pvm halt`.

use crate::commands::conf;
use crate::failure::{Failure, Status};
use crate::operator::Operator;
use crate::progress::Progress;
use crate::show::{remark, show, show_json};
use crate::{stopped, tasks, text};
use pvm_wire::request::Request;
use pvm_wire::{Code, Tid};
use serde_json::json;
use std::time::{Duration, Instant};

/// A daemon that was told to stop has closed its connection by then.
const HALT_TIME_MAX: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(5);

/// The hosts of the machine when it was halted, and the tasks of its user: tuple servers and
/// consoles are not counted.
#[derive(Default)]
struct Halted {
    hosts: Vec<String>,
    tasks: Vec<String>,
}

/// Stops the machine, and prints what has ended; returns when nothing of it is left here.
pub(crate) fn halt(as_json: bool) -> Result<(), Failure> {
    for pid in stopped::go_on() {
        remark(format_args!(
            "pvm: the daemon (process {pid}) was stopped; it is continued so that it can end"
        ));
    }
    let found = ask_some_host()?;
    wait_for_end()?;
    if as_json {
        let Halted { hosts, tasks } = found.unwrap_or_default();
        return Ok(show_json(&json!({"hosts": hosts, "tasks": tasks}))?);
    }
    let Some(Halted { hosts, tasks }) = found else {
        return Ok(show("another command was halting the machine; it has stopped\n")?);
    };
    let text =
        format!("stopped {} ({})", count(hosts.len(), "host"), text::plain(&hosts.join(", ")));
    Ok(match tasks.len() {
        0 => show(format_args!("{text}; no task ran\n")),
        number => show(format_args!("{text} and {}\n", count(number, "task"))),
    }?)
}

/// Asks one host after the other until one has answered, or none is left: the host that was asked
/// first may have been leaving the machine. Returns nothing if another command has halted it.
fn ask_some_host() -> Result<Option<Halted>, Failure> {
    let end = Instant::now() + HALT_TIME_MAX;
    let mut found = None;
    let mut operator = Operator::connect()?;
    loop {
        if let Some(halted) = look(&mut operator)? {
            found.get_or_insert(halted);
            if ask(&mut operator)? {
                return Ok(found);
            }
        }
        std::thread::sleep(LOOK);
        match Operator::connect_if_running()?.filter(|_| Instant::now() < end) {
            Some(next) => operator = next,
            None => return Ok(found),
        }
    }
}

/// Lists the things to halt; returns nothing if the connection ends, because the host leaves or
/// another command has halted the machine.
fn look(operator: &mut Operator) -> Result<Option<Halted>, Failure> {
    let told = conf::hosts(operator)
        .and_then(|hosts| Ok((hosts, tasks::of_programs(operator, Tid::NONE)?)));
    match told {
        Ok((hosts, tasks)) => Ok(Some(Halted {
            hosts: hosts.iter().map(|host| host.name.to_text()).collect(),
            tasks: tasks.iter().map(|task| task.tid.to_string()).collect(),
        })),
        Err(failure) if failure.status == Status::Daemon => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// True if the host has answered. Otherwise it may be gone before its answer got through.
fn ask(operator: &mut Operator) -> Result<bool, Failure> {
    let _progress = Progress::start("waiting for the machine to stop");
    match operator.ask(&Request::Halt) {
        Ok(_) => Ok(true),
        Err(Code::SysErr) => Ok(false),
        Err(code) => Err(Failure::refused("halt", code)),
    }
}

/// Until nothing of the machine is left here.
fn wait_for_end() -> Result<(), Failure> {
    let _progress = Progress::start("waiting for the machine to stop");
    let folder = pvm::locate::runtime_directory();
    let end = Instant::now() + HALT_TIME_MAX;
    while Operator::connect_if_running()?.is_some() {
        if Instant::now() > end {
            return Err(Failure::new(
                Status::Daemon,
                "the daemon has not ended\n  see its log: `pvm status` shows the folder",
            ));
        }
        std::thread::sleep(LOOK);
    }
    // Other hosts on this computer end by themselves, when they hear of it.
    while folder.exists() {
        if Instant::now() > end {
            return Err(Failure::new(
                Status::Daemon,
                format!(
                    "the machine has stopped, but files are left in {}\n  `pvm doctor` shows them",
                    folder.display()
                ),
            ));
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}
