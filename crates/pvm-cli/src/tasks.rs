//! What commands know of tasks: which there are, whose they are, and which are consoles.

use crate::failure::{Failure, Status};
use crate::operator::Operator;
use pvm_wire::Tid;
use pvm_wire::request::{HostInfo, Reply, Request, TaskInfo};

/// Under this name the machine lists the tasks that `reset` spares: consoles and the like.
const SPARED: &str = "###_PVM_NO_RESET_###";

/// The tasks of a host, or of all (`Tid::NONE`).
pub(crate) fn of(operator: &mut Operator, place: Tid) -> Result<Vec<TaskInfo>, Failure> {
    match operator.ask(&Request::Tasks { place }) {
        Ok(Reply::Tasks { tasks }) => Ok(tasks),
        Ok(_) => Err(Failure::unexpected("tasks")),
        Err(code) => Err(Failure::refused("tasks", code)),
    }
}

/// The same without consoles and other tasks that have asked to be spared.
pub(crate) fn of_programs(operator: &mut Operator, place: Tid) -> Result<Vec<TaskInfo>, Failure> {
    let mut tasks = of(operator, place)?;
    let spared = match operator.ask(&Request::MailboxInfo { pattern: SPARED.into() }) {
        Ok(Reply::Mailboxes { mailboxes }) => mailboxes,
        Ok(_) => return Err(Failure::unexpected("tasks")),
        Err(code) => return Err(Failure::refused("tasks", code)),
    };
    let is_spared = |task: &TaskInfo| {
        spared.iter().any(|name| name.entries.iter().any(|entry| entry.owner == task.tid))
    };
    tasks.retain(|task| !is_spared(task));
    Ok(tasks)
}

/// The id of the host of this name.
pub(crate) fn host_named(hosts: &[HostInfo], name: &str) -> Result<Tid, Failure> {
    let found = hosts.iter().find(|host| host.name.0 == name.as_bytes());
    found.map(|host| host.tid).ok_or_else(|| {
        let names: Vec<String> = hosts.iter().map(|host| host.name.to_text()).collect();
        let text = format!("no such host: {name}\n  the machine has {}", names.join(", "));
        Failure::new(Status::Refused, text)
    })
}

/// The name of a task's host.
pub(crate) fn host_name(hosts: &[HostInfo], task: &TaskInfo) -> String {
    let host = hosts.iter().find(|host| host.tid == task.host);
    host.map_or_else(|| task.host.to_string(), |host| host.name.to_text())
}
