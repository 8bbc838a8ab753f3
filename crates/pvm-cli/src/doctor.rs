//! `pvm doctor`: what keeps a machine from starting here, or a host from being added.

mod check;
mod computer;
mod machines;
mod others;
mod stages;

use crate::commands::add::hosts_of;
use crate::failure::{Failure, Status};
use crate::options::hosts::DoctorOptions;
use crate::show::{show, show_json};
use check::{Check, State};
use serde_json::{Value, json};

/// Looks, and tells; a failure is that something is wrong.
pub(crate) fn doctor(options: &DoctorOptions) -> Result<(), Failure> {
    if !options.hosts.is_empty() || options.hostfile.is_some() {
        let hosts = hosts_of(&options.hosts, options.hostfile.as_deref(), &options.option)?;
        return stages::examine(&hosts, options.json);
    }
    let checks = [
        vec![computer::daemon(), computer::root(), computer::folder()],
        machines::machines(),
        others::others(),
        vec![computer::ssh(), computer::name(), computer::network()],
    ];
    let checks: Vec<Check> = checks.into_iter().flatten().collect();
    let failed = checks.iter().filter(|check| check.state == State::Failed).count();
    if options.json {
        let rows: Vec<Value> = checks.iter().map(Check::json).collect();
        show_json(&json!({"ok": failed == 0, "checks": rows}))?;
    } else {
        for check in &checks {
            show(check)?;
        }
    }
    match failed {
        0 => Ok(()),
        1 => Err(Failure::new(Status::Refused, "1 check failed")),
        count => Err(Failure::new(Status::Refused, format!("{count} checks failed"))),
    }
}
