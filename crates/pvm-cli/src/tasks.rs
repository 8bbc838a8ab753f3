//! The tasks of the machine, as commands need them: their ids, their owners, and which are
//! consoles.

use crate::failure::{Failure, Status};
use crate::operator::Operator;
use pvm_wire::hostfile::is_with_domain;
use pvm_wire::request::{HostInfo, Reply, Request, TaskInfo};
use pvm_wire::{Blob, Tid};

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

/// The tasks without consoles and others that have asked to be spared.
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

/// The member that goes by this name: as the machine itself finds it, in small or capital letters,
/// and with or without its domain.
pub(crate) fn member<'a>(hosts: &'a [HostInfo], name: &Blob) -> Option<&'a HostInfo> {
    let same = |host: &&HostInfo| host.name.0.eq_ignore_ascii_case(&name.0);
    let short = |host: &&HostInfo| is_with_domain(&host.name, name);
    let long = |host: &&HostInfo| is_with_domain(name, &host.name);
    let found = hosts.iter().find(same).or_else(|| hosts.iter().find(short));
    found.or_else(|| hosts.iter().find(long)).filter(|_| !name.0.is_empty())
}

/// The id of the host of this name.
pub(crate) fn host_named(hosts: &[HostInfo], name: &str) -> Result<Tid, Failure> {
    member(hosts, &name.into()).map(|host| host.tid).ok_or_else(|| {
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
