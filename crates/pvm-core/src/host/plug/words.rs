//! The layout of requests and answers in the messages of a manager.

use crate::parcel::{Opened, Parcel};
use pvm_wire::plug;
use pvm_wire::request::{
    HostInfo, HostResult, Inherited, Reply, Request, SpawnRequest, Target, TaskInfo, TraceOptions,
};
use pvm_wire::{Blob, Code, Tid};

/// `NAME=value`.
pub(super) fn variable(name: &str, value: &[u8]) -> Blob {
    Blob([name.as_bytes(), b"=", value].concat())
}

/// The variables that PVM's children inherit by their environment.
pub(super) fn variables(inherited: &Inherited) -> Vec<Blob> {
    let trace = &inherited.trace;
    vec![
        variable("PVMTMASK", &trace.mask.0),
        variable("PVMTRCBUF", trace.buffer.to_string().as_bytes()),
        variable("PVMTRCOPT", trace.options.to_string().as_bytes()),
        variable("PVMCTX", format!("{:#x}", inherited.context).as_bytes()),
    ]
}

/// A task's request, as its manager is told it: the tag and the body. None if it is no manager's
/// matter.
pub(super) fn asked(request: &Request) -> Option<(i32, Parcel)> {
    let new = Parcel::new;
    Some(match request {
        Request::Config => (plug::CONFIG, new()),
        Request::Tasks { place } => (plug::TASK, new().tid(*place)),
        Request::Spawn { spawn } => (plug::SPAWN, spawn_asked(spawn)),
        Request::AddHosts { hosts } => (plug::ADD_HOST, new().texts(hosts)),
        Request::DelHosts { hosts } => (plug::DEL_HOST, new().texts(hosts)),
        Request::Register { service: 1, on: true, .. } => (plug::SCHED, new()),
        Request::Notify { kind, cancel: false, context, tag, count, tids } => {
            let list: Vec<i32> = tids.iter().map(|tid| tid.as_c_int()).collect();
            let number = if tids.is_empty() { *count } else { 0 };
            let parcel = new().ints(&[*kind, *context, *tag]);
            let parcel =
                if tids.is_empty() { parcel.int(number) } else { parcel.count(tids.len()) };
            (plug::NOTIFY, parcel.ints(&list))
        }
        _ => return None,
    })
}

fn spawn_asked(spawn: &SpawnRequest) -> Parcel {
    let Inherited { output, trace, .. } = &spawn.inherited;
    let target = |of: &Target| [of.tid.as_c_int(), of.context, of.tag];
    let mut environment = variables(&spawn.inherited);
    environment.extend(spawn.environment.iter().cloned());
    if !spawn.directory.0.is_empty() {
        environment.push(variable("PVMSPAWNWD", &spawn.directory.0));
    }
    Parcel::new()
        .text(&spawn.file.0)
        .int(spawn.flags)
        .text(&spawn.place.0)
        .int(spawn.count)
        .texts(&spawn.args)
        .ints(&target(output))
        .ints(&target(&trace.target))
        .texts(&environment)
}

/// A manager's answer to a request.
pub(super) fn answered(request: &Request, opened: &mut Opened) -> Result<Reply, Code> {
    match request {
        Request::Config => {
            let count = opened.count()?;
            let _formats = opened.int()?;
            let hosts: Result<_, _> = (0..count).map(|_| host(opened)).collect();
            Ok(Reply::Hosts { hosts: hosts? })
        }
        Request::Tasks { .. } => tasks(opened),
        Request::Spawn { spawn } => {
            let outcomes = codes(opened, usize::try_from(spawn.count).unwrap_or(0))?;
            Ok(Reply::Spawned { outcomes, tried: Vec::new() })
        }
        Request::AddHosts { hosts } => {
            let count = opened.count()?.min(hosts.len());
            let _formats = opened.int()?;
            let mut outcomes = Vec::new();
            for _ in 0..count {
                outcomes.push(host(opened)?.tid.as_c_int());
            }
            Ok(results(outcomes, hosts.len()))
        }
        Request::DelHosts { hosts } => Ok(results(codes(opened, hosts.len())?, hosts.len())),
        _ => Err(Code::BadMsg),
    }
}

/// Reads `wanted` codes or ids, however many the message has.
fn codes(opened: &mut Opened, wanted: usize) -> Result<Vec<i32>, Code> {
    let count = opened.count()?.min(wanted);
    let mut codes = opened.ints(count)?;
    codes.resize(wanted, Code::DSysErr.number());
    Ok(codes)
}

fn results(mut outcomes: Vec<i32>, wanted: usize) -> Reply {
    outcomes.resize(wanted, Code::DSysErr.number());
    let result = |outcome| HostResult { outcome, failure: None };
    Reply::HostResults { results: outcomes.into_iter().map(result).collect() }
}

fn host(opened: &mut Opened) -> Result<HostInfo, Code> {
    Ok(HostInfo {
        tid: opened.tid()?,
        name: opened.text()?,
        arch: opened.text()?,
        speed: opened.int()?,
        signature: opened.int()?,
        ..HostInfo::default()
    })
}

fn tasks(opened: &mut Opened) -> Result<Reply, Code> {
    let status = opened.int()?;
    if let Some(code) = Code::from_number(status) {
        return Ok(Reply::Failed { code });
    }
    let mut tasks = Vec::new();
    while !opened.is_at_end() {
        tasks.push(TaskInfo {
            tid: opened.tid()?,
            parent: opened.tid()?,
            host: opened.tid()?,
            flags: opened.int()?,
            name: opened.text()?,
            pid: opened.int()?.cast_unsigned(),
        });
    }
    Ok(Reply::Tasks { tasks })
}

/// The tasks that a daemon is ordered to start, and on whose behalf.
pub(super) fn spawn_ordered(opened: &mut Opened) -> Result<(Tid, SpawnRequest), Code> {
    let parent = opened.tid()?;
    let file = opened.text()?;
    let flags = opened.int()?;
    let count = opened.int()?;
    let args = opened.texts()?;
    let mut target =
        || Ok(Target { tid: opened.tid()?, context: opened.int()?, tag: opened.int()? });
    let (output, target) = (target()?, target()?);
    // The numbers of its tasks among all of the call follow, which are not needed.
    let environment = opened.texts()?;
    let trace = TraceOptions { target, buffer: 0, options: 0, mask: Blob::default() };
    let mut spawn = SpawnRequest {
        file,
        args,
        flags,
        place: Blob::default(),
        count,
        environment: Vec::new(),
        whole_environment: false,
        directory: Blob::default(),
        inherited: Inherited { context: 0, output, trace },
    };
    for variable in environment {
        inherit(&mut spawn, variable);
    }
    Ok((parent, spawn))
}

/// One variable of a manager's order.
fn inherit(spawn: &mut SpawnRequest, variable: Blob) {
    let at = variable.0.iter().position(|&byte| byte == b'=').unwrap_or(variable.0.len());
    let value = variable.0.get(at + 1..).unwrap_or_default();
    let text = String::from_utf8_lossy(value);
    let inherited = &mut spawn.inherited;
    match &variable.0[..at] {
        b"PVMTMASK" => inherited.trace.mask = Blob(value.to_vec()),
        b"PVMTRCBUF" => inherited.trace.buffer = text.parse().unwrap_or(0),
        b"PVMTRCOPT" => inherited.trace.options = text.parse().unwrap_or(0),
        b"PVMCTX" => {
            let digits = text.trim_start_matches("0x");
            inherited.context = i32::from_str_radix(digits, 16).unwrap_or(0);
        }
        b"PVMSPAWNWD" => spawn.directory = Blob(value.to_vec()),
        _ => spawn.environment.push(variable),
    }
}

/// The answer to what a manager has ordered: the tag and the body.
pub(super) fn done(reply: &Reply, count: usize, hosts: &[HostInfo]) -> Parcel {
    match reply {
        Reply::Spawned { outcomes, .. } => {
            outcomes.iter().fold(Parcel::new().count(outcomes.len()), |p, &one| p.int(one))
        }
        Reply::HostResults { results } => {
            let parcel = Parcel::new().count(results.len()).int(0);
            results.iter().fold(parcel, |parcel, result| {
                let tid = Tid::from_c_int(result.outcome);
                let known = hosts.iter().find(|host| host.tid == tid);
                let (name, arch) = known.map(|host| (&host.name, &host.arch)).unzip();
                let text = |blob: Option<&Blob>| blob.map(|b| b.0.clone()).unwrap_or_default();
                parcel
                    .tid(tid)
                    .text(&text(name))
                    .text(&text(arch))
                    .int(known.map_or(0, |host| host.speed))
                    .int(known.map_or(0, |host| host.signature))
            })
        }
        Reply::Failed { code } => (0..count).fold(Parcel::new().count(count), |parcel, _| {
            // Each of them failed alike.
            parcel.int(code.number())
        }),
        _ => Parcel::new().int(0),
    }
}
