//! `pvm ps`.

use crate::commands::conf;
use crate::failure::Failure;
use crate::operator::Operator;
use crate::options::tasks::PsOptions;
use crate::show::{remark, show, show_json};
use crate::table::{Side, Table};
use crate::tasks;
use pvm_wire::Tid;
use pvm_wire::request::{HostInfo, TaskInfo};
use serde_json::{Value, json};

/// The tasks of all hosts, or of one.
pub(crate) fn ps(options: &PsOptions) -> Result<(), Failure> {
    let mut operator = Operator::connect()?;
    let hosts = conf::hosts(&mut operator)?;
    let named = |name| tasks::host_named(&hosts, name);
    let place = options.host.as_deref().map_or(Ok(Tid::NONE), named)?;
    let suspected = suspected(&hosts, place);
    for name in &suspected {
        // Before the tasks, which its silence may hold up until it answers or is taken out.
        remark(format_args!("pvm: {name} is suspected: its daemon does not answer"));
    }
    let listed = if options.all { tasks::of } else { tasks::of_programs };
    let tasks = listed(&mut operator, place)?;
    let host_name = |task| tasks::host_name(&hosts, task);
    if options.json {
        let rows = tasks.iter().map(|task| {
            json!({
                "tid": task.tid.to_string(), "host": host_name(task), "pid": task.pid,
                "parent": parent(task), "flags": task.flags, "program": task.name.to_text(),
            })
        });
        let mut shown = json!({ "tasks": rows.collect::<Vec<Value>>() });
        if !suspected.is_empty() {
            shown["suspected"] = json!(suspected);
        }
        return Ok(show_json(&shown)?);
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
            host_name(task),
            task.pid.to_string(),
            parent(task).unwrap_or_else(|| "-".to_owned()),
            name,
        ]);
    }
    Ok(show(table)?)
}

/// The names of those among `place` (all for `Tid::NONE`) whose daemons are not heard.
fn suspected(hosts: &[HostInfo], place: Tid) -> Vec<String> {
    let asked = hosts.iter().filter(|host| place == Tid::NONE || host.tid == place);
    asked.filter(|host| host.suspected).map(|host| host.name.to_text()).collect()
}

fn parent(task: &TaskInfo) -> Option<String> {
    task.parent.is_task().then(|| task.parent.to_string())
}
