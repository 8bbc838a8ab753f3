//! `pvm halt`.

use crate::commands::conf;
use crate::failure::{Failure, Status};
use crate::operator::Operator;
use crate::progress::Progress;
use crate::show::{show, show_json};
use crate::tasks;
use pvm_wire::request::Request;
use pvm_wire::{Code, Tid};
use serde_json::json;
use std::time::{Duration, Instant};

/// A daemon that was told to stop has closed its connection by then.
const HALT_TIME_MAX: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(5);

/// Stops the machine, and says what that was; returns when nothing of it is left here.
pub(crate) fn halt(as_json: bool) -> Result<(), Failure> {
    let mut operator = Operator::connect()?;
    let hosts = conf::hosts(&mut operator)?;
    let hosts: Vec<String> = hosts.iter().map(|host| host.name.to_text()).collect();
    let tasks = tasks::of(&mut operator, Tid::NONE)?;
    let tasks: Vec<String> = tasks.iter().map(|task| task.tid.to_string()).collect();
    stop(operator)?;
    if as_json {
        return Ok(show_json(&json!({"hosts": hosts, "tasks": tasks}))?);
    }
    let text = format!("stopped {} ({})", count(hosts.len(), "host"), hosts.join(", "));
    Ok(match tasks.len() {
        0 => show(format_args!("{text}; no task ran\n")),
        number => show(format_args!("{text} and {}\n", count(number, "task"))),
    }?)
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn stop(mut operator: Operator) -> Result<(), Failure> {
    let _progress = Progress::start("waiting for the machine to stop");
    match operator.ask(&Request::Halt) {
        // The daemon may be gone before its answer gets through.
        Ok(_) | Err(Code::SysErr) => {}
        Err(code) => return Err(Failure::refused("halt", code)),
    }
    drop(operator);
    let folder = pvm::locate::runtime_directory();
    let end = Instant::now() + HALT_TIME_MAX;
    while Operator::connect_if_running()?.is_some() {
        if Instant::now() > end {
            return Err(Failure::new(
                Status::Daemon,
                "the daemon was told to stop and is still there\n  see its log: `pvm status` names the folder",
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
                    "the machine has stopped and left something in {}\n  `pvm doctor` says what",
                    folder.display()
                ),
            ));
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}
