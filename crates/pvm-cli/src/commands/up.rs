//! `pvm up`.

use crate::commands::{conf, status};
use crate::failure::{Failure, Status};
use crate::hostline::{self, NewHost};
use crate::launch::Launch;
use crate::operator::Operator;
use crate::options::hosts::UpOptions;
use crate::progress::Progress;
use crate::show::{remark, show, show_json};
use crate::tasks;
use crate::{adding, outcome};
use pvm_wire::Code;
use pvm_wire::hostfile::HostLine;
use pvm_wire::request::{HostResult, Reply, Request};
use rustix::fd::OwnedFd;
use rustix::fs::{FlockOperation, Mode, OFlags};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A machine that is being halted is gone by then.
const HALT_TIME_MAX: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(10);

/// Starts a machine, if none runs, and the hosts that are asked for. Prints the address of the
/// first daemon, and nothing else if all is well.
pub(crate) fn up(options: &UpOptions) -> Result<(), Failure> {
    let path = options.hostfile.as_deref();
    // Mistakes in the arguments are reported before anything is started.
    let rules = hostline::rules(options.witness.as_deref(), options.on_silence.as_deref())?;
    let mut file = path.map(hostline::read).transpose()?.unwrap_or_default();
    file.defaults.witness = rules.witness.or(file.defaults.witness);
    file.defaults.survive = rules.survive.or(file.defaults.survive);
    for fault in path.map(|path| hostline::faults(path, &file)).unwrap_or_default() {
        remark(format_args!("pvm: {fault}"));
    }
    let running = running()?;
    let (mut operator, started) = match running {
        Some(operator) => (operator, false),
        None => {
            let own = hostline::own_options(&file, options.name.as_deref());
            let launch = Launch { name: options.name.clone(), options: own, ..Launch::default() };
            launch.background_and(Operator::connect_if_running)?
        }
    };
    let lines = hostline::known_lines(&file);
    if !lines.is_empty() {
        let known = operator.ask(&Request::KnowHosts { lines });
        known.map_err(|code| Failure::refused("the host file", code))?;
    }
    let local = add_local(&mut operator, options.local);
    let hosts = hostline::listed(&file, &HostLine::default());
    let results = match local {
        Ok(()) => add_listed(&mut operator, &hosts, options.timeout),
        Err(failure) => Err(failure),
    };
    let names: Vec<String> = hosts.into_iter().map(|host| host.shown).collect();
    tell(&mut operator, options.json, started, &names, results.as_deref().unwrap_or_default())?;
    outcome::check("added", &names, &results?)?;
    if file.errors.is_empty() {
        Ok(())
    } else {
        Err(Failure::new(Status::Usage, "some lines of the host file were skipped"))
    }
}

/// The machine that runs; one that is being halted at this moment is waited for, and is none then.
fn running() -> Result<Option<Operator>, Failure> {
    let end = Instant::now() + HALT_TIME_MAX;
    loop {
        let Some(mut operator) = Operator::connect_if_running()? else { return Ok(None) };
        match operator.ask(&Request::DaemonStatus) {
            Err(Code::SysErr) if Instant::now() < end => std::thread::sleep(LOOK),
            _ => return Ok(Some(operator)),
        }
    }
}

fn tell(
    operator: &mut Operator,
    as_json: bool,
    started: bool,
    names: &[String],
    results: &[HostResult],
) -> Result<(), Failure> {
    let status = status::of(operator)?;
    if !as_json {
        return Ok(show(format_args!("{}\n", status.address))?);
    }
    let rows = names.iter().zip(results);
    let added: Vec<Value> = rows.map(|(name, result)| outcome::json(name, result, true)).collect();
    let hosts: Vec<Value> = conf::hosts(operator)?.iter().map(conf::json).collect();
    let (address, version) = (status.address, status.version);
    let all = json!({
        "started": started, "address": address, "version": version,
        "added": added, "hosts": hosts,
    });
    Ok(show_json(&all)?)
}

/// A lock on the machine's folder, until this is dropped: of several commands at once one counts
/// and starts hosts, and the next counts those, too. Without the folder (a daemon elsewhere) there
/// is none.
fn alone() -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(pvm::locate::runtime_directory(), flags, Mode::empty()).ok()?;
    rustix::fs::flock(&folder, FlockOperation::LockExclusive).ok()?;
    Some(folder)
}

/// Hosts on this computer, until there are `wanted`.
fn add_local(operator: &mut Operator, wanted: u32) -> Result<(), Failure> {
    let _alone = alone();
    let hosts = u32::try_from(conf::hosts(operator)?.len()).unwrap_or(u32::MAX);
    if hosts >= wanted {
        return Ok(());
    }
    let count = wanted - hosts;
    let _progress = Progress::start(&format!("starting {count} hosts on this computer"));
    match operator.ask(&Request::AddLocal { count }) {
        Ok(Reply::HostResults { results }) => {
            let names = vec![String::from("a host on this computer"); results.len()];
            outcome::check("started", &names, &results)
        }
        Ok(Reply::Done) => Ok(()),
        Ok(_) => Err(Failure::unexpected("up")),
        Err(code) => Err(Failure::refused("starting hosts on this computer", code)),
    }
}

/// A host file names the computer that reads it, too, and may be read a second time.
fn add_listed(
    operator: &mut Operator,
    hosts: &[NewHost],
    seconds: u64,
) -> Result<Vec<HostResult>, Failure> {
    let mut results = adding::add(operator, hosts, Duration::from_secs(seconds))?;
    let known = results.iter_mut().zip(hosts).filter(|(r, _)| r.outcome == Code::DupHost.number());
    let members = conf::hosts(operator)?;
    for (result, host) in known {
        let member = tasks::member(&members, &host.line.name);
        *result =
            HostResult { outcome: member.map_or(0, |host| host.tid.as_c_int()), failure: None };
    }
    Ok(results)
}
