//! `pvm conf`.

use crate::failure::Failure;
use crate::operator::Operator;
use crate::show::{remark, show, show_json};
use crate::table::{Side, Table};
use pvm_wire::request::{HostInfo, Reply, Request};
use serde_json::{Value, json};

/// The hosts of the machine.
pub(crate) fn hosts(operator: &mut Operator) -> Result<Vec<HostInfo>, Failure> {
    match operator.ask(&Request::Config) {
        Ok(Reply::Hosts { hosts }) => Ok(hosts),
        Ok(_) => Err(Failure::unexpected("conf")),
        Err(code) => Err(Failure::refused("conf", code)),
    }
}

/// Lists the hosts.
pub(crate) fn conf(as_json: bool) -> Result<(), Failure> {
    let mut operator = Operator::connect()?;
    let hosts = hosts(&mut operator)?;
    let order = super::status::of(&mut operator)?.order;
    if !order.is_empty() {
        // Beside the list, not in it.
        remark(format_args!("pvm: {order}"));
    }
    if as_json {
        let rows: Vec<Value> = hosts.iter().map(json).collect();
        return Ok(show_json(&json!({ "hosts": rows }))?);
    }
    let mut table = Table::new(&[
        ("HOST", Side::Left),
        ("TID", Side::Right),
        ("ARCH", Side::Left),
        ("CORES", Side::Right),
        ("SPEED", Side::Right),
        ("VERSION", Side::Left),
        ("STATE", Side::Left),
        ("ADDRESS", Side::Left),
    ]);
    for host in &hosts {
        table.row([
            host.name.to_text(),
            host.tid.to_string(),
            host.arch.to_text(),
            host.cores.to_string(),
            host.speed.to_string(),
            host.version.clone(),
            state(host).to_owned(),
            host.addresses.first().cloned().unwrap_or_default(),
        ]);
    }
    Ok(show(table)?)
}

const fn state(host: &HostInfo) -> &'static str {
    match host {
        HostInfo { suspected: true, .. } => "suspected",
        HostInfo { draining: true, .. } => "draining",
        _ => "up",
    }
}

/// The fields of a host, as the man page lists them.
pub(crate) fn json(host: &HostInfo) -> Value {
    json!({
        "name": host.name.to_text(), "tid": host.tid.to_string(), "arch": host.arch.to_text(),
        "speed": host.speed, "cores": host.cores, "signature": host.signature,
        "addresses": host.addresses, "version": host.version, "draining": host.draining,
        "suspected": host.suspected,
    })
}
