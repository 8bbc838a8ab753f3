//! `pvm upgrade`.

use crate::commands::conf;
use crate::failure::{Failure, Status};
use crate::operator::Operator;
use crate::options::hosts::UpgradeOptions;
use crate::progress::Progress;
use crate::show::{show, show_json};
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Blob, Code};
use serde_json::json;
use std::os::unix::ffi::OsStrExt as _;

/// The result for one host.
struct Outcome {
    host: String,
    versions: Option<(String, String)>,
    error: Option<String>,
}

/// Replaces the daemons of hosts, one after the other, by the program that is installed there now.
pub(crate) fn upgrade(options: &UpgradeOptions) -> Result<(), Failure> {
    let mut operator = Operator::connect()?;
    let mut names = options.hosts.clone();
    if names.is_empty() {
        let hosts = conf::hosts(&mut operator)?;
        names.extend(hosts.iter().map(|host| host.name.to_text()));
    }
    let program = match &options.program {
        Some(path) => std::path::absolute(path)?.into_os_string().as_bytes().to_vec(),
        None => Vec::new(),
    };
    let mut outcomes = Vec::new();
    for host in names {
        let _progress = Progress::start(&format!("upgrading {host}"));
        outcomes.push(one(&mut operator, host, Blob(program.clone())));
    }
    if options.json {
        let row = |outcome: &Outcome| {
            let (from, to) = outcome.versions.clone().unzip();
            let (host, error) = (&outcome.host, &outcome.error);
            json!({"host": host, "ok": error.is_none(), "from": from, "to": to, "error": error})
        };
        show_json(&json!({"hosts": outcomes.iter().map(row).collect::<Vec<_>>()}))?;
    } else {
        for Outcome { host, versions, error } in &outcomes {
            if let (Some((from, to)), None) = (versions, error) {
                show(format_args!("{host}: {from} -> {to}\n"))?;
            }
        }
    }
    let failed: Vec<String> = outcomes
        .iter()
        .filter_map(|outcome| Some(format!("{}: {}", outcome.host, outcome.error.as_ref()?)))
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    let text = format!("not upgraded: {}", failed.join("\n  "));
    Err(Failure::new(Status::Refused, text).and("  the old daemons go on"))
}

fn one(operator: &mut Operator, host: String, program: Blob) -> Outcome {
    let request = Request::Upgrade { host: host.as_str().into(), program };
    let (versions, error) = match operator.ask(&request) {
        Ok(Reply::Upgraded { from, to, failure }) => {
            (Some((from, to)), Some(failure).filter(|failure| !failure.is_empty()))
        }
        Ok(_) => (None, Some("the daemon's answer has an unexpected kind".to_owned())),
        Err(Code::NoHost) => (None, Some("no such host in the machine".to_owned())),
        Err(code) => (None, Some(code.to_string())),
    };
    Outcome { host, versions, error }
}
