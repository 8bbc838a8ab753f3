//! Hosts: the stages of adding them, one after the other, which `pvmd --doctor` goes through.

use crate::commands::conf;
use crate::failure::{Failure, Status};
use crate::hostline::NewHost;
use crate::operator::Operator;
use crate::program;
use crate::progress::Progress;
use crate::show::{show, show_json};
use crate::table::{Side, Table};
use crate::{tasks, threads};
use pvm_wire::request::HostInfo;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::Builder;
use std::time::Duration;

/// A machine that has not listed its hosts by then is left out.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(2);

/// Examines all hosts at the same time, and tells of each.
pub(crate) fn examine(hosts: &[NewHost], as_json: bool) -> Result<(), Failure> {
    let program = program::find()?;
    let names: Vec<&str> = hosts.iter().map(|host| host.shown.as_str()).collect();
    let progress = Progress::start(&format!("examining {}", names.join(", ")));
    let told: Vec<Result<Value, Failure>> = std::thread::scope(|scope| {
        let examine = |host| {
            let program = &program;
            Builder::new().spawn_scoped(scope, move || examine_one(program, host))
        };
        let running: Vec<_> = hosts.iter().map(examine).collect();
        let gone = || Err(Failure::new(Status::Daemon, "the examination ended early"));
        let told = running.into_iter().map(|thread| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|_| gone()),
            Err(error) => Err(threads::shortage(&error)),
        });
        told.collect()
    });
    drop(progress);
    let mut told: Vec<Value> = told.into_iter().collect::<Result<_, Failure>>()?;
    if let Some(members) = members() {
        told.iter_mut().zip(hosts).for_each(|(told, host)| forgive_member(told, host, &members));
    }
    let ok = told.iter().all(|host| host["ok"] == true);
    if as_json {
        show_json(&json!({"ok": ok, "hosts": told}))?;
    } else {
        show(table(&told))?;
    }
    let bad = told.iter().filter(|host| host["ok"] != true).map(|host| text(host, "host"));
    let bad: Vec<&str> = bad.collect();
    if ok {
        return Ok(());
    }
    Err(Failure::new(Status::Refused, format!("cannot be added: {}", bad.join(", "))))
}

fn examine_one(program: &Path, host: &NewHost) -> Result<Value, Failure> {
    let said = Command::new(program)
        .args(["--doctor", &host.line.to_line().to_text(), "--json"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| program::cannot_run(program, &error))?;
    let told = serde_json::from_slice::<Value>(&said.stdout).ok();
    let Some(mut told) = told.filter(|told| told["stages"].is_array()) else {
        let text = String::from_utf8_lossy(&said.stderr);
        let text =
            format!("{} could not examine {}\n  {}", program.display(), host.shown, text.trim());
        return Err(Failure::new(Status::Daemon, text));
    };
    told["host"] = json!(host.shown);
    Ok(told)
}

/// The hosts of the machine, if one runs.
fn members() -> Option<Vec<HostInfo>> {
    conf::hosts(&mut Operator::connect_quickly(ANSWER_TIME_MAX)?).ok()
}

/// Accepts that a daemon of the machine runs there already, if the host is a member.
fn forgive_member(told: &mut Value, host: &NewHost, members: &[HostInfo]) {
    let Some(member) = tasks::member(members, &host.line.name) else { return };
    let Some(stages) = told["stages"].as_array_mut() else { return };
    let (join, before) = match stages.split_last_mut() {
        Some((join, before)) if text(join, "stage") == "join" => (join, before),
        _ => return,
    };
    if join["ok"] == false {
        let detail = format!("it is in the machine already: {}", member.tid);
        *join = json!({"stage": "join", "ok": true, "detail": detail, "remedy": ""});
        let ok = before.iter().all(|stage| stage["ok"] == true);
        told["ok"] = json!(ok);
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn stages(host: &Value) -> &[Value] {
    host["stages"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A row for each stage; below one that failed, what to do.
fn table(told: &[Value]) -> Table {
    let columns = ["HOST", "STAGE", "STATE", "DETAIL"].map(|name| (name, Side::Left));
    let mut table = Table::new(&columns);
    for host in told {
        for stage in stages(host) {
            let state = match stage["ok"].as_bool() {
                Some(true) => "ok",
                Some(false) => "failed",
                None => "-",
            };
            let cells = [text(host, "host"), text(stage, "stage"), state, text(stage, "detail")];
            table.row(cells.map(str::to_owned));
            let remedy = text(stage, "remedy");
            if !remedy.is_empty() {
                let cells = ["", "", "", &format!("try: {remedy}")];
                table.row(cells.map(str::to_owned));
            }
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hostline::wanted;
    use pvm_wire::hostfile::HostLine;

    #[test]
    fn a_member_is_not_told_to_halt_its_own_machine() {
        let host = wanted("b", &HostLine::default(), None).unwrap();
        let stages = |key| {
            json!({"ok": false, "stages": [
                {"stage": "key", "ok": key, "detail": "", "remedy": ""},
                {"stage": "join", "ok": false, "detail": "runs already", "remedy": "halt"},
            ]})
        };
        let member =
            HostInfo { name: "b".into(), tid: pvm_wire::Tid(0x80000), ..HostInfo::default() };
        let mut told = stages(true);
        forgive_member(&mut told, &host, &[]);
        assert_eq!(told, stages(true));
        forgive_member(&mut told, &host, std::slice::from_ref(&member));
        assert!(
            told["ok"] == true
                && told["stages"][1]["detail"] == "it is in the machine already: t80000"
        );
        let mut told = stages(false);
        forgive_member(&mut told, &host, &[member]);
        assert_eq!(told["ok"], false);
    }

    #[test]
    fn a_host_is_told_stage_by_stage() {
        let told = [json!({"host": "b", "ok": false, "stages": [
            {"stage": "name", "ok": true, "detail": "b is 10.0.0.2", "remedy": ""},
            {"stage": "key", "ok": false, "detail": "b takes no key", "remedy": "ssh-copy-id b"},
            {"stage": "shell", "ok": null, "detail": "", "remedy": ""},
        ]})];
        let wanted = "HOST  STAGE  STATE   DETAIL\n\
                      b     name   ok      b is 10.0.0.2\n\
                      b     key    failed  b takes no key\n\
                      \x20                    try: ssh-copy-id b\n\
                      b     shell  -\n";
        assert_eq!(table(&told).to_string(), wanted);
    }
}
