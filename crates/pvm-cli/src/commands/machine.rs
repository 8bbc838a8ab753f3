//! Hosts and daemons: `up`, `add`, `del`, `conf`, `status`, `halt`.

use crate::failure::{Failure, Status};
use crate::hostfile::HostFile;
use crate::launch::Launch;
use crate::operator::Operator;
use crate::options::UpOptions;
use crate::progress::Progress;
use crate::show::{show, show_json};
use crate::table::{Side, Table};
use pvm_wire::request::{DaemonStatus, HostInfo, HostResult, Reply, Request};
use pvm_wire::{Blob, Code, Tid};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A daemon that was told to stop has closed its connection by then.
const HALT_TIME_MAX: Duration = Duration::from_secs(10);

/// `pvm up`: prints the address of the first daemon, and nothing else if all is well.
pub(crate) fn up(options: &UpOptions) -> Result<(), Failure> {
    let file = options.hostfile.as_deref().map(HostFile::read).transpose()?.unwrap_or_default();
    for error in &file.errors {
        eprintln!("pvm: {error}");
    }
    let mut operator = match Operator::connect_if_running()? {
        Some(operator) => operator,
        None => {
            let launch = Launch { name: options.name.clone(), vmid: None };
            let socket = launch.background()?;
            let gone = || Failure::new(Status::Daemon, "the daemon went away after its start");
            Operator::connect_at(&socket)?.ok_or_else(gone)?
        }
    };
    let local = add_local(&mut operator, options.local);
    let listed = local.and_then(|()| add_listed(&mut operator, &file.hosts));
    show(format_args!("{}\n", status_of(&mut operator)?.address))?;
    listed?;
    if file.errors.is_empty() {
        Ok(())
    } else {
        Err(Failure::new(Status::Usage, "some lines of the host file were left out"))
    }
}

/// Hosts on this computer, until there are `wanted`.
fn add_local(operator: &mut Operator, wanted: u32) -> Result<(), Failure> {
    let hosts = u32::try_from(hosts(operator)?.len()).unwrap_or(u32::MAX);
    if hosts >= wanted {
        return Ok(());
    }
    let count = wanted - hosts;
    let _progress = Progress::start(&format!("starting {count} hosts on this computer"));
    match operator.ask(&Request::AddLocal { count }) {
        Ok(Reply::HostResults { results }) => {
            let names = vec![String::from("a host on this computer"); results.len()];
            check("started", &names, &results)
        }
        Ok(Reply::Done) => Ok(()),
        Ok(_) => Err(Failure::unexpected("up")),
        Err(code) => Err(Failure::refused("starting hosts on this computer", code)),
    }
}

fn add_listed(operator: &mut Operator, hosts: &[String]) -> Result<(), Failure> {
    if hosts.is_empty() {
        return Ok(());
    }
    let mut results = change(operator, hosts, true)?;
    // A host file names the computer that reads it, too.
    results.iter_mut().filter(|r| r.outcome == Code::DupHost.number()).for_each(|r| r.outcome = 1);
    check("added", hosts, &results)
}

/// `pvm add` and `pvm del`.
pub(crate) fn change_hosts(hosts: &[String], add: bool, as_json: bool) -> Result<(), Failure> {
    let mut operator = Operator::connect()?;
    let results = change(&mut operator, hosts, add)?;
    if as_json {
        let rows = hosts.iter().zip(&results).map(|(name, result)| {
            let ok = result.outcome >= 0;
            let tid = (ok && add).then(|| Tid::from_c_int(result.outcome).to_string());
            json!({"host": name, "ok": ok, "tid": tid, "error": (!ok).then(|| text_of(result)), "detail": result.detail})
        });
        show_json(&json!({ "hosts": rows.collect::<Vec<Value>>() }))?;
    }
    check(if add { "added" } else { "deleted" }, hosts, &results).map_err(|failure| {
        let unable = |result: &HostResult| result.outcome == Code::CantStart.number();
        let first = |result: &HostResult| result.outcome == Code::BadParam.number();
        match (add, results.iter().any(unable), results.iter().any(first)) {
            (true, true, _) => failure.and("  one more host on this computer: `pvm add local`"),
            (false, _, true) => failure.and("  to stop the whole machine: `pvm halt`"),
            _ => failure,
        }
    })
}

fn change(
    operator: &mut Operator,
    hosts: &[String],
    add: bool,
) -> Result<Vec<HostResult>, Failure> {
    let lines: Vec<Blob> = hosts.iter().map(|host| host.as_str().into()).collect();
    let verb = if add { "starting" } else { "stopping" };
    let _progress = Progress::start(&format!("{verb} {}", hosts.join(", ")));
    let request =
        if add { Request::AddHosts { hosts: lines } } else { Request::DelHosts { hosts: lines } };
    match operator.ask(&request) {
        Ok(Reply::HostResults { results }) => Ok(results),
        Ok(_) => Err(Failure::unexpected("hosts")),
        Err(code) => Err(Failure::refused(&format!("{verb} {}", hosts.join(", ")), code)),
    }
}

/// Success if each host did what it should, else a text with a paragraph for each that did not.
fn check(done: &str, names: &[String], results: &[HostResult]) -> Result<(), Failure> {
    let bad = names.iter().zip(results).filter(|(_, result)| result.outcome < 0);
    let texts: Vec<String> = bad
        .map(|(name, result)| {
            let detail = result.detail.trim_end().replace('\n', "\n  ");
            let detail = if detail.is_empty() { detail } else { format!("\n  {detail}") };
            format!("{name} was not {done}: {}{detail}", text_of(result))
        })
        .collect();
    if texts.is_empty() { Ok(()) } else { Err(Failure::new(Status::Refused, texts.join("\n"))) }
}

fn text_of(result: &HostResult) -> String {
    Code::from_number(result.outcome)
        .map_or_else(|| format!("error {}", result.outcome), |code| code.to_string())
}

fn hosts(operator: &mut Operator) -> Result<Vec<HostInfo>, Failure> {
    match operator.ask(&Request::Config) {
        Ok(Reply::Hosts { hosts }) => Ok(hosts),
        Ok(_) => Err(Failure::unexpected("conf")),
        Err(code) => Err(Failure::refused("conf", code)),
    }
}

/// `pvm conf`.
pub(crate) fn conf(as_json: bool) -> Result<(), Failure> {
    let hosts = hosts(&mut Operator::connect()?)?;
    if as_json {
        let rows = hosts.iter().map(|host| {
            json!({
                "name": host.name.to_text(), "tid": host.tid.to_string(), "arch": host.arch.to_text(),
                "speed": host.speed, "cores": host.cores, "signature": host.signature,
            })
        });
        return Ok(show_json(&json!({ "hosts": rows.collect::<Vec<Value>>() }))?);
    }
    let mut table = Table::new(&[
        ("HOST", Side::Left),
        ("TID", Side::Right),
        ("ARCH", Side::Left),
        ("CORES", Side::Right),
        ("SPEED", Side::Right),
    ]);
    for host in &hosts {
        table.row([
            host.name.to_text(),
            host.tid.to_string(),
            host.arch.to_text(),
            host.cores.to_string(),
            host.speed.to_string(),
        ]);
    }
    Ok(show(table)?)
}

fn status_of(operator: &mut Operator) -> Result<DaemonStatus, Failure> {
    match operator.ask(&Request::DaemonStatus) {
        Ok(Reply::Status { status }) => Ok(status),
        Ok(_) => Err(Failure::unexpected("status")),
        Err(code) => Err(Failure::refused("status", code)),
    }
}

/// `pvm status`.
pub(crate) fn status(as_json: bool) -> Result<(), Failure> {
    let status = status_of(&mut Operator::connect()?)?;
    if as_json {
        return Ok(show_json(&json!({
            "version": status.version, "host": status.host.0, "name": status.name.to_text(),
            "parent_pid": status.parent_pid, "daemon_pid": status.daemon_pid, "address": status.address,
            "bad_peers": status.bad_peers, "restarts": status.restarts,
        }))?);
    }
    let folder = pvm::locate::runtime_directory().display().to_string();
    let rows = [
        ("host", format!("{} ({})", status.name.to_text(), status.host)),
        ("version", status.version),
        ("address", status.address),
        ("parent", status.parent_pid.to_string()),
        ("daemon", status.daemon_pid.to_string()),
        ("restarts", status.restarts.to_string()),
        ("bad peers", status.bad_peers.to_string()),
        ("files", folder),
    ];
    for (name, value) in rows {
        show(format_args!("{name:<10}{value}\n"))?;
    }
    Ok(())
}

/// `pvm halt`: returns when the daemon has gone.
pub(crate) fn halt() -> Result<(), Failure> {
    let mut operator = Operator::connect()?;
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
        std::thread::sleep(Duration::from_millis(5));
    }
    // Other hosts on this computer end by themselves, when they hear of it.
    while folder.exists() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_that_failed_has_its_paragraph() {
        let good = HostResult { outcome: 0x80000, detail: String::new() };
        let bad = HostResult { outcome: -29, detail: "ssh: refused\ntry `ssh b`\n".to_owned() };
        let names = ["a".to_owned(), "b".to_owned()];
        assert!(check("added", &names, &[good.clone(), good.clone()]).is_ok());
        let failure = check("added", &names, &[good, bad]).unwrap_err();
        let text = "pvm: b was not added: Can't start pvmd\n  ssh: refused\n  try `ssh b`";
        assert_eq!(failure.to_string(), text);
    }
}
