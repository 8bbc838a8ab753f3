//! Tasks: `ps`, `kill`.

use crate::failure::{Failure, Status};
use crate::operator::Operator;
use crate::options::{KillOptions, PsOptions};
use crate::show::{show, show_json};
use crate::table::{Side, Table};
use pvm_wire::request::{HostInfo, Reply, Request, TaskInfo};
use pvm_wire::{Code, Tid};
use serde_json::{Value, json};

/// `pvm ps`: the tasks of all hosts, or of one.
pub(crate) fn ps(options: &PsOptions) -> Result<(), Failure> {
    let mut operator = Operator::connect()?;
    let Ok(Reply::Hosts { hosts }) = operator.ask(&Request::Config) else {
        return Err(Failure::unexpected("ps"));
    };
    let place = options.host.as_deref().map_or(Ok(Tid::NONE), |name| find(&hosts, name))?;
    let tasks = match operator.ask(&Request::Tasks { place }) {
        Ok(Reply::Tasks { tasks }) => tasks,
        Ok(_) => return Err(Failure::unexpected("ps")),
        Err(code) => return Err(Failure::refused("ps", code)),
    };
    if options.json {
        let rows = tasks.iter().map(|task| {
            json!({
                "tid": task.tid.to_string(), "host": host_name(&hosts, task), "pid": task.pid,
                "parent": parent(task), "flags": task.flags, "program": task.name.to_text(),
            })
        });
        return Ok(show_json(&json!({ "tasks": rows.collect::<Vec<Value>>() }))?);
    }
    let mut table = Table::new(&[
        ("TID", Side::Right),
        ("HOST", Side::Left),
        ("PID", Side::Right),
        ("PARENT", Side::Right),
        ("PROGRAM", Side::Left),
    ]);
    for task in &tasks {
        let name = if task.name.0.is_empty() { "-".to_owned() } else { task.name.to_text() };
        table.row([
            task.tid.to_string(),
            host_name(&hosts, task),
            task.pid.to_string(),
            parent(task).unwrap_or_else(|| "-".to_owned()),
            name,
        ]);
    }
    Ok(show(table)?)
}

fn find(hosts: &[HostInfo], name: &str) -> Result<Tid, Failure> {
    let found = hosts.iter().find(|host| host.name.0 == name.as_bytes());
    found.map(|host| host.tid).ok_or_else(|| {
        let names: Vec<String> = hosts.iter().map(|host| host.name.to_text()).collect();
        let text = format!("no such host: {name}\n  the machine has {}", names.join(", "));
        Failure::new(Status::Refused, text)
    })
}

fn host_name(hosts: &[HostInfo], task: &TaskInfo) -> String {
    let host = hosts.iter().find(|host| host.tid == task.host);
    host.map_or_else(|| task.host.to_string(), |host| host.name.to_text())
}

fn parent(task: &TaskInfo) -> Option<String> {
    task.parent.is_task().then(|| task.parent.to_string())
}

/// `pvm kill`.
pub(crate) fn kill(options: &KillOptions) -> Result<(), Failure> {
    let mut operator = Operator::connect()?;
    let mut missing = Vec::new();
    for &tid in &options.tids {
        // The machine says nothing about a signal to nobody, as PVM does.
        match operator.ask(&Request::TaskStatus { tid }) {
            Ok(_) => {}
            Err(Code::NoTask) => {
                missing.push(tid.to_string());
                continue;
            }
            Err(code) => return Err(Failure::refused(&tid.to_string(), code)),
        }
        let signal = options.signal;
        let sent = operator.ask(&Request::Signal { tid, signal });
        sent.map_err(|code| Failure::refused(&tid.to_string(), code))?;
    }
    if missing.is_empty() {
        return Ok(());
    }
    let text = format!("no such task: {}\n  `pvm ps` lists them", missing.join(" "));
    Err(Failure::new(Status::Refused, text))
}
